"""How sure is a number? Intervals and corrections that every question shares."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import special

from touchstone.core.data.values import Floats


@dataclass(frozen=True)
class Interval:
    """A 95 % interval, both ends included. NaN at both ends: the data so far cannot give one.

    Examples
    --------
    >>> Interval(0.81, 0.88).holds(0.85)
    True
    >>> Interval(float("nan"), float("nan")).known
    False
    """

    lower: float
    upper: float

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return not (np.isnan(self.lower) or np.isnan(self.upper))

    @property
    def width(self) -> float:
        """Upper minus lower end."""
        return self.upper - self.lower

    def columns(self, before: str = "") -> dict[str, float]:
        """Both ends as cells of a table, whose names begin alike.

        >>> Interval(0.81, 0.88).columns("rho_")
        {'rho_lower': 0.81, 'rho_upper': 0.88}
        """
        return {f"{before}lower": self.lower, f"{before}upper": self.upper}

    def holds(self, value: float) -> bool:
        """Whether `value` lies inside; never in an unknown interval."""
        return bool(self.lower <= value <= self.upper)

    def meets(self, other: "Interval") -> bool:
        """Whether some value lies in both; so it may, where one is unknown.

        >>> Interval(0.1, 0.3).meets(Interval(0.2, 0.4)), Interval(0.1, 0.3).meets(Interval(0.4, 0.5))
        (True, False)
        """
        return not (self.upper < other.lower or other.upper < self.lower)

    def scaled(self, times: float, plus: float = 0.0) -> "Interval":
        """That of so many times the number, plus another one; -1.0 gives that of the number with the other sign.

        >>> Interval(0.25, 0.75).scaled(-1.0, plus=0.5)
        Interval(lower=-0.25, upper=0.25)
        """
        first, second = (times * end + plus for end in (self.lower, self.upper))
        return Interval(first, second) if times >= 0 else Interval(second, first)


UNKNOWN = Interval(float("nan"), float("nan"))
LEAST_P = 1e-15
"""A p-value below is given as 0: 1 less it is 1 in floats."""


def t_interval(value: float, se: float, df: float, *, level: float = 0.95) -> Interval:
    """Student's t interval around `value`; unknown where `se` is, or where no degree of freedom is left.

    Examples
    --------
    >>> t_interval(0.9, 0.01, 8.0)
    Interval(lower=0.876..., upper=0.923...)
    """
    half = half_width(se, df, level=level)
    return Interval(float(value - half), float(value + half))


def smoothed_mean(values: Floats) -> tuple[float, float]:
    """The mean of paired differences in [-1, 1] and its standard error, from one sample more for either side.

    These two add half a sample each, and one that differs in nothing (Agresti and Min 2005): where next to nothing
    differs, Student's interval alone would be too sure.

    Examples
    --------
    >>> smoothed_mean(np.zeros(98))
    (0.0, 0.01)
    """
    n = len(values) + 2
    mean = float(values.sum()) / n
    return mean, float(np.sqrt(((values**2).sum() + 1) / n - mean**2) / np.sqrt(n))


def growing_interval(value: float, half_at_0: float, half: float) -> Interval:
    """The t interval of an effect that varies less where there is none, by inverting the test of every effect.

    `half` is the half width that the estimate's own variance gives, `half_at_0` that of no effect (of a variance that
    is no less than a third). Between the two the variance goes with the effect; beyond the estimate it is the
    estimate's. So the interval leaves out 0 just where the test with the variance of no effect does.

    Examples
    --------
    >>> t_like, grown = growing_interval(0.16, 0.21, 0.21), growing_interval(0.16, 0.15, 0.21)
    >>> round(t_like.lower, 3), round(grown.lower, 3), round(grown.upper, 2)
    (-0.05, 0.007, 0.37)
    """
    if np.isnan(value + half_at_0 + half) or value == 0:
        return Interval(float(value - half), float(value + half))
    size, half = abs(value), max(half, half_at_0)
    # The nearer end e: (size - e)^2 = half_at_0^2 + more |e|, as long as |e| is less than the size.
    more, left = (half**2 - half_at_0**2) / size, size**2 - half_at_0**2
    slope = 2 * size + (more if left > 0 else -more)
    root = float(np.sqrt(slope**2 - 4 * left))
    nearer = 2 * left / (slope + root) if slope > 0 else (slope - root) / 2
    # The estimate itself is always in it, also where rounding would leave it out.
    nearer, farther = min(nearer, size) if nearer > -size else size - half, size + half
    return Interval(float(nearer), float(farther)) if value > 0 else Interval(float(-farther), float(-nearer))


def fall_interval(fall: float, half_at_0: float, half: float) -> Interval:
    """The same of a loss that few units make: the more is lost, the more they differ, without end.

    So the variance goes on along the line from no loss to the estimate, on the way to larger losses, from whatever
    side of 0 that way begins. The end towards gains is that of `growing_interval`.

    Examples
    --------
    >>> grown, falling = growing_interval(0.1, 0.05, 0.05), fall_interval(0.1, 0.05, 0.05)
    >>> falling.lower == grown.lower, round(grown.upper, 3), round(falling.upper, 3)
    (True, 0.15, 0.164)
    """
    interval, half = growing_interval(fall, half_at_0, half), max(half, half_at_0)
    if not interval.known:
        return interval
    slope = half**2 / max(abs(fall), half) if half > 0 else 0.0
    return Interval(interval.lower, float(fall + (slope + np.hypot(slope, 2 * half)) / 2))


def skewed_interval(value: float, se: float, df: float, skew: float) -> tuple[Interval, float]:
    """Student's t interval of an estimate whose standard error goes with it, and the p-value of 0 (Hall 1992).

    Where few large values make an estimate, a sample without them has a small estimate and a small error. Hall's
    transform makes the t statistic of such an estimate symmetric; it is monotone, so that interval and test agree.

    Examples
    --------
    >>> plain, p = skewed_interval(0.02, 0.01, 1000.0, 0.0)
    >>> skewed, _ = skewed_interval(0.02, 0.01, 1000.0, 0.3)
    >>> round(plain.lower, 4), round(skewed.lower, 4), round(skewed.upper, 4), round(p, 3)
    (0.0004, 0.0037, 0.0465, 0.046)
    """
    if not (df > 0 and se > 0):
        return t_interval(value, se, df), t_p_value(value, se, df)
    a, b, quantile = skew / 3, skew / 6, half_width(1.0, df)

    def back(y: float) -> float:
        return y if abs(a) < 1e-9 else float((np.cbrt(1 + 3 * a * (y - b)) - 1) / a)

    t = value / se
    return (
        Interval(float(value - se * back(quantile)), float(value - se * back(-quantile))),
        t_p_value(t + a * t**2 + a**2 * t**3 / 3 + b, 1.0, df),
    )


def half_width(se: float, df: float, *, level: float = 0.95) -> float:
    """How far a t interval reaches to either side.

    Examples
    --------
    >>> round(half_width(1.0, 4.0), 3)
    2.776
    """
    if not (df > 0 and se >= 0):
        return float("nan")
    return float(special.stdtrit(df, 0.5 + level / 2)) * float(se)


def t_p_value(value: float, se: float, df: float) -> float:
    """Two-sided p-value of "the true value is 0"; 1 where nothing varies and nothing differs.

    Examples
    --------
    >>> round(t_p_value(2.776, 1.0, 4.0), 3)
    0.05
    """
    if not (df > 0 and se >= 0) or np.isnan(value):
        return float("nan")
    if se == 0:
        return 1.0 if value == 0 else 0.0
    return float(2 * special.stdtr(df, -abs(value) / se))


def apart(value: float, interval: Interval, other: float, other_interval: Interval) -> Interval:
    """The interval of one number less another from that of each; of pairs, which agree more, it errs on the safe side.

    Examples
    --------
    >>> apart(0.8, Interval(0.7, 0.9), 0.5, Interval(0.4, 0.6))
    Interval(lower=0.158..., upper=0.441...)
    """
    if not (interval.known and other_interval.known):
        return UNKNOWN
    difference = value - other
    down = np.hypot(value - interval.lower, other_interval.upper - other)
    up = np.hypot(interval.upper - value, other - other_interval.lower)
    return Interval(float(difference - down), float(difference + up))


def p_of_interval(value: float, interval: Interval) -> float:
    """The two-sided p-value of "no difference" of which `interval` tells: below .05 just where the interval lacks 0.

    Its way from the value towards 0 is taken for 1.96 standard errors.

    Examples
    --------
    >>> round(p_of_interval(0.5, Interval(0.0, 0.7)), 3), p_of_interval(0.0, Interval(-0.2, 0.1))
    (0.05, 1.0)
    """
    towards = value - interval.lower if value > 0 else interval.upper - value
    return t_p_value(value, towards / float(special.ndtri(0.975)), np.inf)


def share_interval(share: float, se: float, df: float, *, level: float = 0.95) -> Interval:
    """Wilson's interval of a share with this standard error: that of so many samples as would give it, by Student's t.

    It stays within 0 and 1 and leans to the middle, and few degrees of freedom do not stretch it beyond measure, as
    they would on the logit scale (Korn and Graubard 1998). A share of exactly 0 or 1 has no spread and is returned as
    both ends; join it with `wilson`.

    Examples
    --------
    >>> share_interval(0.98, 0.01, 8.0)
    Interval(lower=0.941..., upper=0.993...)
    >>> share_interval(0.994, 0.016, 4.0)
    Interval(lower=0.7..., upper=0.999...)
    """
    if se == 0 or share in (0.0, 1.0):
        return Interval(share, share) if df > 0 else UNKNOWN
    by_chance, wide = float(np.sqrt(share) * np.sqrt(1 - share)), half_width(se, df, level=level)
    if np.isnan(share + wide):
        return UNKNOWN
    stretch = np.float64(wide) / by_chance  # Student's t over the root of the number of samples
    if stretch > 1e8:
        return Interval(0.0, 1.0)
    centre, half = share + stretch**2 / 2, stretch * np.sqrt(by_chance**2 + stretch**2 / 4)
    lower, upper = (float((centre + sign * half) / (1 + stretch**2)) for sign in (-1, 1))
    return Interval(min(max(lower, 0.0), share), max(min(upper, 1.0), share))


def within(interval: Interval, lowest: float, highest: float) -> Interval:
    """What is possible of an interval.

    >>> within(Interval(-1.4, 0.2), -1.0, 1.0)
    Interval(lower=-1.0, upper=0.2)
    """
    if not interval.known:
        return interval
    return Interval(min(max(interval.lower, lowest), highest), max(min(interval.upper, highest), lowest))


def sum_of_errors(*parts: tuple[float, float]) -> tuple[float, float]:
    """The standard error of a sum of independent parts, each a standard error with its degrees of freedom.

    Degrees of freedom of the sum are Satterthwaite's; parts of no error are left out.

    Examples
    --------
    >>> sum_of_errors((3.0, 10.0), (4.0, 10.0))
    (5.0, 18.5...)
    >>> sum_of_errors((0.1, 4.0), (0.0, 0.0))
    (0.1, 4.0)
    """
    some = [(se, df) for se, df in parts if se > 0] or [parts[0]]
    if len(some) == 1:
        return some[0]
    variance = sum(se**2 for se, _ in some)
    return float(np.sqrt(variance)), float(variance**2 / sum(se**4 / df for se, df in some))


def joined(first: Interval, second: Interval) -> Interval:
    """The shortest interval that holds both; unknown where the first is.

    Examples
    --------
    >>> joined(Interval(1.0, 1.0), Interval(0.93, 1.0))
    Interval(lower=0.93, upper=1.0)
    """
    return Interval(min(first.lower, second.lower), max(first.upper, second.upper)) if first.known else first


def clopper_pearson(k: float, n: float, alpha: float) -> tuple[float, float]:
    """Give the exact interval of a share after `k` of `n`, which errs with a chance of at most `alpha`.

    Examples
    --------
    >>> clopper_pearson(10.0, 10.0, 0.05)
    (0.691..., 1.0)
    """
    lower, upper = _exact_ends(k, n, alpha / 2)
    return float(lower), float(upper)


def _exact_ends(k: float | np.ndarray, n: float | np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest share that so many of n, or more, or fewer, have a chance of `tail` of."""
    lower = np.where(k > 0, special.betaincinv(k, n - k + 1, tail), 0.0)
    return lower, np.where(k < n, 1 - special.betaincinv(n - k, k + 1, tail), 1.0)


