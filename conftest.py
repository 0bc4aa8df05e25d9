"""Every test and every docstring example has a home folder of its own, and shapes in core's signatures are checked.

Laws have no deadline: the machines that run them are shared, and how long one example takes says nothing.
Arithmetic has one thread, also of processes that tests start: as many tests run at once as there are processors, and
threads that wait for one another beside them take more time of a processor than what they compute. While tests are
collected, nothing is searched for garbage: modules and tests stay, and to look through them took a quarter of the time.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported, which reads it once

import gc
from collections.abc import Generator
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import settings

from tests import typechecked

if not jaxtyping.config.jaxtyping_disable:
    jaxtyping.install_import_hook("touchstone.core", None)
    jaxtyping.jaxtyped = typechecked.checked  # what the hook writes above every class and function
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Afterwards garbage is searched for as ever, but not among what was collected."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


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
