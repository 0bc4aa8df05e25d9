import io
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

from touchstone.core.data import Dataset, load_example
from touchstone.core.models import MODELS, ModelError
from touchstone.core.models.architectures import build
from touchstone.core.models.load import TRUST, check_fits, load_model, model_inputs
from touchstone.core.models.networks import TrainedNetwork
from touchstone.core.models.uploaded_model import adapt

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load_example("digits")


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture(scope="module")
def texts() -> Dataset:
    return Dataset("words", "text", ["red fox", "blue sky", "red hen"], [0, 1, 0], ["land", "air"], list("abc"))


def of_digits(digits: Dataset, name: str = "cnn_1") -> TrainedNetwork:
    return MODELS[name](n_epochs=1).fit(digits.x[:64], digits.y[:64], seed=0, n_classes=10).trained(digits)


class Marks:
    """Somebody's object that leaves a mark when it is unpickled."""

    def __init__(self, place: Path):
        self.place = place

    def __reduce__(self):
        return Path.touch, (self.place,)


def in_zip(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_pkl", ".pkl"), content)
    return made.getvalue()


def saved_by_torch(value: object, **options) -> bytes:
    made = io.BytesIO()
    torch.save(value, made, **options)
    return made.getvalue()


@pytest.mark.parametrize(
    "name", ["mine.pt", "mine.pth", "mine.bin", "mine.onnx", "mine.safetensors", "mine.pt2", "mine"]
)
def test_a_pickle_is_refused_and_never_read(name, digits, tmp_path, monkeypatch):
    monkeypatch.setenv(TRUST, "1")  # even where the owner trusts archives
    mark = tmp_path / "mark"
    pickles = [pickle.dumps(Marks(mark), protocol) for protocol in range(2, 6)]
    pickles += [saved_by_torch(Marks(mark)), saved_by_torch(Marks(mark), _use_new_zipfile_serialization=False)]
    pickles += [in_zip(archive__data_pkl=pickles[0]), in_zip(archive__constants_pkl=pickles[0], archive__code=b"")]
    for content in pickles:
        with pytest.raises(
            ModelError, match=rf"^{name} is a pickle. Reading one runs .* never done. Save the weights as"
        ):
            load_model(name, content, digits)
    for content in [pickle.dumps(Marks(mark), 0), pickle.dumps(Marks(mark), 1)]:
        with pytest.raises(ModelError, match=f"^{name}"):
            load_model(name, content, digits)
    assert not mark.exists()
    pickle.loads(pickles[0])
    assert mark.exists(), "the trap does not work, so this test proves nothing"


def test_our_own_file_comes_back(digits):
    trained = of_digits(digits)
    loaded = load_model("mine.safetensors", trained.to_bytes(), digits)
    x = model_inputs(loaded, digits, np.arange(9))
    assert x.shape == (9, 1, 8, 8)
    assert torch.equal(loaded.logits(x), trained.logits(x))
    assert loaded.has_gradients


def test_our_own_file_must_be_of_this_data_set(digits, wine):
    content = of_digits(digits).to_bytes()
    with pytest.raises(
        ModelError, match=r"^mine: The network takes inputs of shape \(1, 8, 8\), those of wine have \(13,\)"
    ):
        load_model("mine", content, wine)
    larger = Dataset("larger", "image", np.zeros((10, 9, 8, 1)), range(10), digits.class_names, map(str, range(10)))
    with pytest.raises(ModelError, match=r"those of larger have \(1, 9, 8\)"):
        load_model("mine", content, larger)
    names = [*digits.class_names[:8], "9", "8"]
    swapped = Dataset("swapped", "image", digits.x, digits.y, names, digits.ids)
    with pytest.raises(ModelError, match="Class 8 of the network is '8', that of swapped is '9'"):
        load_model("mine", content, swapped)
    few = digits.y < 7
    fewer = Dataset("fewer", "image", digits.x[few], digits.y[few], digits.class_names[:7], digits.ids[few])
    with pytest.raises(ModelError, match="tells 10 classes apart, fewer has 7"):
        load_model("mine", content, fewer)
    with pytest.raises(ModelError, match="The weights are of a cnn_1, not of a cnn_2"):
        load_model("mine", content, digits, architecture="cnn_2")
    with pytest.raises(ModelError, match="Leave out the input range"):
        load_model("mine", content, digits, input_range=(0.0, 255.0))


def test_a_table_in_other_units_is_seen(wine):
    trained = MODELS["linear"](n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    check_fits(trained, wine)
    x = wine.x.copy()
    x[:, 0] *= 100
    changed = Dataset("changed", "tabular", x, wine.y, wine.class_names, wine.ids, feature_names=wine.feature_names)
    with pytest.raises(
        ModelError, match=r"'alcohol' of changed runs from 1103 to 1483; .* around 13.0006 ± 0.80.*units"
    ):
        check_fits(trained, changed)


def test_texts_need_the_models_words_or_vectors_of_their_own(texts):
    trained = MODELS["linear"](n_epochs=1).fit(texts.x, texts.y, seed=0).trained(texts)
    check_fits(trained, texts)
    assert model_inputs(trained, texts).shape == (3, 5)
    weights = save(build("linear", (2,), 2, seed=0).state_dict())
    with pytest.raises(ModelError, match=r"takes numbers, words holds texts. Add a file of vectors"):
        load_model("mine.safetensors", weights, texts, architecture="linear")
    with_vectors = texts.with_vectors([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], "tongue")
    loaded = load_model("mine.safetensors", weights, with_vectors, architecture="linear")
    assert model_inputs(loaded, with_vectors, np.array([2])).tolist() == [[4.0, 5.0]]


def test_weights_alone_need_the_name_of_their_architecture(digits):
    network = build("cnn_1", (1, 8, 8), 10, seed=0).eval()
    weights = {name: value for name, value in network.state_dict().items() if name not in ("centre", "spread")}
    loaded = load_model("w.safetensors", save(weights), digits, architecture="cnn_1")
    x = torch.rand(3, 1, 8, 8)
    assert torch.equal(loaded.logits(x), network(x))
    assert (loaded.scale, loaded.fingerprint, loaded.class_names) == (digits.scale, "", digits.class_names)
    halves = load_model("w", save({k: v.half() for k, v in weights.items()}), digits, architecture="cnn_1")
    torch.testing.assert_close(halves.logits(x), network(x), atol=0.01, rtol=0.01)
    with pytest.raises(
        ModelError, match=r"does not say of which network .* Name the architecture: linear, mlp_2048, cnn"
    ):
        load_model("w.safetensors", save(weights), digits)
    with pytest.raises(ModelError, match="not those of a cnn_2"):
        load_model("w.safetensors", save(weights), digits, architecture="cnn_2")
    with pytest.raises(ModelError, match="no architecture 'alexnet'"):
        load_model("w.safetensors", save(weights), digits, architecture="alexnet")
    of_five = build("cnn_1", (1, 8, 8), 5, seed=0).state_dict()
    with pytest.raises(ModelError, match=r"a network with 5 classes. Here there are 10"):
        load_model("w.safetensors", save(of_five), digits, architecture="cnn_1")


def test_weights_are_not_taken_for_a_pickle_whatever_the_length_of_their_header(digits):
    weights = build("linear", (1, 8, 8), 10, seed=0).state_dict()
    files = [save(weights, {"note": "x" * length}) for length in range(0, 1500, 8)]
    alike = [content for content in files if content[:1] == b"\x80" and 2 <= content[1] <= 5]
    assert len(alike) > 2
    for content in alike:
        assert load_model("w.safetensors", content, digits, architecture="linear").architecture == "linear"


def test_the_range_of_pixels_at_training_is_part_of_the_network(digits):
    network = build("linear", (1, 8, 8), 10, seed=0)
    weights = {name: value for name, value in network.state_dict().items() if name.startswith("head")}
    x = torch.rand(3, 1, 8, 8)
    for low, high in [(0.0, 255.0), (-1.0, 1.0)]:
        loaded = load_model("w", save(weights), digits, architecture="linear", input_range=(low, high))
        torch.testing.assert_close(loaded.logits(x), network(low + x * (high - low)), rtol=1e-4, atol=1e-4)
    for wrong in [(1.0, 0.0), (0.0, 0.0)]:
        with pytest.raises(ModelError, match="two rising numbers"):
            load_model("w", save(weights), digits, architecture="linear", input_range=wrong)


def test_one_logit_stands_for_two_classes():
    data = load_example("breast_cancer")
    weights = {"head.weight": torch.randn(1, 30) * 1e-3, "head.bias": torch.tensor([0.5])}
    loaded = load_model("w", save(weights), data, architecture="linear")
    logits = loaded.logits(loaded.inputs(data.x))
    z = torch.tensor(data.x, dtype=torch.float32) @ weights["head.weight"].T + 0.5
    torch.testing.assert_close(logits, torch.cat([torch.zeros_like(z), z], dim=1))


@pytest.mark.parametrize("name", ["mine.safetensors", "mine.h5", "mine.onnx", "mine"])
def test_what_is_no_model_is_refused(name, digits):
    for content in [b"", b"\x00" * 40, b"PK\x03\x04 no zip", b"\x89HDF\r\n\x1a\n", in_zip(x=b"1"), b"hello " * 9]:
        if name == "mine.onnx" and content[:4] != b"PK\x03\x04":
            pytest.importorskip("onnxruntime")
        with pytest.raises(ModelError, match=f"^{name}"):
            load_model(name, content, digits)


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 10)

    def forward(self, x):
        return self.layer(x.flatten(1))


def archive(batch_size: int | None = None) -> tuple[bytes, Small]:
    module, made = Small().eval(), io.BytesIO()
    sizes = ({0: torch.export.Dim("n")},) if batch_size is None else None
    torch.export.save(torch.export.export(module, (torch.zeros(batch_size or 2, 1, 8, 8),), dynamic_shapes=sizes), made)
    return made.getvalue(), module


def test_archives_are_read_only_where_the_owner_trusts_them(digits, monkeypatch):
    content, module = archive()
    with pytest.raises(ModelError, match=rf"archive of torch.export. Reading one can run code, .* \({TRUST}=1\)"):
        load_model("mine.pt2", content, digits)
    monkeypatch.setenv(TRUST, "0")
    with pytest.raises(ModelError, match="owner"):
        load_model("mine.pt2", content, digits)
    monkeypatch.setenv(TRUST, "1")
    loaded = load_model("mine.pt2", content, digits)
    x = model_inputs(loaded, digits, np.arange(5)).requires_grad_(True)
    torch.testing.assert_close(loaded.logits(x), module(x))
    (gradient,) = torch.autograd.grad(loaded.logits(x)[:, 3].sum(), x)
    torch.testing.assert_close(gradient[0].flatten(), module.layer.weight[3].detach())
    assert loaded.has_gradients
    few = digits.y < 7
    fewer = Dataset("fewer", "image", digits.x[few], digits.y[few], digits.class_names[:7], digits.ids[few])
    with pytest.raises(ModelError, match=r"mine.pt2: The model has 10 classes, the data set has 7"):
        load_model("mine.pt2", content, fewer)
    with pytest.raises(ModelError, match="cannot read the archive"):
        load_model("mine.pt2", in_zip(archive__archive_format=b"pt2"), digits)


@pytest.mark.parametrize("n", [1, 5, 70])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_an_archive_of_a_fixed_batch_takes_any_number_of_inputs(batch_size, n, digits, monkeypatch):
    monkeypatch.setenv(TRUST, "1")
    content, module = archive(batch_size)
    loaded = load_model("mine.pt2", content, digits)
    x = model_inputs(loaded, digits, np.arange(n)).requires_grad_(True)
    torch.testing.assert_close(loaded.logits(x), module(x))
    (gradient,) = torch.autograd.grad(loaded.logits(x)[:, 3].sum(), x)
    torch.testing.assert_close(gradient.flatten(1), module.layer.weight[3].detach().expand(n, 64))


@pytest.mark.parametrize("key", ["layer1.0.conv1.weight", "features.0.weight", "module.layer1.0.conv1.weight"])
@pytest.mark.parametrize("architecture", [None, "cnn_1"])
def test_weights_in_torchvisions_layout_are_refused_with_the_export_that_works(key, architecture, digits):
    content = save({key: torch.zeros(4, 1, 3, 3), "fc.weight": torch.zeros(10, 4)})
    with pytest.raises(ModelError, match=r"^w.safetensors: .*named as torchvision names them") as refusal:
        load_model("w.safetensors", content, digits, architecture=architecture)
    line = re.search(r"torch\.export\.save\(.*?\.pt2\"\)", str(refusal.value))
    assert line is not None
    made = io.BytesIO()
    exec(
        line[0].replace('"model.pt2"', "made"),
        {"torch": torch, "model": Small(), "x": torch.zeros(2, 1, 8, 8), "made": made},
    )
    assert torch.export.load(io.BytesIO(made.getvalue())).module()(torch.zeros(5, 1, 8, 8)).shape == (5, 10)


CLASSES = ("a", "b", "c")


def adapted(run, *, shape=(3, 5, 4), classes=CLASSES, **options):
    examples = torch.rand(6, *shape, generator=torch.Generator().manual_seed(0))
    return adapt(run, examples, classes, has_gradients=True, **{"input_range": None} | options), examples


def test_the_layout_of_images_is_found_out():
    weights = torch.randn(60, 3)
    for layout, run in {
        "channels first": lambda x: x.permute(1, 0, 2, 3)[:3].flatten(2).sum(dim=2).T,
        "channels last": lambda x: x.reshape(len(x), 5, 4, 3).sum(dim=(1, 2)) if x.shape[1:] == (5, 4, 3) else 1 / 0,
        "flat": lambda x: torch.addmm(torch.zeros(3), x, weights),
    }.items():
        model, x = adapted(run)
        assert model.layout == layout
        expected = x.permute(0, 2, 3, 1).flatten(1) @ weights if layout == "flat" else x.sum(dim=(2, 3))
        torch.testing.assert_close(model.logits(x), expected)


def test_probabilities_become_logits():
    model, x = adapted(lambda x: x.sum(dim=(2, 3)).softmax(dim=1))
    assert model.gives_probabilities
    torch.testing.assert_close(model.logits(x).softmax(dim=1), x.sum(dim=(2, 3)).softmax(dim=1))
    model, x = adapted(lambda x: x.sum(dim=(1, 2, 3)).sub(30).sigmoid()[:, None], classes=("a", "b"))
    assert model.gives_probabilities
    torch.testing.assert_close(model.logits(x).softmax(dim=1)[:, 1], x.sum(dim=(1, 2, 3)).sub(30).sigmoid())
    model, x = adapted(lambda x: x.sum(dim=(2, 3)))
    assert not model.gives_probabilities


def test_probabilities_that_rounding_lifts_above_one_are_no_logits():
    sure = torch.tensor([[1.0000001, 0.0, -1e-8], [0.1, 0.9000001, 0.0], [0.0, 0.0, 1.0000002]])
    assert (sure > 1).any()
    model, x = adapted(lambda x: sure.repeat(2, 1))
    assert model.gives_probabilities
    torch.testing.assert_close(model.logits(x).softmax(dim=1), sure.repeat(2, 1).clamp(0, 1), atol=1e-6, rtol=0)
    single = torch.tensor([[1.0000001], [0.0], [0.25]]).repeat(2, 1)
    model, x = adapted(lambda x: single, classes=("a", "b"))
    assert model.gives_probabilities
    torch.testing.assert_close(model.logits(x).softmax(dim=1)[:, 1:], single.clamp(0, 1), atol=1e-6, rtol=0)


@pytest.mark.parametrize("size", [0.05, 1.0, 30.0])
def test_logits_of_any_size_are_logits(size):
    logits = size * torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    model, x = adapted(lambda x: logits)
    assert not model.gives_probabilities
    assert torch.equal(model.logits(x), logits)


def test_the_models_own_range_is_reached():
    model, x = adapted(lambda x: x.sum(dim=(2, 3)), input_range=(-1.0, 1.0))
    torch.testing.assert_close(model.logits(x), (2 * x - 1).sum(dim=(2, 3)))


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (lambda x: x.sum(dim=(1, 2, 3)), r"gives an array of shape \(6,\), not a row for each"),
        (lambda x: torch.zeros(6, 4), "has 4 classes, the data set has 3"),
        (lambda x: torch.zeros(6, 1), "has 1 classes, the data set has 3"),
        (lambda x: torch.full((6, 3), torch.nan), "no finite number"),
        (lambda x: torch.zeros(6, 3, dtype=torch.int64), "no finite number"),
        (lambda x: torch.full((6, 3), 0.4), r"lie in \[0, 1\] and sum to 1.2 .* neither probabilities .* nor logits"),
        (lambda x: torch.eye(3).repeat(2, 1) * torch.ones(6, 1).index_fill(0, torch.tensor([4]), 0.5), "sum to 0.5"),
        (lambda x: 100 * torch.eye(3).repeat(2, 1), "sum to 100, as percent do"),
        (lambda x: {}["what"], r"takes no inputs of shape \(3, 5, 4\).*channels first: 'what'; with channels last"),
    ],
)
def test_what_a_model_gives_is_looked_at(run, told):
    with pytest.raises(ModelError, match=told):
        adapted(run)
