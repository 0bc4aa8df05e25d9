"""Does the interval that clustering gives hold the accuracy on truly unseen sources? (section 4, put to the test)

Where the data know their sources, these can be held out: the accuracy on them is what [E AccX, E AccI] of found sources
is meant to bound. The interval is a statement made from the data at hand, so of its ends only the luck of draws is
uncertain; the accuracy on sources yet unseen is uncertain over sources and samples. Draws of the same repeat are
compared where both were trained on as many samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

import numpy as np
import pandas as pd

from touchstone.core.evaluate.intervals import holm, t_p_value, wilson
from touchstone.core.evaluate.source_robustness.counts import Layout, Schemes, finished, groups
from touchstone.core.evaluate.source_robustness.estimate import (
    Error,
    Measured,
    error_over_draws,
    error_over_sources,
    few_errors,
    measure,
    pooled,
)
from touchstone.core.evaluate.source_robustness.expected import expected_interval
from touchstone.core.evaluate.source_robustness.hardness import difference
from touchstone.core.evaluate.source_robustness.results import Difference, ExpectedInterval, ExpectedValue
from touchstone.core.evaluate.wording import count, p_value, percent, plural, points
from touchstone.core.trials.run import LEFT_OUT
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

KNOWN = "known"
LEVEL = 0.05
TOLERANCE = 0.01
MOST_TIMES = 100
Answer = Literal["contained", "falls below", "rises above", "undecided"]


@dataclass(frozen=True)
class TrueSources:
    """Of one model: the interval from found sources, and the accuracy on truly unseen ones."""

    model: str
    source_finder: str
    clustered: ExpectedInterval
    known: ExpectedInterval
    above_lower: Difference
    """Accuracy on truly unseen sources less E AccX of found ones: below 0, the worst case was not bad enough."""
    below_upper: Difference
    """E AccI of found sources less the accuracy on truly unseen ones."""
    n_draws: int
    """Exclusive draws of the same repeat and training-set size."""
    n_left_out: int
    """Other exclusive draws of either."""
    tolerance: float
    p: float
    """Of what comes closest to being told; `p_holm` is corrected for the number of answers."""
    p_holm: float
    p_draws: float
    """Of what comes closest to being told of these very data, by more draws of them."""
    closest: Answer
    times_needed: float
    """How many times as many known sources would be expected to settle it; NaN where it is settled, or nothing can."""

    @property
    def answer(self) -> Answer:
        """What can be said of other sources and samples, corrected for the number of answers."""
        return self.closest if self.p_holm < LEVEL else "undecided"

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """The answer with its numbers, and what would settle it where it is undecided."""
        names = names or {}
        who, finder = names.get(self.model, self.model), names.get(self.source_finder, self.source_finder)
        unseen = percent(self.known.exclusive.value, self.known.exclusive.over_sources)
        interval = f"[{_number(self.clustered.exclusive)}, {_number(self.clustered.inclusive)} %]"
        if isnan(self.above_lower.value) or isnan(self.below_upper.value):
            return f"{who}, {finder}: no splits of the same repeat and training-set size have finished yet."
        lower = points(self.above_lower.value, self.above_lower.over_sources)
        upper = points(self.below_upper.value, self.below_upper.over_sources)
        p = p_value(self.p_holm)
        at = f"{unseen} on truly unseen sources"
        if self.answer == "contained":
            least = min(self.above_lower.over_sources.lower, self.below_upper.over_sources.lower)
            tolerated = "" if least >= 0 else f" to within {points(self.tolerance)}"
            return (
                f"{who}: the interval {interval} of {finder} holds the accuracy{tolerated}. It is {at}: "
                f"{lower} above the lower end and {upper} below the upper one, {p}."
            )
        if self.answer == "falls below":
            return (
                f"{who}: the worst case of {finder} is not pessimistic enough. Of {interval}, {at} lie "
                f"{_turned(self.above_lower)} below the lower end, {p}."
            )
        if self.answer == "rises above":
            return (
                f"{who}: truly unseen sources are easier than the interval of {finder} says. Of {interval}, {at} lie "
                f"{_turned(self.below_upper)} above the upper end, {p}."
            )
        return (
            f"{who}: undecided whether the interval {interval} of {finder} holds the accuracy. It is {at}: {lower} "
            f"above the lower end, {upper} below the upper one. {self._settles()}"
        )

    def _settles(self) -> str:
        if not self.above_lower.over_sources.known:
            return "It takes more repeats, until every known source has been held out."
        if not self.p_draws < LEVEL:
            now = f"now {count(self.n_draws)}"
            return f"More repeats may settle it for these data ({now}). For other sources {self._more_sources()}."
        return f"More repeats cannot settle it; {self._more_sources()}."

    def _more_sources(self) -> str:
        if isnan(self.times_needed) or self.times_needed > MOST_TIMES:
            return f"more than {MOST_TIMES} times as many known sources would be needed"
        n = plural(self.known.n_sources, "source")
        return f"about {max(self.times_needed, 1.1):.1f} times as many known sources would be needed (now {n})"


def true_sources(
    trials: pd.DataFrame, *, tolerance: float = TOLERANCE, sizes: Sequence[int] = ()
) -> tuple[TrueSources, ...]:
    """Ask of every model and every finder that stands beside known sources; none where no known ones were drawn.

    The interval holds the accuracy where this is above the lower and below the upper end, or misses either by no more
    than `tolerance`: sources that make no difference lie at its upper end, and sources that are the very clusters at
    its lower one. It falls below, or rises above, where it does so surely, by however little.

    `sizes` as in `expected_accuracy_intervals`.

    Examples
    --------
    >>> same = {"model": "svm", "clustering": 0, "n_train": 80, "n_test": 20, "source": None, "n_label": 20,
    ...         "n_predicted": 20, "status": "ok"}
    >>> right = {"kmeans": {"source_exclusive": (14, 15), "source_inclusive": (19, 20)},
    ...          "known": {"source_exclusive": (17, 18), "source_inclusive": (19, 19)}}
    >>> trials = pd.DataFrame(
    ...     [{**same, "source_finder": finder, "scheme": scheme, "repeat": repeat, "label": label, "n_correct": n}
    ...      for finder, schemes in right.items() for scheme, counts in schemes.items()
    ...      for repeat, n in enumerate(counts) for label in (None, "only")])
    >>> told, = true_sources(trials)
    >>> round(told.above_lower.value, 3), round(told.below_upper.value, 3), told.answer
    (0.15, 0.1, 'undecided')
    """
    rows = finished(trials)
    rows = rows.loc[rows[LEFT_OUT].isna().to_numpy()]  # what is told of draws is told of whole ones
    finders = [name for name in rows["source_finder"].unique() if name != KNOWN]
    comparisons = [
        comparison
        for model in rows["model"].unique()
        for finder in finders
        for comparison in _ask(rows.loc[_is(rows, "model", model)], finder, tolerance, sizes)
    ]
    corrected = holm([comparison.p for comparison in comparisons])
    return tuple(replace(comparison, p_holm=p) for comparison, p in zip(comparisons, corrected, strict=True))


def true_source_table(comparisons: Sequence[TrueSources]) -> pd.DataFrame:
    """Tidy rows: both intervals, how far the accuracy is from both ends with both intervals, the answer.

    Examples
    --------
    >>> true_source_table(()).columns[:3].tolist()
    ['model', 'source_finder', 'answer']
    """
    return pd.DataFrame([_table_row(comparison) for comparison in comparisons], columns=_COLUMNS)


_NUMBERS = ("p", "p_holm", "p_draws", "times_needed", "tolerance", "n_draws", "n_left_out")
_ENDS = ("", "_draws_lower", "_draws_upper", "_sources_lower", "_sources_upper")
_COLUMNS = [
    *("model", "source_finder", "answer", "n_train", "n_train_known", "n_known_sources"),
    *("unseen", "unseen_sources_lower", "unseen_sources_upper", "known_inclusive", "exclusive", "inclusive"),
    *(f"{name}{end}" for name in ("above_lower", "below_upper") for end in _ENDS),
    *_NUMBERS,
]


def _table_row(comparison: TrueSources) -> dict[str, object]:
    row: dict[str, object] = {
        "model": comparison.model,
        "source_finder": comparison.source_finder,
        "answer": comparison.answer,
        "n_train": comparison.clustered.n_train,
        "n_train_known": comparison.known.n_train,
        "n_known_sources": comparison.known.n_sources,
        "unseen": comparison.known.exclusive.value,
        **comparison.known.exclusive.over_sources.columns("unseen_sources_"),
        "known_inclusive": comparison.known.inclusive.value,
        "exclusive": comparison.clustered.exclusive.value,
        "inclusive": comparison.clustered.inclusive.value,
    }
    for name in ("above_lower", "below_upper"):
        d: Difference = getattr(comparison, name)
        row |= {name: d.value, **d.over_draws.columns(f"{name}_draws_"), **d.over_sources.columns(f"{name}_sources_")}
    return row | {name: getattr(comparison, name) for name in _NUMBERS}


def _is(rows: pd.DataFrame, column: str, value: object) -> np.ndarray:
    return (rows[column] == value).to_numpy(dtype=bool)


def _ask(rows: pd.DataFrame, finder: str, tolerance: float, sizes: Sequence[int]) -> list[TrueSources]:
    """The rows of one model: one answer for each training-set size (of `sizes`) of this finder and known sources."""
    both = rows.loc[_is(rows, "source_finder", finder) | _is(rows, "source_finder", KNOWN)]
    paired, n_left_out = _paired(both)
    parts = {(group.layout.source_finder, group.layout.n_train): group for group in groups(paired, sizes)}
    comparisons = []
    for (name, n_train), group in parts.items():
        known = parts.get((KNOWN, n_train))
        if name == KNOWN or known is None:
            continue
        (model, mine), (_, theirs) = next(iter(group.models.items())), next(iter(known.models.items()))
        if EXCLUSIVE in mine and INCLUSIVE in mine and EXCLUSIVE in theirs:
            comparisons.append(_told(model, group.layout, mine, known.layout, theirs, tolerance, n_left_out))
    return comparisons


def _paired(rows: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The rows of draws of which the other finder has one of the same scheme, repeat and training-set size.

    Inclusive draws of found sources stay as they are: their end of the interval has no counterpart.
    """
    whole = rows.loc[rows["label"].isna().to_numpy() & _is(rows, "scheme", EXCLUSIVE)]
    draw = ["repeat", "n_train"]
    finders = whole.groupby(draw, sort=False)["source_finder"].nunique()
    by_both = finders.to_numpy() == 2
    with_partner = pd.MultiIndex.from_frame(rows.loc[:, draw]).isin(finders.index[by_both])
    keep = with_partner | ~_is(rows, "scheme", EXCLUSIVE)
    return rows.loc[keep], len(whole) - int(finders.to_numpy()[by_both].sum())


