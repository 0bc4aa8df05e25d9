"""What share of each class lies in a region, how sure is that, and what would a random split have given?"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from scipy.special import ndtri

from touchstone.core.evaluate.intervals import UNKNOWN, Interval, holm

Dimension = Literal["equivalence partitioning", "centroid positioning", "boundary conditioning"]
FEWEST = 10
"""With fewer samples than so many inside or outside, resamples hardly vary: the interval is then Wilson's."""
_Z = float(ndtri(0.975))


@dataclass(frozen=True)
class Spread:
    """How much a share differs between classes: the standard deviation over those that are present, of `n_classes`.

    `interval` is from a bootstrap within classes. `by_chance` is the 95th percentile of the same number if all classes
    had one share: a spread below it shows nothing.
    """

    value: float
    interval: Interval
    by_chance: float
    n_classes: int
    p_value: float = float("nan")
    """How often classes that all have one share would differ as much."""


@dataclass(frozen=True, eq=False)
class Shares:
    """One dimension of quality, class by class: `value` = `scale` * `n_in` / `n`, NaN for a class without samples.

    `lower` and `upper` are a 95 % percentile bootstrap over samples. Of a share it needs no resamples, since its
    resamples are binomial; with fewer than `FEWEST` samples inside or outside it is Wilson's (`by`). `train` is the
    training set's own value. `split` is what a random split of all samples (training and test) gives on average in a
    test set of this size, `split_lower` to `split_upper` hold 95 % of such splits, and `p_holm` is corrected for the
    number of classes; all of them are exact (hypergeometric) and NaN unless compared.

    Examples
    --------
    >>> shares = Shares.of("boundary conditioning", ("a", "b"), np.array([30, 0]), np.array([100, 0]))
    >>> shares.table()[["label", "n_in", "n", "value", "lower", "upper", "by"]].values.tolist()[0]
    ['a', 30, 100, 0.3, 0.21, 0.39, 'bootstrap']
    >>> shares.absent
    ('b',)
    """

    dimension: Dimension
    class_names: tuple[str, ...]
    n_in: Integer[np.ndarray, " n_classes"]
    n: Integer[np.ndarray, " n_classes"]
    scale: float
    value: Float[np.ndarray, " n_classes"]
    lower: Float[np.ndarray, " n_classes"]
    upper: Float[np.ndarray, " n_classes"]
    by: tuple[str, ...] = field(repr=False)
    train: Float[np.ndarray, " n_classes"]
    split: Float[np.ndarray, " n_classes"]
    split_lower: Float[np.ndarray, " n_classes"]
    split_upper: Float[np.ndarray, " n_classes"]
    p_value: Float[np.ndarray, " n_classes"]
    p_holm: Float[np.ndarray, " n_classes"]

    @classmethod
    def of(
        cls,
        dimension: Dimension,
        class_names: tuple[str, ...],
        n_in: Integer[np.ndarray, " n_classes"],
        n: Integer[np.ndarray, " n_classes"],
        *,
        scale: float = 1.0,
    ) -> "Shares":
        """Make it from counts, compared with nothing yet."""
        share, lower, upper, resampled = share_intervals(n_in, n)
        by = tuple(np.where(n > 0, np.where(resampled, "bootstrap", "Wilson"), "").tolist())
        unknown = np.full(len(n), np.nan)
        return cls(
            dimension, class_names, n_in, n, scale, scale * share, scale * lower, scale * upper, by, *[unknown] * 6
        )

    def beside(self, train: "Shares") -> "Shares":
        """Compare with the training set's own counts, and with random splits of both together."""
        split = random_splits(self.n_in, self.n, train.n_in, train.n)
        return replace(
            self,
            train=train.value,
            split=self.scale * split.mean,
            split_lower=self.scale * split.lower,
            split_upper=self.scale * split.upper,
            p_value=split.p_value,
            p_holm=np.array(holm(split.p_value.tolist())),
        )

    @property
    def present(self) -> Bool[np.ndarray, " n_classes"]:
        """Which classes the dimension could be measured of."""
        return self.n > 0 if self.scale == 1 else self.n_in > 0

    @property
    def absent(self) -> tuple[str, ...]:
        """The classes without a single sample."""
        return tuple(name for name, there in zip(self.class_names, self.present, strict=True) if not there)

    @property
    def overall(self) -> tuple[int, int, float, Interval]:
        """Inside, of how many, the share of all classes together, and its interval."""
        k, n = int(self.n_in.sum()), int(self.n.sum())
        share, lower, upper, _ = share_intervals(np.array([k]), np.array([n]))
        return k, n, float(share[0]), Interval(float(lower[0]), float(upper[0]))

    def spread(
        self, n_train: Integer[np.ndarray, " n_classes"], *, rng: np.random.Generator, n_resamples: int = 2000
    ) -> Spread:
        """Say how much the classes differ, noise included: the interval is a bootstrap's, brought back to the value.

        `n_train` training samples of each class made its region, which by chance holds more or less than another's:
        shares of classes that are all alike differ by that, too.
        """
        there = np.flatnonzero(self.present)
        if len(there) < 2:
            return Spread(float("nan"), UNKNOWN, float("nan"), len(there))
        k, n = self.n_in[there], self.n[there]
        value = float(self.value[there].std())
        if self.scale == 1:
            drawn = rng.binomial(n, k / n, size=(n_resamples, len(there))) / n
            trained = np.maximum(n_train[there], 1)
            regions = rng.binomial(trained, k.sum() / n.sum(), size=(n_resamples, len(there))) / trained
            level = rng.binomial(n, regions) / n
        else:
            drawn = rng.multinomial(n[0], k / n[0], size=n_resamples) / n[0]
            level = rng.multinomial(n[0], np.full(len(there), 1 / len(there)), size=n_resamples) / n[0]
        variances = np.square(self.scale * drawn.std(axis=1))
        # Resamples carry the noise of the sample and their own: by that much they lie too high.
        low, high = np.quantile(variances - (variances.mean() - value**2), [0.025, 0.975])
        interval = Interval(float(np.sqrt(max(low, 0.0))), float(np.sqrt(max(high, 0.0))))
        alike = self.scale * level.std(axis=1)
        p = (1 + int((alike >= value).sum())) / (1 + n_resamples)
        return Spread(value, interval, float(np.quantile(alike, 0.95)), len(there), p)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each class: dimension, label, and the fields."""
        names = ("n_in", "n", "value", "lower", "upper", "by", "train", "split", "split_lower", "split_upper")
        cells = {name: getattr(self, name) for name in (*names, "p_value", "p_holm")}
        return pd.DataFrame({"dimension": self.dimension, "label": list(self.class_names), **cells})


@dataclass(frozen=True, eq=False)
class RandomSplits:
    """What random splits give: the mean share, where 95 % of the splits lie, and how rare the share at hand is."""

    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    p_value: np.ndarray


def share_intervals(
    k: Integer[np.ndarray, "*shape"], n: Integer[np.ndarray, "*shape"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give k / n, its 95 % interval, and whether that is the bootstrap's (else Wilson's). NaN where n is 0.

    Resamples of n samples with a share p hold Binomial(n, p) of them inside: the percentile bootstrap, exactly.

    Examples
    --------
    >>> share, lower, upper, resampled = share_intervals(np.array([0, 50]), np.array([20, 100]))
    >>> share, lower.round(3), upper.round(3), resampled
    (array([0. , 0.5]), array([0. , 0.4]), array([0.161, 0.6 ]), array([False,  True]))
    """
    known = n > 0
    size = np.where(known, n, 1)
    share = np.where(known, k / size, np.nan)
    resampled = known & (np.minimum(k, n - k) >= FEWEST)
    p = np.where(known, k / size, 0.5)
    centre = (p + _Z**2 / (2 * size)) / (1 + _Z**2 / size)
    half = _Z / (1 + _Z**2 / size) * np.sqrt(p * (1 - p) / size + _Z**2 / (4 * size**2))
    # At 0 and 1 Wilson's end is the share itself, but for rounding.
    lower = np.where(k == 0, 0.0, np.maximum(centre - half, 0.0))
    upper = np.where(k == n, 1.0, np.minimum(centre + half, 1.0))
    if resampled.any():
        from scipy import stats

        lower[resampled] = stats.binom.ppf(0.025, n[resampled], p[resampled]) / n[resampled]
        upper[resampled] = stats.binom.ppf(0.975, n[resampled], p[resampled]) / n[resampled]
    return share, np.where(known, lower, np.nan), np.where(known, upper, np.nan), resampled


