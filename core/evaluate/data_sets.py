"""What is in the data? Sizes, numbers, words, columns and copies: notebook 1 of Wecker et al. (2020), and more."""

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Num
from scipy import sparse

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import CONTENT, Kind, duplicate_groups
from touchstone.core.data.errors import Oddity
from touchstone.core.data.values import Codes, Floats, Ints
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.leaks import leaks
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, design_of
from touchstone.core.evaluate.wording import MINUS, Verdict, count, listed, percent, plural, quoted, samples_of
from touchstone.core.represent import features_for_splits, n_tokens, number_of, number_title
from touchstone.core.represent.duplicates import n_steps, near_duplicate_pairs, near_duplicate_texts, similarities
from touchstone.core.represent.word_vectors import tokenize
from touchstone.core.split.folds import FOLD_SCHEMES

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


def label_counts(y: Codes, class_names: Sequence[str], design: Design = EACH_SAMPLE) -> LabelCounts:
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
    values: Num[np.ndarray, " n_samples"], y: Codes, class_names: Sequence[str], *, title: str
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


# What does the middle of a class or of a source look like? Mean images.


def mean_images(
    x: Float[np.ndarray, "n_samples height width n_channels"], groups: Codes, n_groups: int
) -> Float[np.ndarray, "n_groups height width n_channels"]:
    """The mean image of every group, such as a class; NaN for one without a sample.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 0.5], dtype=np.float32).reshape(3, 1, 1, 1)
    >>> mean_images(x, np.array([0, 0, 2]), 3).ravel().tolist()
    [0.5, nan, 0.5]
    """
    means = np.full((n_groups, *x.shape[1:]), np.nan)
    for group in np.unique(groups):
        means[group] = x[groups == group].mean(axis=0, dtype=np.float64)
    return means


# Which samples are there twice, and do copies agree about the label?


@dataclass(frozen=True, eq=False)
class ExactCopies:
    """Samples whose content is that of an earlier one.

    `first` holds for every sample the position of the first one with its content, `y` the labels.
    """

    first: Codes
    y: Codes

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

    def are_in_one_unit(self, units: Codes | None) -> bool:
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

    def table(self, ids: Sequence[str], y: Ints, class_names: Sequence[str]) -> pd.DataFrame:
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
    pairs: Integer[np.ndarray, "n_pairs 2"], similarity: Float[np.ndarray, " n_pairs"], exact: ExactCopies, *, most: int
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


# What is to be known of a data set before anything is trained on it? In a sentence or two.

NOUNS = {"image": "image", "text": "text", "tabular": "row"}
FEW = 30
"""With fewer samples than this, the accuracy of a class is hardly known at all."""
NEXT = "Next: find out how far accuracy falls on new sources."
"""What to do where nothing in the data has to be looked at first."""
TELLING = 0.05
"""From this share of a number's variance between classes on, the classes are said to differ in it."""


SETTLE = "First settle what may give labels away, before anything is trained."


def data_verdict(
    kind: Kind,
    labels: LabelCounts,
    copies: ExactCopies,
    number: NumberByClass | None = None,
    *,
    constant: Sequence[str] = (),
    leaks: Sequence[str] = (),
    units: Codes | None = None,
    unit_word: str = "unit",
) -> Verdict:
    """Size, classes and copies in a sentence, what to do about them, and how the classes differ in a number.

    `leaks` are sentences on what may give labels away. `units` say which samples belong together (None: each is one),
    and `unit_word` what they are called: no split has them on both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.data_sets import label_counts
    >>> y = np.array([0, 0, 1, 1])
    >>> print(data_verdict("text", label_counts(y, ("no", "yes")), ExactCopies(np.array([0, 1, 2, 1]), y)).headline)
    4 texts in 2 classes, evenly spread (2 samples each); 1 exact duplicate, and its copy has another label.
    """
    n, noun = labels.n_samples, NOUNS[kind]
    n_units = n if units is None or unit_word == CONTENT else len(np.unique(units))  # copies are told by themselves
    samples, classes = samples_of(n, noun, n_units, unit_word), plural(len(labels.rows), "class", "classes")
    headline = f"{samples} in {classes}, {_spread(labels)}; {_copies(copies)}."
    first = SETTLE if leaks else ""
    to_do = (first, _next(copies, copies.are_in_one_unit(units)), _of_few(labels), _of_constant(constant))
    advice = " ".join(filter(None, to_do)) or NEXT
    return Verdict(headline, "", advice, (*leaks, *_findings(labels, number)))


def _spread(labels: LabelCounts) -> str:
    least, most = labels.smallest, labels.largest
    if least.n == most.n:
        return f"evenly spread ({plural(most.n, 'sample')} each)"
    if labels.even:
        return f"about evenly spread ({count(least.n)} to {count(most.n)} samples each)"
    fewest = f"{plural(least.n, 'sample')} ({quoted(least.label)})"
    return f"unevenly spread: from {fewest} to {count(most.n)} ({quoted(most.label)})"


