"""Sentences about decoders hold in worlds whose truth is known. The long run is the benchmark's."""

import pytest

from tests.worlds.guided_tests_decoder import WORLDS
from tests.worlds.measure import check_level, check_power, measure

N_DATA_SETS = 8


@pytest.mark.evidence
def test_few_claims_are_wrong_and_what_is_true_is_found():
    rows = [row for world in WORLDS for row in measure(world, N_DATA_SETS)]
    check_level(rows)
    check_power(row for row in rows if row.effect > 0)  # that decoded images lie farther off is not said
