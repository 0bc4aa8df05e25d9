"""Sentences about folds hold in worlds whose truth is known. The long run is the benchmark's."""

from dataclasses import replace

import pytest

from tests.worlds.cluster_folds import WORLDS
from tests.worlds.measure import measure

N_DATA_SETS = 4


@pytest.mark.evidence
def test_few_claims_are_wrong_and_seeds_agree():
    counts = [one for world in WORLDS for one in measure(replace(world, best=None), N_DATA_SETS)]
    for kind in {one.kind for one in counts}:
        of_kind = [one for one in counts if one.kind == kind]
        n = sum(one.n for one in of_kind)
        most = n * (0.05 + 2 * (0.05 * 0.95 / n) ** 0.5)
        assert sum(one.n_wrong for one in of_kind) <= most, kind
        assert sum(one.n_contrary for one in of_kind) <= 0.05 * n, kind


@pytest.mark.evidence
@pytest.mark.parametrize("world", [world for world in WORLDS if world.best], ids=lambda world: world.name)
def test_what_is_true_is_found_nearly_as_often_as_by_the_best_test(world):
    for one in measure(world, N_DATA_SETS):
        if one.n_best:
            assert one.n_right >= 0.8 * one.n_best - 2
