"""What does a metric promise? Of predictions with ties, absent classes, one class alone or a constant model."""

from collections.abc import Iterator
from dataclasses import replace
from math import isnan

import numpy as np

from touchstone.core.evaluate.metric_estimates import estimate
from touchstone.core.evaluate.metric_functions import Counts, Scored
from touchstone.core.evaluate.metrics import Metric


def predictions_drawn(seed: int) -> Scored:
    """Predictions of two to nine classes, at random, with a chance of all that makes a metric undefined.

    Examples
    --------
    >>> predictions_drawn(0).n_classes
    8
    """
    rng = np.random.default_rng(seed)
    n_classes, n = int(rng.integers(2, 10)), int(rng.integers(1, 200))
    y = rng.integers(0, max(1, n_classes - seed % 3), n)
    if seed % 7 == 0:
        y[:] = y[0]
    raw = rng.gamma(0.3, size=(n, n_classes)) + 0.4 * np.eye(n_classes)[y]
    proba = raw / raw.sum(axis=1, keepdims=True)
    if seed % 2:
        proba = np.round(proba, 1) + 1e-9
        proba /= proba.sum(axis=1, keepdims=True)
    y_pred = proba.argmax(axis=1)
    if seed % 11 == 0:
        y_pred[:] = y_pred[0]
    return Scored(y, y_pred, n_classes, proba, int(rng.integers(n_classes)))