def random_splits(
    k: Integer[np.ndarray, "*shape"],
    n: Integer[np.ndarray, "*shape"],
    k_train: Integer[np.ndarray, "*shape"],
    n_train: Integer[np.ndarray, "*shape"],
    *,
    ends: bool = True,
) -> RandomSplits:
    """Say what n samples drawn at random from n + n_train hold, of which k + k_train lie inside. NaN where n is 0.

    Without `ends`, which take longest, these are NaN.

    Examples
    --------
    >>> one = random_splits(np.array([1]), np.array([50]), np.array([59]), np.array([250]))
    >>> one.mean, one.lower, one.upper, one.p_value < 0.001
    (array([0.2]), array([0.1]), array([0.3]), array([ True]))
    """
    from scipy import stats

    known = n > 0
    size = np.where(known, n, 1)
    both, inside = np.where(known, n + n_train, 1), np.where(known, k + k_train, 0)
    drawn = stats.hypergeom(both, inside, size)
    at = np.where(known, k, 0)
    # Twice the smaller tail, both of which hold the value itself.
    p = np.minimum(1.0, 2 * np.minimum(drawn.cdf(at), drawn.sf(at - 1)))
    unknown = np.full(k.shape, np.nan)
    lower, upper = (drawn.ppf(q) / size if ends else unknown for q in (0.025, 0.975))
    columns = (inside / both, lower, upper, p)
    return RandomSplits(*(np.where(known, values, np.nan) for values in columns))
