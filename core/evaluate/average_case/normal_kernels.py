"""The loops of the normal distribution function, compiled. Importing this imports numba.

The integral is Genz's (1992): with the Cholesky factor of the correlations, the probability becomes an integral over
the unit cube, variable after variable. Reordering puts the most binding variable outside (Genz & Bretz 2009, section
4.1.3); a variable that the ones before it determine adds a limit to the last of them (Genz & Kwong 2000).
"""

from math import erfc, exp, inf, log, pi, sqrt
from typing import no_type_check

import numpy as np
from numba import njit

SINGULAR = 1e-10
"""A variance, of 1, that the variables before it leave and that is below this counts as none."""
BLOCK = 32
"""Points that are integrated side by side, so that products run on whole vectors."""
FARTHEST = 40.0
"""Beyond this a standard normal has no probability that a float can hold."""

# Wichura (1988), AS 241: numerators and denominators by rising powers, for the middle, the tails and the far tails.
_MIDDLE = np.array(
    [
        [3.3871328727963666080e0, 1.0],
        [1.3314166789178437745e2, 4.2313330701600911252e1],
        [1.9715909503065514427e3, 6.8718700749205790830e2],
        [1.3731693765509461125e4, 5.3941960214247511077e3],
        [4.5921953931549871457e4, 2.1213794301586595867e4],
        [6.7265770927008700853e4, 3.9307895800092710610e4],
        [3.3430575583588128105e4, 2.8729085735721942674e4],
        [2.5090809287301226727e3, 5.2264952788528545610e3],
    ]
)
_TAIL = np.array(
    [
        [1.42343711074968357734e0, 1.0],
        [4.63033784615654529590e0, 2.05319162663775882187e0],
        [5.76949722146069140550e0, 1.67638483018380384940e0],
        [3.64784832476320460504e0, 6.89767334985100004550e-1],
        [1.27045825245236838258e0, 1.48103976427480074590e-1],
        [2.41780725177450611770e-1, 1.51986665636164571966e-2],
        [2.27238449892691845833e-2, 5.47593808499534494600e-4],
        [7.74545014278341407640e-4, 1.05075007164441684324e-9],
    ]
)
_FAR = np.array(
    [
        [6.65790464350110377720e0, 1.0],
        [5.46378491116411436990e0, 5.99832206555887937690e-1],
        [1.78482653991729133580e0, 1.36929880922735805310e-1],
        [2.96560571828504891230e-1, 1.48753612908506148525e-2],
        [2.65321895265761230930e-2, 7.86869131145613259100e-4],
        [1.24266094738807843860e-3, 1.84631831751005468180e-5],
        [2.71155556874348757815e-5, 1.42151175831644588870e-7],
        [2.01033439929228813265e-7, 2.04426310338993978564e-15],
    ]
)


@njit(cache=True, nogil=True)
@no_type_check
def cdf(x):
    """P(X <= x) of a standard normal X."""
    return 0.5 * erfc(-x * 0.7071067811865476)


@njit(cache=True, nogil=True)
@no_type_check
def quantile(p):
    """The x with P(X <= x) = p, to about 16 digits (Wichura 1988, AS 241)."""
    if p <= 0.0 or p >= 1.0:
        return inf if p > 0.5 else -inf
    q = p - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(_MIDDLE, 0.180625 - q * q)
    r = sqrt(-log(min(p, 1.0 - p)))
    x = _ratio(_TAIL, r - 1.6) if r <= 5.0 else _ratio(_FAR, r - 5.0)
    return x if q > 0.0 else -x


@njit(cache=True, nogil=True)
@no_type_check
def _ratio(coefficients, r):
    above = below = 0.0
    for power in range(7, -1, -1):
        above = above * r + coefficients[power, 0]
        below = below * r + coefficients[power, 1]
    return above / below


@njit(cache=True, nogil=True)
@no_type_check
def factor(limits, correlation):
    """Reorder the variables and factor their correlations.

    Returns `rows` (which variable each row of the factor is), `lower` (its rows), `last` (the column whose variable a
    row's limit binds: its own, or the last that determines it; never falling) and the rank, the number of columns.
    """
    k = len(limits)
    rows = np.arange(k)
    lower = np.zeros((k, k))
    last = np.full(k, -1)
    left = np.ones(k)  # the variance of each row that the columns so far do not explain
    mean = np.zeros(k)  # of each row, given the expected values of the variables so far
    n_placed = rank = 0
    while n_placed < k:
        best, lowest = -1, inf
        for i in range(n_placed, k):
            if left[i] > SINGULAR:
                bound = (limits[rows[i]] - mean[i]) / sqrt(left[i])
                if bound < lowest or best < 0:
                    best, lowest = i, bound
        if best < 0:
            break
        _swap(rows, lower, left, mean, n_placed, best)
        pivot = sqrt(left[n_placed])
        lower[n_placed, rank] = pivot
        last[n_placed] = rank
        p = cdf(lowest)
        expected = -exp(-0.5 * lowest * lowest) / (sqrt(2.0 * pi) * p) if p > 1e-280 else lowest
        for i in range(n_placed + 1, k):
            value = correlation[rows[i], rows[n_placed]]
            for column in range(rank):
                value -= lower[i, column] * lower[n_placed, column]
            value /= pivot
            lower[i, rank] = value
            left[i] -= value * value
            mean[i] += value * expected
        n_placed += 1
        rank += 1
        # What is determined now is placed at once: its limit binds the column that completes it.
        for i in range(n_placed, k):
            if left[i] <= SINGULAR:
                _swap(rows, lower, left, mean, n_placed, i)
                last[n_placed] = rank - 1
                n_placed += 1
    return rows, lower, last, rank


