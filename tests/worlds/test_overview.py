"""What the sheet says of groups, classes and models holds where the truth is known. The long run is the benchmark's."""

import pytest

from tests.worlds.measure import check_level, check_power, measure
from tests.worlds.overview import WORLDS

N_DATA_SETS = 20


@pytest.mark.evidence
def test_few_claims_are_wrong_and_what_is_true_is_found():
    rows = [row for world in WORLDS for row in measure(world, N_DATA_SETS)]
    check_level(rows)
    check_power(rows)
