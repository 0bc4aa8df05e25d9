"""Every test and every docstring example has a home folder of its own, and shapes in core's signatures are checked."""

from pathlib import Path

import pytest
from jaxtyping import install_import_hook

install_import_hook("core", "beartype.beartype")


@pytest.fixture(autouse=True)
def touchstone_home(tmp_path_factory, monkeypatch) -> Path:
    """A fresh TOUCHSTONE_HOME, so that no test reads or writes what belongs to a person."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("TOUCHSTONE_HOME", str(home))
    return home
