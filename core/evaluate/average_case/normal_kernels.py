"""The loops of the normal distribution function, compiled. Importing this imports numba.

The integral is Genz's (1992): with the Cholesky factor of the correlations, the probability becomes an integral over
the unit cube, variable after variable. Reordering puts the most binding variable outside (Genz & Bretz 2009, section
4.1.3); a variable that the ones before it determine adds a limit to the last of them (Genz & Kwong 2000).

Nearly all time goes into the distribution function and its inverse. The library's are calls that LLVM cannot make for
several points at once; those here have no branch and call nothing, so that loops over points run on whole vectors.
"""

from math import exp, inf, pi, sqrt
from typing import no_type_check

import numpy as np
from numba import njit

SINGULAR = 1e-10
"""A variance, of 1, that the variables before it leave and that is below this counts as none."""
BLOCK = 128
"""Points that are integrated side by side, so that all of it runs on whole vectors."""
FARTHEST = 40.0
"""Beyond this a standard normal has no probability that a float can hold."""
ON_VECTORS = {"error_model": "numpy", "fastmath": {"contract"}}
"""What lets LLVM take several points at once: no branch for a division by zero; a product and a sum may be one step."""

# exp(x^2 / 2) P(X > x) as a ratio by rising powers: it goes through the true values at 20 Chebyshev nodes of [0, 9].
_TAIL = np.array(
    (
        (0.499999999999998437, 1.0),
        (0.755813533911021549, 2.30951162862462308),
        (0.567275959303057607, 2.47727559008515974),
        (0.270734472763450547, 1.62925459763027485),
        (0.0895841149038253402, 0.729728747801180129),
        (0.021216826560839407, 0.233408987884305858),
        (0.00359520170541618301, 0.0542339504680254312),
        (0.000421659950960447646, 0.00909027028929485263),
        (0.0000312914908769361179, 0.00105979181541122077),
        (1.13581160250731177e-6, 0.0000784361357425882167),
        (0.0, 2.84705747787317695e-6),
    )
)
# Wichura (1988), AS 241: for the middle of the quantile function, and for its tails.
_MIDDLE_OF_QUANTILE = np.array(
    (
        (3.3871328727963666080e0, 1.0),
        (1.3314166789178437745e2, 4.2313330701600911252e1),
        (1.9715909503065514427e3, 6.8718700749205790830e2),
        (1.3731693765509461125e4, 5.3941960214247511077e3),
        (4.5921953931549871457e4, 2.1213794301586595867e4),
        (6.7265770927008700853e4, 3.9307895800092710610e4),
        (3.3430575583588128105e4, 2.8729085735721942674e4),
        (2.5090809287301226727e3, 5.2264952788528545610e3),
    )
)
_TAIL_OF_QUANTILE = np.array(
    (
        (1.42343711074968357734e0, 1.0),
        (4.63033784615654529590e0, 2.05319162663775882187e0),
        (5.76949722146069140550e0, 1.67638483018380384940e0),
        (3.64784832476320460504e0, 6.89767334985100004550e-1),
        (1.27045825245236838258e0, 1.48103976427480074590e-1),
        (2.41780725177450611770e-1, 1.51986665636164571966e-2),
        (2.27238449892691845833e-2, 5.47593808499534494600e-4),
        (7.74545014278341407640e-4, 1.05075007164441684324e-9),
    )
)
_EXP = np.array([1.0 / n for n in (1.0, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600)])
_LOG = np.array([2.0 / n for n in range(1, 22, 2)])
_ROUND = 1.5 * 2.0**52
"""Added to a small number, this leaves it rounded to a whole one in the last bits."""
_LOG_2, _REST_OF_LOG_2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@njit(inline="always", **ON_VECTORS)
@no_type_check
def _ratio(coefficients, x):
    above = below = 0.0
    for power in range(len(coefficients) - 1, -1, -1):
        above = above * x + coefficients[power, 0]
        below = below * x + coefficients[power, 1]
    return above, below


