"""What does the page claim of generated tests? The one place where worlds meet the words."""

from collections.abc import Mapping

from core.evaluate.claims import Claim
from core.evaluate.guided_tests import Guided
from core.evaluate.guided_tests.results import REGIONS
from core.evaluate.intervals import Interval


def claims_of(guided: Guided) -> Mapping[str, Claim]:
    """The claims by kind, as the sentences of before made them."""
    near, (_, original) = guided.accuracy(REGIONS[0]), guided.test_accuracy
    decision = "above" if near.n and near.interval.upper < original.lower else "undecided"
    kind = "guided_tests.worse_near_centroids"
    return {kind: Claim(kind, 0.0, Interval(-1.0, 1.0), 0.0, 0.0, 0.0, decision)}
