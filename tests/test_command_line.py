"""The command line does what the pages do, finds what they computed, and says what is wrong."""

import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from core.__main__ import _say, main
from core.workspace.run import Run, Steps

ROOT = Path(__file__).resolve().parents[1]
PLAN = '{"kind":"trials","models":["nearest_neighbours"],"n_repeats":2}'


def test_a_run_prints_its_rows_and_is_found_again():
    command = [sys.executable, "-m", "core", "run", "--data", "wine", PLAN]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    rows = pd.read_csv(io.StringIO(first.stdout), sep="\t")
    assert rows["label"].isna().sum() == 6
    assert "done: 6 of 6 trials, 0 failed" in first.stderr
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert again.stdout == first.stdout, "a finished run was computed again"


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
        ("wine", '{"kind":"trials","source_finders":["known"]}', "does not say which source"),
        ("no-such-file.tsv", PLAN, "no-such-file.tsv"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(data, plan, words, capsys):
    assert main(["run", "--data", data, plan]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err
    assert said.out == ""
