"""Does accuracy really drop on the new test set? In sentences, phrased on the bounds of the intervals."""

from math import ceil, isnan

from core.evaluate.intervals import Interval
from core.evaluate.matched_subsets.results import FEWEST_PAIRS, ModelComparisons, SetComparison, SetEstimate
from core.evaluate.wording import Verdict, count, fixed, listed, p_value, percent, plural, points

MUCH_UNMATCHED = 0.2
MOST_SAMPLES = 10_000_000


def matched_verdict(
    comparison: SetComparison, *, reference: str = "the reference set", target: str = "the new set"
) -> Verdict:
    """Say what two test sets tell of one model; `reference` and `target` are the sets' names within a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from core.evaluate.matched_subsets import Outcomes, compare_sets
    >>> hard = Outcomes(np.zeros(4, dtype=int), np.full(4, np.nan), np.array([True, True, True, False]), ("any",))
    >>> print(matched_verdict(compare_sets(hard, hard, rng=np.random.default_rng(0))).headline)
    No fall can be shown on the new set: 0.0 points [−49.4, 49.4]. Without confidences nothing can be matched.
    """
    findings = [
        _explained(comparison),
        _not_as_the_paper(comparison, target),
        _unmatched_accuracy(comparison, target),
        _could_match(comparison, target),
        _labels(comparison),
        _pairs(comparison),
        _balance(comparison),
    ]
    return Verdict(
        headline=_headline(comparison, target),
        used=_used(comparison, reference, target),
        advice=_advice(comparison, target),
        findings=tuple(finding for finding in findings if finding),
    )


def models_verdict(comparisons: ModelComparisons) -> str:
    """Many models in one sentence: in how many does accuracy fall, and in how many at the same confidence too?

    >>> models_verdict(ModelComparisons((), ("a",)))
    'No model has predictions on both sets; 1 model was left out because only one set has its predictions.'
    """
    left_out = ""
    if comparisons.in_one_set_only:
        n = len(comparisons.in_one_set_only)
        left_out = f"{plural(n, 'model')} {_was(n)} left out because only one set has {_its(n)} predictions"
    if not comparisons.rows:
        return "No model has predictions on both sets" + (f"; {left_out}." if left_out else ".")
    n = len(comparisons.rows)
    falls = sum(row.gap.interval.lower > 0 for row in comparisons.rows)
    sentences = [f"Accuracy falls in {count(falls)} of {plural(n, 'model')} (each by its own 95 % interval)."]
    judged = [row for row in comparisons.rows if row.enough]
    if judged:
        still = sum(row.p_holm < 0.05 and row.matched_gap.value > 0 for row in judged)
        narrower = sum(row.explained.value > 0 for row in judged)
        sentences.append(
            f"At the same confidence it still falls in {count(still)} of {count(len(judged))} "
            f"(sign-flip test, corrected for {plural(len(judged), 'model')}); "
            f"the matched gap is narrower than the gap in {count(narrower)}."
        )
    if hard := sum(not row.can_match for row in comparisons.rows):
        come = "comes" if hard == 1 else "come"
        sentences.append(f"{plural(hard, 'model')} {come} without confidences, and nothing could be matched.")
    if few := n - hard - len(judged):
        sentences.append(
            f"In {plural(few, 'model')} fewer than {FEWEST_PAIRS} pairs matched: nothing is claimed of these."
        )
    return " ".join([*sentences, *([f"{left_out}."] if left_out else [])])


def smaller_reference(n_reference: int, n_target: int) -> str:
    """What it does to "unmatched" that the reference is the smaller set (section 2.2); empty where it is not.

    >>> print(smaller_reference(200, 600))
    The larger set should be the reference. There are 200 samples for 600 new ones: at least 66.7 % of the new set must
    stay without a counterpart, whatever its samples are like.
    """
    if n_reference >= n_target:
        return ""
    return (
        f"The larger set should be the reference. There are {plural(n_reference, 'sample')} for {count(n_target)} new "
        f"ones: at least {percent(1 - n_reference / n_target)} of the new set must stay without a counterpart, "
        "whatever its samples are like."
    )


