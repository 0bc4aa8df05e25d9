"""How far is confidence from accuracy, in one number? Several, for each has its own weakness."""

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.calibration.bins import N_BINS, Binning, bin_of, sums

GRID = 4096


def binned_error(
    confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"], index: Integer[np.ndarray, " n"], n_bins: int
) -> float:
    """Expected calibration error (Guo et al. 2017, equation 3): mean distance of accuracy and confidence over bins."""
    return (
        float(np.abs(sums(index, correct - confidence, n_bins)).sum() / len(confidence)) if len(confidence) else np.nan
    )


def expected_calibration_error(
    confidence: Float[np.ndarray, " n"],
    correct: Bool[np.ndarray, " n"],
    *,
    binning: Binning = "mass",
    n_bins: int = N_BINS,
) -> float:
    """The same in bins of its own. It is never 0 at a finite n, not even for a perfect model: see `calibration`.

    Examples
    --------
    >>> sure, right = np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False])
    >>> round(expected_calibration_error(sure, right, binning="width"), 3)
    0.1
    """
    index, edges = bin_of(confidence, binning=binning, n_bins=n_bins)
    return binned_error(confidence, correct, index, len(edges) - 1)


def debiased_squared_error(
    confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"], index: Integer[np.ndarray, " n"], n_bins: int
) -> float:
    """Mean squared distance of accuracy and confidence over bins, less what chance adds (Kumar et al. 2019, 5).

    Of a perfect model it is 0 on average, hence negative half of the time. Bins of one sample are left out: nothing
    tells their share of chance.
    """
    n = np.bincount(index, minlength=n_bins)
    use = n > 1
    if not use.any():
        return float("nan")
    right, sure = sums(index, correct.astype(np.float64), n_bins)[use] / n[use], sums(index, confidence, n_bins)[use]
    squared = (right - sure / n[use]) ** 2 - right * (1 - right) / (n[use] - 1)
    return float((n[use] * squared).sum() / n[use].sum())


def smooth_error(confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"]) -> float:
    """Smooth calibration error (Blasiok & Nakkiran 2024): no bins, and its bandwidth follows from the data.

    Residuals are smoothed by a Gaussian that is reflected at 0 and 1; the error is their mean size at the bandwidth
    that equals it. On a grid the reflected Gaussian is a damping of cosines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sure = rng.random(50_000)
    >>> round(smooth_error(sure, rng.random(50_000) < sure), 2), round(smooth_error(sure, rng.random(50_000) < 0.5), 2)
    (0.01, 0.21)
    """
    if not len(confidence):
        return float("nan")
    from scipy import fft

    residual = spread_on_grid(confidence, (correct - confidence) / len(confidence))
    cosines = fft.dct(residual, norm="ortho")
    low, high = 1e-4, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        smooth = fft.idct(cosines * damping(middle), norm="ortho")
        low, high = (middle, high) if np.abs(smooth).sum() > middle else (low, middle)
    return high


def spread_on_grid(confidence: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, " grid"]:
    """Weights at the middles of 4,096 cells of [0, 1], each shared by the two nearest."""
    at = np.clip(confidence * GRID - 0.5, 0.0, GRID - 1.0)
    left = np.minimum(at.astype(np.int64), GRID - 2)
    part = at - left
    grid = np.bincount(left, weights=weights * (1 - part), minlength=GRID)
    return grid + np.bincount(left + 1, weights=weights * part, minlength=GRID)


def damping(bandwidth: float) -> Float[np.ndarray, " grid"]:
    """What a reflected Gaussian does to each cosine on [0, 1]."""
    return np.exp(-0.5 * (np.pi * np.arange(GRID) * bandwidth) ** 2)
