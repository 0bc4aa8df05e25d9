"""Where on its way does a feature lie in a region? Lines through feature space, many at once, and bisection on t."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.models.layers import Head

_N_STEPS = 10  # of bisection: a thousandth of the way
_N_STEPS_TO_ENDS = 8
Predicate = Callable[[Float[np.ndarray, " n"]], Bool[np.ndarray, " n"]]


@dataclass(frozen=True, eq=False)
class Paths:
    """Lines start + t * (end - start) + noise, t from 0 to 1, a row each; held to what the layer can give.

    `low` and `high` bound each feature by what training samples have: behind a ReLU nothing is negative.
    """

    start: Float[np.ndarray, "n d"] = field(repr=False)
    end: Float[np.ndarray, "n d"] = field(repr=False)
    noise: Float[np.ndarray, "n d"] = field(repr=False)
    low: Float[np.ndarray, " d"] = field(repr=False)
    high: Float[np.ndarray, " d"] = field(repr=False)

    def at(self, t: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n d"]:
        """Give the point of each line at its `t`."""
        points = self.end - self.start
        points *= t[:, None].astype(points.dtype)
        points += self.start
        points += self.noise
        return np.clip(points, self.low, self.high, out=points)

    def to(self, end: Float[np.ndarray, "n d"]) -> "Paths":
        """Give the same lines with other ends."""
        return Paths(self.start, end, self.noise, self.low, self.high)


def first_true(
    holds: Predicate, low: Float[np.ndarray, " n"], high: Float[np.ndarray, " n"], *, n_steps: int = _N_STEPS
) -> Float[np.ndarray, " n"]:
    """Bisect between `low`, where `holds` is not true, and `high`, where it is: give the t just inside, row by row.

    Examples
    --------
    >>> first_true(lambda t: t >= np.array([0.25, 0.5]), np.zeros(2), np.ones(2)).round(2)
    array([0.25, 0.5 ])
    """
    low, high = low.copy(), high.copy()
    for _ in range(n_steps):
        middle = (low + high) / 2
        inside = holds(middle)
        high = np.where(inside, middle, high)
        low = np.where(inside, low, middle)
    return high


def place_near_centroid(
    paths: Paths, y: Integer[np.ndarray, " n"], regions: Regions, *, rng: np.random.Generator
) -> Float[np.ndarray, " n"]:
    """Give a `t` at which each line, which ends at its own centroid, lies in the centroid region, where there is one.

    The region is a ball, so that a line is inside from some t on; of what is inside each takes a random t.
    """

    def inside(t: np.ndarray) -> np.ndarray:
        return regions.in_centroid(paths.at(t), y)

    nothing, all_of_it = np.zeros(len(y)), np.ones(len(y))
    entered = np.where(inside(nothing), 0.0, first_true(inside, nothing, all_of_it))
    return entered + (1 - entered) * rng.random(len(y))


def place_at_boundary(
    paths: Paths,
    y: Integer[np.ndarray, " n"],
    rival: Integer[np.ndarray, " n"],
    regions: Regions,
    head: Head,
    *,
    rng: np.random.Generator,
) -> tuple[Paths, Float[np.ndarray, " n"]]:
    """Give lines that cross from one side of the boundary with the rival to the other, and a `t` in the region.

    A line that starts on its own side ends at the rival's centroid, any other at its own. Bisection finds where both
    classes are as probable, then both ends of the region around it, and each line takes a random t between these. A
    line without such a place stays at its start, which may lie in the region too.
    """
    rows = np.arange(len(y))

    def own_side(proba: np.ndarray) -> np.ndarray:
        return proba[rows, y] >= proba[rows, rival]

    nothing, all_of_it = np.zeros(len(y)), np.ones(len(y))
    proba = head(paths.at(nothing))
    begins_right, weak_at_first = own_side(proba), regions.in_boundary(proba)
    # Towards the other side, from wherever it starts: else the line need not cross the boundary at all.
    end = np.where(begins_right[:, None], regions.centroids[rival], regions.centroids[y]).astype(paths.start.dtype)
    paths = paths.to(end)
    proba = head(paths.at(all_of_it))
    crosses, weak_at_last = own_side(proba) != begins_right, regions.in_boundary(proba)

    def crossed(t: np.ndarray) -> np.ndarray:
        return own_side(head(paths.at(t))) != begins_right

    def weak(t: np.ndarray) -> np.ndarray:
        return regions.in_boundary(head(paths.at(t)))

    crossing = first_true(crossed, nothing, all_of_it)
    crosses &= weak(crossing)
    before = first_true(weak, nothing, crossing, n_steps=_N_STEPS_TO_ENDS)
    # From the far end backwards: seen from there the region's last place is its first.
    after = 1 - first_true(lambda left: weak(1 - left), nothing, 1 - crossing, n_steps=_N_STEPS_TO_ENDS)
    before, after = np.where(weak_at_first, 0.0, before), np.where(weak_at_last, 1.0, after)
    return paths, np.where(crosses, before + (after - before) * rng.random(len(y)), 0.0)
