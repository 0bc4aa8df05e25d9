"""How probable is it that no coordinate of a normal vector exceeds its limit? (Han et al. 2024, proposition 1)

The analytic estimators of average-case robustness end in this question, once per sample. Each vector gets the cheapest
answer that is good enough: closed forms, Fréchet's bounds, bounds from pairs of coordinates, and then Genz's integral
by randomised quasi-Monte Carlo, with as many points as the wanted tolerance needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.average_case.class_means import bivariate_tail, bounds_from_pairs

N_REPLICATES = 12
ERRORS = 4.0
"""The reported error in standard errors of the replicates' mean. Three would be exceeded in 1.2 % at a number of points
fixed beforehand, and in about 1.7 % as points are added until the error looks small; four are in under 1 %."""
N_FIRST, N_FEW = 32, 1024
"""Most vectors are done with few points: a sequence four times as long is only made where these did not do."""
PRUNED_SHARE = 0.1
"""The part of the tolerance that may be spent on leaving out coordinates that hardly ever exceed their limits."""
NO_VARIANCE = 1e-14
"""A variance below this share of the vector's largest is rounding."""
MOST_FOR_PAIRS = 0.5
"""Where limits are broken more often than this in sum, bounds from pairs are too wide to be worth their while."""
MOST_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class NormalProbability:
    """Probabilities `p`, bounds of their numerical `error`, and whether that `converged` to the wanted tolerance.

    `degenerate` marks vectors of which a coordinate does not vary, or is determined by others where that was met.
    """

    p: Float[np.ndarray, " batch"]
    error: Float[np.ndarray, " batch"]
    converged: Bool[np.ndarray, " batch"]
    degenerate: Bool[np.ndarray, " batch"]


def mvn_cdf(
    z: Float[np.ndarray, "batch k"],
    cov: Float[np.ndarray, "batch k k"],
    *,
    tol: float = 1e-3,
    max_points: int = 2**14,
    seed: int = 0,
) -> NormalProbability:
    """P(X_1 <= z_1, ..., X_k <= z_k) for X normal with mean zero and covariance `cov`, for each vector of a batch.

    A coordinate without variance keeps or breaks its limit for sure; covariances may be singular, limits infinite.
    `max_points` bounds the points of each of the 12 replicates; a vector that needs more has `converged` False.
    A vector that is not numbers has p NaN. The same `seed` gives the same answer, whatever else is in the batch.

    Examples
    --------
    >>> found = mvn_cdf(np.zeros((1, 3)), np.eye(3)[None])
    >>> bool(abs(found.p[0] - 1 / 8) < 1e-3), bool(found.converged[0])
    (True, True)
    """
    from scipy.special import ndtr

    z, cov = np.asarray(z, dtype=np.float64), np.asarray(cov, dtype=np.float64)
    n, k = z.shape
    broken, error = np.zeros(n), np.zeros(n)
    unknown = np.isnan(z).any(axis=1) | ~np.isfinite(cov).all(axis=(1, 2))
    variance = np.diagonal(cov, axis1=1, axis2=2)
    fixed = ~(variance > NO_VARIANCE * variance.max(axis=1, keepdims=True, initial=0.0))
    scale = np.sqrt(np.where(fixed, 1.0, variance))
    limits = np.where(fixed, np.inf, z / scale)
    impossible = (fixed & (z < 0)).any(axis=1) | (limits == -np.inf).any(axis=1)
    exceeds = np.where(np.isfinite(limits), ndtr(-limits), 0.0)
    broken[impossible] = 1.0
    degenerate = fixed.any(axis=1) | unknown

    # Bonferroni: what is left out breaks its limit with at most the sum of its probabilities.
    order = np.argsort(exceeds, axis=1)
    ascending = np.take_along_axis(exceeds, order, axis=1)
    n_out = (np.cumsum(ascending, axis=1) <= PRUNED_SHARE * tol).sum(axis=1)
    left_out = np.where(np.arange(k) < n_out[:, None], ascending, 0.0).sum(axis=1)
    open_ = ~(impossible | unknown)
    for rows, n_kept in _groups(open_, k - n_out):
        kept = order[rows, k - n_kept :]
        b = np.take_along_axis(limits[rows], kept, axis=1)
        of_kept = scale[rows[:, None], kept]
        r = cov[rows[:, None, None], kept[:, :, None], kept[:, None, :]] / (of_kept[:, :, None] * of_kept[:, None, :])
        union, wrong, singular = _union(b, np.clip(r, -1.0, 1.0), tol - left_out[rows] / 2, max_points, seed)
        broken[rows] = np.minimum(union + left_out[rows] / 2, 1.0)
        error[rows] = wrong + left_out[rows] / 2
        degenerate[rows] |= singular
    broken[unknown], error[unknown] = np.nan, np.inf
    return NormalProbability(1.0 - broken, error, error <= tol, degenerate)


