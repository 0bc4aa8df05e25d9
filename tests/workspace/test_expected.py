"""Is the time that a plan will take told by runs like it, and by no others?"""

import dataclasses

import pytest

from touchstone.core.data import Dataset, load_example
from touchstone.core.trials import TrialPlan, to_json
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.runs import alike, expected_seconds

PLAN = TrialPlan(models=("logistic",), n_repeats=4)


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


def run_of(dataset: Dataset, plan: TrialPlan = PLAN, *, pace: float | None = 2.0, fingerprint: str = "") -> Run:
    numbers = {"n_trials": 12, "n_done": 12, "n_failed": 0, "created": 0.0, "seconds_left": None, "pace": pace}
    about = {"id": "r1", "key": "k1", "kind": plan.kind, "plan": to_json(plan), "dataset_name": "wine", "errors": ()}
    times = {"started": 0.0, "finished": 24.0, "state": "done", "cancelling": False, "provenance": {}}
    return Run(fingerprint=fingerprint or dataset.fingerprint, **numbers, **about, **times)


def test_it_is_the_pace_of_a_run_like_it_times_its_trials(wine):
    assert expected_seconds(PLAN, wine, [run_of(wine)], n_trials=30) == 60.0


def test_of_several_runs_the_median_pace_counts(wine):
    runs = [run_of(wine, pace=pace) for pace in (1.0, 2.0, 50.0)]
    assert expected_seconds(PLAN, wine, runs, n_trials=10) == 20.0


@pytest.mark.parametrize("changed", [{"seed": 7}, {"n_repeats": 40}, {"n_repeats": 40, "seed": 7}])
def test_seeds_and_repeats_leave_a_trial_as_much_work(wine, changed):
    assert alike(run_of(wine), dataclasses.replace(PLAN, **changed), wine)


@pytest.mark.parametrize("changed", [{"models": ("svm",)}, {"n_sources": 3}, {"test_share": 0.3}])
def test_whatever_else_differs_makes_other_work_of_it(wine, changed):
    plan = dataclasses.replace(PLAN, **changed)
    assert expected_seconds(plan, wine, [run_of(wine)], n_trials=12) is None


def test_other_data_an_unfinished_start_and_plans_of_other_versions_tell_nothing(wine):
    unknown = dataclasses.replace(run_of(wine), plan='{"kind": "trials", "oracle": 1}')
    for run in (run_of(wine, fingerprint="other"), run_of(wine, pace=None), unknown):
        assert expected_seconds(PLAN, wine, [run], n_trials=12) is None


def test_a_stored_run_has_the_pace_at_which_it_was_done(tmp_path, wine):
    workspace = Workspace(tmp_path)
    workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    run = workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint, n_trials=2)
    assert run.pace is None
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    for trial in range(2):
        rows = PLAN.failed_trial(wine, trial)
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: frames.to_bytes(rows)})
    going = workspace.run(LOCAL_OWNER, run.id)
    assert going.pace is not None
    assert going.seconds_left == 0
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    done = workspace.run(LOCAL_OWNER, run.id)
    assert done.started is not None
    assert done.finished is not None
    assert done.pace == pytest.approx((done.finished - done.started) / 2)
    assert done.seconds_left is None
    workspace.close()
