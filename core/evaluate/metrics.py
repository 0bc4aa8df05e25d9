"""What is reported of predictions? One registry of metrics, an entry each, and how much each sample moves one.

A metric is what scikit-learn's function of it says. Most are functions of three counts a class (samples that are of it,
that were taken for it, and both): these are computed for many tables at once, and exactly differentiated by a complex
step. How much a sample moves a metric (its influence) is what `core.evaluate.metric_estimates` takes intervals from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from math import inf
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data import DataError
from touchstone.core.evaluate.calibration.errors import expected_calibration_error

Needs = Literal["labels", "probabilities"]
Parts = tuple[Bool[np.ndarray, " n"], Bool[np.ndarray, " n"]]
"""Which samples a share is of, and which of all samples it counts."""
_STEP = 1e-30


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

    y_true: Integer[np.ndarray, " n"]
    y_pred: Integer[np.ndarray, " n"]
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


Weights = Float[np.ndarray, " n"] | None


@dataclass(frozen=True)
class Metric:
    """An entry of the registry: a name, a function of weighted predictions, and what is known of it.

    Parameters
    ----------
    name, title
        What addresses, commands and files call it, and what sentences do.
    function
        The definition, by scikit-learn: of predictions and weights of samples. NaN where it is not defined.
    needs
        Labels alone, or probabilities of every class too.
    of_class
        Whether it is about one class, the positive one.
    reads_classes
        Whether it weighs classes by themselves, so that each needs samples enough.
    has_baseline
        False where it says nothing alone: always answering "yes" finds every positive.
    lowest, highest
        The range that is possible, of two classes and of more.
    larger_is_better
        False of losses.
    of_counts
        The same as a function of counts by class, where it is one.
    share
        The same as a share of samples, where it is one: which samples it is of, and which of them it counts.
    share_of
        What says which samples those are: the "truth", what was "predicted", "either", or nothing: it is of all.
    from_share
        What the share is turned into, rising with it; None of a metric that is the share.
    mean_of_shares
        The shares that it is the mean of, each of other samples.
    influence
        How much each sample moves it, where neither counts nor a mean say so.
    of_samples
        What each sample is worth, where the metric is their mean.
    in_percent
        Whether it is written in percent, or as a bare number (an area of .985).
    has_interval
        False where what chance adds to it is not known well enough.
    """

    name: str
    title: str
    function: Callable[[Scored, Weights], float]
    needs: Needs = "labels"
    of_class: bool = False
    reads_classes: bool = True
    has_baseline: bool = True
    lowest: float = 0.0
    highest: tuple[float, float] = (1.0, 1.0)
    larger_is_better: bool = True
    of_counts: Callable[[Counts, int], Any] | None = None
    share: Callable[[Scored], Parts] | None = None
    share_of: Literal["", "truth", "predicted", "either"] = ""
    from_share: Callable[[float], float] | None = None
    mean_of_shares: Callable[[Scored], list[Parts]] | None = None
    influence: Callable[[Scored], np.ndarray] | None = None
    of_samples: Callable[[Scored], np.ndarray] | None = None
    in_percent: bool = True
    has_interval: bool = True

    def value(self, scored: Scored) -> float:
        """What it is; NaN where it is not defined.

        >>> METRICS["balanced_accuracy"].value(Scored(np.array([0, 0, 1]), np.array([0, 1, 1]), 2))
        0.75
        """
        if self.of_counts is not None:
            return float(np.real(self.of_counts(scored.counts, scored.positive)))
        return self.function(scored, None) if self.of_samples is None else float(self.of_samples(scored).mean())

    def applies(self, scored: Scored) -> bool:
        """Whether these predictions have what it needs."""
        return self.needs == "labels" or scored.proba is not None

    @property
    def is_no_mean(self) -> bool:
        """Whether it cannot be divided into what samples are worth."""
        return not self.is_share and self.of_samples is None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of samples of a class, of a prediction or of all, and nothing else of it."""
        return self.share is not None and self.share_of != "either" and self.from_share is None

    def mean(self, scored: Scored) -> tuple[Bool[np.ndarray, " n"], Shaped[np.ndarray, " n"]] | None:
        """Which samples it is the mean of, and what every sample is worth; None where it is no mean over samples.

        >>> scored = Scored(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
        >>> rows, worth = METRICS["recall"].mean(scored)
        >>> worth[rows].tolist(), METRICS["f1"].mean(scored)
        ([True, False], None)
        """
        if self.of_samples is not None:
            return np.ones(scored.n, dtype=bool), self.of_samples(scored)
        return self.share(scored) if self.is_share and self.share is not None else None

    def baseline(self, scored: Scored) -> float:
        """The best that a model reaches which learned nothing but how frequent classes are.

        It says the most frequent class (or the positive one), guesses by shares, or gives the shares as probabilities.

        Examples
        --------
        >>> scored = Scored(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]), 2)
        >>> [METRICS[name].baseline(scored) for name in ("accuracy", "balanced_accuracy", "recall", "cohen_kappa")]
        [0.75, 0.5, nan, 0.0]
        """
        if not self.has_baseline:
            return float("nan")
        if self.needs == "probabilities":
            return self.value(_knowing_shares(scored))
        if self.of_counts is None:
            always = scored.positive if self.of_class else int(scored.counts.true.argmax())
            return self.function(replace(scored, y_pred=np.full(scored.n, always)), None)
        return best_guess(self, scored.counts.true, scored.positive)

    def influences(self, scored: Scored) -> Float[np.ndarray, " n"]:
        """By how much each sample moves the metric, were it there a little more often; they sum to about 0."""
        if self.of_samples is not None:
            values = self.of_samples(scored)
            return (values - values.mean()) / scored.n
        if self.influence is not None:
            return self.influence(scored)
        if self.share is not None and self.of_counts is None:
            rows, counted = self.share(scored)
            return np.where(rows, counted - counted[rows].mean(), 0.0) / max(rows.sum(), 1)
        if self.of_counts is not None:
            return _of_counts(self.of_counts, scored)
        return _by_weights(self.function, scored)


