"""Which models are offered for which data, and what is said of the others before anything runs."""

import numpy as np
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.models import MODELS, check_fitting, fits
from touchstone.core.models.errors import ModelError
from touchstone.core.trials import FoldPlan, TrialPlan

CONVOLUTIONS = {"cnn_1", "cnn_2", "cnn_3", "lenet", "resnet18", "resnet20", "vgg19"}


def images(side: int) -> Dataset:
    x = np.zeros((4, side, side, 1), dtype=np.float32)
    return Dataset("blank", "image", x, [0, 1, 0, 1], ["a", "b"], list("abcd"))


def test_tables_and_texts_have_no_convolutions():
    text = Dataset("texts", "text", ["a b", "c d"], [0, 1], ["x", "y"], ["1", "2"])
    for data in (load_example("wine"), text):
        assert {name for name, model in MODELS.items() if not fits(model, data)} == CONVOLUTIONS


@pytest.mark.parametrize(("side", "left_out"), [(8, {"lenet", "vgg19"}), (28, set()), (32, set())])
def test_deep_networks_need_large_images(side, left_out):
    assert {name for name, model in MODELS.items() if not fits(model, images(side))} == left_out


@pytest.mark.parametrize("plan", [TrialPlan(models=("svm", "cnn_2")), FoldPlan(models=("cnn_2",))])
def test_a_plan_with_a_model_that_does_not_fit_is_refused_before_it_runs(plan):
    with pytest.raises(DataError, match="CNN-2 cannot be trained on wine, which is tabular data"):
        plan.n_trials(load_example("wine"))


def test_the_size_of_the_images_is_named():
    with pytest.raises(ModelError, match="image data of 8 x 8 pixels"):
        check_fitting([MODELS["vgg19"]], images(8))
