"""Are two plans the same work? One may leave to a default what the other one says, or name things in another order.

A field of a plan may leave to the data, or to its other fields, what it comes to: None is then the usual features of
the kind, or the usual layer of the model. Such a field says beside itself what None comes to (`means` of
`core.parameters.asks`), so that defaults are resolved before two plans are held against each other. What counts of a
value stands there, too (`alike`): of several models that is which ones. The text and the key of a stored plan stay
what they are.
"""

from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from functools import lru_cache
from typing import Any, Protocol

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.parameters import differing, options_of
from touchstone.core.represent import default_representation
from touchstone.core.split.scheme import read_cells
from touchstone.core.trials.plan import Aside, Context, Plan
from touchstone.core.trials.sources_plan import KNOWN_SOURCES, known_sources


class About(Protocol):
    """What is known of a data set without reading it; the data set itself will do."""

    @property
    def kind(self) -> Kind:
        """Image, tabular or text."""

    @property
    def n_classes(self) -> int:
        """How many classes it has."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What a default can hang on: a data set, what is known of it without reading it, and stored models.

    `about` gives its kind and number of classes, `read` the data set itself, and `model` the bytes of a stored model by
    its fingerprint. Each takes longer than the one before, and is asked only where nothing less will do.
    """

    fingerprint: str
    about: Callable[[], About]
    read: Callable[[], Dataset]
    model: Callable[[str], bytes]

    @classmethod
    def of(cls, dataset: Dataset) -> "Facts":
        """Of a data set that is at hand, without stored models.

        >>> from touchstone.core.data import load_example
        >>> Facts.of(load_example("wine")).n_classes
        3
        """
        return cls(dataset.fingerprint, lambda: dataset, lambda: dataset, Context().model)

    @property
    def kind(self) -> Kind:
        """Image, tabular or text."""
        return self.about().kind

    @property
    def n_classes(self) -> int:
        """How many classes it has."""
        return self.about().n_classes


def same_work(plan: Plan, other: Plan, facts: Facts) -> bool:
    """Whether two plans on the same data set come to the same trials, one of them saying what the other leaves unsaid.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.trials.map_plan import MapPlan
    >>> facts = Facts.of(load_example("wine"))
    >>> [same_work(MapPlan(), MapPlan(representation=name), facts) for name in ("raw", "network")]
    [True, False]
    """
    if type(plan) is not type(other):
        return False
    otherwise = differing(plan, other)
    if not all(_is_left_open(one) for one in otherwise):
        return False
    try:
        return all(_resolved(plan, one, facts) == _resolved(other, one, facts) for one in otherwise)
    except DataError:  # the model is gone, or the plan does not fit the data
        return False


def spelled(plan: type) -> frozenset[str]:
    """The fields of a kind of plan, by name, that may say the same in several ways.

    Their defaults hang on the data or on other fields, or their order says nothing.

    >>> from touchstone.core.trials.map_plan import MapPlan
    >>> spelled(MapPlan)
    frozenset({'representation'})
    """
    return frozenset(one.name for one in fields(plan) if _is_left_open(one) or one.metadata.get("alike") is not None)


def _is_left_open(one: Field) -> bool:
    """Whether the default of a field hangs on the data or on other fields."""
    return "options" in one.metadata or one.metadata.get("means") is not None


def _resolved(plan: Plan, one: Field, facts: Facts) -> Any:
    """The value of a field, its default resolved; the value itself where no one value says the same."""
    value = getattr(plan, one.name)
    if "options" in one.metadata:
        return _resolved_options(plan, one, facts)
    return one.metadata["means"](plan, facts) if value is None else value


def _resolved_options(plan: Plan, one: Field, facts: Facts) -> dict[tuple[str, str], Any]:
    """The options that were chosen, and those that were left to a default that hangs on the plan."""
    chosen = {(entry, option): value for entry, option, value in getattr(plan, one.name)}
    of = one.metadata["options"]
    for entry in getattr(plan, of.field):
        for option, each in options_of(of.registry[entry]).items():
            if each.metadata.get("means") and chosen.get((entry, option)) is None:
                chosen[entry, option] = each.metadata["means"](plan, facts)
    return chosen


def meant_features(plan: Any, facts: Facts) -> str:
    """The representation that a plan takes where it names none.

    >>> from touchstone.core.data import load_example
    >>> meant_features(None, Facts.of(load_example("wine")))
    'raw'
    """
    return default_representation(facts.kind)


def meant_across(plan: Any, facts: Facts) -> str | None:
    """How whole sources are held out; None where one finder's are held out otherwise than another's.

    Sources that are found lie within a class. Known ones may not, and then an epoch that is chosen by validation is
    chosen by another rule where the training part happens to hold each in one class only.
    """
    finders = set(plan.source_finders)
    across = KNOWN_SOURCES in finders and _shared(facts.fingerprint, Aside(facts.read))
    ways = {"all" if finder == KNOWN_SOURCES and across else "class" for finder in finders}
    if len(ways) > 1 or (ways == {"all"} and getattr(plan, "epoch", "last") == "validation"):
        return None
    return ways.pop()


@lru_cache(maxsize=64)
def _shared(fingerprint: str, read: Aside[Callable[[], Dataset]]) -> bool:
    """Whether a source of the data set holds samples of several classes."""
    dataset = read.value()
    return read_cells(dataset.y, known_sources(dataset)[0]).shared