def _groups(
    open_: Bool[np.ndarray, " batch"], n_kept: Integer[np.ndarray, " batch"]
) -> Iterator[tuple[Integer[np.ndarray, " rows"], int]]:
    """Vectors with the same number of coordinates, at most so many at once that their pairs fit into MOST_PAIRS."""
    for n in np.unique(n_kept[open_]).tolist():
        rows = np.flatnonzero(open_ & (n_kept == n))
        step = max(1, MOST_PAIRS // max(1, n * n))
        yield from ((rows[at : at + step], n) for at in range(0, len(rows), step))


def _union(
    b: Float[np.ndarray, "batch m"],
    r: Float[np.ndarray, "batch m m"],
    tolerance: Float[np.ndarray, " batch"],
    max_points: int,
    seed: int,
) -> tuple[Float[np.ndarray, " batch"], Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
    """The probability that some coordinate exceeds its limit, its error, and whether a singularity was met."""
    from scipy.special import ndtr

    n, m = b.shape
    error, singular = np.zeros(n), np.zeros(n, dtype=bool)
    if m == 0:
        return np.zeros(n), error, singular
    alone = ndtr(-b)
    if m == 1:
        return alone[:, 0], error, singular
    if m == 2:
        return alone.sum(axis=1) - bivariate_tail(b[:, 0], b[:, 1], r[:, 0, 1]), error, singular
    low, high = alone.max(axis=1), np.minimum(alone.sum(axis=1), 1.0)
    few = np.flatnonzero((high - low > 2 * tolerance) & (alone.sum(axis=1) < MOST_FOR_PAIRS))
    low[few], high[few] = bounds_from_pairs(alone[few], b[few], r[few])
    middle, error = (low + high) / 2, (high - low) / 2
    rest = np.flatnonzero(error > tolerance)
    if len(rest):
        p, wrong, rank = _integrated(b[rest], r[rest], tolerance[rest], max_points, seed)
        # The bounds hold for sure, and an estimate may stray beyond them.
        middle[rest], error[rest], singular[rest] = np.clip(p, low[rest], high[rest]), wrong, rank < m
    return middle, error, singular


def _integrated(
    b: Float[np.ndarray, "batch m"],
    r: Float[np.ndarray, "batch m m"],
    tolerance: Float[np.ndarray, " batch"],
    max_points: int,
    seed: int,
) -> tuple[Float[np.ndarray, " batch"], Float[np.ndarray, " batch"], Integer[np.ndarray, " batch"]]:
    """The probability that some limit is broken, its error, and the rank of the correlations, by Genz's integral."""
    from touchstone.core.evaluate.average_case.normal_kernels import integrate

    n, m = b.shape
    p, wrong, rank = np.full(n, 0.5), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    sums, done = np.zeros((n, N_REPLICATES)), np.zeros(n, dtype=np.int64)
    most, left = min(N_FEW, max_points), np.arange(n)
    while True:
        points, shifts = _points(m, most, seed)
        parts = [whole[left] for whole in (sums, done, p, wrong, rank)]
        integrate(b[left], r[left], points, shifts, tolerance[left], ERRORS, N_FIRST, *parts)
        for whole, part in zip((sums, done, p, wrong, rank), parts, strict=True):
            whole[left] = part
        left = np.flatnonzero(wrong > tolerance)
        if most == max_points or not len(left):
            return p, wrong, rank
        most = min(4 * most, max_points)


@lru_cache(maxsize=8)
def _points(
    n_dimensions: int, n_points: int, seed: int
) -> tuple[Integer[np.ndarray, "d n"], Integer[np.ndarray, "r d"]]:
    """A scrambled Sobol sequence as 32-bit integers, a row per dimension, and a random shift for each replicate."""
    from scipy.stats import qmc

    rng = np.random.default_rng([seed, n_dimensions])
    sobol = qmc.Sobol(n_dimensions, scramble=True, bits=32, rng=rng)
    points = np.multiply(sobol.random(n_points).T, 2.0**32, order="C").astype(np.uint32)
    return points, rng.integers(2**32, size=(N_REPLICATES, n_dimensions), dtype=np.uint32)
