"""What does it come to, in sentences? Every one is phrased from the decision of a claim (core.evaluate.claims)."""

from collections.abc import Mapping, Sequence
from math import isnan

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.metrics import IMBALANCED
from touchstone.core.evaluate.source_robustness.compare import ModelComparison, compared, leading_row, standing
from touchstone.core.evaluate.source_robustness.hardness import Hardness, hardest
from touchstone.core.evaluate.source_robustness.held_out import held_out, noun
from touchstone.core.evaluate.source_robustness.parametric_null import cloud_sentence
from touchstone.core.evaluate.source_robustness.results import (
    AccuracyIntervals,
    Baseline,
    ExpectedInterval,
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


def falling_further(classes: Sequence[ExpectedInterval]) -> list[ExpectedInterval]:
    """The classes whose accuracy falls further than that of the rest, corrected for their number; worst first."""
    return sorted((row for row in classes if row.falls_further), key=lambda row: row.rho.value)


def by_class(classes: Sequence[ExpectedInterval]) -> str:
    """Which classes drop more than the others."""
    if len(classes) < 2 or not any(row.further is not None for row in classes):
        return ""
    worse, corrected = falling_further(classes), f"{plural(len(classes), 'class', 'classes')}, Holm"
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
    lower, turned = less.value < 0, Interval(-less.over_sources.upper, -less.over_sources.lower)
    by = points(abs(less.value), turned if lower else less.over_sources)
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
    balanced = intervals.metric_of(row, BALANCED)
    name = names.get(row.model, row.model)
    findings = (
        [_EPOCHS[epoch]]
        if _constant(baseline)
        else [
            resting(_unasked(row, name, baseline, balanced, metric), _FALLS),
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
            _EPOCHS[epoch],
        ]
    )
    worthless = _worthless(baseline, balanced)
    below = None if metric is None else metric.below_baseline
    claims = [
        *([] if metric is None else [metric.falls]),
        *([] if below is None else [below]),
        *([baseline.claim] if baseline is not None and worthless else []),
        row.falls,
        *([baseline.claim] if baseline is not None and not worthless else []),
        *([null] if null is not None else []),
        *(claim for claim in (of_class.further for of_class in classes) if claim is not None),
        *([hard[0].claim] if hard else []),
        *(comparison.claim for comparison in mine),
    ]
    return Verdict(
        headline=_headline(row, name, baseline, balanced, metric),
        used=_used(intervals, row),
        advice=resting(_advice(row, baseline, balanced, metric) if finished else "", _FALLS, _BASELINE),
        findings=tuple(finding for finding in findings if finding),
        claims=tuple(claims),
    )


def _headline(
    row: ExpectedInterval,
    name: str,
    baseline: Baseline | None,
    balanced: MetricOnSources | None,
    metric: MetricOnSources | None,
) -> str:
    """What limits everything first, then a model that is worth nothing, then what it loses.

    Of a model that may be better than the majority class, that this is undecided comes after what it loses.
    """
    few = "With only 2 sources the interval is very wide." if row.n_sources == 2 else ""
    if metric is not None and not _constant(baseline):
        below = _below_own(metric)
        lost = _fall(metric, name, keeps=not below)
        return in_a_row(few, resting(lost, _FALLS), resting(below, _BASELINE))
    if _worthless(baseline, balanced):
        also = _fall(row, "It", keeps=False) if row.falls.decision == "above" and not _constant(baseline) else ""
        return in_a_row(few, resting(_not_better(row, name, baseline, balanced), _BASELINE), resting(also, _FALLS))
    undecided = _not_better(row, "It", baseline, balanced)
    lost = _fall(row, name, keeps=not undecided)
    return in_a_row(few, resting(lost, _FALLS), resting(undecided, _BASELINE))


BALANCED = "balanced_accuracy"


def _unasked(
    row: ExpectedInterval,
    name: str,
    baseline: Baseline | None,
    balanced: MetricOnSources | None,
    metric: MetricOnSources | None,
) -> str:
    """What the accuracy does where the headline is about another metric; balanced accuracy where classes are uneven."""
    if metric is not None:
        return _fall(row, name, named=True)
    if balanced is None or baseline is None or not baseline.exclusive > IMBALANCED:
        return ""
    return "" if isnan(balanced.rho.value) else _fall(balanced, name)


def _worthless(baseline: Baseline | None, balanced: MetricOnSources | None) -> bool:
    """Whether a model is constant, worse than the majority class, or by its own figures no better.

    Not one that has learned to tell classes apart: its accuracy is low where it finds what is rare.
    """
    if baseline is None or isnan(baseline.exclusive):
        return False
    if baseline.answers_only is not None:
        return True
    return (
        baseline.above.over_sources.known
        and (baseline.claim.decision in ("above", "small") or baseline.above.value <= 0)
        and not _has_learned(balanced)
    )


def _has_learned(balanced: MetricOnSources | None) -> bool:
    """Whether balanced accuracy is surely above what frequencies of classes reach."""
    below = None if balanced is None else balanced.below_baseline
    return below is not None and below.decision == "below"


def _constant(baseline: Baseline | None) -> bool:
    return baseline is not None and baseline.answers_only is not None


def _not_better(row: ExpectedInterval, name: str, baseline: Baseline | None, balanced: MetricOnSources | None) -> str:
    """That a model is constant, or not better than the majority class; empty where it is better, or not known."""
    if baseline is None or isnan(baseline.exclusive):
        return ""
    where = held_out(row.source_finder)
    ends = f"{percent(row.exclusive.value)} against {percent(baseline.exclusive)}"
    if baseline.answers_only is not None:
        its = f"{name} always predicts {quoted(baseline.answers_only)}; it ignores its input."
        return f"{its} On {where} it reaches {ends} of the majority-class baseline."
    decision, above = baseline.claim.decision, baseline.above
    if not above.over_sources.known or decision == "below":
        return ""
    by, learned = points(above.value, above.over_sources), _learned(balanced)
    if learned and decision == "above":
        loss = points(-above.value, Interval(-above.over_sources.upper, -above.over_sources.lower))
        return f"On {where}, always answering {quoted(baseline.majority)} is more accurate by {loss}: {ends}.{learned}"
    how = {"small": "no better", "above": "worse"}.get(decision, "not significantly better")
    return f"{name} is {how} than the majority-class baseline on {where}: {ends}, a difference of {by}.{learned}"


def _learned(balanced: MetricOnSources | None) -> str:
    """What a model has learned all the same, by a metric that does not reward always answering one class."""
    if balanced is None or not _has_learned(balanced):
        return ""
    reached = balanced.words.value(balanced.exclusive.value, balanced.exclusive.over_sources)
    return f" There {balanced.words.name} is {reached} against {balanced.words.value(balanced.baseline)}."


def _below_own(metric: MetricOnSources) -> str:
    """That a metric is not above what frequencies of classes reach; empty where it is, or none of its own is known."""
    below = metric.below_baseline
    if below is None or below.decision == "below":
        return ""
    how = {"small": "no better", "above": "worse"}.get(below.decision, "not significantly better")
    ends = f"{metric.words.value(metric.exclusive.value)} against {metric.words.value(metric.baseline)}"
    return f"It is {how} than the baseline of {metric.words.name} on {held_out(metric.source_finder)}: {ends}."


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
            gained = Interval(-row.fall.over_sources.upper, -row.fall.over_sources.lower)
            more = words.difference(-row.fall.value, gained)
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


def _advice(
    row: ExpectedInterval,
    baseline: Baseline | None,
    balanced: MetricOnSources | None,
    metric: MetricOnSources | None,
) -> str:
    known, about = row.source_finder == KNOWN_SOURCES, row if metric is None else metric
    if not about.falls.interval.known:
        return "Next: ask for more repeats."
    if _constant(baseline):
        return "Next: check how this model is trained; it always predicts one class."
    if metric is None and _worthless(baseline, balanced):
        return "Next: find a model that beats the majority-class baseline."
    if row.n_cells_held_out < row.n_cells and about.falls.decision == "undecided":
        return "Next: ask for more repeats."
    match about.falls.decision, known:
        case "above", True:
            lower = about.words.value(about.exclusive.over_sources.lower)
            what = "" if metric is None else f" of {about.words.name}"
            return f"Next: if inputs may come from new sources, plan for {lower}{what}."
        case "undecided", True:
            return "Next: collect samples from more sources; more repeats cannot narrow this interval."
        case "above" | "undecided", False:
            return "Next: add a column of sources, such as writer or site; only known ones show the cost of new ones."
        case "below", False:
            return "Next: find clusters another way; these do not make a harder test."
        case _:
            return ""
