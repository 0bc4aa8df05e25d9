"""What does it come to, in sentences? Every one is phrased from the decision of a claim (core.evaluate.claims)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.fits import Fits
from touchstone.core.evaluate.metrics import IMBALANCED
from touchstone.core.evaluate.source_robustness.compare import ModelComparison, compared, leading_row, standing
from touchstone.core.evaluate.source_robustness.hardness import Hardness, hardest
from touchstone.core.evaluate.source_robustness.held_out import held_out, noun
from touchstone.core.evaluate.source_robustness.parametric_null import cloud_sentence
from touchstone.core.evaluate.source_robustness.results import (
    AccuracyIntervals,
    Baseline,
    ExpectedInterval,
    ExpectedValue,
    MetricOnSources,
)
from touchstone.core.evaluate.wording import (
    Verdict,
    count,
    in_a_row,
    listed,
    percent,
    plural,
    points,
    quoted,
    ratio,
    resting,
    rho,
)
from touchstone.core.trials.sources_plan import KNOWN_SOURCES

# What else is found of one model: by class, by held-out source, against other clouds and other splits.


def beyond_cloud(row: ExpectedInterval, null: Claim | None) -> str:
    """Whether found clusters are harder than those of a cloud without sources; nothing of known sources."""
    if row.source_finder == KNOWN_SOURCES or row.falls.decision != "above":
        return ""
    return cloud_sentence(null)


def by_class(classes: Sequence[ExpectedInterval]) -> str:
    """Which classes drop more than the others."""
    if len(classes) < 2 or not any(row.further is not None for row in classes):
        return ""
    worse = sorted((row for row in classes if row.falls_further), key=lambda row: row.rho.value)
    corrected = f"{plural(len(classes), 'class', 'classes')}, Holm"
    if not worse:
        return f"No class drops significantly more than the others ({corrected})."
    falls = [f"{quoted(row.label)} ({rho(row.rho.value)})" for row in worse]
    drop = "drops" if len(worse) == 1 else "drop"
    which = "Class" if len(worse) == 1 else "Classes"
    return f"{which} {listed(falls)} {drop} significantly more than the others, {corrected}."


def hardest_source(row: ExpectedInterval, hard: Sequence[Hardness], n_sources: int) -> str:
    """Which held-out source is harder than the others, where that is known."""
    if not hard:
        return ""
    first, kind = hard[0], noun(row.source_finder)
    among = f"{plural(n_sources, kind)}, corrected"
    if first.claim.decision == "above":
        source = first.source
        others = "the others" if source.label is None else "its class's others"
        return (
            f"Held-out {kind} {called(row, first)} is harder than {others}: {percent(first.shrunk, first.interval)} "
            f"against {percent(first.others)} (n = {count(source.n)}, {plural(source.n_repeats, 'repeat')}, {among})."
        )
    if not first.claim.interval.known:
        return f"Undecided which held-out {kind} is hardest: each was held out in 1 repeat."
    return f"No held-out {kind} is significantly harder than the others ({among})."


def called(row: ExpectedInterval, hard: Hardness) -> str:
    """A source by its own name, a cluster by its number and class."""
    source = hard.source
    name = quoted(source.source) if row.source_finder == KNOWN_SOURCES else source.source
    of_class = f" of {quoted(source.label)}" if source.label is not None else ""
    where = f", clustering {source.clustering}" if row.n_clusterings > 1 else ""
    return f"{name}{of_class}{where}"


def unseen(row: ExpectedInterval) -> str:
    """What no number of repeats shows: sources of a kind that is not among those at hand."""
    if row.source_finder != KNOWN_SOURCES:
        return ""
    return f"A source that fails completely would not show if none is among these {count(row.n_sources)}."


def above_one(row: ExpectedInterval) -> str:
    """What it means that held-out sources came out easier."""
    if isnan(row.rho.value) or row.rho.value <= 1:
        return ""
    kind = noun(row.source_finder)
    doubt = "" if row.rho.over_sources.lower > 1 else ", not significantly"
    return (
        f"Held-out {kind}s were easier than those seen in training (rho {ratio(row.rho.value)}){doubt}. "
        f"The paper expects the opposite: that training on a {kind} helps on it."
    )


def other_mix(baseline: Baseline | None) -> str:
    """That the test parts differ in their share of the majority class, which alone moves accuracy."""
    if baseline is None or not abs(baseline.inclusive - baseline.exclusive) >= baseline.claim.smallest:
        return ""
    return (
        f"Test parts differ in their mix of classes: the majority class is {percent(baseline.inclusive)} of those seen "
        f"in training, {percent(baseline.exclusive)} of those held out."
    )


def at_full_size(row: ExpectedInterval) -> str:
    """What a random split reaches where nothing is cut from it, if held-out sources leave less than it has."""
    if not row.smaller or isnan(row.full.value):
        return ""
    kind, n, full = noun(row.source_finder), count(row.n_train), count(row.n_train_full)
    return (
        f"Held-out {kind}s leave {n} samples to train on, so all splits train on as many. "
        f"At full size ({full}), a random split reaches {percent(row.full.value, row.full.over_sources)}."
    )


def on_random_split(row: ExpectedInterval) -> str:
    """How the accuracy with sources seen in training differs from the one that is usually reported."""
    less, sources = row.inclusive_less_random, f"{noun(row.source_finder)}s seen in training"
    if isnan(less.value):
        return ""
    if not less.over_sources.known or less.over_sources.lower <= 0 <= less.over_sources.upper:
        of_both = f"No significant difference between {sources} and a random split"
        return f"{of_both}: {points(less.value, less.over_sources)}."
    lower = less.value < 0
    by = points(abs(less.value), less.over_sources.scaled(-1.0 if lower else 1.0))
    accuracies = f"{percent(row.inclusive.value)} against {percent(row.random.value)}"
    return f"Accuracy with {sources} is {by} {'lower' if lower else 'higher'} than on a random split: {accuracies}."


# What does it come to, in sentences? Every one is phrased from the decision of a claim (core.evaluate.claims).


_FALLS, _BASELINE = "source_robustness.falls", "source_robustness.below_baseline"
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
    null: Claim | None = None,
    metric: MetricOnSources | None = None,
    finished: bool = True,
) -> Verdict:
    """Say what the trials tell of one row of `intervals.overall` (None: of `leading_row`).

    `names` are the models' names as people know them. Comparisons are told where they are of the same source finder
    and training-set size. `epoch` is that of the plan. `null` is the claim "source_robustness.beyond_cloud" of found
    clusters, as a fraction; None while it is not known. Of a `metric` of the row, that takes the place of accuracy in
    the headline. Advice is given once the run is `finished`.

    Examples
    --------
    >>> import pandas as pd
    >>> source_verdict(AccuracyIntervals((), (), pd.DataFrame(), n_trials=0, n_used=0)).headline
    'No trial has finished yet.'
    """
    row = row if row is not None else leading_row(intervals.overall, comparisons)
    if row is None:
        failed = intervals.n_trials - intervals.n_used
        return Verdict("No trial has finished yet.", plural(failed, "trial") + " failed." if failed else "", "", ())
    names = names or {}
    baseline, classes, sources = intervals.baseline_of(row), intervals.classes_of(row), intervals.sources_of(row)
    hard = hardest(sources)
    mine = [
        comparison
        for comparison in comparisons
        if comparison.source_finder == row.source_finder and row.model in (comparison.model, comparison.other)
    ]
    balanced, name = intervals.metric_of(row, "balanced_accuracy"), names.get(row.model, row.model)
    known = _Known(row, name, baseline, balanced, metric)
    fits = intervals.fits.get((row.model, row.source_finder), Fits(0))
    trained = fits.sentence(f"of {name}")
    findings = (
        [_EPOCHS[epoch]]
        if known.is_constant
        else [
            trained if fits.are_finished else "",
            resting(_unasked(known), _FALLS),
            resting(beyond_cloud(row, null), "source_robustness.beyond_cloud"),
            resting(standing(row, intervals.overall, comparisons, names), "source_robustness.model_keeps_more"),
            resting(by_class(classes), "source_robustness.class_falls_further"),
            resting(hardest_source(row, hard, len(sources)), "source_robustness.worst_source"),
            unseen(row),
            *(resting(compared(each, len(comparisons), names), "source_robustness.model_keeps_more") for each in mine),
            resting(above_one(row), _FALLS),
            other_mix(baseline),
            on_random_split(row),
            at_full_size(row),
            intervals.chosen.get((row.model, row.source_finder), ""),
            _EPOCHS[epoch],
        ]
    )
    below = None if metric is None else metric.below_baseline("exclusive")
    claims = [
        *([] if metric is None else [metric.falls]),
        *([] if below is None else [below]),
        *([baseline.claim] if baseline is not None and known.is_worthless else []),
        row.falls,
        *([baseline.claim] if baseline is not None and not known.is_worthless else []),
        *([null] if null is not None else []),
        *(claim for claim in (of_class.further for of_class in classes) if claim is not None),
        *([hard[0].claim] if hard else []),
        *(comparison.claim for comparison in mine),
    ]
    return Verdict(
        headline=in_a_row("" if fits.are_finished else trained, _headline(known)),
        used=_used(intervals, row),
        advice=(fits.advice or resting(_advice(known), _FALLS, _BASELINE)) if finished else "",
        findings=tuple(finding for finding in findings if finding),
        claims=tuple(claims),
    )


@dataclass(frozen=True)
class _Known:
    """What a headline and its advice rest on: a row by its model's name, its baseline, and other metrics of it."""

    row: ExpectedInterval
    name: str
    baseline: Baseline | None
    balanced: MetricOnSources | None
    metric: MetricOnSources | None
    """What the verdict is about; None: accuracy."""

    @property
    def about(self) -> ExpectedInterval | MetricOnSources:
        """What falls."""
        return self.row if self.metric is None else self.metric

    @property
    def is_constant(self) -> bool:
        """Whether the model always answers one class."""
        return self.baseline is not None and self.baseline.answers_only is not None

    @property
    def learned(self) -> str:
        """See `learned`."""
        return learned(self.balanced, "exclusive")

    @property
    def is_worthless(self) -> bool:
        """Whether a model is constant, worse than the majority class, or by its own figures no better.

        Not one that has learned to tell classes apart: its accuracy is low where it finds what is rare.
        """
        baseline = self.baseline
        if baseline is None or isnan(baseline.exclusive):
            return False
        no_better = baseline.claim.decision in ("above", "small") or baseline.above.value <= 0
        return self.is_constant or (baseline.above.over_sources.known and no_better and not self.learned)


