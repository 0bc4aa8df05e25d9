"""What is in a data set, counted? Classes, columns, numbers by class, mean images, and samples that are there twice."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import nan

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Num

from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.units import EACH_SAMPLE, Design

# How many samples does each class have, and what is guessing worth?


EVEN = 1.5
"""Classes are called evenly spread as long as the largest is at most so many times the smallest."""


@dataclass(frozen=True)
class LabelCount:
    """A class: how many samples it has, and its share of all with Wilson's 95 % interval over samples."""

    label: str
    n: int
    share: float
    interval: Interval


@dataclass(frozen=True)
class LabelCounts:
    """All classes in their order."""

    rows: tuple[LabelCount, ...]

    @property
    def n_samples(self) -> int:
        """How many samples there are in all."""
        return sum(row.n for row in self.rows)

    @property
    def largest(self) -> LabelCount:
        """The class with the most samples; its share is the accuracy of always guessing it."""
        return max(self.rows, key=lambda row: row.n)

    @property
    def smallest(self) -> LabelCount:
        """The class with the fewest samples."""
        return min(self.rows, key=lambda row: row.n)

    @property
    def even(self) -> bool:
        """Whether the largest class is at most `EVEN` times the smallest."""
        return self.largest.n <= EVEN * self.smallest.n

    def table(self) -> pd.DataFrame:
        """One row per class: label, n, share, lower, upper (95 %, over units)."""
        rows = [(row.label, row.n, row.share, row.interval.lower, row.interval.upper) for row in self.rows]
        return pd.DataFrame(rows, columns=["label", "n", "share", "lower", "upper"])


def label_counts(
    y: Integer[np.ndarray, " n_samples"], class_names: Sequence[str], design: Design = EACH_SAMPLE
) -> LabelCounts:
    """Count the samples of every class; intervals of shares are over units.

    Examples
    --------
    >>> counts = label_counts(np.array([0, 1, 1, 1]), ("plum", "melon"))
    >>> counts.largest.label, counts.largest.share, counts.even
    ('melon', 0.75, False)
    """
    n = np.bincount(y, minlength=len(class_names))
    return LabelCounts(
        tuple(
            LabelCount(name, int(of_class), float(of_class / len(y)), design.wilson(y == code))
            for code, (name, of_class) in enumerate(zip(class_names, n, strict=True))
        )
    )


# How is a number spread over the samples, and over the classes? Lengths of texts, brightness of images, columns.


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


@dataclass(frozen=True)
class ColumnSummary:
    """A column: `n` values are there, `n_missing` are not (NaN); the rest is NaN where none is there.

    `std` divides by n − 1. `most_frequent` is the smallest of the values that occur most often, `n_most_frequent` how
    often; `constant` says that there is at most one value, so that the column tells nothing apart.
    """

    name: str
    n: int
    n_missing: int
    n_distinct: int
    mean: float
    std: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    most_frequent: float
    n_most_frequent: int

    @property
    def constant(self) -> bool:
        """Whether there is at most one value."""
        return self.n_distinct <= 1


@dataclass(frozen=True)
class ColumnSummaries:
    """All columns of a table in their order."""

    rows: tuple[ColumnSummary, ...]

    @property
    def constant(self) -> tuple[str, ...]:
        """The names of the columns that tell nothing apart."""
        return tuple(row.name for row in self.rows if row.constant)

    def table(self) -> pd.DataFrame:
        """One row per column: the fields of `ColumnSummary`."""
        return pd.DataFrame([asdict(row) for row in self.rows])


def column_summaries(x: Float[np.ndarray, "n_samples n_features"], names: Sequence[str]) -> ColumnSummaries:
    """Summarise every column of a table of numbers.

    Examples
    --------
    >>> [row] = column_summaries(np.array([[1.0], [2.0], [2.0], [np.nan]]), ["size"]).rows
    >>> row.n, row.n_missing, row.most_frequent, row.n_most_frequent, row.constant
    (3, 1, 2.0, 2, False)
    """
    return ColumnSummaries(tuple(_summary(x[:, at], name) for at, name in enumerate(names)))


def _summary(column: np.ndarray, name: str) -> ColumnSummary:
    there = column[~np.isnan(column)]
    n_missing = len(column) - len(there)
    if len(there) == 0:
        return ColumnSummary(name, 0, n_missing, 0, nan, nan, nan, nan, nan, nan, nan, nan, 0)
    values, counts = np.unique(there, return_counts=True)
    whole, mode = summarise(there), int(counts.argmax())
    return ColumnSummary(
        name, len(there), n_missing, len(values),
        whole.mean, whole.std, whole.minimum, whole.lower_quartile, whole.median, whole.upper_quartile, whole.maximum,
        float(values[mode]), int(counts[mode]),
    )  # fmt: skip


# What does the middle of a class look like? Mean images.


def mean_images(
    x: Float[np.ndarray, "n_samples height width n_channels"], y: Integer[np.ndarray, " n_samples"], n_classes: int
) -> Float[np.ndarray, "n_classes height width n_channels"]:
    """The mean image of every class; each class must have an image.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 0.5], dtype=np.float32).reshape(3, 1, 1, 1)
    >>> mean_images(x, np.array([0, 0, 1]), 2).ravel().tolist()
    [0.5, 0.5]
    """
    return np.stack([x[y == code].mean(axis=0, dtype=np.float64) for code in range(n_classes)])


