"""What share of each class lies in a region, how sure is that, and what would a random split have given?"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from scipy.special import ndtri

from touchstone.core.evaluate.intervals import UNKNOWN, Interval, holm
from touchstone.core.evaluate.units import FEWEST_UNITS, Design

if TYPE_CHECKING:
    from scipy.sparse import csc_array

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
    worth: Float[np.ndarray, " n_classes"] | None = field(default=None, repr=False)
    """How many samples tell as much as each of these, where they came in units."""
    by_unit: "CountsByUnit | None" = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        dimension: Dimension,
        class_names: tuple[str, ...],
        n_in: Integer[np.ndarray, " n_classes"],
        n: Integer[np.ndarray, " n_classes"],
        *,
        scale: float = 1.0,
        by_unit: "CountsByUnit | None" = None,
    ) -> "Shares":
        """Make it from counts, compared with nothing yet; over units where these are told."""
        worth = None if by_unit is None else by_unit.worth
        share, lower, upper, resampled = share_intervals(n_in, n, worth)
        by = tuple(np.where(n > 0, np.where(resampled, "bootstrap", "Wilson"), "").tolist())
        ends = (scale * share, scale * lower, scale * upper)
        return cls(dimension, class_names, n_in, n, scale, *ends, by, *[np.full(len(n), np.nan)] * 6, worth, by_unit)

    def beside(self, train: "Shares") -> "Shares":
        """Compare with the training set's own counts, and with random splits of both together, units being whole."""
        if self.by_unit is None or train.by_unit is None:
            split = random_splits(self.n_in, self.n, train.n_in, train.n)
        else:
            split = self.by_unit.splits_with(train.by_unit, np.arange(len(self.n)))
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
        worth = None if self.by_unit is None else np.array([self.by_unit.worth_together])
        share, lower, upper, _ = share_intervals(np.array([k]), np.array([n]), worth)
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
        if self.worth is not None:
            fewer = self.worth[there] / n
            if np.isnan(fewer).any():
                return Spread(value, UNKNOWN, float("nan"), len(there))
            fewer, share = fewer if self.scale == 1 else np.full(len(there), fewer.min()), k / n
            n_train = n_train.copy()
            n_train[there] = np.maximum(n_train[there] * fewer, 1).astype(np.int64)
            n = np.maximum(n * fewer, 1).astype(np.int64)
            k = share * n
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


