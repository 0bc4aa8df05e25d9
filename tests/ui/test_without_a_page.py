"""Small functions of ui/ that need no page."""

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import Dataset, load_example
from touchstone.core.report.files import tsv
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.trials import TrialPlan
from touchstone.ui.data import samples
from touchstone.ui.data.samples import portrait, telling_words
from touchstone.ui.forms import controls
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import share


def test_an_address_spells_out_every_parameter():
    address = share.address(
        "source_robustness",
        {"data": "f00d", **(plan_parameters(TrialPlan(models=("svm",))) or {})},
    )
    assert address.startswith("/source_robustness?data=f00d&models=SVM&sources=k-means+clusters&")
    for part in ("repeats=20", "features=usual", "epoch=the+last+epoch", "seed=0"):
        assert part in address


def test_a_command_survives_the_shell():
    command = share.command(TrialPlan(models=("svm",)), "f00d")
    assert command.startswith("python -m core run --data f00d '{")
    assert '"models":["svm"]' in command


def test_the_order_of_choosing_makes_no_other_plan():
    pick = controls.Pick("models", "Models", MODEL_TITLES, ("svm",), "")
    assert pick.ordered(["logistic", "svm"]) == pick.ordered(["svm", "logistic"])


@pytest.mark.parametrize(("written", "unknown"), [(["5"], []), (["51"], ["51"]), (["x"], ["x"]), (["2.0"], ["2.0"])])
def test_a_number_in_an_address_must_be_in_range_and_whole(written, unknown):
    assert controls.Number("clusters", "Clusters", 2, 50, 5, 1, "").unknown(written) == unknown


def test_every_plan_of_the_controls_has_an_address_and_no_other_plan_has():
    assert plan_parameters(TrialPlan(models=("svm",), n_repeats=7, test_share=0.3)) is not None
    assert plan_parameters(TrialPlan(models=("svm",), n_train=50)) is None
    assert plan_parameters(TrialPlan(models=("svm",), schemes=("random",))) is None


def test_tables_are_written_without_loss_of_missing_values():
    table = pd.DataFrame({"label": ["NA", None], "accuracy": [0.5, float("nan")]})
    assert tsv(table) == b"label\taccuracy\nNA\t0.5\n\t\n"


def test_small_pictures_are_enlarged_by_a_whole_factor_without_smoothing():
    image = np.zeros((8, 5, 1), dtype=np.float32)
    image[0, 0] = 1
    shown = samples.enlarged(image)
    assert shown.shape == (64, 40)
    assert set(np.unique(shown)) == {0, 255}
    assert (shown == 255).sum() == 64


def test_colour_pictures_keep_their_colours_and_large_ones_their_size():
    image = np.random.default_rng(0).random((100, 90, 3), dtype=np.float32)
    assert samples.enlarged(image).shape == (100, 90, 3)


def test_one_of_each_class_comes_first():
    dataset = Dataset("d", "tabular", [[0.0]] * 6, [1, 1, 1, 0, 0, 2], ("a", "b", "c"), list("uvwxyz"))
    assert dataset.y[samples.one_of_each(dataset)].tolist() == [0, 1, 2, 0, 1, 1]


def test_a_portrait_of_images_is_their_mean_and_of_a_table_its_unusual_columns():
    digits, wine = load_example("digits"), load_example("wine")
    zeros = digits.y == 0
    assert np.allclose(portrait(digits, zeros, ~zeros).picture, digits.x[zeros].mean(axis=0))
    words = portrait(wine, wine.y == 0, wine.y != 0).words
    assert words.startswith("proline +")
    assert words.count(" sd") == 4


def test_words_that_others_use_as_much_do_not_tell():
    assert telling_words(["the red cat", "the red dog"], ["the blue cat", "the blue dog"]) == ["red"]
