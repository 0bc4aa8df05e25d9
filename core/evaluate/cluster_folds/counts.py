"""How good are predictions on a fold? Counts of right, true and predicted samples by class, and scores of these."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.evaluate.cluster_folds.results import Metric
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, wilson


@dataclass(frozen=True, eq=False)
class Counts:
    """Samples by class: that are of it (`true`), were taken for it (`predicted`), and both (`right`).

    Counts may be of several folds at once, then classes are along the last axis.
    """

    right: Shaped[np.ndarray, "*folds n_classes"]
    true: Shaped[np.ndarray, "*folds n_classes"]
    predicted: Shaped[np.ndarray, "*folds n_classes"]

    def f1(self) -> Float[np.ndarray, "*folds n_classes"]:
        """F1 of each class: the harmonic mean of precision and recall; NaN where a class neither is nor was said.

        Examples
        --------
        >>> counted(np.array([0, 0, 1]), np.array([0, 1, 1]), np.zeros(3, dtype=int), 1, 3).f1().round(3)
        array([[0.667, 0.667,   nan]])
        """
        both = np.asarray(self.true + self.predicted, dtype=np.float64)
        return np.divide(2.0 * self.right, both, out=np.full(both.shape, np.nan), where=both > 0)

    def score(self, metric: Metric, class_names: tuple[str, ...]) -> Float[np.ndarray, "*folds"]:
        """What the metric says of each fold; NaN for a fold without samples.

        Macro F1 is the mean over the classes that are there or were said, as scikit-learn and the notebooks have it.
        """
        if metric.kind == "f1":
            return self.f1()[..., class_names.index(metric.positive)]
        if metric.kind == "accuracy":
            total = self.true.sum(axis=-1).astype(np.float64)
            right = self.right.sum(axis=-1)
            return np.divide(right, total, out=np.full(total.shape, np.nan), where=total > 0)
        f1 = self.f1()
        there = ~np.isnan(f1)
        n_there = there.sum(axis=-1).astype(np.float64)
        total = np.where(there, f1, 0.0).sum(axis=-1)
        return np.divide(total, n_there, out=np.full(n_there.shape, np.nan), where=n_there > 0)

    def take(self, fold: int) -> "Counts":
        """The counts of one fold."""
        return Counts(self.right[fold], self.true[fold], self.predicted[fold])

    def together(self) -> "Counts":
        """All folds as one."""
        return Counts(self.right.sum(axis=0), self.true.sum(axis=0), self.predicted.sum(axis=0))


def counted(
    y: Integer[np.ndarray, " n_samples"],
    predicted: Integer[np.ndarray, " n_samples"],
    fold: Integer[np.ndarray, " n_samples"],
    n_folds: int,
    n_classes: int,
) -> Counts:
    """Count every fold of tested samples.

    Examples
    --------
    >>> counts = counted(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 0, 1]), 2, 2)
    >>> counts.right.tolist(), counts.predicted.tolist()
    ([[1, 1], [0, 0]], [[1, 1], [1, 0]])
    """

    def per_cell(codes: np.ndarray, which: np.ndarray | slice) -> np.ndarray:
        cells = fold[which] * n_classes + codes[which]
        return np.bincount(cells, minlength=n_folds * n_classes).reshape(n_folds, n_classes)

    return Counts(per_cell(y, y == predicted), per_cell(y, slice(None)), per_cell(predicted, slice(None)))


def guessed(true: Shaped[np.ndarray, "*folds n_classes"], shares: Float[np.ndarray, "*folds n_classes"]) -> Counts:
    """What guessing labels by `shares`, whatever the input, comes to on average on folds of such samples.

    Examples
    --------
    >>> guessed(np.array([3, 1]), np.array([0.5, 0.5])).right.tolist()
    [1.5, 0.5]
    """
    return Counts(true * shares, true, true.sum(axis=-1, keepdims=True) * shares)


def f1_interval(right: float, true: float, predicted: float) -> Interval:
    """Wilson's interval of the F1 of one class: F1 is a growing function of right / (right + wrong of either kind).

    That share is one of samples, of which Wilson's interval is honest also where it is 0 or 1.

    Examples
    --------
    >>> f1_interval(8.0, 8.0, 8.0)
    Interval(lower=0.806..., upper=1.0)
    """
    share = wilson(right, true + predicted - right)
    if not share.known:
        return UNKNOWN
    return Interval(2 * share.lower / (1 + share.lower), 2 * share.upper / (1 + share.upper))


def class_intervals(counts: Counts) -> list[Interval]:
    """The interval of the F1 of each class of one fold; unknown of a class that neither is there nor was said."""
    cells = np.stack([counts.right, counts.true, counts.predicted], axis=-1).astype(np.float64)
    return [f1_interval(*cell) for cell in cells.tolist()]


def score_interval(counts: Counts, metric: Metric, class_names: tuple[str, ...]) -> Interval:
    """Of one fold, from Wilson's intervals: of accuracy, of the F1 of one class, or of classes joined for their mean.

    For the mean the distances to the ends are joined as those of independent estimates (Zou & Donner's MOVER), times
    the root of 2, since every wrong sample counts against two classes: the one it is of and the one it was taken for.
    """
    if metric.kind == "accuracy":
        return wilson(float(counts.right.sum()), float(counts.true.sum()))
    ends = class_intervals(counts)
    if metric.kind == "f1":
        return ends[class_names.index(metric.positive)]
    f1 = counts.f1()
    there = np.flatnonzero(~np.isnan(f1))
    return mean_interval(f1[there], [ends[label] for label in there.tolist()], inflation=sqrt(2))


def mean_interval(values: Float[np.ndarray, " n"], intervals: list[Interval], *, inflation: float = 1.0) -> Interval:
    """The interval of a mean of independent estimates, each with its own (MOVER); unknown where any of them is.

    `inflation` widens it for estimates that are not independent.

    Examples
    --------
    >>> mean_interval(np.array([0.5, 0.7]), [Interval(0.4, 0.6), Interval(0.6, 0.8)])
    Interval(lower=0.529..., upper=0.670...)
    """
    if len(values) == 0 or not all(interval.known for interval in intervals):
        return UNKNOWN
    mean = float(values.mean())
    scale = inflation / len(values)
    down = scale * np.hypot.reduce(values - [interval.lower for interval in intervals])
    up = scale * np.hypot.reduce([interval.upper for interval in intervals] - values)
    return Interval(max(mean - float(down), 0.0), min(mean + float(up), 1.0))
