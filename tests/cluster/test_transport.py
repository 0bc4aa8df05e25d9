import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cluster.transport_oracle import assigned, least_cost, twin
from touchstone.core.cluster.quota_assignment import balance, repair

KINDS = ("smooth", "ties", "copies", "far apart")


def problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Costs and quotas of a few labels, some of them rare; quotas from even to very uneven, many of them zero."""
    rng = np.random.default_rng(seed)
    n_sinks = 2 + seed % 19
    n_per_label = np.where(rng.random(5) < 0.4, rng.integers(1, 4, 5), rng.integers(1, 80, 5))
    evenness = [0.1, 1.0, 10.0][seed % 3]
    shares = rng.dirichlet(np.full(n_sinks, evenness), 5)
    quotas = np.array([rng.multinomial(n, share) for n, share in zip(n_per_label, shares, strict=True)])
    cost = rng.normal(size=(n_per_label.sum(), n_sinks))
    kind = KINDS[seed % 4]
    if kind == "ties":
        cost = np.round(cost)
    elif kind == "copies":
        cost = cost[rng.integers(0, 5, len(cost))]
    elif kind == "far apart":
        cost += 100 * rng.normal(size=n_sinks) * rng.random((len(cost), 1))
    return cost, quotas


def counts(sink: np.ndarray, quotas: np.ndarray) -> np.ndarray:
    label = np.repeat(np.arange(len(quotas)), quotas.sum(axis=1))
    found = np.zeros_like(quotas)
    np.add.at(found, (label, sink), 1)
    return found


@pytest.mark.parametrize("first_seed", range(0, 400, 40))
def test_four_hundred_assignments_cost_what_scipy_says_they_must(first_seed):
    for seed in range(first_seed, first_seed + 40):
        cost, quotas = problem(seed)
        sink = assigned(cost, quotas)
        np.testing.assert_array_equal(counts(sink, quotas), quotas)
        assert cost[np.arange(len(cost)), sink].sum() == pytest.approx(least_cost(cost, quotas), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_a_slow_twin_finds_assignments_of_the_same_cost(seed):
    cost, quotas = problem(seed)
    ours = assigned(cost, quotas)
    start = 0
    for quota in quotas:
        rows = np.arange(start, start + quota.sum())
        theirs = twin(cost[rows], quota)
        assert cost[rows, ours[rows]].sum() == pytest.approx(cost[rows, theirs].sum(), abs=1e-9)
        start += len(rows)


@given(
    seed=st.integers(0, 10_000),
    warmth=st.sampled_from([0.0, 0.1, 1e3, 1e9]),
    scale=st.sampled_from([1e-200, 1e-9, 1.0, 1e12]),
)
@settings(max_examples=150)
def test_quotas_are_met_and_the_cost_is_least_wherever_prices_begin(seed, warmth, scale):
    cost, quotas = problem(seed)
    cost *= scale
    prices = np.random.default_rng(seed).normal(size=quotas.shape) * warmth * scale
    sink = assigned(cost, quotas, prices)
    np.testing.assert_array_equal(counts(sink, quotas), quotas)
    error = cost[np.arange(len(cost)), sink].sum() - least_cost(cost, quotas)
    assert abs(error) <= scale * 1e-9 * max(1.0, warmth)


@pytest.mark.parametrize("seed", range(12))
def test_the_prices_that_come_out_prove_that_the_cost_is_least(seed):
    """At those prices no item would rather be elsewhere, so that no other assignment can cost less (duality)."""
    cost, quotas = problem(seed)
    prices = np.zeros(quotas.shape)
    sink = assigned(cost, quotas, prices)
    label = np.repeat(np.arange(len(quotas)), quotas.sum(axis=1))
    at_prices = np.where(quotas[label] > 0, cost + prices[label], np.inf)
    np.testing.assert_allclose(at_prices[np.arange(len(cost)), sink], at_prices.min(axis=1), rtol=0, atol=1e-9)


def test_among_equally_cheap_assignments_it_is_always_the_same_one():
    cost, quotas = np.zeros((1000, 7)), np.array([[100, 0, 300, 200, 0, 399, 1]])
    np.testing.assert_array_equal(assigned(cost, quotas), assigned(cost, quotas))
    np.testing.assert_array_equal(counts(assigned(cost, quotas), quotas), quotas)


@pytest.mark.parametrize("n_sinks", [20, 60, 150])
def test_one_label_among_many_sinks_is_nearly_settled_by_prices_and_wholly_at_least_cost(n_sinks):
    """A label lies in one corner, most sinks in others: what they attract at first says nothing of the right prices."""
    rng = np.random.default_rng(n_sinks)
    x, centers = rng.normal(size=(600, 4)), 2 * rng.normal(size=(n_sinks, 4))
    cost = ((x[:, None] - centers) ** 2).sum(axis=2)
    quotas = np.bincount(np.arange(600) % n_sinks)[None]
    at_first = np.bincount(cost.argmin(axis=1), minlength=n_sinks)
    assert np.maximum(at_first - quotas[0], 0).sum() > 300
    left = balance(cost.T.copy(), quotas[0], np.zeros(n_sinks), np.empty(600, dtype=np.int32), np.empty(600))
    assert left < 60
    sink = assigned(cost, quotas)
    np.testing.assert_array_equal(counts(sink, quotas), quotas)
    assert cost[np.arange(600), sink].sum() == pytest.approx(least_cost(cost, quotas), rel=1e-9)


def test_a_path_beyond_the_budget_is_left_to_all_items():
    """Two items too many in one sink: the first may move among the least decided ones, the second only at more."""
    cost = np.array([[0.0, 0.0, 0.0, 5.0], [1.0, 2.0, 9.0, 0.0]])
    prices, sink, margin = np.zeros(2), np.array([0, 0, 0, 1], dtype=np.int32), np.array([1.0, 2.0, 9.0, 5.0])
    assert not repair(cost, np.array([1, 3]), prices, sink, margin, 1.5)
    assert (sink.tolist(), prices.tolist()) == ([1, 0, 0, 1], [0.0, -1.0])
    assert repair(cost, np.array([1, 3]), prices, sink, margin, np.inf)
    assert (sink.tolist(), prices.tolist()) == ([1, 1, 0, 1], [0.0, -2.0])
