"""What could a test set have missed? For each class and pair, the largest error rate that it cannot rule out.

Thirty-six samples without an error say that the error rate is at most 8 %, not that it is 0: the bounds of Clopper and
Pearson, one-sided, exact whatever the model. They stay meaningful for a good one, and say of whom to collect more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from scipy import special
from scipy.special import gammaln

from touchstone.core.data import DataError
from touchstone.core.data.values import Bools, Ints
from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.test_quality.regions import CountsByUnit, Regions, random_splits, rivals, share_intervals
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.evaluate.wording import count, percent, plural, quoted
from touchstone.core.models.layers import Head, LayerSamples

LEVEL = 0.95
WITHIN = 0.05
"""A bound this far above the errors seen is near enough: `n_more` says what that takes."""


@dataclass(frozen=True, eq=False)
class ErrorBounds:
    """Of classes, or of pairs of them, how many of `n` samples are wrong, and how many may be.

    `alone` is the one-sided 95 % upper bound of each error rate, `together` bounds all of them at once (Bonferroni):
    only these may be read off after looking for the largest. 1 where there is no sample, NaN where nothing is asked.

    Examples
    --------
    >>> bounds = ErrorBounds(np.array([0, 2]), np.array([36, 40]))
    >>> bounds.alone.round(3), bounds.together.round(3), bounds.n_more
    (array([0.08 , 0.149]), array([0.097, 0.169]), array([ 36, 102]))
    """

    n_wrong: Integer[np.ndarray, "*cells"]
    n: Integer[np.ndarray, "*cells"]
    asked: np.ndarray | None = field(default=None, repr=False)
    fewer: Float[np.ndarray, "*cells"] | None = field(default=None, repr=False)
    """As how many independent samples each counts, where they came in units; NaN of too few, which bound nothing."""

    @property
    def n_asked(self) -> int:
        """How many error rates are bounded at once."""
        return int(self.n.size if self.asked is None else self.asked.sum())

    @property
    def alone(self) -> Float[np.ndarray, "*cells"]:
        """The bound of each rate, were it the only one that is looked at."""
        return self._bound(1 - LEVEL)

    @property
    def together(self) -> Float[np.ndarray, "*cells"]:
        """The bounds of all rates at once."""
        return self._bound((1 - LEVEL) / max(self.n_asked, 1))

    @property
    def rate(self) -> Float[np.ndarray, "*cells"]:
        """The share that is wrong; 0 without a sample."""
        return self.n_wrong / np.maximum(self.n, 1)

    @property
    def unseen(self) -> Float[np.ndarray, "*cells"]:
        """How far each rate may lie above what was seen, all of them at once."""
        return self.together - self.rate

    @property
    def n_more(self) -> Integer[np.ndarray, "*cells"]:
        """How many more samples bring `unseen` to `WITHIN`, if errors stay as frequent; 0 where it is there already."""
        level = (1 - LEVEL) / max(self.n_asked, 1)
        times = np.nan_to_num(self._fewer, nan=1.0)
        enough = smallest(lambda n: _upper(self.rate * n * times, n * times, level) - self.rate <= WITHIN, like=self.n)
        return np.maximum(enough - self.n, 0)

    @property
    def _fewer(self) -> Float[np.ndarray, "*cells"]:
        return np.ones(self.n.shape) if self.fewer is None else self.fewer

    def _bound(self, level: float) -> np.ndarray:
        times = self._fewer
        bound = np.where(np.isnan(times), 1.0, _upper(self.n_wrong * times, self.n * times, level))
        return bound if self.asked is None else np.where(self.asked, bound, np.nan)


@dataclass(frozen=True, eq=False)
class Missed:
    """The error rates that a test set cannot rule out: of each class and of each ordered pair (label, taken for).

    Those at the boundary count the samples that lie there; a pair's are those whose rival is the other class.
    """

    class_names: tuple[str, ...]
    classes: ErrorBounds
    classes_at_boundary: ErrorBounds
    pairs: ErrorBounds
    pairs_at_boundary: ErrorBounds

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each class, the least known first: label, n_more, then n, n_wrong, rate, bound (alone),
        bound_together, and these at the boundary with `boundary_` before them.
        """
        order = np.argsort(-self.classes.unseen, kind="stable")
        columns = _columns(self.classes) | _columns(self.classes_at_boundary, "boundary_")
        names = np.array(self.class_names, dtype=object)
        table = pd.DataFrame({"label": names, "n_more": self.classes.n_more} | columns)
        return table.iloc[order].reset_index(drop=True)

    def pairs_table(self) -> pd.DataFrame:
        """Tidy rows, one for each ordered pair, the least known first: label, taken_for, then as in `table`."""
        i, j = np.nonzero(~np.eye(len(self.class_names), dtype=bool))
        names = np.array(self.class_names, dtype=object)
        columns = _columns(self.pairs) | _columns(self.pairs_at_boundary, "boundary_")
        cells = {name: values[i, j] for name, values in columns.items()}
        table = pd.DataFrame({"label": names[i], "taken_for": names[j]} | cells)
        order = np.argsort(-(table["bound_together"] - table["rate"]).to_numpy(), kind="stable")
        return table.iloc[order].reset_index(drop=True)


