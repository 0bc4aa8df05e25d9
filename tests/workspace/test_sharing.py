"""Through a link one result can be seen, and nothing else; all links that do not work say the same."""

import inspect
import sqlite3
from collections.abc import Callable

import pandas as pd
import pytest
from sqlalchemy import text

from tests.workspace.plans import SleepPlan
from tests.workspace.test_owners import COMPARISON, NEW, OTHER, OWNER, UPLOAD, everything
from touchstone.core.models.model_file import ModelFile
from touchstone.core.trials import SourcesPlan, TrialPlan
from touchstone.core.workspace import Run, SharedWorkspace, Workspace, WorkspaceError, access, frames, store
from touchstone.core.workspace.access import DEAD, MOST_DAYS, DeadLink
from touchstone.core.workspace.workspace import NOT_SHOWN, READ_ONLY

SHOWN = {
    *("shown", "run", "runs", "find_run", "rows", "datasets", "stored_dataset", "dataset", "dataset_bytes"),
    *("models", "stored_model", "model_bytes", "prediction_files", "predictions"),
}
"""All that can be asked through a link."""
DAY = 24 * 3600.0


@pytest.fixture
def models(workspace: Workspace, wine) -> list[str]:
    """The one that the shared run tested, and another one of the same data set."""
    workspace.add_dataset(OWNER, wine)
    files = [ModelFile(content, "m.onnx", wine.fingerprint).to_bytes() for content in (b"tested", b"another")]
    return [workspace.keep_model(OWNER, file, name=f"model {n}") for n, file in enumerate(files)]


@pytest.fixture
def run(workspace: Workspace, wine, models) -> Run:
    """The run that is shared, beside another one of the same data set, and predictions."""
    run = workspace.create_run(OWNER, SleepPlan(n=2, model=models[0]), wine.fingerprint)
    workspace.store_trials(OWNER, run.id, {0: frames.to_bytes(pd.DataFrame({"trial": [0]}))})
    workspace.create_run(OWNER, SleepPlan(n=3), wine.fingerprint)
    workspace.add_predictions(OWNER, UPLOAD)
    return run


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """Seconds since 1970, as links see them."""
    clock = [1_000_000.0]
    monkeypatch.setattr("touchstone.core.workspace.access.now", lambda: clock[0])
    return clock


def test_a_link_shows_its_run_its_data_and_its_model(workspace, run, wine, models):
    shared = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id))
    me = shared.owner
    assert shared.runs(me) == [workspace.run(OWNER, run.id)] == [shared.run(me, run.id)]
    assert shared.find_run(me, SleepPlan(n=2, model=models[0]), wine.fingerprint).id == run.id
    assert shared.rows(me, run.id)["trial"].tolist() == [0]
    assert shared.dataset(me, wine.fingerprint).fingerprint == wine.fingerprint
    assert [one.fingerprint for one in shared.datasets(me)] == [wine.fingerprint]
    assert shared.dataset_bytes(me, wine.fingerprint) == workspace.dataset_bytes(OWNER, wine.fingerprint)
    assert (
        [one.fingerprint for one in shared.models(me)]
        == [models[0]]
        == [shared.stored_model(me, models[0]).fingerprint]
    )
    assert shared.model_bytes(me, models[0]) == workspace.model_bytes(OWNER, models[0])


def test_a_link_shows_nothing_else_of_its_owner(workspace, run, wine, models):
    shared = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id))
    other_run = next(one for one in workspace.runs(OWNER) if one.id != run.id)
    me = shared.owner
    assert shared.find_run(me, SleepPlan(n=3), wine.fingerprint) is None
    assert shared.runs(me, "another data set") == []
    assert shared.prediction_files(me) == []
    for call in (
        lambda: shared.run(me, other_run.id),
        lambda: shared.rows(me, other_run.id),
        lambda: shared.dataset(me, "another data set"),
        lambda: shared.stored_dataset(me, "another data set"),
        lambda: shared.dataset_bytes(me, "another data set"),
        lambda: shared.stored_model(me, models[1]),
        lambda: shared.model_bytes(me, models[1]),
        lambda: shared.runs(OWNER),
        lambda: shared.datasets(OWNER),
    ):
        with pytest.raises(WorkspaceError, match=NOT_SHOWN):
            call()


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_what_can_be_asked_through_a_link_is_named_here():
    assert public(SharedWorkspace) == SHOWN


