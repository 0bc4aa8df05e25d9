import numpy as np
import pytest

from touchstone.core.split.describe_folds import describe_split, total_variation
from touchstone.core.split.scheme import Random, SourceExclusive, Split


def test_sizes_shares_and_distances_of_a_split_by_hand():
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    split = Split(np.array([0, 1, 2, 5, 6]), np.array([3, 8, 9]))  # rows 4 and 7 are in neither part
    description = describe_split(split, y, class_names=["ant", "bee", "cat"], test_share=0.2)
    assert (description.n_train, description.n_test) == (5, 3)
    assert (description.test_share_wanted, description.test_share) == (0.2, 0.3)
    assert description.train_to_test == pytest.approx((abs(3 / 5 - 1 / 3) + abs(2 / 5 - 0) + 2 / 3) / 2)
    assert description.train_to_whole == pytest.approx((0.1 + 0.1 + 0.2) / 2)
    assert description.test_to_whole == pytest.approx((abs(1 / 3 - 0.5) + 0.3 + abs(2 / 3 - 0.2)) / 2)
    table = description.table()
    assert table["label"].tolist() == ["ant", "bee", "cat"]
    assert table["n_train"].tolist() == [3, 2, 0]
    assert table["n_test"].tolist() == [1, 0, 2]
    assert table["n_whole"].tolist() == [5, 3, 2]
    assert table["test_share"].tolist() == [0.2, 0.0, 1.0]


def test_a_stratified_split_keeps_the_label_distribution():
    y = np.repeat([0, 1], [100, 300])
    names = ["rare", "common"]
    split = Random(stratified=True).draw(0, y)
    description = describe_split(split, y, class_names=names, test_share=0.2)
    assert description.test_share == 0.2
    assert description.train_to_test == description.test_to_whole == pytest.approx(0)


def test_unequal_sources_miss_the_share_and_the_description_shows_it():
    y = np.repeat([0, 1], 100)
    sources = np.concatenate([np.repeat([0, 1], [90, 10]), np.repeat([2, 3], 50)])
    split = SourceExclusive(n_repeats=4).draw(0, y, sources)
    assert describe_split(split, y, class_names=["a", "b"], test_share=0.2).test_share == (90 + 50) / 200


def test_total_variation_runs_from_alike_to_disjoint():
    assert total_variation(np.array([2, 6]), np.array([10, 30])) == 0
    assert total_variation(np.array([5, 0]), np.array([0, 1])) == 1