def measure_missed(test: LayerSamples, regions: Regions, design: Design = EACH_SAMPLE) -> Missed:
    """Bound every error rate of a test set, overall and at the boundary; over the units of its samples.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.regions import fit_regions
    >>> x, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    >>> p = 1 / (1 + np.exp(-(x[:, 0] - 18.5)))
    >>> samples = LayerSamples(x, y, np.column_stack([1 - p, p]), ("low", "high"))
    >>> found = measure_missed(samples, fit_regions(samples))
    >>> found.classes.n_wrong, found.classes.together.round(3)
    (array([1, 0]), array([0.249, 0.168]))
    """
    y, predicted = test.labels, test.predicted
    at_edge, rival = regions.in_boundary(test.proba), rivals(test.proba, y)
    counted = _counter(test.n_classes)
    taken, taken_at_edge = counted(y, predicted), counted(y[at_edge], predicted[at_edge])
    of_rival = at_edge & (predicted == rival)
    different = ~np.eye(test.n_classes, dtype=bool)
    n, n_at_edge = taken.sum(axis=1), taken_at_edge.sum(axis=1)
    fewer, fewer_at_edge = _fewer_than(design, y, predicted, test.n_classes), None
    if fewer is not None:
        fewer_at_edge = _fewer_than(design.of(at_edge), y[at_edge], predicted[at_edge], test.n_classes)
    of_pairs, of_pairs_at_edge = (
        None if each is None else np.broadcast_to(each[:, None], taken.shape) for each in (fewer, fewer_at_edge)
    )
    return Missed(
        test.class_names,
        ErrorBounds(n - np.diag(taken), n, fewer=fewer),
        ErrorBounds(n_at_edge - np.diag(taken_at_edge), n_at_edge, fewer=fewer_at_edge),
        ErrorBounds(np.where(different, taken, 0), np.broadcast_to(n[:, None], taken.shape), different, of_pairs),
        ErrorBounds(
            np.where(different, counted(y[of_rival], predicted[of_rival]), 0),
            counted(y[at_edge], rival[at_edge]),
            different,
            of_pairs_at_edge,
        ),
    )


def _fewer_than(
    design: Design, y: np.ndarray, predicted: np.ndarray, n_classes: int
) -> Float[np.ndarray, " n_classes"] | None:
    """As how many independent samples each sample of a class counts; None where each is a unit."""
    by_unit = CountsByUnit.of(design, y, y != predicted, n_classes)
    return None if by_unit is None else by_unit.worth / np.maximum(np.bincount(y, minlength=n_classes), 1)


