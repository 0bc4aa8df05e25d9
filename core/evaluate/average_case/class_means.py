"""How robust is each class on average, and by how much do classes differ? (Han et al. 2024, section 4.3, figure 4)

A share near 1 varies little between samples, until the one comes that noise turns: a t interval of such a mean is far
too short. Wilson's takes every sample for a coin, which is far too long. Here the mean is that of as many coins as
would vary as much as it does. Where shares were counted, each sample's from draws of its own, what the draws vary by is
part of that.

The largest of many differences is large by luck alone: classes that are all alike have a most and a least robust one,
too. So the gap's lower end is that of all pairs of classes at once, and rests on the very deals of shuffled labels that
its p-value rests on: it is above 0 where p is at most .05. The gap itself is given less the bias of having chosen it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, t_interval, wilson
from touchstone.core.evaluate.units import EACH_SAMPLE, NO_EFFECT, Design, Effect

OfClasses = Float[np.ndarray, " k"]
"""A number for each class."""
WholeOfClasses = Integer[np.ndarray, " k"]

MOST_PER_SAMPLE, FLIPS = 3.0, 10.0
"""A sample counts as so many coins at most where hardly any flip is to be expected: what nobody has seen of its class
may be worse than what is there. With more flips it may count as more: as many times more as there are tens of them."""
FEWEST_SAMPLES = 8
"""Below so many samples a studentised bootstrap says little."""
LEVEL = 0.05
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

    The lower end of the interval is above 0 just where shuffled labels would hardly ever (5 %) lie so far apart.
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
    """How often the largest of all pairs' t would be as large, had the samples been dealt to the classes at random."""


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """The mean robustness of every class (by code), and the largest gap between two; None where there is no gap."""

    means: tuple[Measured, ...]
    gap: ClassGap | None


def class_means(
    p: Floats, y: Ints, n_classes: int, *, rng: np.random.Generator, n_deals: int = 1999, design: Design = EACH_SAMPLE
) -> ClassMeans:
    """Give mean, interval and gap of a share per sample, by class; classes without samples have NaN.

    Intervals of means are 95 % over samples (and over draws, where shares were counted): Wilson's of as many coins as
    vary like the mean, with t's quantile. `n_deals` is how often labels are shuffled for the gap. Where samples came in
    units, intervals are over these, and the gap's is corrected for all pairs by Bonferroni.

    Examples
    --------
    >>> p, y = np.array([0.2, 0.3, 0.1, 0.2, 0.9, 0.8, 1.0, 0.9]), np.repeat([0, 1], 4)
    >>> of = class_means(p, y, 2, rng=np.random.default_rng(0))
    >>> [round(mean.value, 3) for mean in of.means], round(of.gap.raw, 3)
    ([0.2, 0.9], 0.7)
    """
    if not len(p):
        return ClassMeans((Measured(float("nan")),) * n_classes, None)
    order = np.argsort(y, kind="stable")
    known, n = np.unique(y, return_counts=True)
    estimated = _of_classes(p[order][None], n)
    means, effects = [Measured(float("nan"))] * n_classes, []
    for place, code in enumerate(known):
        value, se = float(estimated.mean[0, place]), float(estimated.se[0, place])
        effects.append(_effect(p[y == code], design.of(y == code)))
        means[code] = Measured(value, _interval(value, se, int(n[place]), effects[-1]), int(n[place]))
    usable = np.flatnonzero(n >= 2)
    if len(usable) < 2:
        return ClassMeans(tuple(means), None)
    if not design.by_sample:
        sure = [place for place in usable if effects[place].df > 0]
        if len(sure) < 2:
            return ClassMeans(tuple(means), None)
        se = estimated.se[0, sure] * np.sqrt([effects[place].times for place in sure])
        df = np.array([effects[place].df for place in sure])
        return ClassMeans(tuple(means), _gap_of_units(estimated.mean[0, sure], se, df, known[sure], rng, n_deals))
    inside = np.isin(y[order], known[usable])
    return ClassMeans(tuple(means), _gap(p[order][inside], n[usable], known[usable], rng, n_deals))


