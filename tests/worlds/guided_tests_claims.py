"""What does the page claim of generated tests? The one place where worlds meet the words."""

from collections.abc import Mapping

from core.evaluate.claims import Claim
from core.evaluate.guided_tests import Guided
from core.evaluate.guided_tests.verdict import guided_verdict


def claims_of(guided: Guided) -> Mapping[str, Claim]:
    """The claims by kind."""
    return {claim.kind: claim for claim in guided_verdict(guided).claims}
