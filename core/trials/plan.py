"""What exactly is to be computed? A plan: a small frozen description that can be stored, linked and run anywhere.

A plan is a frozen dataclass whose fields are str, int, float, bool, None or tuples of these, so that it has one
canonical JSON text. It enumerates trials by number; a worker gets that text and a number and needs nothing else
but the data.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import ClassVar, Generic, Protocol, TypeVar, get_origin, get_type_hints, runtime_checkable

import numpy as np
import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.models.model_file import model_fingerprint
from touchstone.core.parameters import ANYTHING, LATER, Ask, label_of, options_of, title_of
from touchstone.core.registry import NO_PLUGIN, Registry
from touchstone.core.trials.run import Counted

MOST = {"n_repeats": 10_000, "n_clusterings": 1_000, "n_resplits": 100_000}
"""How often a plan that comes as text may do something: whoever reads it lists its trials, before any is done."""
LONGEST = 200
"""How many values a field of a plan that comes as text may hold."""


def _no_model(fingerprint: str) -> bytes:
    raise DataError(f"The model {fingerprint[:12]} is not stored here. Train or upload it again.")


@dataclass(frozen=True)
class Context:
    """What a trial can ask of the place where it runs, and tell it; without one, a plan runs by itself all the same.

    Parameters
    ----------
    should_stop
        Asked between fits, epochs or chunks: where it is true, the trial raises Cancelled.
    report
        Told how far the trial is: steps done, steps in all, and what one step is called, e.g. "epoch".
    model
        Gives the stored model of a fingerprint, as bytes for `core.models.load.read_stored`. The plan names those that
        it asks for in `stored_models`. Raises DataError or WorkspaceError where it is not there.
    keep_model
        Takes a model that was made, as the bytes of a `core.models.model_file.ModelFile`, with `name` (what a person
        calls it) and, where known, `training_plan` (JSON), `n_test` and `n_correct`; returns its fingerprint. It is
        stored together with the rows of the trial.

    Examples
    --------
    >>> Context().should_stop()
    False
    >>> Context(model={"f1": b"a model"}.__getitem__).model("f1")
    b'a model'
    """

    should_stop: Callable[[], bool] = lambda: False
    report: Callable[[int, int, str], None] = lambda n_done, n_steps, what: None
    model: Callable[[str], bytes] = _no_model
    keep_model: Callable[..., str] = lambda model, **about: model_fingerprint(model)


@runtime_checkable
class Plan(Protocol):
    """What every kind of long work offers, so that it can be stored, run, cancelled and resumed.

    `kind` names the class in JSON, `METHOD_VERSION` is raised when the same fields come to mean another result
    (stored results of the older meaning are then no longer found).
    """

    kind: ClassVar[str]
    METHOD_VERSION: ClassVar[int]

    def n_trials(self, dataset: Dataset) -> int:
        """How many trials this plan has on this data set; raises DataError where the plan does not fit the data."""

    def stored_models(self) -> tuple[str, ...]:
        """The fingerprints of the stored models that the trials ask their context for."""

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Tidy rows of one trial. Raises Cancelled soon after `context.should_stop()` turns true."""

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """The row that stands for a trial that could not be finished (`status` is "failed", its figures are NA)."""


@runtime_checkable
class Composed(Protocol):
    """What a plan offers besides, where parts that it chose have versions of their own."""

    def n_raised(self) -> int:
        """How often the versions of its parts have been raised."""


def version_of(plan: Plan) -> int:
    """The version of a plan's method: that of its kind, and one more for each raise of a part that it chose.

    Examples
    --------
    >>> from touchstone.core.trials.trial_plan import TrialPlan
    >>> version_of(TrialPlan()), version_of(TrialPlan(source_finders=("same_size_kmeans",)))
    (2, 3)
    """
    return plan.METHOD_VERSION + (plan.n_raised() if isinstance(plan, Composed) else 0)


@runtime_checkable
class Needing(Protocol):
    """What a plan offers besides, where it rests on the rows of other plans: these are worked off first, and kept."""

    def needs(self, dataset: Dataset) -> tuple[Plan, ...]:
        """The plans whose rows the trials on this data set rest on."""


def needed_by(plan: Plan, dataset: Dataset) -> tuple[Plan, ...]:
    """The plans whose rows a plan rests on, on this data set; most rest on none.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.trials.trial_plan import TrialPlan
    >>> wine = load_example("wine")
    >>> needed_by(TrialPlan(), wine)
    ()
    >>> [one.kind for one in needed_by(TrialPlan(source_finders=("kmeans", "deep_kmeans")), wine)]
    ['sources']
    """
    return plan.needs(dataset) if isinstance(plan, Needing) else ()


