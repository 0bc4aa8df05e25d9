"""Can a classifier tell two parts apart? Exact level, what scikit-learn finds, and networks that remember."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from touchstone.core.evaluate.two_samples import MOST, PartsTold, areas, classifier_two_sample_test, smallest_seen


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n_features", [3, 40])
def test_it_is_the_ridge_regression_of_scikit_learn_left_out_one_by_one(n_features):
    first, second = rng().normal(size=(20, n_features)), rng(1).normal(0.4, 1, size=(15, n_features))
    x = np.concatenate([first, second])
    x = (x - x.mean(axis=0)) / x.std(axis=0) / np.sqrt(n_features)
    part = np.repeat([0.0, 1.0], [20, 15])
    ridge = Ridge(alpha=float((x**2).sum() / len(x)), fit_intercept=False)
    theirs = cross_val_predict(ridge, x, part - part.mean(), cv=LeaveOneOut())
    [ours] = areas(first, second, n_shuffles=0, rng=rng())
    assert ours == pytest.approx(roc_auc_score(part, theirs))


def test_parts_that_are_alike_are_told_apart_in_one_of_twenty():
    x, y = load_digits(return_X_y=True)
    named = together = 0
    for seed in range(100):
        order = rng(seed).permutation(len(y))[:600]
        train, test = order[:400], order[400:]
        found = classifier_two_sample_test(
            x[train], y[train], x[test], y[test], class_names=tuple("0123456789"), seed=seed, n_shuffles=39
        )
        named += bool(found.named)
        together += found.p_together < 0.05
    assert stats.binomtest(named, 100, 0.05).pvalue > 0.001
    assert stats.binomtest(together, 100, 0.05).pvalue > 0.001


def test_a_class_of_digits_that_moved_is_named():
    x, y = load_digits(return_X_y=True)
    order = rng().permutation(len(y))
    train, test = order[:1200], order[1200:]
    moved = x[test] + (y[test] == 3)[:, None] * np.linspace(0, 2, 64)
    found = classifier_two_sample_test(x[train], y[train], moved, y[test], class_names=tuple("0123456789"), seed=0)
    assert found.named == ("3",)
    table = found.table().set_index("label")
    assert table.loc["3", "auc"] > 0.9
    assert table.loc["3", "p_value"] == pytest.approx(2 / 200)


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # it stops before it remembers more
def test_a_network_that_remembers_its_training_samples_is_found_out(shared_data):
    from sklearn.neural_network import MLPClassifier

    with np.load(shared_data / "mnist.npz") as file:
        rows = rng().permutation(60_000)[:6000]  # in the order of the file, writers differ from part to part
        x, y = file["x_train"][rows].reshape(-1, 784) / np.float32(255), file["y_train"][rows]
    train, test, new = np.split(np.arange(6000), 3)
    network = MLPClassifier((200,), max_iter=40, alpha=0, random_state=0).fit(x[train], y[train])
    hidden = np.maximum(x @ network.coefs_[0] + network.intercepts_[0], 0)

    def told(first: np.ndarray, second: np.ndarray) -> PartsTold:
        names = tuple("0123456789")
        return classifier_two_sample_test(hidden[first], y[first], hidden[second], y[second], class_names=names, seed=0)

    assert told(train, test).p_together < 0.05 < told(test, new).p_together
    assert told(train, test).together > told(test, new).together + 0.03


def test_small_classes_are_left_out_and_large_ones_sampled():
    y = np.repeat([0, 1], [5, 2 * MOST])
    x = rng().normal(size=(len(y), 2))
    found = classifier_two_sample_test(x, y, x[:9], y[:9], class_names=("few", "many"), seed=0, n_shuffles=19)
    assert np.isnan(found.p_value).all()
    assert np.isnan(found.p_together)
    assert found.named == ()
    both = classifier_two_sample_test(x, y, x, y, class_names=("few", "many"), seed=0, n_shuffles=19)
    assert both.measured.tolist() == [1]


def test_features_that_do_not_vary_tell_nothing():
    assert areas(np.ones((20, 3)), np.ones((20, 3)), n_shuffles=3, rng=rng()).tolist() == [0.5] * 4


@pytest.mark.evidence
def test_planted_shifts_of_the_size_that_is_said_are_found():
    y = np.repeat([0, 1], 150)
    x, other = rng(1).normal(size=(300, 4)), rng(2).normal(size=(300, 4))
    told = classifier_two_sample_test(x, y, other, y, class_names=("a", "b"), seed=0)
    size = smallest_seen(told, x, y, other, y, seed=0).size
    found = 0
    for seed in range(40):
        x, other = rng(10 + seed).normal(size=(300, 4)), rng(100 + seed).normal(size=(300, 4))
        other[y == 0, 0] += size
        found += (
            "a" in classifier_two_sample_test(x, y, other, y, class_names=("a", "b"), seed=seed, n_shuffles=99).named
        )
    assert stats.binomtest(found, 40, 0.8).pvalue > 0.001


def test_with_nothing_measured_nothing_is_planted():
    nothing = PartsTold(("a",), np.full((1, 20), np.nan))
    y = np.zeros(5, dtype=int)
    assert smallest_seen(nothing, np.zeros((5, 1)), y, np.zeros((5, 1)), y, seed=0) is None