def whole_sets() -> Iterator[Scored]:
    """Predictions in which every class is there and was predicted, so that no metric jumps where one comes in."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n_classes = 2 + seed % 3
        y = rng.permutation(np.arange(60) % n_classes)
        raw = rng.gamma(0.5, size=(60, n_classes)) + 0.6 * np.eye(n_classes)[y]
        proba = raw / raw.sum(axis=1, keepdims=True)
        scored = Scored(y, proba.argmax(axis=1), n_classes, proba, int(rng.integers(n_classes)))
        if (np.bincount(scored.y_pred, minlength=n_classes) > 2).all():
            yield scored


def metric_has_the_name_of_its_entry(name: str, metric: Metric) -> None:
    """What a plan calls it and what it calls itself are the same."""
    assert metric.name == name, f"the metric calls itself {metric.name!r}"
    forms = (metric.function, metric.of_counts, metric.of_samples, metric.saved_of, metric.share)
    assert any(form is not None for form in forms), "it has no function, and nothing that says what it is"


def metric_stays_in_its_range(name: str, metric: Metric) -> None:
    """A value is a number between the lowest and the highest, or NaN where it is not defined."""
    n_known = 0
    for seed in range(60):
        scored = predictions_drawn(seed)
        value = metric.value(scored)
        assert isinstance(value, float), f"its value is {type(value).__name__}, not float"
        highest = metric.highest[scored.n_classes > 2]
        inside = metric.lowest - 1e-9 <= value <= highest + 1e-9
        assert isnan(value) or inside, f"{value} lies outside of its range, {metric.lowest} to {highest}"
        n_known += not isnan(value)
    assert n_known > 25, f"of 60 sets it is defined on {n_known} alone"


def metric_does_not_know_the_order_of_samples(name: str, metric: Metric) -> None:
    """It gives the same of the same samples in another order, and leaves these as they were."""
    for seed in range(12):
        scored = predictions_drawn(seed)
        before = _of_rows(scored, np.arange(scored.n))
        value = metric.value(scored)
        order = np.random.default_rng(0).permutation(scored.n)
        turned = metric.value(_of_rows(scored, order))
        np.testing.assert_allclose(turned, value, atol=1e-9, err_msg="the order of samples matters")
        for field in ("y_true", "y_pred", "proba"):
            now, then = getattr(scored, field), getattr(before, field)
            np.testing.assert_array_equal(now, then, err_msg=f"it changes {field}, which it is given")


def _of_rows(scored: Scored, rows: np.ndarray) -> Scored:
    """The same of some rows, each as often as it stands there: copies of what there is."""
    assert scored.proba is not None
    return replace(scored, y_true=scored.y_true[rows], y_pred=scored.y_pred[rows], proba=scored.proba[rows])


def metric_is_best_of_what_is_right(name: str, metric: Metric) -> None:
    """A model that is right throughout, and sure of it, is no worse than another: `larger_is_better` is right."""
    sign = 1 if metric.larger_is_better else -1
    for scored in whole_sets():
        right = replace(scored, y_pred=scored.y_true, proba=np.eye(scored.n_classes)[scored.y_true])
        best, value = metric.value(right), metric.value(scored)
        fine = isnan(best) or isnan(value) or sign * best >= sign * value - 1e-9
        assert fine, f"of a perfect model it is {best}, of another {value}: is larger better?"


def metric_says_the_same_in_each_of_its_forms(name: str, metric: Metric) -> None:
    """Where it is a function of counts and one of samples, both are the same, of weighted samples too."""
    if metric.function is None or metric.of_counts is None:
        return
    rng = np.random.default_rng(0)
    for scored in whole_sets():
        weights = rng.integers(1, 5, scored.n).astype(float)
        hit = scored.y_true == scored.y_pred
        columns = ((scored.y_true[hit], weights[hit]), (scored.y_true, weights), (scored.y_pred, weights))
        counts = Counts(*(np.bincount(labels, each, minlength=scored.n_classes) for labels, each in columns))
        ours = float(np.real(metric.of_counts(counts, scored.positive)))
        np.testing.assert_allclose(ours, metric.function(scored, weights), atol=1e-9, err_msg="its forms differ")


def metric_knows_how_much_each_sample_moves_it(name: str, metric: Metric) -> None:
    """Influences sum to nothing, and are what more copies of a sample come to."""
    if not metric.has_interval:
        return
    n_copies = 2000
    for scored in whole_sets():
        if isnan(metric.value(scored)):
            continue
        moves, value = metric.influences(scored), metric.value(scored)
        assert moves.shape == (scored.n,), f"it gives influences of shape {moves.shape}, not one per sample"
        assert abs(moves.sum()) < 1e-6, f"influences sum to {moves.sum()}, not to nothing"
        for row in range(0, scored.n, 17):
            rows = np.concatenate([np.tile(np.arange(scored.n), n_copies), [row] * (n_copies // 20)])
            change = 20 * (metric.value(_of_rows(scored, rows)) - value)
            close = 0.05 * abs(change) + 2e-3 * max(1.0, abs(value))
            assert abs(moves[row] - change) < close, f"a sample moves it by {change:.4f}, and not by {moves[row]:.4f}"


def metric_has_intervals_that_hold_it(name: str, metric: Metric) -> None:
    """An interval holds the value and stays where the metric lives, or there is a reason why there is none."""
    for seed in range(60):
        interval_holds(metric, predictions_drawn(seed))


def interval_holds(metric: Metric, scored: Scored) -> None:
    """Assert that the interval of a metric holds its value and lies in its range, or that there is a reason for none.

    Examples
    --------
    >>> from touchstone.core.evaluate.metrics import METRICS
    >>> interval_holds(METRICS["accuracy"], predictions_drawn(1))
    """
    made = estimate(metric, scored)
    assert made.interval.known or made.why_not, "there is no interval, and no reason"
    if made.interval.known:
        ends = made.interval.lower, made.interval.upper
        assert ends[0] - 1e-9 <= made.value <= ends[1] + 1e-9, f"{ends} does not hold {made.value}"
        inside = metric.lowest <= ends[0] <= ends[1] <= metric.highest[scored.n_classes > 2]
        assert inside, f"{ends} is not where the metric lives"


LAWS = (
    metric_has_the_name_of_its_entry,
    metric_stays_in_its_range,
    metric_does_not_know_the_order_of_samples,
    metric_is_best_of_what_is_right,
    metric_says_the_same_in_each_of_its_forms,
    metric_knows_how_much_each_sample_moves_it,
    metric_has_intervals_that_hold_it,
)
"""What is asked of an entry."""
