"""Through a link one result can be seen, and nothing else; all links that do not work say the same."""

import inspect
import sqlite3
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest
from sqlalchemy import event, text

from core.data.prediction_upload import GivenFile, PredictionUpload
from core.models.stored import ModelFile
from core.trials import SourcesPlan, TrialPlan
from core.workspace import frames, links, schema
from core.workspace.errors import WorkspaceError
from core.workspace.links import DEAD, MOST_DAYS, DeadLink, View
from core.workspace.sharing import NOT_SHOWN, READ_ONLY, SharedWorkspace
from core.workspace.workspace import Run, Workspace
from tests.workspace.plans import SleepPlan
from tests.workspace.test_owners import COMPARISON, NEW, OTHER, OWNER, UPLOAD, everything

SHOWN = {
    *("shown", "run", "runs", "find_run", "rows", "datasets", "stored_dataset", "dataset", "dataset_bytes"),
    *("models", "stored_model", "model_bytes", "prediction_files", "predictions"),
}
"""All that can be asked through a link."""
HIDDEN = PredictionUpload(GivenFile("hidden.tsv", b"id\tanswer\tgold\n1\tcat\tfox\n2\tfox\tdog\n"))
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
    workspace.store_trial(OWNER, run.id, 0, frames.to_bytes(pd.DataFrame({"trial": [0]})))
    workspace.create_run(OWNER, SleepPlan(n=3), wine.fingerprint)
    workspace.add_predictions(OWNER, UPLOAD)
    return run


@pytest.fixture
def comparison(workspace: Workspace, run) -> View:
    """The two files that are shared, beside another file, and a run."""
    for upload in (UPLOAD, NEW, HIDDEN):
        workspace.add_predictions(OWNER, upload)
    return COMPARISON


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """Seconds since 1970, as links see them."""
    clock = [1_000_000.0]
    monkeypatch.setattr("core.workspace.links.now", lambda: clock[0])
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


def test_a_link_to_a_comparison_shows_its_two_files(workspace, comparison):
    seen = SharedWorkspace(workspace, workspace.create_link(OWNER, comparison))
    assert seen.shown(seen.owner) == comparison
    assert {one.fingerprint for one in seen.prediction_files(seen.owner)} == {UPLOAD.fingerprint, NEW.fingerprint}
    for upload in (UPLOAD, NEW):
        assert seen.predictions(seen.owner, upload.fingerprint).fingerprint == upload.fingerprint


def test_a_file_that_is_compared_with_itself_is_all_that_its_link_shows(workspace, comparison):
    parts = {"reference_set": ["old"], "target_set": ["new"]}
    itself = View("matched_subsets", parts, predictions=(UPLOAD.fingerprint, UPLOAD.fingerprint))
    seen = SharedWorkspace(workspace, workspace.create_link(OWNER, itself))
    assert [one.fingerprint for one in seen.prediction_files(seen.owner)] == [UPLOAD.fingerprint]
    with pytest.raises(WorkspaceError, match=NOT_SHOWN):
        seen.predictions(seen.owner, NEW.fingerprint)


def test_a_link_to_a_comparison_shows_nothing_else_and_changes_nothing(workspace, comparison, run, wine, models):
    seen = SharedWorkspace(workspace, workspace.create_link(OWNER, comparison))
    for call in (
        lambda: seen.predictions(seen.owner, HIDDEN.fingerprint),
        lambda: seen.predictions(seen.owner, "never there"),
        lambda: seen.predictions(OWNER, UPLOAD.fingerprint),
        lambda: seen.prediction_files(OWNER),
        lambda: seen.shown(OWNER),
        lambda: seen.run(seen.owner, run.id),
        lambda: seen.rows(seen.owner, run.id),
        lambda: seen.dataset(seen.owner, wine.fingerprint),
        lambda: seen.dataset_bytes(seen.owner, wine.fingerprint),
        lambda: seen.stored_dataset(seen.owner, wine.fingerprint),
        lambda: seen.stored_model(seen.owner, models[0]),
        lambda: seen.model_bytes(seen.owner, models[0]),
    ):
        with pytest.raises(WorkspaceError, match=NOT_SHOWN):
            call()
    assert seen.runs(seen.owner) == seen.datasets(seen.owner) == seen.models(seen.owner) == []
    assert seen.find_run(seen.owner, SleepPlan(n=2, model=models[0]), wine.fingerprint) is None
    for name in public(Workspace) - SHOWN:
        with pytest.raises(WorkspaceError, match=READ_ONLY):
            getattr(seen, name)
    assert workspace.prediction_files(seen.owner) == [], "the name of the link owns nothing"


