"""Pixels as a model was trained on them: what black and white were, or a mean and a deviation for each channel."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from touchstone.core.data import Dataset
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import black_and_white, checked_range, normalised
from touchstone.core.models.load import load_model
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.networks import LinearNetwork
from touchstone.core.models.uploaded_model import adapt

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLASSES = ("a", "b")


def images() -> Dataset:
    rng = np.random.default_rng(0)
    x = rng.random((30, 6, 6, 3)).astype(np.float32)
    return Dataset("colours", "image", x, np.arange(30) % 2, CLASSES, [f"i{n}" for n in range(30)])


def by_hand(x: torch.Tensor) -> torch.Tensor:
    """What torchvision's Normalize does, in the words of its documentation."""
    return (x - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]


def test_a_model_from_elsewhere_sees_each_channel_as_it_was_trained():
    seen = []

    def run(x: torch.Tensor) -> torch.Tensor:
        seen.append(x)
        return x.flatten(1)[:, :2]

    x = torch.rand(4, 3, 6, 6)
    adapt(run, x, CLASSES, has_gradients=True, input_range=normalised(MEAN, STD)).raw(x)
    torch.testing.assert_close(seen[-1], by_hand(x))
    adapt(run, x, CLASSES, has_gradients=True, input_range=normalised([255 * m for m in MEAN], [255 * s for s in STD],
          divided=False)).raw(x)  # fmt: skip
    torch.testing.assert_close(seen[-1], by_hand(x))


def test_weights_of_ours_see_each_channel_as_they_were_trained():
    data = images()
    trained = LinearNetwork(n_epochs=1).fit(data.x, data.y, seed=0).trained(data)
    bare = {name: value for name, value in trained.state.items() if name not in ("centre", "spread")}
    loaded = load_model("w.safetensors", save(bare), data, architecture="linear", input_range=normalised(MEAN, STD))
    plain = load_model("w.safetensors", save(bare), data, architecture="linear")
    x = torch.tensor(data.x).permute(0, 3, 1, 2)
    torch.testing.assert_close(loaded.logits(x), plain.logits(by_hand(x)), rtol=1e-4, atol=1e-4)


@given(st.floats(-3, 3), st.floats(0.01, 5), st.booleans(), st.floats(0, 1))
def test_a_pixel_lies_between_black_and_white_as_it_was_normalised(mean, std, divided, pixel):
    [low], [high] = black_and_white(normalised([mean], [std], divided=divided))
    assert low + pixel * (high - low) == pytest.approx((pixel * (1 if divided else 255) - mean) / std, abs=1e-6)


@pytest.mark.parametrize(
    ("mean", "std", "words"),
    [
        ([0.5], [0.2, 0.2], "1 means and 2 standard deviations"),
        ([], [], "0 means"),
        ([0.5], [0.0], "above 0"),
        ([float("nan")], [1.0], "must be numbers"),
    ],
)
def test_what_is_no_mean_or_deviation_is_refused(mean, std, words):
    with pytest.raises(ModelError, match=words):
        normalised(mean, std)


def test_ranges_are_one_for_all_channels_or_one_for_each():
    for good in ((0.0, 255.0), ((0.0, 1.0),) * 3):
        assert checked_range(good, 3) == good
    for bad in (((0.0, 1.0),) * 2, (1.0, 1.0), ((0.0, 1.0), (0.0, 1.0), (2.0, 1.0)), (0.0, float("inf"))):
        with pytest.raises(ModelError):
            checked_range(bad, 3)
    wine = Dataset("t", "tabular", np.eye(4), [0, 1, 0, 1], CLASSES, list("abcd"))
    with pytest.raises(ModelError, match="for images only"):
        load_model("m.onnx", b"", wine, input_range=(0.0, 255.0))


def test_a_stored_model_keeps_a_pair_for_each_channel():
    file = ModelFile(b"weights", "mine.onnx", "f1", input_range=((-2.0, 2.0), (-1.0, 3.0), (0.0, 1.0)))
    assert ModelFile.from_bytes(file.to_bytes()) == file
