"""Copies are found whatever they are; near copies are those that a comparison of all pairs finds."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import duplicate_groups
from touchstone.core.represent.duplicates import (
    NearDuplicates,
    n_steps,
    near_duplicate_pairs,
    similarities,
)


def cosines(features: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(features, axis=1)
    return features @ features.T / np.outer(lengths, lengths)


@pytest.mark.parametrize("kind", ["image", "text", "tabular"])
def test_the_first_of_equal_rows_stands_for_all(kind):
    rng = np.random.default_rng(0)
    which = np.array([3, 1, 3, 0, 1, 3, 2])
    contents = {
        "image": rng.random((4, 5, 6, 3), dtype=np.float32),
        "text": np.array(["", "a fox", "a  fox", "Füchse"], dtype=object),
        "tabular": rng.random((4, 3)),
    }[kind]
    dataset = Dataset("d", kind, contents[which], [0, 1, 0, 1, 0, 1, 0], ("a", "b"), list("uvwxyzq"))
    assert duplicate_groups(dataset).tolist() == [0, 1, 0, 3, 1, 0, 6]


def test_zero_has_no_sign():
    dataset = Dataset("d", "tabular", [[0.0], [-0.0], [1.0]], [0, 1, 1], ("a", "b"), list("uvw"))
    assert duplicate_groups(dataset).tolist() == [0, 0, 2]


@settings(max_examples=30)
@given(st.integers(2, 60), st.floats(0.3, 0.99), st.integers(0, 1000))
def test_pairs_are_those_that_comparing_all_finds(n, similarity, seed):
    features = np.random.default_rng(seed).normal(size=(n, 3))
    found = near_duplicate_pairs(features, similarity=similarity)
    truth = cosines(features)
    expected = {(i, j) for i in range(n) for j in range(i + 1, n) if truth[i, j] >= similarity}
    unsure = {(i, j) for i in range(n) for j in range(i + 1, n) if abs(truth[i, j] - similarity) < 1e-5}
    assert {tuple(pair) for pair in found.tolist()} ^ expected <= unsure
    assert (np.diff(similarities(features, found)) <= 1e-5).all()


def test_blocks_leave_no_pair_out_and_the_most_similar_are_kept():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(5000, 8))
    copies = rng.permutation(5000)[:400].reshape(200, 2)
    features[copies[:, 1]] = 3 * features[copies[:, 0]] + rng.normal(scale=1e-3, size=(200, 8))
    expected = {tuple(sorted(pair)) for pair in copies.tolist()}
    assert {tuple(pair) for pair in near_duplicate_pairs(features, similarity=0.999, most=200).tolist()} == expected
    few = near_duplicate_pairs(features, similarity=0.7, most=150)
    steps = []
    everything = near_duplicate_pairs(features, similarity=0.7, on_step=lambda: steps.append(1))
    assert len(steps) == n_steps(5000) == 6
    assert len(everything) > 10_000
    assert np.array_equal(few, everything[:150])


def test_blocks_are_compared_in_one_thread_as_everywhere():
    from threadpoolctl import threadpool_info, threadpool_limits

    def count() -> None:
        n_threads.update(pool["num_threads"] for pool in threadpool_info())

    n_threads: set[int] = set()
    with threadpool_limits(limits=2):
        near_duplicate_pairs(np.random.default_rng(0).normal(size=(50, 4)), on_step=count)
    assert n_threads == {1}


def test_copies_pass_a_similarity_of_one_and_nothing_is_near_to_nothing():
    features = np.random.default_rng(2).normal(size=(40, 100))
    features[[7, 9]] = 0.0
    features[[21, 33]] = features[[3, 3]]
    assert near_duplicate_pairs(features, similarity=1.0).tolist() == [[3, 21], [3, 33], [21, 33]]


@given(st.integers(2, 30), st.integers(0, 1000))
def test_pairs_across_a_cut_are_those_of_all_samples(n, seed):
    rng = np.random.default_rng(seed)
    content = rng.integers(8, size=n)
    first = np.array([int(np.argmax(content == one)) for one in content])
    like = rng.random((8, 8)) < 0.3
    near = np.array([(i, j) for i in set(first) for j in set(first) if i < j and like[content[i], content[j]]])
    part = rng.random(n) < 0.5
    expected = sum(
        bool(part[i] != part[j])
        for i in range(n)
        for j in range(i + 1, n)
        if first[i] == first[j] or like[content[min(first[i], first[j])], content[max(first[i], first[j])]]
    )
    found = NearDuplicates(first, near.reshape(-1, 2).astype(int), full=False)
    assert found.n_across(part) == found.n_across(~part) == expected


@pytest.mark.parametrize("similarity", [0.0, -0.5, 1.01])
def test_a_similarity_that_cannot_be_is_refused(similarity):
    with pytest.raises(DataError, match=r"must lie in \(0, 1\]"):
        near_duplicate_pairs(np.ones((3, 2)), similarity=similarity)


def test_memory_does_not_grow_with_the_square_of_the_rows():
    features = np.random.default_rng(3).normal(size=(20_000, 10)).astype(np.float64)
    tracemalloc.start()
    near_duplicate_pairs(features, similarity=0.99)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 250e6  # all similarities at once would take 1.6 GB in single precision
