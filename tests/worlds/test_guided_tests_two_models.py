"""Whether one of two models is more accurate on generated pictures holds in worlds whose truth is known."""

import pytest

from tests.worlds.guided_tests_two_models import WORLDS
from tests.worlds.measure import check_level, measure

N_DATA_SETS = 20


@pytest.mark.evidence
def test_few_sentences_about_two_models_are_wrong():
    check_level(row for world in WORLDS for row in measure(world, N_DATA_SETS))
