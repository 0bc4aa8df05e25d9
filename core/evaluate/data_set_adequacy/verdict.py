"""Would the next doubling of the data help, are new sources needed, or is it undecided? In sentences.

Phrased from two claims: what the next doubling brings, and, of known sources alone, how far accuracy on
held-out ones lies below. What is worth collecting for is the reader's to say (`worth`). Clusters that stand in for
sources are held against clouds without groups, and never carry the word.
"""

from collections.abc import Mapping, Sequence
from math import isnan

from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.data_set_adequacy.outlook import judged
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, AtSize, Curve, Estimate, Learning
from touchstone.core.evaluate.intervals import UNKNOWN
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY
from touchstone.core.evaluate.metrics import ACCURACY, IMBALANCED
from touchstone.core.evaluate.source_robustness import leading_row
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.source_robustness.parametric_null import cloud_sentence
from touchstone.core.evaluate.source_robustness.results import ExpectedValue, MetricOnSources, below_majority
from touchstone.core.evaluate.source_robustness.verdict import learned, no_better_metric
from touchstone.core.evaluate.wording import (
    Verdict,
    bare,
    count,
    in_a_row,
    listed,
    percent,
    plural,
    quoted,
    resting,
)
from touchstone.core.trials.sources_plan import KNOWN_SOURCES

# What does a curve come to, and how are its two claims said? The next doubling's gain, and the held-out gap.


GAIN, GAP = "data_set_adequacy.gain", "data_set_adequacy.gap"
BALANCED = "balanced_accuracy"
WORTH = 0.01
"""A gain of so much by the next doubling, or a gap of so much, is worth collecting for, unless the reader says else."""

KINDS = {
    "both": "More samples would help, and so would new sources",
    "more": "More samples would help",
    "sources": "New sources would help; more samples of the same sources would hardly",
    "enough": "Neither more samples nor new sources would add much",
    "flat": "More samples like these would hardly help",
    "gap": "New sources would help; whether more samples would is undecided",
    "unknown": "Undecided whether more samples would help",
}
"""What a curve comes to, and how that is said. Only known sources lead to one that names sources."""


def gain_claim(curve: Curve, *, worth: float = WORTH) -> Claim:
    """What the next doubling would bring; "above" only where its estimate is worth collecting for."""
    gain = curve.outlook.next_gain if curve.outlook else Estimate()
    return _claim(GAIN, gain, worth)


def gap_claim(curve: Curve, *, worth: float = WORTH) -> Claim | None:
    """How far accuracy on held-out sources lies below; None of clusters, of which a gap shows no sources."""
    return _gap(curve, worth) if curve.source_finder == KNOWN_SOURCES else None


def kind(curve: Curve, *, worth: float = WORTH) -> str:
    """A name in KINDS, from the decisions of both claims alone."""
    gain, gap = gain_claim(curve, worth=worth).decision, gap_claim(curve, worth=worth)
    new_sources = gap is not None and gap.decision == "above"
    if gain == "above":
        return "both" if new_sources else "more"
    if gain in ("small", "below"):
        if new_sources:
            return "sources"
        return "enough" if gap is not None and gap.decision in ("small", "below") else "flat"
    return "gap" if new_sources else "unknown"


def nouns(curve: Curve) -> str:
    """What is held out: known ones are sources, found ones are clusters and never carry the word.

    >>> from touchstone.core.evaluate.data_set_adequacy.results import Curve
    >>> nouns(Curve("svm", "kmeans", None, (), (), None, {}))
    'clusters'
    """
    return f"{noun(curve.source_finder)}s"


def ends(curve: Curve) -> dict[str, str]:
    """What accuracies are measured on, by the end of the accuracy interval."""
    return {"exclusive": f"held-out {nouns(curve)}", "inclusive": f"{nouns(curve)} seen in training"}


def sentence(curve: Curve, *, worth: float = WORTH) -> str:
    """What one model, or one class of it, comes to: the conclusion, and the gain that it rests on."""
    name = KINDS[kind(curve, worth=worth)]
    outlook = curve.outlook
    if outlook is None:
        return f"{name}: this needs both schemes at two sizes, the smaller at most four fifths of the larger."
    gain = outlook.next_gain
    if curve.untrained is not None:
        return f"{name}. {_trainings(curve.untrained)} Their accuracy shows that, not what data would bring."
    if not curve.is_comparable:
        return f"{name}. {reached(curve)}."
    if not gain.interval.known:
        return f"{name}: an interval needs more repeats."
    by = curve.words.difference(gain.value, gain.interval)
    return f"{name}. Twice as many samples would bring {by} of {curve.words.name}."