def best_guess(metric: Metric, true: Float[np.ndarray, " n_classes"], positive: int) -> float:
    """The best that a metric of counts is for one answer throughout, or for guesses by the shares of classes.

    >>> best_guess(METRICS["f1_macro"], np.array([75.0, 25.0]), 1)
    0.5
    """
    if metric.of_counts is None or not metric.has_baseline:
        return float("nan")
    shares = true / true.sum()
    always = positive if metric.of_class else int(true.argmax())
    reached = [metric.of_counts(guessed(true, guess), positive) for guess in (np.eye(len(true))[always], shares)]
    known = [float(np.real(value)) for value in reached if not np.isnan(value)]
    return (max if metric.larger_is_better else min)(known, default=float("nan"))


def _of_counts(function: Callable[[Counts, int], Any], scored: Scored) -> Float[np.ndarray, " n"]:
    """Influences of a function of counts: its derivative by every count, of those that a sample is part of.

    A complex step is exact where a difference of two values is not. Counts of 0 stay 0: no sample is part of them.
    """
    counts, step = scored.counts, 1j * _STEP * np.eye(scored.n_classes)
    there = np.broadcast_to(counts.true, step.shape), np.broadcast_to(counts.predicted, step.shape)
    stepped = (
        Counts(counts.right + step, *there),
        Counts(np.broadcast_to(counts.right, step.shape), counts.true + step, there[1]),
        Counts(np.broadcast_to(counts.right, step.shape), there[0], counts.predicted + step),
    )
    of_right, of_true, of_predicted = (np.imag(function(each, scored.positive)) / _STEP for each in stepped)
    hit = scored.y_true == scored.y_pred
    return np.where(hit, of_right[scored.y_true], 0.0) + of_true[scored.y_true] + of_predicted[scored.y_pred]


def _by_weights(function: Callable[[Scored, Weights], float], scored: Scored, step: float = 1e-4) -> np.ndarray:
    """Influences of any other function: what a little more weight of each sample changes."""
    value, weights = function(scored, None), np.ones(scored.n)
    moves = np.empty(scored.n)
    for row in range(scored.n):
        weights[row] = 1 + step
        moves[row] = (function(scored, weights) - value) / step
        weights[row] = 1.0
    return moves - moves.mean()


# Functions of counts. Ratios of nothing are 0, or left out of means, where scikit-learn has it so.


