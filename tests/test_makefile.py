"""Does `make` help where something is not as it should be? Tried on a copy, with stand-ins for Python and Streamlit."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

PIP_WORKS, PIP_FAILS = "exit 0", "exit 1"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with our Makefile and a Python whose venv is a stand-in that says what it was asked for."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, tmp_path)
    stand_in(tmp_path / "python3", f'[ "$1" = -c ] && exit 0\necho made >> made\n{venv(PIP_WORKS)}')
    return tmp_path


def venv(pip: str) -> str:
    """Shell lines that make a venv whose Python does `pip`."""
    return f"mkdir -p .venv/bin; cat > .venv/bin/python <<'EOF'\n#!/bin/sh\n{pip}\nEOF\nchmod +x .venv/bin/python\n"


def stand_in(file: Path, lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", f"PYTHON={folder / 'python3'}", *words], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_a_half_made_venv_is_mended(copy):
    stand_in(copy / ".venv" / "bin" / "python", PIP_FAILS)
    assert make(copy, "setup").returncode == 0
    assert (copy / "made").exists()
    assert (copy / ".venv" / ".app").exists()


def test_a_whole_venv_is_left_alone(copy):
    stand_in(copy / ".venv" / "bin" / "python", PIP_WORKS)
    assert make(copy, "setup").returncode == 0
    assert not (copy / "made").exists()


def test_what_cannot_be_installed_gets_a_sentence(copy):
    stand_in(copy / ".venv" / "bin" / "python", 'case "$*" in *install*) exit 1;; esac')
    done = make(copy, "setup")
    assert done.returncode != 0
    assert "is this machine online?" in done.stderr
    assert not (copy / ".venv" / ".app").exists()


def test_run_listens_where_it_is_told(copy):
    stand_in(copy / ".venv" / "bin" / "python", PIP_WORKS)
    stand_in(copy / ".venv" / "bin" / "streamlit", 'echo "$@"')
    assert "--server.port 8501 --server.address 127.0.0.1" in make(copy, "run").stdout
    assert "--server.port 9000 --server.address ::1" in make(copy, "run", "PORT=9000", "HOST=::1").stdout