@njit(inline="always", **ON_VECTORS)
@no_type_check
def _polynomial(coefficients, x):
    value = 0.0
    for power in range(len(coefficients) - 1, -1, -1):
        value = value * x + coefficients[power]
    return value


@njit(inline="always", **ON_VECTORS)
@no_type_check
def _exp(x):
    """exp(x) for -708 <= x <= 0: a power of two, written into the exponent's bits, times exp of what is left."""
    rounded = x * 1.4426950408889634 + _ROUND
    n = rounded - _ROUND
    power = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52).view(np.float64)
    return power * _polynomial(_EXP, (x - n * _LOG_2) - n * _REST_OF_LOG_2)


@njit(inline="always", **ON_VECTORS)
@no_type_check
def _log(x):
    """log(x) of a positive x: the exponent's bits, and a series in the mantissa, between the roots of 1/2 and of 2."""
    bits = np.float64(x).view(np.int64) - 0x3FE6A09E667F3BCD
    n = bits >> 52
    mantissa = np.int64((bits & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    return n * _LOG_2 + (s * _polynomial(_LOG, s * s) + n * _REST_OF_LOG_2)


@njit(inline="always", **ON_VECTORS)
@no_type_check
def sides(x):
    """P(X > x) and P(X <= x) of a standard normal X, the smaller of them to 14 digits (beyond 9 to 11)."""
    size = min(abs(x), 37.5)
    above, below = _ratio(_TAIL, size)
    tail = _exp(-0.5 * size * size) * above / below
    rest = 1.0 - tail
    return (tail, rest) if x > 0.0 else (rest, tail)


@njit(inline="always", **ON_VECTORS)
@no_type_check
def quantile(p):
    """The x with P(X <= x) = p, to 14 digits for p from 1e-11 on, and to 6 below (Wichura 1988, AS 241)."""
    q = p - 0.5
    r = sqrt(-_log(max(min(p, 1.0 - p), 1e-300)))
    middle, of_middle = _ratio(_MIDDLE_OF_QUANTILE, 0.180625 - q * q)
    tail, of_tail = _ratio(_TAIL_OF_QUANTILE, r - 1.6)
    central = abs(q) <= 0.425
    above = q * middle if central else (tail if q > 0.0 else -tail)
    return above / (of_middle if central else of_tail)


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
        _, p = sides(lowest)
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


@njit(cache=True, nogil=True, **ON_VECTORS)
@no_type_check
def missed(limits, weights, is_upper, last, rank, points, shift, first, stop):
    """Sum, over the points `first:stop`, the probability that some limit is broken: 1 - p, so that p near 1 is exact.

    `points` are 32-bit integers of a Sobol sequence, a row per dimension, `shift` a random one that is XORed to each
    row. Limits and weights are divided by the weight of the variable that the row binds.
    """
    y = np.zeros((rank, BLOCK))
    inside, broken = np.empty(BLOCK), np.empty(BLOCK)
    low, high, reached = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    below, outside, kept = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    total = 0.0
    for start in range(first, stop, BLOCK):
        n = min(BLOCK, stop - start)
        inside[:] = 1.0
        broken[:] = 0.0
        row = 0
        for column in range(rank):
            # The first row that binds a variable is its own, an upper limit; others are of variables it determines.
            _reach(limits[row], weights[row], column, n, y, high)
            row += 1
            if row == len(last) or last[row] > column:
                _up_to(n, high, below, outside, kept)
            else:
                low[:] = -inf
                while row < len(last) and last[row] == column:
                    _reach(limits[row], weights[row], column, n, y, reached)
                    _narrow(n, reached, is_upper[row], low, high)
                    row += 1
                _between(n, low, high, below, outside, kept)
            # Summed as what is lost at each step (Genz 1992 multiplies what is left): exact where p is near 1.
            for b in range(n):
                broken[b] += inside[b] * outside[b]
                inside[b] *= kept[b]
            if column < rank - 1:
                _draw(n, points[column], start, shift[column], below, kept, high, y[column])
        for b in range(n):
            total += broken[b]
    return total


@njit(cache=True, nogil=True, **ON_VECTORS)
@no_type_check
def _reach(limit, weights, column, n, y, reached):
    """What a row's limit leaves to the variable of `column`, given those before it."""
    reached[:] = limit
    whole = column - column % 8
    for at in range(0, whole, 8):  # several at a time, so that `reached` is seldom read and written
        w0, w1, w2, w3 = weights[at], weights[at + 1], weights[at + 2], weights[at + 3]
        w4, w5, w6, w7 = weights[at + 4], weights[at + 5], weights[at + 6], weights[at + 7]
        z = y[at : at + 8]
        for b in range(n):
            first = (w0 * z[0, b] + w1 * z[1, b]) + (w2 * z[2, b] + w3 * z[3, b])
            second = (w4 * z[4, b] + w5 * z[5, b]) + (w6 * z[6, b] + w7 * z[7, b])
            reached[b] -= first + second
    for before in range(whole, column):
        for b in range(n):
            reached[b] -= weights[before] * y[before, b]


@njit(cache=True, nogil=True, **ON_VECTORS)
@no_type_check
def _narrow(n, reached, is_upper, low, high):
    """Narrow the interval of one variable by a limit."""
    for b in range(n):
        if is_upper:
            high[b] = min(high[b], reached[b])
        else:
            low[b] = max(low[b], reached[b])


@njit(cache=True, nogil=True, **ON_VECTORS)
@no_type_check
def _up_to(n, high, below, outside, kept):
    """How probable it is to be above `high`, and not to be. The upper tail by itself: 1 - p would lose a small one."""
    for b in range(n):
        outside[b], kept[b] = sides(high[b])
        below[b] = 0.0


@njit(cache=True, nogil=True, **ON_VECTORS)
@no_type_check
def _between(n, low, high, below, outside, kept):
    """How probable it is to be below `low`, outside both limits, and between them."""
    for b in range(n):
        above, _ = sides(high[b])
        _, under = sides(low[b])
        # Limits that exclude each other leave nothing inside.
        both = 1.0 if low[b] >= high[b] else under + above
        below[b] = under
        outside[b] = both
        kept[b] = 1.0 - both


@njit(cache=True, nogil=True, **ON_VECTORS)
@no_type_check
def _draw(n, points, start, shift, below, kept, high, y):
    """Draw a variable between its limits, by where each point lies between 0 and 1."""
    for b in range(n):
        u = (np.uint32(points[start + b] ^ shift) + 0.5) * 2.3283064365386963e-10
        y[b] = max(min(quantile(below[b] + u * kept[b]), high[b], FARTHEST), -FARTHEST)


@njit(cache=True, nogil=True, error_model="numpy")
@no_type_check
def integrate(limits, correlations, points, shifts, tolerance, errors, n_first, sums, done, broken, error, rank):
    """Write for each vector the probability that a limit is broken, its error, and the rank of its correlations.

    Every replicate uses the same points, shifted by its row of `shifts`; their number doubles until `errors` standard
    errors of the replicates' mean are at most the vector's `tolerance`, or the points are used up. `sums` over the
    points that are `done` are kept, so that more points can go on from there.
    """
    n_replicates = len(shifts)
    for i in range(len(limits)):
        rows, lower, last, rank[i] = factor(limits[i], correlations[i])
        own = np.array([lower[row, last[row]] for row in range(len(rows))])
        ordered, weights, is_upper = limits[i][rows] / own, lower / own.reshape(-1, 1), own > 0.0
        while True:
            target = 2 * done[i] if done[i] else n_first
            if target > points.shape[1]:
                break
            for replicate in range(n_replicates):
                shift = shifts[replicate]
                sums[i, replicate] += missed(ordered, weights, is_upper, last, rank[i], points, shift, done[i], target)
            done[i] = target
            means = sums[i] / target
            broken[i] = means.mean()
            error[i] = errors * sqrt(((means - broken[i]) ** 2).sum() / (n_replicates * (n_replicates - 1)))
            if error[i] <= tolerance[i]:
                break
