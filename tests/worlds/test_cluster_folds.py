"""Sentences about folds hold in worlds whose truth is known. The long run is the benchmark's."""

from dataclasses import replace

import pytest

from tests.worlds.cluster_folds import WORLDS
from tests.worlds.measure import check_level, check_power, measure

N_DATA_SETS = 4


@pytest.mark.evidence
def test_few_claims_are_wrong_and_seeds_agree():
    check_level(row for world in WORLDS for row in measure(replace(world, best=None), N_DATA_SETS))


@pytest.mark.evidence
@pytest.mark.parametrize("world", [world for world in WORLDS if world.best], ids=lambda world: world.name)
def test_what_is_true_is_found_nearly_as_often_as_by_the_best_test(world):
    check_power(measure(world, N_DATA_SETS), slack=1)
