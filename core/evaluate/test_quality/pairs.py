"""At the boundary with whom? Pairwise boundary conditioning, readable with a hundred classes (section 4.2, (4))."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from scipy.special import gammaln

from touchstone.core.data import DataError
from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.evaluate.test_quality.shares import CountsByUnit, random_splits, share_intervals
from touchstone.core.models.layers import Head, LayerSamples


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
    >>> pairs.n_rivals.round(2)
    array([1.75, 2.  ,  nan])
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
    def n_rivals(self) -> Float[np.ndarray, " n_classes"]:
        """How many rivals the boundary of each class is shared with, were all alike: exp of the entropy of its row.

        C - 1 is even, 1 is one rival alone, NaN is nobody at the boundary.
        """
        totals = self.n_in.sum(axis=1)
        share = self.n_in / np.maximum(totals, 1)[:, None]
        entropy = -np.where(share > 0, share * np.log(np.where(share > 0, share, 1.0)), 0.0).sum(axis=1)
        return np.where(totals > 0, np.exp(entropy), np.nan)

    @property
    def n_met(self) -> int:
        """How many ordered pairs of classes have a sample at all."""
        return int((self.n_in > 0).sum())

    @property
    def significant(self) -> list[tuple[int, int]]:
        """The pairs whose share differs from that of random splits, corrected for all pairs."""
        return [(int(i), int(j)) for i, j in np.argwhere(np.nan_to_num(self.p_holm, nan=1.0) < 0.05)]

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
    rows: Integer[np.ndarray, " n"]
    y: Integer[np.ndarray, " n"] = field(repr=False)
    points: Float[np.ndarray, "n 2"] = field(repr=False)
    in_centroid: Bool[np.ndarray, " n"] = field(repr=False)
    in_boundary: Bool[np.ndarray, " n"] = field(repr=False)
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
