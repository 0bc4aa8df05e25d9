"""Would the next doubling of the data help, are new sources needed, or is it undecided? In sentences.

Phrased from two claims (`words`): what the next doubling brings, and, of known sources alone, how far accuracy on
held-out ones lies below. What is worth collecting for is the reader's to say (`worth`). Clusters that stand in for
sources are held against clouds without groups, and never carry the word.
"""

from collections.abc import Mapping, Sequence

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.next_doubling import judged
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, Curve, Learning
from touchstone.core.evaluate.data_set_adequacy.words import (
    KINDS,
    WORTH,
    ends,
    gain_claim,
    gap_claim,
    gap_sentence,
    gap_stands,
    kind,
    next_doubling,
    nouns,
    sentence,
)
from touchstone.core.evaluate.source_robustness import leading_row
from touchstone.core.evaluate.source_robustness.null import cloud_sentence
from touchstone.core.evaluate.source_robustness.results import below_majority
from touchstone.core.evaluate.source_robustness.words import noun
from touchstone.core.evaluate.wording import Verdict, bare, count, listed, percent, plural, points, quoted
from touchstone.core.trials.plan_sources import KNOWN_SOURCES


def adequacy_verdict(
    adequacy: Adequacy,
    curve: Curve | None = None,
    *,
    worth: float = WORTH,
    names: Mapping[str, str] | None = None,
    null: Claim | None = None,
    finished: bool = True,
) -> Verdict:
    """Say what the trials tell of one curve of `adequacy.overall` (None: `first_curve`).

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
    others = [other for other in adequacy.overall if other is not curve]
    found_clusters = curve.source_finder != KNOWN_SOURCES
    findings = [
        next_doubling(curve),
        gap_sentence(curve, worth=worth),
        _clouds(curve, null, worth),
        _last_doubling(curve),
        *(_fitted(curve.learning[end], on) for end, on in ends(curve).items()),
        *_classes(adequacy.classes_of(curve), worth),
        *(f"{_name(other, adequacy, names)}: {_lower(sentence(other, worth=worth))}" for other in others),
        _settles(curve, worth),
    ]
    gap = gap_claim(curve, worth=worth)
    return Verdict(
        headline=_headline(curve, _name(curve, adequacy, names), worth),
        used=_used(adequacy, curve),
        advice=_advice(curve, worth) if finished else "",
        findings=tuple(finding for finding in findings if finding),
        claims=(
            *([below_majority(curve.above_majority)] if _is_doubtful(curve) else []),
            gain_claim(curve, worth=worth),
            *([gap] if gap is not None else []),
            *([null] if null is not None and found_clusters else []),
        ),
    )


def _clouds(curve: Curve, null: Claim | None, worth: float) -> str:
    """Whether a cloud explains the gap of found clusters; there has to be one, once the clouds are known."""
    known = null is not None and null.interval.known
    if curve.source_finder == KNOWN_SOURCES or (known and not gap_stands(curve, worth=worth)):
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


def _advice(curve: Curve, worth: float) -> str:
    """What follows from the claims; of what is undecided, what would settle it."""
    known, settles = _ADVICE.get(kind(curve, worth=worth), ""), _settles(curve, worth)
    if known or not settles:
        return known
    if settles == _REPEATS:
        return "Next: ask for more repeats."
    more = "from more sources" if curve.source_finder == KNOWN_SOURCES else "like these"
    return f"Next: to decide, collect more samples {more}; more repeats cannot narrow this interval much."


_REPEATS = "More repeats would narrow this."


def _headline(curve: Curve, name: str, worth: float) -> str:
    """Said first: a model that is not significantly better than to answer the majority class, or is worse."""
    text = f"{name}: {_lower(sentence(curve, worth=worth))}"
    if not _is_doubtful(curve):
        return text
    seen = curve.points[-1].expected.inclusive
    reached = percent(seen.value, seen.over_sources)
    baseline = f"the majority-class baseline of {percent(seen.value - curve.above_majority.value)}"
    how = "worse" if below_majority(curve.above_majority).decision == "above" else "not significantly better"
    return f"{name} is {how} than {baseline}: {reached}. {text}"


def _is_doubtful(curve: Curve) -> bool:
    """Whether the model may be no better than the majority class."""
    over = curve.above_majority.over_sources
    return over.known and over.lower <= 0


def _last_doubling(curve: Curve) -> str:
    """What a doubling brought so far, on what it is judged on."""
    if curve.outlook is None:
        return ""
    outlook, end = curve.outlook, judged(curve.source_finder)
    gain = {"exclusive": outlook.gain, "inclusive": outlook.familiar_gain}[end]
    sizes = f"from {count(round(outlook.before.n))} to {count(round(outlook.after.n))} samples"
    return f"The last step, {sizes}, brought {points(gain.value, gain.interval)} a doubling on {ends(curve)[end]}."


def _fitted(learning: Learning, on: str) -> str:
    if learning.law is None:
        return f"No learning curve on {on}: {learning.reason}."
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
    levels = [f"{percent(getattr(last, end).value)} on {on}" for end, on in reversed(ends(curve).items())]
    data = f"{plural(last.n_sources, noun(curve.source_finder))}{over}, {plural(last.exclusive.n_draws, 'repeat')}"
    return (
        f"{count(adequacy.n_used)} of {plural(adequacy.n_trials, 'trial')} used{rest}. "
        f"n = {count(last.n_samples)} samples, {data}. At the largest size: {' and '.join(levels)}. "
        f"Majority-class baseline {percent(adequacy.majority)}, chance {percent(adequacy.chance)}."
    )


def _name(curve: Curve, adequacy: Adequacy, names: Mapping[str, str]) -> str:
    name = names.get(curve.model, curve.model)
    several = len({other.source_finder for other in adequacy.overall}) > 1
    return f"{name}, {curve.source_finder}" if several else name


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
