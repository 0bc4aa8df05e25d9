"""Does the null keep its level on clouds, and see sources? A short run; the long one is a benchmark."""

import pytest

from tests.worlds.measure import measure
from tests.worlds.null_worlds import WORLDS
from tests.worlds.world import World
from touchstone.core.evaluate.source_robustness.parametric_null import KIND

N_DATA_SETS = 8


@pytest.mark.evidence
@pytest.mark.parametrize("world", [world for world in WORLDS if not world.reported], ids=lambda world: world.name)
def test_claims_of_the_null(world: World):
    [measured] = measure(world, N_DATA_SETS if world.effects[KIND] else 2 * N_DATA_SETS)
    assert measured.wrong.lower <= 0.05
    assert measured.n_contrary <= 0.05 * measured.n
    if world.effects[KIND]:
        assert measured.n_right >= 0.8 * measured.n
