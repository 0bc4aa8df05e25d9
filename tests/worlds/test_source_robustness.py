"""Are sentences of held-out sources rarely wrong, steady from seed to seed, and made where there is something?"""

import pytest

from tests.worlds.measure import check_level, check_power, measure
from tests.worlds.source_robustness import BASELINE, CLASS, FALLS, WORLDS, WORST, Sources, claims

N_DATA_SETS = 3
POWERFUL = (FALLS, CLASS, WORST, BASELINE)
"""Kinds that are made nearly as often as by the best test. Pairs of models are corrected for their number, and every
source counts twice in their variance: docs/measured/verdicts.md says how much of the power is left."""


def test_a_world_says_every_kind_of_claim_and_the_same_for_the_same_seeds():
    world = Sources(n_classes=3, n_sources=4, size=8, models=2, n_repeats=8)
    said = claims(world, 3, 4)
    assert {claim.kind for claim in said.values()} == set(said)
    assert len(said) == 5
    assert all(claim.smallest == 0.01 for claim in said.values())
    assert repr(claims(world, 3, 4)) == repr(said)
    assert repr(claims(world, 3, 5)) != repr(said)


@pytest.mark.evidence
def test_claims_are_rarely_wrong_steady_and_made_where_they_are_due(capsys):
    rows = [row for world in WORLDS if not world.reported for row in measure(world, N_DATA_SETS)]
    with capsys.disabled():
        for row in rows:
            print(f"\n{row.world.name}, {row.kind}: wrong {row.n_wrong}, right {row.n_right} of {row.n}", end="")
    check_level(rows)
    check_power([row for row in rows if row.kind in POWERFUL and row.n_best is not None], slack=1)
