"""What the address and the fields of the average-case page mean."""

import pytest

from core.data import DataError
from core.evaluate.average_case import ESTIMATORS
from core.workspace.models import StoredModel
from ui.average_case import controls
from ui.average_case.controls import Sigmas, numbers_of


def stored(file_name: str, architecture: str | None = None, *, has_gradients: bool = True) -> StoredModel:
    return StoredModel("f1", "d1", "mine", architecture, file_name, None, None, None, 0.0, has_gradients)


@pytest.mark.parametrize("text", ["0.1, 0.2", ".2 .1", "0.2;0.1;0.1", "1e-1,2e-1"])
def test_numbers_can_be_written_in_many_ways(text):
    assert numbers_of(text) == (0.1, 0.2)


@pytest.mark.parametrize("text", ["0.1, much", "0,1; x", "0.1/0.2"])
def test_what_is_no_number_is_said(text):
    with pytest.raises(DataError, match="set apart by commas"):
        numbers_of(text)


def test_what_the_address_holds_is_read_as_the_same_numbers():
    sigmas = (0.05, 1 / 3, 12.0)
    assert numbers_of(Sigmas("sigmas", (0.1,)).written(sigmas)[0]) == sigmas


def test_a_model_without_gradients_is_offered_only_what_needs_none():
    main, _ = controls._controls("image", stored("mine.onnx", has_gradients=False))
    assert set(main["estimator"].titles) == {"gaussian_logits", "monte_carlo"}
    assert not any(ESTIMATORS[name].facts.needs_gradients for name in main["estimator"].titles)
    main, _ = controls._controls("image", stored("mine.safetensors", "cnn_1"))
    assert main["estimator"].default == "mmse"


def test_of_an_uploaded_model_nobody_knows_what_it_was_trained_on():
    _, more = controls._controls("image", stored("mine.onnx"))
    assert list(more["rows"].titles) == ["all"]
