"""Two other ways to the same optimum: a slow one in plain NumPy, and scipy's for problems with one sink per item."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from touchstone.core.cluster.quota_assignment import assign
from touchstone.core.cluster.quotas import first_of_each


def assigned(cost: np.ndarray, quotas: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """Ours, for items sorted by label; without `prices` it starts cold."""
    sink = np.empty(len(cost), dtype=np.int32)
    prices = np.zeros(quotas.shape) if prices is None else prices
    first = first_of_each(quotas.sum(axis=1))
    for label, quota in enumerate(quotas):
        own = slice(first[label], first[label + 1])
        assign(cost[own].T.copy(), quota, prices[label], sink[own])
    return sink


def twin(cost: np.ndarray, quota: np.ndarray) -> np.ndarray:
    """One label: from any assignment that meets the quota, cancel negative cycles between sinks until none is left."""
    n_sinks = len(quota)
    sink = np.repeat(np.arange(n_sinks), quota)
    items = np.arange(len(cost))
    while True:
        lost = cost - cost[items, sink][:, None]
        loss, nearest = np.full((n_sinks, n_sinks), np.inf), np.zeros((n_sinks, n_sinks), dtype=int)
        for u in np.unique(sink):
            members = items[sink == u]
            nearest[u] = members[lost[members].argmin(axis=0)]
            loss[u] = lost[members].min(axis=0)
        cycle = negative_cycle(loss)
        if not cycle:
            return sink
        for u, v in zip(cycle, np.roll(cycle, -1), strict=True):
            sink[nearest[u, v]] = v


def negative_cycle(loss: np.ndarray) -> list[int]:
    """Bellman-Ford with all sinks as starts; [] where no cycle loses less than nothing."""
    n_sinks = len(loss)
    distance, came_from = np.zeros(n_sinks), np.full(n_sinks, -1)
    for _ in range(n_sinks + 1):
        through = distance[:, None] + loss
        best = through.argmin(axis=0)
        shorter = through[best, range(n_sinks)] < distance - 1e-12
        if not shorter.any():
            return []
        distance[shorter] = through[best, range(n_sinks)][shorter]
        came_from[shorter] = best[shorter]
    at = int(np.flatnonzero(shorter)[0])
    for _ in range(n_sinks):
        at = int(came_from[at])
    cycle = [at]
    while came_from[cycle[-1]] != at:
        cycle.append(int(came_from[cycle[-1]]))
    return cycle[::-1]


def least_cost(cost: np.ndarray, quotas: np.ndarray) -> float:
    """The optimum by scipy, label by label, each sink copied as often as its quota says."""
    total, start = 0.0, 0
    for quota in quotas:
        own = cost[start : start + quota.sum()][:, np.repeat(np.arange(len(quota)), quota)]
        total += own[linear_sum_assignment(own)].sum()
        start += len(own)
    return total
