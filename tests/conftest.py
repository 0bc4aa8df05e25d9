"""What tests share: the folder of real data files; a main module that no test replaces for the next; plain words."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.components.v2 import manifest_scanner

from tests.plain_words import problems_of, question_of_caller
from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.wording import Verdict

ROOT = Path(__file__).resolve().parent.parent
ONE_TYPE_OF_TEXTS = pd.Series(["a"]).dtype == TEXTS
"""pandas 2 has two, and what is kept comes back as the other one."""
SHARED_DATA = ROOT.parent / "shared" / "data"
_BEGAN: dict[str, dict] = {}
"""The state of each module's generator before its first test."""


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data files that tests may read; skipped where a checkout has none beside it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real data files (../shared/data) are not beside this checkout")
    return SHARED_DATA


@pytest.fixture(autouse=True, scope="session")
def components_found_once() -> Iterator[None]:
    """Every AppTest looks through all installed packages for components, which takes longer than most pages do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True, scope="session")
def launched() -> Iterator[None]:
    """Tests run ui/shell/router.py itself, which draws nothing on a server that app.py has not started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOUCHSTONE_LAUNCHED", "yes")
        yield


@pytest.fixture(autouse=True)
def same_draws(request) -> None:
    """A module's generator begins anew for every test, so that what a test draws hangs on no order."""
    module = request.node.getparent(pytest.Module)
    rng = getattr(getattr(module, "obj", None), "RNG", None)
    if isinstance(rng, np.random.Generator):
        rng.bit_generator.state = _BEGAN.setdefault(module.nodeid, rng.bit_generator.state)


@pytest.fixture(autouse=True, scope="module")
def no_engine_is_left() -> Iterator[None]:
    """Threads of an engine draw from `random` while they connect, which hypothesis takes for the next test's doing."""
    yield
    runner = sys.modules.get("touchstone.core.workspace.engine.runner")
    if runner is not None:
        runner.close_engine()


@pytest.fixture(autouse=True)
def main_module(monkeypatch) -> None:
    """Streamlit's AppTest puts its script in the place of __main__, which spawned workers would then import."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def plain_words(monkeypatch) -> Iterator[None]:
    """Every verdict that any test makes keeps the rules for words on screen."""
    broken: list[str] = []
    make = Verdict.__init__

    def heard(verdict: Verdict, *parts, **named) -> None:
        make(verdict, *parts, **named)
        if question_of_caller():
            broken.extend(problems_of(verdict))

    monkeypatch.setattr(Verdict, "__init__", heard)
    yield
    assert not broken, "\n".join(dict.fromkeys(broken))
