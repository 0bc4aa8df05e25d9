"""Work beside the page is done for whoever asked for it; caches of the app keep what is one owner's from all others."""

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.data import load_example
from core.workspace.errors import WorkspaceError
from core.workspace.workspace import LOCAL_OWNER, Workspace
from tests.workspace.plans import SleepPlan
from ui import background, session

ROOT = Path(__file__).resolve().parents[2]
BY_CONTENT = {"_columns_of", "_uploaded"}
"""Caches of what is computed from a file that whoever asks has at hand, and names by its fingerprint."""


@pytest.fixture
def link(tmp_path, monkeypatch) -> Iterator[session.SharedWorkspace]:
    """What a link shows, in the place of the workspace of this process."""
    workspace = Workspace(tmp_path)
    data = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, data)
    token = workspace.create_link(LOCAL_OWNER, workspace.create_run(LOCAL_OWNER, SleepPlan(), data.fingerprint).id)
    yield session.SharedWorkspace(workspace, token)
    session.look_through(None)
    workspace.close()


def test_work_in_a_thread_sees_what_the_session_saw_that_began_it(link):
    session.look_through(link)
    asked, seen = session.bound(lambda: (session.owner(), session.workspace())), []
    task = background.submit(lambda step: session.owner())
    session.look_through(None)
    thread = threading.Thread(target=lambda: seen.append(asked()))
    thread.start()
    thread.join()
    assert seen == [(link.owner, link)]
    assert task.future.result(timeout=10) == link.owner
    assert session.owner() == LOCAL_OWNER


def test_through_a_link_there_is_no_engine(link):
    session.look_through(link, fixed={"repeats"})
    assert session.read_only()
    assert session.is_fixed("repeats")
    assert not session.is_fixed("about")
    with pytest.raises(WorkspaceError, match="starts nothing"):
        session.engine()


def caches() -> dict[str, list[str]]:
    """Every cached function of the app with its arguments."""
    found = {}
    for file in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any("cache_" in ast.unparse(one) for one in node.decorator_list):
                found[f"{file.stem}.{node.name}"] = [one.arg for one in node.args.args]
    return found


def test_every_cache_is_kept_by_owner():
    assert len(caches()) > 20
    for name, arguments in caches().items():
        assert arguments[0] == "owner_name" or name.split(".")[1] in BY_CONTENT, f"{name} does not tell owners apart"
