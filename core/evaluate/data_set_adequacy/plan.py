"""Which trials tell what more data would do? Those of a TrialPlan, on training sets of several sizes (section 5.2)."""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.wording import count, listed
from touchstone.core.models import MODELS
from touchstone.core.parameters import Several, asks, asks_like
from touchstone.core.split.scheme import Split
from touchstone.core.trials import COLUMNS as TRIAL_COLUMNS
from touchstone.core.trials import Context, Draw, TrialPlan
from touchstone.core.trials.epochs import predict_at, untrained
from touchstone.core.trials.plan import Plan, check_fields
from touchstone.core.trials.run import Counted, table_of

ALL = 0
"""The size that stands for the whole training part."""

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, ALL)
"""The paper's, as far as they fit."""

COLUMNS = {**TRIAL_COLUMNS, "size": "Int64", "n_label_train": "Int64"}
"""Those of a trials frame, and what the training part was cut to.

`size` is what was asked for, 0 for all of it; `n_train` is the number that was trained on, which differs from draw to
draw where all are taken. `n_label_train` is that of a row's label alone, and NA in rows of all labels; runs of methods
before 3 do not have it: they trained on `size / n_classes` of each label, or on fewer where it had fewer.
"""


def _with_none_for_all(sizes: tuple[int, ...]) -> tuple[tuple[int | None, ...]]:
    return (tuple(None if size == ALL else size for size in sizes),)


def _with_samples(sizes: tuple[int | None, ...]) -> str:
    return f"{', '.join('all' if size is None else str(size) for size in sizes)} samples"


