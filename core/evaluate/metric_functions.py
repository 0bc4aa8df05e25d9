"""What is each metric? Functions of counts by class, shares of samples, and what is made of probabilities.

Those with scikit-learn's names are the same as theirs, faster or for many tables at once, and tested equal.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Shaped

from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.calibration import expected_calibration_error

Parts = tuple[Bools, Bools]
"""Which samples a share is of, and which of all samples it counts."""
Weights = Floats | None
OfClass = Callable[[Bools, Floats, Floats], float]
"""A metric of one class: which samples are of it, their probability of it, and their weights."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Samples by class: that are of it (`true`), that were `predicted` as it, and both (`right`).

    Counts may be of several folds or tables at once, then classes are along the last axis.
    """

    right: Shaped[np.ndarray, "*tables n_classes"]
    true: Shaped[np.ndarray, "*tables n_classes"]
    predicted: Shaped[np.ndarray, "*tables n_classes"]

    def f1(self) -> Shaped[np.ndarray, "*tables n_classes"]:
        """F1 of each class: the harmonic mean of precision and recall; NaN where a class neither is nor was predicted.

        >>> Counts(np.array([1, 1, 0]), np.array([2, 1, 0]), np.array([1, 2, 0])).f1().round(3)
        array([0.667, 0.667,   nan])
        """
        return _over(2.0 * self.right, self.true + self.predicted, np.nan)

    def take(self, fold: int) -> "Counts":
        """The counts of one fold."""
        return Counts(self.right[fold], self.true[fold], self.predicted[fold])

    def together(self) -> "Counts":
        """All folds as one."""
        return Counts(self.right.sum(axis=0), self.true.sum(axis=0), self.predicted.sum(axis=0))


def guessed(true: Shaped[np.ndarray, "*folds n_classes"], shares: Float[np.ndarray, "*folds n_classes"]) -> Counts:
    """What guessing labels by `shares`, whatever the input, comes to on average on folds of such samples.

    Examples
    --------
    >>> guessed(np.array([3, 1]), np.array([0.5, 0.5])).right.tolist()
    [1.5, 0.5]
    """
    return Counts(true * shares, true, true.sum(axis=-1, keepdims=True) * shares)


@dataclass(frozen=True, eq=False)
class Scored:
    """What a metric is of: true and predicted classes as codes, probabilities where known, and the positive class.

    Examples
    --------
    >>> Scored(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).counts.right.tolist()
    [1.0, 1.0]
    """

    y_true: Ints
    y_pred: Ints
    n_classes: int
    proba: Float[np.ndarray, "n n_classes"] | None = None
    positive: int = 1

    @cached_property
    def counts(self) -> Counts:
        """Samples by class, each of weight 1."""
        hit = self.y_true[self.y_true == self.y_pred]
        return Counts(
            *(np.bincount(labels, minlength=self.n_classes) * 1.0 for labels in (hit, self.y_true, self.y_pred))
        )

    @property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.y_true)

    def take(self, rows: Bool[np.ndarray, " n"]) -> "Scored":
        """The same of some of the samples.

        >>> Scored(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).take(np.array([True, False, True])).n
        2
        """
        proba = None if self.proba is None else self.proba[rows]
        return Scored(self.y_true[rows], self.y_pred[rows], self.n_classes, proba, self.positive)

    @cached_property
    def areas(self) -> list[tuple[float, float]]:
        """The area under the ROC curve of each class that is asked for, against the rest, and how many are of it."""
        return _areas(roc_area, self, None)


# Functions of counts. Ratios of nothing are 0, or left out of means, where scikit-learn has it so.


def _over(part: Any, whole: Any, nothing: float = 0.0) -> Any:
    empty = np.real(whole) == 0
    return np.where(empty, nothing, part / np.where(empty, 1.0, whole))


def _mean_where(values: Any, there: Any) -> Any:
    return _over(np.where(there, values, 0.0).sum(axis=-1), there.sum(axis=-1) * 1.0, np.nan)


def of_truth(counts: Counts) -> tuple[Any, Any]:
    """Samples of each class that were predicted as it, and all of it."""
    return counts.right, counts.true


def of_predicted(counts: Counts) -> tuple[Any, Any]:
    """Samples predicted as each class that are of it, and all so predicted."""
    return counts.right, counts.predicted


def of_either(counts: Counts) -> tuple[Any, Any]:
    """Samples of each class that were predicted as it, and those that are one or the other."""
    return counts.right, counts.true + counts.predicted - counts.right


def rest_of_truth(counts: Counts) -> tuple[Any, Any]:
    """Of each class, samples of the others that were not taken for it, and all of the others."""
    n = counts.true.sum(axis=-1, keepdims=True)
    return n - counts.true - counts.predicted + counts.right, n - counts.true


def rest_of_predicted(counts: Counts) -> tuple[Any, Any]:
    """Of each class, samples of the others that were not taken for it, and all that were not taken for it."""
    n = counts.true.sum(axis=-1, keepdims=True)
    return n - counts.true - counts.predicted + counts.right, n - counts.predicted


def f1_of_share(share: Any) -> Any:
    """F1 grows with the share of samples that are both of the class and predicted as it, of those that are either."""
    return 2 * share / (1 + share)


def recalls(counts: Counts) -> Any:
    """Which share of each class was predicted as it."""
    return _over(*of_truth(counts))


def precisions(counts: Counts) -> Any:
    """Which share of what was predicted as each class is of it."""
    return _over(*of_predicted(counts))


def jaccards(counts: Counts) -> Any:
    """Of each class, both over either: samples of it that were predicted so, of those that are one or the other."""
    return _over(*of_either(counts))


def macro(of_classes: Callable[[Counts], Any]) -> Callable[[Counts, int], Any]:
    """The mean over classes that are there or were predicted."""
    return lambda counts, _: _mean_where(of_classes(counts), np.real(counts.true + counts.predicted) > 0)


def weighted(of_classes: Callable[[Counts], Any]) -> Callable[[Counts, int], Any]:
    """The mean over classes by how many samples each has."""

    def value(counts: Counts, _: int) -> Any:
        there = np.real(counts.true) > 0
        total = (np.where(there, of_classes(counts), 0.0) * counts.true).sum(axis=-1)
        return _over(total, counts.true.sum(axis=-1) * 1.0, np.nan)

    return value


def one_class(
    shares: Callable[[Counts], tuple[Any, Any]], turned: Callable[[Any], Any] = lambda share: share
) -> Callable[[Counts, int], Any]:
    """That of the positive class, `turned` into what is asked for; NaN where it is of nothing."""

    def value(counts: Counts, positive: int) -> Any:
        part, whole = shares(counts)
        return turned(_over(part[..., positive], whole[..., positive], np.nan))

    return value


def accuracy(counts: Counts, _: int) -> Any:
    """The share of samples that were predicted as what they are."""
    return _over(counts.right.sum(axis=-1), counts.true.sum(axis=-1), np.nan)


def balanced(counts: Counts, _: int) -> Any:
    """The mean recall of the classes that are there."""
    return _mean_where(recalls(counts), np.real(counts.true) > 0)


def mcc(counts: Counts, _: int) -> Any:
    """The correlation of true and predicted classes; 0 of a constant, NaN of nothing."""
    n = counts.true.sum(axis=-1)
    both = n * counts.right.sum(axis=-1) - (counts.true * counts.predicted).sum(axis=-1)
    own = (n**2 - (counts.true**2).sum(axis=-1)) * (n**2 - (counts.predicted**2).sum(axis=-1))
    constant = np.real(own) <= 1e-12 * np.real(n) ** 4
    return np.where(constant, np.where(np.real(n) > 0, 0.0, np.nan), both / np.sqrt(np.where(constant, 1.0, own)))


def kappa(counts: Counts, _: int) -> Any:
    """Agreement beyond what the frequencies of both sides bring by chance."""
    n = counts.true.sum(axis=-1)
    by_chance = _over((counts.true * counts.predicted).sum(axis=-1), n**2, np.nan)
    return _over(_over(counts.right.sum(axis=-1), n, np.nan) - by_chance, 1 - by_chance, np.nan)


def jaccard_of_all(counts: Counts, _: int) -> Any:
    """Right samples, of those that are of a class or were predicted as it, all classes together."""
    right = counts.right.sum(axis=-1)
    return _over(right, 2 * counts.true.sum(axis=-1) - right, np.nan)


def likelihood_ratio(part: Callable[[Any], Any], over: Callable[[Any], Any]) -> Callable[[Counts, int], Any]:
    """How many times as likely an answer is of positives as of the rest: shares `part` of these, and `over` those."""

    def value(counts: Counts, positive: int) -> Any:
        sensitivity, specificity = (one_class(shares)(counts, positive) for shares in (of_truth, rest_of_truth))
        return _over(part(sensitivity), over(specificity), np.nan)

    return value


# Shares: which samples they are of, and which of these count. Their intervals are those of shares.


def all_right(scored: Scored) -> Parts:
    """All samples, and those that are right."""
    return np.ones(scored.n, dtype=bool), scored.y_true == scored.y_pred


def detected(scored: Scored) -> Parts:
    """Samples of the positive class, and those predicted so."""
    return scored.y_true == scored.positive, scored.y_pred == scored.positive


def detected_of_each(scored: Scored) -> list[Parts]:
    """The same of each class that is there."""
    return [detected(replace(scored, positive=code)) for code in np.unique(scored.y_true).tolist()]


def called(scored: Scored) -> Parts:
    """Samples predicted as the positive class, and those of it."""
    return scored.y_pred == scored.positive, scored.y_true == scored.positive


def called_of_each(scored: Scored) -> list[Parts]:
    """The same of each class that is there or was predicted."""
    classes = np.unique([scored.y_true, scored.y_pred]).tolist()
    return [called(replace(scored, positive=code)) for code in classes]


def left_alone(scored: Scored) -> Parts:
    """Samples of the rest, and those not predicted as the positive class."""
    return scored.y_true != scored.positive, scored.y_pred != scored.positive


def cleared(scored: Scored) -> Parts:
    """Samples not predicted as the positive class, and those of the rest."""
    return scored.y_pred != scored.positive, scored.y_true != scored.positive


def either(scored: Scored) -> Parts:
    """Samples that are of the positive class or were predicted so, and those that are both."""
    true, predicted = scored.y_true == scored.positive, scored.y_pred == scored.positive
    return true | predicted, true & predicted


def near_the_top(scored: Scored) -> Parts:
    """Of several classes, whether the true one is among the two most probable; of ties the last class comes first."""
    assert scored.proba is not None
    own = scored.proba[np.arange(scored.n), scored.y_true][:, None]
    later = np.arange(scored.n_classes) > scored.y_true[:, None]
    above = ((scored.proba > own) | ((scored.proba == own) & later)).sum(axis=1)
    return np.full(scored.n, scored.n_classes > 2), above < 2


# Metrics of probabilities: areas under curves, whose influences come from ranks, and means over samples.


def _columns(scored: Scored) -> list[int]:
    """The classes whose curve is asked for: the positive one of two, each of several that is there."""
    if scored.n_classes == 2:
        return [scored.positive]
    return np.unique(scored.y_true).tolist()


def roc_area(own: Bools, score: Floats, weights: Floats) -> float:
    """How likely a sample of a class has a higher score than one of the rest; a tie counts as half.

    >>> roc_area(np.array([True, True, False, False]), np.array([0.9, 0.4, 0.4, 0.1]), np.ones(4))
    0.875
    """
    ours, others = _weights_by_score(own, score, weights)
    return float((ours * (others.cumsum() - others / 2)).sum() / (ours.sum() * others.sum()))


def average_precision(own: Bools, score: Floats, weights: Floats) -> float:
    """The mean, over the samples of a class, of the precision where all with this score or a higher one are meant.

    >>> average_precision(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1]), np.ones(4)).__round__(3)
    0.833
    """
    ours, others = _weights_by_score(own, -score, weights)
    hits, size = ours.cumsum(), (ours + others).cumsum()
    return float((ours * _over(hits, size)).sum() / ours.sum())


def _weights_by_score(own: Bools, score: Floats, weights: Floats) -> Float[np.ndarray, "2 n_scores"]:
    """The weights of the samples of a class, and of the rest, at each score in rising order."""
    values, place = np.unique(score, return_inverse=True)
    return np.array([np.bincount(place, weights * side, len(values)) for side in (own, ~own)])


def area(of_class: OfClass, *, by_frequency: bool = False) -> Callable[[Scored, Weights], float]:
    """The mean over classes, each against the rest, of a metric of one class; NaN where a class has no rest.

    Each class counts alike, or `by_frequency`.
    """

    def value(scored: Scored, weights: Weights) -> float:
        as_it_is = weights is None and of_class is roc_area
        areas, sizes = np.transpose(scored.areas if as_it_is else _areas(of_class, scored, weights))
        return float(np.average(areas, weights=sizes if by_frequency else None))

    return value


def _areas(of_class: OfClass, scored: Scored, weights: Weights) -> list[tuple[float, float]]:
    assert scored.proba is not None
    areas, every = [], np.ones(scored.n) if weights is None else weights
    for label in _columns(scored):
        own = scored.y_true == label
        if own.all() or not own.any():
            return [(float("nan"), 1.0)]
        areas.append((of_class(own, scored.proba[:, label], every), float(every[own].sum())))
    return areas


def mean_of_classes(of_class: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Scored], Floats]:
    """Influences on the mean of a metric over classes, each against the rest."""

    def influences(scored: Scored) -> Floats:
        assert scored.proba is not None
        rows = [of_class(scored.y_true == label, scored.proba[:, label]) for label in _columns(scored)]
        return np.mean(rows, axis=0)

    return influences


def auc_influence(positive: Bools, score: Floats) -> Floats:
    """How many of the other side each sample is on the right side of, less the area (DeLong et al. 1988)."""
    moves = np.zeros(len(positive))
    for own, sign in ((positive, 1.0), (~positive, -1.0)):
        others = np.sort(score[~own])
        below = np.searchsorted(others, score[own], "left") + np.searchsorted(others, score[own], "right")
        share = below / (2 * max(len(others), 1))
        moves[own] = sign * (share - share.mean()) / max(len(share), 1)
    return moves


def ap_influence(own: Bools, score: Floats) -> Floats:
    """By how much each sample moves the average precision: its own step, and the precision of all steps below it."""
    values, place = np.unique(-score, return_inverse=True)  # the highest score first
    hits = np.bincount(place, weights=own, minlength=len(values))
    size = np.bincount(place, minlength=len(values))
    above, n_above = hits.cumsum(), size.cumsum()
    precision, n_hits = above / n_above, hits.sum()
    value = float((hits * precision).sum() / n_hits)
    gain = (hits * (n_above - above) / n_above**2)[::-1].cumsum()[::-1]
    loss = (hits * above / n_above**2)[::-1].cumsum()[::-1]
    return np.where(own, (precision[place] - value + gain[place]) / n_hits, -loss[place] / n_hits)


def brier(scored: Scored) -> Floats:
    """The squared distance of each sample's probabilities from its class; half of it where there are two."""
    assert scored.proba is not None
    return _brier(scored, scored.proba[np.arange(scored.n), scored.y_true])


