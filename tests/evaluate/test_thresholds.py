"""Is what every threshold comes to what scikit-learn says, and its cost what a loop counts?"""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score, roc_auc_score, roc_curve

from touchstone.core.data import DataError, Predictions
from touchstone.core.evaluate.thresholds import Decision, decisions
from touchstone.core.evaluate.units import Design

NAMES = ("legit", "fraud")


def scored(n: int, seed: int, units: bool = False) -> Predictions:
    """Predictions of a rare class, by the threshold .4."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    score = 1 / (1 + np.exp(1.5 - 3 * y - rng.normal(size=n)))
    groups = {"unit": [f"clerk {i % 20}" for i in range(n)]} if units else None
    ids = [f"row {i}" for i in range(n)]
    proba = np.column_stack([1 - score, score])
    return Predictions(ids, y, (score >= 0.4).astype(int), NAMES, proba, groups=groups)


def test_every_threshold_is_what_scikit_learn_counts():
    one = scored(600, 0)
    made = decisions(one, scored(300, 1))
    assert made is not None
    assert (made.positive, made.sure) == ("fraud", True)
    for threshold in (0.05, 0.3, 0.5, 0.93):
        outcome = made.reference.at(threshold)
        called = (one.proba[:, 1] >= threshold).astype(int)
        table = confusion_matrix(one.y_true, called)
        counted = [[outcome.left_alone, outcome.false_alarms], [outcome.missed, outcome.hits]]
        assert table.tolist() == counted
        assert outcome.share("sensitivity") == pytest.approx(recall_score(one.y_true, called))
        assert outcome.share("precision") == pytest.approx(precision_score(one.y_true, called))


def test_the_curve_is_part_of_scikit_learns_and_has_its_area():
    one = scored(600, 2)
    made = decisions(one, one)
    assert made is not None
    false_alarms, found, _ = roc_curve(one.y_true, one.proba[:, 1], drop_intermediate=False)
    theirs = {(round(x, 9), round(y, 9)) for x, y in zip(false_alarms, found, strict=True)}
    curve = made.target.curve
    ours = [(1 - each.share("specificity"), each.share("sensitivity")) for each in curve]
    assert {(round(x, 9), round(y, 9)) for x, y in ours} <= theirs
    x, y = np.array(ours).T
    assert np.diff(x) @ (y[1:] + y[:-1]) / 2 == pytest.approx(roc_auc_score(one.y_true, one.proba[:, 1]), abs=0.01)


def test_the_threshold_of_a_file_is_found_where_there_is_one():
    one = scored(400, 3)
    made = decisions(one, one)
    assert made is not None
    own = made.reference
    assert np.array_equal(own.score >= own.threshold, own.called)
    turned = Decision(own.positive, own.score, ~own.called, own.design)
    assert np.isnan(turned.threshold)
    called = own.at(float("nan"))
    assert called.hits + called.false_alarms == int(own.called.sum())


def test_the_cost_is_in_samples_of_the_new_set():
    reference, target = scored(400, 4), scored(500, 5)
    made = decisions(reference, target)
    assert made is not None
    for threshold in (0.2, 0.7):
        called = target.proba[:, 1] >= threshold
        found = sum(bool(c) - bool(p) for c, p, t in zip(called, target.y_pred, target.y_true, strict=True) if t)
        alarms = sum(bool(c) - bool(p) for c, p, t in zip(called, target.y_pred, target.y_true, strict=True) if not t)
        assert made.cost(threshold) == (found, alarms)


def test_bands_are_wider_where_few_units_stand_for_others():
    rng = np.random.default_rng(6)
    clerk = np.repeat(np.arange(12), 50)
    hard = rng.normal(size=12)[clerk]
    positive = rng.random(600) < 0.5
    score = 1 / (1 + np.exp(-2 * (2 * positive - 1) - 2 * hard))
    by_clerk, alone = (Decision(positive, score, score > 0.5, design).at(0.5) for design in (Design(clerk), Design()))
    assert by_clerk.sensitivity.width > 1.5 * alone.sensitivity.width


def test_what_is_no_decision_between_two_classes_has_no_curve():
    one = scored(100, 7)
    assert decisions(one, one.take(one.y_true == 0)) is None
    hard = Predictions(["a", "b"], [0, 1], [0, 1], NAMES)
    assert decisions(hard, hard) is None
    three = Predictions(["a", "b", "c"], [0, 1, 2], [0, 1, 2], ["x", "y", "z"], np.eye(3))
    assert decisions(three, three) is None
    with pytest.raises(DataError, match="no class 'spam'"):
        decisions(one, one, "spam")
