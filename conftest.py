"""Every test and every docstring example has a home folder of its own, and shapes in core's signatures are checked.

Laws have no deadline: the machines that run them are shared, and how long one example takes says nothing.
"""

from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

import tests.typechecked

install_import_hook("touchstone.core", f"{tests.typechecked.__name__}.{tests.typechecked.outermost.__name__}")
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: packed ones hold the second they were made in, and each worker makes its own.

    Workers refuse to share out tests whose names differ between them.
    """
    return argname if isinstance(val, bytes) else None


@pytest.fixture(autouse=True)
def touchstone_home(tmp_path_factory, monkeypatch) -> Path:
    """A fresh TOUCHSTONE_HOME, so that no test reads or writes what belongs to a person."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("TOUCHSTONE_HOME", str(home))
    return home
