"""What is reported of predictions? One registry of metrics, an entry each, and how much each sample moves one.

A metric is what scikit-learn's function of it says. Most are functions of three counts a class (samples that are of it,
that were taken for it, and both): these are computed for many tables at once, and exactly differentiated by a complex
step. How much a sample moves a metric (its influence) is what `core.evaluate.metric_estimates` takes intervals from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data import DataError
from touchstone.core.data.values import Bools, Floats
from touchstone.core.evaluate import metric_functions as functions
from touchstone.core.evaluate.metric_functions import Counts, Parts, Scored, Weights, guessed
from touchstone.core.registry import NO_PLUGIN, Registry

Needs = Literal["labels", "probabilities"]
_STEP = 1e-30


@dataclass(frozen=True)
class Metric:
    """An entry of the registry: a name, what it is in one of several forms, and what is known of it.

    Parameters
    ----------
    name, title
        What addresses, commands and files call it, and what sentences do.
    function
        Of predictions and weights of samples, where none of the forms below says what it is. NaN: it is not defined.
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
        As a function of counts by class, where it is one.
    share
        As a share of samples, where it is one: which samples it is of, and which of them it counts.
    share_of
        What says which samples those are: the "truth", what was "predicted", "either", or nothing: it is of all.
    from_share
        What the share is turned into, rising with it; None of a metric that is the share.
    of_classes
        The share that it is of one class, or the mean of over classes: of counts, the parts and the wholes.
    mean_of_shares
        The shares that it is the mean of, each of other samples.
    influence
        How much each sample moves it, where neither counts nor a mean say so.
    of_samples
        What each sample is worth, where the metric is their mean.
    saved_of
        The losses of samples of which it is the share that a model saves, of what frequencies of classes alone lose.
    most_of_samples
        Where samples are worth losses: the most that each could have lost, whatever its class.
    in_percent
        Whether it is written in percent, or as a bare number (an area of .985).
    has_interval
        False where what chance adds to it is not known well enough.
    """

    name: str
    title: str
    function: Callable[[Scored, Weights], float] | None = None
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
    of_classes: Callable[[Counts], tuple[Any, Any]] | None = None
    mean_of_shares: Callable[[Scored], list[Parts]] | None = None
    influence: Callable[[Scored], np.ndarray] | None = None
    of_samples: Callable[[Scored], np.ndarray] | None = None
    saved_of: Callable[[Scored], np.ndarray] | None = None
    most_of_samples: Callable[[Scored], np.ndarray] | None = None
    in_percent: bool = True
    has_interval: bool = True

    def value(self, scored: Scored) -> float:
        """What it is; NaN where it is not defined.

        >>> METRICS["balanced_accuracy"].value(Scored(np.array([0, 0, 1]), np.array([0, 1, 1]), 2))
        0.75
        """
        if self.of_counts is not None:
            return float(np.real(self.of_counts(scored.counts, scored.positive)))
        if self.of_samples is not None:
            return float(self.of_samples(scored).mean())
        if self.saved_of is not None:
            without = float(self.saved_of(functions.knowing_shares(scored)).mean())
            return 1 - float(self.saved_of(scored).mean()) / without if np.ptp(scored.y_true) else float("nan")
        if self.share is not None:
            rows, counted = self.share(scored)
            share = float(counted[rows].mean()) if rows.any() else float("nan")
            return share if self.from_share is None else self.from_share(share)
        assert self.function is not None
        return self.function(scored, None)

    def applies(self, scored: Scored) -> bool:
        """Whether these predictions have what it needs."""
        return self.needs == "labels" or scored.proba is not None

    @property
    def losses(self) -> Callable[[Scored], np.ndarray] | None:
        """What each sample loses, of metrics that are made of it; None of others."""
        return self.of_samples or self.saved_of

    @property
    def is_of_counts(self) -> bool:
        """Whether it is a function of counts by class and ends at 1: any trial gives it, and any fold."""
        return self.of_counts is not None and self.highest == (1.0, 1.0)

    @property
    def is_no_mean(self) -> bool:
        """Whether it cannot be divided into what samples are worth."""
        return not self.is_share and self.of_samples is None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of samples of a class, of a prediction or of all, and nothing else of it."""
        return self.share is not None and self.share_of != "either" and self.from_share is None

    def mean(self, scored: Scored) -> tuple[Bools, Shaped[np.ndarray, " n"]] | None:
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
            return self.value(functions.knowing_shares(scored))
        if self.of_counts is None:
            always = scored.positive if self.of_class else int(scored.counts.true.argmax())
            return self.value(replace(scored, y_pred=np.full(scored.n, always)))
        return best_guess(self, scored.counts.true, scored.positive)

    def influences(self, scored: Scored) -> Floats:
        """By how much each sample moves the metric, were it there a little more often; they sum to about 0."""
        if self.of_samples is not None:
            values = self.of_samples(scored)
            return (values - values.mean()) / scored.n
        if self.saved_of is not None:
            own, without = self.saved_of(scored), self.saved_of(functions.knowing_shares(scored))
            mean, of_shares = own.mean(), without.mean()
            return -((own - mean) / of_shares - mean * (without - of_shares) / of_shares**2) / scored.n
        if self.influence is not None:
            return self.influence(scored)
        if self.share is not None and self.of_counts is None:
            rows, counted = self.share(scored)
            return np.where(rows, counted - counted[rows].mean(), 0.0) / max(rows.sum(), 1)
        if self.of_counts is not None:
            return _of_counts(self.of_counts, scored)
        assert self.function is not None
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