def wilson(n_correct: float, n: float, *, level: float = 0.95, df: float = np.inf) -> Interval:
    """Wilson's score interval of a share. `n_correct` may be a mean over repeats, hence no whole number.

    Near 0 and 1, where it would hold too seldom, it reaches as far as the exact interval of one side
    (after Brown, Cai and DasGupta 2001, section 4.1.1, who do so by Poisson's). `df` are the degrees of freedom where
    the spread of the share was itself measured: the quantile is then Student's.

    Examples
    --------
    >>> wilson(0.0, 10.0), wilson(1.0, 50.0)
    (Interval(lower=0.0, upper=0.277...), Interval(lower=0.0010..., upper=0.104...))
    """
    if not (n > 0 and df > 0):
        return UNKNOWN
    return Interval(
        *map(float, wilson_ends(np.array(min(max(n_correct / n, 0.0), 1.0)), np.array(n), level=level, df=df))
    )


def wilson_ends(
    share: Float[np.ndarray, "*shape"], n: Float[np.ndarray, "*shape"], *, level: float = 0.95, df: float = np.inf
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """The lower and the upper ends of `wilson` of many shares, each of `n` samples.

    >>> [ends.round(3).tolist() for ends in wilson_ends(np.array([0.0, 0.5]), np.array([20.0, 100.0]))]
    [[0.0, 0.404], [0.161, 0.596]]
    """
    normal = special.ndtri(0.5 + level / 2)
    z = normal if np.isinf(df) else special.stdtrit(df, 0.5 + level / 2)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    alike = n * (normal / z) ** 2 if normal > 0 else n  # so many samples have this interval by the normal quantile
    least, most = _exact_ends(share * alike, alike, 1 - level)
    lower, upper = np.minimum(centre - half, least).clip(0.0), np.maximum(centre + half, most).clip(None, 1.0)
    return np.where(share > 0, lower, 0.0), np.where(share < 1, upper, 1.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values that may each be read at 5 % although many were looked at. NaN is passed over.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    raised = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0) if len(order) else raised
    return corrected.tolist()


def moderated_variances(variances: Floats, dfs: Floats) -> tuple[Floats, Floats]:
    """Many variances, each from little, drawn towards what they have in common (Smyth 2004, section 6.2).

    With four degrees of freedom some variance among many is tiny by luck, and its t is then huge. Drawn together, as
    far as the variances agree with each other, each has more degrees of freedom and the luck is gone. Fewer than three
    known variances are returned as they are, and so is NaN.

    Examples
    --------
    >>> variances, dfs = moderated_variances(np.array([1.0, 0.01, 1.5, 0.7, 1.2]), np.full(5, 4.0))
    >>> variances.round(2).tolist(), dfs.round(1).tolist()
    ([0.82, 0.05, 1.2, 0.58, 0.97], [5.2, 5.2, 5.2, 5.2, 5.2])
    """
    known = (variances > 0) & (dfs > 0)
    if known.sum() < 3:
        return variances, dfs
    v, d = variances[known], dfs[known]
    logs = np.log(v) - special.digamma(d / 2) + np.log(d / 2)
    spread = float(np.var(logs, ddof=1) - special.polygamma(1, d / 2).mean())
    if spread > 0:
        prior_df = 2 * _inverse_trigamma(spread)
        prior = np.exp(logs.mean() + special.digamma(prior_df / 2) - np.log(prior_df / 2))
        moderated = (prior_df * prior + dfs * variances) / (prior_df + dfs)
        return moderated, np.where(dfs > 0, np.minimum(prior_df + dfs, d.sum()), dfs)
    alike = np.exp(logs.mean())
    return np.where(np.isnan(variances), np.nan, alike), np.where(dfs > 0, d.sum(), dfs)


def _inverse_trigamma(value: float) -> float:
    """Newton's method from Smyth's appendix; it never oversteps."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = special.polygamma(1, x)
        step = trigamma * (1 - trigamma / value) / special.polygamma(2, x)
        x += step
        if -step / x < 1e-8:
            break
    return float(x)


def share_difference(
    n_correct: float, n: float, other_correct: float, other_n: float, *, level: float = 0.95, df: float = np.inf
) -> Interval:
    """Newcombe's interval of one share less another, from Wilson's of either; for two samples that do not overlap.

    Of pairs, which agree more often than strangers, it errs on the safe side, and it stays honest where both shares are
    0 or 1 and a standard error would be 0. `df` as in `wilson`.

    Examples
    --------
    >>> share_difference(56.0, 70.0, 48.0, 80.0)
    Interval(lower=0.052..., upper=0.333...)
    """
    own, other = wilson(n_correct, n, level=level, df=df), wilson(other_correct, other_n, level=level, df=df)
    if not (own.known and other.known):
        return UNKNOWN
    return apart(n_correct / n, own, other_correct / other_n, other)


def share_difference_p(
    n_correct: float, n: float, other_correct: float, other_n: float, *, df: float = np.inf
) -> float:
    """Two-sided p-value of "the shares are equal": 1 less the level at which Newcombe's interval begins to hold 0.

    Examples
    --------
    >>> round(share_difference_p(56.0, 70.0, 48.0, 80.0), 4), share_difference_p(5.0, 10.0, 5.0, 10.0)
    (0.008..., 1.0)
    """
    from scipy.optimize import brentq

    if not (n > 0 and other_n > 0):
        return float("nan")
    if n_correct / n < other_correct / other_n:
        return share_difference_p(other_correct, other_n, n_correct, n, df=df)

    def lower(p: float) -> float:
        return share_difference(n_correct, n, other_correct, other_n, level=1 - p, df=df).lower

    if n_correct / n == other_correct / other_n:
        return 1.0
    return float(brentq(lower, LEAST_P, 1.0)) if lower(LEAST_P) < 0 else 0.0


def fisher_p(n_hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Two-sided p-value of Fisher's exact test of "the shares are equal": of all tables with these margins.

    As scipy.stats has it, which takes longer to import than a whole comparison of two small files.

    Examples
    --------
    >>> round(fisher_p(8, 10, 1, 6), 4)
    0.035
    """
    n_all, hits = n + other_n, n_hits + other_hits
    possible = np.arange(max(0, hits - other_n), min(n, hits) + 1)
    log = (
        *(-special.gammaln(each + 1) for each in (possible, n - possible, hits - possible, other_n - hits + possible)),
        *(special.gammaln(each + 1) for each in (n, other_n, hits, n_all - hits)),
    )
    chances = np.exp(sum(log) - special.gammaln(n_all + 1))
    own = chances[n_hits - possible[0]]
    return min(1.0, float(chances[chances <= own * (1 + 1e-7)].sum()))


# Which of many cells stand out, when all of them were shuffled at once? Westfall and Young's step-down maxima.


def max_t(statistics: Float[np.ndarray, "n_cells n_shuffles"]) -> Float[np.ndarray, " n_cells"]:
    """P-values of the cells, corrected for looking at all of them; the first column is what was observed.

    Each cell is brought to the same scale by mean and spread of its whole row, the observed value included: columns are
    then as exchangeable as before, and p errs as seldom as it says however few there are (Westfall and Young 1993,
    algorithm 2.8).

    Examples
    --------
    >>> shuffles = np.random.default_rng(0).normal(size=(10, 99))
    >>> observed = np.r_[6.0, np.zeros(9)]
    >>> max_t(np.column_stack([observed, shuffles]))[:2].round(2)
    array([0.01, 0.99])
    """
    spread = statistics.std(axis=1, keepdims=True)
    scaled = (statistics - statistics.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    order = np.argsort(scaled[:, 0], kind="stable")  # the smallest first: each maximum is over those that are left
    largest = np.maximum.accumulate(scaled[order], axis=0)
    p = (largest >= scaled[order, :1]).mean(axis=1)
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[::-1])[::-1]
    return corrected