@pytest.mark.parametrize("name", sorted(public(Workspace) - SHOWN))
def test_whatever_else_a_workspace_can_do_is_refused(name: str, workspace, run):
    shared = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id))
    with pytest.raises(WorkspaceError, match=READ_ONLY):
        getattr(shared, name)


def test_the_name_of_a_link_owns_nothing_in_the_workspace_itself(workspace, run):
    me = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id)).owner
    assert workspace.runs(me) == workspace.datasets(me) == []
    with pytest.raises(WorkspaceError, match="not in your workspace"):
        workspace.acquire(me, run.id, "a visitor")


def test_revoked_expired_deleted_and_made_up_links_say_the_same(workspace, run, clock):
    tokens = {why: workspace.create_link(OWNER, run.id, days=2) for why in ("revoked", "expired", "deleted")}
    seen = {why: SharedWorkspace(workspace, token) for why, token in tokens.items()}
    revoked = workspace.links(OWNER, run.id)
    workspace.revoke_link(OWNER, next(one.id for one in revoked if seen["revoked"].owner.endswith(one.id)))
    assert_dead(workspace, tokens["revoked"], seen["revoked"])
    assert seen["expired"].runs(seen["expired"].owner)
    clock[0] += 2 * DAY
    assert_dead(workspace, tokens["expired"], seen["expired"])
    clock[0] -= 2 * DAY
    workspace.delete_run(OWNER, run.id)
    assert_dead(workspace, tokens["deleted"], seen["deleted"])
    for token in ("", "a" * 43, "\udcff", "x" * 100_000):
        assert_dead(workspace, token)


def assert_dead(workspace: Workspace, token: str, seen: SharedWorkspace | None = None) -> None:
    asks: list[Callable[[], object]] = [lambda: SharedWorkspace(workspace, token)]
    if seen is not None:
        asks += [lambda: seen.shown(seen.owner), lambda: seen.runs(seen.owner)]
        asks += [lambda: seen.models(seen.owner), lambda: seen.prediction_files(seen.owner)]
    for ask in asks:
        with pytest.raises(DeadLink) as dead:
            ask()
        assert str(dead.value) == DEAD


def test_the_token_is_kept_nowhere(workspace, run):
    token = workspace.create_link(OWNER, run.id)
    assert len(token) == 43  # 256 bits, six to a character
    assert token != workspace.create_link(OWNER, run.id)
    assert token not in str(everything(workspace))


def test_the_owner_sees_when_a_link_was_last_used(workspace, run, clock):
    token = workspace.create_link(OWNER, run.id)
    assert [one.used for one in workspace.links(OWNER, run.id)] == [None]
    shared = SharedWorkspace(workspace, token)
    assert [one.used for one in workspace.links(OWNER, run.id)] == [clock[0]]
    clock[0] += 3600
    shared.run(shared.owner, run.id)
    assert [one.used for one in workspace.links(OWNER, run.id)] == [clock[0]]


@pytest.mark.sqlite
def test_a_link_works_while_nobody_can_write_down_that_it_was_used(tmp_path, wine, clock, monkeypatch):
    monkeypatch.setattr(store, "BUSY_MILLISECONDS", 50)
    workspace, writer = Workspace(tmp_path), sqlite3.connect(tmp_path / "touchstone.sqlite", isolation_level=None)
    workspace.add_dataset(OWNER, wine)
    run = workspace.create_run(OWNER, SleepPlan(), wine.fingerprint)
    token = workspace.create_link(OWNER, run.id)
    writer.execute("BEGIN IMMEDIATE")
    shared = SharedWorkspace(workspace, token)
    assert shared.run(shared.owner, run.id) == run
    assert [one.used for one in workspace.links(OWNER, run.id)] == [None]
    writer.execute("ROLLBACK")
    clock[0] += 3600
    assert shared.runs(shared.owner) == [run]
    assert [one.used for one in workspace.links(OWNER, run.id)] == [clock[0]]
    writer.close()
    workspace.close()