def bounded_mean(p: Floats, design: Design = EACH_SAMPLE) -> Measured:
    """Give the mean of shares in [0, 1] with its interval, as for the classes; NaN for none.

    Examples
    --------
    >>> bounded_mean(np.ones(20)).interval
    Interval(lower=0.820..., upper=1.0)
    """
    if not len(p):
        return Measured(float("nan"))
    estimated = _of_classes(p[None], np.array([len(p)]))
    interval = _interval(float(p.mean()), float(estimated.se[0, 0]), len(p), _effect(p, design))
    return Measured(float(p.mean()), interval, len(p))


def share_of(marked: Bools, design: Design = EACH_SAMPLE) -> Measured:
    """The share of samples that are marked, with Wilson's interval over their units; NaN of none.

    >>> share_of(np.arange(10) < 3).value
    0.3
    """
    n = len(marked)
    return Measured(float(marked.mean()), design.wilson(marked), n) if n else Measured(float("nan"))


def _effect(p: Floats, design: Design) -> Effect:
    return design.effect((p - p.mean()) / len(p))


def mean_of(
    values: Floats, *, rng: np.random.Generator, n_resamples: int = 2000, design: Design = EACH_SAMPLE
) -> Measured:
    """Give the mean of any numbers with a studentised bootstrap interval; unknown for fewer than 8.

    Where samples came in units, it is Student's over these.

    Examples
    --------
    >>> mean_of(np.arange(10.0), rng=np.random.default_rng(0)).value
    4.5
    """
    if not len(values):
        return Measured(float("nan"))
    mean, n = float(values.mean()), len(values)
    if n < FEWEST_SAMPLES:
        return Measured(mean, UNKNOWN, n)
    if not design.by_sample:
        error = design.error((values - mean) / n)
        return Measured(mean, t_interval(mean, error.se, error.df) if error.df > 0 else UNKNOWN, n)
    se = float(_of_classes(values[None], np.array([n])).se[0, 0])
    means, ses = [], []
    step = max(1, MOST_RESAMPLED // n)  # all resamples together would not fit into memory
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        estimated = _of_classes(values[rng.integers(n, size=(rows, n))], np.array([n]))
        means.append(estimated.mean[:, 0])
        ses.append(estimated.se[:, 0])
    least = np.maximum(np.concatenate(ses), LEAST_SPREAD * se)
    t = (np.concatenate(means) - mean) / np.where(least > 0, least, 1.0)
    low, high = np.quantile(t, [0.025, 0.975])
    return Measured(mean, Interval(float(mean - high * se), float(mean - low * se)), n)


@dataclass(frozen=True, eq=False)
class _Classes:
    """Means of classes and their standard errors, in each of several deals.

    A class's variance counts one more sample as typical of all classes: none is 0 by luck then.
    """

    mean: Float[np.ndarray, "deals k"]
    se: Float[np.ndarray, "deals k"]


def _of_classes(p: Float[np.ndarray, "deals n"], n: WholeOfClasses) -> _Classes:
    """Of values whose first n[0] are the first class's, the next n[1] the second's."""
    starts = np.r_[0, np.cumsum(n)[:-1]]
    mean = np.add.reduceat(p, starts, axis=1) / n
    squares = np.add.reduceat((p - np.repeat(mean, n, axis=1)) ** 2, starts, axis=1)
    typical = squares.sum(axis=1, keepdims=True) / max(int((n - 1).sum()), 1)
    return _Classes(mean, np.sqrt((squares + typical) / n / n))


def _interval(mean: float, se: float, n_samples: int, effect: Effect = NO_EFFECT) -> Interval:
    """Wilson's interval of as many coins as would vary like a mean of so many shares; unknown where no unit tells."""
    if not effect.df > 0:
        return UNKNOWN
    mean, n, se = min(max(mean, 0.0), 1.0), n_samples / effect.times, se * np.sqrt(effect.times)
    most = MOST_PER_SAMPLE * n * (1.0 + n * min(mean, 1.0 - mean) / FLIPS)
    coins = min(max(mean * (1.0 - mean) / se**2, float(n)), most) if se > 0 else float(n)
    return wilson(coins * mean, coins, df=min(float(max(n_samples - 1, 1)), effect.df))


def _gap(p: Floats, n: WholeOfClasses, codes: WholeOfClasses, rng: np.random.Generator, n_deals: int) -> ClassGap:
    """The largest gap among classes with two samples or more, whose samples follow one another in `p`."""
    estimated = _of_classes(p[None], n)
    pairs = _Pairs(codes, estimated.mean[0], estimated.se[0], n - 1.0)
    t, ranges = _dealt(p, n, rng, n_deals)
    p_value = float((1 + np.count_nonzero(t >= _t(pairs.gaps, pairs.widths).max())) / (1 + n_deals))
    # The smallest t that p <= .05 takes, so that interval and p-value never disagree.
    reach = np.sort(t)[n_deals - int(LEVEL * (1 + n_deals))]
    return pairs.largest(reach, p_value, float(ranges.mean()), rng.normal(size=(n_deals, len(n))))


def _gap_of_units(
    mean: OfClasses, se: OfClasses, df: OfClasses, codes: WholeOfClasses, rng: np.random.Generator, n_deals: int
) -> ClassGap:
    """The same where errors are over units, corrected for all pairs; what is due to chance is drawn normal."""
    from scipy.special import stdtr, stdtrit

    pairs, noise = _Pairs(codes, mean, se, df), rng.normal(size=(n_deals, len(mean)))
    p = 2 * stdtr(pairs.df, -_t(pairs.gaps, pairs.widths))
    reach = stdtrit(pairs.df, 1 - LEVEL / 2 / len(p))
    p_value, by_chance = min(float(p.min()) * len(p), 1.0), float(np.ptp(se * noise, axis=1).mean())
    return pairs.largest(reach, p_value, by_chance, noise)


class _Pairs:
    """All pairs of classes: how far they lie apart, and how sure that is."""

    def __init__(self, codes: np.ndarray, mean: np.ndarray, se: np.ndarray, df: np.ndarray) -> None:
        self.codes, self.mean, self.se = codes, mean, se
        first, second = np.triu_indices(len(mean), 1)
        self.gaps, self.widths = np.abs(mean[first] - mean[second]), np.hypot(se[first], se[second])
        self.df = np.minimum(df[first], df[second])

    def largest(
        self, reach: float | np.ndarray, p_value: float, by_chance: float, noise: Float[np.ndarray, "deals k"]
    ) -> ClassGap:
        """The largest gap, whose lower end is `reach` standard errors off; `noise` says what choosing it adds."""
        from scipy.special import stdtrit

        raw = float(np.ptp(self.mean))
        bias = float(np.ptp(self.mean + self.se * noise, axis=1).mean()) - raw
        lower = max(float((self.gaps - reach * self.widths).max()), 0.0)
        upper = min(max(float((self.gaps + stdtrit(self.df, 0.975) * self.widths).max()), lower), 1.0)
        order = np.argsort(self.mean, kind="stable")
        return ClassGap(
            value=float(np.clip(raw - bias, lower, upper)),
            interval=Interval(lower, upper),
            raw=raw,
            by_chance=by_chance,
            least=int(self.codes[order[0]]),
            most=int(self.codes[order[-1]]),
            p_value=p_value,
        )


def _t(gaps: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """How many standard errors classes lie apart; nothing where nothing differs at all."""
    return gaps / np.where(widths > 0, widths, 1.0)


def _dealt(
    p: Floats, n: WholeOfClasses, rng: np.random.Generator, n_deals: int
) -> tuple[Float[np.ndarray, " deals"], Float[np.ndarray, " deals"]]:
    """The largest t of all pairs, and the largest gap, where classes of the same sizes are dealt at random."""
    first, second = np.triu_indices(len(n), 1)
    step = max(1, MOST_RESAMPLED // max(len(p), len(first)))
    t, ranges = [], []
    for start in range(0, n_deals, step):
        rows = min(step, n_deals - start)
        estimated = _of_classes(rng.permuted(np.broadcast_to(p, (rows, len(p))), axis=1), n)
        widths = np.hypot(estimated.se[:, first], estimated.se[:, second])
        t.append(_t(np.abs(estimated.mean[:, first] - estimated.mean[:, second]), widths).max(axis=1))
        ranges.append(np.ptp(estimated.mean, axis=1))
    return np.concatenate(t), np.concatenate(ranges)