def most_brier(scored: Scored) -> Floats:
    """That of each sample, were it of the class that is least probable."""
    return _brier(scored, _least_probable(scored))


def _brier(scored: Scored, of_truth: Floats) -> Floats:
    assert scored.proba is not None
    squares = np.einsum("ij,ij->i", scored.proba, scored.proba) - 2 * of_truth + 1
    return squares / 2 if scored.n_classes == 2 else squares


def log_losses(scored: Scored) -> Floats:
    """Minus the logarithm of the probability of each sample's class."""
    assert scored.proba is not None
    return _log_losses(scored.proba[np.arange(scored.n), scored.y_true])


def most_log_losses(scored: Scored) -> Floats:
    """That of each sample, were it of the class that is least probable."""
    return _log_losses(_least_probable(scored))


def _least_probable(scored: Scored) -> Floats:
    """The least probability of each sample, of the classes that the model knows."""
    assert scored.proba is not None
    known = scored.proba.any(axis=0) | (scored.counts.true > 0)
    return scored.proba[:, known if known.sum() > 1 else slice(None)].min(axis=1)


def _log_losses(of_truth: Floats) -> Floats:
    eps = np.finfo(np.float64).eps
    return -np.log(np.clip(of_truth, eps, 1 - eps))


def knowing_shares(scored: Scored) -> Scored:
    """The predictions of a model that knows nothing but how frequent classes are."""
    shares = scored.counts.true / scored.n
    return replace(scored, proba=np.broadcast_to(shares, (scored.n, scored.n_classes)))


def weighted_area_influence(scored: Scored) -> Floats:
    """Influences on the mean area over classes by how frequent they are; of two classes their areas are one."""
    assert scored.proba is not None
    (areas, sizes), columns = np.transpose(scored.areas), _columns(scored)
    moves = [auc_influence(scored.y_true == label, scored.proba[:, label]) for label in columns]
    moved = sizes / sizes.sum() @ np.array(moves)
    if len(columns) == 1:
        return moved
    of_class = np.zeros(scored.n_classes)
    of_class[columns] = areas
    return moved + (of_class[scored.y_true] - np.average(areas, weights=sizes)) / scored.n


def calibration_error(scored: Scored, _: Weights) -> float:
    """Of the probability of the predicted class."""
    assert scored.proba is not None
    confidence = scored.proba[np.arange(scored.n), scored.y_pred]
    return expected_calibration_error(confidence, scored.y_true == scored.y_pred)
