"""How do two classes lie to one another? Their samples in a plane with both centroids, regions, boundary (figure 1)."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.models.layers import Head, LayerSamples

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
