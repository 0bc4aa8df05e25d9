"""Are the draws balanced over repeats, uniform taken alone, and independent where they should be?"""

from collections import Counter
from itertools import combinations, product
from math import comb, gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from touchstone.core.split.scheme import Random, SourceExclusive, SourceInclusive, n_held_out

# Seeds are fixed, so these tests give the same answer every time; a fair scheme fails one in 10,000 choices of seeds.
LIKELY = 1e-4


def one_row_per_source(*n_sources: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes of so many sources, each of one sample: the rows of the test part are the held-out sources."""
    y = np.repeat(np.arange(len(n_sources)), n_sources)
    return y, np.arange(len(y))


@pytest.mark.parametrize(
    ("n_sources", "test_share", "n_out"),
    [(5, 0.2, 1), (10, 0.3, 3), (25, 0.28, 7), (7, 0.2, 2), (2, 0.2, 1), (2, 0.9, 1), (3, 0.99, 2), (100, 0.29, 29)],
)
def test_the_fewest_sources_that_make_up_the_share_are_held_out(n_sources, test_share, n_out):
    assert n_held_out(n_sources, test_share) == n_out


@given(st.integers(2, 9), st.floats(0.05, 0.95), st.integers(0, 3), st.integers(0, 99))
def test_every_source_is_held_out_equally_often_over_a_cycle(k, test_share, turn, seed):
    m = n_held_out(k, test_share)
    cycle = k // gcd(k, m)
    y, sources = one_row_per_source(k, 6, 6, 6)  # 6 ** 3 combinations and more: never enumerated below
    scheme = SourceExclusive(4 * cycle, test_share, across="class", seed=seed)
    draws = [scheme.draw(turn * cycle + step, y, sources).test for step in range(cycle)]
    held_out = Counter(int(row) for test in draws for row in test if y[row] == 0)
    assert held_out == dict.fromkeys(range(k), m // gcd(k, m))


def test_sources_are_seated_anew_after_every_cycle():
    y, sources = one_row_per_source(5, 5, 5, 5)
    draws = [split.test for split in SourceExclusive(n_repeats=100).split(None, y, sources)]
    orders = {tuple(test[0] for test in draws[start : start + 5]) for start in range(0, 100, 5)}
    assert len(orders) > 10


@pytest.mark.parametrize("repeat", [0, 4, 7])
def test_a_draw_is_uniform_in_each_class_and_independent_between_classes(repeat):
    y, sources = one_row_per_source(5, 5, 4)
    n_seeds = 2000
    joint = np.zeros((5, 5, 4))
    for seed in range(n_seeds):
        first, second, third = SourceExclusive(n_repeats=20, seed=seed).draw(repeat, y, sources).test
        joint[first, second - 5, third - 10] += 1
    assert chisquare(joint.sum(axis=2).ravel()).pvalue > LIKELY
    assert chisquare(joint.sum(axis=1).ravel()).pvalue > LIKELY
    assert chisquare(joint.sum(axis=0).ravel()).pvalue > LIKELY
    assert chisquare(joint.ravel()).pvalue > LIKELY


@pytest.mark.parametrize("repeat", [0, 1, 3])
def test_a_draw_of_two_in_five_makes_every_pair_equally_likely(repeat):
    y, sources = one_row_per_source(5)
    scheme = [SourceExclusive(n_repeats=9, test_share=0.4, seed=seed) for seed in range(1500)]
    pairs = Counter(tuple(each.draw(repeat, y, sources).test.tolist()) for each in scheme)
    assert len(pairs) == comb(5, 2)
    assert chisquare(list(pairs.values())).pvalue > LIKELY


@pytest.mark.parametrize(
    "scheme",
    [
        SourceExclusive(20, 0.25, across="all"),
        SourceInclusive(20, 0.25),
        Random(20, 0.25),
        Random(20, 0.25, stratified=True),
    ],
)
@pytest.mark.parametrize("repeat", [0, 5])
def test_every_row_has_the_same_chance_to_be_tested(scheme, repeat):
    y = np.tile([0, 1], 24)
    sources = np.repeat(np.arange(6), 8)
    tested = np.zeros(48)
    for seed in range(800):
        fields = {**vars(scheme), "seed": seed}
        tested[type(scheme)(**fields).draw(repeat, y, sources).test] += 1
    whole_sources = isinstance(scheme, SourceExclusive)
    assert chisquare(tested[::8] if whole_sources else tested).pvalue > LIKELY
    assert tested.sum() == 800 * (16 if whole_sources else 12)  # two whole sources make up a quarter, and more


def test_walking_over_all_sources_holds_each_out_equally_often():
    rng = np.random.default_rng(0)
    sources = rng.integers(0, 13, size=400)
    y = rng.integers(0, 3, size=400)
    n_times = np.zeros(13, dtype=int)
    for n_draws, split in enumerate(SourceExclusive(200, seed=3, across="all").split(None, y, sources), start=1):
        assert 0.2 * 400 <= len(split.test) < 0.2 * 400 + np.bincount(sources).max()
        n_times[np.unique(sources[split.test])] += 1
        assert np.ptp(n_times) <= 1, f"after {n_draws} draws"


def test_a_source_that_cannot_be_spared_now_is_held_out_in_the_next_draw():
    # Class 1 lives in sources 4 and 5 only: they are never held out together, yet as often as the others.
    sources = np.repeat(np.arange(6), 4)
    y = (sources >= 4).astype(int)
    n_times = np.zeros(6, dtype=int)
    for split in SourceExclusive(300, 0.5, across="all").split(None, y, sources):
        assert not {4, 5} <= set(sources[split.test])
        n_times[np.unique(sources[split.test])] += 1
    assert np.ptp(n_times) <= 2


def test_sources_that_can_never_be_spared_together_take_turns():
    sources = np.repeat(np.arange(6), 4)
    y = (sources >= 4).astype(int)
    turns = [
        ({4, 5} & set(sources[split.test].tolist())).pop()
        for split in SourceExclusive(60, 0.8, across="all").split(None, y, sources)
    ]
    for n_draws in range(1, 61):
        assert abs(turns[:n_draws].count(4) - turns[:n_draws].count(5)) <= 1


def test_all_combinations_are_given_once_where_they_are_few():
    y, sources = one_row_per_source(3, 5, 2)
    scheme = SourceExclusive(n_repeats=60, test_share=0.4)
    choices = (combinations(range(3), 2), combinations(range(3, 8), 2), combinations(range(8, 10), 1))
    expected = {tuple(np.concatenate(chosen).tolist()) for chosen in product(*choices)}
    given_splits = [tuple(split.test.tolist()) for split in scheme.split(None, y, sources)]
    assert scheme.get_n_splits(None, y, sources) == len(given_splits) == len(expected) == 60
    assert set(given_splits) == expected


def test_one_combination_more_than_repeats_is_drawn():
    y, sources = one_row_per_source(3, 5, 2)
    scheme = SourceExclusive(n_repeats=59, test_share=0.4)
    assert scheme.get_n_splits(None, y, sources) == 59


@pytest.mark.parametrize(("across", "unseen"), [(None, True), ("all", True), ("class", False)])
def test_shared_source_ids_are_held_out_over_all_classes_by_default(across, unseen):
    y = np.tile([0, 1], 20)
    sources = np.repeat(np.arange(5), 8)
    splits = SourceExclusive(n_repeats=15, across=across).split(None, y, sources)
    shared = [set(sources[train]) & set(sources[test]) for train, test in splits]
    assert all(not ids for ids in shared) == unseen


def test_schemes_do_not_draw_from_the_same_random_numbers():
    y, sources = np.zeros(40, dtype=int), np.zeros(40, dtype=int)
    inclusive = SourceInclusive(seed=0).draw(0, y, sources)
    for other in (Random(seed=0), Random(seed=0, stratified=True), Random(seed=1)):
        assert inclusive.test.tolist() != other.draw(0, y).test.tolist()
    assert Random(seed=0).draw(0, y).test.tolist() != Random(seed=0).draw(1, y).test.tolist()


@pytest.mark.parametrize("scheme", [SourceInclusive, Random])
def test_five_draws_test_every_sample_once_and_single_ones_are_as_before(scheme):
    """A circle of samples: after as many draws as make up the whole, each was tested once, and they sit anew."""
    y, sources = np.repeat([0, 1], 50), np.tile(np.repeat(np.arange(5), 10), 2)
    tested = [np.bincount(scheme(seed=3).draw(repeat, y, sources).test, minlength=100) for repeat in range(10)]
    assert np.sum(tested[:5], axis=0).tolist() == np.sum(tested[5:], axis=0).tolist() == [1] * 100
    assert any((one != other).any() for one, other in zip(tested[:5], tested[5:], strict=True))