def test_a_full_or_damaged_database_is_not_a_dead_link(workspace, run, monkeypatch):
    shared = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id))

    def fail(*_: object) -> None:
        raise WorkspaceError("The database is damaged.")

    monkeypatch.setattr(workspace._store, "session", fail)
    with pytest.raises(WorkspaceError, match="damaged") as trouble:
        shared.run(shared.owner, run.id)
    assert not isinstance(trouble.value, DeadLink)


def test_links_are_for_their_owner_to_make_and_to_take_back(workspace, run):
    workspace.create_link(OWNER, run.id)
    [link] = workspace.links(OWNER, run.id)
    assert link.works
    assert link.expires - link.created == pytest.approx(30 * DAY, abs=5)
    for call in (
        lambda: workspace.create_link(OTHER, run.id),
        lambda: workspace.links(OTHER, run.id),
        lambda: workspace.revoke_link(OTHER, link.id),
    ):
        with pytest.raises(WorkspaceError, match="not in your workspace"):
            call()
    workspace.revoke_link(OWNER, link.id)
    assert not workspace.links(OWNER, run.id)[0].works


@pytest.mark.parametrize("days", [0, -1, MOST_DAYS + 1])
def test_a_link_cannot_work_for_ever(days: int, workspace, run):
    with pytest.raises(WorkspaceError, match="A link works for 1 to"):
        workspace.create_link(OWNER, run.id, days=days)


def test_a_database_from_before_links_gets_their_table(tmp_path, wine):
    before = Workspace(tmp_path)
    before.add_dataset(OWNER, wine)
    run = before.create_run(OWNER, SleepPlan(), wine.fingerprint)
    with before._store.database.begin() as connection:
        for table in ("links", "view_link_rests_on", "view_links", "schema_version"):
            connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("ALTER TABLE trials DROP COLUMN sha256"))
    before.close()
    after = Workspace(tmp_path)
    for upload in (UPLOAD, NEW):
        after.add_predictions(OWNER, upload)
    seen = SharedWorkspace(after, after.create_link(OWNER, COMPARISON))
    assert seen.shown(seen.owner) == COMPARISON
    seen = SharedWorkspace(after, after.create_link(OWNER, run.id))
    assert seen.shown(seen.owner) == run
    after.close()


def test_a_link_shows_the_sources_that_its_run_was_drawn_from_and_those_of_no_other(workspace, wine):
    workspace.add_dataset(OWNER, wine)
    drawing = TrialPlan(models=("logistic",), source_finders=("deep_kmeans",), n_clusterings=2)
    run = workspace.create_run(OWNER, drawing, wine.fingerprint)
    found, other = (SourcesPlan("deep_kmeans", n_clusterings=n) for n in (2, 3))
    kept, hidden = (workspace.create_run(OWNER, plan, wine.fingerprint) for plan in (found, other))
    workspace.store_trials(OWNER, kept.id, {0: frames.to_bytes(pd.DataFrame({"clustering": [0]}))})
    shared = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id))
    assert shared.find_run(shared.owner, found, wine.fingerprint).id == kept.id == shared.run(shared.owner, kept.id).id
    assert shared.rows(shared.owner, kept.id)["clustering"].tolist() == [0]
    assert shared.runs(shared.owner) == [run], "the link is about its own run still"
    assert shared.find_run(shared.owner, other, wine.fingerprint) is None
    with pytest.raises(WorkspaceError, match="does not show that"):
        shared.rows(shared.owner, hidden.id)


def test_a_plan_that_needs_no_other_run_has_no_data_set_read_for_it(workspace, run, wine, monkeypatch):
    shared = SharedWorkspace(workspace, workspace.create_link(OWNER, run.id))
    monkeypatch.setattr(workspace, "dataset", lambda *_: pytest.fail("the data set was read"))
    assert shared.find_run(shared.owner, SleepPlan(n=3), wine.fingerprint) is None


def test_a_run_that_is_deleted_meanwhile_gets_no_link(workspace, run, monkeypatch):
    made = access._rows

    def too_late(*given):
        workspace.delete_run(OWNER, run.id)
        yield from made(*given)

    monkeypatch.setattr(access, "_rows", too_late)
    with pytest.raises(WorkspaceError, match="not in your workspace"):
        workspace.create_link(OWNER, run.id)