@njit(cache=True, nogil=True)
@no_type_check
def _swap(rows, lower, left, mean, i, j):
    rows[i], rows[j] = rows[j], rows[i]
    left[i], left[j] = left[j], left[i]
    mean[i], mean[j] = mean[j], mean[i]
    for column in range(lower.shape[1]):
        lower[i, column], lower[j, column] = lower[j, column], lower[i, column]


@njit(cache=True, nogil=True)
@no_type_check
def missed(limits, lower, last, rank, points, shift, first, stop):
    """Sum, over the points `first:stop`, the probability that some limit is broken: 1 - p, so that p near 1 is exact.

    `points` are 32-bit integers of a Sobol sequence, `shift` a random one per dimension that is XORed to them.
    """
    k = len(limits)
    y = np.zeros((rank, BLOCK))
    inside = np.empty(BLOCK)
    broken = np.empty(BLOCK)
    low, high, reached = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    total = 0.0
    for start in range(first, stop, BLOCK):
        n = min(BLOCK, stop - start)
        inside[:] = 1.0
        broken[:] = 0.0
        row = 0
        for column in range(rank):
            low[:] = -inf
            high[:] = inf
            while row < k and last[row] <= column:
                _narrow(limits[row], lower[row], last[row], y, low, high, reached)
                row += 1
            final = column == rank - 1
            for b in range(n):
                below = cdf(low[b]) if low[b] > -inf else 0.0
                # The upper tail as a cdf of its own, not 1 - cdf(high): that would lose a small probability.
                outside = below + cdf(-high[b])
                # Limits that exclude each other leave nothing inside.
                if low[b] >= high[b]:
                    outside = 1.0
                # Summed as what is lost at each step (Genz 1992 multiplies what is left): exact where p is near 1.
                broken[b] += inside[b] * outside
                inside[b] *= 1.0 - outside
                if not final:
                    u = (np.uint32(points[start + b, column] ^ shift[column]) + 0.5) * 2.3283064365386963e-10
                    y[column, b] = max(min(quantile(below + u * (1.0 - outside)), high[b], FARTHEST), -FARTHEST)
        for b in range(n):
            total += broken[b]
    return total


@njit(cache=True, nogil=True)
@no_type_check
def _narrow(limit, weights, column, y, low, high, reached):
    """Narrow the interval of one variable by a row's limit, given the variables before it."""
    reached[:] = limit
    for before in range(column):
        weight = weights[before]
        if weight != 0.0:
            for b in range(BLOCK):
                reached[b] -= weight * y[before, b]
    weight = weights[column]
    for b in range(BLOCK):
        if weight > 0.0:
            high[b] = min(high[b], reached[b] / weight)
        elif weight < 0.0:
            low[b] = max(low[b], reached[b] / weight)
        elif reached[b] < 0.0:
            high[b] = -inf


@njit(cache=True, nogil=True)
@no_type_check
def integrate(limits, correlations, points, shifts, tolerance, errors, n_first, broken, error, rank):
    """Write for each vector the probability that a limit is broken, its error, and the rank of its correlations.

    Every replicate uses the same points, shifted by its row of `shifts`; their number doubles until `errors` standard
    errors of the replicates' mean are at most the vector's `tolerance`, or the points are used up.
    """
    n_replicates = len(shifts)
    sums = np.empty(n_replicates)
    for i in range(len(limits)):
        rows, lower, last, rank[i] = factor(limits[i], correlations[i])
        ordered = limits[i][rows]
        sums[:] = 0.0
        done, target = 0, n_first
        while True:
            for replicate in range(n_replicates):
                sums[replicate] += missed(ordered, lower, last, rank[i], points, shifts[replicate], done, target)
            done = target
            means = sums / done
            broken[i] = means.mean()
            error[i] = errors * sqrt(((means - broken[i]) ** 2).sum() / (n_replicates * (n_replicates - 1)))
            if error[i] <= tolerance[i] or 2 * done > len(points):
                break
            target = 2 * done
