"""Sources that a network finds are found first, by a run of their own, once for all plans that draw from them."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.workspace.conftest import wait_until, wait_while_running
from tests.workspace.plans import FINDERS
from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.trials import Context, SourcesPlan, TrialPlan, to_json
from touchstone.core.workspace import LOCAL_OWNER, Run, frames
from touchstone.core.workspace.engine.needed import found_otherwise, found_rows, found_sources
from touchstone.core.workspace.engine.runner import Engine
from touchstone.core.workspace.records import Steps

DEEP = TrialPlan(models=("logistic",), source_finders=("kmeans", "deep_kmeans"), n_repeats=2, n_clusterings=2)
SOURCES = SourcesPlan("deep_kmeans", n_clusterings=2)


@pytest.fixture(autouse=True)
def finders(monkeypatch) -> None:
    """The misbehaving source finders are known here, too."""
    for name, finder in FINDERS.items():
        monkeypatch.setitem(SOURCE_FINDERS, name, finder)


def drawing_from(finder: str, *, model: str = "logistic") -> TrialPlan:
    return TrialPlan(models=(model,), source_finders=(finder,), n_repeats=2, n_clusterings=1)


def sources_runs(workspace) -> list[Run]:
    return [run for run in workspace.runs(LOCAL_OWNER) if run.kind == "sources"]


def start(workspace, executor, wine, plan) -> Run:
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    assert Engine(workspace, executor).start(LOCAL_OWNER, run.id)
    return run


def test_sources_are_found_once_and_trials_are_those_of_a_plain_script(workspace, wine, run_plan):
    run = run_plan(DEEP)
    assert (run.state, run.n_failed, run.errors) == ("done", 0, ())
    here = [DEEP.run_trial(wine, trial, context=Context()) for trial in range(DEEP.n_trials(wine))]
    there = workspace.rows(LOCAL_OWNER, run.id)
    expected = pd.concat(here, ignore_index=True)
    pd.testing.assert_frame_equal(there.drop(columns="seconds"), expected.drop(columns="seconds"))
    [sources] = sources_runs(workspace)
    assert (sources.state, sources.n_done) == ("done", 2)
    assert sources == workspace.find_run(LOCAL_OWNER, SOURCES, wine.fingerprint)

    again = run_plan(TrialPlan(models=("nearest_neighbours",), source_finders=("deep_kmeans",), n_clusterings=2))
    assert again.state == "done"
    assert sources_runs(workspace) == [sources], "the sources were found a second time"
    found = found_sources(workspace, LOCAL_OWNER, DEEP, wine)
    assert len(found) == 2
    assert all((DEEP.sources(wine, "deep_kmeans", number) == of).all() for (_, number), of in found.items())


def test_the_pace_of_trials_is_counted_from_when_the_sources_were_found(workspace, wine, run_plan):
    run = run_plan(DEEP)
    [sources] = sources_runs(workspace)
    assert run.started is not None
    assert sources.finished is not None
    assert run.started >= sources.finished - 1e-3


def test_a_run_says_what_it_waits_for_and_cancel_reaches_it(workspace, executor, wine):
    run = start(workspace, executor, wine, drawing_from("endless"))
    waiting = wait_until(lambda: workspace.run(LOCAL_OWNER, run.id), lambda run: run.waits_for)
    far = wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).waits_for, lambda steps: steps.n_steps == 10**6)
    assert waiting.waits_for.what.startswith("Finding sources by Endless: ")
    assert far == Steps(far.n_done, 10**6, "Finding sources by Endless: epoch")
    assert waiting.share == 0, "what is waited for is no part of the trials"
    workspace.cancel(LOCAL_OWNER, run.id)
    assert wait_while_running(workspace, run.id).state == "cancelled"
    [sources] = sources_runs(workspace)
    assert wait_while_running(workspace, sources.id).state == "cancelled"
    assert workspace.run(LOCAL_OWNER, run.id).waits_for is None
    wait_until(executor.client().processing, lambda tasks: not any(tasks.values()))


def test_a_search_that_another_run_waits_for_goes_on_and_its_cancel_ends_those_that_wait(workspace, executor, wine):
    engine = Engine(workspace, executor)
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    plans = [drawing_from("endless", model=model) for model in ("logistic", "svm")]
    first, second = (workspace.create_run(LOCAL_OWNER, plan, fingerprint) for plan in plans)
    assert all(engine.start(LOCAL_OWNER, run.id) for run in (first, second))
    for run in (first, second):
        wait_until(lambda run=run: workspace.run(LOCAL_OWNER, run.id).waits_for, bool)
    workspace.cancel(LOCAL_OWNER, first.id)
    assert wait_while_running(workspace, first.id).state == "cancelled"
    [sources] = sources_runs(workspace)
    assert (sources.state, sources.cancelling) == ("running", False)
    workspace.cancel(LOCAL_OWNER, sources.id)
    ended = wait_while_running(workspace, second.id)
    assert (ended.state, ended.n_done) == ("interrupted", 0)
    assert ended.errors == ("Finding sources by Endless was cancelled, and this run needs it. Resume to continue it.",)
    wait_until(executor.client().processing, lambda tasks: not any(tasks.values()))


def test_a_search_that_fails_ends_the_run_with_its_reason(workspace, run_plan):
    run = run_plan(drawing_from("hopeless"))
    assert (run.state, run.n_done) == ("interrupted", 0)
    [error] = run.errors
    assert error.startswith("Finding sources by Hopeless failed, and this run needs it: DataError: these samples")
    assert "Delete that run" in error


def test_a_search_that_is_deleted_ends_the_runs_that_wait_for_it(workspace, executor, wine):
    run = start(workspace, executor, wine, drawing_from("endless"))
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).waits_for, bool)
    [sources] = sources_runs(workspace)
    workspace.delete_run(LOCAL_OWNER, sources.id)
    ended = wait_while_running(workspace, run.id)
    assert (ended.state, ended.n_done) == ("interrupted", 0)
    assert ended.errors == (
        "Finding sources by Endless was deleted, and this run needs it. Resume to compute it again.",
    )
    wait_until(executor.client().processing, lambda tasks: not any(tasks.values()))


def test_a_run_tells_what_its_sources_were_and_goes_on_with_no_others(workspace, executor, wine, run_plan):
    whole = run_plan(DEEP)
    assert list(whole.provenance["sources"]) == [to_json(SOURCES)]
    assert whole.provenance["source_notes"] == []
    assert found_otherwise(whole, found_rows(workspace, LOCAL_OWNER, DEEP, wine)) == ()

    begun = workspace.create_run(LOCAL_OWNER, replace(DEEP, models=("svm",)), wine.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, begun.id, "test")
    elsewhere = {"sources": {to_json(SOURCES): "found on another machine"}}
    workspace.record_provenance(LOCAL_OWNER, begun.id, elsewhere)
    rows = replace(DEEP, models=("svm",)).run_trial(wine, 0, context=Context())
    workspace.store_trials(LOCAL_OWNER, begun.id, {0: frames.to_bytes(rows)})
    workspace.release(LOCAL_OWNER, begun.id, "test", "interrupted")
    begun = workspace.run(LOCAL_OWNER, begun.id)
    assert found_otherwise(begun, found_rows(workspace, LOCAL_OWNER, DEEP, wine)) == (SOURCES,)
    assert Engine(workspace, executor).start(LOCAL_OWNER, begun.id)
    ended = wait_while_running(workspace, begun.id)
    assert (ended.state, ended.n_done) == ("interrupted", 1)
    assert ended.errors[0].startswith("The sources of this run were deleted")


def test_a_run_that_another_process_left_behind_is_taken_over(workspace, executor, wine):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    left = workspace.create_run(LOCAL_OWNER, SOURCES, fingerprint)
    assert workspace.acquire(LOCAL_OWNER, left.id, "another process")
    run = start(workspace, executor, wine, DEEP)
    waiting = wait_until(lambda: workspace.run(LOCAL_OWNER, run.id), lambda run: run.waits_for)
    assert waiting.waits_for == Steps(0, 2, "Finding sources by deep k-means: clustering")
    workspace.release(LOCAL_OWNER, left.id, "another process", "interrupted")
    assert wait_while_running(workspace, run.id).state == "done"
