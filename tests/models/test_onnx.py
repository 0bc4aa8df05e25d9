"""ONNX models through onnxruntime. The files are written here by hand, so that nothing else need be installed."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from touchstone import dataset
from touchstone.core.data import Dataset, load_example
from touchstone.core.models import ModelError
from touchstone.core.models.load import load_model, model_inputs

pytestmark = pytest.mark.usefixtures("one_thread")
FLOAT, INT64, DOUBLE = 1, 7, 11


def number(value: int) -> bytes:
    """A number as protocol buffers write it: seven bits at a time."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + number(rest) if rest else bytes([low])


def field(place: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return number(place << 3) + number(value)
    content = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(content)) + content


def tensor(name: str, values: np.ndarray, dtype: int) -> bytes:
    sizes = b"".join(field(1, size) for size in values.shape)
    return sizes + field(2, dtype) + field(8, name) + field(9, values.tobytes())


def value_info(name: str, shape: tuple[int | str, ...], dtype: int) -> bytes:
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, sizes)))


def node(kind: str, given: list[str], made: str, **attributes: int) -> bytes:
    options = b"".join(field(5, field(1, key) + field(3, value) + field(20, 2)) for key, value in attributes.items())
    return b"".join(field(1, name) for name in given) + field(2, made) + field(4, kind) + options


def onnx_file(
    weights: np.ndarray,
    *,
    shape: tuple[int | str, ...] = ("n", 1, 8, 8),
    last: str | None = None,
    dtype: int = FLOAT,
    output_type: int | None = None,
) -> bytes:
    """A linear model of images; `last` is the operation that its logits go through."""
    nodes = [node("Flatten", ["x"], "flat", axis=1), node("MatMul", ["flat", "weights"], "logits")]
    if last is not None:
        attributes = {"axis": 1} if last in ("Softmax", "ArgMax") else {}
        nodes.append(node(last, ["logits"], "out", **attributes))
    made = value_info("out" if last else "logits", (shape[0], weights.shape[1]), output_type or dtype)
    graph = b"".join(field(1, one) for one in nodes) + field(2, "graph") + field(5, tensor("weights", weights, dtype))
    graph += field(11, value_info("x", shape, dtype)) + field(12, made)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def with_zipmap(weights: np.ndarray) -> bytes:
    """A classifier as skl2onnx writes it by default: probabilities as a list with a map from class to number each."""
    labels = field(1, "classlabels_int64s") + b"".join(field(8, code) for code in range(weights.shape[1]))
    zipmap = node("ZipMap", ["p"], "out") + field(5, labels + field(20, 7)) + field(7, "ai.onnx.ml")
    nodes = [node("MatMul", ["x", "weights"], "logits"), node("Softmax", ["logits"], "p", axis=1), zipmap]
    of_each = field(5, field(1, INT64) + field(2, field(1, field(1, FLOAT))))
    made = field(1, "out") + field(2, field(4, field(1, of_each)))
    graph = b"".join(field(1, one) for one in nodes) + field(2, "graph") + field(5, tensor("weights", weights, FLOAT))
    graph += field(11, value_info("x", ("n", 64), FLOAT)) + field(12, made)
    versions = field(8, field(1, "") + field(2, 13)) + field(8, field(1, "ai.onnx.ml") + field(2, 1))
    return field(1, 8) + field(7, graph) + versions


def of_columns(*, whole: bool = False) -> bytes:
    """A model with an input per column, as pipelines on frames are exported: the logits are age and whether male."""
    male = field(1, 1) + field(2, 8) + field(6, "male") + field(8, "name")
    nodes = [
        node("Equal", ["sex", "name"], "is"),
        node("Cast", ["is"], "male", to=FLOAT),
        node("Cast", ["age"], "years", to=FLOAT),
        node("Concat", ["years", "male"], "logits", axis=1),
    ]
    graph = b"".join(field(1, one) for one in nodes) + field(2, "graph") + field(5, male)
    given = [("sex", 8), ("age", INT64 if whole else FLOAT)]
    graph += b"".join(field(11, value_info(name, ("n", 1), dtype)) for name, dtype in given)
    return field(1, 9) + field(7, graph + field(12, value_info("logits", ("n", 2), FLOAT))) + field(8, field(2, 19))


