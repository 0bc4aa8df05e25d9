"""Would more samples of what we have help, are new sources needed, or can it not be told yet? In sentences.

Phrased on the bounds of intervals over sources and samples. What is worth collecting for is the reader's to say
(`worth`): a gain, or a gap, that is surely smaller counts as none.
"""

from collections.abc import Mapping, Sequence
from math import isnan

from core.evaluate.data_set_adequacy.results import Adequacy, Curve, Learning, Outlook, Told
from core.evaluate.source_robustness import most_robust
from core.evaluate.wording import Verdict, count, listed, percent, plural, points, ratio

WORTH = 0.01
"""A gain of so much per doubling, or a gap of so much, is worth collecting samples for, unless the reader says else."""

KINDS = {
    "more": "More samples of what you have would help",
    "both": "More samples would help, and new sources are needed, too",
    "sources": "New sources are needed; more samples of what you have would hardly help",
    "enough": "Neither more samples nor new sources would add much",
    "gap": "New sources are needed; whether more samples of what you have would help, too, cannot be told yet",
    "flat": "More samples of what you have would hardly help; whether new sources would cannot be told yet",
    "unknown": "It cannot be told yet whether more samples or new sources would help",
}
"""What a curve comes to, and how that is said."""


def kind(outlook: Outlook | None, *, worth: float = WORTH) -> str:
    """A name in KINDS.

    "more": the accuracy on unfamiliar sources rises with size, and a gap to familiar ones is not shown or closes.
    "both": it rises, and the gap stays. "sources": it no longer rises by what would be worth it, and there is a gap.
    "enough": it does not, and there is none. "gap" and "flat": only the one or the other half of "sources" is known.
    "unknown": the intervals say neither.
    """
    if outlook is None or not (outlook.gain.interval.known and outlook.gap.interval.known):
        return "unknown"
    gap_left = _above(outlook.gap, worth)
    if _below(outlook.gain, worth):
        return {True: "sources", False: "enough", None: "flat"}[gap_left]
    if outlook.gain.interval.lower > 0:
        closes = outlook.closing.interval.lower > 0
        return "both" if gap_left and not closes else "more"
    return "gap" if gap_left else "unknown"


def _below(claim: Told, worth: float) -> bool:
    return claim.interval.upper < worth


def _above(claim: Told, worth: float) -> bool | None:
    """Whether there is something, worth the name; None where it cannot be told."""
    if _below(claim, worth):
        return False
    return True if claim.interval.lower > 0 else None


def sentence(curve: Curve, *, worth: float = WORTH) -> str:
    """What one model, or one class of it, comes to: the claim, and the two intervals that it rests on."""
    outlook = curve.outlook
    if outlook is None:
        return f"{KINDS['unknown']}: trials of both schemes at two sizes are needed, the one {_half()} of the other."
    name = kind(outlook, worth=worth)
    summary = f"{KINDS[name]}: {_gain(curve, outlook)}; {_gap(outlook)}."
    return f"{summary} {_missing(outlook, worth)}".strip() if name in ("gap", "flat", "unknown") else summary


def adequacy_verdict(
    adequacy: Adequacy, curve: Curve | None = None, *, worth: float = WORTH, names: Mapping[str, str] | None = None
) -> Verdict:
    """Say what the trials tell of one curve of `found.overall` (None: of the model that keeps most of its accuracy).

    Examples
    --------
    >>> import pandas as pd
    >>> from core.evaluate.source_robustness import AccuracyIntervals
    >>> nothing = AccuracyIntervals((), (), pd.DataFrame(), n_trials=0, n_used=0)
    >>> adequacy_verdict(Adequacy((), nothing, n_trials=0, n_used=0, n_failed=0)).headline
    'No draw has been finished at every size yet.'
    """
    curve, names = curve or usual_curve(adequacy), names or {}
    if curve is None:
        failed = plural(adequacy.n_failed, "trial") + " failed." if adequacy.n_failed else ""
        return Verdict("No draw has been finished at every size yet.", failed, "", ())
    others = [other for other in adequacy.overall if other is not curve]
    findings = [
        _familiar(curve.outlook),
        *(_fitted(curve.learning[end], sources, worth) for end, sources in ENDS.items()),
        _spread(curve),
        *_classes(adequacy.classes_of(curve), worth),
        *(f"{_name(other, adequacy, names)}: {_lower(sentence(other, worth=worth))}" for other in others),
    ]
    return Verdict(
        headline=f"{_name(curve, adequacy, names)}: {_lower(sentence(curve, worth=worth))}",
        used=_used(adequacy, curve),
        advice=_ADVICE[kind(curve.outlook, worth=worth)],
        findings=tuple(finding for finding in findings if finding),
    )


def usual_curve(adequacy: Adequacy) -> Curve | None:
    """The curve of the model that keeps most of its accuracy at its largest size."""
    ends = {id(curve.points[-1].expected): curve for curve in adequacy.overall if curve.points}
    best = most_robust([curve.points[-1].expected for curve in ends.values()])
    return None if best is None else ends[id(best)]