def _told(
    model: str, layout: Layout, counts: Schemes, known_layout: Layout, known: Schemes, tolerance: float, n_left_out: int
) -> TrueSources:
    every, known_every = (np.ones(len(of_finder.labels), dtype=bool) for of_finder in (layout, known_layout))
    lower, upper = (measure(counts[scheme], layout, scheme, every) for scheme in (EXCLUSIVE, INCLUSIVE))
    unseen = measure(known[EXCLUSIVE], known_layout, EXCLUSIVE, known_every)
    beyond = _over_sources(unseen, known_layout)
    paired = [(1.0, _in_order_of(unseen, known_layout, layout)), (-1.0, lower)]
    value, other = unseen.value - lower.value, upper.value - unseen.value
    draws = (error_over_draws(paired), _sum(error_over_draws([(1.0, upper)]), error_over_draws([(1.0, unseen)])))
    sources = (_sum(beyond, error_over_draws([(1.0, lower)])), _sum(beyond, error_over_draws([(1.0, upper)])))
    closest, p = _closest(value, other, sources, tolerance)
    above, below = difference(value, draws[0], sources[0]), difference(other, draws[1], sources[1])
    return TrueSources(
        model=model,
        source_finder=layout.source_finder,
        clustered=expected_interval(model, _n_train(counts), layout, counts),
        known=expected_interval(model, _n_train(known), known_layout, known),
        above_lower=above,
        below_upper=below,
        n_draws=int(counts[EXCLUSIVE].done.sum()),
        n_left_out=n_left_out,
        tolerance=tolerance,
        p=p,
        p_holm=p,
        p_draws=_closest(value, other, draws, tolerance)[1],
        closest=closest,
        times_needed=_times_needed(above, below, tolerance) if not p < LEVEL else nan,
    )


