"""A stored model that passed its trial may still hang or take gigabytes later: pages ask it in a process of its own."""

import resource
import time

import numpy as np
import pytest
import torch

from tests.models.test_onnx import onnx_file
from tests.models.test_tried import endless, large
from touchstone.core.data import Dataset, load_example
from touchstone.core.models import uploaded_model
from touchstone.core.models.errors import ModelError, ModelStopped
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.uploaded_model import Apart, read_onnx
from touchstone.core.trials.layer_parts import layer_parts, layers_offered


@pytest.fixture(scope="module")
def digits() -> Dataset:
    pytest.importorskip("onnxruntime")
    return load_example("digits")


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(64, 10)).astype(np.float32)


def stored(name: str, content: bytes, dataset: Dataset) -> bytes:
    return ModelFile(content, name, dataset.fingerprint).to_bytes()


def test_it_answers_there_as_it_does_here(digits, weights):
    content, x = onnx_file(weights), torch.rand(300, 1, 8, 8)
    assert torch.equal(Apart("mine.onnx", "onnx", content)(x), read_onnx(content)(x))


def test_a_stored_loop_without_end_is_stopped_with_a_sentence_wherever_its_layers_are_read(
    digits, weights, monkeypatch
):
    monkeypatch.setattr(uploaded_model.sandbox, "SECONDS_TO_READ", 2)
    model = stored("loop.onnx", endless(weights), digits)
    for read in (layers_offered, layer_parts):
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"^loop\.onnx: it was stopped, since .* took longer than 2 seconds"):
            read(model, digits)
        assert time.monotonic() - began < 60


def test_a_stored_array_of_gigabytes_ends_in_a_sentence_and_takes_nothing_here(digits, weights, monkeypatch):
    monkeypatch.setattr(uploaded_model.sandbox, "MOST_BYTES", 1 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelError, match=r"^bomb\.onnx: "):
        layer_parts(stored("bomb.onnx", large(weights), digits), digits)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20, "kilobytes: 1 GB was taken here"


def test_a_process_that_was_killed_is_a_sentence_and_one_at_rest_is_started_again(digits, weights, monkeypatch):
    monkeypatch.setattr(uploaded_model.sandbox, "SECONDS_AT_REST", 1)
    x = torch.rand(3, 1, 8, 8)
    model = Apart("mine.onnx", "onnx", onnx_file(weights))
    first, said = model._child.process, model(x)
    assert first.wait(timeout=60) == 0
    assert torch.equal(model(x), said)
    assert model._child.process.pid != first.pid
    model._child.process.kill()
    with pytest.raises(ModelStopped, match=r"^mine\.onnx: .* ended \(-9\), most likely for lack of memory"):
        model(x)


def test_its_process_ends_with_the_model(digits, weights):
    model = Apart("mine.onnx", "onnx", onnx_file(weights))
    process = model._child.process
    del model
    assert process.returncode is not None