def _headline(known: _Known) -> str:
    """What limits everything first, then a model that is worth nothing, then what it loses.

    Of a model that may be better than the majority class, that this is undecided comes after what it loses.
    """
    row, few = known.row, "With only 2 sources the interval is very wide." if known.row.n_sources == 2 else ""
    if known.is_constant or (known.metric is None and known.is_worthless):
        also = _fall(row, "It", keeps=False) if row.falls.decision == "above" and not known.is_constant else ""
        return in_a_row(few, resting(_not_better(known, known.name), _BASELINE), resting(also, _FALLS))
    undecided = _not_better(known, "It") if known.metric is None else no_better_metric(known.metric, "It", "exclusive")
    lost = _fall(known.about, known.name, keeps=not undecided)
    return in_a_row(few, resting(lost, _FALLS), resting(undecided, _BASELINE))


def _unasked(known: _Known) -> str:
    """What the accuracy does where the headline is about another metric; balanced accuracy where classes are uneven."""
    if known.metric is not None:
        return _fall(known.row, known.name, named=True)
    balanced, baseline = known.balanced, known.baseline
    if balanced is None or isnan(balanced.rho.value) or baseline is None or not baseline.exclusive > IMBALANCED:
        return ""
    return _fall(balanced, known.name)


def _not_better(known: _Known, name: str) -> str:
    """That a model is constant, or not better than the majority class; empty where it is better, or not known."""
    row, baseline, where = known.row, known.baseline, held_out(known.row.source_finder)
    if baseline is None or isnan(baseline.exclusive):
        return ""
    ends = f"{percent(row.exclusive.value)} against {percent(baseline.exclusive)}"
    if baseline.answers_only is not None:
        its = f"{name} always predicts {quoted(baseline.answers_only)}; it ignores its input."
        return f"{its} On {where} it reaches {ends} of the majority-class baseline."
    if not baseline.above.over_sources.known or baseline.claim.decision == "below":
        return ""
    if known.learned and baseline.claim.decision == "above":
        loss = points(baseline.claim.estimate, baseline.claim.interval)
        answer = f"always answering {quoted(baseline.majority)}"
        return f"On {where}, {answer} is more accurate by {loss}: {ends}.{known.learned}"
    by = points(baseline.above.value, baseline.above.over_sources)
    how = _HOW.get(baseline.claim.decision, _UNSURE)
    return f"{name} is {how} than the majority-class baseline on {where}: {ends}, a difference of {by}.{known.learned}"


