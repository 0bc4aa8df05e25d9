"""How often is the model right when it is this sure? Bins of a reliability diagram, and what pure luck would do."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.intervals import Interval, wilson

Binning = Literal["mass", "width"]
N_BINS = 15
FEWEST_PER_BIN = 10
"""Of bins of equal mass: fewer bins rather than emptier ones."""
N_NULL = 2000
CHUNKS = 64


@dataclass(frozen=True)
class Bin:
    """Samples of about the same confidence. `lower` and `upper` are the ends of the bin, `n` may be 0 (NaN then)."""

    lower: float
    upper: float
    n: int
    confidence: float
    """Mean confidence."""
    accuracy: float
    interval: Interval
    """Wilson's, of the accuracy."""
    perfect: Interval
    """Where the accuracy of a perfectly calibrated model would lie 95 times in 100, at this n."""


def bin_of(
    confidence: Float[np.ndarray, " n"], *, binning: Binning = "mass", n_bins: int = N_BINS
) -> tuple[Integer[np.ndarray, " n"], Float[np.ndarray, " n_edges"]]:
    """The bin of every sample, and the edges of the bins.

    "width": equal steps from 0 to 1, each with its upper edge, the first also with its lower one. "mass": about equally
    many samples in each, but equal confidences are never parted, so that there may be fewer bins than asked for.

    Examples
    --------
    >>> index, edges = bin_of(np.array([0.0, 0.5, 0.51, 1.0]), binning="width", n_bins=2)
    >>> index.tolist(), edges.tolist()
    ([0, 0, 1, 1], [0.0, 0.5, 1.0])
    >>> bin_of(np.array([0.2] * 10 + [0.9] * 30))[0].tolist() == [0] * 10 + [1] * 30
    True
    """
    if binning == "width":
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        return np.maximum(np.searchsorted(edges, confidence, side="left") - 1, 0), edges
    if len(confidence) == 0:
        return np.zeros(0, dtype=np.int64), np.array([0.0, 1.0])
    n_bins = max(1, min(n_bins, len(confidence) // FEWEST_PER_BIN))
    values, inverse, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    # Of a bin's middle rank: monotone in the value, so that bins are ranges; empty ones are closed up.
    bins = np.unique((n_bins * middle / len(confidence)).astype(np.int64), return_inverse=True)[1]
    starts = np.flatnonzero(np.diff(bins)) + 1
    between = (values[starts - 1] + values[starts]) / 2
    return bins[inverse], np.concatenate([values[:1], between, values[-1:]])


def sums(index: np.ndarray, weights: np.ndarray, n_bins: int) -> Float[np.ndarray, " n_bins"]:
    """Sum of `weights` in each bin."""
    return np.bincount(index, weights=weights, minlength=n_bins).astype(np.float64)  # of nothing it makes integers


def correct_if_perfect(
    confidence: Float[np.ndarray, " n"],
    index: Integer[np.ndarray, " n"],
    n_bins: int,
    *,
    n_draws: int = N_NULL,
    rng: np.random.Generator,
) -> Integer[np.ndarray, "n_draws n_bins"]:
    """How many of each bin a perfectly calibrated model gets right, `n_draws` times over.

    Each sample is right with its own confidence. A bin's samples are drawn in up to 64 chunks of about the same
    confidence, each binomial with its mean: exact in bins of up to 64 samples, and as good as exact above, at a cost
    that does not grow with n.
    """
    right = np.zeros((n_draws, n_bins), dtype=np.int64)
    order = np.lexsort((confidence, index))
    starts = np.searchsorted(index[order], np.arange(n_bins + 1))
    for i in range(n_bins):
        sure = confidence[order[starts[i] : starts[i + 1]]]
        if len(sure) == 0:
            continue
        # A sum of Bernoullis of about one probability is binomial; samples are sorted, so that a chunk's are alike.
        cuts = np.linspace(0, len(sure), min(CHUNKS, len(sure)) + 1).astype(np.int64)
        size = np.diff(cuts)
        mean = np.minimum(np.add.reduceat(sure, cuts[:-1]) / size, 1.0)
        right[:, i] = rng.binomial(size, mean, size=(n_draws, len(size))).sum(axis=1)
    return right


def bins_of(
    confidence: Float[np.ndarray, " n"],
    correct: Bool[np.ndarray, " n"],
    index: Integer[np.ndarray, " n"],
    edges: Float[np.ndarray, " n_edges"],
    perfect: Integer[np.ndarray, "n_draws n_bins"],
) -> tuple[Bin, ...]:
    """The bins as they are shown, empty ones included."""
    n_bins = len(edges) - 1
    n = np.bincount(index, minlength=n_bins)
    sure, right = sums(index, confidence, n_bins), sums(index, correct.astype(np.float64), n_bins)
    low, high = np.percentile(perfect, [2.5, 97.5], axis=0)
    bins = []
    for i in range(n_bins):
        if n[i]:
            band = Interval(float(low[i] / n[i]), float(high[i] / n[i]))
            mean, share = float(sure[i] / n[i]), float(right[i] / n[i])
        else:
            band, mean, share = Interval(np.nan, np.nan), np.nan, np.nan
        interval = wilson(float(right[i]), float(n[i]))
        bins.append(Bin(float(edges[i]), float(edges[i + 1]), int(n[i]), mean, share, interval, band))
    return tuple(bins)
