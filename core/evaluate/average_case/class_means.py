"""How robust is each class on average, and by how much do classes differ? (Han et al. 2024, section 4.3, figure 4)

The largest of many differences is large by luck alone: classes that are all alike have a most and a least robust one,
too. So the gap's interval is made of intervals for all pairs of classes that hold together with 95 %: the largest lower
end is a bound that choosing the pair cannot have helped. The gap itself is given less its bootstrap bias.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer

from core.evaluate.intervals import UNKNOWN, Interval, wilson

FEWEST_FLIPS = 5.0
"""With fewer flips to expect, or fewer stays, a few lucky samples carry the mean: Wilson's interval is taken."""
FEWEST_SAMPLES = 8
"""Below so many samples of a class a bootstrap says little: Wilson's interval is taken."""
LEAST_SPREAD = 0.2
"""No resample counts as less spread than this share of the sample: one that misses the only sample that differs would
have no spread at all. A mean that rests on one sample then gets an upper end of about six times itself, as a count of
one does."""
MOST_RESAMPLED = 2**24
"""How many numbers may be drawn at once."""


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval over samples and how many these are. NaN: the data do not tell."""

    value: float
    interval: Interval = UNKNOWN
    n: int = 0


@dataclass(frozen=True)
class ClassGap:
    """How far the mean robustness of the least robust class is below that of the most robust one.

    The lower end of the interval is above 0 only where shuffled labels, too, would hardly ever (5 %) lie so far apart.
    `value` is less the bias of having chosen the largest difference, `raw` is the difference of the two classes, and
    `by_chance` is how large it would be on average if the same samples had been dealt to the classes at random.
    """

    value: float
    interval: Interval
    raw: float
    by_chance: float
    least: int
    most: int
    p_value: float
    """How often the largest gap would be as large, had the same samples been dealt to the classes at random."""


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """The mean robustness of every class (by code), and the largest gap between two; None where there is no gap."""

    means: tuple[Measured, ...]
    gap: ClassGap | None


def class_means(
    p: Float[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    n_classes: int,
    *,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> ClassMeans:
    """Give mean, interval and gap of a share per sample, by class; classes without samples have NaN.

    Intervals of means are 95 % over samples by a studentised bootstrap within each class; Wilson's, which is safe for
    the mean of any shares, where a class has fewer than 8 samples or 5 flips to expect.

    Examples
    --------
    >>> p, y = np.array([0.2, 0.3, 0.1, 0.2, 0.9, 0.8, 1.0, 0.9]), np.repeat([0, 1], 4)
    >>> of = class_means(p, y, 2, rng=np.random.default_rng(0))
    >>> [round(mean.value, 3) for mean in of.means], round(of.gap.raw, 3)
    ([0.2, 0.9], 0.7)
    """
    parts = [p[y == code] for code in range(n_classes)]
    known = [code for code, part in enumerate(parts) if len(part)]
    drawn = _Bootstrap.of([parts[code] for code in known], rng, n_resamples)
    means = [Measured(float("nan"))] * n_classes
    for place, code in enumerate(known):
        means[code] = Measured(float(drawn.mean[place]), drawn.interval(place), len(parts[code]))
    return ClassMeans(tuple(means), _gap(drawn, known, p, y, rng))


def bounded_mean(p: Float[np.ndarray, " n"], *, rng: np.random.Generator, n_resamples: int = 1000) -> Measured:
    """Give the mean of shares in [0, 1] with its interval, as for the classes; NaN for none.

    Examples
    --------
    >>> bounded_mean(np.ones(20), rng=np.random.default_rng(0)).interval
    Interval(lower=0.838..., upper=1.0)
    """
    return class_means(p, np.zeros(len(p), dtype=np.int64), 1, rng=rng, n_resamples=n_resamples).means[0]


def mean_of(values: Float[np.ndarray, " n"], *, rng: np.random.Generator, n_resamples: int = 2000) -> Measured:
    """Give the mean of any numbers with a studentised bootstrap interval; unknown for fewer than 8.

    Examples
    --------
    >>> mean_of(np.arange(10.0), rng=np.random.default_rng(0)).value
    4.5
    """
    if not len(values):
        return Measured(float("nan"))
    mean, enough = float(values.mean()), len(values) >= FEWEST_SAMPLES
    drawn = _Bootstrap.of([values], rng, n_resamples) if enough else None
    return Measured(mean, UNKNOWN if drawn is None else drawn.studentised(0), len(values))


@dataclass(frozen=True, eq=False)
class _Bootstrap:
    """Means and their standard errors, of the samples and of resamples of them, class by class.

    A class's variance counts one more sample as typical of all classes: none is 0 by luck then.
    """

    n: Integer[np.ndarray, " k"]
    mean: Float[np.ndarray, " k"]
    se: Float[np.ndarray, " k"]
    means: Float[np.ndarray, "b k"]
    ses: Float[np.ndarray, "b k"]

    @classmethod
    def of(cls, parts: list[np.ndarray], rng: np.random.Generator, n_resamples: int) -> "_Bootstrap":
        """Draw every class anew, so many times."""
        n = np.array([len(part) for part in parts], dtype=np.int64)
        mean = np.array([part.mean() for part in parts], dtype=np.float64)
        squares = np.array([((part - part.mean()) ** 2).sum() for part in parts], dtype=np.float64)
        means, drawn_squares = np.zeros((n_resamples, len(n))), np.zeros((n_resamples, len(n)))
        for k, part in enumerate(parts):
            # Resamples of a large class together would not fit into memory.
            step = max(1, MOST_RESAMPLED // len(part))
            for start in range(0, n_resamples, step):
                rows = slice(start, min(start + step, n_resamples))
                drawn = part[rng.integers(len(part), size=(rows.stop - rows.start, len(part)))]
                means[rows, k] = drawn.mean(axis=1)
                drawn_squares[rows, k] = ((drawn - means[rows, k, None]) ** 2).sum(axis=1)
        return cls(n, mean, _standard_errors(squares, n), means, _standard_errors(drawn_squares, n))

    def studentised(self, k: int) -> Interval:
        """The bootstrap-t interval of the mean of class `k`."""
        low, high = np.quantile(_t(self.means[:, k] - self.mean[k], self.ses[:, k], self.se[k]), [0.025, 0.975])
        return Interval(float(self.mean[k] - high * self.se[k]), float(self.mean[k] - low * self.se[k]))

    def interval(self, k: int) -> Interval:
        """The interval of a mean of shares in [0, 1], never wider than Wilson's."""
        n, mean = float(self.n[k]), float(np.clip(self.mean[k], 0.0, 1.0))
        safe = wilson(n * mean, n)
        if n < FEWEST_SAMPLES or n * min(mean, 1.0 - mean) < FEWEST_FLIPS:
            return safe
        found = self.studentised(k)
        return Interval(max(found.lower, safe.lower), min(found.upper, safe.upper))


