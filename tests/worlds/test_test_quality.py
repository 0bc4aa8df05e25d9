"""Sentences about test sets hold in worlds whose truth is known. The long run is the benchmark's."""

import pytest

from tests.worlds.measure import check_level, check_power, measure
from tests.worlds.test_quality import SHIFT, WORLDS

N_DATA_SETS = 12


@pytest.mark.evidence
def test_few_claims_are_wrong_and_seeds_agree():
    rows = [row for world in WORLDS if SHIFT not in world.effects for row in measure(world, N_DATA_SETS)]
    check_level(rows)
    check_power(rows)


@pytest.mark.evidence
def test_a_shift_is_found_and_none_invented():
    rows = [row for world in WORLDS if SHIFT in world.effects for row in measure(world, 3)]
    check_level(rows)
    # All classes together are found less often than the one that moved: docs/measured/verdicts.md says how often.
    check_power(row for row in rows if row.kind == SHIFT)