@runtime_checkable
class Grouping(Protocol):
    """What a plan offers besides, where a GPU does several of its trials at once faster than one after another."""

    def groups(self, dataset: Dataset, indices: Sequence[int]) -> list[tuple[int, ...]]:
        """These trials, each in one group with those that are done at once with it, in the order of work."""

    def run_trials(self, dataset: Dataset, indices: Sequence[int], *, context: Context) -> list[pd.DataFrame]:
        """The rows of each trial of a group, as `run_trial` gives them; raises what any of them raises."""


@runtime_checkable
class Counting(Protocol):
    """What a plan offers besides, where a table of each tiny trial takes its time: all become one."""

    def count_trial(self, dataset: Dataset, index: int, *, context: Context) -> Counted:
        """The rows of one trial, of which `core.trials.run.table_of` makes what `run_trial` gives."""


Large = TypeVar("Large")


@dataclass(frozen=True)
class Aside(Generic[Large]):
    """Something large, given to a cached function beside the key that names it: calls are told apart by the key alone.

    >>> Aside(b"a model") == Aside(b"another")
    True
    """

    value: Large = field(compare=False, hash=False)


def to_json(plan: Plan) -> str:
    """Canonical JSON of a plan: its kind and fields, sorted, without spaces; equal plans give equal text.

    A field that joined LATER is left out while it has its default, so that the plans of before keep their text and key.

    Examples
    --------
    >>> from touchstone.core.trials.trial_plan import TrialPlan
    >>> to_json(TrialPlan(models=("svm",), n_repeats=20))[:44]
    '{"across":null,"kind":"trials","models":["sv'
    """
    content = {
        one.name: getattr(plan, one.name)
        for one in fields(plan)
        if one.metadata.get("joined") != LATER or getattr(plan, one.name) != one.default
    }
    return json.dumps({**content, "kind": plan.kind}, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str, plans: Mapping[str, type]) -> Plan:
    """The plan that `to_json` wrote; `plans` maps each kind to its class.

    Raises DataError for text that is no plan, an unknown kind or field, a field that is missing or makes no sense, and
    for more work than MOST and LONGEST allow.

    Examples
    --------
    >>> from touchstone.core.trials.trial_plan import TrialPlan
    >>> plan = TrialPlan(models=("svm",))
    >>> from_json(to_json(plan), {"trials": TrialPlan}) == plan
    True
    """
    try:
        content = dict(json.loads(text))
        kind = content.pop("kind")
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DataError('This is no plan. A plan is a JSON object with a "kind" and that kind\'s fields.') from None
    if not isinstance(kind, str) or kind not in plans:
        raise DataError(f"Unknown kind of plan {kind!r}. Known here: {', '.join(sorted(plans))}.")
    known = fields(plans[kind])
    unknown = sorted(set(content) - {one.name for one in known})
    if unknown:
        raise DataError(f"A plan of kind {kind!r} has no field {', '.join(unknown)}; was it made by a newer version?")
    missing = [one.name for one in known if one.default is MISSING and one.name not in content]
    if missing:
        raise DataError(f"A plan of kind {kind!r} needs the field {', '.join(missing)}.")
    try:
        given = {name: _plain(value, name) for name, value in content.items()}
        _check_amounts(given, get_type_hints(plans[kind]))
        return plans[kind](**given)
    except (TypeError, OverflowError, RecursionError) as problem:
        raise DataError(f"This plan of kind {kind!r} makes no sense. {problem}.") from None


def _check_amounts(given: Mapping[str, object], types: Mapping[str, object]) -> None:
    """Raise DataError where a list is something else, or there is more of anything than MOST and LONGEST allow."""
    for name, value in given.items():
        if get_origin(types[name]) is tuple and not isinstance(value, tuple):
            raise DataError(f"{name} must be a list, not {value!r}.")
        if isinstance(value, int) and value > MOST.get(name, value):
            raise DataError(f"{name} is at most {MOST[name]:,}, not {value:,}. Start several runs with other seeds.")
        if isinstance(value, tuple) and len(value) > LONGEST:
            raise DataError(f"{name} holds at most {LONGEST} values, not {len(value):,}. Start several runs.")


def check_fields(plan: object) -> None:
    """Make a plan's fields plain (numpy scalars and lists are converted), for use in `__post_init__`.

    Raises TypeError for anything that has no canonical JSON.
    """
    for one in fields(plan):
        object.__setattr__(plan, one.name, _plain(getattr(plan, one.name), one.name))


