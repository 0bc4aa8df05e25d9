"""Models from elsewhere are tried in a process of their own: loops and bombs end there, and here in a sentence."""

import resource
import time

import numpy as np
import pytest

from tests.models.test_onnx import FLOAT, INT64, field, node, onnx_file, tensor, value_info
from touchstone.core.data import Dataset, load_example
from touchstone.core.models import ModelError, load
from touchstone.core.models.load import judge, load_model, try_model
from touchstone.core.models.networks import LinearNetwork

BOOL = 9


@pytest.fixture(scope="module")
def digits() -> Dataset:
    pytest.importorskip("onnxruntime")
    return load_example("digits")


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(64, 10)).astype(np.float32)


def graph_of(nodes: list[bytes], constants: list[bytes], weights: np.ndarray) -> bytes:
    """A model of digits whose logits are the output `logits` of these nodes."""
    graph = b"".join(field(1, one) for one in nodes) + field(2, "graph")
    graph += b"".join(field(5, one) for one in [*constants, tensor("weights", weights, FLOAT)])
    graph += field(11, value_info("x", ("n", 1, 8, 8), FLOAT)) + field(12, value_info("logits", ("n", 10), FLOAT))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def endless(weights: np.ndarray) -> bytes:
    """A loop whose condition stays true, around nothing."""
    body = field(1, node("Identity", ["go_on"], "still")) + field(1, node("Identity", ["value"], "next"))
    body += field(2, "body")
    body += field(11, value_info("turn", (), INT64)) + field(11, value_info("go_on", (), BOOL))
    body += field(11, value_info("value", ("n", 64), FLOAT))
    body += field(12, value_info("still", (), BOOL)) + field(12, value_info("next", ("n", 64), FLOAT))
    loop = node("Loop", ["", "true", "flat"], "looped") + field(5, field(1, "body") + field(6, body) + field(20, 5))
    nodes = [node("Flatten", ["x"], "flat", axis=1), loop, node("MatMul", ["looped", "weights"], "logits")]
    return graph_of(nodes, [tensor("true", np.array(True), BOOL)], weights)


def large(weights: np.ndarray) -> bytes:
    """An array of 3.6 GB out of two numbers."""
    nodes = [
        node("ConstantOfShape", ["sizes"], "zeros"),
        node("ReduceMax", ["zeros"], "none", keepdims=0),
        node("Flatten", ["x"], "flat", axis=1),
        node("MatMul", ["flat", "weights"], "some"),
        node("Add", ["some", "none"], "logits"),
    ]
    return graph_of(nodes, [tensor("sizes", np.array([30_000, 30_000]), INT64)], weights)


def test_an_honest_model_is_judged_as_it_is_here(digits, weights):
    content, rows = onnx_file(weights), np.arange(300)
    there = try_model("mine.onnx", content, digits, rows)
    here = judge(load_model("mine.onnx", content, digits), digits, rows)
    assert there.judged.taken_for.tolist() == here.taken_for.tolist()
    assert (there.architecture, there.has_gradients) == (None, False)


def test_the_range_of_its_pixels_goes_along(digits, weights):
    content, rows = onnx_file(weights), np.arange(300)
    there = try_model("mine.onnx", content, digits, rows, input_range=(-3.0, 1.0))
    here = judge(load_model("mine.onnx", content, digits, input_range=(-3.0, 1.0)), digits, rows)
    assert there.judged.taken_for.tolist() == here.taken_for.tolist()
    assert here.taken_for.tolist() != judge(load_model("mine.onnx", content, digits), digits, rows).taken_for.tolist()


def test_a_network_of_ours_says_which_it_is(digits):
    network = LinearNetwork(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits)
    there = try_model("mine.safetensors", network.to_bytes(), digits, np.arange(50))
    assert (there.architecture, there.has_gradients) == ("linear", True)


def test_a_loop_without_end_is_stopped_with_a_sentence(digits, weights, monkeypatch):
    monkeypatch.setattr(load, "SECONDS_TO_READ", 3)
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"^loop\.onnx: it was stopped, since .* took longer than 3 seconds"):
        try_model("loop.onnx", endless(weights), digits, np.arange(50))
    assert time.monotonic() - began < 60


def test_an_array_of_gigabytes_ends_in_a_sentence_and_takes_nothing_here(digits, weights, monkeypatch):
    monkeypatch.setattr(load, "MOST_BYTES", 1 << 30)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with pytest.raises(ModelError, match=r"^bomb\.onnx: "):
        try_model("bomb.onnx", large(weights), digits, np.arange(50))
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert max(most - before, 0) < 2 << 20, "kilobytes: no child had 2 GB"


def test_what_is_refused_is_refused_in_the_same_words(digits):
    with pytest.raises(ModelError) as there:
        try_model("mine.pt", b"\x80\x02}q\x00.", digits, np.arange(50))
    with pytest.raises(ModelError) as here:
        load_model("mine.pt", b"\x80\x02}q\x00.", digits)
    assert str(there.value) == str(here.value)
