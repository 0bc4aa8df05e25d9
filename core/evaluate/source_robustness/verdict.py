"""What does it come to, in sentences? Phrased on the bounds of the interval over sources and samples."""

from collections.abc import Mapping, Sequence
from math import isnan

from core.evaluate.intervals import Interval
from core.evaluate.source_robustness.compare import ModelComparison
from core.evaluate.source_robustness.held_out import worst
from core.evaluate.source_robustness.results import AccuracyIntervals, ExpectedInterval
from core.evaluate.wording import Verdict, count, gap, listed, p_value, percent, plural, points, ratio, rho

MOST_REPEATS = 10_000
MOST_SOURCES = 100
_EPOCHS = {
    "last": "",
    "best": "Networks were tested after the epoch that is best on the test part, as in the paper: this flatters them.",
    "validation": "Networks were tested after the epoch that was best on a part held out for that choice; no model "
    "trained on it.",
}


def source_verdict(
    intervals: AccuracyIntervals,
    comparisons: Sequence[ModelComparison] = (),
    *,
    row: ExpectedInterval | None = None,
    names: Mapping[str, str] | None = None,
    epoch: str = "last",
) -> Verdict:
    """Say what the trials tell of one row of `intervals.overall` (None: of the model that keeps most of its accuracy).

    `names` are the models' names as people know them. Comparisons are told where they are of the same source finder
    and training-set size. `epoch` is that of the plan.

    Examples
    --------
    >>> import pandas as pd
    >>> source_verdict(AccuracyIntervals((), (), pd.DataFrame(), n_trials=0, n_used=0)).headline
    'No trial has finished yet.'
    """
    row = row if row is not None else most_robust(intervals.overall)
    if row is None:
        failed = intervals.n_trials - intervals.n_used
        return Verdict("No trial has finished yet.", plural(failed, "trial") + " failed." if failed else "", "", ())
    names = names or {}
    classes = intervals.classes_of(row)
    findings = [
        _EPOCHS[epoch],
        _above_one(row),
        _classes(classes),
        _worst_source(intervals, row),
        _against_random(row),
        *(
            compared(comparison, len(comparisons), names)
            for comparison in comparisons
            if comparison.source_finder == row.source_finder and row.model in (comparison.model, comparison.other)
        ),
    ]
    return Verdict(
        headline=_headline(row, names.get(row.model, row.model)),
        used=_used(intervals, row),
        advice=_advice(row, classes),
        findings=tuple(finding for finding in findings if finding),
    )


def most_robust(rows: Sequence[ExpectedInterval]) -> ExpectedInterval | None:
    """The row with the highest lower bound of rho over sources; the first where none is known."""

    def bound(row: ExpectedInterval) -> tuple[float, float]:
        lower = row.rho.over_sources.lower
        return (-1.0 if isnan(lower) else lower), (-1.0 if isnan(row.rho.value) else row.rho.value)

    return max(rows, key=bound, default=None)


def compared(comparison: ModelComparison, n_pairs: int, names: Mapping[str, str]) -> str:
    """One sentence or two on a pair of models: which one keeps more, or what it would take to know."""
    more, less = comparison.model, comparison.other
    high, low, difference = comparison.rho, comparison.other_rho, comparison.difference
    sign = 1
    if difference.value < 0:
        more, less, high, low, sign = less, more, low, high, -1
    first, second = names.get(more, more), names.get(less, less)
    corrected = f", corrected for {plural(n_pairs, 'pair')}" if n_pairs > 1 else ""
    over_sources = gap(sign * difference.value, _turned(difference.over_sources, sign))
    numbers = f"rho {ratio(high)} against {ratio(low)}, difference {over_sources}"
    if comparison.told_apart:
        p = p_value(difference.p_sources_holm)
        return f"{first} keeps more of its accuracy on unfamiliar sources than {second}: {numbers}, {p}{corrected}."
    apart = f"{first} and {second} cannot be told apart: {numbers} over sources and samples."
    if not (difference.over_sources.known and difference.over_draws.known):
        return f"{first} and {second} cannot be told apart yet: {numbers}."
    if comparison.told_apart_on_these_data:
        over_draws = gap(sign * difference.value, _turned(difference.over_draws, sign))
        on_these = f"On these very data {first} keeps more ({over_draws} over draws)"
        return f"{apart} {on_these}; more repeats cannot settle it, {_sources_needed(comparison)}."
    return (
        f"{apart} {_repeats_needed(comparison)}; whether it holds for other sources too, {_sources_needed(comparison)}."
    )


