"""A run comes to be again from its parameters: under the same key and with the same rows, or the reason is said."""

import io
import json
import re

import pandas as pd
import pytest

from tests.report.runs import a_workspace, data, plans, rows, stored
from touchstone.core.__main__ import main
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.report.recreate import example_to_read, recreate
from touchstone.core.report.run_report import recipe
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, WorkspaceError, frames, load_plan
from touchstone.core.workspace.engine.runner import close_engine, engine

PLAN = TrialPlan(models=("nearest_neighbours",), n_repeats=2)


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return a_workspace()


def wine_run(workspace: Workspace) -> tuple[Run, str]:
    wine = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    run = workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint)
    return run, recipe(run, "wine")


@pytest.mark.parametrize("kind", plans())
def test_a_run_comes_again_under_the_same_key_and_with_the_same_rows(workspace, kind):
    run = stored(workspace, kind)
    elsewhere = a_workspace()
    for fingerprint in load_plan(run.plan).stored_models():
        about, content = (
            workspace.stored_model(LOCAL_OWNER, fingerprint),
            workspace.model_bytes(LOCAL_OWNER, fingerprint),
        )
        elsewhere.keep_model(LOCAL_OWNER, content, name=about.name, training_plan=about.training_plan)
    again = recreate(elsewhere, LOCAL_OWNER, recipe(run, None), given=data())
    assert again.key == run.key
    again.store(elsewhere, LOCAL_OWNER)
    made = elsewhere.create_run(LOCAL_OWNER, again.plan, again.fingerprint)
    assert made.key == run.key
    assert made.plan == run.plan
    known = elsewhere.dataset(LOCAL_OWNER, again.fingerprint)
    context = Context(model=lambda name: elsewhere.model_bytes(LOCAL_OWNER, name))
    first = range(min(2, made.n_trials))
    mine = frames.from_bytes([frames.to_bytes(again.plan.run_trial(known, at, context=context)) for at in first])
    theirs = frames.from_bytes(rows(kind)[: len(first)])
    timed = [name for name in mine.columns if "second" in name]
    pd.testing.assert_frame_equal(mine.drop(columns=timed), theirs.drop(columns=timed))


@pytest.mark.parametrize("kind", ["average_case", "covariate_shift", "guided_tests"])
def test_a_model_that_is_not_here_is_the_reason(workspace, kind):
    run = stored(workspace, kind)
    assert recreate(workspace, LOCAL_OWNER, recipe(run, None)).key == run.key
    with pytest.raises(WorkspaceError, match="model"):
        recreate(a_workspace(), LOCAL_OWNER, recipe(run, None), given=data())


def test_an_example_is_read_where_it_is_not_stored_yet(workspace):
    run, text = wine_run(workspace)
    elsewhere = a_workspace()
    again = recreate(elsewhere, LOCAL_OWNER, text)
    assert again.key == run.key
    assert elsewhere.datasets(LOCAL_OWNER) == [], "something was stored before anybody asked for the run"
    assert example_to_read(elsewhere, LOCAL_OWNER, text) == "wine"
    again.store(elsewhere, LOCAL_OWNER)
    assert elsewhere.stored_dataset(LOCAL_OWNER, again.fingerprint).example == "wine"
    assert example_to_read(elsewhere, LOCAL_OWNER, text) is None


def test_data_that_are_not_here_are_asked_for(workspace):
    text = recipe(stored(workspace, "trials"), None)
    with pytest.raises(DataError, match=r"is not here\. Upload the same file .* --data"):
        recreate(a_workspace(), LOCAL_OWNER, text)


def test_data_that_differ_are_refused(workspace):
    _, text = wine_run(workspace)
    wine = load_example("wine")
    x = wine.x.copy()
    x[0, 0] += 1e-9
    other = Dataset("wine", "tabular", x, wine.y, wine.class_names, wine.ids)
    with pytest.raises(DataError, match="The data differ"):
        recreate(a_workspace(), LOCAL_OWNER, text, given=other)


def changed(text: str, **values) -> str:
    content = json.loads(text)
    for name, value in values.items():
        where, _, field = name.partition("__")
        if field:
            content[where][field] = value
        else:
            content[where] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"method": 99}, r"version 2 here and was 99 in the file"),
        ({"plan__wheels": 3}, r"has no field wheels; was it made by a newer version\?"),
        ({"plan__kind": "tea"}, "Unknown kind of plan 'tea'"),
        ({"plan__kind": None}, "Unknown kind of plan None"),
        ({"plan__seed": 5}, "The key in the file does not fit its plan and data"),
        ({"plan": []}, "not a file of parameters"),
        ({"plan": {"kind": "average_case"}}, "of kind 'average_case' needs the field model"),
        ({"plan__seed": {"a": 1}}, "of kind 'trials' makes no sense. seed: a plan holds"),
        ({"plan__test_share": float("nan")}, "of kind 'trials' makes no sense. test_share: a plan holds"),
        ({"plan__models": 5}, "models must be a list, not 5"),
        ({"plan__n_repeats": 10**9}, "n_repeats is at most 10,000, not 1,000,000,000"),
        ({"data__fingerprint": "\ud800"}, "not a file of parameters"),
        ({"data": {"name": "wine"}}, "do not say what data"),
        ({"data__example": ["wine"], "data__fingerprint": "00"}, "is not here"),
    ],
)
def test_the_reason_is_said(workspace, values, reason):
    _, text = wine_run(workspace)
    with pytest.raises(DataError, match=reason):
        recreate(a_workspace(), LOCAL_OWNER, changed(text, **values))


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", "null", "[" * 100_000])
def test_what_is_no_file_of_parameters_is_refused(workspace, text):
    with pytest.raises(DataError, match="not a file of parameters"):
        recreate(workspace, LOCAL_OWNER, text)


def test_without_a_key_the_file_says_what_to_compute(workspace):
    run, text = wine_run(workspace)
    content = json.loads(changed(text, plan__seed=5))
    del content["key"]
    again = recreate(a_workspace(), LOCAL_OWNER, json.dumps(content))
    assert again.key != run.key
    assert again.plan.seed == 5


def test_other_versions_are_a_note_and_no_other_key(workspace):
    run, text = wine_run(workspace)
    again = recreate(a_workspace(), LOCAL_OWNER, changed(text, versions={"numpy": "1.0"}))
    assert again.key == run.key
    assert re.search(r"numpy 1\.0, here \d", again.notes[0])


def test_the_command_line_recreates_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "home"))
    close_engine()
    run, text = wine_run(a_workspace())
    file = tmp_path / "file.json"
    file.write_text(text, "utf-8")
    assert main(["run", "--recreate", str(file)]) == 0
    said = capsys.readouterr()
    frame = pd.read_csv(io.StringIO(said.out), sep="\t", keep_default_na=False)
    wine = load_example("wine")
    wanted = frames.from_bytes(
        [frames.to_bytes(PLAN.run_trial(wine, at, context=Context())) for at in range(run.n_trials)]
    )
    assert frame["n_correct"].astype(int).tolist() == wanted["n_correct"].astype(int).tolist()
    assert [one.key for one in engine().workspace.runs(LOCAL_OWNER)] == [run.key]
    close_engine()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "--recreate"),
        (["run", "--recreate", "nowhere.json"], "cannot be read"),
        (["run", "--recreate", "nowhere.json", "{}"], "leave the other plan out"),
        (["run", "--recreate", "nowhere.json", "--vectors", "v.npz"], "to the data set of --data: name that, too"),
    ],
)
def test_the_command_line_says_what_is_missing(arguments, words, capsys):
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