def _over(part: Any, whole: Any, nothing: float = 0.0) -> Any:
    empty = np.real(whole) == 0
    return np.where(empty, nothing, part / np.where(empty, 1.0, whole))


def _mean_where(values: Any, there: Any) -> Any:
    return _over(np.where(there, values, 0.0).sum(axis=-1), there.sum(axis=-1) * 1.0, np.nan)


def _there(counts: Counts) -> np.ndarray:
    """The classes that a mean is over: those that are there or were predicted."""
    return (np.real(counts.true) + np.real(counts.predicted)) > 0


def _recalls(counts: Counts) -> Any:
    return _over(counts.right, counts.true)


def _precisions(counts: Counts) -> Any:
    return _over(counts.right, counts.predicted)


def _jaccards(counts: Counts) -> Any:
    return _over(counts.right, counts.true + counts.predicted - counts.right)


def _macro(of_classes: Callable[[Counts], Any]) -> Callable[[Counts, int], Any]:
    return lambda counts, _: _mean_where(of_classes(counts), _there(counts))


def _weighted(of_classes: Callable[[Counts], Any]) -> Callable[[Counts, int], Any]:
    def value(counts: Counts, _: int) -> Any:
        there = np.real(counts.true) > 0
        total = (np.where(there, of_classes(counts), 0.0) * counts.true).sum(axis=-1)
        return _over(total, counts.true.sum(axis=-1) * 1.0, np.nan)

    return value


def _one_class(of_classes: Callable[[Counts], Any], whole: Callable[[Counts], Any]) -> Callable[[Counts, int], Any]:
    def value(counts: Counts, positive: int) -> Any:
        return np.where(np.real(whole(counts))[..., positive] > 0, of_classes(counts)[..., positive], np.nan)

    return value


def _accuracy(counts: Counts, _: int) -> Any:
    return _over(counts.right.sum(axis=-1), counts.true.sum(axis=-1), np.nan)


def _balanced(counts: Counts, _: int) -> Any:
    return _mean_where(_recalls(counts), np.real(counts.true) > 0)


def _rest(counts: Counts, positive: int) -> tuple[Any, Any, Any]:
    """Of the rest of the classes as one: right (not taken for the positive one), true, and predicted."""
    n = counts.true.sum(axis=-1)
    true, predicted = counts.true[..., positive], counts.predicted[..., positive]
    return n - true - predicted + counts.right[..., positive], n - true, n - predicted


def _specificity(counts: Counts, positive: int) -> Any:
    right, true, _ = _rest(counts, positive)
    return _over(right, true, np.nan)


def _negative_predictive_value(counts: Counts, positive: int) -> Any:
    right, _, predicted = _rest(counts, positive)
    return _over(right, predicted, np.nan)


def _mcc(counts: Counts, _: int) -> Any:
    n = counts.true.sum(axis=-1)
    both = n * counts.right.sum(axis=-1) - (counts.true * counts.predicted).sum(axis=-1)
    own = (n**2 - (counts.true**2).sum(axis=-1)) * (n**2 - (counts.predicted**2).sum(axis=-1))
    constant = np.real(own) <= 1e-12 * np.real(n) ** 4
    return np.where(constant, 0.0, both / np.sqrt(np.where(constant, 1.0, own)))


def _kappa(counts: Counts, _: int) -> Any:
    n = counts.true.sum(axis=-1)
    by_chance = (counts.true * counts.predicted).sum(axis=-1) / n**2
    return _over(counts.right.sum(axis=-1) / n - by_chance, 1 - by_chance, np.nan)


def _jaccard_of_all(counts: Counts, _: int) -> Any:
    right = counts.right.sum(axis=-1)
    return _over(right, 2 * counts.true.sum(axis=-1) - right, np.nan)


def _likelihood_ratio(found: Callable[[Any], Any], over: Callable[[Any], Any]) -> Callable[[Counts, int], Any]:
    """How many times as likely an answer is of positives as of the rest: shares `found` of these, and `over` those."""

    def value(counts: Counts, positive: int) -> Any:
        left_alone, rest, _ = _rest(counts, positive)
        sensitivity = _over(counts.right[..., positive], counts.true[..., positive], np.nan)
        return _over(found(sensitivity), over(_over(left_alone, rest, np.nan)), np.nan)

    return value


