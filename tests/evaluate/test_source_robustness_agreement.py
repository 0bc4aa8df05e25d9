"""Do clusterings agree? Against counting pairs by hand, against scikit-learn, and against chance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.source_robustness.agreement import agreement, compare_clusterings
from touchstone.core.trials import TrialPlan

ONE_CLASS = np.zeros(12, dtype=np.int64)


def adjusted_rand(first, second, y) -> float:
    """The index of two clusterings, with nothing dealt out for chance."""
    both = {("a", 0): first, ("b", 0): second}
    return compare_clusterings(both, y, n_permutations=0, rng=np.random.default_rng(0)).pairs[0].index


def by_hand(first, second, y) -> float:
    """Over all pairs of one class: both together, less what chance gives, of the most there could be."""
    both = expected = most = 0.0
    for label in np.unique(y):
        pairs = list(combinations(np.flatnonzero(y == label), 2))
        one, other = ([bool(of[i] == of[j]) for i, j in pairs] for of in (first, second))
        both += sum(a and b for a, b in zip(one, other, strict=True))
        expected += sum(one) * sum(other) / max(len(pairs), 1)
        most += (sum(one) + sum(other)) / 2
    return (both - expected) / (most - expected)


def test_the_index_of_a_printed_example():
    """Three sources of 2, 2 and 2 against two of 3 and 3: 2 shared pairs, 3 and 6 together of 15, chance 1.2."""
    first, second = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1])
    assert adjusted_rand(first, second, np.zeros(6, dtype=np.int64)) == pytest.approx((2 - 1.2) / (4.5 - 1.2))


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=8, max_size=30))
def test_it_is_what_counting_pairs_gives(rows):
    first, second, y = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    index = adjusted_rand(first, second, y)
    assert index == pytest.approx(adjusted_rand(second, first, y), nan_ok=True)
    if not np.isnan(index):
        assert index == pytest.approx(by_hand(first, second, y))
        assert adjusted_rand(7 - first, second, y) == pytest.approx(index), "names of sources matter"
        assert index <= 1 + 1e-12


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=8, max_size=30))
def test_of_one_class_it_is_the_one_that_everybody_knows(rows):
    first, second = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    index = adjusted_rand(first, second, np.zeros(len(first), dtype=np.int64))
    if not np.isnan(index):
        assert index == pytest.approx(adjusted_rand_score(first, second))


def test_a_class_apart_is_no_agreement():
    """Sources named class by class agree over all pairs, for classes are told apart; within classes they do not."""
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 200)
    first, second = (2 * y + rng.integers(2, size=400) for _ in range(2))
    assert adjusted_rand_score(first, second) > 0.3
    assert abs(adjusted_rand(first, second, y)) < 0.05


def test_with_nothing_to_agree_on_nothing_is_said():
    alone, one = np.arange(12), np.zeros(12, dtype=np.int64)
    assert np.isnan(adjusted_rand(alone, alone, ONE_CLASS))
    assert np.isnan(adjusted_rand(one, one, ONE_CLASS))
    found = compare_clusterings(
        {("a", 0): one, ("b", 0): one}, ONE_CLASS, rng=np.random.default_rng(0), n_permutations=9
    )
    assert "Undecided whether" in found.finders[0].sentence()
    assert not found.finders[0].better_than_chance


def test_small_sources_that_nest_in_large_ones_reach_the_highest_that_their_sizes_allow():
    small = np.repeat(np.arange(20), 5)
    found = compare_clusterings(
        {("known", 0): small, ("kmeans", 0): small // 5},
        np.zeros(100, dtype=np.int64),
        rng=np.random.default_rng(0),
        n_permutations=99,
    )
    (pair,) = found.pairs
    assert pair.index == pytest.approx(pair.possible)
    assert pair.possible < 0.5
    assert found.finders[0].better_than_chance


def test_chance_is_called_chance():
    rng, y = np.random.default_rng(3), np.repeat([0, 1, 2], 60)
    p = []
    for _ in range(60):
        found = compare_clusterings(
            {("a", 0): rng.integers(4, size=180), ("b", 0): rng.integers(6, size=180)}, y, rng=rng, n_permutations=99
        )
        p.append(found.finders[0].p)
    assert np.mean(np.array(p) <= 0.05) <= 0.15
    assert 0.35 < np.mean(p) < 0.65


def test_alike_clusterings_of_a_finder_are_no_many_proofs():
    """Four copies of one clustering against another: their mean index varies as a single one does."""
    rng, y = np.random.default_rng(4), np.zeros(120, dtype=np.int64)
    first, second = rng.integers(4, size=120), rng.integers(4, size=120)
    copies = {("a", number): first for number in range(4)}
    found = compare_clusterings({**copies, ("b", 0): second}, y, rng=rng, n_permutations=399)
    once = compare_clusterings({("a", 0): first, ("b", 0): second}, y, rng=rng, n_permutations=399)
    mean = next(one for one in found.finders if one.other_finder == "b")
    assert mean.index == pytest.approx(once.finders[0].index)
    assert mean.chance == pytest.approx(once.finders[0].chance, abs=0.015)
    assert mean.n_pairs == 4


def test_every_pair_of_a_plan_with_known_sources():
    wine = load_example("wine")
    known = [f"site {row % 7}" for row in range(178)]
    named = Dataset("named", "tabular", wine.x, wine.y, wine.class_names, wine.ids, known)
    plan = TrialPlan(source_finders=("kmeans", "same_size_kmeans", "known"), n_clusterings=2)
    steps = []
    found = agreement(plan, named, n_permutations=199, step=lambda: steps.append(1))
    assert [name for name, _ in found.clusterings] == ["kmeans"] * 2 + ["same_size_kmeans"] * 2 + ["known"]
    assert len(found.pairs) == 10
    assert len(steps) == 5 + 199
    table = found.table().set_index(["source_finder", "other_finder"])
    assert len(table) == 5, "known sources have one clustering, and nothing to compare it with"
    assert table.loc[("kmeans", "same_size_kmeans"), "p_holm"] < 0.05
    assert table.loc[("kmeans", "known"), "p_holm"] > 0.05, "sites in turn have nothing to do with clusters"
    matrix = found.matrix()
    assert np.array_equal(matrix, matrix.T)
    first = found.pair_table().iloc[0]
    assert matrix[0, 1] == first["index"]
    mine = [plan.sources(named, "kmeans", number) for number in (0, 1)]
    assert first["index"] == pytest.approx(adjusted_rand(*mine, named.y))
    said = {(one.source_finder, one.other_finder): one.sentence({"known": "known sources"}) for one in found.finders}
    assert "kmeans and known sources agree no better than chance" in said["kmeans", "known"]
    assert "kmeans and same_size_kmeans agree better than chance" in said["kmeans", "same_size_kmeans"]


def test_many_samples_are_looked_at_in_part_and_that_is_counted():
    wine = load_example("wine")
    found = agreement(TrialPlan(n_clusterings=2), wine, max_samples=100, n_permutations=19)
    assert (found.n_used, found.n_samples) == (100, 178)


def test_by_class_it_is_the_index_of_the_class_alone():
    rng, y = np.random.default_rng(3), np.repeat([0, 1, 3], [30, 50, 6])
    clusterings = {(finder, 0): rng.integers(3, size=86) for finder in ("one", "other")}
    found = compare_clusterings(clusterings, y, class_names=("a", "b", "none", "d"), n_permutations=3, rng=rng)
    [pair] = found.pairs
    first, second = clusterings.values()
    alone = [adjusted_rand_score(first[y == label], second[y == label]) for label in (0, 1, 3)]
    assert pair.by_class == pytest.approx(alone)
    table = found.pair_table()
    assert table["label"].tolist()[1:] == ["a", "b", "d"]
    assert table["label"].isna().tolist()[0]
    assert table["index"].tolist() == pytest.approx([pair.index, *alone])
    assert found.class_table().iloc[0].tolist()[2:] == pytest.approx([pair.index, *alone])


def test_the_mean_by_class_is_over_pairs_that_have_something_to_tell():
    y = np.repeat([0, 1], [4, 1])
    clusterings = {("one", 0): np.array([0, 0, 1, 1, 2]), ("other", 0): np.array([0, 0, 1, 1, 2])}
    found = compare_clusterings(clusterings, y, n_permutations=3, rng=np.random.default_rng(0))
    assert found.class_table()["0"].tolist() == [1.0]
    assert found.class_table()["1"].isna().all(), "a single sample agrees with nothing"
