import json
import pickle

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from touchstone.core.data import Dataset, load_example
from touchstone.core.models import MODELS, ModelError
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.networks import DESCRIPTION, TrainedNetwork

pytestmark = pytest.mark.usefixtures("one_thread")


def network(name: str = "cnn_1", shape: tuple[int, ...] = (1, 8, 8), **changes) -> TrainedNetwork:
    about = {"class_names": ("a", "b", "ü"), "scale": 16.0, "fingerprint": "0" * 64}
    return TrainedNetwork(name, shape, **about | {"state": build(name, shape, 3, seed=0).state_dict()} | changes)


def rewritten(trained: TrainedNetwork, **changes) -> bytes:
    """A file of which somebody changed the description and left the weights."""
    content = trained.to_bytes()
    length = int.from_bytes(content[:8], "little")
    about = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][DESCRIPTION])
    return save(load(content), {DESCRIPTION: json.dumps(about | changes)})


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_bytes_there_and_back_give_equal_logits(name):
    side = max(8, ARCHITECTURES[name].smallest)
    trained = network(name, (1, side, side))
    content = trained.to_bytes()
    again = TrainedNetwork.from_bytes(content)
    about = ("architecture", "input_shape", "class_names", "scale", "fingerprint")
    assert [getattr(again, field) for field in about] == [getattr(trained, field) for field in about]
    x = torch.rand(3, 1, side, side)
    logits = trained.logits(x)
    assert torch.equal(again.logits(x), logits)
    assert logits.isfinite().all()
    assert torch.equal(logits, build(name, (1, side, side), 3, seed=0).eval()(x))
    assert again.to_bytes() == content


def test_a_network_first_used_in_inference_mode_has_gradients_all_the_same():
    trained, x = network(), torch.rand(2, 1, 8, 8)
    with torch.inference_mode():
        trained.logits(x)
    asked = x.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(trained.logits(asked).sum(), asked)
    assert gradient.abs().sum() > 0


def fitted(kind: str) -> tuple[object, Dataset]:
    if kind == "text":
        rng = np.random.default_rng(0)
        y = np.tile([0, 1], 75)
        words = [rng.choice(300, 8) + 200 * label for label in y]
        x = [" ".join(f"w{word}" for word in row) for row in words]
        data = Dataset("words", "text", x, y, ["low", "high"], [f"t{row}" for row in range(150)])
    else:
        data = load_example({"image": "digits", "tabular": "wine"}[kind])
    return MODELS["linear"](n_epochs=40).fit(data.x[:150], data.y[:150], seed=0, n_classes=data.n_classes), data


@pytest.mark.parametrize("kind", ["image", "tabular", "text"])
def test_what_is_stored_says_what_the_model_says(kind):
    model, data = fitted(kind)
    trained = TrainedNetwork.from_bytes(model.trained(data).to_bytes())
    assert trained.fingerprint == data.fingerprint
    assert trained.class_names == data.class_names
    proba = trained.logits(trained.inputs(data.x)).double().softmax(dim=1).numpy()
    np.testing.assert_allclose(proba, model.predict_proba(data.x), atol=1e-7)
    assert (proba.argmax(axis=1)[:150] == data.y[:150]).mean() > 0.5


def test_few_words_need_no_components():
    x, y = np.array(["red fox", "blue sky", "red hen", "blue sea"], dtype=object), np.array([0, 1, 0, 1])
    data = Dataset("words", "text", x, y, ["land", "air"], list("abcd"))
    trained = MODELS["linear"]().fit(x, y, seed=0).trained(data)
    again = TrainedNetwork.from_bytes(trained.to_bytes())
    new = np.array(["a blue fox", ""], dtype=object)
    assert torch.equal(again.inputs(new), trained.inputs(new))
    assert again.to_bytes() == trained.to_bytes()