@dataclass(frozen=True, eq=False)
class CountsByUnit:
    """Samples that came in units: the cell of each (a class, a pair), and whether it lies inside.

    A sample counts in the total `part`; cell c is a share of the total `whole[c]`.

    Examples
    --------
    >>> design, y = Design(np.repeat(np.arange(20), 5), "author"), np.arange(100) // 5 % 2
    >>> alike = CountsByUnit.of(design, y, np.arange(100) // 10 % 2 == 0, 2)
    >>> alike.worth.round(1), round(alike.worth_together, 1)
    (array([7.5, 7.5]), 17.5)
    """

    design: Design
    cell: Integer[np.ndarray, " n_samples"] = field(repr=False)
    inside: Bool[np.ndarray, " n_samples"] = field(repr=False)
    part: Integer[np.ndarray, " n_samples"] = field(repr=False)
    whole: Integer[np.ndarray, " n_cells"] = field(repr=False)

    @classmethod
    def of(
        cls,
        design: Design,
        cell: Integer[np.ndarray, " n_samples"],
        inside: Bool[np.ndarray, " n_samples"],
        n_cells: int,
        *,
        part: Integer[np.ndarray, " n_samples"] | None = None,
        whole: Integer[np.ndarray, " n_cells"] | None = None,
    ) -> "CountsByUnit | None":
        """None where each sample is a unit. Without `part` and `whole` a cell is a share of its own samples."""
        if design.by_sample:
            return None
        if part is None or whole is None:
            part, whole = cell, np.arange(n_cells)
        return cls(design, cell, inside, part, whole)

    @cached_property
    def worth(self) -> Float[np.ndarray, " n_cells"]:
        """How many samples of units of their own would tell as much as those of each cell; NaN of too few units."""
        return np.array([self._worth(self.part == total, self.cell == cell) for cell, total in enumerate(self.whole)])

    @property
    def worth_together(self) -> float:
        """The same of all cells as one."""
        everywhere = np.ones(len(self.cell), dtype=bool)
        return self._worth(everywhere, everywhere)

    def _worth(self, among: Bool[np.ndarray, " n_samples"], of_cell: Bool[np.ndarray, " n_samples"]) -> float:
        marked = (self.inside & of_cell)[among].astype(np.float64)
        n, design = len(marked), self.design if among.all() else self.design.of(among)
        return design.effect((marked - marked.mean()) / n).worth(n) if n else float("nan")

    @cached_property
    def _counts(self) -> tuple["csc_array", "csc_array"]:
        """Of each unit that is there, how many samples lie inside each cell, and how many each total has."""
        from scipy.sparse import csc_array

        row = np.unique(self.design.codes, return_inverse=True)[1]
        n_units, ones = int(row.max(initial=-1)) + 1, np.ones(len(row))
        cells, shape = self.cell[self.inside], (n_units, len(self.whole))
        inside = csc_array((ones[self.inside], (row[self.inside], cells)), shape=shape)
        return inside, csc_array((ones, (row, self.part)), shape=(n_units, int(self.whole.max()) + 1))

    def splits_with(
        self, train: "CountsByUnit", cells: Integer[np.ndarray, " n_cells"], *, ends: bool = True
    ) -> "RandomSplits":
        """What random splits give that take as many units for the test set, each of them whole; of these cells.

        Shares are those of drawn splits, in which the split at hand counts as one.
        """
        from scipy.sparse import csc_array, vstack

        (own_inside, own_total), (other_inside, other_total) = self._counts, train._counts
        inside = csc_array(vstack([own_inside[:, cells], other_inside[:, cells]]))
        totals = self.whole[cells]
        total = csc_array(vstack([own_total[:, totals], other_total[:, totals]]))
        n_test, n_train = (len(np.unique(each.design.codes)) for each in (self, train))
        n_units = n_test + n_train
        n_draws = int(np.clip(_DRAWS_PER_CELL * len(cells), _FEWEST_DRAWS, _MOST_DRAWS))
        rng, step = np.random.default_rng([n_units, n_test]), max(_AT_ONCE // max(n_units, len(cells)), 1)
        observed = self._share(np.arange(n_units)[None] < n_test, inside, total)[0]
        below, above, n_known = np.ones(len(cells)), np.ones(len(cells)), np.ones(len(cells))
        kept = []
        for start in range(0, n_draws, step):
            order = np.argsort(rng.random((min(step, n_draws - start), n_units)), axis=1)
            drawn = self._share(order < n_test, inside, total)
            there = ~np.isnan(drawn)  # a split may have no sample of a class at all
            n_known += there.sum(axis=0)
            below += (there & (drawn <= observed)).sum(axis=0)
            above += (there & (drawn >= observed)).sum(axis=0)
            kept += [drawn] * ends
        known = ~np.isnan(observed) & (min(n_test, n_units - n_test) >= FEWEST_UNITS)
        p = np.minimum(1.0, 2 * np.minimum(below, above) / n_known)
        lower, upper = (np.full(len(cells), np.nan) for _ in range(2))
        if ends and (drawn_some := known & (n_known > 1)).any():
            lower[drawn_some], upper[drawn_some] = np.nanquantile(
                np.concatenate(kept)[:, drawn_some], [0.025, 0.975], axis=0
            )
        both = np.asarray(total.sum(axis=0)).ravel()
        mean = np.asarray(inside.sum(axis=0)).ravel() / np.where(both > 0, both, 1)
        columns = (mean, lower, upper, p)
        return RandomSplits(*(np.where(known, values, np.nan) for values in columns))

    @staticmethod
    def _share(drawn: Bool[np.ndarray, "draws n_units"], inside: "csc_array", total: "csc_array") -> np.ndarray:
        k, n = (np.asarray((counts.T @ drawn.T.astype(np.float64)).T) for counts in (inside, total))
        return np.where(n > 0, k / np.where(n > 0, n, 1), np.nan)


_DRAWS_PER_CELL, _FEWEST_DRAWS, _MOST_DRAWS, _AT_ONCE = 40, 1999, 9999, 4_000_000
"""How many splits are drawn: enough that one cell of all can stand out after correction; and numbers held at once."""


def share_intervals(
    k: Integer[np.ndarray, "*shape"], n: Integer[np.ndarray, "*shape"], worth: Float[np.ndarray, "*shape"] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give k / n, its 95 % interval, and whether that is the bootstrap's (else Wilson's). NaN where n is 0.

    `worth` says how many samples would tell as much, where they came in units: the interval is then Wilson's of these.

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
    resampled = known & (np.minimum(k, n - k) >= FEWEST) & (worth is None)
    p = np.where(known, k / size, 0.5)
    size = size if worth is None else np.where(known, worth, 1)
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