def smallest(
    holds: Callable[[np.ndarray], np.ndarray], *, like: Integer[np.ndarray, "*cells"]
) -> Integer[np.ndarray, "*cells"]:
    """The least whole number from 1 at which each cell holds, found by doubling and halving; it must stay true.

    Examples
    --------
    >>> smallest(lambda n: n >= np.array([3, 1000]), like=np.zeros(2, dtype=np.int64))
    array([   3, 1000])
    """
    low, high = np.zeros(like.shape, dtype=np.int64), np.ones(like.shape, dtype=np.int64)
    while not (there := holds(high)).all():
        low, high = np.where(there, low, high), np.where(there, high, 2 * high)
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        there = holds(middle)
        low, high = np.where(there, low, middle), np.where(there, np.minimum(middle, high), high)
    return high


def _upper(n_wrong: np.ndarray, n: np.ndarray, level: float) -> np.ndarray:
    """Clopper and Pearson's upper end; the number of errors need not be whole."""
    right = np.maximum(n - n_wrong, 0)
    inside = special.betaincinv(n_wrong + 1, np.where(right > 0, right, 1), 1 - level)
    return np.where(right > 0, inside, 1.0)


def _counter(n_classes: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def counted(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        cells = np.bincount(rows * n_classes + columns, minlength=n_classes**2)
        return cells.reshape(n_classes, n_classes)

    return counted


def _columns(bounds: ErrorBounds, before: str = "") -> dict[str, np.ndarray]:
    columns = {"n": bounds.n, "n_wrong": bounds.n_wrong, "rate": bounds.rate, "bound": bounds.alone}
    return {f"{before}{name}": values for name, values in (columns | {"bound_together": bounds.together}).items()}


# Which error rates can a test set not rule out, and of whom should more be collected? In sentences.


def headline(missed: Missed) -> str:
    """The class that the test set knows least.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.missed import ErrorBounds
    >>> bounds = ErrorBounds(np.array([0, 2]), np.array([36, 400]))
    >>> missed = Missed(("cat", "dog"), bounds, bounds, bounds, bounds)
    >>> print(headline(missed))
    For “cat”, an error rate up to 9.7 % cannot be ruled out: 0 of its 36 test samples are wrong.
    """
    bounds = missed.classes
    label = int(bounds.unseen.argmax())
    name, n = quoted(missed.class_names[label]), int(bounds.n[label])
    if n == 0:
        return f"{name} has no test sample, so its error rate is unknown."
    return (
        f"For {name}, an error rate up to {percent(float(bounds.together[label]))} cannot be ruled out: "
        f"{_wrong(int(bounds.n_wrong[label]), n)}."
    )


def at_boundaries(missed: Missed) -> str:
    """What is known where the model is unsure, all classes together."""
    bounds = missed.classes_at_boundary
    n, n_wrong = int(bounds.n.sum()), int(bounds.n_wrong.sum())
    if n == 0:
        return "No test sample lies at a boundary, so the error rate there is unknown."
    upper = percent(float(type(bounds)(np.array([n_wrong]), np.array([n])).alone[0]))
    return (
        f"At the boundaries {count(n_wrong)} of {plural(n, 'test sample')} {_is(n_wrong)} wrong: an error rate up to "
        f"{upper} cannot be ruled out there."
    )


def least_known_pair(missed: Missed) -> str:
    """The pair of class and prediction of which least is known; empty with fewer than two classes."""
    bounds = missed.pairs
    unseen = bounds.unseen
    known = np.where((bounds.n > 0) & ~np.isnan(unseen), unseen, -np.inf)
    if not np.isfinite(known).any():
        return ""
    i, j = np.unravel_index(int(known.argmax()), known.shape)
    name, other = (quoted(missed.class_names[label]) for label in (i, j))
    return (
        f"{name} predicted as {other} in {count(int(bounds.n_wrong[i, j]))} of "
        f"{plural(int(bounds.n[i, j]), 'sample')}: "
        f"up to {percent(float(bounds.alone[i, j]))} cannot be ruled out, {percent(float(bounds.together[i, j]))} over "
        f"all {count(bounds.n_asked)} pairs at once."
    )


def collect(missed: Missed) -> str:
    """What to collect next; empty where every bound is near enough to what was seen.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.missed import ErrorBounds
    >>> bounds = ErrorBounds(np.array([0, 2]), np.array([36, 400]))
    >>> print(collect(Missed(("cat", "dog"), bounds, bounds, bounds, bounds)))
    Next: label 36 more samples of “cat”. Without more errors, its bound falls to 5.0 %.
    """
    bounds = missed.classes
    label = int(bounds.unseen.argmax())
    n_more, rate = int(bounds.n_more[label]), float(bounds.rate[label])
    if not n_more:
        return ""
    more = plural(n_more, "more sample")
    errors = "Without more errors" if rate == 0 else "With errors as frequent as now"
    return (
        f"Next: label {more} of {quoted(missed.class_names[label])}. {errors}, its bound falls "
        f"to {percent(rate + WITHIN)}."
    )


def _wrong(n_wrong: int, n: int) -> str:
    if n == 1:
        return f"its only test sample is {'wrong' if n_wrong else 'right'}"
    return f"{count(n_wrong)} of its {count(n)} test samples {_is(n_wrong)} wrong"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


# At the boundary with whom? Pairwise boundary conditioning, readable with a hundred classes (section 4.2, (4)).


@dataclass(frozen=True, eq=False)
class PairShares:
    """PBC[i, j]: the share of class i's samples at the boundary whose rival is j. Rows sum to BC; the diagonal is 0.

    Rows are NaN for classes without samples. Intervals and training values are those of `Shares`, with `p_holm`
    corrected for all pairs. Random splits are those with as many samples of the class at its boundary.

    Examples
    --------
    >>> pairs = PairShares.of(("a", "b", "c"), np.array([[0, 3, 1], [2, 0, 2], [0, 0, 0]]), np.array([10, 8, 0]))
    >>> pairs.value
    array([[0.  , 0.3 , 0.1 ],
           [0.25, 0.  , 0.25],
           [ nan,  nan,  nan]])
    """

    class_names: tuple[str, ...]
    n_in: Integer[np.ndarray, "n_classes n_classes"] = field(repr=False)
    n: Integer[np.ndarray, " n_classes"]
    value: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    lower: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    upper: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    train: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    split: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    p_value: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    p_holm: Float[np.ndarray, "n_classes n_classes"] = field(repr=False)
    worth: Float[np.ndarray, " n_classes"] | None = field(default=None, repr=False)
    by_unit: CountsByUnit | None = field(default=None, repr=False)
    split_met: float = float("nan")
    """How many pairs have a sample in a random split with as many samples at the boundary of each class."""

    @classmethod
    def of(
        cls,
        class_names: tuple[str, ...],
        n_in: Integer[np.ndarray, "n_classes n_classes"],
        n: Integer[np.ndarray, " n_classes"],
        *,
        worth: Float[np.ndarray, " n_classes"] | None = None,
        by_unit: CountsByUnit | None = None,
    ) -> "PairShares":
        """Make it from counts, compared with nothing yet; over units where these are told (`worth` as in `Shares`)."""
        of_pairs = None if worth is None else np.broadcast_to(worth[:, None], n_in.shape)
        share, lower, upper, _ = share_intervals(n_in, np.broadcast_to(n[:, None], n_in.shape), of_pairs)
        unknown = np.full(n_in.shape, np.nan)
        return cls(class_names, n_in, n, share, lower, upper, *[unknown] * 4, worth, by_unit)

    def beside(self, train: "PairShares") -> "PairShares":
        """Compare with the training set's own counts, and with random splits of both together.

        These have as many samples of the class at its boundary as both sets do: how many lie there at all says little,
        for a model that knows its training samples by heart is sure of them.
        """
        n, n_train = (np.broadcast_to(shares.n_in.sum(axis=1)[:, None], shares.n_in.shape) for shares in (self, train))
        ever = (self.n_in + train.n_in > 0) & (n > 0)
        p = np.full(n.shape, np.nan)
        of_class = np.broadcast_to(self.n[:, None], n.shape)
        split = np.where(of_class > 0, 0.0, np.nan)
        if ever.any():
            if self.by_unit is None or train.by_unit is None:
                splits = random_splits(self.n_in[ever], n[ever], train.n_in[ever], n_train[ever], ends=False)
            else:
                splits = self.by_unit.splits_with(train.by_unit, np.flatnonzero(ever), ends=False)
            p[ever] = splits.p_value
            split[ever] = np.nan_to_num(splits.mean) * n[ever] / of_class[ever]
        corrected = np.array(holm(p.ravel().tolist())).reshape(p.shape)
        met = expected_met(self.n_in, self.n_in + train.n_in)
        return replace(self, train=train.value, split=split, p_value=p, p_holm=corrected, split_met=met)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    @property
    def n_met(self) -> int:
        """How many ordered pairs of classes have a sample at all."""
        return int((self.n_in > 0).sum())

    def order(self) -> Integer[np.ndarray, " n_classes"]:
        """Give the classes in an order that puts those which are confused side by side, as a heat map wants it.

        Leaves of an average-linkage tree, ordered optimally; what is unmeasured counts as not confused.
        """
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

        if self.n_classes < 3:
            return np.arange(self.n_classes)
        share = np.nan_to_num(self.value)
        near = share + share.T
        apart = 1 - near / max(near.max(), 1e-12)
        np.fill_diagonal(apart, 0.0)
        tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
        return leaves_list(tree).astype(np.int64)

    def table(self, *, most: int | None = None) -> pd.DataFrame:
        """Tidy rows, one for each ordered pair of different classes, or the `most` frequent: label, rival, the fields.

        A hundred classes make 9,900 pairs, of which a reader wants the top.
        """
        i, j = np.nonzero(~np.eye(self.n_classes, dtype=bool))
        if most is not None:
            rank = np.argsort(-np.nan_to_num(self.value[i, j]), kind="stable")[:most]
            i, j = i[rank], j[rank]
        names = np.array(self.class_names, dtype=object)
        cells: dict[str, object] = {"label": names[i], "rival": names[j], "n_in": self.n_in[i, j], "n": self.n[i]}
        for name in ("value", "lower", "upper", "train", "split", "p_value", "p_holm"):
            cells[name] = getattr(self, name)[i, j]
        return pd.DataFrame(cells)


def expected_met(
    n_in: Integer[np.ndarray, "n_rows n_classes"], pooled: Integer[np.ndarray, "n_rows n_classes"]
) -> float:
    """Say how many pairs have a sample, on average, when each class draws as many as `n_in` has from `pooled`.

    Examples
    --------
    >>> expected_met(np.array([[0, 3, 0]]), np.array([[0, 3, 1]]))
    1.75
    """
    drawn, there = n_in.sum(axis=1, keepdims=True), pooled.sum(axis=1, keepdims=True)
    others = there - pooled
    possible = others >= drawn
    logs = (
        gammaln(others + 1)
        - gammaln(np.where(possible, others - drawn, 0) + 1)
        - gammaln(there + 1)
        + gammaln(there - drawn + 1)
    )
    return float((1 - np.where(possible, np.exp(logs), 0.0)).sum())


# How do two classes lie to one another? Their samples in a plane with both centroids, regions, boundary (figure 1).


_MARGIN = 0.08  # of the plane's width, around what is shown


@dataclass(frozen=True, eq=False)
class PairMap:
    """Two classes in the plane through their centroids in which their samples vary most.

    `points` are positions of the samples with index `rows`: the first axis runs from the first centroid (0) to the
    second (1), the second is in the same unit. `radii` are those of the centroid regions, circles in this plane: who
    lies in a region lies in its circle, but not the other way round, since a circle is the shadow of a ball. `grid` is
    the head's probability of the second class out of the two *within the plane*, on `grid_x` and `grid_y`; its .5 is
    the boundary there, and samples lie above or below the plane.
    """

    labels: tuple[str, str]
    rows: Ints
    y: Ints = field(repr=False)
    points: Float[np.ndarray, "n 2"] = field(repr=False)
    in_centroid: Bools = field(repr=False)
    in_boundary: Bools = field(repr=False)
    centroids: Float[np.ndarray, "2 2"]
    radii: Float[np.ndarray, " 2"]
    kept_variance: float
    grid_x: Float[np.ndarray, " n_x"] = field(repr=False)
    grid_y: Float[np.ndarray, " n_y"] = field(repr=False)
    grid: Float[np.ndarray, "n_y n_x"] | None = field(repr=False)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each sample: row, label, along, across, in_centroid, in_boundary."""
        names = np.array(self.labels, dtype=object)
        return pd.DataFrame(
            {
                "row": self.rows,
                "label": names[self.y],
                "along": self.points[:, 0],
                "across": self.points[:, 1],
                "in_centroid": self.in_centroid,
                "in_boundary": self.in_boundary,
            }
        )


def map_pair(
    samples: LayerSamples, regions: Regions, first: int, second: int, *, head: Head | None = None, n_grid: int = 60
) -> PairMap:
    """Lay two classes out. Without a `head` there is no grid. Raises DataError for a class paired with itself."""
    regions.check(samples)
    if first == second or not all(0 <= label < samples.n_classes for label in (first, second)):
        raise DataError(f"A map needs two different classes of {samples.n_classes}; given {first} and {second}.")
    rows = np.flatnonzero(np.isin(samples.labels, (first, second)))
    y, features = samples.labels[rows], samples.features[rows].astype(np.float64)
    origin = regions.centroids[first]
    between = regions.centroids[second] - origin
    unit = float(np.linalg.norm(between))
    if not unit > 0:
        raise DataError("The two centroids are the same point. Take another layer.")
    along = between / unit
    centred = features - origin
    rest = centred - np.outer(centred @ along, along)
    across = _first_direction(rest)
    plane = np.stack([along, across], axis=1)
    points = centred @ plane / unit
    centroids = np.array([[0.0, 0.0], [1.0, 0.0]])
    radii = regions.radii[[first, second]] * regions.units[[first, second]] / unit
    corners = np.vstack([points, centroids - radii[:, None], centroids + radii[:, None]])
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = _MARGIN * (high - low)
    grid_x, grid_y = (np.linspace(low[k] - margin[k], high[k] + margin[k], n_grid) for k in (0, 1))
    grid = None
    if head is not None:
        flat = np.stack(np.meshgrid(grid_x, grid_y), axis=-1).reshape(-1, 2)
        # Through the mean of what the plane leaves out, where the samples are.
        off = (centred - points * unit @ plane.T).mean(axis=0) if len(rows) else 0.0
        proba = head(origin + off + unit * flat @ plane.T)[:, [first, second]]
        grid = (proba[:, 1] / np.maximum(proba.sum(axis=1), 1e-300)).reshape(n_grid, n_grid)
    total = np.square(centred - centred.mean(axis=0)).sum() if len(rows) else 0.0
    kept = np.square(points - points.mean(axis=0)).sum() * unit**2 / total if total > 0 else float("nan")
    return PairMap(
        (samples.class_names[first], samples.class_names[second]),
        rows,
        (y == second).astype(np.int64),
        points,
        regions.in_centroid(samples.features[rows], y),
        regions.in_boundary(samples.proba[rows]),
        centroids,
        radii,
        float(kept),
        grid_x,
        grid_y,
        grid,
    )


def _first_direction(rest: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " d"]:
    """The direction in which `rest` varies most; zeros where it does not vary. Its sign makes the largest part +."""
    if len(rest) < 2 or not np.ptp(rest, axis=0).any():
        return np.zeros(rest.shape[1])
    _, _, directions = np.linalg.svd(rest - rest.mean(axis=0), full_matrices=False)
    first = directions[0]
    return first * np.sign(first[np.abs(first).argmax()])
