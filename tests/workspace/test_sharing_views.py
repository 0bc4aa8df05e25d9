"""Through a link to a view there is what it rests on and nothing else; what goes of that takes the link along."""

import sqlite3
from dataclasses import replace

import pytest
from sqlalchemy import event

from tests.workspace.plans import SleepPlan
from tests.workspace.test_owners import COMPARISON, NEW, OTHER, OWNER, UPLOAD, everything
from tests.workspace.test_sharing import DAY, SHOWN, clock, models, public, run
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.workspace import SharedWorkspace, View, Workspace, WorkspaceError, access
from touchstone.core.workspace.access import DEAD, DeadLink
from touchstone.core.workspace.workspace import NOT_SHOWN, READ_ONLY

__all__ = ["clock", "models", "run"]  # fixtures
HIDDEN = PredictionUpload(GivenFile("hidden.tsv", b"id\tanswer\tgold\n1\tcat\tfox\n2\tfox\tdog\n"))


@pytest.fixture
def comparison(workspace: Workspace, run) -> View:
    """The two files that are shared, beside another file, and a run."""
    for upload in (UPLOAD, NEW, HIDDEN):
        workspace.add_predictions(OWNER, upload)
    return COMPARISON


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
    made = access._rows

    def too_late(*given):
        delete_something(workspace, view, what)
        yield from made(*given)

    monkeypatch.setattr(access, "_rows", too_late)
    with pytest.raises(WorkspaceError, match="not in your workspace"):
        workspace.create_link(OWNER, view)
    left = everything(workspace)
    assert left["view_links"] == left["view_link_rests_on"] == []


@pytest.mark.sqlite
def test_who_deletes_something_waits_for_the_link_that_is_being_made(workspace, view, monkeypatch):
    made = access._rows

    def slowly(*given):
        yield from made(*given)
        other = sqlite3.connect(workspace._store.database.url.database, timeout=0.05)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM predictions")
        other.close()

    monkeypatch.setattr(access, "_rows", slowly)
    token = workspace.create_link(OWNER, view)
    workspace.delete_predictions(OWNER, UPLOAD.fingerprint)
    with pytest.raises(DeadLink):
        SharedWorkspace(workspace, token)


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
    event.listen(workspace._store.database, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert len(workspace.links(OWNER)) == 20
    assert len(asked) <= 4
