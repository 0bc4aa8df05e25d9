"""Sign-ins are listed while they go on; the end of one is remembered for as long as its cookie could be believed."""

from collections.abc import Iterator

import pytest

from touchstone.core.workspace import Workspace, WorkspaceError, access
from touchstone.core.workspace.access import LONGEST_SIGN_IN, SECONDS_BETWEEN_USES

ALICE, BOB = "oidc:a", "oidc:b"


@pytest.fixture
def workspace(tmp_path) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path)
    yield workspace
    workspace.close()


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    moment = [access.now()]
    monkeypatch.setattr(access, "now", lambda: moment[0])
    return moment


def follow(workspace: Workspace, sign_in: str, owner: str = ALICE) -> bool:
    return workspace.follow_sign_in(owner, sign_in, browser=f"browser {sign_in}")


def test_an_end_is_for_good_and_for_every_process(tmp_path):
    here, elsewhere = Workspace(tmp_path), Workspace(tmp_path)
    for sign_in in ("one", "two"):
        assert follow(here, sign_in)
    here.sign_out(ALICE, "one")
    here.sign_out(ALICE, "one")  # the same again, as two tabs may
    assert not follow(elsewhere, "one")
    assert follow(elsewhere, "two")
    assert follow(elsewhere, "one", BOB)
    for workspace in (here, elsewhere):
        workspace.close()


def test_what_goes_on_is_listed_with_its_browser_and_when_it_was_used(workspace, clock):
    began = clock[0]
    for sign_in in ("one", "two", "three"):
        follow(workspace, sign_in)
        clock[0] += 1
    follow(workspace, "of bob", BOB)
    clock[0] = began + SECONDS_BETWEEN_USES + 1
    follow(workspace, "one")
    workspace.sign_out(ALICE, "three")
    listed = workspace.sign_ins(ALICE)
    assert [(one.id, one.browser) for one in listed] == [("one", "browser one"), ("two", "browser two")]
    assert [one.used for one in listed] == [clock[0], began + 1]
    assert [one.began for one in listed] == pytest.approx([began, began], abs=60)
    assert [one.id for one in workspace.sign_ins(BOB)] == ["of bob"]


def test_what_no_cookie_can_be_of_any_more_is_forgotten(workspace, clock):
    began = clock[0]
    follow(workspace, "used once")
    workspace.sign_out(ALICE, "old")
    for seconds, still in ((LONGEST_SIGN_IN - 60, True), (LONGEST_SIGN_IN + 60, False)):
        clock[0] = began + seconds
        workspace.sign_out(ALICE, f"after {seconds}")
        assert ("used once" in [one.id for one in workspace.sign_ins(ALICE)]) is still
        assert follow(workspace, "old") is not still


def test_a_sign_in_goes_on_where_nothing_can_be_written(workspace, monkeypatch):
    real = workspace._store.session
    asked = []

    def sessions():
        asked.append(None)
        if len(asked) > 1:  # the first is read
            raise WorkspaceError("the disk is full")
        return real()

    monkeypatch.setattr(workspace._store, "session", sessions)
    assert follow(workspace, "one")
    assert len(asked) == 2
