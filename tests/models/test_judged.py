"""An uploaded model is judged on the data before anything is said of it; outputs in another order are found out."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from touchstone.core.data import Dataset, load_example
from touchstone.core.models.errors import ModelError
from touchstone.core.models.load import MOST_JUDGED, Judged, check_above_chance, judge, model_inputs
from touchstone.core.models.networks import LinearNetwork, TrainedNetwork


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture(scope="module")
def model(wine) -> TrainedNetwork:
    return LinearNetwork(n_epochs=20).fit(wine.x, wine.y, seed=0).trained(wine)


def permuted(model: TrainedNetwork, order: list[int]) -> TrainedNetwork:
    head = {name: value[order] for name, value in model.state.items() if name.startswith("head.")}
    return dataclasses.replace(model, state=model.state | head)


def test_a_model_is_judged_on_all_samples_as_it_says_itself(wine, model):
    judged = judge(model, wine)
    said = model.logits(model_inputs(model, wine)).argmax(dim=1).numpy()
    assert judged.taken_for.tolist() == confusion_matrix(wine.y, said).tolist()
    assert (judged.n, judged.n_correct) == (178, int((said == wine.y).sum()))
    assert judged.majority == np.bincount(wine.y).max() / 178
    assert judged.hint == ""


@pytest.mark.parametrize("order", [[1, 2, 0], [2, 0, 1]])
def test_a_model_whose_outputs_are_in_another_order_is_refused_with_that_order(wine, model, order):
    judged = judge(permuted(model, order), wine)
    assert judged.accuracy < 0.05
    assert judged.order == tuple(order)
    assert judged.in_order == judge(model, wine).accuracy
    seems = f"counted from 0, 0 for “class_{order[0]}”, 1 for “class_{order[1]}”, 2 for “class_{order[2]}”"
    with pytest.raises(ModelError, match=f"below chance.*{seems}"):
        check_above_chance(judged, "mine.onnx")


def test_two_classes_that_change_places_are_told_and_left(wine, model):
    judged = judge(permuted(model, [1, 0, 2]), wine)
    check_above_chance(judged, "mine.onnx")
    assert "0 for “class_1”, 1 for “class_0”. Export" in judged.hint


def test_a_model_at_chance_is_not_refused_however_few_samples_there_are():
    by_lot = np.array([[3, 4, 5], [4, 4, 4], [5, 4, 3]])
    check_above_chance(Judged(("a", "b", "c"), by_lot), "mine.onnx")
    check_above_chance(Judged(("a", "b"), np.array([[0, 2], [1, 0]])), "mine.onnx")
    with pytest.raises(ModelError, match=r"accuracy on 60 samples is 0\.0 %, below chance \(50\.0 %\)"):
        check_above_chance(Judged(("a", "b"), np.array([[0, 30], [30, 0]])), "mine.onnx")


def test_of_many_samples_some_are_looked_at(wine, model):
    rows = np.arange(MOST_JUDGED + 500) % wine.n_samples
    ids = tuple(map(str, range(len(rows))))
    large = dataclasses.replace(wine, x=wine.x[rows], y=wine.y[rows], ids=ids)
    assert judge(model, large).n == MOST_JUDGED