def check_names(
    plan: object, field: str, known: Collection[str], *, also: tuple[str, ...] = (), or_none: bool = False
) -> None:
    """DataError, in the words of the screen, where a field has an unknown name, one twice, or none that it needs.

    Known are the names of a registry, those of plugins among them, or other ones, and `also` some more.
    """
    value, label = getattr(plan, field), label_of(plan, field)
    names = value if isinstance(value, tuple) else () if value is None and or_none else (value,)
    unknown = [name for name in names if name not in known and name not in also]
    if unknown:
        chosen = ", ".join(map(repr, unknown))
        why = f": {NO_PLUGIN}" if isinstance(known, Registry) else ""
        raise DataError(f"{label}: {chosen} cannot be chosen{why}. Choose from {', '.join((*known, *also))}.")
    if not (names or or_none):
        raise DataError(f"{label}: nothing is chosen. Choose at least one.")
    if len(set(names)) < len(names):
        raise DataError(f"{label}: a name stands twice in {', '.join(names)}.")


def check_whole(plan: object, lowest_of: Mapping[str, int], *, or_none: Collection[str] = ()) -> None:
    """DataError, in the words of the screen, where a field is no whole number or too low; some may hold None.

    Examples
    --------
    >>> from touchstone.core.trials.trial_plan import TrialPlan
    >>> TrialPlan(n_repeats=0)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: Repeats must be a whole number of at least 1, not 0.
    """
    for name, lowest in lowest_of.items():
        value = getattr(plan, name)
        if (type(value) is not int or value < lowest) and not (name in or_none and value is None):
            raise DataError(f"{label_of(plan, name)} must be a whole number of at least {lowest}, not {value!r}.")


def _plain(value: object, name: str) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return tuple(_plain(item, name) for item in value)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    raise TypeError(f"{name}: a plan holds text, finite numbers, true/false, None and tuples of these, not {value!r}")


# Which options do the chosen entries of a registry have in a plan? Checked, and one form for what means the same.


Options = tuple[tuple[float | int | str | bool | None, ...], ...]


def checked_options(options: object, chosen: Collection[str], registry: Mapping[str, type]) -> Options:
    """Options as (entry, option, value), sorted, those left out that have their default.

    Raises DataError, in the words of the screen, for an entry that is not chosen, an option that it does not have, a
    value of another kind, and for an option that stands twice.

    Examples
    --------
    >>> from touchstone.core.split.folds import FOLD_SCHEMES
    >>> checked_options((("sds_folds", "n_init", 20),), ["sds_folds"], FOLD_SCHEMES)
    (('sds_folds', 'n_init', 20),)
    >>> checked_options((("sds_folds", "n_init", 8),), ["sds_folds"], FOLD_SCHEMES)
    ()
    """
    if not isinstance(options, tuple):
        raise DataError(f"options: a list of (name, option, value) is expected, not {options!r}.")
    checked: dict[tuple[str, str], float | int | str | bool | None] = {}
    for option in options:
        if not (isinstance(option, tuple) and len(option) == 3):
            raise DataError(f"options: each is a name, an option and its value, not {option!r}.")
        entry, name, value = option
        if entry not in chosen:
            raise DataError(f"options: {entry} is not among what is chosen: {', '.join(chosen)}.")
        own = options_of(registry[entry])
        if name not in own:
            has = f"Its options are {', '.join(own)}." if own else "It has none."
            raise DataError(f"{title_of(registry[entry])} has no option {name!r}. {has}")
        if (entry, name) in checked:
            raise DataError(f"options: {name} of {title_of(registry[entry])} stands twice.")
        [ask] = own[name].metadata["asks"]
        checked[entry, name] = _checked(value, ask, title_of(registry[entry]))
    usual = {key: options_of(registry[key[0]])[key[1]].default for key in checked}
    return tuple((*key, value) for key, value in sorted(checked.items()) if value != usual[key])


def _checked(value: object, ask: Ask, title: str) -> float | int | str | bool | None:
    """A value of the kind that is asked for; its range is for the entry to refuse."""
    if value is None and ask.word is not None:
        return None
    if ask.choices is not None:
        titles = ask.choices(ANYTHING) or {}
        if isinstance(value, str | bool | int) and value in titles:
            return value
        raise DataError(f"{title}: {ask.label.lower()} is one of {', '.join(titles.values())}, not {value!r}.")
    if isinstance(ask.lowest, float) and type(value) in (int, float):
        return float(value)  # JSON may say 1 for 1.0
    if type(ask.lowest) is int and type(value) is int:
        return value
    kind = "a whole number" if type(ask.lowest) is int else "a number"
    also = f", or nothing for “{ask.word}”" if ask.word else ""
    raise DataError(f"{title}: {ask.label.lower()} is {kind}{also}, not {value!r}.")
