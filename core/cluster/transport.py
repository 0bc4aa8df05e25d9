"""Which cluster does each sample go to, if every cluster takes a given number of each label? (Wecker et al. 2020, 3.3)

The paper swaps pairs of samples for as long as that helps. Here the question is answered exactly: for each label it is
a transportation problem with one sink per cluster, whose dual has one price per sink.
"""

import numpy as np
from jaxtyping import Float, Integer

from core.cluster import kernels


def assign_exactly(
    cost: Float[np.ndarray, "n_samples n_clusters"],
    codes: Integer[np.ndarray, " n_samples"],
    quotas: Integer[np.ndarray, "n_labels n_clusters"],
) -> Integer[np.ndarray, " n_samples"]:
    """Give each sample a cluster, `quotas[label, cluster]` of them each, so that the sum of their costs is least.

    `codes` are the samples' labels as positions in `quotas`, whose rows must sum to how often each label occurs.
    Equal input gives equal output, also among several assignments of the same cost.

    Examples
    --------
    >>> cost = np.array([[0.0, 9.0], [0.0, 1.0], [0.0, 5.0]])
    >>> assign_exactly(cost, np.zeros(3, int), np.array([[1, 2]]))
    array([0, 1, 1])
    """
    order = np.argsort(codes, kind="stable")
    first = first_of_each(quotas.sum(axis=1))
    sink = np.zeros(len(cost), dtype=np.int32)
    prices = np.zeros(quotas.shape)
    kernels.assign_labels(cost[order].astype(np.float64), first, quotas.astype(np.int64), prices, sink)
    found = np.empty(len(cost), dtype=np.int64)
    found[order] = sink
    return found


def first_of_each(counts: Integer[np.ndarray, " n_labels"]) -> Integer[np.ndarray, " n_ends"]:
    """Give the position of the first row of each label, and the number of rows, where rows are sorted by label.

    Examples
    --------
    >>> first_of_each(np.array([3, 1]))
    array([0, 3, 4])
    """
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
