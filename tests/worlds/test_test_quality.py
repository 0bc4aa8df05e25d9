"""Sentences about test sets hold in worlds whose truth is known. The long run is the benchmark's."""

import pytest

from tests.worlds.measure import measure
from tests.worlds.test_quality import WORLDS

N_DATA_SETS = 12


@pytest.mark.evidence
def test_few_claims_are_wrong_and_seeds_agree():
    counts = [one for world in WORLDS if "moved" not in world.name for one in measure(world, N_DATA_SETS)]
    for kind in {one.kind for one in counts}:
        of_kind = [one for one in counts if one.kind == kind]
        n = sum(one.n for one in of_kind)
        assert sum(one.n_wrong for one in of_kind) <= n * (0.05 + 2 * (0.05 * 0.95 / n) ** 0.5), kind
        assert sum(one.n_contrary for one in of_kind) <= 0.05 * n, kind
        true = [one for one in of_kind if one.effect != 0]
        assert sum(one.n_right for one in true) >= 0.8 * sum(one.n for one in true), kind


@pytest.mark.evidence
def test_a_shift_is_found_and_none_invented():
    for world in WORLDS:
        if "moved" in world.name:
            (counts,) = measure(world, 3)
            assert counts.n_wrong <= 1
            assert counts.effect == 0 or counts.n_right >= 2