def _of_counts(function: Callable[[Counts, int], Any], scored: Scored) -> Floats:
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


_of_class, _of_probabilities = partial(Metric, of_class=True), partial(Metric, needs="probabilities")
_ENTRIES = (
    Metric("accuracy", "accuracy", reads_classes=False, of_counts=functions.accuracy, share=functions.all_right),
    Metric(
        "balanced_accuracy",
        "balanced accuracy",
        of_counts=functions.balanced,
        of_classes=functions.of_truth,
        mean_of_shares=functions.detected_of_each,
    ),
    Metric(
        "f1_macro",
        "macro F1",
        of_counts=functions.macro(Counts.f1),
        from_share=functions.f1_of_share,
        of_classes=functions.of_either,
    ),
    Metric("f1_weighted", "weighted F1", of_counts=functions.weighted(Counts.f1)),
    Metric(
        "precision_macro",
        "macro precision",
        of_counts=functions.macro(functions.precisions),
        of_classes=functions.of_predicted,
        mean_of_shares=functions.called_of_each,
    ),
    Metric(
        "jaccard_macro",
        "macro Jaccard index",
        of_counts=functions.macro(functions.jaccards),
        of_classes=functions.of_either,
    ),
    Metric("precision_weighted", "weighted precision", of_counts=functions.weighted(functions.precisions)),
    Metric(
        "recall_macro",
        "macro recall",
        of_counts=functions.macro(functions.recalls),
        of_classes=functions.of_truth,
        mean_of_shares=functions.detected_of_each,
    ),
    Metric("jaccard_weighted", "weighted Jaccard index", of_counts=functions.weighted(functions.jaccards)),
    Metric(
        "jaccard_micro",
        "micro Jaccard index",
        reads_classes=False,
        of_counts=functions.jaccard_of_all,
        share=functions.all_right,
        from_share=lambda share: share / (2 - share),
    ),
    Metric("matthews_corrcoef", "Matthews correlation (MCC)", lowest=-1.0, of_counts=functions.mcc, in_percent=False),
    Metric("cohen_kappa", "Cohen's kappa", lowest=-1.0, of_counts=functions.kappa, in_percent=False),
    _of_class(
        "recall",
        "sensitivity (recall)",
        has_baseline=False,
        of_counts=functions.one_class(functions.of_truth),
        of_classes=functions.of_truth,
        share=functions.detected,
        share_of="truth",
    ),
    _of_class(
        "specificity",
        "specificity",
        has_baseline=False,
        of_counts=functions.one_class(functions.rest_of_truth),
        of_classes=functions.rest_of_truth,
        share=functions.left_alone,
        share_of="truth",
    ),
    _of_class(
        "precision",
        "precision",
        of_counts=functions.one_class(functions.of_predicted),
        of_classes=functions.of_predicted,
        share=functions.called,
        share_of="predicted",
    ),
    _of_class(
        "negative_predictive_value",
        "negative predictive value",
        of_counts=functions.one_class(functions.rest_of_predicted),
        of_classes=functions.rest_of_predicted,
        share=functions.cleared,
        share_of="predicted",
    ),
    _of_class(
        "f1",
        "F1",
        of_counts=functions.one_class(functions.of_either, functions.f1_of_share),
        of_classes=functions.of_either,
        share=functions.either,
        share_of="either",
        from_share=functions.f1_of_share,
    ),
    _of_class(
        "jaccard",
        "Jaccard index",
        of_counts=functions.one_class(functions.of_either),
        of_classes=functions.of_either,
        share=functions.either,
        share_of="either",
    ),
    _of_class(
        "positive_likelihood_ratio",
        "positive likelihood ratio",
        has_baseline=False,
        highest=(inf, inf),
        of_counts=functions.likelihood_ratio(lambda sensitivity: sensitivity, lambda specificity: 1 - specificity),
        in_percent=False,
    ),
    _of_class(
        "negative_likelihood_ratio",
        "negative likelihood ratio",
        has_baseline=False,
        highest=(inf, inf),
        larger_is_better=False,
        of_counts=functions.likelihood_ratio(lambda sensitivity: 1 - sensitivity, lambda specificity: specificity),
        in_percent=False,
    ),
    _of_probabilities(
        "top_k_accuracy",
        "top-2 accuracy",
        reads_classes=False,
        share=functions.near_the_top,
    ),
    _of_probabilities(
        "roc_auc",
        "AUC",
        functions.area(functions.roc_area),
        influence=functions.mean_of_classes(functions.auc_influence),
        in_percent=False,
    ),
    _of_probabilities(
        "roc_auc_ovr_weighted",
        "weighted AUC",
        functions.area(functions.roc_area, by_frequency=True),
        influence=functions.weighted_area_influence,
        in_percent=False,
    ),
    _of_probabilities(
        "average_precision",
        "average precision",
        functions.area(functions.average_precision),
        influence=functions.mean_of_classes(functions.ap_influence),
        in_percent=False,
    ),
    _of_probabilities(
        "brier_score",
        "Brier score",
        reads_classes=False,
        highest=(1.0, 2.0),
        larger_is_better=False,
        of_samples=functions.brier,
        most_of_samples=functions.most_brier,
        in_percent=False,
    ),
    _of_probabilities(
        "log_loss",
        "log loss",
        reads_classes=False,
        highest=(inf, inf),
        larger_is_better=False,
        of_samples=functions.log_losses,
        most_of_samples=functions.most_log_losses,
        in_percent=False,
    ),
    _of_probabilities(
        "d2_brier_score",
        "explained Brier score",
        lowest=-inf,
        saved_of=functions.brier,
        most_of_samples=functions.most_brier,
    ),
    _of_probabilities(
        "d2_log_loss_score",
        "explained log loss",
        lowest=-inf,
        saved_of=functions.log_losses,
        most_of_samples=functions.most_log_losses,
    ),
    _of_probabilities(
        "expected_calibration_error",
        "expected calibration error",
        functions.calibration_error,
        has_baseline=False,
        larger_is_better=False,
        reads_classes=False,
        has_interval=False,
    ),
)
ACCURACY = "accuracy"
"""The one that is meant where none is named."""
IMBALANCED = 2 / 3
"""Where one class holds more than this share, balanced accuracy stands beside accuracy unasked."""