def _headline(comparison: SetComparison, target: str) -> str:
    fall = f"{points(_size(comparison.gap), _turned(comparison.gap))}"
    if comparison.gap.interval.lower > 0:
        whole = f"Accuracy falls on {target} by {fall}"
    elif comparison.gap.interval.upper < 0:
        whole = f"Accuracy rises on {target} by {fall}"
    else:
        whole = f"No fall can be shown on {target}: {points(comparison.gap.value, comparison.gap.interval)}"
    if not comparison.can_match:
        return f"{whole}. Without confidences nothing can be matched."
    without = f"{_estimate(comparison.unmatched_target)} of it has no counterpart"
    if not comparison.enough:
        return (
            f"{whole}; only {plural(round(comparison.n_pairs), 'pair')} matched, too few to claim anything; {without}."
        )
    matched = comparison.matched_gap
    if matched.interval.lower > 0 or matched.interval.upper < 0:
        way = "falls" if matched.value > 0 else "rises"
        alike = f"on matched samples it {way} by {points(_size(matched), _turned(matched))}"
    else:
        alike = f"on matched samples no difference can be shown ({points(matched.value, matched.interval)})"
    return f"{whole}; {alike}; {without}."


def _used(comparison: SetComparison, reference: str, target: str) -> str:
    sizes = f"n = {count(comparison.n_reference)} in {reference} and {count(comparison.n_target)} in {target}"
    if not comparison.can_match:
        return f"{sizes}. Intervals are 95 % over samples."
    how = "the same predicted label and " if comparison.by == "label" else ""
    close = f"{how}a confidence within {comparison.epsilon:g}"
    if comparison.method == "maximum":
        least = comparison.matched is not None and comparison.matched.least_difference
        what = "least total difference of confidence" if least else "most pairs only, not the least difference"
        made = f"matched once, as many pairs as possible ({what})"
    else:
        made = f"means of {plural(comparison.n_repeats, 'random matching')}"
    by = {"bootstrap": "by a bootstrap that matches anew", "pairs": "from the pairs"}[comparison.matched_gap.by]
    return (
        f"{sizes}; {count(round(comparison.n_pairs))} pairs with {close}, {made}. "
        f"Intervals are 95 % over samples; that of matched samples is found {by}."
    )


def _advice(comparison: SetComparison, target: str) -> str:
    gap, matched = comparison.gap, comparison.matched_gap
    if gap.interval.upper < 0:
        return f"Next: nothing to fear from {target}; the lower accuracy is that of the other set, plan with it."
    if gap.interval.lower <= 0:
        needed = _samples_needed(gap, comparison.n_target)
        return f"Next: {needed}; until then plan with a fall of {points(gap.interval.upper)}."
    if not comparison.can_match:
        return (
            "Next: export the probabilities too. They tell whether the new samples are harder, and the model knows it, "
            "or whether it is wrong more often at the same confidence."
        )
    if not comparison.enough:
        return (
            f"Next: plan with the accuracy on {target}. Hardly a sample has a counterpart, so that matching cannot say "
            "why; a larger epsilon, or matching by probability alone, pairs more."
        )
    much = comparison.unmatched_target.interval.lower > MUCH_UNMATCHED
    unmatched = percent(comparison.unmatched_target.value)
    left = f"the unmatched samples, {unmatched} of {target}: matching says nothing about these"
    if matched.interval.lower > 0:
        return (
            "Next: do not trust the model's confidence there as it is. It is wrong more often than elsewhere when "
            f"equally sure: recalibrate on labelled samples of {target}, and look for what changed."
            + (f" Look too at {left}." if much else "")
        )
    if much:
        return f"Next: look first at {left}."
    most = points(matched.interval.upper)
    if not comparison.explained.interval.lower > gap.value / 2:
        needed = _samples_needed(_over_half(comparison), comparison.n_target)
        return (
            "Next: do not settle on a reason yet. The data cannot tell whether the new samples are harder, and the "
            "model knows it, or whether it is wrong more often at the same confidence: "
            f"{needed}; until then count on a fall of up to {most} beyond what the confidences show (the upper bound)."
        )
    return (
        "Next: watch the confidences. Most of the fall goes with samples of which the model itself is less sure, so "
        f"unlabelled data show it coming; beyond that count on at most {most} (the upper bound)."
    )


def _explained(comparison: SetComparison) -> str:
    part = comparison.explained
    if not comparison.enough or not part.interval.known or comparison.gap.interval.lower <= 0:
        return ""
    share = f"{points(part.value, part.interval)} of the fall of {points(comparison.gap.value)}"
    if part.interval.lower > 0 and part.value > comparison.gap.value:
        return (
            "A different mix of confidences, and the samples without a counterpart, would alone make accuracy fall by "
            f"{points(part.value, part.interval)}, more than the {points(comparison.gap.value)} by which it falls."
        )
    if part.interval.lower > 0:
        return f"A different mix of confidences, and the samples without a counterpart, account for {share}."
    return f"That confidences are mixed differently accounts for no part of the fall that the data can tell ({share})."