# Shares: which samples they are of, and which of these count. Their intervals are those of shares.


def _all_right(scored: Scored) -> Parts:
    return np.ones(scored.n, dtype=bool), scored.y_true == scored.y_pred


def _found(scored: Scored) -> Parts:
    return scored.y_true == scored.positive, scored.y_pred == scored.positive


def _found_of_each(scored: Scored) -> list[Parts]:
    return [_found(replace(scored, positive=code)) for code in np.unique(scored.y_true).tolist()]


def _meant(scored: Scored) -> Parts:
    return scored.y_pred == scored.positive, scored.y_true == scored.positive


def _left_alone(scored: Scored) -> Parts:
    return scored.y_true != scored.positive, scored.y_pred != scored.positive


def _cleared(scored: Scored) -> Parts:
    return scored.y_pred != scored.positive, scored.y_true != scored.positive


def _either(scored: Scored) -> Parts:
    true, predicted = scored.y_true == scored.positive, scored.y_pred == scored.positive
    return true | predicted, true & predicted


def _near_the_top(scored: Scored) -> Parts:
    """Of several classes, whether the true one is among the two most probable, by scikit-learn's rule for ties."""
    assert scored.proba is not None
    two = np.argsort(scored.proba, axis=1, kind="mergesort")[:, ::-1][:, :2]
    return np.full(scored.n, scored.n_classes > 2), (two == scored.y_true[:, None]).any(axis=1)


# Metrics of probabilities: areas under curves, whose influences come from ranks, and means over samples.


def _columns(scored: Scored) -> list[int]:
    """The classes whose curve is asked for: the positive one of two, each of several that is there."""
    if scored.n_classes == 2:
        return [scored.positive]
    return np.unique(scored.y_true).tolist()


def _area(name: str) -> Callable[[Scored, Weights], float]:
    """The mean over classes, each against the rest, of a metric of one class; NaN where a class has no rest."""

    def value(scored: Scored, weights: Weights) -> float:
        assert scored.proba is not None
        areas = []
        for label in _columns(scored):
            own = scored.y_true == label
            if own.all() or not own.any():
                return float("nan")
            areas.append(_sklearn(name)(own, scored.proba[:, label], sample_weight=weights))
        return float(np.mean(areas))

    return value


def _mean_of_classes(
    of_class: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[Scored], Float[np.ndarray, " n"]]:
    def influences(scored: Scored) -> Float[np.ndarray, " n"]:
        assert scored.proba is not None
        rows = [of_class(scored.y_true == label, scored.proba[:, label]) for label in _columns(scored)]
        return np.mean(rows, axis=0)

    return influences