def _copies(copies: ExactCopies) -> str:
    if copies.n_copies == 0:
        return "no exact duplicates"
    duplicates = plural(copies.n_copies, "exact duplicate")
    contents = copies.n_conflicting_contents
    if contents == 0:
        return (
            f"{duplicates}, all with the label of their first copy"
            if copies.n_copies > 1
            else f"{duplicates}, with one label"
        )
    if copies.n_copies == 1:
        return f"{duplicates}, and its copy has another label"
    return f"{duplicates}, and {plural(contents, 'content')} with more than one label"


def _next(copies: ExactCopies, together: bool) -> str:
    """What to do about copies, those with other labels first."""
    n = len(copies.conflicting)
    look = f"look at the {plural(n, 'sample')} with equal content and different labels"
    share = percent(copies.n_copies / copies.n_samples)
    keep = f"keep one of each duplicate ({share} would go): duplicates across a split inflate accuracy"
    todo = [look] * bool(n) + [keep] * (copies.n_copies > 0 and not together)
    return f"Next: {'. Then '.join(todo)}." if todo else ""


def _of_few(labels: LabelCounts) -> str:
    few = [row for row in labels.rows if row.n < FEW]
    if not few:
        return ""
    n = labels.smallest.n
    width = wilson(n / 2, float(n)).width / 2
    which = f"{plural(len(few), 'class has', 'classes have')} fewer than {FEW} samples"
    return (
        f"{which} ({listed([quoted(row.label) for row in few])}). With {n}, the 95 % CI of an accuracy near 50 % is "
        f"±{100 * width:.0f} points."
    )


def _of_constant(constant: Sequence[str]) -> str:
    if not constant:
        return ""
    names = listed([quoted(name) for name in constant])
    return f"{plural(len(constant), 'column holds', 'columns hold')} a single value ({names}) and cannot help a model."


def _findings(labels: LabelCounts, number: NumberByClass | None) -> tuple[str, ...]:
    largest = labels.largest
    share = percent(largest.share, largest.interval)
    guess = f"Majority-class baseline: always predicting {quoted(largest.label)} reaches {share} accuracy."
    return (guess,) if number is None else (guess, _difference(number))


def _difference(number: NumberByClass) -> str:
    name = number.title.split(" (")[0].lower() if "(" in number.title else number.title
    if number.explained < TELLING:
        return f"Classes hardly differ in {name}: class explains {percent(number.explained)} of its variance."
    least, most = (end(number.classes, key=lambda row: row.median) for end in (min, max))
    low, high = (f"{row.median:.3g}".replace("-", MINUS) for row in (least, most))
    return (
        f"Classes differ in {name}, which a model may use: class explains {percent(number.explained)} of its variance. "
        f"Medians go from {low} ({quoted(least.name)}) to {high} ({quoted(most.name)})."
    )


# Which words are frequent, and which ones are characteristic of a class?


LEAST_TEXTS = 3
"""A word in fewer texts is never called characteristic."""