def test_gradients_reach_the_inputs_in_their_own_units():
    wine = load_example("wine")
    model = MODELS["linear"](n_epochs=2).fit(wine.x, wine.y, seed=0)
    trained = model.trained(wine)
    x = trained.inputs(wine.x[:1]).requires_grad_(True)
    logits = trained.logits(x)
    (gradient,) = torch.autograd.grad(logits[0, 0], x)
    weights = trained.state["head.weight"][0].double() / trained.state["spread"]
    torch.testing.assert_close(gradient[0], weights, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(trained.state["centre"], wine.x.mean(axis=0))
    np.testing.assert_allclose(trained.state["spread"], wine.x.std(axis=0))
    assert not any(parameter.requires_grad for parameter in trained.module().parameters())


def test_images_get_their_channels_first():
    x = np.zeros((2, 8, 6, 3), dtype=np.float32)
    x[1, 5, 4, 2] = 1.0
    inputs = network("linear", (3, 8, 6)).inputs(x)
    assert inputs.shape == (2, 3, 8, 6)
    assert inputs.nonzero().tolist() == [[1, 2, 5, 4]]


def test_what_is_no_input_is_refused():
    trained = network()
    for x, told in [
        (np.full((1, 8, 8, 1), 16.0), r"Pixels run from 16 to 16. They must lie in \[0, 1\]"),
        (np.full((1, 8, 8, 1), np.nan), "no finite number"),
        (np.array(["a text"], dtype=object), "Texts must become vectors first"),
    ]:
        with pytest.raises(ModelError, match=told):
            trained.inputs(x)
    with pytest.raises(ModelError, match="takes inputs of shape 1 x 8 x 8, these are of 1 x 9 x 8"):
        trained.logits(torch.zeros(1, 1, 9, 8))


def test_a_trained_network_travels_to_another_process():
    trained = network()
    x = torch.rand(2, 1, 8, 8)
    logits = trained.logits(x)
    assert torch.equal(pickle.loads(pickle.dumps(trained)).logits(x), logits)


def test_the_module_is_made_once_and_shares_no_memory_with_the_state():
    trained = network("linear")
    module = trained.module()
    assert trained.module("cpu") is module
    assert not module.training
    assert module.head.weight.data_ptr() != trained.state["head.weight"].data_ptr()


@pytest.mark.parametrize("place", [3, 8, 60, 200, -1])
def test_one_damaged_byte_is_seen(place):
    content = bytearray(network("linear").to_bytes())
    content[place] ^= 0x01
    with pytest.raises(ModelError):
        TrainedNetwork.from_bytes(bytes(content))


@pytest.mark.parametrize("keep", [0, 4, 8, 100, -1])
def test_a_file_cut_off_is_seen(keep):
    with pytest.raises(ModelError, match="no safetensors file, or it is damaged"):
        TrainedNetwork.from_bytes(network("linear").to_bytes()[:keep])


def test_a_changed_description_is_seen():
    for changes in [{"scale": 1.0}, {"architecture": "mlp_2048"}, {"class_names": ["b", "a", "ü"]}]:
        with pytest.raises(ModelError, match="not those that were written"):
            TrainedNetwork.from_bytes(rewritten(network("linear"), **changes))
    with pytest.raises(ModelError, match="another version"):
        TrainedNetwork.from_bytes(rewritten(network("linear"), version=2))
    with pytest.raises(ModelError, match="description of its network cannot be read"):
        TrainedNetwork.from_bytes(rewritten(network("linear"), input_shape=None))
    with pytest.raises(ModelError, match="does not say of which network"):
        TrainedNetwork.from_bytes(save(build("linear", (4,), 3, seed=0).state_dict()))


def test_weights_of_another_network_are_refused():
    state = build("cnn_1", (1, 8, 8), 3, seed=0).state_dict()
    with pytest.raises(ModelError, match=r"not those of a cnn_2: there is no 'trunk.convolution_1.0.bias'"):
        network("cnn_2", state=state)
    with pytest.raises(
        ModelError, match=r"cnn_1 for inputs of shape \(1, 12, 12\).* trained on inputs of another size"
    ):
        network("cnn_1", (1, 12, 12), state=state)
    with pytest.raises(ModelError, match=r"a network with 3 classes. Here there are 2"):
        network("cnn_1", state=state, class_names=("a", "b"))
    with pytest.raises(ModelError, match="'more' is unknown"):
        network("cnn_1", state=state | {"more": torch.zeros(1)})
    with pytest.raises(ModelError, match="no finite number"):
        network("cnn_1", state=state | {"head.bias": torch.tensor([0.0, torch.nan, 0.0])})
    with pytest.raises(ModelError, match=r"of type torch.float16, they must be torch.float32"):
        network("cnn_1", state=state | {"head.bias": torch.zeros(3, dtype=torch.float16)})
    with pytest.raises(ModelError, match="spread of the inputs must be positive"):
        network("cnn_1", state=state | {"spread": torch.zeros(1, 1, 1)})
    with pytest.raises(ModelError, match="lenet needs images of at least 12 x 12"):
        network("lenet", state=state)