def _auc_influence(positive: Bool[np.ndarray, " n"], score: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """How many of the other side each sample is on the right side of, less the area (DeLong et al. 1988)."""
    moves = np.zeros(len(positive))
    for own, sign in ((positive, 1.0), (~positive, -1.0)):
        others = np.sort(score[~own])
        below = np.searchsorted(others, score[own], "left") + np.searchsorted(others, score[own], "right")
        share = below / (2 * max(len(others), 1))
        moves[own] = sign * (share - share.mean()) / max(len(share), 1)
    return moves


def _ap_influence(own: Bool[np.ndarray, " n"], score: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
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


def _brier(scored: Scored) -> Float[np.ndarray, " n"]:
    assert scored.proba is not None
    of_truth = scored.proba[np.arange(scored.n), scored.y_true]
    squares = np.einsum("ij,ij->i", scored.proba, scored.proba) - 2 * of_truth + 1
    return squares / 2 if scored.n_classes == 2 else squares


def _log_losses(scored: Scored) -> Float[np.ndarray, " n"]:
    assert scored.proba is not None
    eps = np.finfo(np.float64).eps
    return -np.log(np.clip(scored.proba[np.arange(scored.n), scored.y_true], eps, 1 - eps))


def _explained(losses: Callable[[Scored], np.ndarray]) -> Callable[[Scored], Float[np.ndarray, " n"]]:
    """Influences on the share of a loss that a model saves, of what the frequencies of classes alone would lose."""

    def influences(scored: Scored) -> Float[np.ndarray, " n"]:
        own, without = losses(scored), losses(_knowing_shares(scored))
        mean, of_shares = own.mean(), without.mean()
        return -((own - mean) / of_shares - mean * (without - of_shares) / of_shares**2) / scored.n

    return influences


def _knowing_shares(scored: Scored) -> Scored:
    """The predictions of a model that knows nothing but how frequent classes are."""
    shares = scored.counts.true / scored.n
    return replace(scored, proba=np.broadcast_to(shares, (scored.n, scored.n_classes)))


def _weighted_area(scored: Scored, weights: Weights) -> float:
    """The mean over classes by how frequent they are; NaN where one is all there is."""
    assert scored.proba is not None
    weights = np.ones(scored.n) if weights is None else weights
    area = 0.0
    for label in np.unique(scored.y_true).tolist():
        own = scored.y_true == label
        if own.all():
            return float("nan")
        area += weights[own].sum() * _sklearn("roc_auc_score")(own, scored.proba[:, label], sample_weight=weights)
    return float(area / weights.sum())


def _weighted_area_influence(scored: Scored) -> Float[np.ndarray, " n"]:
    assert scored.proba is not None
    moves, areas = np.zeros(scored.n), np.zeros(scored.n_classes)
    shares = scored.counts.true / scored.n
    for label in np.unique(scored.y_true).tolist():
        own = scored.y_true == label
        areas[label] = _sklearn("roc_auc_score")(own, scored.proba[:, label])
        moves += shares[label] * _auc_influence(own, scored.proba[:, label])
    return moves + (areas[scored.y_true] - shares @ areas) / scored.n


def _calibration_error(scored: Scored, weights: Weights) -> float:
    """Of the probability of the predicted class; samples are binned, so weights have to be how often each is there."""
    assert scored.proba is not None
    times = np.ones(scored.n, dtype=int) if weights is None else weights.astype(int)
    confidence = scored.proba[np.arange(scored.n), scored.y_pred]
    return expected_calibration_error(np.repeat(confidence, times), np.repeat(scored.y_true == scored.y_pred, times))


def _sklearn(name: str) -> Callable[..., Any]:
    """A metric of scikit-learn by its name; imported once it is needed, since that takes long."""
    return getattr(import_module("sklearn.metrics"), name)


def _of_labels(name: str, **options: Any) -> Callable[[Scored, Weights], float]:
    return lambda scored, weights: float(
        _sklearn(name)(scored.y_true, scored.y_pred, sample_weight=weights, **options),
    )


def _of_positive(name: str, *, rest: bool = False) -> Callable[[Scored, Weights], float]:
    """Of the positive class against the rest, or of the rest against it; NaN where it is of nothing."""

    def value(scored: Scored, weights: Weights) -> float:
        true, predicted = ((labels == scored.positive) != rest for labels in (scored.y_true, scored.y_pred))
        return float(_sklearn(name)(true, predicted, sample_weight=weights, zero_division=np.nan))

    return value


def _jaccard(scored: Scored, weights: Weights) -> float:
    """Of the positive class; scikit-learn's has no NaN for "of nothing"."""
    if not np.logical_or(*(labels == scored.positive for labels in (scored.y_true, scored.y_pred))).any():
        return float("nan")
    classes = {"labels": [scored.positive], "average": "macro", "zero_division": 0.0}
    return _of_labels("jaccard_score", **classes)(scored, weights)


def _ratio(which: int) -> Callable[[Scored, Weights], float]:
    """The positive likelihood ratio, or the negative one, of the positive class against the rest."""

    def value(scored: Scored, weights: Weights) -> float:
        true, predicted = (labels == scored.positive for labels in (scored.y_true, scored.y_pred))
        undefined = {"labels": [False, True], "replace_undefined_by": np.nan}
        ratios = _sklearn("class_likelihood_ratios")(true, predicted, sample_weight=weights, **undefined)
        return float(ratios[which])

    return value


def _top_two(scored: Scored, weights: Weights) -> float:
    if scored.n_classes == 2:
        return float("nan")
    labels = {"k": 2, "labels": np.arange(scored.n_classes)}
    return float(_sklearn("top_k_accuracy_score")(scored.y_true, scored.proba, sample_weight=weights, **labels))


def _of_proba(name: str) -> Callable[[Scored, Weights], float]:
    def value(scored: Scored, weights: Weights) -> float:
        labels = np.arange(scored.n_classes)
        return float(_sklearn(name)(scored.y_true, scored.proba, sample_weight=weights, labels=labels))

    return value


def _saved(name: str) -> Callable[[Scored, Weights], float]:
    """The share of a loss that a model saves; NaN of one class alone, where nothing is lost."""
    function = _of_proba(name)
    return lambda scored, weights: function(scored, weights) if np.ptp(scored.y_true) else float("nan")


_MACRO = {"average": "macro", "zero_division": 0.0}
_ENTRIES = (
    Metric(
        "accuracy",
        "accuracy",
        _of_labels("accuracy_score"),
        reads_classes=False,
        of_counts=_accuracy,
        share=_all_right,
    ),
    Metric(
        "balanced_accuracy",
        "balanced accuracy",
        _of_labels("balanced_accuracy_score"),
        of_counts=_balanced,
        mean_of_shares=_found_of_each,
    ),
    Metric("f1_macro", "macro F1", _of_labels("f1_score", **_MACRO), of_counts=_macro(Counts.f1)),
    Metric(
        "f1_weighted",
        "weighted F1",
        _of_labels("f1_score", average="weighted", zero_division=0.0),
        of_counts=_weighted(Counts.f1),
    ),
    Metric(
        "precision_macro",
        "macro precision",
        _of_labels("precision_score", **_MACRO),
        of_counts=_macro(_precisions),
    ),
    Metric(
        "jaccard_macro",
        "macro Jaccard index",
        _of_labels("jaccard_score", **_MACRO),
        of_counts=_macro(_jaccards),
    ),
    Metric(
        "precision_weighted",
        "weighted precision",
        _of_labels("precision_score", average="weighted", zero_division=0.0),
        of_counts=_weighted(_precisions),
    ),
    Metric(
        "recall_macro",
        "macro recall",
        _of_labels("recall_score", **_MACRO),
        of_counts=_macro(_recalls),
    ),
    Metric(
        "jaccard_weighted",
        "weighted Jaccard index",
        _of_labels("jaccard_score", average="weighted", zero_division=0.0),
        of_counts=_weighted(_jaccards),
    ),
    Metric(
        "jaccard_micro",
        "micro Jaccard index",
        _of_labels("jaccard_score", average="micro", zero_division=0.0),
        reads_classes=False,
        of_counts=_jaccard_of_all,
        share=_all_right,
        from_share=lambda share: share / (2 - share),
    ),
    Metric(
        "matthews_corrcoef",
        "Matthews correlation (MCC)",
        _of_labels("matthews_corrcoef"),
        lowest=-1.0,
        of_counts=_mcc,
        in_percent=False,
    ),
    Metric(
        "cohen_kappa",
        "Cohen's kappa",
        _of_labels("cohen_kappa_score"),
        lowest=-1.0,
        of_counts=_kappa,
        in_percent=False,
    ),
    Metric(
        "recall",
        "sensitivity (recall)",
        _of_positive("recall_score"),
        of_class=True,
        has_baseline=False,
        of_counts=_one_class(_recalls, lambda counts: counts.true),
        share=_found,
        share_of="truth",
    ),
    Metric(
        "specificity",
        "specificity",
        _of_positive("recall_score", rest=True),
        of_class=True,
        has_baseline=False,
        of_counts=_specificity,
        share=_left_alone,
        share_of="truth",
    ),
    Metric(
        "precision",
        "precision",
        _of_positive("precision_score"),
        of_class=True,
        of_counts=_one_class(_precisions, lambda counts: counts.predicted),
        share=_meant,
        share_of="predicted",
    ),
    Metric(
        "negative_predictive_value",
        "negative predictive value",
        _of_positive("precision_score", rest=True),
        of_class=True,
        of_counts=_negative_predictive_value,
        share=_cleared,
        share_of="predicted",
    ),
    Metric(
        "f1",
        "F1",
        _of_positive("f1_score"),
        of_class=True,
        of_counts=_one_class(Counts.f1, lambda counts: counts.true + counts.predicted),
        share=_either,
        share_of="either",
        from_share=lambda share: 2 * share / (1 + share),
    ),
    Metric(
        "jaccard",
        "Jaccard index",
        _jaccard,
        of_class=True,
        of_counts=_one_class(_jaccards, lambda counts: counts.true + counts.predicted),
        share=_either,
        share_of="either",
    ),
    Metric(
        "positive_likelihood_ratio",
        "positive likelihood ratio",
        _ratio(0),
        of_class=True,
        has_baseline=False,
        highest=(inf, inf),
        of_counts=_likelihood_ratio(lambda sensitivity: sensitivity, lambda specificity: 1 - specificity),
        in_percent=False,
    ),
    Metric(
        "negative_likelihood_ratio",
        "negative likelihood ratio",
        _ratio(1),
        of_class=True,
        has_baseline=False,
        highest=(inf, inf),
        larger_is_better=False,
        of_counts=_likelihood_ratio(lambda sensitivity: 1 - sensitivity, lambda specificity: specificity),
        in_percent=False,
    ),
    Metric(
        "top_k_accuracy",
        "top-2 accuracy",
        _top_two,
        needs="probabilities",
        reads_classes=False,
        share=_near_the_top,
    ),
    Metric(
        "roc_auc",
        "AUC",
        _area("roc_auc_score"),
        needs="probabilities",
        influence=_mean_of_classes(_auc_influence),
        in_percent=False,
    ),
    Metric(
        "roc_auc_ovr_weighted",
        "weighted AUC",
        _weighted_area,
        needs="probabilities",
        influence=_weighted_area_influence,
        in_percent=False,
    ),
    Metric(
        "average_precision",
        "average precision",
        _area("average_precision_score"),
        needs="probabilities",
        influence=_mean_of_classes(_ap_influence),
        in_percent=False,
    ),
    Metric(
        "brier_score",
        "Brier score",
        _of_proba("brier_score_loss"),
        needs="probabilities",
        reads_classes=False,
        highest=(1.0, 2.0),
        larger_is_better=False,
        of_samples=_brier,
        in_percent=False,
    ),
    Metric(
        "log_loss",
        "log loss",
        _of_proba("log_loss"),
        needs="probabilities",
        reads_classes=False,
        highest=(inf, inf),
        larger_is_better=False,
        of_samples=_log_losses,
        in_percent=False,
    ),
    Metric(
        "d2_brier_score",
        "explained Brier score",
        _saved("d2_brier_score"),
        needs="probabilities",
        lowest=-inf,
        influence=_explained(_brier),
    ),
    Metric(
        "d2_log_loss_score",
        "explained log loss",
        _saved("d2_log_loss_score"),
        needs="probabilities",
        lowest=-inf,
        influence=_explained(_log_losses),
    ),
    Metric(
        "expected_calibration_error",
        "expected calibration error",
        _calibration_error,
        needs="probabilities",
        has_baseline=False,
        larger_is_better=False,
        reads_classes=False,
        has_interval=False,
    ),
)
METRICS = {entry.name: entry for entry in _ENTRIES}
"""Every metric by its name."""
ACCURACY = "accuracy"
"""The one that is meant where none is named."""


def shares_of_counts() -> tuple[str, ...]:
    """The names of metrics that are shares, from 0 to 1, and functions of counts by class: any trial gives them.

    >>> "balanced_accuracy" in shares_of_counts(), "roc_auc" in shares_of_counts()
    (True, False)
    """
    return tuple(name for name, each in METRICS.items() if each.of_counts is not None and each.in_percent)


ALIASES = {
    **dict.fromkeys(("f1_micro", "precision_micro", "recall_micro", "recall_weighted"), ACCURACY),
    "roc_auc_ovr": "roc_auc",
    "neg_brier_score": "brier_score",
    "neg_log_loss": "log_loss",
    "neg_negative_likelihood_ratio": "negative_likelihood_ratio",
}
"""What scikit-learn calls the same, or the same turned around."""


def metric_named(name: str) -> Metric:
    """The entry of this name. Raises DataError for an unknown one, naming those that there are.

    >>> metric_named("roc_auc").title, metric_named("recall_weighted").title
    ('AUC', 'accuracy')
    """
    name = ALIASES.get(name, name)
    if name not in METRICS:
        raise DataError(f"There is no metric {name!r}. Choose from {', '.join(METRICS)}.")
    return METRICS[name]
