"""A sheet of requirements without a browser: the pages' own numbers, exit codes, JUnit, and a run that goes on."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import touchstone.core.command.asked
import touchstone.core.command.check
from touchstone.core.__main__ import main
from touchstone.core.command.line import parsed
from touchstone.core.command.requirements import NOT_OF_RUNS, Requirement, required
from touchstone.core.data import DataError, load_example
from touchstone.core.data.tables.vectors import write_vectors
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.claims import KINDS
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.models import MODELS
from touchstone.core.public.asking import RECIPES
from touchstone.core.report.parts import Quantity
from touchstone.core.report.stated import QUANTITIES
from touchstone.core.workspace import LOCAL_OWNER, load_plan
from touchstone.core.workspace.engine.runner import NO_TIME, Step, close_engine, engine, usual_steps

ROOT = Path(__file__).resolve().parents[1]
PLAN = {"kind": "trials", "models": ["nearest_neighbours"], "n_repeats": 2}


@pytest.fixture(autouse=True)
def own_engine() -> Iterator[None]:
    """What a test looks at after a command is not what the next one works in."""
    yield
    close_engine()


def sheet(folder: Path, **content) -> str:
    path = folder / "sheet.json"
    path.write_text(json.dumps(content))
    return str(path)


def predictions(path: Path, *, accuracy: float, seed: int, n: int = 600) -> str:
    rng = np.random.default_rng(seed)
    truth, right = rng.choice(["cat", "dog"], n), rng.random(n) < accuracy
    other = np.where(truth == "cat", "dog", "cat")
    table = pd.DataFrame({"id": np.arange(n), "y_true": truth, "y_pred": np.where(right, truth, other)})
    table.assign(confidence=np.clip(rng.normal(accuracy, 0.05, n), 0.5, 1)).to_csv(path, index=False)
    return str(path)


def worse_model(folder: Path) -> None:
    """An old model with .95, and a new one that is wrong on a third of the same samples."""
    old = pd.read_csv(predictions(folder / "old.csv", accuracy=0.95, seed=1))
    old.assign(y_pred=np.where(np.arange(len(old)) % 3 == 0, "cat", old["y_pred"])).to_csv(
        folder / "new.csv", index=False
    )


@pytest.fixture
def two(tmp_path) -> list[str]:
    """Files of predictions: .95 and .85."""
    return [
        predictions(tmp_path / "old.csv", accuracy=0.95, seed=1),
        predictions(tmp_path / "new.csv", accuracy=0.85, seed=2),
    ]


@pytest.mark.parametrize(
    ("require", "options", "status", "decision"),
    [
        ("matched_subsets.gap <= .3", [], 0, "holds"),
        ("matched_subsets.gap <= .02", [], 1, "fails"),
        ("matched_subsets.gap <= .1", [], 3, "undecided"),
        ("matched_subsets.gap <= .1", ["--undecided", "pass"], 0, "undecided"),
        ("matched_subsets.gap <= .1", ["--undecided", "fail"], 1, "undecided"),
    ],
)
def test_the_exit_status_says_whether_it_holds(two, tmp_path, capsys, require, options, status, decision):
    junit = tmp_path / "out.xml"
    command = ["check", "--predictions", *two, "--require", require, "--junit", str(junit), *options]
    assert main(command) == status
    said = capsys.readouterr()
    table = pd.read_csv(io.StringIO(said.out), sep="\t")
    assert table.loc[table["requirement"].notna(), "decision"].tolist() == [decision]
    assert f"{decision}: {Requirement.read(require).written}" in said.err
    suite = ElementTree.parse(junit).getroot()
    skipped = decision == "undecided" and "pass" in options
    failed = decision != "holds" and not skipped
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (
        "1",
        str(int(failed)),
        str(int(skipped)),
    )
    assert len(suite.findall("testcase/failure")) == failed
    assert len(suite.findall("testcase/skipped")) == skipped


@pytest.mark.evidence
def test_the_numbers_are_those_of_the_page_to_the_last_digit(tmp_path, capsys, shared_data):
    files = [str(shared_data / "predictions" / f"spam__{name}.tsv") for name in ("preds", "hindi_preds")]
    assert main(["compare", "--reference", files[0], "--target", files[1]]) == 0
    page = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t").iloc[0]
    out, report = tmp_path / "out.json", tmp_path / "out.html"
    required = ["--require", "matched_subsets.gap <= .05", "--json", str(out), "--report", str(report)]
    status = main(["check", "--predictions", *files, *required])
    assert status == 1
    numbers = {one["number"].split("[")[0]: one for one in json.loads(out.read_text())["numbers"]}
    for name in ("gap", "matched_gap", "mix", "unmatched"):
        found = numbers[f"matched_subsets.{name}"]
        assert (found["value"], found["lower"], found["upper"]) == tuple(page[[name, f"{name}_lower", f"{name}_upper"]])
    html = report.read_text()
    assert "Can this accuracy be trusted?" in html
    assert "matched_subsets.gap" in html


def test_a_sheet_of_plans_is_worked_off_and_its_numbers_are_those_of_the_run(tmp_path, capsys):
    asked = sheet(tmp_path, plans=[PLAN], require=["source_robustness.rho >= .1", "source_robustness.rho[svm] >= .1"])
    assert main(["check", asked, "--data", "wine"]) == 2
    assert (
        "nothing of this name was found. There is source_robustness.rho[nearest_neighbours" in capsys.readouterr().err
    )
    asked = sheet(tmp_path, plans=[PLAN], require=["source_robustness.inclusive >= .1"])
    assert main(["check", asked, "--data", "wine"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t").set_index("number")
    workspace = engine().workspace
    run = workspace.find_run(LOCAL_OWNER, load_plan(json.dumps(PLAN)), load_example("wine").fingerprint)
    assert run is not None
    [row] = expected_accuracy_intervals(workspace.rows(LOCAL_OWNER, run.id)).overall
    found = table.loc["source_robustness.inclusive[nearest_neighbours, kmeans]"]
    assert (found["value"], found["lower"]) == (row.inclusive.value, row.inclusive.over_sources.lower)


def test_a_sheet_may_be_the_word_itself(capsys):
    word = json.dumps({"plans": [PLAN], "require": ["source_robustness.inclusive >= .1"]})
    assert main(["check", word, "--data", "wine"]) == 0
    assert "holds: source_robustness.inclusive >= 0.1" in capsys.readouterr().err
    assert main(["check", '{"plans": 1}', "--data", "wine"]) == 2
    assert "The sheet: 'plans' and 'require' are lists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        (
            {"kind": "folds", "models": ["nearest_neighbours"], "schemes": ["random_folds"], "n_folds": 3},
            "cluster_folds.score",
        ),
        (PLAN, "source_robustness.fall"),
    ],
)
def test_every_number_that_can_be_bounded_is_explained(tmp_path, capsys, plan, name):
    assert main(["check", sheet(tmp_path, plans=[plan]), "--data", "wine"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    names = set(table["number"].str.split("[").str[0])
    assert name in names <= set(QUANTITIES)
    assert main(["check", "--explain"]) == 0
    assert capsys.readouterr().out.count("\n") == len(QUANTITIES) + len(METRICS) + len(KINDS) - len(NOT_OF_RUNS)


@pytest.mark.parametrize(
    ("require", "options", "status", "decision"),
    [
        ("not M01", [], 1, "fails"),
        ("M01", [], 0, "holds"),
        ("not M03[the model]", [], 3, "undecided"),
        ("not M01", ["--mute", "M01=agreed until May"], 0, "muted"),
        ("not M01", ["--mute", "M03=not looked at"], 1, "fails"),
    ],
)
def test_a_claim_is_required_or_muted_by_its_code(two, tmp_path, capsys, require, options, status, decision):
    out, html, junit = (tmp_path / f"out.{name}" for name in ("json", "html", "xml"))
    files = ["--json", str(out), "--report", str(html), "--junit", str(junit)]
    assert main(["check", "--predictions", *two, "--require", require, *files, *options]) == status
    printed = capsys.readouterr()
    assert f"{decision}: {require} (M0" in printed.err
    muted = "M01=agreed until May" in options
    assert ("Accuracy falls by" in printed.err) != muted
    assert ("Muted: M01 Accuracy falls (agreed until May)." in printed.err) == muted
    assert len(ElementTree.parse(junit).getroot().findall("testcase/skipped")) == muted
    first = json.loads(out.read_text())["claims"][0]
    assert (first["code"], first["kind"], first["decision"]) == ("M01", "matched_subsets.falls", "above")
    assert first["lower"] < first["estimate"] < first["upper"]
    assert first["muted"] == "agreed until May" * muted
    assert first["page"] in html.read_text()
    assert ("agreed until May" in html.read_text()) == muted


def test_claims_of_runs_are_required_too_and_a_sheet_mutes(monkeypatch, tmp_path, capsys):
    content = {"plans": [PLAN], "require": ["not S01", "S03"], "mute": {"S01": "known", "S03": "no clouds"}}
    assert main(["check", sheet(tmp_path, **content), "--data", "wine"]) == 0
    printed = capsys.readouterr().err
    assert "Muted: S01 Accuracy falls on held-out sources (known)." in printed
    assert "muted: S03 (S03 is not computed yet)" in printed, "these plans do not look at clouds"
    steps(monkeypatch, quick())
    assert main(["check", "--data", "wine", "--budget", "0s", "--require", "A01"]) == 2
    assert "A01: no such claim was looked at." in capsys.readouterr().err


def test_an_unknown_interval_decides_nothing():
    of = Quantity("source_robustness.rho", (), float("nan"), UNKNOWN, 0)
    assert Requirement.read("source_robustness.rho >= 0").decide(of) == "undecided"


@pytest.mark.parametrize(
    ("sign", "ends"), [(">=", ["fails", "undecided", "holds"]), ("<=", ["holds", "undecided", "fails"])]
)
def test_a_bound_itself_is_on_the_right_side(sign, ends):
    required = Requirement.read(f"source_robustness.rho {sign} 0.5")
    intervals = (Interval(0.1, 0.4), Interval(0.3, 0.7), Interval(0.6, 0.9))
    decided = [required.decide(Quantity("source_robustness.rho", (), 0.5, interval, 9)) for interval in intervals]
    assert decided == ends
    assert required.decide(Quantity("source_robustness.rho", (), 0.5, Interval(0.5, 0.5), 9)) == "holds"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "sheet.json, line 1: this is no JSON"),
        ("[]", "a sheet is an object with 'plans', 'compare', 'require'"),
        ('{"question": 1}', "and nothing else"),
        ('{"plans": {}}', "'plans' and 'require' are lists"),
        ('{"require": ["rho > 1"]}', "'rho > 1' is no requirement"),
        ('{"require": ["source_robustness.rho >= 1.2.3"]}', "'1.2.3' is no number"),
        ('{"plans": [{"kind": "oracle"}]}', "oracle"),
        ('{"require": ["not M99"]}', "M99 is no code of a claim"),
        ('{"mute": ["M01"]}', "'mute' is an object of reasons by code"),
        ("{}", "Nothing is asked: name data with --data, or two files with --predictions"),
        ('{"plans": [{"kind": "trials"}]}', "say of which data with --data"),
    ],
)
def test_bad_input_is_said_in_a_line(tmp_path, capsys, content, words):
    (tmp_path / "sheet.json").write_text(content)
    assert main(["check", str(tmp_path / "sheet.json")]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def steps(monkeypatch, *of: Step) -> None:
    """What data are asked without a sheet, in the place of questions that take minutes."""
    monkeypatch.setattr(touchstone.core.command.asked, "usual_steps", lambda *_, **__: of)


def quick(stem: str = "source_robustness") -> Step:
    return Step(stem, lambda: load_plan(json.dumps(PLAN)))


@pytest.mark.parametrize(
    ("options", "stems"),
    [
        ([], None),
        (["--require", "source_robustness.rho >= .9"], {"source_robustness", "parametric_null"}),
        (["--require", "not S01", "--require", "cluster_folds.score >= .5"], {*RECIPES} - {"data_set_adequacy"}),
        (["--require", "average_case.p_robust >= .5"], {"training", "average_case"}),
        (["--require", "average_case.p_robust >= .5", "--all"], None),
    ],
)
def test_data_are_asked_what_is_required_of_them(options, stems):
    """With what that rests on, and with one seed."""
    chosen = parsed(["check", "--data", "wine", "--seed", "7", *options])
    data = load_example("wine")
    workspace = engine().workspace
    workspace.add_dataset(LOCAL_OWNER, data, example="wine")
    sheet = touchstone.core.command.check.read_sheet(chosen)
    steps = touchstone.core.command.asked._steps(sheet, workspace, data.fingerprint, None)
    every = {step.stem for step in usual_steps(workspace, LOCAL_OWNER, data.fingerprint)}
    asked = {step.stem for step in steps}
    assert asked - {"parametric_null"} == (every if stems is None else stems) - {"parametric_null"}
    recipes = [step.make() for step in steps if step.stem in RECIPES]
    assert recipes or stems == {"training", "average_case"}
    assert all(7 in (getattr(plan, "seed", None), *getattr(plan, "seeds", ())) for plan in recipes)


def test_quiet_says_nothing_unless_something_is_wrong(two, capsys):
    files = ["--predictions", *map(str, two)]
    assert main(["check", *files, "--require", "matched_subsets.gap <= 1", "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "matched_subsets.gap" in said.out
    assert main(["check", *files, "--require", "matched_subsets.gap <= -1", "--quiet"]) == 1
    assert "fails: matched_subsets.gap" in capsys.readouterr().err
    assert main(["check", "--predictions", "no.csv", "no.csv", "--quiet"]) == 2
    assert "no.csv" in capsys.readouterr().err


def test_without_a_sheet_data_are_asked_what_the_page_asks_and_what_no_time_is_left_for_is_undecided(tmp_path, capsys):
    junit, out = tmp_path / "out.xml", tmp_path / "out.json"
    require = ["--require", "average_case.p_robust >= .5", "--require", "source_robustness.rho >= 2"]
    written = ["--junit", str(junit), "--json", str(out), "--report", str(tmp_path / "out.html")]
    assert main(["check", "--data", "wine", "--all", "--budget", "1s", *require, *written]) == 3
    said = capsys.readouterr().err
    workspace, wine = engine().workspace, load_example("wine").fingerprint
    asked = {step.stem: step for step in usual_steps(workspace, LOCAL_OWNER, wine)}
    assert [run.plan for run in workspace.runs(LOCAL_OWNER)] == [
        workspace.find_run(LOCAL_OWNER, asked["source_robustness"].make(), wine).plan
    ]
    for name in ("Cluster folds", "Average case", "Test quality", "Guided tests", "Data-set adequacy"):
        assert f"{name}: {NO_TIME} The same command goes on." in said
    assert "undecided: average_case.p_robust >= 0.5 (average_case.p_robust is not computed yet)" in said
    failures = ElementTree.parse(junit).getroot().findall("testcase/failure")
    assert [failure.get("type") for failure in failures] == ["undecided"] * len(failures)
    [number] = [one for one in json.loads(out.read_text())["numbers"] if one["number"] == "average_case.p_robust"]
    assert (number["value"], number["n"]) == (None, 0)


def test_what_cannot_be_asked_is_said_and_a_requirement_of_it_is_bad_input(monkeypatch, capsys):
    def refuse():
        raise DataError("This needs images.")

    steps(monkeypatch, quick(), Step("training", lambda: None), Step("average_case", refuse))
    assert main(["check", "--data", "wine", "--require", "source_robustness.inclusive >= .1"]) == 0
    said = capsys.readouterr().err
    assert "Average case: This needs images." in said
    assert "Source robustness: Nearest neighbours" in said
    assert "holds: source_robustness.inclusive" in said
    assert main(["check", "--data", "wine", "--require", "average_case.p_robust >= .1"]) == 2
    assert "nothing of this name was found" in (said := capsys.readouterr().err)
    assert "Average case: This needs images." in said


def test_a_class_of_one_sample_is_set_aside_where_sources_cannot_be_found_in_it(monkeypatch, tmp_path, capsys):
    rng = np.random.default_rng(0)
    for n_rare, status in ((1, 0), (2, 2)):  # two might do for fewer sources: that is for somebody to say
        label = ["often"] * 60 + ["seldom"] * 60 + ["rare"] * n_rare
        table = pd.DataFrame({"size": rng.normal(size=len(label)), "mass": rng.normal(size=len(label)), "label": label})
        table.to_csv(file := tmp_path / f"{n_rare}.csv", index=False)
        steps(monkeypatch, quick())
        require = ["--require", "source_robustness.inclusive >= .01"]
        assert main(["check", "--data", str(file), *require]) == status
        text = capsys.readouterr().err
        assert ("Left out: 1 sample of rare." in text) == (n_rare == 1)
        assert ("sources cannot be found in rare (2 rows)" in text) == (n_rare == 2)


def test_data_and_predictions_are_asked_both(monkeypatch, two, capsys):
    steps(monkeypatch, quick())
    assert main(["check", "--data", "wine", "--predictions", *two]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    assert {name.partition(".")[0] for name in table["number"]} == {"matched_subsets", "source_robustness"}


def test_an_example_with_other_vectors_is_not_stored_as_the_example(tmp_path):
    wine, vectors = load_example("wine"), tmp_path / "vectors.parquet"
    vectors.write_bytes(write_vectors(list(wine.ids), np.eye(178, 4, dtype=np.float32)))
    assert main(["check", sheet(tmp_path, plans=[PLAN]), "--data", "wine", "--vectors", str(vectors)]) == 0
    [stored] = engine().workspace.datasets(LOCAL_OWNER)
    assert stored.fingerprint != wine.fingerprint
    assert stored.example is None


def test_when_the_time_is_up_what_is_done_still_counts(tmp_path, capsys):
    plans = [PLAN, {**PLAN, "seed": 7}]
    assert main(["check", sheet(tmp_path, plans=plans), "--data", "wine"]) == 0
    everything = capsys.readouterr().out
    assert main(["check", sheet(tmp_path, plans=plans), "--data", "wine", "--budget", "0s"]) == 0
    assert capsys.readouterr().out == everything


@pytest.fixture
def weights(tmp_path) -> Path:
    """A network of the wine data, as somebody brings it."""
    wine, file = load_example("wine"), tmp_path / "mine.safetensors"
    network = MODELS["linear"](n_epochs=20).fit(wine.x, wine.y, seed=0, n_classes=3)
    file.write_bytes(network.trained(wine).to_bytes())
    return file


def test_a_model_that_is_brought_is_the_one_that_is_asked_about(monkeypatch, weights, capsys):
    settled = {}

    def asked(workspace, owner, fingerprint, *, model, only):
        settled.update(model=model, steps=usual_steps(workspace, owner, fingerprint, model=model, only=only))
        small = {"sigmas": (0.5,), "shape": "per_feature", "rows": "all", "n_samples": 40, "n_audit": 0}
        return (Step("average_case", lambda: AverageCasePlan(model, **small)),)

    monkeypatch.setattr(touchstone.core.command.asked, "usual_steps", asked)
    require = ["--require", "average_case.p_robust[0.5] >= .2"]
    assert main(["check", "--data", "wine", "--model", str(weights), *require]) == 0
    said = capsys.readouterr().err
    assert "mine.safetensors: accuracy " in said
    assert "holds: average_case.p_robust[0.5] >= 0.2" in said
    steps = {step.stem: step for step in settled["steps"]}
    assert steps["training"].make() is None
    assert steps["average_case"].make().model == settled["model"]
    assert main(["check", "--data", "wine", "--model", settled["model"], *require]) == 0, "by its fingerprint, too"
    assert main(["check", "--data", "digits", "--model", settled["model"]]) == 2
    assert "is a model of other data than" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--model", "mine.onnx"], "mine.onnx is a model: say of which data with --data"),
        (["--data", "wine", "--model", "no-such.onnx"], "no-such.onnx: cannot be read"),
        (["--data", "wine", "--model", "{pickle}"], "is a pickle"),
    ],
)
def test_a_model_that_cannot_be_used_is_said_in_a_line(tmp_path, capsys, options, words):
    (tmp_path / "mine.pt").write_bytes(b"\x80\x02}q\x00.")
    assert main(["check", *(one.format(pickle=tmp_path / "mine.pt") for one in options)]) == 2
    assert words in (said := capsys.readouterr().err)
    assert "Traceback" not in said


def test_the_unit_of_predictions_is_named_by_an_option(two, tmp_path, capsys):
    for file in two:
        frame = pd.read_csv(file)
        frame.assign(room=frame.index // 30).to_csv(file, index=False)
    assert main(["check", "--predictions", *two, "--unit", "room", "--json", str(tmp_path / "out.json")]) == 0
    assert "600 samples from 20 rooms in the reference set" in capsys.readouterr().err


def test_options_of_compare_that_a_sheet_gets_wrong_are_named(two, tmp_path, capsys):
    for compare, words in (({"epsilom": 1}, "no option 'epsilom'"), ({"by": "size"}, "invalid choice")):
        assert main(["check", sheet(tmp_path, compare=compare), "--predictions", *two]) == 2
        assert words in capsys.readouterr().err
    assert main(["check", sheet(tmp_path, compare={"epsilon": 0.01, "repeats": 2}), "--predictions", *two]) == 0


def test_a_budget_that_is_spent_decides_nothing_and_the_same_command_goes_on(tmp_path, capsys):
    plan = {"kind": "trials", "models": ["gradient_boosting"], "n_repeats": 6, "seed": 3}
    asked = sheet(tmp_path, plans=[plan], require=["source_robustness.inclusive >= .1"])
    spent = main(["check", asked, "--data", "wine", "--budget", "1s"])
    first = capsys.readouterr()
    assert spent == 3
    assert "The same command goes on" in first.err
    assert main(["check", asked, "--data", "wine"]) == 0
    assert "done: 24 of 24 trials" in capsys.readouterr().err


def test_the_step_that_the_docs_give_a_ci_system_runs(tmp_path):
    [step] = re.findall(r"- run: (touchstone .*)", (ROOT / "docs" / "checks.md").read_text())
    worse_model(tmp_path)
    tool = [
        sys.executable,
        "-c",
        "from touchstone.ui.shell.tool import main; main()",
    ]  # what the installed program does
    done = subprocess.run(
        [*tool, *shlex.split(step)[1:]],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    assert ElementTree.parse(tmp_path / "accuracy.xml").getroot().get("failures") == "1"
    assert "| fails |" in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    "command", re.findall(r"^touchstone (.*)$", (ROOT / "docs" / "checks.md").read_text(), re.MULTILINE)
)
def test_the_commands_of_the_docs_are_commands(command):
    chosen = parsed(shlex.split(command))
    assert chosen.command in ("check", "compare")
    assert all(required(each) for each in chosen.require)


def test_killed_and_started_again_it_goes_on(tmp_path):
    plan = {"kind": "trials", "models": ["gradient_boosting"], "n_repeats": 10, "seed": 4}
    asked = sheet(tmp_path, plans=[plan], require=["source_robustness.inclusive >= .1"])
    command = [sys.executable, "-m", "core", "check", asked, "--data", "wine"]
    killed = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    workspace, wanted = engine().workspace, load_plan(json.dumps(plan))
    until = time.monotonic() + 480  # it waits for a state, on a machine that does other work, too
    while time.monotonic() < until:
        run = workspace.find_run(LOCAL_OWNER, wanted, load_example("wine").fingerprint)
        if run is not None and run.n_done >= 2:
            break
        time.sleep(0.1)
    assert run is not None
    killed.kill()
    killed.communicate()
    before = workspace.run(LOCAL_OWNER, run.id).n_done
    assert 2 <= before < 40
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert again.returncode == 0, again.stderr
    assert workspace.run(LOCAL_OWNER, run.id).n_done == 40


def files_of_frauds(tmp_path) -> list[str]:
    """Two files of 800 legit samples, 97 % of them right, and of 200 frauds, of which 90 % and then 45 % are found."""
    y, files = np.repeat([0, 1], [800, 200]), []
    names = np.array(["legit", "fraud"])
    for name, n_found in (("old", 180), ("new", 90)):
        right = np.repeat([True, False, True, False], [776, 24, n_found, 200 - n_found])
        files.append(str(tmp_path / f"{name}.csv"))
        columns = {"id": np.arange(1000), "truth": names[y], "predicted": names[np.where(right, y, 1 - y)]}
        pd.DataFrame(columns).to_csv(files[-1], index=False)
    return files


@pytest.mark.parametrize(
    ("require", "status", "decision"),
    [
        ("recall.upper <= .6", 0, "holds"),
        ("recall >= .6", 1, "fails"),
        ("balanced_accuracy.lower >= .7", 1, "fails"),
        ("balanced_accuracy >= .7", 3, "undecided"),
        ("specificity.lower >= .9", 0, "holds"),
        ("matched_subsets.gap.lower[recall] >= .3", 0, "holds"),
    ],
)
def test_a_metric_is_required_by_its_name_or_one_end_of_it(tmp_path, capsys, require, status, decision):
    options = ["--metric", "recall", "--require", require]
    assert main(["check", "--predictions", *files_of_frauds(tmp_path), *options]) == status
    out, says = capsys.readouterr()
    assert f"\t{decision}" in out
    assert "Sensitivity for “fraud” falls by 45.0 points" in says


def test_the_axis_of_the_report_is_of_the_metric(tmp_path, capsys):
    report = tmp_path / "out.html"
    options = ["--metric", "recall", "--report", str(report), "--require", "recall >= 0"]
    assert main(["check", "--predictions", *files_of_frauds(tmp_path), *options]) == 0
    assert "Sensitivity you can plan for." in report.read_text()


def test_the_other_class_can_be_named(tmp_path, capsys):
    options = ["--metric", "recall", "--positive-class", "legit", "--require", "recall.lower >= .9"]
    assert main(["check", "--predictions", *files_of_frauds(tmp_path), *options]) == 0
    assert "holds" in capsys.readouterr().out


def test_a_metric_of_folds_and_of_held_out_sources_is_required_by_its_name(tmp_path, capsys):
    folds = {"kind": "folds", "schemes": ["random_folds"], "models": ["logistic"], "seeds": [0, 1]}
    plans = sheet(tmp_path, plans=[folds, PLAN])
    options = ["--data", "wine", "--metric", "f1_weighted", "--require", "balanced_accuracy[random_folds] >= .5"]
    assert main(["check", plans, *options, "--require", "f1_weighted[random_folds] >= .8"]) == 0
    out, says = capsys.readouterr()
    assert "cluster_folds.metric[random_folds, logistic, balanced_accuracy]" in out
    assert "source_robustness.metric[" in out
    assert "weighted F1" in says


def test_a_metric_that_lacked_time_is_undecided_and_a_model_may_be_called_as_a_set_or_a_metric(tmp_path, capsys):
    plans = sheet(tmp_path, plans=[PLAN | {"n_repeats": 500}])
    options = ["--data", "digits", "--budget", "0s", "--require", "balanced_accuracy >= .5"]
    assert main(["check", plans, *options]) == 3
    assert "undecided" in capsys.readouterr().out
    numbers = [
        Quantity("matched_subsets.metric", (model, metric, side), 0.9, UNKNOWN, 10)
        for model in ("reference", "recall")
        for metric in ("recall", "accuracy")
        for side in ("reference", "target")
    ]
    meant = Requirement.read("recall >= .5").meant(numbers)
    assert [each.of for each in meant] == [("reference", "recall", "target"), ("recall", "recall", "target")]


def test_a_class_that_the_data_have_not_is_an_error_and_not_another_metric(tmp_path, capsys):
    options = ["--data", "wine", "--metric", "f1", "--positive-class", "nobody"]
    assert main(["check", sheet(tmp_path, plans=[PLAN]), *options]) == 2
    assert "There is no class 'nobody'. Choose from class_0, class_1, class_2." in capsys.readouterr().err


@pytest.fixture
def models(tmp_path) -> list[str]:
    """Two models on the same 600 samples: .9, and .93 with the same answers elsewhere."""
    old = pd.read_csv(predictions(tmp_path / "old.csv", accuracy=0.9, seed=1))
    wrong = np.flatnonzero(old["y_true"] != old["y_pred"])[:18]
    new = old.copy()
    new.loc[wrong, "y_pred"] = new.loc[wrong, "y_true"]
    new.to_csv(tmp_path / "new.csv", index=False)
    return [str(tmp_path / name) for name in ("old.csv", "new.csv")]


def test_a_summary_is_short_and_says_what_was_decided(models, tmp_path, capsys):
    summary = tmp_path / "summary.md"
    words = ["compare", *models, "--margin", ".01", "--require", "difference.lower > -.01", "--summary", str(summary)]
    assert main(words) == 0
    lines = summary.read_text().splitlines()
    assert len(lines) < 60
    assert "new is better than old: accuracy" in summary.read_text()
    assert "| holds | model\\_comparison.difference.lower >= -0.01 |" in summary.read_text()
    assert main(["compare", *models, "--summary", str(summary)]) == 0
    assert "model\\_comparison.difference[new, accuracy]" in summary.read_text()
    assert len(summary.read_text().splitlines()) < 60
    capsys.readouterr()


def test_samples_are_planned_by_guesses_or_a_pilot(models, capsys):
    assert main(["plan", "--difference", ".02", "--discordant", ".05"]) == 0
    guessed = capsys.readouterr()
    assert guessed.out.splitlines()[0] == "goal\tby\tn_samples\tn_units\tn_of_class"
    assert guessed.out.splitlines()[1] == "difference\t0.02\t979\t\t"
    assert "About 979 samples show a difference of 2.0 points" in guessed.err.replace("\u202f", " ")
    assert main(["plan", *models]) == 0
    assert "3.0 % of samples on which exactly one model is right, accuracy 9" in capsys.readouterr().err
    assert main(["plan", models[0]]) == 2
    assert "A pilot is two files" in capsys.readouterr().err
    assert main(["plan", "--difference", ".2"]) == 2
    assert "cannot differ by 20.0 points" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["plan", "--difference", "-1"])


def test_a_test_of_somebody_fails_where_a_model_may_be_worse(models, tmp_path):
    """As a person runs it: pytest finds the fixture by the entry point, here named by an option."""
    (tmp_path / "test_mine.py").write_text(
        "def test_new(assert_not_worse):\n    assert_not_worse('new.csv', 'old.csv', margin=.01)\n\n"
        "def test_old(assert_not_worse):\n    assert_not_worse('old.csv', 'new.csv', margin=.01)\n"
    )
    words = ["-m", "pytest", "-q", "-p", "touchstone.core.pytest_plugin", "-p", "no:cacheprovider", "test_mine.py"]
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # by its entry point it may be there already
    known = os.environ | {"PYTHONPATH": str(ROOT)} | alone
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=known, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "old.csv is not shown to be no worse than the reference by a margin of 1.0 points." in done.stdout


def test_columns_of_predictions_are_said_by_options_and_others_are_refused(two, tmp_path, capsys):
    """What a question names as its remedy is taken; columns of data are none of predictions, nor the other way."""
    for file in two:
        frame = pd.read_csv(file)
        frame.rename(columns={"y_true": "what_it_is", "y_pred": "what_it_says"}).to_csv(file, index=False)
    said = ["--truth", "what_it_is", "--predicted", "what_it_says"]
    assert main(["check", "--predictions", *two, *said, "--json", str(tmp_path / "out.json")]) == 0
    assert json.loads((tmp_path / "out.json").read_text())
    for words, message in (
        (["--predictions", *two, "--label", "what_it_is"], "say --truth of predictions"),
        (["--data", "wine", "--truth", "what_it_is"], "name them with --predictions"),
    ):
        assert main(["check", *words]) == 2
        assert message in capsys.readouterr().err
