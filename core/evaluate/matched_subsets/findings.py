"""What else do two test sets tell? A few lines, that which explains most first."""

from math import isnan

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.matched_subsets.outcomes import SCALED
from touchstone.core.evaluate.matched_subsets.results import FEWEST_PAIRS, KINDS, SetComparison, SetEstimate
from touchstone.core.evaluate.wording import fixed, listed, percent, plural, points, quoted, resting


def findings(comparison: SetComparison, target: str) -> tuple[str, ...]:
    """Calibration, unmatched samples, what contradicts the paper or its rule, predicted labels, luck of matching."""
    lines = (
        resting(_calibration(comparison, target), KINDS["calibration"]),
        _unmatched(comparison, target),
        _rounded(comparison, target),
        _coarse(comparison),
        resting(_unlike_the_paper(comparison), KINDS["falls"], KINDS["mix"]),
        resting(_as_published(comparison), KINDS["residual"]),
        resting(_labels(comparison), KINDS["labels"]),
        _luck(comparison),
    )
    return tuple(line for line in lines if line)


def _calibration(comparison: SetComparison, target: str) -> str:
    """Where the model is over- or underconfident; that it is overconfident on the new set is in the headline."""
    sentences = []
    for each in comparison.calibrations:
        where, claim = (target if each.set == "target" else "the reference set"), each.claim
        ends = f"{percent(each.confidence)} mean confidence, {percent(each.accuracy)} accuracy"
        if claim.decision == "above" and each.set == "target":
            sentences.append(f"On {where}: {ends}.")
        elif claim.decision == "above":
            sentences.append(f"Overconfident on {where} by {points(claim.estimate, claim.interval)}: {ends}.")
        if claim.decision == "below":
            less = Interval(-claim.interval.upper, -claim.interval.lower)
            sentences.append(f"Underconfident on {where} by {points(-claim.estimate, less)}: {ends}.")
    return " ".join(sentences)


def _rounded(comparison: SetComparison, target: str) -> str:
    """The share of the new set whose confidence was rounded to 1, or of which all models say the same."""
    if not comparison.n_rounded:
        return ""
    share = percent(comparison.n_rounded / comparison.n_target)
    added = points(comparison.rounded.value, comparison.rounded.interval)
    why, remedy = "their confidence was rounded to 1", "Probabilities of all classes, or logits, tell them apart."
    if comparison.scale == "variance":
        why, remedy = "all models say the same of them", "Probabilities with more decimals tell them apart."
    return f"{share} of {target} cannot be compared: {why}. They add {added} to the fall. {remedy}"


def _coarse(comparison: SetComparison) -> str:
    """Where epsilon is no smaller than half of all that the reference is wrong: then nearly all count as alike."""
    wrong = 1 - comparison.subset("reference").accuracy.value
    if comparison.scale != "accuracy" or not comparison.can_match or comparison.epsilon <= wrong / 2:
        return ""
    return (
        f"The model errs in only {percent(wrong)} of the reference set. Within an epsilon of {comparison.epsilon:g} in "
        "accuracy nearly all samples are then alike: a smaller one tells them apart."
    )


def _as_published(comparison: SetComparison) -> str:
    """Where the published rule, on raw confidences, would say something else."""
    published, claim = comparison.as_published, comparison.claim("residual")
    if published is None or claim is None or not published.interval.known:
        return ""
    differs = published.interval.lower > 0 or published.interval.upper < 0
    made = claim.interval.lower > 0 or claim.interval.upper < 0
    if differs == made and published.interval.holds(claim.estimate) and claim.interval.holds(published.value):
        return ""
    return f"On raw confidences, as published, the difference would be {points(published.value, published.interval)}."


def _unmatched(comparison: SetComparison, target: str) -> str:
    if not comparison.can_match:
        return ""
    left, paired = comparison.subset("unmatched target"), comparison.subset("matched target")
    share = _estimate(comparison.unmatched_target)
    if left.n < 1 or isnan(left.accuracy.value) or isnan(paired.accuracy.value):
        return f"Unmatched: {share} of {target}."
    sentences = [
        f"Unmatched: {share} of {target}, with an accuracy of {_estimate(left.accuracy)}.",
        f"Matched samples reach {_estimate(paired.accuracy)}.",
    ]
    if comparison.method == "random":
        least = percent(comparison.least_unmatched_target)
        sentences.append(f"As many pairs as possible would leave {least} unmatched.")
    return " ".join(sentences)


def _unlike_the_paper(comparison: SetComparison) -> str:
    """The matched gap is the wider one where the mix of confidences alone would raise accuracy."""
    falls, mix = comparison.claim("falls"), comparison.claim("mix")
    wider = comparison.matched_gap.value > comparison.gap.value
    if not wider or falls is None or mix is None or (falls.decision, mix.decision) != ("above", "below"):
        return ""
    return (
        "The paper found the matched gap narrower than the gap in all its models. "
        f"Here it is wider: {points(comparison.matched_gap.value)} against {points(comparison.gap.value)}."
    )


def _labels(comparison: SetComparison) -> str:
    enough = [row for row in comparison.labels if row.enough]
    if len(comparison.labels) < 2 or not enough or not comparison.enough_units:
        return ""
    few = len(comparison.labels) - len(enough)
    left_out = f" {plural(few, 'label')} with fewer than {FEWEST_PAIRS} pairs left out." if few else ""
    falls, rises = (_differing(comparison, decision) for decision in ("above", "below"))
    equal = f"equal {comparison.alike_in}"
    if not falls and not rises:
        labels = plural(len(enough), "predicted label")
        return f"No significant difference at {equal} in {labels} (corrected for all claims).{left_out}"
    sentences = [f"At {equal} accuracy falls for {listed(falls)}."] * bool(falls)
    sentences += [f"At {equal} accuracy rises for {listed(rises)}."] * bool(rises)
    return f"{' '.join(sentences)} Corrected for all claims, of {plural(len(enough), 'predicted label')} too.{left_out}"


def _differing(comparison: SetComparison, decision: str) -> list[str]:
    """Labels of which it is claimed, the largest difference first."""
    rows = [row for row in comparison.labels if row.claim is not None and row.claim.decision == decision]
    gaps = []
    for row in sorted(rows, key=lambda row: -abs(row.matched_gap.value)):
        lower, upper = sorted(abs(end) for end in (row.matched_gap.interval.lower, row.matched_gap.interval.upper))
        gaps.append(f"{quoted(row.label)} by {points(abs(row.matched_gap.value), Interval(lower, upper))}")
    return gaps


def _luck(comparison: SetComparison) -> str:
    if not comparison.enough:
        return ""
    difference = _hundredths(abs(comparison.confidence_difference))
    balance = f"Matched pairs differ by {difference} in mean {SCALED[comparison.scale]}."
    if isnan(comparison.spread) or not comparison.spread:
        return balance
    luck = f"Another random matching moves the matched gap by about {_hundredths(comparison.spread)} (1 SD, no CI)."
    return f"{luck} {balance}"


def _estimate(estimate: SetEstimate) -> str:
    return percent(estimate.value, estimate.interval)


def _hundredths(value: float) -> str:
    return f"{fixed(100 * value, 2)} points"