def _headline(row: ExpectedInterval, name: str) -> str:
    interval = row.rho.over_sources
    if isnan(row.rho.value):
        known = [
            f"{percent(estimate.value)} on {sources} sources"
            for estimate, sources in ((row.exclusive, "unfamiliar"), (row.inclusive, "familiar"))
            if not isnan(estimate.value)
        ]
        return f"{name} so far: {' and '.join(known) or 'nothing known'}; rho needs trials of both schemes."
    numbers = (
        f"{percent(row.inclusive.value, row.inclusive.over_sources)} on familiar sources, "
        f"{percent(row.exclusive.value, row.exclusive.over_sources)} on unfamiliar ones, "
        f"{rho(row.rho.value, interval)}"
    )
    if not interval.known:
        return f"{name} so far: {numbers}. An interval follows once more sources have been held out."
    if interval.upper < 1:
        kept = (
            f"Count on keeping {_share(interval.lower)} of the accuracy, and on no more than {_share(interval.upper)}"
        )
        return f"Accuracy falls on unfamiliar sources. {name}: {numbers}. {kept}."
    if interval.lower > 1:
        return f"Accuracy does not fall on unfamiliar sources, it rises. {name}: {numbers}."
    kept = f"it may be all of the accuracy that is kept, or only {_share(interval.lower)}"
    return f"No fall on unfamiliar sources can be shown. {name}: {numbers}; {kept}."


def _used(intervals: AccuracyIntervals, row: ExpectedInterval) -> str:
    failed = intervals.n_trials - intervals.n_used
    trials = f"{count(intervals.n_used)} of {plural(intervals.n_trials, 'trial')} used"
    trials += f" ({count(failed)} failed)." if failed else "."
    over = f" in each of {plural(row.n_clusterings, 'clustering')}" if row.n_clusterings > 1 else ""
    sources, repeats = plural(row.n_sources, "source"), plural(row.exclusive.n_draws, "repeat")
    data = f" n = {count(row.n_samples)} samples, {sources}{over}, {repeats}."
    seen = f" {count(row.n_cells_held_out)} of {plural(row.n_cells, 'source')} held out so far."
    return trials + data + (seen if row.n_cells_held_out < row.n_cells else "")


def _advice(overall: ExpectedInterval, classes: Sequence[ExpectedInterval]) -> str:
    interval = overall.rho.over_sources
    if not interval.known:
        return "Wait for more trials, or ask for more repeats."
    if interval.upper < 1:
        worse = falling_further(classes)
        first = f", first of {_class_or_classes(worse)} {listed([str(row.label) for row in worse])}" if worse else ""
        lower = percent(overall.exclusive.over_sources.lower)
        return (
            f"Next: plan with {lower}, the lower bound, where inputs may come from sources that the training data do "
            f"not hold, and collect samples from new sources{first or ' of every class'}."
        )
    if overall.rho.value > 1:
        return "Next: find sources another way, or bring known ones; these do not make a harder test."
    return "Next: to rule out a fall, collect samples from more sources; more repeats cannot narrow this interval."


def falling_further(classes: Sequence[ExpectedInterval]) -> list[ExpectedInterval]:
    """The classes whose accuracy falls further than that of the rest, corrected for their number; worst first."""
    return sorted((row for row in classes if row.falls_further), key=lambda row: row.rho.value)


