import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.cluster.quotas import checked_quotas, share_out, spread_quotas, weighted_quotas
from touchstone.core.data.errors import DataError


@given(
    n_per_label=st.lists(st.integers(1, 60), min_size=1, max_size=30),
    n_clusters=st.integers(2, 20),
    seed=st.none() | st.integers(0, 100),
)
def test_every_label_is_spread_evenly_and_so_are_the_sizes(n_per_label, n_clusters, seed):
    rng = None if seed is None else np.random.default_rng(seed)
    counts = np.array(n_per_label)
    quotas = spread_quotas(counts, n_clusters, rng=rng)
    np.testing.assert_array_equal(quotas.sum(axis=1), counts)
    assert (quotas >= counts[:, None] // n_clusters).all()
    assert (quotas <= -(-counts[:, None] // n_clusters)).all()
    sizes = quotas.sum(axis=0)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_clusters", range(2, 21))
def test_every_cluster_gets_the_extras_equally_often(n_clusters):
    counts = np.array([n_clusters + 1, 2 * n_clusters + 1])
    rng = np.random.default_rng(0)
    extras = sum(spread_quotas(counts, n_clusters, rng=rng) - [[1], [2]] for _ in range(4000))
    expected = 4000 / n_clusters
    assert (abs(extras - expected) < 5 * np.sqrt(expected)).all()


@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=20).filter(any),
    percent=st.integers(0, 100),
    seed=st.integers(0, 99),
)
def test_a_share_is_rounded_down_or_up_and_no_more_than_there_is(weights, percent, seed):
    given_out = np.array(weights, dtype=float)
    n = int(given_out.sum()) * percent // 100
    shares = share_out(given_out, n, rng=np.random.default_rng(seed))
    exact = given_out * (n / given_out.sum())
    assert shares.sum() == n
    assert (abs(shares - exact) < 1 + 1e-9).all()
    assert (shares <= given_out).all()


@pytest.mark.parametrize("seed", range(200))
def test_half_a_sample_of_every_label_never_leaves_a_cluster_empty(seed):
    n_per_label = np.array([59, 71, 48])
    weights = {label: (n / 2, n / 2 - 0.5, 0.5) for label, n in enumerate(n_per_label.tolist())}
    quotas = weighted_quotas(n_per_label, weights, 3, rng=np.random.default_rng(seed))
    assert quotas.any(axis=0).all()
    assert (quotas.sum(axis=1) == n_per_label).all()
    wanted = np.array(list(weights.values()))
    assert (np.abs(quotas - wanted) < 1).all()


@pytest.mark.parametrize(
    ("quotas", "says"),
    [
        ([[1, 4], [2, 1]], "ask for 3 samples of label 'spam', but it has 4. Its row must sum to 4."),
        ([[1, 4], [2, 3]], "ask for 5 samples of label 'spam'"),
        ([[1, 4, 0], [2, 2, 0]], r"the shape \(2, 3\), not \(2, 2\): give one row per label"),
        ([[1, 4]], r"the shape \(1, 2\), not \(2, 2\)"),
        ([[1, 4], [2]], "a table of counts, with 2 in every row"),
        ([[-1, 6], [2, 2]], "whole numbers, 0 or more"),
        ([[0.5, 4.5], [2, 2]], "whole numbers, 0 or more"),
        ([[np.nan, 5], [2, 2]], "whole numbers, 0 or more"),
        ([[np.inf, 5], [2, 2]], "whole numbers, 0 or more"),
        ([["1", "4"], ["2", "2"]], "whole numbers, 0 or more"),
        ([[0, 5], [0, 4]], "leave cluster 0 without any sample"),
    ],
)
def test_quotas_that_cannot_be_met_are_refused(quotas, says):
    with pytest.raises(DataError, match=says):
        checked_quotas(quotas, np.array([5, 4]), 2, names=["ham", "spam"])


def test_without_labels_quotas_are_sizes():
    np.testing.assert_array_equal(checked_quotas([2.0, 7.0], np.array([9]), 2), [[2, 7]])
    with pytest.raises(DataError, match=r"ask for 8 samples, but there are 9. They must sum to 9."):
        checked_quotas([1, 7], np.array([9]), 2)
    with pytest.raises(DataError, match="give 2 sizes"):
        checked_quotas([1, 7, 1], np.array([9]), 2)
