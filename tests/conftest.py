"""Shapes in core's signatures are checked while tests run; every test has a home folder of its own."""

from pathlib import Path

import pytest
from jaxtyping import install_import_hook

install_import_hook("core", "beartype.beartype")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def touchstone_home(tmp_path_factory, monkeypatch) -> Path:
    """A fresh TOUCHSTONE_HOME, so that no test reads or writes what belongs to a person."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("TOUCHSTONE_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data files that tests may read; skipped where a checkout has none beside it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real data files (../shared/data) are not beside this checkout")
    return SHARED_DATA