_HOW, _UNSURE = {"small": "no better", "above": "worse"}, "not significantly better"


def learned(balanced: MetricOnSources | None, end: str) -> str:
    """What a model has learned although it is no more accurate than the majority class; empty where that is not known.

    Balanced accuracy does not reward always answering one class; `end` says on which test parts.
    """
    below = None if balanced is None else balanced.below_baseline(end)
    if balanced is None or below is None or below.decision != "below":
        return ""
    reached, words = getattr(balanced, end), balanced.words
    ends = f"{words.value(reached.value, reached.over_sources)} against {words.value(balanced.baseline)}"
    return f" There {words.name} is {ends}."


def no_better_metric(metric: MetricOnSources, name: str, end: str) -> str:
    """That a metric is not above what frequencies of classes reach; empty where it is, or none of its own is known."""
    below, words = metric.below_baseline(end), metric.words
    if below is None or below.decision == "below":
        return ""
    ends = {"exclusive": held_out(metric.source_finder), "inclusive": f"{noun(metric.source_finder)}s seen in training"}
    at: ExpectedValue = getattr(metric, end)
    reached, baseline = words.value(at.value, at.over_sources), words.value(metric.baseline)
    how = _HOW.get(below.decision, _UNSURE)
    return f"{name} is {how} than the baseline of {words.name} on {ends[end]}: {reached} against {baseline}."


