"""No result has an impossible number: a rho above 1 / AccI, a gain beyond what is left, more than 100 points.

The long run is `python -m benchmarks.bench_possible`.
"""

import pytest

from tests.worlds.possible import QUESTIONS, impossible


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_number_is_impossible(question):
    assert [wrong for seed in range(8) for wrong in impossible(question, seed)] == []
