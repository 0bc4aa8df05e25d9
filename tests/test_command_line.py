"""The command line does what the pages do, finds what they computed, and says what is wrong."""

import io
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tests.data.sets.images import PATHS, beside, csv, named
from tests.data.shared_files import recordings, zip_of
from tests.workspace.conftest import wait_until
from touchstone import compare
from touchstone.core import __version__
from touchstone.core.__main__ import main
from touchstone.core.command import COMMANDS
from touchstone.core.command import runs as of_runs
from touchstone.core.command.given_files import compare_files, given_dataset
from touchstone.core.command.line import parsed
from touchstone.core.command.runs import _say
from touchstone.core.data import DataError, load_example
from touchstone.core.data.home import home
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.data.tables.roles import FileReading
from touchstone.core.trials import Context
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames, load_plan
from touchstone.core.workspace import runs as stored_runs
from touchstone.core.workspace.engine.runner import close_engine
from touchstone.core.workspace.records import Steps
from touchstone.core.workspace.schema import RunRow

ROOT = Path(__file__).resolve().parents[1]
PLAN = '{"kind":"trials","models":["nearest_neighbours"],"n_repeats":2}'


def test_a_run_prints_its_rows_and_is_found_again():
    command = [sys.executable, "-m", "core", "run", "--data", "wine", PLAN]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    rows = pd.read_csv(io.StringIO(first.stdout), sep="\t")
    assert rows["label"].isna().sum() == 8
    assert "done: 8 of 8 trials, 0 failed" in first.stderr
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert again.stdout == first.stdout, "a finished run was computed again"
    assert "\r" not in first.stderr, "a log is no terminal"
    lines = first.stderr.splitlines()
    assert all(before != after for before, after in pairwise(lines)), "a line says what is new"


def test_in_a_log_there_is_a_line_for_each_tenth_and_for_what_a_run_waits_for(monkeypatch, capsys):
    states = [
        (0, ""),
        (0, ""),
        (3, ""),
        (3, "No worker is connected"),
        (3, "No worker is connected"),
        (30, ""),
        (40, ""),
    ]
    runs_ = [
        Run(
            *(
                "id",
                "key",
                "trials",
                "{}",
                "f",
                "wine",
                "running" if n < 40 else "done",
                40,
                n,
                0,
                0.0,
                None,
                None,
                None,
            ),
            *(False, {}, ()),
            waits_for=Steps(0, 0, what) if what else None,
        )
        for n, what in states
    ]
    workspace = SimpleNamespace(create_run=lambda *_: runs_[0], run=lambda *_: runs_.pop(0))
    monkeypatch.setattr(of_runs, "engine", lambda: SimpleNamespace(workspace=workspace, start=lambda *_: True))
    monkeypatch.setattr(of_runs, "SECONDS_BETWEEN_LOOKS", 0.0)
    of_runs._finished(load_plan(PLAN), "f")
    said = [each.strip() for each in capsys.readouterr().err.splitlines()]
    assert said == [
        "running: 0 of 40 trials, 0 failed",
        "No worker is connected; running: 3 of 40 trials, 0 failed",
        "running: 30 of 40 trials, 0 failed",
        "done: 40 of 40 trials, 0 failed",
    ]


@pytest.mark.parametrize("tool", ["-m core", "-m touchstone"])
@pytest.mark.parametrize(("option", "words"), [("--help", "compare  "), ("--version", __version__)])
def test_help_and_the_version_import_nothing_that_takes_time(tool, option, words):
    """They take less than a tenth of a second; a command takes two."""
    command = [sys.executable, "-X", "importtime", *tool.split(), option]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert words in ended.stdout
    imported = {line.rsplit("|")[-1].strip().split(".")[0] for line in ended.stderr.splitlines()}
    assert "argparse" in imported
    assert not imported & {
        "numpy",
        "pandas",
        "scipy",
        "sklearn",
        "streamlit",
        "torch",
        "sqlalchemy",
        "pyarrow",
        "plotly",
    }


