"""How is a number spread over the samples, and over the classes? Lengths of texts, brightness of images, columns."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer, Num

from touchstone.core.evaluate.intervals import wilson

MOST_BARS = 40
MOST_BINS = 8
_MOST_WHOLE = 2**52  # up to here one half can be told from a whole number
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class NumberSummary:
    """A number over some samples. `std` divides by n − 1 (0 for one sample); quartiles are interpolated linearly.

    `whisker_low` and `whisker_high` are the outermost values within 1.5 interquartile ranges of the quartiles (Tukey).
    """

    name: str
    n: int
    mean: float
    std: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    whisker_low: float
    whisker_high: float


def summarise(values: Num[np.ndarray, " n_samples"], *, name: str = "") -> NumberSummary:
    """Count, mean, standard deviation, range and quartiles of at least one number.

    Examples
    --------
    >>> of = summarise(np.array([1.0, 2.0, 3.0, 4.0, 30.0]))
    >>> of.mean, of.median, of.maximum, of.whisker_high
    (8.0, 3.0, 30.0, 4.0)
    """
    values = values.astype(np.float64)
    low, lower, median, upper, high = (float(at) for at in np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
    near = values[(values >= lower - 1.5 * (upper - lower)) & (values <= upper + 1.5 * (upper - lower))]
    std = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    whiskers = (float(near.min()), float(near.max()))
    return NumberSummary(name, len(values), float(values.mean()), std, low, lower, median, upper, high, *whiskers)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many samples lie in each bin [edges[i], edges[i + 1]); the last bin holds its upper end, too."""

    edges: Float[np.ndarray, " n_edges"]
    n: Integer[np.ndarray, " n_bins"]
    whole: bool
    """Whether the values are whole numbers, so that a bin stands for those from its lower edge on."""


def histogram(values: Num[np.ndarray, " n_samples"]) -> Histogram:
    """At most about 40 bins of equal width; whole numbers get bins of whole width, so that none is twice as wide.

    Where all values are the same number there is one bin, around it.

    Examples
    --------
    >>> histogram(np.array([4, 5, 5, 7])).n
    array([1, 2, 0, 1])
    """
    values = values.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    whole = bool((values == np.rint(values)).all()) and max(-low, high) < _MOST_WHOLE
    if whole:
        width = max(int(np.ceil((high - low + 1) / MOST_BARS)), 1)
        edges = np.arange(low, high + width + 1, width)
    elif low == high:
        half = max(0.5, abs(low) * 2**-52)  # beyond 2**53 one half is lost in rounding
        edges = np.clip([low - half, low + half], -_LARGEST, _LARGEST)
    else:
        share = np.linspace(0, 1, MOST_BARS + 1)
        edges = np.unique(low * (1 - share) + high * share)  # the difference may overflow, and edges may coincide
    return Histogram(edges, np.histogram(values, bins=edges)[0], whole)


@dataclass(frozen=True, eq=False)
class SharesByNumber:
    """The classes of the samples by a number, in bins of about equally many samples; equal numbers stay together.

    `lower` and `upper` are the least and greatest value within a bin; `n` counts samples by bin and class.
    """

    class_names: tuple[str, ...]
    lower: Float[np.ndarray, " n_bins"]
    upper: Float[np.ndarray, " n_bins"]
    n: Integer[np.ndarray, "n_bins n_classes"]

    @property
    def shares(self) -> Float[np.ndarray, "n_bins n_classes"]:
        """The share of each class within each bin."""
        return self.n / self.n.sum(axis=1, keepdims=True)

    @property
    def overall(self) -> Float[np.ndarray, " n_classes"]:
        """The share of each class in all samples."""
        return self.n.sum(axis=0) / self.n.sum()

    def table(self) -> pd.DataFrame:
        """One row per bin and class: from, to, label, n, n_bin, share, lower, upper (Wilson, 95 %, over samples)."""
        rows = []
        for low, high, of_bin in zip(self.lower, self.upper, self.n, strict=True):
            total = int(of_bin.sum())
            for name, n in zip(self.class_names, of_bin, strict=True):
                interval = wilson(float(n), float(total))
                rows.append((low, high, name, int(n), total, n / total, interval.lower, interval.upper))
        return pd.DataFrame(rows, columns=["from", "to", "label", "n", "n_bin", "share", "lower", "upper"])


@dataclass(frozen=True, eq=False)
class NumberByClass:
    """A number over all samples, within every class, and the classes along it.

    `explained` is the share of the number's variance that lies between classes (eta squared, less what chance alone
    would give, never below 0): 0 where classes are alike, 1 where the class says the number.
    """

    title: str
    overall: NumberSummary
    classes: tuple[NumberSummary, ...]
    bars: Histogram
    shares: SharesByNumber
    explained: float

    def table(self) -> pd.DataFrame:
        """One row for all samples (name "") and one per class: the fields of `NumberSummary`."""
        return pd.DataFrame([asdict(row) for row in (self.overall, *self.classes)])


def number_by_class(
    values: Num[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    class_names: Sequence[str],
    *,
    title: str,
) -> NumberByClass:
    """Describe a number, over all and by class; `title` says what it is, with its unit.

    Examples
    --------
    >>> lengths, y = np.array([4, 5, 5, 40, 41, 42]), np.array([0, 0, 0, 1, 1, 1])
    >>> found = number_by_class(lengths, y, ("headline", "article"), title="Length (words)")
    >>> [row.median for row in found.classes], round(found.explained, 2)
    ([5.0, 41.0], 1.0)
    """
    of_class = [values[y == code] for code in range(len(class_names))]
    classes = tuple(summarise(part, name=name) for part, name in zip(of_class, class_names, strict=True))
    return NumberByClass(
        title,
        summarise(values),
        classes,
        histogram(values),
        _shares(values, y, tuple(class_names)),
        _explained(values, y, len(class_names)),
    )


def _shares(values: np.ndarray, y: np.ndarray, class_names: tuple[str, ...]) -> SharesByNumber:
    inner = np.unique(np.quantile(values, np.linspace(0, 1, MOST_BINS + 1)[1:-1], method="lower"))
    places = np.searchsorted(inner, values, side="left")  # a value that is a cut belongs to the bin that it ends
    used, place = np.unique(places, return_inverse=True)
    n = np.zeros((len(used), len(class_names)), dtype=np.int64)
    np.add.at(n, (place, y), 1)
    parts = [values[place == at] for at in range(len(used))]
    ends = [np.array([float(end(part)) for part in parts]) for end in (np.min, np.max)]
    return SharesByNumber(class_names, ends[0], ends[1], n)


def _explained(values: np.ndarray, y: np.ndarray, n_classes: int) -> float:
    """Epsilon squared (Kelley 1935): eta squared less its bias."""
    n = np.bincount(y, minlength=n_classes)
    centred = values - values.mean()
    means = np.bincount(y, weights=centred, minlength=n_classes) / np.maximum(n, 1)
    within, total = float(((centred - means[y]) ** 2).sum()), float((centred**2).sum())
    left = len(y) - int((n > 0).sum())
    if total == 0 or left <= 0:
        return 0.0
    return max(0.0, 1 - (within / left) / (total / (len(y) - 1)))
