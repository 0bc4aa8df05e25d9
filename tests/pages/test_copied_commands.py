"""Does what a page gives to copy come to what the page shows? The commands of every question, run as they stand."""

import io
import json
import shlex
from dataclasses import replace

import pandas as pd
import pytest

from tests.pages.conftest import run_of_rows
from tests.pages.test_matched_subsets import settled
from tests.report.runs import TRAINING, data, model, plans
from touchstone.core.__main__ import main
from touchstone.core.models.model_file import model_fingerprint
from touchstone.core.questions import with_page
from touchstone.core.report.run_report import answer_of
from touchstone.core.trials import Context, Plan, to_json
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.engine.runner import engine, usual_steps
from touchstone.ui.shell import share

ASKED = {question.kind: stem for stem, question in with_page().items() if question.kind}
SMALL = {"covariate_shift": {"n_resplits": 19}, "guided_tests": {"frequency": 0.5}}
"""Of plans that follow from a stored model, as its page makes them."""
SPAM = {"reference": "preds", "target": "hindi_preds"}


def small(workspace: Workspace, kind: str) -> Plan:
    """A small plan of a kind that its page can show."""
    if kind not in SMALL:
        return plans()[kind]
    [step] = [step for step in usual_steps(workspace, LOCAL_OWNER, data().fingerprint) if step.stem == ASKED[kind]]
    return replace(step.make(), **SMALL[kind])


def stored(workspace: Workspace, kind: str) -> Run:
    """Its run, done here and now."""
    workspace.add_dataset(LOCAL_OWNER, data())
    workspace.keep_model(LOCAL_OWNER, model(), name="net", training_plan=to_json(TRAINING), n_test=18, n_correct=12)
    plan, context = small(workspace, kind), Context(model={model_fingerprint(model()): model()}.__getitem__)
    rows = [plan.run_trial(data(), trial, context=context) for trial in range(plan.n_trials(data()))]
    return run_of_rows(workspace, data(), plan, [frames.to_bytes(each) for each in rows], done=True)


@pytest.mark.parametrize("kind", ASKED)
def test_copied_commands_find_the_run_of_the_page_and_check_its_numbers(kind, open_page, workspace, capsys):
    run = stored(workspace, kind)
    page, parameters = share.parameters_of(run)
    assert page == ASKED[kind]
    app = open_page(page, folded=True, **parameters)
    commands = [code.value for code in app.code if code.value.startswith("python -m core run")]
    assert commands, "the page gives no command"
    words, rows = shlex.split(commands[0])[3:], workspace.rows(LOCAL_OWNER, run.id)
    assert main(words) == 0
    assert read(capsys.readouterr().out).equals(read(rows.to_csv(sep="\t", index=False)))

    [check] = [code.value for code in app.code if code.value.startswith("python -m core check")]
    assert main(shlex.split(check)[3:]) == 0
    checked = read(capsys.readouterr().out).set_index("number")["value"].to_dict()
    assert checked == {one.title: one.value for one in answer_of(rows, data(), small(engine().workspace, kind)).numbers}
    assert [each.id for each in engine().workspace.runs(LOCAL_OWNER) if each.kind == kind] == [run.id]


def read(printed: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(printed), sep="\t")


def test_the_command_of_the_sheet_finds_what_is_on_it(open_page, workspace, capsys):
    workspace.add_dataset(LOCAL_OWNER, data())
    plan = usual_steps(workspace, LOCAL_OWNER, data().fingerprint)[0].make()
    rows = [plan.run_trial(data(), trial, context=Context()) for trial in range(plan.n_trials(data()))]
    run = run_of_rows(workspace, data(), plan, [frames.to_bytes(each) for each in rows], done=True)
    app = open_page("overview", data=data().fingerprint)
    [command] = [code.value for code in app.code if code.value.startswith("python -m core check")]
    assert main([*shlex.split(command)[3:], "--budget", "0s"]) == 0
    checked = read(capsys.readouterr().out).set_index("number")["value"].to_dict()
    kept = engine().workspace.rows(LOCAL_OWNER, run.id)
    assert checked == {one.title: one.value for one in answer_of(kept, data(), plan).numbers}


@pytest.mark.evidence
def test_a_check_of_two_files_has_the_numbers_of_the_page_to_the_last_digit(
    open_page, shared_data, monkeypatch, tmp_path, capsys
):
    files = {side: shared_data / "predictions" / f"spam__{name}.tsv" for side, name in SPAM.items()}
    app = open_page("matched_subsets")
    for side, words in (("reference", "reference"), ("target", "new")):
        place = next(uploader for uploader in app.file_uploader if words in uploader.label)
        place.upload(files[side].name, files[side].read_bytes())
        app.run()
        app.button(key=f"use-{side}").click().run()
    offered = settled(app).session_state["take_away"].values()
    compared = next(each.tables["Comparison"]() for each in offered if "Comparison" in each.tables).iloc[0]
    app = open_page("overview", sheet="prediction files")
    offered = app.session_state["take_away"].values()
    accuracies = next(each.tables["Accuracies"]() for each in offered if "Accuracies" in each.tables)
    out = tmp_path / "out.json"
    assert main(["check", "--predictions", *map(str, files.values()), "--json", str(out)]) == 0
    numbers = {one["number"].split("[")[0].split(".")[1]: one for one in json.loads(out.read_text())["numbers"]}
    for name in ("gap", "matched_gap", "mix", "unmatched"):
        number = numbers[name]
        ends = (number["value"], number["lower"], number["upper"])
        assert ends == tuple(compared[[name, f"{name}_lower", f"{name}_upper"]])
    for name, title in (
        ("reference", "reference set"),
        ("target", "new test set"),
        ("matched", "new test set, matched"),
    ):
        [row] = [row for label, row in accuracies.set_index("accuracy").iterrows() if label.endswith(f": {title}")]
        names = ["value", "lower", "upper", "n"]
        assert row[names].tolist() == [numbers[name][what] for what in names]
