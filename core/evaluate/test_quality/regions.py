"""Where is the middle of a class, and where its boundary? Regions that training features and thresholds draw (4.2)."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError
from touchstone.core.data.values import Bools, Codes, Floats, Ints
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, holm, wilson_ends
from touchstone.core.evaluate.units import FEWEST_UNITS, Design
from touchstone.core.models.layers import LayerSamples
from touchstone.core.parameters import asks

Cells = Integer[np.ndarray, "*shape"]
"""A count for each class, or pair of them."""
OfClasses = Float[np.ndarray, " n_classes"]
CountsOfClasses = Integer[np.ndarray, " n_classes"]

if TYPE_CHECKING:
    from scipy.sparse import csc_array


THETA_2 = 0.7
Unit = Literal["99th percentile", "largest"]
UNITS: tuple[Unit, ...] = ("99th percentile", "largest")
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Regions:
    """The two regions of every class.

    A sample lies in its class's *centroid region* where its distance to the class's `centroids` row, in the class's
    `units`, is at most `radii`. It lies in the *boundary region*, whatever its class, where its confidence lies in
    [`theta1`, `theta2`]. No confidence is below 1/C, so that a `theta1` of 1/C or less lets all of them in, rounded
    ones too. `n_train` is how many training samples each class had.

    Examples
    --------
    >>> features = np.array([[0.0, 0.0], [2.0, 0.0], [8.0, 0.0], [9.0, 0.0], [13.0, 0.0]])
    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.1, 0.9], [0.1, 0.9]])
    >>> regions = fit_regions(LayerSamples(features, [0, 0, 1, 1, 1], proba, ("a", "b")), unit="largest")
    >>> regions.centroids[:, 0], regions.units, regions.radii.round(2)
    (array([ 1., 10.]), array([1., 3.]), array([1.  , 0.67]))
    >>> regions.in_centroid(features, np.array([0, 0, 1, 1, 1])), regions.in_boundary(proba)
    (array([ True,  True,  True,  True, False]), array([False,  True, False, False, False]))
    """

    class_names: tuple[str, ...]
    centroids: Float[np.ndarray, "n_classes n_features"] = field(repr=False)
    units: OfClasses
    radii: OfClasses
    n_train: CountsOfClasses
    theta1: float
    theta2: float

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    def check(self, samples: LayerSamples) -> None:
        """Raise DataError unless the samples have as many features as those that drew the regions, and its classes."""
        if samples.class_names != self.class_names:
            raise DataError(
                f"{samples.name} has {samples.n_classes} classes, the training samples {self.n_classes}, or they are "
                "called or ordered differently. They must be the same."
            )
        if samples.features.shape[1] != self.centroids.shape[1]:
            raise DataError(
                f"Features of another length: {samples.name} has {samples.features.shape[1]} a sample, the training "
                f"samples have {self.centroids.shape[1]}. Both must come from the same layer of the same model."
            )

    def distances(self, features: Float[np.ndarray, "n n_features"], y: Ints) -> Floats:
        """Give each sample's distance to the centroid of its class `y`, in units of that class."""
        return _lengths(features, self.centroids, y) / self.units[y]

    def in_centroid(self, features: Float[np.ndarray, "n n_features"], y: Ints) -> Bools:
        """Say which samples lie in the centroid region of their class."""
        return self.distances(features, y) <= self.radii[y]

    def in_boundary(self, proba: Float[np.ndarray, "n n_classes"]) -> Bools:
        """Say which samples lie in the boundary region."""
        return in_band(proba.max(axis=1), theta1=self.theta1, theta2=self.theta2, n_classes=self.n_classes)