def _fall(row: ExpectedInterval | MetricOnSources, name: str, *, keeps: bool = True, named: bool = False) -> str:
    where, kind, words = held_out(row.source_finder), noun(row.source_finder), row.words
    what = f" of {words.name}" if named or isinstance(row, MetricOnSources) else ""
    if isnan(row.rho.value):
        known = [
            f"{words.value(estimate.value)}{what} {place}"
            for estimate, place in ((row.exclusive, f"on {where}"), (row.inclusive, f"with {kind}s seen in training"))
            if not isnan(estimate.value)
        ]
        return f"{name} so far: {' and '.join(known) or 'nothing known'}. Rho needs trials of both schemes."
    ends = f"{words.value(row.inclusive.value)} to {words.value(row.exclusive.value)}"
    if not row.fall.over_sources.known:
        return f"{name} so far: {ends}{what} on {where}, {rho(row.rho.value)}. An interval needs more {kind}s held out."
    lost = words.difference(row.fall.value, row.fall.over_sources)
    match row.falls.decision:
        case "above":
            return f"{name} loses {lost}{what} on {where}: {ends}.{_keeps(row) if keeps else ''}"
        case "below":
            more = words.difference(-row.fall.value, row.fall.over_sources.scaled(-1.0))
            return f"{name} gains {more}{what} on {where}: {ends} ({rho(row.rho.value)})."
        case "small":
            return f"{name} loses less than 1 point{what} on {where}: {lost}, from {ends} ({rho(row.rho.value)})."
        case _:
            return f"{name} shows no significant loss{what} on {where}: {lost}, from {ends} ({rho(row.rho.value)})."


def _keeps(row: ExpectedInterval | MetricOnSources) -> str:
    interval = row.rho.over_sources
    if not interval.upper < 1:
        return ""
    lower, upper = (f"{100 * round(end, 2):.0f}" for end in (interval.lower, interval.upper))
    return f" It keeps {lower} to {upper} % of its {row.words.name} ({rho(row.rho.value)})."


def _used(intervals: AccuracyIntervals, row: ExpectedInterval) -> str:
    failed, kind = intervals.n_trials - intervals.n_used, noun(row.source_finder)
    trials = f"{count(intervals.n_used)} of {plural(intervals.n_trials, 'trial')} used"
    trials += f" ({count(failed)} failed)." if failed else "."
    over = f" in each of {plural(row.n_clusterings, 'clustering')}" if row.n_clusterings > 1 else ""
    sources, repeats = plural(row.n_sources, kind), plural(row.exclusive.n_draws, "repeat")
    samples = f"{count(row.n_samples)} samples{intervals.design.by}, {count(row.n_train)} of them in training"
    data = f" n = {samples}, {sources}{over}, {repeats}."
    seen = f" {count(row.n_cells_held_out)} of {plural(row.n_cells, kind)} held out so far."
    return trials + data + (seen if row.n_cells_held_out < row.n_cells else "")


def _advice(known: _Known) -> str:
    row, about, has_sources = known.row, known.about, known.row.source_finder == KNOWN_SOURCES
    if not about.falls.interval.known:
        return "Next: ask for more repeats."
    if known.is_constant:
        return "Next: check how this model is trained; it always predicts one class."
    if known.metric is None and known.is_worthless:
        return "Next: find a model that beats the majority-class baseline."
    if row.n_cells_held_out < row.n_cells and about.falls.decision == "undecided":
        return "Next: ask for more repeats."
    match about.falls.decision, has_sources:
        case "above", True:
            lower = about.words.value(about.exclusive.over_sources.lower)
            what = "" if known.metric is None else f" of {about.words.name}"
            return f"Next: if inputs may come from new sources, plan for {lower}{what}."
        case "undecided", True:
            return "Next: collect samples from more sources; more repeats cannot narrow this interval."
        case "above" | "undecided", False:
            return "Next: add a column of sources, such as writer or site; only known ones show the cost of new ones."
        case "below", False:
            return "Next: find clusters another way; these do not make a harder test."
        case _:
            return ""
