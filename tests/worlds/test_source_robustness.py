"""Are sentences of held-out sources rarely wrong, steady from seed to seed, and made where there is something?"""

import pytest

from core.evaluate.source_robustness import SMALLEST
from tests.worlds.measure import measure
from tests.worlds.source_robustness import WORLDS, Sources, claims

N_DATA_SETS = 6


def test_a_world_says_every_kind_of_claim_and_the_same_for_the_same_seeds():
    world = Sources(n_classes=3, n_sources=4, size=8, models=2, n_repeats=8)
    said = claims(world, 3, 4)
    assert {claim.kind for claim in said.values()} == set(said)
    assert len(said) == 5
    assert all(claim.smallest == SMALLEST for claim in said.values())
    assert repr(claims(world, 3, 4)) == repr(said)
    assert repr(claims(world, 3, 5)) != repr(said)


@pytest.mark.evidence
def test_claims_are_rarely_wrong_steady_and_made_where_they_are_due(capsys):
    rows = [row for world in WORLDS if not world.reported for row in measure(world, N_DATA_SETS)]
    for kind in dict.fromkeys(row.kind for row in rows):
        mine = [row for row in rows if row.kind == kind]
        n, wrong, contrary = (sum(getattr(row, name) for row in mine) for name in ("n", "n_wrong", "n_contrary"))
        with capsys.disabled():
            print(f"\n{kind}: {wrong} of {n} wrong, {contrary} contrary")
        assert wrong / n <= 0.05 + 2 * (0.05 * 0.95 / n) ** 0.5
        assert contrary / n <= 0.05
        powered = [row for row in mine if row.n_best is not None]
        assert sum(row.n_right for row in powered) >= 0.8 * sum(row.n_best or 0 for row in powered) - 1
