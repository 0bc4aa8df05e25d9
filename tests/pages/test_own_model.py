"""A model of your own on the page of source robustness: beside the run's models, alone, gone, or of something else."""

import errno
import os

import pandas as pd
import pytest

from tests.pages.conftest import PLAN, in_numbers, stored_run, texts
from touchstone.core.data import Dataset, load_example
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.trials import sample_predictions, with_labels
from touchstone.core.workspace import LOCAL_OWNER


def upload(table: pd.DataFrame, name: str = "mine.tsv") -> PredictionUpload:
    return PredictionUpload(GivenFile(name, table.to_csv(sep="\t", index=False).encode()))


@pytest.fixture
def mine(workspace, wine) -> str:
    """Stored predictions of a made-up model on the splits of PLAN."""
    return workspace.add_predictions(LOCAL_OWNER, with_labels(upload(sample_predictions(PLAN, wine)), wine))


@pytest.fixture
def show(open_page, wine):
    return lambda **parameters: open_page("source_robustness", data=wine.fingerprint, repeats="4", **parameters)


def test_it_stands_beside_the_models_of_the_run(show, workspace, wine, mine):
    stored_run(workspace, wine)
    app = show(own=mine)
    said = texts(app).replace("\\", "")
    assert "mine: 16 of 16 trials" in said
    assert "48 of 48 trials used" in said
    assert in_numbers(app)["Model"].tolist() == ["SVM", "Logistic regression", "mine"]
    assert "mine: which classes and sources are hard?" in said, "the verdict is about another model"
    assert any(line in said for line in ("mine and SVM", "SVM and mine", "than mine"))
    assert app.query_params["own"] == mine


def test_it_is_shown_alone_where_nothing_was_computed(show, workspace, mine):
    app = show(own=mine)
    said = texts(app).replace("\\", "")
    assert "16 of 16 trials used" in said
    assert in_numbers(app)["Model"].tolist() == ["mine"]
    assert "Not computed yet" not in said
    assert not app.button(key="run").disabled
    assert workspace.runs(LOCAL_OWNER) == [], "looking at a model has made a run"


def test_some_of_the_trials_are_enough(show, workspace, wine):
    table = sample_predictions(PLAN, wine)
    some = with_labels(upload(table[table["trial"] < 7]), wine)
    app = show(own=workspace.add_predictions(LOCAL_OWNER, some))
    assert "mine: 7 of 16 trials" in texts(app).replace("\\", "")


def test_predictions_that_are_gone_get_a_sentence_and_no_verdict(show, workspace, wine, mine):
    workspace.delete_predictions(LOCAL_OWNER, mine)
    app = show(own=mine)
    assert app.error[0].proto.title == "These predictions are not here"
    assert not app.metric
    stored_run(workspace, wine)
    app = show(own=mine)
    assert app.error[0].proto.title == "These predictions are not here"
    assert in_numbers(app)["Model"].tolist() == ["SVM", "Logistic regression"]
    app.button(key="own-remove").click().run()
    assert "own" not in app.query_params
    assert not app.error


def test_predictions_on_other_splits_are_refused_as_written(show, mine):
    app = show(own=mine, seed="1")
    assert "exported with other settings" in app.error[0].value.replace("\\", "")
    assert not app.metric


def test_it_can_be_removed(show, workspace, wine, mine):
    stored_run(workspace, wine)
    app = show(own=mine)
    app.button(key="own-remove").click().run()
    assert in_numbers(app)["Model"].tolist() == ["SVM", "Logistic regression"]
    assert "own" not in app.query_params
    assert workspace.predictions(LOCAL_OWNER, mine).name == "mine.tsv"


def test_another_data_set_puts_it_aside(show, workspace, mine):
    app = show(own=mine)
    digits = load_example("digits")
    workspace.add_dataset(LOCAL_OWNER, digits, example="digits")
    app.run()
    app.selectbox(key="data_control").set_value(digits.fingerprint).run()
    assert app.query_params["data"] == digits.fingerprint
    assert "own" not in app.query_params
    assert not app.error