def fit_regions(
    train: LayerSamples,
    *,
    r: float | None = None,
    theta1: float | None = None,
    theta2: float = THETA_2,
    unit: Unit = "99th percentile",
) -> Regions:
    """Draw the regions from training samples.

    The unit of a class is the 99th percentile of its distances to the centroid, since the largest is one outlier. `r`
    is in that unit; without one each class has its own training median, of which half of the training samples lie
    inside. `theta1` is 1/C by default. Raises DataError for a class with fewer than two training samples, or none
    that differ, and for thresholds that leave nothing.
    """
    y, n_classes = train.labels, train.n_classes
    theta1 = 1 / n_classes if theta1 is None else theta1
    check_band(theta1, theta2, n_classes)
    if unit not in UNITS:
        raise DataError(f"The unit of distances is {' or '.join(UNITS)}, not {unit!r}.")
    if r is not None and not (0 < r < np.inf):
        raise DataError(f"The radius of the centroid region must be positive; {r:g} is not.")
    counts = train.counts()
    if counts.min() < 2:
        label = int(counts.argmin())
        n = f"{counts[label]} training sample" + ("" if counts[label] == 1 else "s")
        raise DataError(
            f"{train.name}: class {train.class_names[label]!r} has {n}. A centroid and a spread need two or more."
        )
    centroids = np.stack([train.features[y == label].mean(axis=0, dtype=np.float64) for label in range(n_classes)])
    lengths = _lengths(train.features, centroids, y)
    units, radii = np.empty(n_classes), np.empty(n_classes)
    for label in range(n_classes):
        own = lengths[y == label]
        units[label] = np.quantile(own, 0.99) if unit == "99th percentile" else own.max()
        if not units[label] > 0:
            raise DataError(
                f"{train.name}: the training samples of class {train.class_names[label]!r} do not differ in their "
                "features, so there is no unit for distances. Take another layer."
            )
        # In the very arithmetic of `distances`, so that the median itself lies inside.
        radii[label] = np.median(own / units[label]) if r is None else r
    return Regions(train.class_names, centroids, units, radii, counts, float(theta1), float(theta2))


def in_band(confidence: Floats, *, theta1: float, theta2: float, n_classes: int) -> Bools:
    """Say which confidences lie in [theta1, theta2].

    Examples
    --------
    >>> in_band(np.array([0.4999, 0.7, 0.71]), theta1=0.5, theta2=0.7, n_classes=2)
    array([ True,  True, False])
    """
    below = confidence <= theta2
    return below if theta1 <= 1 / n_classes else below & (confidence >= theta1)


def check_band(theta1: float, theta2: float, n_classes: int) -> None:
    """Raise DataError for a band of confidences that holds none.

    Examples
    --------
    >>> check_band(0.5, 0.4, 2)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The boundary's confidences run from 0.5 to 0.4. With 2 classes ...
    """
    if not (0 <= theta1 <= theta2 <= 1 and theta2 >= 1 / n_classes):
        raise DataError(
            f"The boundary's confidences run from {theta1:g} to {theta2:g}. With {n_classes} classes they must rise, "
            f"end at {1 / n_classes:g} or above, and lie in [0, 1]."
        )


def rivals(
    proba: Float[np.ndarray, "n n_classes"], y: Ints, rows: Integer[np.ndarray, " n_rows"] | None = None
) -> Integer[np.ndarray, " n_rows"]:
    """Give the rival of each sample, or of each of some rows: the most probable class other than its own.

    Examples
    --------
    >>> rivals(np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]), np.array([0, 2]))
    array([1, 0])
    """
    rows = np.arange(len(y)) if rows is None else rows
    codes = np.empty(len(rows), dtype=np.intp)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        others = proba[part]
        others[np.arange(len(part)), y[part]] = -1.0
        codes[start : start + _CHUNK] = others.argmax(axis=1)
    return codes


def _lengths(features: np.ndarray, centroids: np.ndarray, y: np.ndarray) -> Floats:
    lengths = np.empty(len(features))
    for start in range(0, len(features), _CHUNK):
        part = slice(start, start + _CHUNK)
        apart = features[part] - centroids[y[part]]
        lengths[part] = np.sqrt(np.einsum("nd,nd->n", apart, apart))
    return lengths


