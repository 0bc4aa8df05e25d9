import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC

from touchstone.core.data import load_example
from touchstone.core.models import MODELS, Cancelled
from touchstone.core.models.classical import GradientBoosting, NearestNeighbours, Svm
from touchstone.core.models.networks import PaperNetwork
from touchstone.core.split.scheme import Random
from touchstone.core.testing.models import kinds_of, quick

OTHERS = [name for name in MODELS if not issubclass(MODELS[name], PaperNetwork)]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("example", ["digits", "wine", "breast_cancer"])
def test_it_does_well_on_real_data_and_warns_of_nothing(name, example):
    data = load_example(example)
    train, test = Random(n_repeats=1, stratified=True).draw(0, data.y)
    fitted = MODELS[name]().fit(data.x[train], data.y[train], seed=0, n_classes=data.n_classes)
    assert (fitted.predict(data.x[test]) == data.y[test]).mean() > 0.92


def test_the_svm_is_the_one_of_the_paper():
    data = load_example("digits")
    pixels = data.x.reshape(len(data.x), -1)
    fitted = Svm().fit(data.x[:900], data.y[:900], seed=0)
    reference = SVC(C=1, kernel="rbf", gamma=0.01).fit(pixels[:900], data.y[:900])
    np.testing.assert_array_equal(fitted.predict(data.x), reference.predict(pixels))
    np.testing.assert_allclose(fitted.decision_function(data.x[900:]), reference.decision_function(pixels[900:]))


def test_two_classes_have_two_decision_values():
    data = load_example("breast_cancer")
    fitted = Svm().fit(data.x, data.y, seed=0, n_classes=3)
    decision = fitted.decision_function(data.x)
    assert decision.shape == (569, 3)
    np.testing.assert_array_equal(decision[:, 0], -decision[:, 1])
    np.testing.assert_array_equal(decision.argmax(axis=1), fitted.predict(data.x))


def test_boosting_in_chunks_is_boosting_in_one_go():
    data = load_example("breast_cancer")
    fitted = GradientBoosting(n_rounds=25).fit(data.x, data.y, seed=4)
    x = (data.x - data.x.mean(axis=0)) / data.x.std(axis=0)
    reference = HistGradientBoostingClassifier(
        max_iter=25, max_leaf_nodes=8, learning_rate=0.2, max_bins=64, early_stopping=False, random_state=4
    ).fit(x, data.y)
    np.testing.assert_allclose(fitted.predict_proba(data.x), reference.predict_proba(x), atol=1e-6)


def test_hyperparameters_are_used():
    data = load_example("wine")
    alone = NearestNeighbours(n_neighbours=1).fit(data.x, data.y, seed=0)
    assert (alone.predict(data.x) == data.y).all()
    everyone = NearestNeighbours(n_neighbours=500).fit(data.x, data.y, seed=0)
    assert (everyone.predict(data.x) == 1).all()  # the largest class
    assert (Svm(gamma=1000.0).fit(data.x[::2], data.y[::2], seed=0).predict(data.x[1::2]) == 1).all()


def test_preprocessing_sees_the_training_part_only():
    y = np.tile([0, 1], 20)
    x = np.random.default_rng(0).normal(size=(40, 3)) + y[:, None]
    for model in (model for model in MODELS.values() if "tabular" in kinds_of(model)):
        fitted = quick(model)().fit(x, y, seed=0)
        alone = [int(fitted.predict(x[row : row + 1])[0]) for row in range(40)]
        assert alone == fitted.predict(x).tolist()  # a test sample's fate does not hang on its neighbours in the test


def test_a_model_whose_second_training_is_stopped_stays_the_first():
    data, n_asked = load_example("wine"), 0
    fitted = Svm().fit(data.x, data.y, seed=0)
    said = fitted.predict(data.x)

    def at_the_second_time() -> bool:
        nonlocal n_asked
        n_asked += 1
        return n_asked == 2

    with pytest.raises(Cancelled):
        fitted.fit(1000 * data.x + 7, data.y, seed=0, should_stop=at_the_second_time)
    np.testing.assert_array_equal(fitted.predict(data.x), said)