@dataclass(frozen=True)
class Word:
    """A word of one class (None: of all): how often it occurs, in how many texts, and how characteristic it is.

    `share_elsewhere` is the share of the other classes' texts that have it; `log_odds` (shrunk by the prior) and `z`
    (log-odds over their standard error) compare the two. All three are NaN where no class is told from others. `stands`
    says that Fisher's exact test, corrected for all words and classes (Bonferroni, 5 %), does not leave it to chance.
    """

    word: str
    label: str | None
    n: int
    n_texts: int
    share_of_texts: float
    share_elsewhere: float = float("nan")
    log_odds: float = float("nan")
    z: float = float("nan")
    stands: bool = False


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The words of a corpus by class: `occurrences` and `n_texts_with` are sparse (n_classes, n_words) counts.

    `allowed` tells which words are shown; stop words, if they are set apart, are not.
    """

    class_names: tuple[str, ...]
    words: tuple[str, ...]
    occurrences: sparse.csr_array
    n_texts_with: sparse.csr_array
    n_texts: Integer[np.ndarray, " n_classes"]
    allowed: Bool[np.ndarray, " n_words"]

    @property
    def n_words(self) -> int:
        """How many words there are, repetitions counted."""
        return int(self.occurrences.sum())

    def without(self, stop_words: Collection[str]) -> "WordCounts":
        """The same counts, with the stop words not shown; shares and odds stay as they are."""
        return replace(self, allowed=np.array([word not in stop_words for word in self.words], dtype=bool))

    def frequent(self, label: str | None = None, *, most: int = 20) -> tuple[Word, ...]:
        """The most frequent words of a class, or of all texts; ties in alphabetical order."""
        rows = slice(None) if label is None else [self.class_names.index(label)]
        n = np.asarray(self.occurrences[rows].sum(axis=0)).ravel()
        n_texts = np.asarray(self.n_texts_with[rows].sum(axis=0)).ravel()
        total = max(int(self.n_texts[rows].sum()), 1)
        candidates = np.flatnonzero(self.allowed & (n > 0))
        first = candidates[np.argsort(-n[candidates], kind="stable")[:most]]
        return tuple(
            Word(self.words[at], label, int(n[at]), int(n_texts[at]), float(n_texts[at] / total)) for at in first
        )

    def characteristic(self, label: str, *, most: int = 20) -> tuple[Word, ...]:
        """The words whose log-odds set a class apart most surely (largest z), only those that it uses more."""
        code = self.class_names.index(label)
        at, log_odds, z = self._odds(code)
        kept = np.flatnonzero((z > 0) & self.allowed[at] & (self._texts_in_all[at] >= LEAST_TEXTS))
        first = kept[np.argsort(-z[kept], kind="stable")[:most]]
        return tuple(self._word(code, int(at[i]), float(log_odds[i]), float(z[i])) for i in first)

    def _word(self, code: int, at: int, log_odds: float, z: float) -> Word:
        from scipy.stats import hypergeom

        n, n_texts = int(self.occurrences[code, at]), int(self.n_texts_with[code, at])
        of_class, of_all = int(self.n_texts[code]), int(self.n_texts.sum())
        elsewhere = (int(self._texts_in_all[at]) - n_texts) / max(of_all - of_class, 1)
        # Fisher's exact test: how likely so many texts of the class, or more, would have the word by chance.
        chance = hypergeom.sf(n_texts - 1, of_all, self._texts_in_all[at], of_class)
        stands = bool(chance * (self._texts_in_all >= LEAST_TEXTS).sum() * len(self.class_names) < 0.05)
        label, share = self.class_names[code], n_texts / of_class
        return Word(self.words[at], label, n, n_texts, share, elsewhere, log_odds, z, stands)

    @cached_property
    def _texts_in_all(self) -> Integer[np.ndarray, " n_words"]:
        return np.asarray(self.n_texts_with.sum(axis=0)).ravel()

    def _odds(self, code: int) -> tuple[np.ndarray, Floats, Floats]:
        """Position, log-odds and z of every word that the class has."""
        row = self.n_texts_with[[code]].tocoo()
        at, mine = row.col, row.data.astype(np.float64)
        of_class, of_all = float(self.n_texts[code]), float(self.n_texts.sum())
        prior = self._texts_in_all[at].astype(np.float64)
        theirs = prior - mine
        # half a text without the word keeps the odds of one that every text has finite
        without = of_all - prior + 0.5
        log_odds = np.log((mine + prior) / (of_class - mine + without)) - np.log(
            (theirs + prior) / (of_all - of_class - theirs + without)
        )
        return at, log_odds, log_odds / np.sqrt(1 / (mine + prior) + 1 / (theirs + prior))

    def table(self, *, most: int = 200) -> pd.DataFrame:
        """The most frequent words of all and the most characteristic of each class.

        Columns: list ("frequent" or "characteristic") and the fields of `Word`.
        """
        lists = [("frequent", word) for word in self.frequent(most=most)]
        for name in self.class_names:
            lists += [("characteristic", word) for word in self.characteristic(name, most=most)]
        fields = ["label", "word", "n", "n_texts", "share_of_texts", "share_elsewhere", "log_odds", "z", "stands"]
        rows = [(which, *(getattr(word, field) for field in fields)) for which, word in lists]
        return pd.DataFrame(rows, columns=["list", *fields])


def english_stop_words() -> frozenset[str]:
    """Words that say little about a topic: scikit-learn's list for English.

    Examples
    --------
    >>> "the" in english_stop_words(), "film" in english_stop_words()
    (True, False)
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