@pytest.mark.parametrize("apart", [False, True])
def test_inputs_that_are_called_as_columns_get_these(apart):
    pytest.importorskip("onnxruntime")
    sex = np.array(["male", "female", "male"])
    data = dataset(pd.DataFrame({"sex": sex, "height": [1.7, 1.8, 1.6], "age": [30.0, 40.5, 50.0]}), ["a", "b", "b"])
    loaded = load_model("mine.onnx", of_columns(), data, apart=apart)
    assert loaded.logits(model_inputs(loaded, data)).tolist() == [[30, 1], [40.5, 0], [50, 1]]
    with pytest.raises(ModelError, match=r"takes 'age' as int64, and is asked about 40.5"):
        load_model("mine.onnx", of_columns(whole=True), data)
    other = dataset(pd.DataFrame({"sex": sex, "years": [30.0, 40.5, 50.0]}), ["a", "b", "b"])
    with pytest.raises(ModelError, match="no column is called 'age'"):
        load_model("mine.onnx", of_columns(), other)


@pytest.fixture(scope="module")
def digits() -> Dataset:
    pytest.importorskip("onnxruntime")
    return load_example("digits")


def linear(n_classes: int = 10, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(64, n_classes)).astype(dtype)


@pytest.mark.parametrize("n", [1, 5, 70])
@pytest.mark.parametrize("batch", ["n", 1, 32])
def test_logits_are_those_of_the_network_however_many_it_takes_at_once(batch, n, digits):
    loaded = load_model("mine.onnx", onnx_file(linear(), shape=(batch, 1, 8, 8)), digits)
    x = model_inputs(loaded, digits, np.arange(n))
    torch.testing.assert_close(loaded.logits(x), x.flatten(1) @ torch.from_numpy(linear()), rtol=1e-4, atol=1e-4)
    assert not loaded.has_gradients
    assert loaded.class_names == digits.class_names


def test_probabilities_and_double_precision(digits):
    expected = (torch.tensor(digits.x[:20].reshape(20, 64)) @ torch.from_numpy(linear())).softmax(dim=1)
    loaded = load_model("mine.onnx", onnx_file(linear(), last="Softmax"), digits)
    assert loaded.gives_probabilities
    x = model_inputs(loaded, digits, np.arange(20))
    torch.testing.assert_close(loaded.logits(x).softmax(dim=1), expected, rtol=1e-3, atol=1e-6)
    content = onnx_file(linear(dtype=np.float64), dtype=DOUBLE)
    assert load_model("mine.onnx", content, digits).logits(x).dtype == torch.float64


def test_images_may_have_their_channels_last(digits):
    loaded = load_model("mine.onnx", onnx_file(linear(), shape=("n", 8, 8, 1)), digits)
    assert loaded.layout == "channels last"
    loaded = load_model("mine.onnx", onnx_file(linear(), shape=("n", 64)), digits)
    assert loaded.layout == "flat"


def test_the_range_at_training_is_reached(digits):
    loaded = load_model("mine.onnx", onnx_file(linear()), digits, input_range=(0.0, 255.0))
    x = model_inputs(loaded, digits, np.arange(5))
    torch.testing.assert_close(loaded.logits(x), 255 * x.flatten(1) @ torch.from_numpy(linear()), rtol=1e-4, atol=1e-2)
    assert replace(loaded, input_range=None).logits(x).abs().max() < 100


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (onnx_file(linear(7)), "has 7 classes, the data set has 10"),
        (onnx_file(linear(), shape=("n", 1, 4, 16)), r"takes no inputs of shape \(1, 8, 8\)"),
        (onnx_file(linear()[:16], shape=("n", "c", "h", "w")), r"takes no inputs of shape \(1, 8, 8\)"),
        (
            onnx_file(linear(), last="ArgMax", output_type=INT64),
            "one array of numbers, or one for each column, and give a table of logits",
        ),
        (with_zipmap(linear()), r'a map for each sample.*options=\{id\(model\): \{"zipmap": False\}\}'),
        (onnx_file(linear())[:-40], "onnxruntime cannot read the file"),
        (b"\x08\x08 hardly", "onnxruntime cannot read the file"),
    ],
)
def test_what_does_not_fit_is_refused_and_writes_nothing_into_the_servers_log(content, told, digits, capfd):
    with pytest.raises(ModelError, match=rf"^mine.onnx: .*{told}"):
        load_model("mine.onnx", content, digits)
    assert capfd.readouterr() == ("", "")


def test_without_onnxruntime_the_message_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match="pip install onnxruntime"):
        load_model("mine.onnx", onnx_file(linear()), load_example("digits"))
