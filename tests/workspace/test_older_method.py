"""Where the version of a method is raised, what it computed before still opens, and says so."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from tests.workspace.plans import SleepPlan
from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.report.recreate import recreate
from touchstone.core.report.run_report import OLDER_METHOD, provenance, recipe
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Run, SharedWorkspace, WorkspaceError, frames
from touchstone.core.workspace.engine.runner import Engine

PLAN = SleepPlan(n=2)


@pytest.fixture
def old(workspace, wine, monkeypatch) -> Run:
    """A run that was computed before the version of its method was raised; another plan's is as it was."""
    workspace.add_dataset(LOCAL_OWNER, wine)
    run = stored(workspace, wine, PLAN)
    assert not run.older_method
    monkeypatch.setattr(SleepPlan, "METHOD_VERSION", 2)
    return workspace.run(LOCAL_OWNER, run.id)


def stored(workspace, wine, plan, *, state: str = "done") -> Run:
    run = workspace.create_run(LOCAL_OWNER, plan, wine.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    for trial in range(run.n_trials if state == "done" else 1):
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: frames.to_bytes(pd.DataFrame({"trial": [trial]}))})
    workspace.release(LOCAL_OWNER, run.id, "test", state)
    return workspace.run(LOCAL_OWNER, run.id)


def test_an_older_run_is_found_until_todays_method_has_one(workspace, wine, old):
    assert old.older_method
    assert workspace.find_run(LOCAL_OWNER, PLAN, wine.fingerprint) == old
    assert workspace.find_run("somebody else", PLAN, wine.fingerprint) is None
    assert workspace.find_run(LOCAL_OWNER, SleepPlan(n=3), wine.fingerprint) is None
    assert len(workspace.rows(LOCAL_OWNER, old.id)) == 2
    new = workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint)
    assert (new.id != old.id, new.older_method, new.n_done) == (True, False, 0)
    assert workspace.find_run(LOCAL_OWNER, PLAN, wine.fingerprint) == new
    assert {run.id: run.older_method for run in workspace.runs(LOCAL_OWNER)} == {old.id: True, new.id: False}


def test_a_link_goes_on_showing_the_older_run(workspace, wine, old):
    shared = SharedWorkspace(workspace, workspace.create_link(LOCAL_OWNER, old.id))
    workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint)
    assert shared.find_run(shared.owner, PLAN, wine.fingerprint) == old
    assert shared.run(shared.owner, old.id).older_method
    assert shared.find_run(shared.owner, SleepPlan(n=3), wine.fingerprint) is None


def test_what_an_older_method_began_is_not_gone_on_with(workspace, wine, executor, monkeypatch):
    workspace.add_dataset(LOCAL_OWNER, wine)
    begun = stored(workspace, wine, PLAN, state="interrupted")
    monkeypatch.setattr(SleepPlan, "METHOD_VERSION", 2)
    with pytest.raises(WorkspaceError, match="started with an older method"):
        Engine(workspace, executor).start(LOCAL_OWNER, begun.id)
    assert workspace.run(LOCAL_OWNER, begun.id).state == "interrupted"


def test_what_is_taken_away_of_an_older_run_says_so(workspace, old):
    assert dict(provenance(old))["Method"] == OLDER_METHOD
    parameters = recipe(old, None)
    assert json.loads(parameters)["method"] == 1
    with pytest.raises(ValueError, match="is version 2 here and was 1 in the file"):
        recreate(workspace, LOCAL_OWNER, parameters)


def test_a_run_of_a_kind_that_is_not_known_here_is_of_no_older_method(old):
    unknown = Run(**{**vars(old), "kind": "oracle", "plan": '{"kind":"oracle"}'})
    assert not unknown.older_method


def test_a_source_finder_that_changes_makes_those_runs_older_that_chose_it(workspace, wine, monkeypatch):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    chose, did_not = (
        workspace.create_run(LOCAL_OWNER, TrialPlan(source_finders=(name,)), fingerprint)
        for name in ("same_size_kmeans", "kmeans")
    )
    finder = SOURCE_FINDERS["same_size_kmeans"]
    monkeypatch.setitem(SOURCE_FINDERS, "same_size_kmeans", replace(finder, version=finder.version + 1))
    assert [workspace.run(LOCAL_OWNER, run.id).older_method for run in (chose, did_not)] == [True, False]