def _standard_errors(squares: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Of means, from sums of squares (..., k) around them."""
    typical = squares.sum(axis=-1, keepdims=True) / max(int((n - 1).sum()), 1)
    return np.sqrt((squares + typical) / n / n)


def _t(away: np.ndarray, ses: np.ndarray, se: np.ndarray | float) -> np.ndarray:
    """How many standard errors resamples are away; nothing where nothing differs at all."""
    least = np.maximum(ses, LEAST_SPREAD * se)
    return away / np.where(least > 0, least, 1.0)


def _gap(
    drawn: _Bootstrap, known: list[int], p: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> ClassGap | None:
    """The largest gap among classes with two samples or more."""
    usable = np.flatnonzero(drawn.n >= 2)
    if len(usable) < 2:
        return None
    one, other = (usable[index] for index in np.triu_indices(len(usable), 1))
    mean, se = drawn.mean, drawn.se
    gaps, widths = np.abs(mean[one] - mean[other]), np.hypot(se[one], se[other])
    away = drawn.means - mean
    ses = np.hypot(drawn.ses[:, one], drawn.ses[:, other])
    t = np.abs(_t(away[:, one] - away[:, other], ses, widths))
    reach = np.quantile(t.max(axis=1), 0.95) * widths
    raw = float(np.ptp(mean[usable]))
    dealt = _dealt(p, y, np.array(known)[usable], rng)
    p_value = float((1 + np.count_nonzero(dealt >= raw)) / (1 + len(dealt)))
    bias = float(np.ptp(drawn.means[:, usable], axis=1).mean()) - raw
    # Where a few samples carry the means, what the classes' own intervals leave open is open here, too.
    ends = [drawn.interval(int(k)) for k in usable]
    apart = max(end.upper for end in ends) - min(end.lower for end in ends)
    lower = 0.0 if p_value > 0.05 else max(float((gaps - reach).max()), 0.0)
    interval = Interval(lower, min(max(float((gaps + reach).max()), apart), 1.0))
    order = usable[np.argsort(mean[usable], kind="stable")]
    return ClassGap(
        value=float(np.clip(raw - bias, interval.lower, interval.upper)),
        interval=interval,
        raw=raw,
        by_chance=float(dealt.mean()),
        least=known[int(order[0])],
        most=known[int(order[-1])],
        p_value=p_value,
    )


def _dealt(p: np.ndarray, y: np.ndarray, codes: np.ndarray, rng: np.random.Generator, n_deals: int = 400) -> np.ndarray:
    """The largest gaps where classes of the same sizes are dealt at random."""
    inside = np.isin(y, codes)
    p, place = p[inside], np.searchsorted(codes, y[inside])
    n = np.bincount(place, minlength=len(codes))
    dealt = (np.bincount(place, weights=rng.permutation(p), minlength=len(codes)) / n for _ in range(n_deals))
    return np.array([np.ptp(means) for means in dealt])
