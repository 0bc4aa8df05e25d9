import numpy as np
import pytest
import torch

from touchstone.core.data import DataError, load_example
from touchstone.core.models import ModelError
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.layers import LayerSamples, fit_head, layer_names, layer_of, layer_samples
from touchstone.core.models.networks import Cnn1, Mlp2048, TrainedNetwork
from touchstone.core.models.uploaded_model import ForeignModel

pytestmark = pytest.mark.usefixtures("one_thread")


def network(name, shape, n_classes=3):
    state = build(name, shape, n_classes, seed=0).state_dict()
    return TrainedNetwork(name, shape, tuple("abcdef"[:n_classes]), scale=1.0, fingerprint="", state=state)


def shape_for(name):
    side = max(8, ARCHITECTURES[name].smallest)
    return (1, side, side)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_layer_and_head_together_are_the_network(name):
    model = network(name, shape_for(name))
    x = torch.rand(5, *shape_for(name))
    whole = model.logits(x).double().softmax(dim=1).numpy()
    for layer_name in layer_names(model):
        layer = layer_of(model, layer_name)
        features = layer.features(x)
        assert features.shape == (5, layer.n_features)
        assert layer(features) == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linear", ("inputs",)),
        ("mlp_2048", ("last hidden",)),
        ("lenet", ("last hidden", "last convolution")),
        ("resnet20", ("last hidden", "last convolution")),
        ("vgg19", ("last hidden", "last convolution")),
    ],
)
def test_layers_are_offered_by_name_the_usual_one_first(name, expected):
    model = network(name, shape_for(name))
    assert layer_names(model) == expected
    assert layer_of(model).name == expected[0]


def test_shapes_of_lenet():
    model = network("lenet", (1, 28, 28))
    assert layer_of(model, "last convolution").shape == (16, 5, 5)
    assert layer_of(model, "last hidden").shape == (84,)


def test_a_layer_leaves_the_network_as_it_was():
    model = network("cnn_1", (1, 8, 8))
    x = torch.rand(3, 1, 8, 8)
    before = model.logits(x)
    layer = layer_of(model, "last hidden")
    assert np.array_equal(layer.features(x), layer.features(x))  # no dropout
    assert torch.equal(model.logits(x), before)


def test_a_model_from_elsewhere_offers_its_outputs():
    weights = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    model = ForeignModel(lambda x: x.float() @ weights, ("a", "b", "c"), has_gradients=False)
    assert layer_names(model) == ("outputs",)
    layer = layer_of(model)
    x = torch.rand(6, 4)
    assert layer(layer.features(x)) == pytest.approx((x @ weights).softmax(dim=1).numpy(), abs=1e-6)


def test_rows_of_a_data_set_as_a_layer_sees_them():
    digits = load_example("digits")
    trained = Cnn1(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits)
    rows = np.array([5, 2, 900])
    samples = layer_samples(trained, digits, rows, layer="last convolution")
    assert samples.ids.tolist() == digits.ids[rows].tolist()
    assert samples.labels.tolist() == digits.y[rows].tolist()
    assert samples.class_names == digits.class_names
    wine = load_example("wine")
    on_wine = Mlp2048(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    assert layer_samples(on_wine, wine, np.arange(7)).features.shape == (7, 2048)


def test_layers_and_features_that_do_not_fit_are_refused():
    model = network("lenet", (1, 28, 28))
    with pytest.raises(ModelError, match=r"no layer 'stem'\. Take one of: last hidden, last convolution"):
        layer_of(model, "stem")
    with pytest.raises(ModelError, match="takes 84 features a sample"):
        layer_of(model)(np.zeros((2, 80)))
    with pytest.raises(ModelError, match="takes inputs of shape"):
        layer_of(model).features(torch.zeros(2, 1, 30, 28))


def test_no_samples_give_no_features_and_no_probabilities():
    layer = layer_of(network("lenet", (1, 28, 28)))
    assert layer.features(torch.zeros(0, 1, 28, 28)).shape == (0, 84)
    assert layer(np.zeros((0, 84), dtype=np.float32)).shape == (0, 3)


def test_a_fitted_head_is_the_networks_own_where_that_is_linear():
    model = network("lenet", (1, 28, 28))
    layer = layer_of(model)
    samples = layer.samples(torch.rand(600, 1, 28, 28, generator=torch.Generator().manual_seed(0)), None)
    fitted = fit_head(samples)
    assert fitted.agreement == 1.0
    assert fitted.error < 0.01
    assert fitted(samples.features) == pytest.approx(samples.proba, abs=0.02)
    with pytest.raises(ModelError, match="takes 84 features"):
        fitted(np.zeros((2, 3)))


GOOD = {
    "features": [[0.0, 1.0], [1.0, 0.0]],
    "y": [0, 1],
    "proba": [[0.9, 0.1], [0.2, 0.8]],
    "class_names": ("a", "b"),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": [0.0, 1.0]}, "numbers, a row for each sample"),
        ({"features": [["x", "y"], ["z", "w"]]}, "numbers, a row for each sample"),
        ({"features": [[0.0, np.nan], [1.0, 0.0]]}, "features of sample 1 hold something that is no finite number"),
        ({"features": np.zeros((0, 2))}, "not a single sample"),
        ({"features": np.zeros((2, 0))}, "no features at all"),
        ({"y": [0]}, "features of 2 samples, but 1 labels"),
        ({"y": [0, 2]}, "With 2 class names they must lie in 0 to 1"),
        ({"y": [0.5, 1.0]}, "one integer per sample"),
        ({"proba": [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]}, "a column for each class name"),
        ({"proba": [[2.0, -1.0], [0.2, 0.8]]}, "are these logits"),
        ({"proba": [[0.9, 0.3], [0.2, 0.8]]}, "'0' sum to 1.2"),
        ({"class_names": ("a", "a")}, "Each class name must be unique"),
        ({"class_names": ("a",), "proba": [[1.0], [1.0]], "y": [0, 0]}, "two classes or more"),
        ({"ids": ["1", "1"]}, "Each id must be unique"),
        ({"ids": ["1"]}, "but 1 labels or ids"),
    ],
)
def test_uploaded_features_that_are_not_of_one_piece_are_refused(change, message):
    with pytest.raises(DataError, match=f"mine: .*{message}"):
        LayerSamples(**GOOD | change, name="mine")


def test_samples_cannot_be_changed_and_can_be_taken():
    samples = LayerSamples(**GOOD, ids=["p", "q"])
    with pytest.raises(ValueError, match="read-only"):
        samples.features[0, 0] = 5.0
    one = samples.take(np.array([False, True]))
    assert (one.ids.tolist(), one.labels.tolist(), len(one)) == (["q"], [1], 1)
    assert LayerSamples(**GOOD | {"y": None}).take(np.array([0])).y is None