# Which samples are there twice, and do copies agree about the label?


@dataclass(frozen=True, eq=False)
class ExactCopies:
    """Samples whose content is that of an earlier one.

    `first` holds for every sample the position of the first one with its content, `y` the labels.
    """

    first: Integer[np.ndarray, " n_samples"]
    y: Integer[np.ndarray, " n_samples"]

    @property
    def n_samples(self) -> int:
        """How many samples there are in all."""
        return len(self.first)

    @property
    def copies(self) -> Integer[np.ndarray, " n_copies"]:
        """The positions of the samples that repeat an earlier one."""
        return np.flatnonzero(self.first != np.arange(len(self.first)))

    @property
    def n_copies(self) -> int:
        """How many samples could be left out without losing any content."""
        return len(self.copies)

    @property
    def conflicting(self) -> Integer[np.ndarray, " n_conflicting"]:
        """The positions of all samples, first ones included, whose content has more than one label."""
        contested = np.zeros(self.n_samples, dtype=bool)
        contested[self.first[self.y != self.y[self.first]]] = True
        return np.flatnonzero(contested[self.first])

    @property
    def n_conflicting_contents(self) -> int:
        """How many different contents have more than one label."""
        return len(np.unique(self.first[self.conflicting]))

    def are_in_one_unit(self, units: Integer[np.ndarray, " n_samples"] | None) -> bool:
        """Whether every copy shares its unit with the first of its content: then no split has them on both sides.

        >>> ExactCopies(np.array([0, 0, 2]), np.array([0, 0, 1])).are_in_one_unit(np.array([7, 7, 8]))
        True
        """
        return units is not None and bool((units == units[self.first]).all())

    def groups(self, *, conflicting: bool) -> tuple[tuple[int, ...], ...]:
        """The positions of each content that is there more than once; those with more than one label, or all others."""
        contested = np.unique(self.first[self.conflicting])
        chosen = np.unique(self.first[self.copies])
        chosen = chosen[np.isin(chosen, contested) == conflicting]
        rows = np.flatnonzero(np.isin(self.first, chosen))
        rows = rows[np.argsort(self.first[rows], kind="stable")]
        ends = np.cumsum(np.unique(self.first[rows], return_counts=True)[1])[:-1]
        return tuple(tuple(part.tolist()) for part in np.split(rows, ends)) if len(rows) else ()

    def table(self, ids: Sequence[str], class_names: Sequence[str]) -> pd.DataFrame:
        """One row per sample whose content is there more than once: id, label, first_id, other_label.

        `other_label` says whether another sample with this content has another label.
        """
        rows = np.flatnonzero(np.isin(self.first, self.first[self.copies]))
        rows = rows[np.argsort(self.first[rows], kind="stable")]
        names, id_of = np.array(class_names, dtype=object), np.array(ids, dtype=object)
        columns = {"id": id_of[rows], "label": names[self.y[rows]], "first_id": id_of[self.first[rows]]}
        return pd.DataFrame({**columns, "other_label": np.isin(rows, self.conflicting)})


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Pairs of samples whose features point almost the same way, but whose contents differ; the most similar first.

    `same_label` says of each pair whether the labels agree. `full` says that there are more pairs than were kept.
    """

    pairs: Integer[np.ndarray, "n_pairs 2"]
    similarity: Float[np.ndarray, " n_pairs"]
    same_label: Bool[np.ndarray, " n_pairs"]
    full: bool

    @property
    def n_samples(self) -> int:
        """How many samples are in some pair."""
        return len(np.unique(self.pairs))

    def chosen(self, *, same_label: bool) -> tuple[tuple[int, ...], ...]:
        """The pairs whose labels agree, or those whose labels do not."""
        return tuple((int(first), int(other)) for first, other in self.pairs[self.same_label == same_label])

    def table(self, ids: Sequence[str], y: Integer[np.ndarray, " n"], class_names: Sequence[str]) -> pd.DataFrame:
        """One row per pair: id, label, other_id, other_label, similarity."""
        names, id_of = np.array(class_names, dtype=object), np.array(ids, dtype=object)
        first, other = self.pairs.T
        columns = {
            "id": id_of[first],
            "label": names[y[first]],
            "other_id": id_of[other],
            "other_label": names[y[other]],
        }
        return pd.DataFrame({**columns, "similarity": self.similarity})


def near_copies(
    pairs: Integer[np.ndarray, "n_pairs 2"],
    similarity: Float[np.ndarray, " n_pairs"],
    exact: ExactCopies,
    *,
    most: int,
) -> NearCopies:
    """What ``near_duplicate_pairs`` found, less the pairs of equal content; `most` is what it was asked for.

    Examples
    --------
    >>> exact = ExactCopies(np.array([0, 0, 2]), np.array([0, 0, 1]))
    >>> found = near_copies(np.array([[0, 1], [0, 2]]), np.array([1.0, 0.97]), exact, most=100)
    >>> found.chosen(same_label=False), found.n_samples
    (((0, 2),), 2)
    """
    first, other = pairs.T
    differ = exact.first[first] != exact.first[other]
    agree = exact.y[first] == exact.y[other]
    return NearCopies(pairs[differ], similarity[differ], agree[differ], len(pairs) >= most)