def metrics_of_counts() -> tuple[str, ...]:
    """The names of metrics that are functions of counts by class and end at 1: any trial gives them, and any fold.

    >>> [name in metrics_of_counts() for name in ("recall", "cohen_kappa", "roc_auc", "positive_likelihood_ratio")]
    [True, True, False, False]
    """
    return tuple(name for name, each in METRICS.items() if each.is_of_counts)


ALIASES = {
    **dict.fromkeys(("f1_micro", "precision_micro", "recall_micro", "recall_weighted"), ACCURACY),
    "roc_auc_ovr": "roc_auc",
    "neg_brier_score": "brier_score",
    "neg_log_loss": "log_loss",
    "neg_negative_likelihood_ratio": "negative_likelihood_ratio",
}
"""What scikit-learn calls the same, or the same turned around."""
METRICS: Registry[Metric] = Registry(
    "touchstone.metrics", Metric, {entry.name: entry for entry in _ENTRIES}, taken=ALIASES
)
"""Every metric by its name."""


def metric_named(name: str) -> Metric:
    """The entry of this name. Raises DataError for an unknown one, naming those that there are.

    >>> metric_named("roc_auc").title, metric_named("recall_weighted").title
    ('AUC', 'accuracy')
    """
    name = ALIASES.get(name, name)
    if name not in METRICS:
        raise DataError(f"There is no metric {name!r}, and {NO_PLUGIN}. Choose from {', '.join(METRICS)}.")
    return METRICS[name]