# What do plans and pages ask about regions? The fields of their thresholds, the same wherever regions are drawn.


FORM = "regions"
"""The form that asks these: pages of several questions share it, parameters of the address included."""


def asks_theta2() -> Any:
    """Up to which confidence samples lie at the boundary."""
    return asks(
        THETA_2,
        "Boundary up to",
        "A sample lies at the boundary if the model's confidence is at most this (theta 2). The paper gives "
        "no value; the curve below shows its effect.",
        address="theta2",
        place="row",
        form=FORM,
        within=(0.0, 1.0, 0.05),
        format="%.3f",
    )


def asks_r() -> Any:
    """How far centroid regions reach; None for the median."""
    return asks(
        None,
        "Radius",
        "Radius of a centroid region, in the unit of distance. The default is each class's median training "
        "distance: half of the training samples lie inside.",
        address="r",
        place="row",
        form=FORM,
        within=(0.001, 10.0),
        word="median",
    )


def asks_theta1() -> Any:
    """From which confidence on samples lie at the boundary; None for the least that there is."""
    return asks(
        None,
        "Boundary from",
        "The lowest confidence at the boundary (theta 1). Usually one over the number of classes, the lowest possible.",
        address="theta1",
        form=FORM,
        within=(0.001, 1.0),
        word="usual",
        means=lambda plan, facts: 1 / facts.n_classes,
    )


def asks_unit() -> Any:
    """What distances to a centroid are measured in."""
    return asks(
        UNITS[0],
        "Unit of distance",
        "Percentile of a class's training distances to their centroid. The largest depends on a single sample.",
        address="unit",
        form=FORM,
        choices=lambda about: {"99th percentile": "99th percentile", "largest": "the largest"},
    )


# What share of each class lies in a region, how sure is that, and what would a random split have given?

Dimension = Literal["equivalence partitioning", "centroid positioning", "boundary conditioning"]
FEWEST = 10
"""With fewer samples than so many inside or outside, resamples hardly vary: the interval is then Wilson's."""


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
    n_in: CountsOfClasses
    n: CountsOfClasses
    scale: float
    value: OfClasses
    lower: OfClasses
    upper: OfClasses
    by: tuple[str, ...] = field(repr=False)
    train: OfClasses
    split: OfClasses
    split_lower: OfClasses
    split_upper: OfClasses
    p_value: OfClasses
    p_holm: OfClasses
    worth: OfClasses | None = field(default=None, repr=False)
    """How many samples tell as much as each of these, where they came in units."""
    by_unit: "CountsByUnit | None" = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        dimension: Dimension,
        class_names: tuple[str, ...],
        n_in: CountsOfClasses,
        n: CountsOfClasses,
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

    def spread(self, n_train: CountsOfClasses, *, rng: np.random.Generator, n_resamples: int = 2000) -> Spread:
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
    cell: Codes = field(repr=False)
    inside: Bool[np.ndarray, " n_samples"] = field(repr=False)
    part: Codes = field(repr=False)
    whole: Integer[np.ndarray, " n_cells"] = field(repr=False)

    @classmethod
    def of(
        cls,
        design: Design,
        cell: Codes,
        inside: Bool[np.ndarray, " n_samples"],
        n_cells: int,
        *,
        part: Codes | None = None,
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
    k: Cells, n: Cells, worth: Float[np.ndarray, "*shape"] | None = None
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
    lower, upper = wilson_ends(p, np.where(known, 1.0 * n if worth is None else worth, 1.0))
    if resampled.any():
        from scipy import stats

        lower[resampled] = stats.binom.ppf(0.025, n[resampled], p[resampled]) / n[resampled]
        upper[resampled] = stats.binom.ppf(0.975, n[resampled], p[resampled]) / n[resampled]
    return share, np.where(known, lower, np.nan), np.where(known, upper, np.nan), resampled


def random_splits(k: Cells, n: Cells, k_train: Cells, n_train: Cells, *, ends: bool = True) -> RandomSplits:
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