def _classes(classes: Sequence[ExpectedInterval]) -> str:
    if len(classes) < 2 or not any(row.against_rest is not None for row in classes):
        return ""
    worse = falling_further(classes)
    corrected = f"corrected for {plural(len(classes), 'class', 'classes')}"
    if not worse:
        return f"No class falls further than the rest that the data can tell ({corrected})."
    falls = [
        f"{row.label} ({rho(row.rho.value, row.rho.over_sources)}, {p_value(row.against_rest.p_sources_holm)})"
        for row in worse
        if row.against_rest is not None
    ]
    return f"Accuracy falls further than elsewhere in {_class_or_classes(worse)} {listed(falls)}, {corrected}."


def _class_or_classes(rows: Sequence[ExpectedInterval]) -> str:
    return "class" if len(rows) == 1 else "classes"


def _worst_source(intervals: AccuracyIntervals, row: ExpectedInterval) -> str:
    lowest = worst(intervals.sources_of(row))
    if lowest is None:
        return ""
    of_class = f" of class {lowest.label}" if lowest.label is not None else ""
    where = f" (clustering {lowest.clustering})" if row.n_clusterings > 1 else ""
    familiar = "" if isnan(lowest.inclusive) else f"; when it is familiar, {percent(lowest.inclusive)}"
    held_out = percent(lowest.exclusive, Interval(lowest.lower, lowest.upper))
    which = f"{lowest.source}{of_class}{where}"
    return f"The worst to hold out is source {which}: {held_out}, n = {count(lowest.n)}{familiar}."


def _above_one(row: ExpectedInterval) -> str:
    if isnan(row.rho.value) or row.rho.value <= 1:
        return ""
    doubt = "" if row.rho.over_sources.lower > 1 else ", though not beyond what other sources could give"
    return (
        f"Sources that were held out came out easier than familiar ones (rho {ratio(row.rho.value)}){doubt}. The paper "
        "expects the opposite of a clustering that tells sources apart: these sources do not differ in what this model "
        "finds hard, so they say little about unfamiliar ones."
    )


def _against_random(row: ExpectedInterval) -> str:
    advantage = row.inclusive_less_random
    if isnan(advantage.value) or not advantage.over_draws.known:
        return ""
    less = points(advantage.value, advantage.over_draws)
    numbers = f"{percent(row.inclusive.value)} and {percent(row.random.value)}, {less} over draws"
    if advantage.over_draws.holds(0.0):
        return (
            f"Familiar sources and a random split cannot be told apart ({numbers}); the paper expects them to be equal "
            "where a data set is large enough."
        )
    if advantage.value > 0:
        return (
            f"Familiar sources come out above a random split ({numbers}), as the paper expects of a small data set: a "
            "random split leaves some sources nearly out of the training part."
        )
    return (
        f"Familiar sources come out below a random split ({numbers}), which the paper does not expect; whatever sets "
        "these sources apart, a random split does not suffer from it."
    )


def _repeats_needed(comparison: ModelComparison) -> str:
    n = comparison.n_repeats_needed
    if n is None:
        return "No number of repeats would tell which keeps more on these data"
    needed = (
        f"more than {count(MOST_REPEATS)}" if n > MOST_REPEATS else f"about {count(max(n, comparison.n_draws + 1))}"
    )
    return f"It would take {needed} repeats to tell on these data (now {count(comparison.n_draws)})"


def _sources_needed(comparison: ModelComparison) -> str:
    times = comparison.sources_needed
    if isnan(times) or times > MOST_SOURCES:
        return f"more than {MOST_SOURCES} times as many sources would be needed"
    return f"about {max(times, 1.1):.1f} times as many sources would be needed"


def _share(value: float) -> str:
    """A bound of rho in words, rounded as it is shown."""
    return f"{100 * round(value, 2):.0f} %"


def _turned(interval: Interval, sign: int) -> Interval:
    return interval if sign > 0 else Interval(-interval.upper, -interval.lower)
