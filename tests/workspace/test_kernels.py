"""Are the loops that numba compiles all known, all compiled at once, and is it seen whether they are?"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from touchstone.core.workspace.engine import worker
from touchstone.ui.shell import background


def keep(folder: Path, *, seconds: float) -> None:
    """Files such as numba keeps, for every loop, written so long after its source."""
    for file, loop in worker.LAST_COMPILED.items():
        source = worker.CORE / file
        kept = folder / source.stem / f"{source.stem}.{loop}-1.py311.nbi"
        kept.parent.mkdir(exist_ok=True)
        kept.touch()
        os.utime(kept, (source.stat().st_mtime + seconds,) * 2)


def loops_of(file: str) -> list[str]:
    """The names of the loops of a file of core that are kept; what becomes part of others has no code of its own."""
    written = (worker.CORE / file).read_text("utf-8")
    return re.findall(r"^@njit\(cache=True.*\n(?:@.*\n)*def (\w+)", written, re.MULTILINE)


def test_every_file_with_such_a_loop_is_known():
    written = {str(file.relative_to(worker.CORE)) for file in worker.CORE.rglob("*.py") if "@njit" in file.read_text()}
    assert written == set(worker.LAST_COMPILED)
    assert all(loop in loops_of(file) for file, loop in worker.LAST_COMPILED.items())


@pytest.mark.evidence  # half a minute of a processor
def test_all_loops_are_compiled_at_once(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    # As `python -m` of it does, but not behind everybody else: on a busy machine that took ten minutes.
    command = f"from {worker.__name__} import compile_all; compile_all()"
    subprocess.run([sys.executable, "-c", command], cwd=ROOT, env=environment, check=True)
    kept = {file.name.rpartition("-")[0] for file in tmp_path.glob("*/*.nbi")}
    assert kept == {f"{Path(file).stem}.{loop}" for file in worker.LAST_COMPILED for loop in loops_of(file)}


def test_what_is_kept_counts_until_its_source_is_written_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not worker.are_compiled()
    keep(tmp_path, seconds=1.0)
    assert worker.are_compiled()
    keep(tmp_path, seconds=-1.0)
    assert not worker.are_compiled()


@pytest.fixture
def compiler(monkeypatch):
    """What compiles, as a process that takes its time."""
    started, popen = [], subprocess.Popen

    def waits(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        started.append(command)
        return popen([sys.executable, "-c", "import time; time.sleep(600)"], cwd=ROOT)

    monkeypatch.setattr(background.subprocess, "Popen", waits)
    yield started
    background.close()


def test_a_server_compiles_once_beside_itself_and_stops_it_when_it_ends(tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        background.begin()
    assert [command[1:] for command in compiler] == [["-m", "touchstone.core.workspace.engine.worker"]]
    assert background.is_going_on()
    background.close()
    assert not background.is_going_on()


def test_a_server_compiles_nothing_that_is_kept(tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    keep(tmp_path, seconds=1.0)
    background.begin()
    assert compiler == []
    assert not background.is_going_on()