def reached(curve: Curve) -> str:
    """What a metric is at the largest size, on what the next doubling is judged on, beside its baseline."""
    end, words, metric = judged(curve.source_finder), curve.words, curve.points[-1].about
    value: ExpectedValue = getattr(metric, end)
    least = metric.baseline if isinstance(metric, MetricOnSources) else float("nan")
    against = "" if isnan(least) else f", against a baseline of {words.value(least)}"
    return f"{words.title} is {words.value(value.value, value.over_sources)} on {ends(curve)[end]}{against}"


def next_doubling(curve: Curve) -> str:
    """What doubling is meant, and on what it is judged; of a metric that shows no gain why not."""
    if curve.outlook is None or curve.untrained is not None:
        return ""
    if not curve.is_comparable:
        name = curve.words.name
        return f"Smaller training parts mix classes otherwise than the data: {name} shows no gain."
    n = round(curve.outlook.after.n)
    of_class = " of the class" if curve.label is not None else ""
    on = ends(curve)[judged(curve.source_finder)]
    return f"The next doubling is from {count(n)} to {count(2 * n)} samples{of_class}, on {on}."


def gap_sentence(curve: Curve, *, worth: float = WORTH) -> str:
    """How far accuracy on what is held out lies below, in the words of the claim where there is one."""
    if curve.outlook is None or not curve.outlook.gap.interval.known:
        return ""
    gap, held_out, seen = curve.outlook.gap, f"held-out {nouns(curve)}", "those seen in training"
    words, numbers = curve.words, curve.words.difference(gap.value, gap.interval)
    match _gap(curve, worth).decision:
        case "above":
            return f"{words.title} on {held_out} is {numbers} below that on {seen}."
        case "below":
            by = words.difference(-gap.value)
            return f"{words.title} on {held_out} is above that on {seen}, by {by}: a gap of {numbers}."
        case "small":
            at_most = words.difference(worth)
            return f"{words.title} on {held_out} is within {at_most} of that on {seen}: a gap of {numbers}."
        case _:
            by = "" if words == OF_ACCURACY else f" of {words.name}"
            return f"No significant gap{by} between {held_out} and {seen}: {numbers}."


def _gap(curve: Curve, worth: float) -> Claim:
    return _claim(GAP, curve.outlook.gap if curve.outlook else Estimate(), worth)


def _claim(name: str, estimate: Estimate, worth: float) -> Claim:
    if not estimate.interval.known:
        return claim(name, estimate.value, UNKNOWN, float("nan"), smallest=worth)
    return claim(name, estimate.value, estimate.interval, estimate.p_value, smallest=worth)


def adequacy_verdict(
    adequacy: Adequacy,
    curve: Curve | None = None,
    *,
    worth: float = WORTH,
    names: Mapping[str, str] | None = None,
    null: Claim | None = None,
    finished: bool = True,
) -> Verdict:
    """Say what the trials tell of one curve of `adequacy.overall` or `.by_metric` (None: `first_curve`).

    `null` is the claim "source_robustness.beyond_cloud" of found clusters, where it is known. There is no advice before
    the trials have `finished`.

    Examples
    --------
    >>> import pandas as pd
    >>> from touchstone.core.evaluate.source_robustness import AccuracyIntervals
    >>> nothing = AccuracyIntervals((), (), pd.DataFrame(), n_trials=0, n_used=0)
    >>> adequacy_verdict(Adequacy((), nothing, n_trials=0, n_used=0, n_failed=0)).headline
    'No split has been finished at every size yet.'
    """
    curve, names = curve or first_curve(adequacy), names or {}
    if curve is None:
        failed = plural(adequacy.n_failed, "trial") + " failed." if adequacy.n_failed else ""
        return Verdict("No split has been finished at every size yet.", failed, "", ())
    by_same = (adequacy.by(curve.words.metric.name, other) for other in adequacy.overall)
    beside, name = _beside(adequacy, curve), _name(curve, adequacy, names)
    doubt, below = _doubt(curve, name, adequacy)
    comes_to = resting(f"{name}: {_lower(sentence(curve, worth=worth))}", GAIN, GAP)
    found_clusters = curve.source_finder != KNOWN_SOURCES
    findings = [
        resting(
            "" if beside is None else f"By {beside.words.name}: {_lower(sentence(beside, worth=worth))}", GAIN, GAP
        ),
        next_doubling(curve),
        *_few_unfinished(curve),
        resting(gap_sentence(curve, worth=worth), GAP),
        resting(_clouds(curve, null, worth), "source_robustness.beyond_cloud"),
        _last_doubling(curve),
        *(_fitted(curve.learning[end], on) for end, on in ends(curve).items()),
        *(resting(each, GAIN, GAP) for each in _classes(adequacy.classes_of(curve), worth)),
        *(
            resting(f"{_name(each, adequacy, names)}: {_lower(sentence(each, worth=worth))}", GAIN, GAP)
            for each in by_same
            if each is not None and each is not curve
        ),
        resting(_settles(curve, worth), GAIN),
        adequacy.intervals.chosen.get((curve.model, curve.source_finder), ""),
    ]
    about = [curve] if beside is None or curve.words == OF_ACCURACY else [curve, beside]
    gaps = (gap_claim(each, worth=worth) for each in about)
    return Verdict(
        headline=in_a_row(resting(doubt, "source_robustness.below_baseline"), comes_to),
        used=_used(adequacy, curve),
        advice=resting(_advice(curve, worth) if finished else "", GAIN, GAP),
        findings=tuple(finding for finding in findings if finding),
        claims=(
            *below,
            *(gain_claim(each, worth=worth) for each in about),
            *(gap for gap in gaps if gap is not None),
            *([null] if null is not None and found_clusters else []),
        ),
    )


