"""Is adequacy right or undecided, never wrong, and right in at least half, where there is something to find?"""

import pytest

from tests.worlds.data_set_adequacy import GAIN, GAP, WORLDS

WORTH = 0.01


@pytest.mark.evidence
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_worlds_of_adequacy(world):
    """Stricter than the rule: "above" is wrong, too, where the true gain is not worth it."""
    claims = [world.claims(seed, 1000 * seed) for seed in range(4)]
    right = {GAIN: "above" if world.effects[GAIN] >= WORTH else "small", GAP: "above"}
    judged = GAP if GAP in world.effects else GAIN
    for kind in world.effects:
        assert {of_data[kind].decision for of_data in claims} <= {right[kind], "undecided"}
    if world.effects[judged]:
        assert sum(of_data[judged].decision == right[judged] for of_data in claims) >= 2
