"""Two curves without bins: where confidences lie, and how accuracy grows when the least sure are set aside."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from touchstone.core.evaluate.calibration.errors import GRID, damping, spread_on_grid
from touchstone.core.evaluate.intervals import Interval, wilson

N_POINTS = 256
NARROWEST = 0.01


def density(confidence: Float[np.ndarray, " n"]) -> tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]:
    """Density of the confidences on [0, 1] (figure 5b): a Gaussian reflected at both ends, so that none leaks out.

    Its bandwidth is Silverman's, at least .01. Places and densities; the density is 0 without a sample.

    Examples
    --------
    >>> at, height = density(np.array([0.9, 0.95, 1.0]))
    >>> round(float(height.mean()), 2), bool(height[0] < height[-1])
    (1.0, True)
    """
    from scipy import fft

    at = (np.arange(N_POINTS) + 0.5) / N_POINTS
    n = len(confidence)
    if not n:
        return at, np.zeros(N_POINTS)
    quarters = np.percentile(confidence, [25, 75])
    width = min(float(np.std(confidence)), float(np.diff(quarters)[0]) / 1.349 or np.inf)
    grid = spread_on_grid(confidence, np.full(n, 1 / n))
    # A Gaussian reflected at both ends is a damping of cosines: each wave by exp(-(bandwidth x frequency)^2 / 2).
    damped = fft.dct(grid, norm="ortho") * damping(max(0.9 * width * n**-0.2, NARROWEST))
    smooth = np.asarray(fft.idct(damped, norm="ortho"))
    return at, np.maximum(smooth.reshape(N_POINTS, GRID // N_POINTS).mean(axis=1) * GRID, 0.0)


@dataclass(frozen=True)
class CoveragePoint:
    """Accuracy of the `n` samples that the model is surest of: all whose confidence is at least `confidence`."""

    coverage: float
    n: int
    confidence: float
    accuracy: float
    interval: Interval


def accuracy_by_coverage(
    confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"], *, n_points: int = 100
) -> tuple[CoveragePoint, ...]:
    """How accuracy grows as the least confident are set aside; equal confidences stay or go together.

    Examples
    --------
    >>> [(p.coverage, p.accuracy) for p in accuracy_by_coverage(np.array([0.9, 0.5]), np.array([True, False]))]
    [(0.5, 1.0), (1.0, 0.5)]
    """
    n = len(confidence)
    if not n:
        return ()
    order = np.argsort(-confidence, kind="stable")
    sure, right = confidence[order], np.cumsum(correct[order])
    last = np.flatnonzero(np.diff(sure, append=-1.0))
    wanted = np.searchsorted(last, np.linspace(0, n - 1, min(n_points, n)).astype(np.int64))
    return tuple(
        CoveragePoint(
            coverage=float((k + 1) / n),
            n=int(k + 1),
            confidence=float(sure[k]),
            accuracy=float(right[k] / (k + 1)),
            interval=wilson(float(right[k]), float(k + 1)),
        )
        for k in np.unique(last[wanted])
    )