def test_every_command_is_named_by_help_and_has_its_options(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    listed = capsys.readouterr().out
    for name, what in COMMANDS.items():
        assert f"    {name} " in listed
        with pytest.raises(SystemExit, match="0"):
            main([name, "--help"])
        assert "usage:" in capsys.readouterr().out
        assert what.split()[0] in listed


@pytest.mark.parametrize("port", ["99999", "0", "-1", "http"])
def test_a_port_that_there_is_not_is_said(port):
    command = [sys.executable, "-m", "touchstone", f"--port={port}"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert f"{port} is no port: give a number from 1 to 65535" in ended.stderr


def test_what_a_run_waits_for_is_said_first(capsys):
    waiting = Run(
        *("id", "key", "trials", "{}", "f", "wine", "running", 6, 0, 0, 0.0, None, None, None, False, {}, ()),
        waits_for=Steps(3, 30, "Finding sources by deep k-means: epoch"),
    )
    _say(waiting, end="\n")
    said = capsys.readouterr().err.strip()
    assert said == "Finding sources by deep k-means: epoch 3 of 30; running: 0 of 6 trials, 0 failed"


@pytest.mark.parametrize(
    ("data", "plan", "words"),
    [
        ("wine", "no plan", "This is no plan"),
        ("wine", '{"kind":"trials","models":["oracle"]}', "cannot be chosen"),
        ("wine", '{"kind":"trials","source_finders":["known"]}', "does not name the source"),
        ("no-such-file.tsv", PLAN, "no-such-file.tsv"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(data, plan, words, capsys):
    assert main(["run", "--data", data, plan]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


@pytest.fixture
def voices(tmp_path) -> Path:
    path = tmp_path / "voices.tsv"
    path.write_bytes(recordings(n_columns=6))
    return path


def test_one_command_leads_from_recordings_to_a_verdict_about_new_subjects(voices):
    plan = '{"kind":"trials","models":["nearest_neighbours"],"source_finders":["known"],"n_repeats":4}'
    roles = ["--label", "status", "--source", "subject", "--id", "name"]
    command = [sys.executable, "-m", "core", "run", "--data", str(voices), *roles, plan]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert "Sources: column 'subject'" in done.stderr
    assert "on held-out sources" in done.stderr
    assert "n = 186 samples, " in done.stderr
    assert " of them in training, 31 sources" in done.stderr
    assert set(pd.read_csv(io.StringIO(done.stdout), sep="\t")["source_finder"]) == {"known"}


@pytest.fixture
def split_voices(tmp_path) -> Path:
    """Recordings whose file says itself which subjects are for training, for validation and for testing."""
    head, *lines = recordings(n_columns=6).decode().splitlines()
    parts = ["train", "test", "train", "dev"]
    path = tmp_path / "split.tsv"
    marks = [parts[int(line.split("\t")[1][1:]) % 4] for line in lines]
    path.write_text(
        "\n".join([f"{head}\tsplit", *(f"{line}\t{mark}" for line, mark in zip(lines, marks, strict=True))])
    )
    return path


def test_a_network_can_be_trained_against_the_test_set_of_the_file(split_voices, capsys):
    roles = ["--label", "status", "--source", "subject", "--id", "name"]
    plan = '{"kind":"training","model":"linear","n_epochs":1,"test_set":"file"}'
    command = [sys.executable, "-m", "core", "run", "--data", str(split_voices), *roles, plan]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert "Parts that the file itself marks: 96 of train, 42 of validation, 48 of test." in done.stderr
    whole = pd.read_csv(io.StringIO(done.stdout), sep="\t").iloc[-1]
    assert (whole["n_train"], whole["n_test"]) == (96, 48)
    assert main(["run", "--data", "wine", plan]) == 2
    assert "does not mark which samples are for training and which for testing" in capsys.readouterr().err


def test_a_question_says_how_to_answer_it(voices, capsys):
    assert main(["run", "--data", str(voices), PLAN]) == 2
    said = capsys.readouterr().err
    assert "which column holds the label" in said
    assert "Likely: --label status --id name --source subject --kind tabular" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--label", "stat"], "there is no column 'stat'"),
        (["--label", "status", "--id", "status"], "'status' has two roles"),
        (["--roles", "no-such-file.json"], "no-such-file.json: cannot be read"),
        (["--roles", '{"label": "status"}'], "These are no roles of a data set"),
        (["--roles", '{"touchstone": "data set roles", "label": ["status"]}'], "These are no roles of a data set"),
        (["--label", "status", "--kind", "text"], "which column holds the text"),
    ],
)
def test_roles_that_do_not_fit_are_refused_in_a_line(voices, options, words, capsys):
    assert main(["run", "--data", str(voices), *options, PLAN]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_an_example_has_no_columns_to_name(capsys):
    assert main(["run", "--data", "wine", "--label", "proline", PLAN]) == 2
    assert "wine has no columns" in capsys.readouterr().err


def test_roles_are_taken_from_a_file_too_and_options_come_before_them(voices, tmp_path):
    roles = tmp_path / "roles.json"
    roles.write_text('{"touchstone": "data set roles", "label": "status", "source": "subject", "features": ["MDVP:1"]}')
    options = ["--data", str(voices), "--roles", str(roles), "--id", "name"]
    dataset = given_dataset(parsed(["run", *options, PLAN]))
    assert dataset.sources is not None
    assert (dataset.ids[0], dataset.sources[0], dataset.feature_names) == ("phon_S00_0", "S00", ("MDVP:1",))


def said_by_a_model(path: Path, *, fall: float, seed: int) -> Path:
    """Predictions whose columns are called like nothing that is known."""
    rng = np.random.default_rng(seed)
    sure = rng.uniform(0.5, 1, size=400)
    right = rng.random(400) < sure - fall
    gold = rng.integers(0, 2, size=400)
    columns = {"ref": [f"r{row}" for row in range(400)], "a": gold, "b": np.where(right, gold, 1 - gold), "c": sure}
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_two_files_of_predictions_are_compared_with_the_roles_that_were_said(tmp_path, capsys):
    files = [
        *("--reference", str(said_by_a_model(tmp_path / "old.csv", fall=0.0, seed=1))),
        *("--target", str(said_by_a_model(tmp_path / "new.csv", fall=0.2, seed=2))),
    ]
    assert main(["compare", *files]) == 2
    said = capsys.readouterr().err
    assert "old.csv" in said
    assert "Say it with --" in said
    assert main(["compare", *files, "--truth", "a", "--predicted", "b", "--confidence", "c"]) == 0
    by_options = capsys.readouterr()
    assert "new: Truth: column 'a' (as given)" in by_options.err
    assert "points" in by_options.err
    assert pd.read_csv(io.StringIO(by_options.out), sep="\t")["n_target"].tolist() == [400]
    roles = '{"touchstone": "prediction roles", "truth": "a", "predicted": "b", "confidence": "c", "id": "ref"}'
    assert main(["compare", *files, "--reference-roles", roles, "--target-roles", roles]) == 0
    assert capsys.readouterr().out == by_options.out


def models_of_the_same_samples(folder: Path, shares: Sequence[float]) -> list[str]:
    """A file each, of models that are right so often."""
    gold, files = np.random.default_rng(0).integers(0, 2, 400), []
    for seed, share in enumerate(shares):
        right = np.random.default_rng(seed + 1).random(400) < share
        table = {
            "id": [f"text {row}" for row in range(400)],
            "gold": gold,
            "predicted": np.where(right, gold, 1 - gold),
        }
        files.append(str(folder / f"model_{seed}.csv"))
        pd.DataFrame(table).to_csv(files[-1], index=False)
    return files


def test_any_number_of_files_of_the_same_samples_are_compared_pair_by_pair(tmp_path, capsys):
    files = models_of_the_same_samples(tmp_path, (0.7, 0.9, 0.88))
    assert main(["compare", *files]) == 0
    said = capsys.readouterr()
    assert "By accuracy, model_1 and model_2 may be the best of 3 models." in said.err
    table = pd.read_csv(io.StringIO(said.out), sep="\t")
    assert table[["model", "other"]].drop_duplicates().shape[0] == 3
    result = compare(*files)
    assert len([each for each in result.quantities if each.name == "model_comparison.difference"]) == 2
    assert main(["compare", "--reference", files[0], "--target", files[1], files[2]]) == 0
    assert capsys.readouterr().out == said.out
    chosen = parsed(["compare", *files])
    compared = compare_files(chosen, lambda _: None)
    better = [made for of, made in compared.claims if of == "model_2"]
    assert [each.decision for each in better] == ["above"]


def test_more_than_two_files_of_other_samples_are_refused(tmp_path, capsys):
    files = models_of_the_same_samples(tmp_path, (0.7, 0.9))
    assert (
        main(["compare", *files, str(said_by_a_model(tmp_path / "other.csv", fall=0.0, seed=1)), "--truth", "x"]) == 2
    )
    capsys.readouterr()
    other = pd.read_csv(files[1]).assign(id=[f"another {row}" for row in range(400)])
    other.to_csv(tmp_path / "other.csv", index=False)
    assert main(["compare", *files, str(tmp_path / "other.csv")]) == 2
    assert "have no samples in common" in capsys.readouterr().err
    assert main(["compare", files[0]]) == 2
    assert "Name two files of predictions or more." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--truth", "gold", "--predicted", "b"], "there is no column 'gold'"),
        (["--reference-roles", "{}"], "This is no file of roles"),
        (["--reference-roles", "no-such-file.json"], "no-such-file.json: cannot be read"),
        (["--reference-truth", "no-such-file.csv"], "no-such-file.csv"),
        (["--truth", "gold"], "say them with --reference-roles"),
    ],
)
def test_roles_of_predictions_that_do_not_fit_are_refused_in_a_line(tmp_path, options, words, capsys):
    file = str(said_by_a_model(tmp_path / "old.csv", fall=0.0, seed=1))
    assert main(["compare", "--reference", file, "--target", file, *options]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "options", [["--repeats", "0"], ["--seed", "-1"], ["--epsilon", "-1"], ["--scores", "bananas"]]
)
def test_options_that_make_no_sense_are_refused_by_name(options, capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--reference", "a.csv", "--target", "b.csv", *options])
    assert f"argument {options[0]}" in capsys.readouterr().err


def test_stored_predictions_take_no_columns(tmp_path, capsys, monkeypatch):
    upload = PredictionUpload(GivenFile("pets.csv", b"id,gold,predicted\n1,cat,cat\n2,dog,cat\n"))
    workspace = Workspace(tmp_path / "home")
    fingerprint = workspace.add_predictions(LOCAL_OWNER, upload)
    chosen = ["compare", "--reference", fingerprint, "--target", fingerprint]
    with pytest.raises(DataError, match=r"is stored with its columns.*Leave out"):
        compare_files(parsed([*chosen, "--truth", "gold"]), {fingerprint: upload}.get)
    with pytest.raises(DataError, match="--reference-truth"):
        compare_files(parsed([*chosen, "--reference-truth", "t.csv"]), {fingerprint: upload}.get)


def test_a_question_of_how_rows_join_names_its_answers_and_the_answer_is_taken(tmp_path, capsys):
    path, truth = said_by_a_model(tmp_path / "old.csv", fall=0.0, seed=1), tmp_path / "truth.csv"
    frame = pd.read_csv(path)
    frame[["a"]].to_csv(truth, index=False)
    frame.drop(columns=["a", "ref"]).iloc[np.r_[1 : len(frame), 0]].to_csv(path, index=False)
    new = said_by_a_model(tmp_path / "new.csv", fall=0.2, seed=2)
    files = ["--reference", str(path), "--reference-truth", str(truth), "--target", str(new)]
    files += ["--predicted", "b", "--confidence", "c", "--truth", "a"]
    assert main(["compare", *files]) == 2
    asked = capsys.readouterr().err
    assert "'--join=(line +1)'" in asked or "'--join=(line -1)'" in asked
    answer = re.search(r"--join=\(line [+-]1\)", asked)[0]
    assert main(["compare", *files, answer]) == 0
    assert "old: Joined with truth.csv" in capsys.readouterr().err


def test_images_of_several_sizes_are_resized_when_the_command_says_so(tmp_path, capsys):
    path = tmp_path / "pets.zip"
    path.write_bytes(zip_of({f"{name}/{at}.png": (8 + at % 2, 8) for name in ("cat", "dog") for at in range(4)}))
    assert main(["run", "--data", str(path), PLAN]) == 2
    assert "Say it with --image-size 8 8." in capsys.readouterr().err
    chosen = parsed(["run", "--data", str(path), "--image-size", "6", "5", PLAN])
    assert given_dataset(chosen).x.shape == (8, 6, 5, 1)


def test_a_question_about_a_table_in_a_zip_names_the_answer_which_is_taken(tmp_path, capsys):
    path = tmp_path / "dogs.zip"
    path.write_bytes(beside("labels.csv", csv(named("breed", "image", PATHS)), "images/"))
    assert main(["run", "--data", str(path), PLAN]) == 2
    said = capsys.readouterr().err
    assert "dogs.zip: labels.csv: which column holds the label?" in said
    assert "Likely: --label breed --image 'file in the archive'" in said
    answer = ["run", "--data", str(path), "--label", "breed", "--image", "file in the archive", PLAN]
    dataset = given_dataset(parsed(answer))
    assert (dataset.kind, dataset.n_classes, dataset.name) == ("image", 3, "dogs")
    again = FileReading.from_json(dataset.read_as).arguments()
    again[0] = f"--data={path}"
    assert given_dataset(parsed(["run", *again, PLAN])).fingerprint == dataset.fingerprint


SLOW = '{"kind":"trials","models":["nearest_neighbours"],"n_repeats":2000}'


@pytest.fixture
def run_elsewhere(tmp_path, monkeypatch) -> Iterator[tuple[Workspace, Run]]:
    """A run that a process of another machine works on, which has crashed: only its lease says so, in two seconds."""
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(stored_runs, "LEASE_SECONDS", 2.0)
    close_engine()
    workspace, wine = Workspace(home()), load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    run = workspace.create_run(LOCAL_OWNER, load_plan(PLAN), wine.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "elsewhere")
    yield workspace, run
    workspace.close()
    close_engine()


def test_a_command_right_after_a_crash_waits_for_the_lease_and_takes_the_run_over(run_elsewhere, capsys):
    workspace, run = run_elsewhere
    assert main(["run", "--data", "wine", PLAN]) == 0
    said = capsys.readouterr()
    assert pd.read_csv(io.StringIO(said.out), sep="\t")["label"].isna().sum() == 8
    assert workspace.run(LOCAL_OWNER, run.id).state == "done"


def test_of_a_run_that_somebody_cancels_nothing_partial_is_printed(run_elsewhere, capsys):
    workspace, run = run_elsewhere
    rows = load_plan(PLAN).run_trial(load_example("wine"), 0, context=Context())
    workspace.store_trials(LOCAL_OWNER, run.id, {0: frames.to_bytes(rows)})
    workspace.cancel(LOCAL_OWNER, run.id)
    assert main(["run", "--data", "wine", PLAN]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "cancelled: 1 of 8 trials" in said.err
    assert "No rows are printed of a run that is not done." in said.err


def test_a_command_that_is_asked_to_end_gives_its_run_back(tmp_path, monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path))
    command = [sys.executable, "-m", "core", "run", "--data", "wine", SLOW]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    workspace = Workspace(tmp_path)
    [run] = wait_until(lambda: [run for run in workspace.runs(LOCAL_OWNER) if run.n_done], bool)
    process.send_signal(signal.SIGTERM)
    printed, said = process.communicate(timeout=60)
    assert (process.returncode, printed) == (130, "")
    assert "Stopped. The same command goes on from here." in said
    with workspace._store.session() as session:
        row = session.get(RunRow, run.id)
        assert (row.state, row.lease_owner) == ("interrupted", None)
    workspace.close()