def _with_zero_for_all(sizes: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple(ALL if size is None else size for size in sizes)


@dataclass(frozen=True)
class AdequacyPlan:
    """Fit every model on parts of the training set of every draw, and test it on that draw's whole test part.

    The parts of one draw are nested, they mix classes as the whole training part does, and all models train on the
    same ones. Samples of a class are drawn at random; a class so rare that it would have none has one.

    Parameters
    ----------
    models, source_finders, n_sources, representation, schemes, n_repeats, n_clusterings, test_share, across, tuned
        As in TrialPlan: its draws are this plan's draws.
    sizes
        Sizes of training parts, rising; 0 stands for all and comes last. Those that do not fit a data set are left out
        there: they must be at least its number of classes, and below the usual size of its training parts.
    n_epochs, seed
        As in TrialPlan; networks are tested at the end of training.

    Raises DataError for a name that no registry knows and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = AdequacyPlan(models=("logistic",), n_repeats=20)
    >>> plan.fitting(load_example("digits"))
    (100, 300, 1000, 0)
    >>> plan.n_trials(load_example("digits"))
    160
    """

    models: tuple[str, ...] = asks_like(TrialPlan, "models")
    source_finders: tuple[str, ...] = asks_like(TrialPlan, "source_finders")
    representation: str | None = asks_like(TrialPlan, "representation")
    n_sources: int = asks_like(TrialPlan, "n_sources")
    schemes: tuple[str, ...] = asks_like(TrialPlan, "schemes", default=("source_exclusive", "source_inclusive"))
    n_repeats: int = asks_like(TrialPlan, "n_repeats")
    n_clusterings: int = asks_like(TrialPlan, "n_clusterings")
    test_share: float = asks_like(TrialPlan, "test_share")
    across: str | None = asks_like(TrialPlan, "across")
    sizes: tuple[int, ...] = asks(
        SIZES,
        "Training samples",
        "Sizes of the training part, separated by commas; “all” is the whole of it. Sizes that do not fit are "
        "left out. All parts have the data's own mix of classes, and smaller parts lie within larger ones.",
        address="sizes",
        place="row",
        lowest=1,
        many=True,
        word="all",
        width=330,
        several_as=Several(_with_none_for_all, _with_zero_for_all),
        says=_with_samples,
    )
    n_epochs: int | None = asks_like(TrialPlan, "n_epochs")
    seed: int = asks_like(TrialPlan, "seed")
    tuned: bool = asks_like(TrialPlan, "tuned")

    described: ClassVar[str] = "{models} · {source_finders} · {sizes} · {n_repeats}"

    kind: ClassVar[str] = "adequacy"
    METHOD_VERSION: ClassVar[int] = 3

    def __post_init__(self) -> None:
        check_fields(self)
        _ = self.trial_plan
        _check_sizes(self.sizes)

    @property
    def trial_plan(self) -> TrialPlan:
        """The plan whose draws these are: the same in everything but the sizes."""
        return TrialPlan(**{field.name: getattr(self, field.name) for field in fields(self) if field.name != "sizes"})

    def n_raised(self) -> int:
        """How often the versions of its source finders have been raised."""
        return self.trial_plan.n_raised()

    def fitting(self, dataset: Dataset) -> tuple[int, ...]:
        """The sizes that fit the data set."""
        largest = (1 - self.test_share) * len(dataset.y)
        return tuple(size for size in self.sizes if size == ALL or dataset.n_classes <= size < largest)

    def notes(self, dataset: Dataset) -> tuple[str, ...]:
        """Sentences on what the data set does not give: sizes that do not fit, classes too rare for the smallest."""
        fitting, sentences = self.fitting(dataset), []
        unfit = [count(size) for size in self.sizes if size not in fitting]
        if unfit:
            usual = round((1 - self.test_share) * len(dataset.y))
            sentences.append(
                f"A training part has about {count(usual)} samples, so these sizes are left out: "
                f"{listed(unfit, most=6)}."
            )
        smallest = min((size for size in fitting if size != ALL), default=len(dataset.y))
        share = smallest / len(dataset.y) * dataset.n_per_class
        rare = [name for name, n in zip(dataset.class_names, share, strict=True) if n < 1]
        if rare:
            sentences.append(
                f"A part of {count(smallest)} samples has one of {listed(rare)}, which is more than in the data."
            )
        return tuple(sentences)

    def n_trials(self, dataset: Dataset) -> int:
        """Draws times sizes times models. Raises DataError where the plan does not fit the data set."""
        fitting = self.fitting(dataset)
        if len(fitting) < 2:
            usual = round((1 - self.test_share) * len(dataset.y))
            raise DataError(
                f"Fewer than two sizes fit {dataset.name}, whose training parts hold about {count(usual)} samples of "
                f"{count(dataset.n_classes)} classes. Give smaller sizes, and all."
            )
        return self.trial_plan.n_trials(dataset) * len(fitting)

    def split(self, dataset: Dataset, draw: Draw, size: int) -> Split:
        """The training part of a draw cut to a size, and the draw's whole test part."""
        split = _whole(self.trial_plan, dataset, draw)
        if size == ALL:
            return split
        rng = np.random.default_rng([self.seed, *draw.scheme.encode(), draw.repeat])
        return Split(nested_part(split.train, dataset.y, size, rng=rng), split.test)

    def needs(self, dataset: Dataset) -> tuple[Plan, ...]:
        """The plans that find the sources to draw from, where a network finds them."""
        return self.trial_plan.needs(dataset)

    def stored_models(self) -> tuple[str, ...]:
        """None: the models of this plan are made by its trials, and forgotten."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Rows of the trial (`COLUMNS`): the whole test part, each label, each label's sources."""
        return table_of([self.count_trial(dataset, index, context=context)])

    def count_trial(self, dataset: Dataset, index: int, *, context: Context) -> Counted:
        """The rows of the trial before they are a table."""
        draw, size, model = self._trial(dataset, index)
        plan, split = self.trial_plan, self.split(dataset, draw, size)
        given = {"seed": plan.fit_seed(draw), "should_stop": context.should_stop}
        classifier, inner = untrained(MODELS[model], self.n_epochs), plan.inner(dataset, draw, split)
        fitted = predict_at(("last",), classifier, dataset, split, inner=inner, **given)
        counted = plan.counted(dataset, draw, fitted.predicted["last"], model=model, split=split, **fitted.about)
        n_of_label = pd.Series(np.bincount(dataset.y[split.train], minlength=dataset.n_classes), dataset.class_names)
        return counted | {"size": size, "n_label_train": n_of_label.reindex(counted["label"]).astype("Int64").array}

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        draw, rest = divmod(index, len(self.fitting(dataset)) * len(self.models))
        size, model = divmod(rest, len(self.models))
        rows = self.trial_plan.failed_trial(dataset, draw * len(self.models) + model)
        sizes = pd.array([self.fitting(dataset)[size], None], dtype="Int64")
        return rows.assign(size=sizes[:1], n_label_train=sizes[1:])

    def _trial(self, dataset: Dataset, index: int) -> tuple[Draw, int, str]:
        """Split by split, and within it size by size, so that what has finished soon makes whole curves."""
        sizes = self.fitting(dataset)
        draw, rest = divmod(index, len(sizes) * len(self.models))
        size, model = divmod(rest, len(self.models))
        return self.trial_plan.draws(dataset)[draw], sizes[size], self.models[model]


def nested_part(
    train: Integer[np.ndarray, " n_train"],
    y: Integer[np.ndarray, " n_samples"],
    size: int,
    *,
    rng: np.random.Generator,
) -> Integer[np.ndarray, " n_part"]:
    """Cut training rows to a size that mixes classes as all of them do, rounded, and holds one of each at least.

    The rows of a class, in random order, stand evenly along the part: so with an `rng` in the same state the part of a
    smaller size lies within that of a larger one. A part of fewer rows than there are classes lacks some.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> part = nested_part(np.arange(9), y, 6, rng=np.random.default_rng(0))
    >>> y[part].tolist()
    [0, 0, 0, 0, 1, 1]
    """
    shuffled = rng.permutation(train)
    _, of_class, sizes = np.unique(y[shuffled], return_inverse=True, return_counts=True)
    by_class = np.argsort(of_class, kind="stable")
    place = np.empty(len(train), dtype=np.int64)
    place[by_class] = np.arange(len(train)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    along = np.where(place == 0, 0.0, (place + 0.5) / sizes[of_class])
    turn_of_class = rng.permutation(len(sizes))
    return np.sort(shuffled[np.lexsort((turn_of_class[of_class], along))[:size]])


@lru_cache(maxsize=8)
def _whole(plan: TrialPlan, dataset: Dataset, draw: Draw) -> Split:
    """The uncut split of a draw, which many trials in a row share."""
    return plan.split(dataset, draw)


def _check_sizes(sizes: tuple[int, ...]) -> None:
    given = ", ".join("all" if size == ALL else repr(size) for size in sizes) or "none"
    if not sizes or any(type(size) is not int or size < 0 for size in sizes):
        raise DataError(f"Sizes are whole numbers or all, not {given}.")
    cut = [size for size in sizes if size != ALL]
    if cut != sorted(set(cut)) or ALL in sizes[:-1]:
        raise DataError(f"Sizes must rise, each once, with all as the last, and not be {given}.")
