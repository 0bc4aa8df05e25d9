"""What must hold for any data, number of folds and seed (hypothesis)."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from touchstone.core.data.errors import DataError
from touchstone.core.split.folds import (
    FOLD_SCHEMES,
    NearestNeighbourBalls,
    PairedSourceFolds,
    QuantileFolds,
    SourceInclusiveFolds,
)
from touchstone.core.testing.splitters import folds_as_promised

SEEDS = st.integers(0, 2**63)


@st.composite
def samples(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Features with ties, skewed labels, sources in many classes, and a number of folds up to the number of rows."""
    n_folds = draw(st.integers(2, 7))
    n_rows = draw(st.integers(max(n_folds, 4), 40))
    labels = draw(st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 3]), min_size=n_rows, max_size=n_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = rng.integers(0, 4, size=(n_rows, 2)).astype(float) if draw(st.booleans()) else rng.normal(size=(n_rows, 2))
    x[0] = x[1] + 1.0  # never all the same
    return x, np.array(labels), rng.integers(0, 9, size=n_rows), n_folds


def cannot_be_had(name: str, x: np.ndarray, y: np.ndarray, sources: np.ndarray, n_folds: int) -> bool:
    """Whether whole sources are too few, labels too rare for scikit-learn, or different rows fewer than clusters."""
    n_sources = len(set(sources.tolist()))
    return {
        "group_folds": n_sources < n_folds or np.bincount(y).max() < n_folds,
        "leave_one_group_out": n_sources < 2,
        "kmeans_folds": len(np.unique(x, axis=0)) < n_folds,
    }.get(name, False)


@pytest.mark.parametrize("name", FOLD_SCHEMES)
@given(data=samples(), seed=SEEDS)
@settings(max_examples=25)
def test_folds_keep_what_their_scheme_promises(name, data, seed):
    x, y, sources, n_folds = data
    scheme = FOLD_SCHEMES[name](n_folds=n_folds, seed=seed)
    x = x[:, 0] + 10 * x[:, 1] if scheme.needs == "values" else x
    if cannot_be_had(name, x, y, sources, n_folds):
        with pytest.raises(DataError):
            scheme.assign(x, y, sources)
        return
    try:
        folds_as_promised(scheme, x, y, sources)
    except DataError as error:  # scikit-learn's rule of thumb can leave a fold without a source
        assume(not str(error).startswith("The sources are too unequal"))
        raise


@given(samples(), SEEDS)
@settings(max_examples=25)
def test_whole_sources_stay_whole(data, seed):
    _, y, sources, n_folds = data
    for name in ("group_folds", "leave_one_group_out"):
        if cannot_be_had(name, y[:, None], y, sources, n_folds):
            continue
        folds = FOLD_SCHEMES[name](n_folds=n_folds, seed=seed).assign(None, y, sources)
        assert all(len(set(folds[sources == source])) == 1 for source in set(sources.tolist()))


@given(samples(), SEEDS)
@settings(max_examples=25)
def test_quantiles_of_a_label_follow_one_another(data, seed):
    x, y, _, n_folds = data
    folds = QuantileFolds(n_folds=n_folds, seed=seed).assign(x[:, 0], y)
    for label in set(y.tolist()):
        values, of = x[y == label, 0], folds[y == label]
        for fold in range(n_folds - 1):
            if (of <= fold).any() and (of > fold).any():
                assert values[of <= fold].max() <= values[of > fold].min()


@given(samples(), SEEDS)
@settings(max_examples=25)
def test_a_ball_holds_what_of_each_label_lies_nearest_to_one_of_its_rows(data, seed):
    x, y, _, n_folds = data
    folds = NearestNeighbourBalls(n_folds=n_folds, seed=seed).assign(x, y)
    for fold in range(n_folds - 1):
        inside, left = folds == fold, folds > fold

        def fits(centre: np.ndarray, inside: np.ndarray = inside, left: np.ndarray = left) -> bool:
            distance = ((x - centre) ** 2).sum(axis=1)
            return all(
                distance[inside & (y == label)].max() <= distance[left & (y == label)].min()
                for label in set(y[inside].tolist()) & set(y[left].tolist())
            )

        # Where the label of the point itself has no row in this fold, the point is one of those that are left.
        assert any(fits(centre) for centre in x[inside | left])


@given(samples(), SEEDS)
@settings(max_examples=25)
def test_paired_sources_are_whole_in_one_scheme_and_spread_in_the_other(data, seed):
    x, y, _, n_folds = data
    whole = PairedSourceFolds(n_folds=n_folds, seed=seed).assign(x, y)
    spread = SourceInclusiveFolds(n_folds=n_folds, seed=seed).assign(x, y)
    for label in set(y.tolist()):
        assert len(set(whole[y == label].tolist())) == min(n_folds, int((y == label).sum()))
        for source in set(whole[y == label].tolist()):  # a fold holds one source of the label, whole
            in_folds = np.bincount(spread[(y == label) & (whole == source)], minlength=n_folds)
            assert np.ptp(in_folds) <= 1


@pytest.mark.parametrize("name", FOLD_SCHEMES)
def test_another_seed_gives_other_folds_where_something_is_drawn(name):
    rng = np.random.default_rng(3)
    x, y, sources = rng.normal(size=(200, 3)), rng.integers(0, 3, 200), rng.integers(0, 40, 200)
    x = np.round(x[:, 0]) if FOLD_SCHEMES[name].needs == "values" else x
    folds = {FOLD_SCHEMES[name](seed=seed).assign(x, y, sources).tobytes() for seed in range(4)}
    assert (len(folds) == 1) == (name == "leave_one_group_out")


def test_schemes_do_not_deal_from_the_same_random_numbers():
    y = np.zeros(40, dtype=int)
    dealt = [FOLD_SCHEMES[name]().assign(None, y, y) for name in ("random_folds", "stratified_folds")]
    dealt.append(SourceInclusiveFolds().assign(None, y, y))
    assert len({folds.tobytes() for folds in dealt}) == 3