def count_words(texts: Iterable[str], y: Codes, class_names: Sequence[str]) -> WordCounts:
    """Count the words (``tokenize``) of texts by class.

    Examples
    --------
    >>> texts = ["a fine film", "a fine fine cast", "a dull film", "a dull plot"] * 20
    >>> found = count_words(texts, np.array([0, 0, 1, 1] * 20), ("good", "bad"))
    >>> [(word.word, word.n) for word in found.frequent(most=2)]
    [('a', 80), ('fine', 60)]
    >>> [(word.word, word.n_texts, word.stands) for word in found.characteristic("bad", most=2)]
    [('dull', 40, True), ('plot', 20, True)]
    """
    positions: dict[str, int] = {}
    classes, columns, counts = array("q"), array("q"), array("q")
    for text, code in zip(texts, y, strict=True):
        of_text: dict[int, int] = {}
        for word in tokenize(text):
            at = positions.setdefault(word, len(positions))
            of_text[at] = of_text.get(at, 0) + 1
        columns.extend(of_text)
        counts.extend(of_text.values())
        classes.extend([int(code)] * len(of_text))
    words = sorted(positions)
    rank = np.empty(len(positions), dtype=np.int64)
    rank[[positions[word] for word in words]] = np.arange(len(positions))
    shape = (len(class_names), len(positions))
    place = (np.array(classes, dtype=np.int64), rank[np.array(columns, dtype=np.int64)])
    occurrences = sparse.coo_array((np.array(counts, dtype=np.int64), place), shape=shape).tocsr()
    n_texts_with = sparse.coo_array((np.ones(len(counts), dtype=np.int64), place), shape=shape).tocsr()
    return WordCounts(
        tuple(class_names),
        tuple(words),
        occurrences,
        n_texts_with,
        np.bincount(y, minlength=len(class_names)),
        np.ones(len(positions), dtype=bool),
    )


# What is looked at in a data set? Classes, copies, a number, words and the features of maps: functions of the data.

N_COMPONENTS = 50
"""Maps and near duplicates go by so many principal components, as a MapPlan does by default."""
MOST_PAIRS = 10_000
WORD_WEIGHTS = "tfidf_svd"


class DataLook(NamedTuple):
    """What is known of a data set: classes and copies; of a table its columns, of images the mean of each class."""

    labels: LabelCounts
    copies: ExactCopies
    columns: ColumnSummaries | None
    pictures: np.ndarray | None
    n_wordless: int
    """Texts without a single word."""
    leaks: tuple[Oddity, ...]
    """What may give labels away."""


def look(dataset: Dataset) -> DataLook:
    """Count classes and copies, and look at columns or mean images, and for what may give labels away."""
    contents = duplicate_groups(dataset)
    return DataLook(
        label_counts(dataset.y, dataset.class_names, design_of(dataset)),
        ExactCopies(contents, dataset.y),
        column_summaries(dataset.x, dataset.feature_names) if dataset.kind == "tabular" else None,
        mean_images(dataset.x, dataset.y, dataset.n_classes) if dataset.kind == "image" else None,
        int((n_tokens(dataset.x) == 0).sum()) if dataset.kind == "text" else 0,
        leaks(dataset, contents),
    )


def number(dataset: Dataset, name: str) -> NumberByClass:
    """One number of every sample, over all and by class."""
    title = number_title(dataset, name)
    return number_by_class(number_of(dataset, name), dataset.y, dataset.class_names, title=title)


def words(dataset: Dataset) -> WordCounts:
    """The words of the texts by class."""
    return count_words(dataset.x, dataset.y, dataset.class_names)


def features(dataset: Dataset, representation: str) -> np.ndarray:
    """The features that maps are drawn and near duplicates are found in, as a MapPlan makes them."""
    return features_for_splits(dataset, representation, n_components=N_COMPONENTS)


def fold_title(scheme: str, seed: int) -> str:
    """What the folds of a scheme and seed are called."""
    title = FOLD_SCHEMES[scheme].title if scheme in FOLD_SCHEMES else scheme
    return f"fold ({title}, seed {seed})"


def folds(made: pd.DataFrame, n_samples: int) -> np.ndarray:
    """The fold of every sample, -1 for none, from the rows of the trial that made them."""
    folds = np.full(n_samples, -1, dtype=np.int64)
    folds[made["row"].to_numpy(dtype=np.int64)] = made["fold"].to_numpy(dtype=np.int64)
    return folds


def near_copies_of(
    dataset: Dataset,
    representation: str,
    features_of: Callable[[], np.ndarray],
    copies: ExactCopies,
    similarity: float,
    step: Callable[[], None],
) -> NearCopies:
    """Pairs of samples that are nearly the same, of every content the first sample only.

    Texts are compared word by word, unless other features than word weights were chosen; all else by its features.
    """
    first = np.flatnonzero(copies.first == np.arange(dataset.n_samples))
    if representation == WORD_WEIGHTS:
        pairs, cosines = near_duplicate_texts(dataset.x[first], similarity=similarity, most=MOST_PAIRS)
    else:
        vectors = features_of()[first]
        pairs = near_duplicate_pairs(vectors, similarity=similarity, most=MOST_PAIRS, on_step=step)
        cosines = similarities(vectors, pairs)
    return near_copies(first[pairs], cosines, copies, most=MOST_PAIRS)


def n_steps_of_near_copies(dataset: Dataset, representation: str) -> int:
    """How many steps `near_copies_of` takes, about (copies are left out); 0 where it counts none."""
    return 0 if representation == WORD_WEIGHTS else n_steps(dataset.n_samples)
