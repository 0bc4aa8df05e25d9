"""Do the tutorials work as they stand? Their code is run in order, and what they quote of its output is there."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quotes import quotations, stale
from tests.said_today import plain

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
STATUS = {"holds": 0, "fails": 1, "undecided": 3}
_CODE = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONTROL = re.compile(r"\*\*([A-Z][^*?]*)\*\*")


@pytest.mark.evidence
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda file: file.stem)
def test_a_tutorial_runs_as_it_stands(tutorial, tmp_path):
    text, output = tutorial.read_text("utf-8"), ""
    known = os.environ | {"TOUCHSTONE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
    for language, code in _CODE.findall(text):
        command = [sys.executable, "-c", code] if language == "python" else _command(code)
        done = subprocess.run(command, cwd=tmp_path, env=known, text=True, capture_output=True, timeout=300)
        told = done.stdout + done.stderr
        decision = re.search(r"^(holds|fails|undecided): ", told, re.MULTILINE)
        assert done.returncode == (STATUS[decision[1]] if decision else 0), told
        output += told
    quoted = quotations(text)
    assert quoted
    renew = "Write what its commands print today, as they stand there."
    told = stale(f"docs/tutorials/{tutorial.name}", quoted, plain_lines(output), renew=renew, on_any_machine=True)
    assert not told, "\n".join(told)


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda file: file.stem)
def test_controls_that_a_tutorial_names_are_called_so(tutorial):
    steps = tutorial.read_text("utf-8").partition("## In the browser")[2].partition("\n## ")[0]
    controls = set(_CONTROL.findall(steps))
    assert controls
    assert controls <= labels()


def plain_lines(output: str) -> str:
    """What was printed, its spaces as quotations have them."""
    return "\n".join(plain(line) for line in output.splitlines())


def labels() -> set[str]:
    """Every whole string in the code that draws pages."""
    trees = (ast.parse(file.read_text("utf-8")) for folder in ("core", "ui", "pages") for file in python_files(folder))
    return {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def python_files(folder: str) -> list[Path]:
    return list((ROOT / folder).rglob("*.py"))


def _command(code: str) -> list[str]:
    command = shlex.split(code)
    assert command[0] == "python"
    return [sys.executable, *command[1:]]
