import numpy as np
import pytest

from touchstone.core.split.describe_folds import total_variation
from touchstone.core.split.scheme import Random


def test_a_stratified_split_keeps_the_label_distribution():
    y = np.repeat([0, 1], [100, 300])
    train, test = (np.bincount(y[part]) for part in Random(stratified=True).draw(0, y))
    assert test.sum() == 80
    assert total_variation(train, test) == total_variation(test, np.bincount(y)) == pytest.approx(0)


def test_total_variation_runs_from_alike_to_disjoint():
    assert total_variation(np.array([2, 6]), np.array([10, 30])) == 0
    assert total_variation(np.array([5, 0]), np.array([0, 1])) == 1
