"""A training is a plan: the same network and rows every time, told by epoch, and a model that can be read again."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from tests.split.marked import marked
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.models import MODELS, Cancelled, ModelError
from touchstone.core.models.load import model_inputs, read_stored
from touchstone.core.models.networks import best_device
from touchstone.core.trials import Context, TrainingPlan, from_json, to_json
from touchstone.core.trials.training_plan import COLUMNS, trainable
from touchstone.core.workspace import load_plan

WINE = load_example("wine")
QUICK = TrainingPlan("linear", n_epochs=3)


def test_rows_tell_every_epoch_and_then_the_whole():
    kept, told = [], []
    context = Context(
        report=lambda *steps: told.append(steps), keep_model=lambda model, **about: kept.append((model, about)) or "f1"
    )
    rows = QUICK.run_trial(WINE, 0, context=context)
    assert rows.dtypes.astype(str).to_dict() == COLUMNS
    assert rows["epoch"].tolist()[:3] == [1, 2, 3]
    assert rows["loss"][:3].is_monotonic_decreasing
    assert (rows["status"] == "ok").all()
    assert told == [(1, 3, "epoch"), (2, 3, "epoch"), (3, 3, "epoch")]
    whole = rows.iloc[-1]
    train, test = QUICK.split(WINE)
    assert (whole["n_train"], whole["n_test"]) == (len(train), len(test))
    assert whole["accuracy"] == whole["n_correct"] / whole["n_test"]
    assert (whole["model"], whole["device"]) == ("f1", best_device())
    assert whole["seconds"] >= rows["seconds"][:3].sum()
    [(stored, about)] = kept
    assert (about["n_test"], about["n_correct"]) == (whole["n_test"], whole["n_correct"])
    assert load_plan(about["training_plan"]) == QUICK
    model = read_stored(stored, WINE)
    logits = model.logits(model_inputs(model, WINE, test))
    assert int((logits.argmax(dim=1).numpy() == WINE.y[test]).sum()) == whole["n_correct"]


def test_the_same_plan_makes_the_same_model_and_another_seed_another():
    kept = []
    context = Context(keep_model=lambda model, **about: kept.append(model) or "")
    for plan in (QUICK, QUICK, dataclasses.replace(QUICK, seed=1)):
        plan.run_trial(WINE, 0, context=context)
    assert kept[0] == kept[1] != kept[2]


def test_the_split_takes_the_share_of_every_class_and_hangs_on_seed_and_share_alone():
    digits = load_example("digits")
    train, test = TrainingPlan("cnn_1").split(digits)
    assert len(np.intersect1d(train, test)) == 0
    assert len(train) + len(test) == digits.n_samples
    shares = np.bincount(digits.y[test]) / np.bincount(digits.y)
    assert (np.abs(shares - 0.2) < 0.005).all()
    assert (TrainingPlan("linear", n_epochs=1, learning_rate=0.5).split(digits).test == test).all()
    assert (TrainingPlan("cnn_1", seed=1).split(digits).test != test).any()


def test_with_the_files_test_set_training_sees_the_files_training_part_alone():
    data = marked()
    plan = dataclasses.replace(QUICK, test_set="file")
    kept = []
    context = Context(keep_model=lambda model, **about: kept.append((read_stored(model, data), about)) or "f1")
    whole = plan.run_trial(data, 0, context=context).iloc[-1]
    counts = {part: int((data.part == part).sum()) for part in ("train", "test")}
    assert (whole["n_train"], whole["n_test"]) == (counts["train"], counts["test"])
    other = data.x.copy()
    other[data.part != "train"] += 100.0
    plan.run_trial(dataclasses.replace(data, x=other), 0, context=context)
    states = [model.state for model, _ in kept]
    assert all((states[0][name] == states[1][name]).all() for name in states[0]), "it has seen other rows, too"
    assert load_plan(kept[0][1]["training_plan"]) == plan
    assert kept[0][1]["n_test"] == counts["test"]


def test_where_the_test_set_comes_from_is_part_of_the_plan_and_a_drawn_one_goes_unsaid():
    assert "test_set" not in to_json(QUICK)
    own = dataclasses.replace(QUICK, test_set="file")
    assert load_plan(to_json(own)) == own
    assert dataclasses.replace(own, test_share=0.4) == own, "a share of nothing makes another plan of the same training"
    assert "the file's test set" in own.title
    with pytest.raises(DataError, match=r"Test set: 'mine' cannot be chosen\. Choose from drawn, file"):
        dataclasses.replace(QUICK, test_set="mine")


def test_training_stops_between_epochs():
    n_done = []
    context = Context(should_stop=lambda: len(n_done) == 2, report=lambda *steps: n_done.append(steps[0]))
    with pytest.raises(Cancelled):
        TrainingPlan("linear", n_epochs=50).run_trial(WINE, 0, context=context)
    assert n_done == [1, 2]


@pytest.mark.parametrize(
    ("name", "value"),
    [("learning_rate", 0.5), ("momentum", 0.0), ("weight_decay", 0.1), ("gradient_penalty", 1.0), ("batch_size", 16)],
)
def test_every_hyperparameter_reaches_the_network(name, value):
    losses = [
        plan.run_trial(WINE, 0, context=Context())["loss"].tolist()[:3]
        for plan in (QUICK, dataclasses.replace(QUICK, **{name: value}))
    ]
    assert losses[0] != losses[1]


@pytest.mark.parametrize("name", trainable())
def test_every_network_of_the_papers_can_be_trained_and_kept(name):
    assert MODELS[name].label in TrainingPlan(name).title
    assert MODELS[name].architecture == name


def test_texts_can_be_trained_on():
    said = ["so good", "very good", "good day", "so bad", "very bad", "bad day"] * 5
    texts = Dataset("moods", "text", said, [0, 0, 0, 1, 1, 1] * 5, ["good", "bad"], [str(row) for row in range(30)])
    kept = []
    context = Context(keep_model=lambda model, **about: kept.append(model) or "")
    rows = TrainingPlan("linear", n_epochs=30, learning_rate=0.5).run_trial(texts, 0, context=context)
    assert rows["accuracy"].iloc[-1] == 1.0
    assert read_stored(kept[0], texts).words is not None


def test_a_plan_is_the_same_however_its_numbers_are_written():
    plan = TrainingPlan("linear", learning_rate=1.0, momentum=0.0)
    assert load_plan(to_json(plan)) == plan
    code = (
        "import sys; from touchstone.core.trials import to_json; from touchstone.core.workspace.plans import load_plan;"
        "print(to_json(load_plan(sys.argv[1])))"
    )
    text = '{"kind":"training","model":"linear","learning_rate":1,"momentum":0}'
    # In a process of its own, since here the types of arguments are checked.
    said = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == to_json(plan)
    with pytest.raises(DataError, match="no field"):
        from_json('{"kind":"training","model":"linear","dropout":0.5}', {"training": TrainingPlan})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": "svm"}, "Choose from linear"),
        ({"n_epochs": 0}, "Epochs must"),
        ({"batch_size": True}, "Batch size must"),
        ({"seed": -1}, "Seed must"),
        ({"seed": 2**32}, "Seed must"),
        ({"learning_rate": 0.0}, "the network learns nothing"),
        ({"momentum": 1.0}, "below 1"),
        ({"weight_decay": -0.1}, "Weight decay must"),
        ({"gradient_penalty": -1.0}, "Gradient penalty must"),
        ({"test_share": 0.0}, "between 0 and 1"),
        ({"test_share": 20.0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_done_is_refused_when_the_plan_is_made(fields, said):
    with pytest.raises(DataError, match=said):
        TrainingPlan(**{"model": "linear", **fields})


def test_a_network_that_does_not_fit_is_refused_before_anything_runs():
    with pytest.raises(ModelError, match="cannot be trained on wine"):
        TrainingPlan("cnn_1").n_trials(WINE)
    with pytest.raises(DataError, match="leaves no sample"):
        TrainingPlan("linear", test_share=0.001).n_trials(WINE)
    assert TrainingPlan("linear").n_trials(WINE) == 1


def test_a_training_that_diverges_says_so():
    with pytest.raises(ModelError, match="smaller learning rate"):
        TrainingPlan("mlp_2048", n_epochs=5, learning_rate=1e8).run_trial(WINE, 0, context=Context())


def test_a_failed_training_is_a_row_without_figures():
    rows = QUICK.failed_trial(WINE, 0)
    assert rows.dtypes.astype(str).to_dict() == COLUMNS
    assert rows["status"].tolist() == ["failed"]
    assert rows.drop(columns="status").isna().all(axis=None)
