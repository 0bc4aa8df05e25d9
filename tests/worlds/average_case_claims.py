"""What does the page claim of robustness? The one place where worlds meet the words."""

from collections.abc import Mapping

from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.evaluate.claims import Claim


def claims_of(robustness: Robustness, sigma: float) -> Mapping[str, Claim]:
    """The claims by kind."""
    return {claim.kind: claim for claim in average_case_verdict(robustness, sigma).claims}
