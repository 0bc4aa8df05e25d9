"""What do pairs of coordinates tell of the probability that any of them exceeds its limit?

From the single and pairwise probabilities alone the union lies between the bound of Dawson and Sankoff (1967) and that
of Hunter (1976) and Worsley (1982); where limits are seldom broken, the two are close.
"""

import numpy as np
from jaxtyping import Float


def bivariate_tail(
    h: Float[np.ndarray, "*shape"], k: Float[np.ndarray, "*shape"], rho: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """P(X > h, Y > k) of two standard normals with correlation `rho`, from Owen's T function (Owen 1956).

    Examples
    --------
    >>> bivariate_tail(np.array([0.0]), np.array([0.0]), np.array([0.5])).round(6)
    array([0.333333])
    """
    from scipy.special import ndtr, owens_t

    # P(X > h, Y > k) = P(X <= -h, Y <= -k); the formula is for lower limits that are not 0.
    x, y = (np.where(np.abs(limit) < 1e-300, 1e-300, -limit) for limit in (h, k))
    across = np.sqrt(np.maximum((1.0 - rho) * (1.0 + rho), 1e-300))
    with np.errstate(over="ignore"):
        to_y, to_x = (y / x - rho) / across, (x / y - rho) / across
    opposite = np.where((x < 0) != (y < 0), 0.5, 0.0)
    tail = 0.5 * (ndtr(x) + ndtr(y)) - owens_t(x, to_y) - owens_t(y, to_x) - opposite
    return np.clip(tail, 0.0, np.minimum(ndtr(x), ndtr(y)))


def bounds_from_pairs(
    alone: Float[np.ndarray, "batch m"], b: Float[np.ndarray, "batch m"], r: Float[np.ndarray, "batch m m"]
) -> tuple[Float[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """Lower and upper bounds of the probability that some coordinate exceeds its limit in `b`.

    `alone` are the probabilities P(X_i > b_i), `r` the correlations.

    Examples
    --------
    >>> low, high = bounds_from_pairs(np.full((1, 3), 0.0228), np.full((1, 3), 2.0), np.eye(3)[None])
    >>> bool(low[0] <= 1 - (1 - 0.0228) ** 3 <= high[0])
    True
    """
    n, m = alone.shape
    first, second = np.triu_indices(m, 1)
    both = np.zeros((n, m, m))
    both[:, first, second] = bivariate_tail(b[:, first], b[:, second], r[:, first, second])
    both += both.transpose(0, 2, 1)
    once, twice = alone.sum(axis=1), both.sum(axis=(1, 2)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        j = 1.0 + np.floor(np.where(once > 0, 2.0 * twice / once, 0.0))
    low = np.maximum(2.0 / (j + 1.0) * once - 2.0 / (j * (j + 1.0)) * twice, alone.max(axis=1))
    high = np.minimum(once - _heaviest_tree(both), 1.0)
    return low, np.maximum(high, low)


def _heaviest_tree(weights: Float[np.ndarray, "batch m m"]) -> Float[np.ndarray, " batch"]:
    """The weight of the heaviest spanning tree of each graph (Prim's algorithm, all graphs at once)."""
    n, m, _ = weights.shape
    all_, reach = np.arange(n), weights[:, 0].copy()
    reach[:, 0] = -1.0
    total = np.zeros(n)
    for _ in range(m - 1):
        nearest = reach.argmax(axis=1)
        total += reach[all_, nearest]
        grown = np.maximum(reach, weights[all_, nearest])
        reach = np.where(reach < 0, reach, grown)
        reach[all_, nearest] = -1.0
    return total
