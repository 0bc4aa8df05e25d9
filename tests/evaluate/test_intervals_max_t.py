"""Step-down maxima: exact level whatever the cells are, and the slow obvious computation."""

import numpy as np
import pytest
from scipy import stats

from touchstone.core.evaluate.intervals import max_t


def slow(statistics: np.ndarray) -> np.ndarray:
    """Westfall and Young's algorithm as it is printed: drop the largest cell, look again."""
    scaled = (statistics - statistics.mean(axis=1, keepdims=True)) / statistics.std(axis=1, keepdims=True)
    left, p, before = list(range(len(scaled))), np.empty(len(scaled)), 0.0
    while left:
        cell = max(left, key=lambda row: scaled[row, 0])
        before = p[cell] = max(
            before, np.mean([scaled[left, n].max() >= scaled[cell, 0] for n in range(scaled.shape[1])])
        )
        left.remove(cell)
    return p


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_algorithm_as_it_is_printed(seed):
    rng = np.random.default_rng(seed)
    statistics = rng.gamma(2.0, size=(7, 60)) * rng.uniform(0.1, 9, size=(7, 1))
    statistics[:3, 0] += [5, 10, 1]
    np.testing.assert_allclose(max_t(statistics), slow(statistics))


@pytest.mark.parametrize("n_cells", [1, 10, 100])
def test_any_cell_is_named_in_one_of_twenty_where_nothing_is_there(n_cells):
    rng, n_repeats = np.random.default_rng(0), 1000
    shapes = rng.uniform(0.5, 5, size=(n_cells, 1))  # every cell has a distribution of its own
    named = sum(bool((max_t(rng.gamma(shapes, size=(n_cells, 100))) <= 0.05).any()) for _ in range(n_repeats))
    assert stats.binomtest(named, n_repeats, 0.05).pvalue > 0.001


def test_cells_that_stand_out_do_not_hide_each_other():
    statistics = np.random.default_rng(0).normal(size=(50, 100))
    statistics[:5, 0] = [20, 8, 7, 6, 5]
    assert (max_t(statistics)[:5] <= 0.02).all()


def test_a_row_that_does_not_vary_stands_out_nowhere():
    assert max_t(np.ones((2, 40))).tolist() == [1, 1]
