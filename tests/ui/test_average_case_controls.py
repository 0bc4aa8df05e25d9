"""What the address and the fields of the average-case page mean."""

from dataclasses import fields

import pytest

from tests.ui.forms import controls_of
from touchstone.core.data import DataError
from touchstone.core.evaluate.average_case import ESTIMATORS
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.parameters import About
from touchstone.core.workspace import StoredModel
from touchstone.ui.forms.controls import Numbers

SIGMAS = Numbers("sigmas", "Sigmas", 0.0, None, (0.1,), "")


def stored(file_name: str, architecture: str | None = None, *, has_gradients: bool = True) -> StoredModel:
    return StoredModel("f1", "d1", "mine", architecture, file_name, None, None, None, 0.0, has_gradients)


@pytest.mark.parametrize("text", ["0.1, 0.2", ".2 .1", "0.2;0.1;0.1", "1e-1,2e-1"])
def test_numbers_can_be_written_in_many_ways(text):
    assert SIGMAS.meant(text) == (0.1, 0.2)


@pytest.mark.parametrize("text", ["0.1, much", "0,1; x", "0.1/0.2"])
def test_what_is_no_number_is_said(text):
    with pytest.raises(DataError, match="separated by commas"):
        SIGMAS.meant(text)


def test_what_the_address_holds_is_read_as_the_same_numbers():
    sigmas = (0.05, 1 / 3, 12.0)
    assert SIGMAS.read(SIGMAS.written(sigmas)) == sigmas


def test_a_model_without_gradients_is_offered_only_what_needs_none():
    about = About(kind="image", model=stored("mine.onnx", has_gradients=False))
    titles = controls_of(AverageCasePlan, about)["estimator_blind"].titles
    assert set(titles) == {"gaussian_logits", "monte_carlo"}
    assert not any(ESTIMATORS[name].facts.needs_gradients for name in titles)
    about = About(kind="image", model=stored("mine.safetensors", "cnn_1"))
    assert controls_of(AverageCasePlan, about)["estimator"].default == "mmse"


def test_of_an_uploaded_model_nobody_knows_what_it_was_trained_on():
    controls = controls_of(AverageCasePlan, About(kind="image", model=stored("mine.onnx")))
    assert list(controls["judge_all"].titles) == ["all"]
    assert "judge" not in controls


def test_the_choice_by_the_audit_is_a_plan_and_is_read_back_as_that_choice():
    about = About(kind="image", model=stored("mine.safetensors", "cnn_1"))
    control = controls_of(AverageCasePlan, about)["estimator"]
    assert control.titles["by_audit"] == "Chosen by the audit"
    several = next(field for field in fields(AverageCasePlan) if field.name == "estimators").metadata["several"]
    for answer in control.titles:
        estimators = several.together(answer)
        assert several.apart(AverageCasePlan("f1", estimators=estimators).estimators) == (answer,)
    assert several.together("by_audit") == ("mmse", "gaussian_logits", "taylor", "softmax")