def _in_order_of(measured: Measured, own: Layout, other: Layout) -> Measured:
    """Accuracies of exclusive draws in the order of another layout's draws, by repeat."""
    by_repeat = dict(zip(own.draws[EXCLUSIVE][:, 1].tolist(), measured.accuracy, strict=True))
    clustering, repeat = other.draws[EXCLUSIVE].T
    return replace(
        measured, accuracy=np.array([by_repeat.get(number, nan) for number in repeat.tolist()]), clustering=clustering
    )


def _over_sources(measured: Measured, layout: Layout) -> Error:
    """The error over sources and samples; with hardly an error (or hit), no less than that of the samples."""
    error = error_over_sources([(1.0, measured)], layout)
    if not few_errors(measured):
        return error
    of_samples = wilson(measured.value * measured.n_samples, measured.n_samples)
    return replace(error, se=max(error.se, of_samples.width / 2 / 1.96))


def _sum(first: Error, second: Error) -> Error:
    """The error of a sum (or difference) of two that are independent."""
    return pooled(np.array([first.se, second.se]) ** 2, np.array([first.df, second.df]))


def _closest(above: float, below: float, errors: tuple[Error, Error], tolerance: float) -> tuple[Answer, float]:
    """The answer that is surest, and its p-value; `errors` are those of `above` and `below`."""
    error, other = errors
    inside = _surely_positive(above + tolerance, error), _surely_positive(below + tolerance, other)
    p_values: dict[Answer, float] = {
        "contained": nan if isnan(sum(inside)) else max(inside),
        "falls below": _surely_positive(-above, error),
        "rises above": _surely_positive(-below, other),
    }
    known: list[tuple[Answer, float]] = [(answer, p) for answer, p in p_values.items() if not isnan(p)]
    return min(known, key=lambda item: item[1]) if known else ("undecided", nan)


def _surely_positive(value: float, error: Error) -> float:
    p = t_p_value(value, error.se, error.df)
    return p if value > 0 or isnan(p) else 1.0


def _times_needed(above: Difference, below: Difference, tolerance: float) -> float:
    """How many times as many units would shrink the intervals over sources until the values decide."""
    room, other = above.value + tolerance, below.value + tolerance
    half, other_half = above.over_sources.width / 2, below.over_sources.width / 2
    if room > 0 and other > 0:
        return max((half / room) ** 2, (other_half / other) ** 2)
    return (half / above.value) ** 2 if room <= 0 else (other_half / below.value) ** 2


def _n_train(schemes: Schemes) -> int:
    sizes = schemes[EXCLUSIVE].n_train
    return round(float(sizes[~np.isnan(sizes)].mean()))


def _number(estimate: ExpectedValue) -> str:
    return f"{100 * estimate.value:.1f}"


def _turned(contrast: Difference) -> str:
    return points(-contrast.value, contrast.over_sources.scaled(-1.0))