ENDS = {"exclusive": "unfamiliar", "inclusive": "familiar"}
_ADVICE = {
    "more": "Next: collect more samples like those that you have; what they bring shrinks as the set grows.",
    "both": "Next: collect samples, and rather from new sources than from those that you have.",
    "sources": "Next: collect samples from sources that the data do not hold yet, and no more of the same.",
    "enough": "Next: spend no effort on data for this model; another model may still learn more from them.",
    "gap": "Next: collect samples from sources that the data do not hold yet.",
    "flat": "Next: no more of the same; samples from a few other sources would tell the rest.",
    "unknown": "",
}


def _half() -> str:
    return "at most four fifths"


def _gain(curve: Curve, outlook: Outlook) -> str:
    of_class = " of the class" if curve.label is not None else ""
    sizes = f"from {count(round(outlook.before.n))} to {count(round(outlook.after.n))} samples{of_class}"
    return f"{sizes}, each doubling brought {points(outlook.gain.value, outlook.gain.interval)} on unfamiliar sources"


def _gap(outlook: Outlook) -> str:
    gap, closing = outlook.gap, outlook.closing
    if gap.value < 0:
        stand = f"these are {points(-gap.value)} above familiar ones (less {points(gap.value, gap.interval)})"
    else:
        stand = f"familiar ones are {points(gap.value, gap.interval)} ahead"
    if closing.interval.lower > 0:
        return f"{stand}, by {points(closing.value, closing.interval)} less with each doubling"
    if closing.interval.upper < 0:
        return f"{stand}, by {points(-closing.value)} more with each doubling"
    return stand


def _missing(outlook: Outlook, worth: float) -> str:
    """What would settle it: repeats where the draws are the trouble, else sources."""
    open_ones = [
        claim for claim in (outlook.gain, outlook.gap) if not _below(claim, worth) and not claim.interval.lower > 0
    ]
    if not open_ones:
        return ""
    if all(claim.of_draws > 0.5 for claim in open_ones):
        return "More repeats would narrow this."
    return "More repeats cannot narrow this much; samples from more sources would."


def _familiar(outlook: Outlook | None) -> str:
    if outlook is None or isnan(outlook.familiar_gain.value):
        return ""
    gain = points(outlook.familiar_gain.value, outlook.familiar_gain.interval)
    return f"On familiar sources each doubling brought {gain}."


def _fitted(learning: Learning, sources: str, worth: float) -> str:
    if learning.law is None:
        return f"No learning curve for {sources} sources: {learning.reason}."
    gain = learning.next_gain
    little = f", less than the {points(worth)} asked for" if gain.interval.upper < worth else ""
    test = f"p = {learning.law.p_fit:.2f} of the test of fit".replace("0.", ".")
    return (
        f"By the fitted learning curve twice as many samples would add {points(gain.value, gain.interval)} on "
        f"{sources} sources{little} ({test}); that the curve goes on like this is taken for granted."
    )


def _spread(curve: Curve) -> str:
    known = [p.expected for p in curve.points if not (isnan(p.expected.exclusive.sd) or isnan(p.expected.inclusive.sd))]
    if len(known) < 2:
        return ""
    first, last = known[0], known[-1]
    return (
        f"From draw to draw accuracy varies by {points(last.exclusive.sd)} (sd) on unfamiliar sources and by "
        f"{points(last.inclusive.sd)} on familiar ones at the largest size; at the smallest it was "
        f"{points(first.exclusive.sd)} and {points(first.inclusive.sd)}. Rho went from "
        f"{ratio(first.rho.value)} to {ratio(last.rho.value)}."
    )


def _classes(classes: Sequence[Curve], worth: float) -> list[str]:
    """By what they come to, corrected for their number; the sentence of each stands in the table."""
    if len(classes) < 2:
        return []
    by_kind = {
        name: [str(curve.label) for curve in classes if kind(curve.outlook, worth=worth) == name] for name in KINDS
    }
    sentences = [
        f"{'Class' if len(labels) == 1 else 'Classes'} {listed(labels, most=10)}: {_lower(KINDS[name])}."
        for name, labels in by_kind.items()
        if labels and name != "unknown"
    ]
    n_open = len(by_kind["unknown"])
    if n_open:
        which = f"all {count(n_open)}" if n_open == len(classes) else f"{count(n_open)} of {count(len(classes))}"
        sentences.append(f"Of {which} classes it cannot be told yet.")
    return sentences


def _used(adequacy: Adequacy, curve: Curve) -> str:
    last = curve.points[-1].expected
    unused = adequacy.n_trials - adequacy.n_used
    failed = f", {count(adequacy.n_failed)} failed" if adequacy.n_failed else ""
    rest = f" (of draws that are finished at every size{failed})" if unused else ""
    over = f" in each of {plural(last.n_clusterings, 'clustering')}" if last.n_clusterings > 1 else ""
    ends = f"{percent(last.inclusive.value)} on familiar sources, {percent(last.exclusive.value)} on unfamiliar ones"
    return (
        f"{count(adequacy.n_used)} of {plural(adequacy.n_trials, 'trial')} used{rest}. "
        f"n = {count(last.n_samples)} samples, "
        f"{plural(last.n_sources, 'source')}{over}, {plural(last.exclusive.n_draws, 'repeat')}. "
        f"At the largest size {ends}."
    )


def _name(curve: Curve, adequacy: Adequacy, names: Mapping[str, str]) -> str:
    name = names.get(curve.model, curve.model)
    several = len({other.source_finder for other in adequacy.overall}) > 1
    return f"{name}, {curve.source_finder}" if several else name


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
