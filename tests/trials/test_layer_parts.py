"""Training and test part in a layer: whose split it is, what is known of it, and records in a model's place."""

import numpy as np
import pytest

from tests.evaluate.feature_populations import cloud, head
from tests.split.marked import marked
from touchstone.core.data import load_example
from touchstone.core.models import ModelError
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.layers import layer_of, layer_samples
from touchstone.core.models.load import read_stored
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.networks import Cnn1, LinearNetwork
from touchstone.core.trials.layer_parts import (
    NOT_TRAINED_HERE,
    NOT_TRAINED_HERE_BUT_MARKED,
    UPLOADED,
    layer_parts,
    layers_offered,
    split_of,
)
from touchstone.core.trials.plan import to_json
from touchstone.core.trials.training_plan import TrainingPlan


@pytest.fixture(scope="module")
def digits():
    return load_example("digits")


@pytest.fixture(scope="module")
def stored(digits):
    trained = Cnn1(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits)
    return ModelFile(trained.to_bytes(), "cnn.safetensors", digits.fingerprint, "cnn_1").to_bytes()


def test_parts_are_those_of_the_plan_that_trained_the_model(digits, stored):
    plan = TrainingPlan("cnn_1", test_share=0.3, seed=5)
    parts = layer_parts(stored, digits, **split_of(to_json(plan)))
    split = plan.split(digits)
    assert np.array_equal(parts.train_rows, split.train)
    assert np.array_equal(parts.test_rows, split.test)
    assert parts.train.ids.tolist() == digits.ids[split.train].tolist()
    assert parts.test.labels.tolist() == digits.y[split.test].tolist()
    assert parts.notes == ()


def test_features_and_head_are_the_layers_own(digits, stored):
    assert layers_offered(stored, digits) == ("last hidden", "last convolution")
    model = read_stored(stored, digits)
    for layer in (None, *layers_offered(stored, digits)):
        parts = layer_parts(stored, digits, layer=layer)
        assert parts.layer == (layer or "last hidden")
        assert np.array_equal(parts.test.features, layer_samples(model, digits, parts.test_rows, layer=layer).features)
        assert parts.head(parts.test.features) == pytest.approx(parts.test.proba, abs=1e-6)
        assert parts.of.shape == layer_of(model, layer).shape
        assert parts.model.architecture == "cnn_1"
    with pytest.raises(ModelError, match="no layer 'stem'"):
        layer_parts(stored, digits, layer="stem")


def test_of_a_model_from_elsewhere_it_is_said_that_nobody_knows_what_it_has_seen(digits):
    from safetensors.torch import save

    trained = LinearNetwork(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits)
    weights = save(dict(trained.state))  # without our description
    elsewhere = ModelFile(weights, "w.safetensors", digits.fingerprint, "linear").to_bytes()
    assert layer_parts(elsewhere, digits).notes == (NOT_TRAINED_HERE,)


def test_a_model_is_looked_at_on_the_files_test_set_if_it_was_trained_so_or_comes_from_elsewhere():
    data = marked()
    train, test = TrainingPlan("linear", test_set="file").split(data)
    network = LinearNetwork(n_epochs=1).fit(data.x[train], data.y[train], seed=0).trained(data)
    stored = ModelFile(network.to_bytes(), "w.safetensors", data.fingerprint, "linear").to_bytes()
    drawn, own = (to_json(TrainingPlan("linear", test_set=test_set, seed=5)) for test_set in ("drawn", "file"))
    for training_plan in (own, None):
        parts = layer_parts(stored, data, **split_of(training_plan, data))
        assert (parts.train_rows.tolist(), parts.test_rows.tolist()) == (train.tolist(), test.tolist())
        assert not parts.is_drawn
    parts = layer_parts(stored, data, **split_of(drawn, data))
    assert parts.is_drawn
    assert parts.test_rows.tolist() == TrainingPlan("linear", seed=5).split(data).test.tolist(), (
        "it has seen the others"
    )


def test_of_a_model_from_elsewhere_it_is_said_whose_test_set_it_is_judged_on():
    from safetensors.torch import save

    data = marked()
    trained = LinearNetwork(n_epochs=1).fit(data.x, data.y, seed=0).trained(data)
    elsewhere = ModelFile(save(dict(trained.state)), "w.safetensors", data.fingerprint, "linear").to_bytes()
    assert layer_parts(elsewhere, data, **split_of(None, data)).notes == (NOT_TRAINED_HERE_BUT_MARKED,)
    assert "random" not in NOT_TRAINED_HERE_BUT_MARKED


@pytest.mark.parametrize("n_classes", [2, 100])
def test_a_record_stands_in_for_a_model(n_classes):
    of = head(n_classes, 12)
    train, test = cloud(of, 30, seed=1), cloud(of, 10, seed=2)
    dataset, record = record_of(train, test, name="clouds")
    stored = record.to_bytes()
    assert layers_offered(stored, dataset) == (UPLOADED,)
    parts = layer_parts(stored, dataset)
    assert np.array_equal(parts.train.features, train.features)
    assert np.array_equal(parts.test.proba, test.proba)
    assert (len(parts.train_rows), len(parts.test_rows)) == (len(train), len(test))
    assert (parts.layer, parts.model, parts.of, parts.is_drawn) == (UPLOADED, None, None, False)
    # The clouds' own head is linear, so that the fitted one is next to it.
    assert np.abs(parts.head(test.features) - test.proba).mean() < 0.02
    assert "linear head was fitted" in parts.notes[0]
    assert "more training samples" not in parts.notes[0]
    with pytest.raises(ModelError, match="called 'uploaded features'"):
        layer_parts(stored, dataset, layer="last hidden")


def test_a_head_that_its_samples_do_not_determine_is_said_to_be_a_poor_one():
    of = head(3, 60, apart=2.0)
    train, test = cloud(of, 8, seed=1), cloud(of, 50, seed=2)
    dataset, record = record_of(train, test, name="clouds")
    parts = layer_parts(record.to_bytes(), dataset)
    right = (parts.head(test.features).argmax(axis=1) == test.predicted).mean()
    assert right < 0.95
    assert f"{100 * right:.1f} % of test samples" in parts.notes[0]
    assert "more training samples would improve it" in parts.notes[0]


def test_a_class_may_be_absent_from_the_test_part():
    of = head(3, 5)
    dataset, record = record_of(cloud(of, 20), cloud(of, (10, 0, 10), seed=2), name="clouds")
    parts = layer_parts(record.to_bytes(), dataset)
    assert parts.test.counts().tolist() == [10, 0, 10]
    assert parts.test.n_classes == 3