def test_a_file_is_read_confirmed_and_stored(show, workspace, wine):
    app = show()
    app.session_state["own-model-draft"] = upload(sample_predictions(PLAN, wine))
    app.run()
    said = texts(app).replace("\\", "")
    for line in (
        "Trial: column 'trial'",
        "Id: column 'id'",
        "Predicted label: column 'predicted'",
        "with the truth of **wine-labels.tsv**",
    ):
        assert line in said
    app.button(key="own-use").click().run()
    [stored] = workspace.prediction_files(LOCAL_OWNER)
    assert app.query_params["own"] == stored.fingerprint
    assert in_numbers(app)["Model"].tolist() == ["mine"]
    app.button(key="own-correct").click().run()
    app.button(key="own-use").click().run()
    assert [one.fingerprint for one in workspace.prediction_files(LOCAL_OWNER)] == [stored.fingerprint]


def test_a_full_disk_is_said_and_the_file_stays_on_the_page(show, workspace, wine, monkeypatch):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    app = show()
    app.session_state["own-model-draft"] = upload(sample_predictions(PLAN, wine))
    app.run()
    monkeypatch.setattr(os, "fsync", full)
    app.button(key="own-use").click().run()
    assert not app.exception
    assert "The disk is full" in app.toast[0].value
    assert "own-use" in [button.key for button in app.button]
    assert workspace.prediction_files(LOCAL_OWNER) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop(columns="trial"), "stands in line"),
        (lambda table: table[table["trial"] == 0].drop(columns="trial"), "no column says which trial"),
        (lambda table: table.iloc[5:], "5 of the 3"),
        (lambda table: table.assign(id="x" + table["id"]), "are not in wine-labels.tsv"),
        (lambda table: table.drop(columns="predicted"), "what a model predicted"),
    ],
)
def test_a_file_that_does_not_fit_cannot_be_used(show, wine, change, words):
    app = show()
    app.session_state["own-model-draft"] = upload(change(sample_predictions(PLAN, wine)))
    app.run()
    said = "\n".join([*(error.value for error in app.error), *(warning.value for warning in app.warning)])
    assert words in said.replace("\\", "")
    assert "own-use" not in [button.key for button in app.button]
    app.button(key="own-discard").click().run()
    assert not app.error


def test_words_of_the_user_are_not_markdown(show, workspace, wine):
    table = sample_predictions(PLAN, wine).assign(model="$a$ **b** <i>")
    app = show(own=workspace.add_predictions(LOCAL_OWNER, with_labels(upload(table, "**x**.tsv"), wine)))
    said = "\n".join([texts(app), *(heading.value for heading in app.header)])
    assert "$a$" not in said
    assert "**b**" not in said
    assert "****x" not in said


def test_sources_can_be_found_in_other_features(open_page, workspace, wine):
    plan = type(PLAN)(models=("logistic",), n_repeats=2, representation="network")
    stored_run(workspace, wine, plan=plan)
    parameters = {
        "models": ["Logistic regression"],
        "repeats": "2",
        "features": "Network's last layer (label-informed)",
    }
    app = open_page("source_robustness", data=wine.fingerprint, **parameters)
    assert "8 of 8 trials used" in texts(app)
    assert "These features were trained on the labels" in texts(app).replace("\\", "")
    usual = open_page("source_robustness", data=wine.fingerprint, **parameters | {"features": "usual"})
    assert "Not computed yet for these settings" in texts(usual)
    wrong = open_page("source_robustness", data=wine.fingerprint, **parameters | {"features": "Your own vectors"})
    assert "setting that does not exist here" in texts(wrong)
    assert not wrong.metric


def test_features_that_fit_the_data_set_can_be_chosen(open_page, workspace, wine):
    app = open_page("source_robustness", data=wine.fingerprint)
    options = app.selectbox(key="features").options
    assert options[0] == "usual"
    assert "Your own vectors" not in options
    given = Dataset("given", "tabular", wine.x, wine.y, wine.class_names, wine.ids).with_vectors(wine.x[:, :3], "three")
    workspace.add_dataset(LOCAL_OWNER, given)
    app = open_page("source_robustness", data=given.fingerprint)
    assert "Your own vectors" in app.selectbox(key="features").options