def _not_as_the_paper(comparison: SetComparison, target: str) -> str:
    if not comparison.enough or not comparison.explained.interval.known or comparison.gap.interval.lower <= 0:
        return ""
    if comparison.explained.interval.upper >= 0:
        return ""
    return (
        "The paper found the matched gap narrower than the gap in all its models; here it is wider: at the same "
        f"confidence this model does even worse on {target} than its mix of confidences suggests."
    )


def _unmatched_accuracy(comparison: SetComparison, target: str) -> str:
    if not comparison.can_match:
        return ""
    left, paired = comparison.subset("unmatched target"), comparison.subset("matched target")
    if left.n < 1 or isnan(left.accuracy.value):
        return f"Every sample of {target} has a counterpart."
    return (
        f"Samples of {target} without a counterpart: {_estimate(left.accuracy)} right (n = {count(round(left.n))}), "
        f"against {_estimate(paired.accuracy)} of those with one."
    )


def _could_match(comparison: SetComparison, target: str) -> str:
    if not comparison.can_match or comparison.method == "maximum" or comparison.unmatched_target.value == 0:
        return ""
    if comparison.least_unmatched_target > comparison.unmatched_target.value / 2:
        return f"No matching could leave out less than {percent(comparison.least_unmatched_target)} of {target}."
    return (
        f"Some matching would leave out only {percent(comparison.least_unmatched_target)} of {target}: the others lost "
        "their counterparts to the luck of the draw, not because there are none."
    )


def _labels(comparison: SetComparison) -> str:
    enough = [row for row in comparison.labels if row.enough]
    if len(comparison.labels) < 2 or not enough:
        return ""
    worse = sorted((row for row in enough if row.told_apart), key=lambda row: -row.matched_gap.value)
    few = len(comparison.labels) - len(enough)
    floor = f"; {plural(few, 'label')} with fewer than {FEWEST_PAIRS} pairs not judged" if few else ""
    corrected = f"corrected for {plural(len(enough), 'predicted label')}{floor}"
    if not worse:
        return f"In no predicted label can matched samples be told apart ({corrected})."
    gaps = [f"{row.label} ({points(row.matched_gap.value, row.matched_gap.interval)})" for row in worse]
    return f"Accuracy differs at the same confidence where the model predicted {listed(gaps)}, {corrected}."


def _pairs(comparison: SetComparison) -> str:
    if not comparison.enough:
        return ""
    corrected = f" (corrected for the models: {p_value(comparison.p_holm)})" if not isnan(comparison.p_holm) else ""
    sentence = f"Sign-flip test over the pairs: {p_value(comparison.p_value)}{corrected}."
    if isnan(comparison.spread) or not comparison.matched_gap.interval.known or not comparison.spread:
        return sentence
    return (
        f"{sentence} Another random matching of the same data moves the matched gap by about "
        f"{_hundredths(comparison.spread)} (one standard deviation); that is no measure of how sure it is."
    )


def _balance(comparison: SetComparison) -> str:
    if not comparison.enough:
        return ""
    surer = "surer" if comparison.confidence_difference > 0 else "less sure"
    return (
        f"Balance: on average the model is {_hundredths(abs(comparison.confidence_difference))} {surer} of a matched "
        "reference than of its target."
    )


def _samples_needed(gap: SetEstimate, n_target: int) -> str:
    if not gap.interval.known or gap.value == 0:
        return "no number of samples would tell a difference of exactly nothing"
    n = ceil(n_target * (gap.interval.width / 2 / gap.value) ** 2)
    if n > MOST_SAMPLES:
        return f"more than {count(MOST_SAMPLES)} new samples would be needed to tell so small a difference"
    return f"about {count(max(n, n_target + 1))} samples of either set would be needed to tell (now {count(n_target)})"


def _over_half(comparison: SetComparison) -> SetEstimate:
    """How much more than half of the gap a different mix of confidences accounts for, of which the sign is to tell."""
    half, part = comparison.gap.value / 2, comparison.explained
    return SetEstimate(part.value - half, Interval(part.interval.lower - half, part.interval.upper - half), part.by)


def _estimate(estimate: SetEstimate) -> str:
    return percent(estimate.value, estimate.interval)


def _hundredths(value: float) -> str:
    return f"{fixed(100 * value, 2)} points"


def _size(estimate: SetEstimate) -> float:
    return abs(estimate.value)


def _turned(estimate: SetEstimate) -> Interval:
    interval = estimate.interval
    return interval if estimate.value >= 0 else Interval(-interval.upper, -interval.lower)


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _its(n: int) -> str:
    return "its" if n == 1 else "their"
