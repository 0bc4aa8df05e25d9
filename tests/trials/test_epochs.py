"""The last epoch, the best in hindsight, the best on sources held out: each is what it is called."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.models import MODELS
from touchstone.core.split.scheme import Split
from touchstone.core.trials import Context, TrialPlan, from_json, to_json
from touchstone.core.trials.epochs import EPOCHS, learns_in_epochs, predict_at, untrained


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load_example("digits")


def never() -> bool:
    return False


class Wavering:
    """A model of three epochs that knows the truth at first, then half of it, then that of the validation rows."""

    def __init__(self, data: Dataset, validation: np.ndarray):
        self.truth = {row.tobytes(): label for row, label in zip(data.x, data.y, strict=True)}
        self.validation = {data.x[row].tobytes() for row in validation}
        self.epoch = 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        if self.epoch == 1:
            return np.array([self.truth[row.tobytes()] for row in x])
        wrong = (np.array([self.truth[row.tobytes()] for row in x]) + 1) % 10
        if self.epoch == 2:
            return wrong
        known = np.array([row.tobytes() in self.validation for row in x])
        return np.where(known, (wrong - 1) % 10, wrong)


def watched(data: Dataset, validation: np.ndarray) -> Wavering:
    """The wavering model as a data class with epochs, which is how models say that they learn in them."""

    @dataclass
    class Watched(Wavering):
        label: ClassVar[str] = "wavering"
        n_epochs: int = 3

        def __post_init__(self) -> None:
            Wavering.__init__(self, data, validation)

        def fit(self, x, y, *, seed, n_classes, should_stop, on_epoch=None):
            for number in range(1, self.n_epochs + 1):
                self.epoch = number
                if on_epoch is not None:
                    on_epoch(self.epoch, self.n_epochs, 0.0)

    return Watched()


def test_each_choice_takes_the_epoch_that_it_names(digits):
    train, validation, test = np.arange(100), np.arange(100, 150), np.arange(150, 200)
    assert len({row.tobytes() for row in digits.x[:200]}) == 200, "told apart by their pixels"
    model, split = watched(digits, validation), Split(train, test)
    given = {"seed": 0, "should_stop": never}
    predicted = predict_at(tuple(EPOCHS), model, digits, split, validation=validation, **given).predicted
    n_right = {epoch: int((labels == digits.y[test]).sum()) for epoch, labels in predicted.items()}
    assert n_right == {"last": 0, "best": 50, "validation": 50}, "of epochs 1 and 3, both perfect, the first"
    model = watched(digits, np.append(validation, test))
    predicted = predict_at(("last",), model, digits, split, **given).predicted
    assert (predicted["last"] == digits.y[test]).all(), "the third epoch knows the test rows here"


@pytest.mark.parametrize("name", ["svm", "mlp_small", "cnn_1"])
def test_watching_changes_nothing_of_what_is_learnt(name, digits):
    split = Split(np.arange(300), np.arange(300, 500))
    alone, watched = (
        predict_at(epochs, untrained(MODELS[name], 3), digits, split, seed=1, should_stop=never).predicted
        for epochs in (("last",), ("last", "best"))
    )
    np.testing.assert_array_equal(alone["last"], watched["last"])
    best, last = ((watched[epoch] == digits.y[split.test]).mean() for epoch in ("best", "last"))
    assert best >= last


def test_models_with_epochs_take_a_number_of_them():
    assert untrained(MODELS["cnn_1"], 2).n_epochs == 2
    assert untrained(MODELS["svm"], 2) == MODELS["svm"]()
    assert {name for name in MODELS if not learns_in_epochs(MODELS[name])} >= {"svm", "logistic"}


@pytest.mark.parametrize("finder", ["kmeans", "known"])
def test_what_is_held_back_is_drawn_as_the_test_part_is(finder, digits):
    known = np.arange(len(digits.y)) % 7
    data = Dataset("sites", "image", digits.x, digits.y, digits.class_names, digits.ids, known.astype(str).tolist())
    plan = TrialPlan(models=("logistic",), source_finders=(finder,), n_repeats=3, epoch="validation")
    for draw in plan.draws(data):
        whole, (split, held_back) = plan.split(data, draw), plan.fitted_and_held_back(data, draw)
        assert {*split.train, *held_back} <= {*whole.train}
        if draw.scheme in ("source_exclusive", "random_full"):
            assert len(split.train) + len(held_back) == len(whole.train)
        np.testing.assert_array_equal(split.test, whole.test)
        cells = data.y * 1000 + plan.sources(data, draw.source_finder, draw.clustering)
        trained, judged, tested = (set(cells[rows]) for rows in (split.train, held_back, split.test))
        if draw.scheme == "source_exclusive":
            assert not judged & trained
            assert not (judged | trained) & tested
            assert len(judged) == digits.n_classes, "one source of each class"
        elif draw.scheme == "source_inclusive":
            assert tested <= trained, "familiar sources stay familiar"
            assert judged <= trained
        np.testing.assert_array_equal(plan.fitted_and_held_back(data, draw)[1], held_back)


def test_every_finder_leaves_as_many_to_train_on(digits):
    sites = [str(row % 6) for row in range(len(digits.y))]
    data = Dataset("sites", "image", digits.x, digits.y, digits.class_names, digits.ids, sites)
    plan = TrialPlan(models=("logistic",), source_finders=("kmeans", "known"), n_repeats=4, epoch="validation")
    sizes: dict[tuple, set] = {}
    for draw in plan.draws(data):
        split, held_back = plan.fitted_and_held_back(data, draw)
        sizes.setdefault((draw.scheme == "random_full", draw.repeat), set()).add(len(split.train))
        assert not set(split.train) & set(held_back)
    assert {len(of) for of in sizes.values()} == {1}


def test_rows_say_how_many_samples_were_trained_on(digits):
    plan = TrialPlan(models=("logistic",), n_repeats=1, epoch="validation")
    row = plan.run_trial(digits, 0, context=Context()).iloc[0]
    split, _ = plan.fitted_and_held_back(digits, plan.draws(digits)[0])
    assert (row["n_train"], row["n_test"]) == (len(split.train), len(split.test))


def test_two_sources_leave_none_to_choose_by(digits):
    plan = TrialPlan(models=("logistic",), n_sources=2, n_repeats=1, epoch="validation")
    with pytest.raises(DataError, match="No sources can be held out of the training part"):
        plan.n_trials(digits)
    assert replace(plan, schemes=("source_inclusive", "random")).n_trials(digits) == 2
    assert replace(plan, n_sources=3).n_trials(digits) == 4


def test_plans_of_before_keep_their_text_and_so_their_key():
    assert not {"epoch", "n_epochs"} & set(json.loads(to_json(TrialPlan())))
    chosen = TrialPlan(epoch="best", n_epochs=3)
    assert from_json(to_json(chosen), {"trials": TrialPlan}) == chosen


@pytest.mark.parametrize("wrong", [{"epoch": "luckiest"}, {"n_epochs": 0}])
def test_what_cannot_be_chosen_is_refused(wrong):
    with pytest.raises(DataError):
        TrialPlan(**wrong)
