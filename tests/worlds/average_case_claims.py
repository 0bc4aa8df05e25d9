"""What does the page claim of robustness? The one place where worlds meet the words."""

from collections.abc import Mapping

from core.evaluate.average_case.robustness import Robustness
from core.evaluate.claims import Claim
from core.evaluate.intervals import Interval


def claims_of(robustness: Robustness, sigma: float) -> Mapping[str, Claim]:
    """The claims by kind, as the sentences of before made them."""
    at = robustness.at(sigma)
    decisions = {
        "average_case.classes_differ": at.gap is not None and (at.gap.interval.lower > 0 or at.p_holm < 0.05),
        "average_case.least_robust_wrong_more": at.by_robustness is not None
        and at.by_robustness.difference.interval.lower > 0,
    }
    whole = Interval(-1.0, 1.0)
    return {
        kind: Claim(kind, 0.0, whole, 1.0, 0.0, 0.0, "above" if decided else "undecided")
        for kind, decided in decisions.items()
    }