def test_links_to_a_comparison_die_as_others_do(workspace, comparison, clock):
    tokens = {why: workspace.create_link(OWNER, comparison, days=2) for why in ("revoked", "expired")}
    seen = {why: SharedWorkspace(workspace, token) for why, token in tokens.items()}
    workspace.revoke_link(OWNER, seen["revoked"].owner.removeprefix("link:"))
    assert_no_comparison(workspace, tokens["revoked"], seen["revoked"])
    assert seen["expired"].prediction_files(seen["expired"].owner)
    clock[0] += 2 * DAY
    assert_no_comparison(workspace, tokens["expired"], seen["expired"])


@pytest.mark.parametrize("deleted", [UPLOAD, NEW])
def test_a_link_to_a_comparison_dies_with_either_of_its_files(deleted, workspace, comparison):
    token = workspace.create_link(OWNER, comparison)
    seen = SharedWorkspace(workspace, token)
    workspace.delete_predictions(OWNER, HIDDEN.fingerprint)
    assert seen.shown(seen.owner) == comparison
    workspace.delete_predictions(OWNER, deleted.fingerprint)
    assert_no_comparison(workspace, token, seen)
    workspace.add_predictions(OWNER, deleted)
    assert workspace.links(OWNER, comparison) == [], "the same file again brings no old link back"
    assert_no_comparison(workspace, token, seen)


def test_the_same_file_of_another_owner_keeps_no_link_alive(workspace, comparison):
    token = workspace.create_link(OWNER, comparison)
    seen = SharedWorkspace(workspace, token)
    for upload in (UPLOAD, NEW):
        workspace.add_predictions(OTHER, upload)
    theirs = SharedWorkspace(workspace, workspace.create_link(OTHER, comparison))
    workspace.delete_predictions(OWNER, UPLOAD.fingerprint)
    assert_no_comparison(workspace, token, seen)
    assert theirs.predictions(theirs.owner, UPLOAD.fingerprint).fingerprint == UPLOAD.fingerprint


def assert_no_comparison(workspace: Workspace, token: str, seen: SharedWorkspace) -> None:
    for ask in (
        lambda: SharedWorkspace(workspace, token),
        lambda: seen.shown(seen.owner),
        lambda: seen.prediction_files(seen.owner),
        lambda: seen.predictions(seen.owner, NEW.fingerprint),
    ):
        with pytest.raises(DeadLink) as dead:
            ask()
        assert str(dead.value) == DEAD


def test_the_owner_sees_all_links_to_the_files_of_a_comparison_and_when_they_were_used(workspace, comparison, clock):
    other = replace(comparison, settings={"epsilon": ["0.1"]})
    elsewhere = replace(comparison, page="cluster_folds")
    for shown in (comparison, other, elsewhere):
        SharedWorkspace(workspace, workspace.create_link(OWNER, shown))
    assert [one.shows for one in workspace.links(OWNER, comparison)].count(comparison) == 1
    assert [one.shows for one in workspace.links(OWNER, comparison)].count(other) == 1
    assert {one.used for one in workspace.links(OWNER, comparison)} == {clock[0]}
    assert [one.shows for one in workspace.links(OWNER, elsewhere)] == [elsewhere]
    assert len(workspace.links(OWNER)) == 3
    assert workspace.links(OTHER) == []


def test_a_link_to_a_comparison_is_for_the_owner_of_both_files_to_make(workspace, comparison):
    workspace.add_predictions(OTHER, UPLOAD)
    for theirs in (comparison, replace(comparison, predictions=("never there",))):
        with pytest.raises(WorkspaceError, match="not in your workspace"):
            workspace.create_link(OTHER, theirs)
    left = everything(workspace)
    assert left["view_links"] == left["view_link_rests_on"] == []


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


def test_a_link_works_while_nobody_can_write_down_that_it_was_used(tmp_path, wine, clock, monkeypatch):
    monkeypatch.setattr(schema, "BUSY_MILLISECONDS", 50)
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

    monkeypatch.setattr("core.workspace.links.Session", fail)
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
    with before._database.begin() as connection:
        connection.execute(text("DROP TABLE links"))
        connection.execute(text("DROP TABLE view_link_rests_on"))
        connection.execute(text("DROP TABLE view_links"))
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
    workspace.store_trial(OWNER, kept.id, 0, frames.to_bytes(pd.DataFrame({"clustering": [0]})))
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


@pytest.fixture
def view(workspace, run, wine, models) -> View:
    """A view that rests on one of each, while the owner has another of each, and of runs the one that it names."""
    for upload in (UPLOAD, HIDDEN):
        workspace.add_predictions(OWNER, upload)
    return View(
        "source_robustness",
        {"data": [wine.fingerprint], "own": [UPLOAD.fingerprint]},
        "Wine",
        datasets=(wine.fingerprint,),
        predictions=(UPLOAD.fingerprint,),
        models=(models[1],),
        runs=(run.id,),
    )


