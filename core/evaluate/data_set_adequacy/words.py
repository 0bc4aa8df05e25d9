"""What does a curve come to, and how are its two claims said? The next doubling's gain, and the held-out gap."""

from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.data_set_adequacy.next_doubling import judged
from touchstone.core.evaluate.data_set_adequacy.results import Curve, Told
from touchstone.core.evaluate.intervals import UNKNOWN
from touchstone.core.evaluate.source_robustness.words import noun
from touchstone.core.evaluate.wording import count, points
from touchstone.core.trials.plan_sources import KNOWN_SOURCES

GAIN, GAP = "data_set_adequacy.gain", "data_set_adequacy.gap"
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
    gain = curve.outlook.next_gain if curve.outlook else Told()
    return _claim(GAIN, gain, worth)


def gap_claim(curve: Curve, *, worth: float = WORTH) -> Claim | None:
    """How far accuracy on held-out sources lies below; None of clusters, of which a gap shows no sources."""
    return _gap(curve, worth) if curve.source_finder == KNOWN_SOURCES else None


def gap_stands(curve: Curve, *, worth: float = WORTH) -> bool:
    """Whether what is held out is harder, by the rule for claims: of clusters only then clouds have to be asked."""
    return _gap(curve, worth).decision == "above"


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
    if not gain.interval.known:
        return f"{name}: an interval needs more repeats."
    return f"{name}. Twice as many samples would bring {points(gain.value, gain.interval)} of accuracy."


def next_doubling(curve: Curve) -> str:
    """What doubling is meant, and on what it is judged."""
    if curve.outlook is None:
        return ""
    n = round(curve.outlook.after.n)
    of_class = " of the class" if curve.label is not None else ""
    on = ends(curve)[judged(curve.source_finder)]
    return f"The next doubling is from {count(n)} to {count(2 * n)} samples{of_class}, on {on}."


def gap_sentence(curve: Curve, *, worth: float = WORTH) -> str:
    """How far accuracy on what is held out lies below, in the words of the claim where there is one."""
    if curve.outlook is None or not curve.outlook.gap.interval.known:
        return ""
    gap, held_out, seen = curve.outlook.gap, f"held-out {nouns(curve)}", "those seen in training"
    numbers = points(gap.value, gap.interval)
    match _gap(curve, worth).decision:
        case "above":
            return f"Accuracy on {held_out} is {numbers} below that on {seen}."
        case "below":
            return f"Accuracy on {held_out} is above that on {seen}, by {points(-gap.value)}: a gap of {numbers}."
        case "small":
            return f"Accuracy on {held_out} is within {points(worth)} of that on {seen}: a gap of {numbers}."
        case _:
            return f"No significant gap between {held_out} and {seen}: {numbers}."


def _gap(curve: Curve, worth: float) -> Claim:
    return _claim(GAP, curve.outlook.gap if curve.outlook else Told(), worth)


def _claim(name: str, estimate: Told, worth: float) -> Claim:
    if not estimate.interval.known:
        return claim(name, estimate.value, UNKNOWN, float("nan"), smallest=worth)
    return claim(name, estimate.value, estimate.interval, estimate.p_value, smallest=worth)
