"""Are metrics on held-out sources what scikit-learn says of each draw, and their errors those of an accuracy?"""

from dataclasses import fields

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score, recall_score

from tests.worlds.source_robustness import Sources
from touchstone.core.data import Dataset
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.by_metric import metrics_on_sources
from touchstone.core.evaluate.source_robustness.counts import groups
from touchstone.core.evaluate.source_robustness.estimate import measure, measure_metric
from touchstone.core.report.source_robustness import answer
from touchstone.core.trials.trial_plan import EXCLUSIVE

TWO = Sources(2, 8, shared=False, size=12, source_sd=0.8, apart=2.0)
MANY = Sources(4, 8, shared=False, size=20, apart=2.5, source_sd=0.6)


def scores_of(right: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples of two classes of which so many are right, as labels."""
    y = np.repeat([0, 1], true)
    said = np.concatenate(
        [np.where(np.arange(n) < k, label, 1 - label) for label, (k, n) in enumerate(zip(right, true, strict=True))]
    )
    return y, said


@pytest.mark.parametrize("trials", [TWO.trials(3, 3), MANY.trials(4, 4)])
def test_by_accuracy_they_are_the_very_same_errors(trials):
    """Accuracy by its function of counts: every part of the estimate is that of the accuracy itself."""
    for group in groups(trials):
        for schemes in group.models.values():
            for scheme, counts in schemes.items():
                every = np.ones(len(group.layout.labels), dtype=bool)
                own = measure(counts, group.layout, scheme, every)
                by_metric = measure_metric(
                    counts, group.layout, scheme, lambda of: METRICS["accuracy"].of_counts(of, 0)
                )
                for name in ("value", "accuracy", "influence", "in_turn", "n_seen"):
                    np.testing.assert_allclose(getattr(by_metric, name), getattr(own, name), atol=1e-12)


def test_values_are_scikit_learns_mean_over_draws():
    trials = TWO.trials(5, 5)
    known = {each.metric: each for each in metrics_on_sources(trials)}
    (group,) = groups(trials)
    (schemes,) = group.models.values()
    counts = schemes[EXCLUSIVE]
    positive = group.layout.labels.index(known["recall"].positive)
    functions = {
        "balanced_accuracy": balanced_accuracy_score,
        "f1_macro": lambda y, said: f1_score(y, said, average="macro"),
        "f1": lambda y, said: f1_score(y, said, pos_label=positive),
        "recall": lambda y, said: recall_score(y, said, pos_label=positive),
        "precision": lambda y, said: precision_score(y, said, pos_label=positive, zero_division=np.nan),
    }
    for name, function in functions.items():
        draws = [
            function(*scores_of(right.astype(int), true.astype(int)))
            for right, true in zip(counts.correct, counts.n, strict=True)
            if true.min() > 0
        ]
        assert known[name].exclusive.value == pytest.approx(np.nanmean(draws)), name


def test_of_more_classes_those_stand_there_that_rest_on_recalls():
    known = metrics_on_sources(MANY.trials(1, 1))
    assert [each.metric for each in known] == ["balanced_accuracy", "recall_macro"]
    assert all(each.positive is None for each in known)
    row = expected_accuracy_intervals(MANY.trials(1, 1)).overall[0]
    assert known[0].exclusive.value == pytest.approx(row.balanced_accuracy[EXCLUSIVE])


def test_no_number_is_impossible_and_the_report_has_a_row_for_each():
    trials = TWO.trials(2, 2)
    metrics = metrics_on_sources(trials)
    for each in metrics:
        for field in ("inclusive", "exclusive"):
            interval = getattr(each, field).over_sources
            assert 0 <= interval.lower <= getattr(each, field).value <= interval.upper <= 1
        assert -1 <= each.fall.over_sources.lower <= each.fall.over_sources.upper <= 1
        assert 0 <= each.rho.over_sources.lower <= each.rho.over_sources.upper <= 1 / each.inclusive.value + 1e-9
    intervals = expected_accuracy_intervals(trials)
    data = Dataset("two", "tabular", np.zeros((4, 1)), np.array([0, 1, 0, 1]), ("a", "b"), list("wxyz"))
    named = {each.name: getattr(intervals, each.name) for each in fields(intervals)} | {"metrics": metrics}
    shown = answer(type(intervals)(**named), (), data)
    table = shown.section("metrics").parts[0].lines
    assert len(table) == len(metrics)
    numbers = [each for each in shown.numbers if each.name == "source_robustness.metric"]
    assert [each.of[-1] for each in numbers] == [each.metric for each in metrics]
