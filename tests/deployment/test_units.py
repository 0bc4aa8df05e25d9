"""The units are what systemd understands, and what they start is there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.deployment.machine import read_unit

UNITS = sorted((ROOT / "deploy").glob("*.service"))
PYTHON = "/opt/touchstone/.venv/bin/python"


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.stem)
def test_a_unit_starts_again_whatever_ends_and_runs_as_a_user_of_its_own(file: Path):
    unit = read_unit(file.read_text())
    assert (unit["Restart"], unit["StartLimitIntervalSec"], unit["User"]) == (["always"], ["0"], ["touchstone"])
    assert unit["EnvironmentFile"] == ["/etc/touchstone/environment"]
    [command] = unit["ExecStart"]
    assert command.startswith(f"{PYTHON} -m ")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.stem)
def test_systemd_finds_nothing_wrong_with_a_unit(file: Path, tmp_path: Path):
    there = tmp_path / file.name.replace("@", "@2")
    there.write_text(file.read_text().replace(PYTHON, sys.executable))
    told = subprocess.run(["systemd-analyze", "verify", "--man=no", there], capture_output=True, text=True, timeout=60)
    ours = [line for line in told.stderr.splitlines() if there.name in line]
    assert not ours
