"""Sentences about generated tests hold in worlds whose truth is known. The long run is the benchmark's."""

import pytest

from tests.worlds.guided_tests import WORLDS
from tests.worlds.measure import measure

N_DATA_SETS = 8


@pytest.mark.evidence
def test_few_claims_are_wrong_and_what_is_true_is_found():
    counts = [one for world in WORLDS for one in measure(world, N_DATA_SETS)]
    n = sum(one.n for one in counts)
    assert sum(one.n_wrong for one in counts) <= n * (0.05 + 2 * (0.05 * 0.95 / n) ** 0.5)
    assert sum(one.n_contrary for one in counts) <= 0.05 * n
    true = [one for one in counts if one.effect > 0]
    assert sum(one.n_right for one in true) >= 0.8 * sum(one.n for one in true)
