"""What must hold for any data, share and seed (hypothesis)."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.core.data.errors import DataError
from touchstone.core.split.scheme import DRAW_SCHEMES, Random, SourceExclusive, SourceInclusive, Split, n_held_out

SHARES = st.floats(0.05, 0.9).map(lambda share: round(share, 2))
SEEDS = st.integers(0, 2**63)


@st.composite
def nested(draw, min_size: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Labels and sources where each class has 2 to 6 sources of its own, in random row order."""
    sizes = st.lists(st.integers(min_size, 7), min_size=2, max_size=6)
    classes = draw(st.lists(sizes, min_size=1, max_size=4))
    rows = [
        (label, f"{label}/{source}")
        for label, sources in enumerate(classes)
        for source, size in enumerate(sources)
        for _ in range(size)
    ]
    rows = draw(st.permutations(rows))
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


@st.composite
def crossed(draw) -> tuple[np.ndarray, np.ndarray]:
    """Labels and sources where any source may occur in any class."""
    rows = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=60))
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def check_parts(split: Split, n_samples: int) -> None:
    """Every index at most once, in order, in one part only, and here all of them in one of the two."""
    train, test = split
    for part in (train, test):
        assert part.size
        assert all(first < second for first, second in pairwise(part.tolist()))
    assert sorted([*train, *test]) == list(range(n_samples))


@given(nested(), SHARES, SEEDS)
def test_a_class_is_never_tested_on_a_source_it_was_trained_on(data, test_share, seed):
    y, sources = data
    for split in SourceExclusive(6, test_share, across="class", seed=seed).split(None, y, sources):
        check_parts(split, len(y))
        for label in np.unique(y):
            train, test = (set(sources[part][y[part] == label]) for part in split)
            assert not train & test
            assert len(test) == n_held_out(len(train | test), test_share)
            assert train


@given(nested())
def test_exactly_one_of_five_sources_is_held_out_by_default(data):
    y, _ = data
    y = np.repeat(np.unique(y), 5)
    split = SourceExclusive(n_repeats=1, across="class").draw(0, y, np.arange(len(y)))
    assert np.bincount(y[split.test]).tolist() == [1] * len(np.unique(y))


@given(crossed(), SHARES, SEEDS)
def test_a_source_held_out_over_all_classes_is_unseen_altogether(data, test_share, seed):
    y, sources = data
    scheme = SourceExclusive(6, test_share, across="all", seed=seed)
    labels = np.unique(y)
    able = [s for s in np.unique(sources) if np.isin(labels, y[sources != s]).all()]
    if not able:
        with pytest.raises(DataError, match="only source of some class"):
            scheme.draw(0, y, sources)
        return
    for split in scheme.split(None, y, sources):
        check_parts(split, len(y))
        train, test = (set(sources[part].tolist()) for part in split)
        assert not train & test
        assert set(y[split.train]) == set(labels)
        if len(split.test) < test_share * len(y) - 1e-6:  # then no other source could have been held out as well
            for source in train:
                assert set(y[split.train][sources[split.train] != source]) != set(labels)


@given(crossed(), SHARES, SEEDS)
def test_inclusive_takes_its_share_of_every_source_to_the_nearest_sample(data, test_share, seed):
    y, sources = data
    scheme = SourceInclusive(3, test_share, seed=seed)
    sizes = {(c, s): int(((y == c) & (sources == s)).sum()) for c in set(y) for s in set(sources)}
    if not 0 < sum(round(round(test_share * size, 9)) for size in sizes.values()) < len(y):
        with pytest.raises(DataError, match="leaves no sample for the"):
            scheme.draw(0, y, sources)
        return
    for split in scheme.split(None, y, sources):
        check_parts(split, len(y))
        for (label, source), size in sizes.items():
            n_test = ((y[split.test] == label) & (sources[split.test] == source)).sum()
            assert abs(n_test - test_share * size) <= 0.5 + 1e-9


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), SHARES, SEEDS)
def test_random_takes_its_share_of_all_and_stratified_of_every_class(labels, test_share, seed):
    y = np.array(labels)
    for split in Random(3, test_share, seed=seed).split(None, y):
        check_parts(split, len(y))
        assert len(split.test) == min(max(round(test_share * len(y)), 1), len(y) - 1)
    try:
        split = Random(3, test_share, stratified=True, seed=seed).draw(1, y)
    except DataError:
        assert all(min(test_share, 1 - test_share) * n <= 0.5 + 1e-9 for n in np.bincount(y))
        return
    check_parts(split, len(y))
    assert (np.abs(np.bincount(y[split.test], minlength=4) - test_share * np.bincount(y, minlength=4)) <= 0.5001).all()


@pytest.mark.parametrize("across", ["class", "all", None])
@given(data=nested(min_size=3), seed=SEEDS)
@settings(max_examples=40)
def test_a_draw_is_its_turn_of_split_whatever_the_number_of_repeats(across, data, seed):
    y, sources = data
    for name, scheme in DRAW_SCHEMES.items():
        options = {"across": across} if name == "source_exclusive" else {}
        short, long = scheme(n_repeats=5, seed=seed, **options), scheme(n_repeats=9, seed=seed, **options)
        splits = list(short.split(None, y, sources))
        assert len(splits) == short.get_n_splits(None, y, sources)
        enumerated = scheme(n_repeats=10**6, **options).get_n_splits(None, y, sources) <= long.n_repeats
        for repeat, split in enumerate(splits):
            again = [short.draw(repeat, y, sources)]
            again += [] if enumerated else [long.draw(repeat, y, sources)]
            for other in again:
                np.testing.assert_array_equal(split.train, other.train)
                np.testing.assert_array_equal(split.test, other.test)


@given(nested(min_size=3), SEEDS)
@settings(max_examples=40)
def test_sources_may_be_called_anything(data, seed):
    y, sources = data
    names, numbers = np.unique(sources, return_inverse=True)
    assert len(names) == numbers.max() + 1
    labels = np.array(["ant", "bee", "cat", "dog"])[y]
    for scheme in DRAW_SCHEMES.values():
        by_name = scheme(n_repeats=3, seed=seed).draw(0, labels, sources.astype(object))
        by_number = scheme(n_repeats=3, seed=seed).draw(0, y, numbers)
        np.testing.assert_array_equal(by_name.test, by_number.test)