def _beside(adequacy: Adequacy, curve: Curve) -> Curve | None:
    """What a verdict also names: accuracy where it is about another metric, balanced accuracy of uneven classes."""
    other = BALANCED if curve.words == OF_ACCURACY else ACCURACY
    return None if other == BALANCED and not adequacy.majority > IMBALANCED else adequacy.by(other, curve)


def _clouds(curve: Curve, null: Claim | None, worth: float) -> str:
    """Whether a cloud explains the gap of found clusters; there has to be one, once the clouds are known."""
    known = null is not None and null.interval.known
    if curve.source_finder == KNOWN_SOURCES or (known and _gap(curve, worth).decision != "above"):
        return ""
    return cloud_sentence(null)


def first_curve(adequacy: Adequacy) -> Curve | None:
    """The curve of the first model as planned, on known sources where there are any."""
    last = {id(curve.points[-1].expected): curve for curve in adequacy.overall if curve.points}
    best = leading_row([curve.points[-1].expected for curve in last.values()])
    return None if best is None else last[id(best)]


_ADVICE = {
    "more": "Next: collect more samples like those that you have.",
    "both": "Next: collect samples, first from new sources.",
    "sources": "Next: collect samples from new sources.",
    "enough": "Next: try another model; more data would hardly help this one.",
    "flat": "Next: try another model; more samples like these would hardly help this one.",
    "gap": "Next: collect samples from new sources.",
}


def _few_unfinished(curve: Curve) -> list[str]:
    """Networks that did not learn what they could, at sizes where nearly all did."""
    return [] if curve.untrained is not None else [_trainings(point) for point in curve.points]


def _trainings(at: AtSize) -> str:
    return "" if at.fits is None else at.fits.sentence(f"with {plural(at.expected.n_train, 'sample')}")


def _advice(curve: Curve, worth: float) -> str:
    """What follows from the claims; of what is undecided, what would settle it."""
    if curve.untrained is not None and curve.untrained.fits is not None:
        return curve.untrained.fits.advice
    known, settles = _ADVICE.get(kind(curve, worth=worth), ""), _settles(curve, worth)
    if known or not settles:
        return known
    if settles == _REPEATS:
        return "Next: ask for more repeats."
    more = "from more sources" if curve.source_finder == KNOWN_SOURCES else "like these"
    return f"Next: to decide, collect more samples {more}; more repeats cannot narrow this interval much."


_REPEATS = "More repeats would narrow this."


def _doubt(curve: Curve, name: str, adequacy: Adequacy) -> tuple[str, list[Claim]]:
    """That a model may be no better than the baseline of what the curve is of, and the claim; else nothing."""
    last, above = curve.points[-1], curve.above_majority
    if last.metric is not None:
        doubt, below = no_better_metric(last.metric, name, "inclusive"), last.metric.below_baseline("inclusive")
        return doubt, [below] if doubt and below is not None else []
    if not curve.may_be_no_better:
        return "", []
    seen, below = last.expected.inclusive, below_majority(above)
    more = learned(adequacy.intervals.metric_of(last.expected, BALANCED), "inclusive")
    accuracy, majority = percent(seen.value, seen.over_sources), percent(seen.value - above.value)
    is_worse = below.decision == "above"
    doubt = f"{name} is {'worse' if is_worse else 'not significantly better'} than the majority-class baseline of "
    doubt += f"{majority}: {accuracy}.{more}"
    if is_worse and more:
        doubt = (
            f"Always answering the majority class is more accurate than {name}: {majority} against {accuracy}.{more}"
        )
    return doubt, [below]


