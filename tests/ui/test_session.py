"""Work beside the page is done for whoever asked for it, and a link shows nothing once it was revoked."""

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.plans import SleepPlan
from touchstone.core.data import load_example
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError
from touchstone.core.workspace.access import DeadLink
from touchstone.ui.shell import background, session

ROOT = Path(__file__).resolve().parents[2]


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
    task = background.submit(background.Work(lambda step: session.owner()))
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
    with pytest.raises(WorkspaceError, match="cannot start"):
        session.engine()


def test_what_was_made_ready_while_a_link_worked_gives_nothing_once_it_was_taken_back(link, monkeypatch):
    drawn: list[str] = []
    monkeypatch.setattr(session.st, "fragment", lambda part: part)  # outside a page there are none
    session.look_through(link)
    file, part = session.bound(lambda: b"rows"), session.fragment(drawn.append)
    part("seen")
    assert (file(), drawn) == (b"rows", ["seen"])
    revoke(link)
    monkeypatch.setattr(session, "SECONDS_BELIEVED", 0.0)
    part("seen again")
    for ask in (file, session.owner, session.workspace, session.read_only):
        with pytest.raises(DeadLink):
            ask()
    assert drawn == ["seen"]


def test_a_link_is_believed_to_work_for_no_more_than_a_moment(link, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: clock[0])
    session.look_through(link)
    file = session.bound(lambda: b"rows")
    revoke(link)
    clock[0] += 1.9
    assert file() == b"rows"
    clock[0] += 0.2
    with pytest.raises(DeadLink):
        file()


def revoke(link: session.SharedWorkspace) -> None:
    [its] = link._workspace.links(LOCAL_OWNER)
    link._workspace.revoke_link(LOCAL_OWNER, its.id)


def test_parts_of_pages_that_are_drawn_anew_ask_first_whether_they_may_be_seen():
    others = {
        f"{file.stem}.{node.name}"
        for file in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and any("st.fragment" in ast.unparse(one) for one in node.decorator_list)
    }
    asking_themselves = {"jobs.watch", "share.watch", "results.watch"}
    of_owners_or_without_data = {"share.links", "background.watch", "share._soon_again"}
    assert others == asking_themselves | of_owners_or_without_data