def test_a_link_to_a_view_shows_what_it_rests_on_and_what_its_run_rests_on(workspace, view, run, wine, models):
    seen = SharedWorkspace(workspace, workspace.create_link(OWNER, view))
    me = seen.owner
    assert seen.shown(me) == view
    assert seen.shown(me).title == "Wine"
    assert [one.id for one in seen.runs(me)] == [run.id]
    assert seen.find_run(me, SleepPlan(n=2, model=models[0]), wine.fingerprint).id == run.id
    assert seen.find_run(me, SleepPlan(n=3), wine.fingerprint) is None
    assert seen.rows(me, run.id)["trial"].tolist() == [0]
    assert [one.fingerprint for one in seen.datasets(me)] == [wine.fingerprint]
    assert {one.fingerprint for one in seen.models(me)} == set(models), "the view's, and the one that its run tested"
    assert [one.fingerprint for one in seen.prediction_files(me)] == [UPLOAD.fingerprint]
    with pytest.raises(WorkspaceError, match=NOT_SHOWN):
        seen.predictions(me, HIDDEN.fingerprint)


def delete_something(workspace: Workspace, view: View, what: str) -> None:
    if what == "datasets":
        workspace.delete_dataset(OWNER, view.datasets[0])
    elif what == "predictions":
        workspace.delete_predictions(OWNER, view.predictions[0])
    elif what == "models":
        workspace.delete_model(OWNER, view.models[0])
    else:
        workspace.delete_run(OWNER, view.runs[0])


@pytest.mark.parametrize("what", ["datasets", "predictions", "models", "runs"])
def test_a_link_to_a_view_dies_with_the_first_thing_that_it_rests_on(what, workspace, view, wine):
    token = workspace.create_link(OWNER, view)
    seen = SharedWorkspace(workspace, token)
    workspace.add_predictions(OTHER, UPLOAD)
    workspace.delete_predictions(OTHER, UPLOAD.fingerprint)
    workspace.delete_predictions(OWNER, HIDDEN.fingerprint)
    assert seen.shown(seen.owner) == view
    delete_something(workspace, view, what)
    for ask in (lambda: SharedWorkspace(workspace, token), lambda: seen.shown(seen.owner)):
        with pytest.raises(DeadLink):
            ask()
    assert workspace.links(OWNER) == []
    assert everything(workspace)["view_link_rests_on"] == []


@pytest.mark.parametrize("what", ["datasets", "predictions", "models", "runs"])
def test_what_is_deleted_before_a_link_is_there_gets_none(what, workspace, view, monkeypatch):
    made = links._rows

    def too_late(*given):
        delete_something(workspace, view, what)
        yield from made(*given)

    monkeypatch.setattr(links, "_rows", too_late)
    with pytest.raises(WorkspaceError, match="not in your workspace"):
        workspace.create_link(OWNER, view)
    left = everything(workspace)
    assert left["view_links"] == left["view_link_rests_on"] == []


def test_who_deletes_something_waits_for_the_link_that_is_being_made(workspace, view, monkeypatch):
    made = links._rows

    def slowly(*given):
        yield from made(*given)
        other = sqlite3.connect(workspace._database.url.database, timeout=0.05)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM predictions")
        other.close()

    monkeypatch.setattr(links, "_rows", slowly)
    token = workspace.create_link(OWNER, view)
    workspace.delete_predictions(OWNER, UPLOAD.fingerprint)
    with pytest.raises(DeadLink):
        SharedWorkspace(workspace, token)


def test_a_run_that_is_deleted_meanwhile_gets_no_link(workspace, run, monkeypatch):
    made = links._rows

    def too_late(*given):
        workspace.delete_run(OWNER, run.id)
        yield from made(*given)

    monkeypatch.setattr(links, "_rows", too_late)
    with pytest.raises(WorkspaceError, match="not in your workspace"):
        workspace.create_link(OWNER, run.id)


def test_all_links_that_show_any_of_the_same_on_the_same_page_are_found_together(workspace, view, run):
    without = replace(view, runs=(), settings={})
    other = replace(view, predictions=(HIDDEN.fingerprint,), datasets=(), models=(), runs=())
    for shown in (view, without, other, replace(view, page="data_sets"), run.id):
        workspace.create_link(OWNER, shown)
    assert {str(one.shows) for one in workspace.links(OWNER, view)} == {str(view), str(without), run.id}
    assert {str(one.shows) for one in workspace.links(OWNER, other)} == {str(other)}
    of_the_run = {one.shows if isinstance(one.shows, str) else one.shows.page for one in workspace.links(OWNER, run.id)}
    assert of_the_run == {run.id, view.page, "data_sets"}
    assert len(workspace.links(OWNER)) == 5


def test_links_are_found_with_few_questions_however_many_there_are(workspace, view):
    for _ in range(20):
        workspace.create_link(OWNER, view)
    asked: list[str] = []
    event.listen(workspace._database, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert len(workspace.links(OWNER)) == 20
    assert len(asked) <= 4