def _last_doubling(curve: Curve) -> str:
    """What a doubling brought so far, on what it is judged on."""
    if curve.outlook is None or not curve.shows_gain:
        return ""
    outlook, end = curve.outlook, judged(curve.source_finder)
    gain = {"exclusive": outlook.gain, "inclusive": outlook.familiar_gain}[end]
    sizes = f"from {count(round(outlook.before.n))} to {count(round(outlook.after.n))} samples"
    brought = curve.words.difference(gain.value, gain.interval)
    return f"The last step, {sizes}, brought {brought} a doubling on {ends(curve)[end]}."


def _fitted(learning: Learning, on: str) -> str:
    if learning.law is None:
        return f"No learning curve on {on}: {learning.reason}." if learning.reason else ""
    return f"A learning curve fits on {on} (test of fit: p = {bare(learning.law.p_fit, 2)})."


def _classes(classes: Sequence[Curve], worth: float) -> list[str]:
    """By what they come to, corrected for their number; the sentence of each stands in the table."""
    if len(classes) < 2:
        return []
    by_kind = {name: [quoted(curve.label) for curve in classes if kind(curve, worth=worth) == name] for name in KINDS}
    sentences = [
        f"{'Class' if len(labels) == 1 else 'Classes'} {listed(labels, most=10)}: {_lower(KINDS[name])}."
        for name, labels in by_kind.items()
        if labels and name != "unknown"
    ]
    n_open = len(by_kind["unknown"])
    if n_open:
        which = f"all {count(n_open)}" if n_open == len(classes) else f"{count(n_open)} of {count(len(classes))}"
        sentences.append(f"Undecided for {which} classes.")
    return sentences


def _settles(curve: Curve, worth: float) -> str:
    """What would settle an undecided gain: repeats where the draws are the trouble, else samples."""
    if curve.outlook is None or gain_claim(curve, worth=worth).decided or not curve.outlook.next_gain.interval.known:
        return ""
    if curve.outlook.next_gain.of_draws > 0.5:
        return _REPEATS
    return f"More repeats cannot narrow this much; samples from more {nouns(curve)} would."


def _used(adequacy: Adequacy, curve: Curve) -> str:
    last = curve.points[-1].expected
    unused = adequacy.n_trials - adequacy.n_used
    failed = f", {count(adequacy.n_failed)} failed" if adequacy.n_failed else ""
    rest = f" (of splits finished at every size{failed})" if unused else ""
    over = f" in each of {plural(last.n_clusterings, 'clustering')}" if last.n_clusterings > 1 else ""
    metric, beside = curve.points[-1].metric, baseline(curve, adequacy)
    beside = f" {beside[0].upper()}{beside[1:]}." if beside else ""
    about, which = (last, ":") if metric is None else (metric, f", {metric.words.name} is")
    levels = [f"{about.words.value(getattr(about, end).value)} on {on}" for end, on in reversed(ends(curve).items())]
    data = f"{plural(last.n_sources, noun(curve.source_finder))}{over}, {plural(last.exclusive.n_draws, 'repeat')}"
    return (
        f"{count(adequacy.n_used)} of {plural(adequacy.n_trials, 'trial')} used{rest}. "
        f"n = {count(last.n_samples)} samples{adequacy.design.by}, {data}. "
        f"At the largest size{which} {' and '.join(levels)}.{beside}"
    )


def baseline(curve: Curve, adequacy: Adequacy) -> str:
    """What a model reaches that learned nothing but frequencies, in words; empty where that is not known."""
    metric = curve.points[-1].metric
    if metric is None:
        return f"majority-class baseline {percent(adequacy.majority)}, chance {percent(adequacy.chance)}"
    return "" if isnan(metric.baseline) else f"baseline {metric.words.value(metric.baseline)}"


def _name(curve: Curve, adequacy: Adequacy, names: Mapping[str, str]) -> str:
    name = names.get(curve.model, curve.model)
    several = len({other.source_finder for other in adequacy.overall}) > 1
    return f"{name}, {curve.source_finder}" if several else name


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
