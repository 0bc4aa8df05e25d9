"""Is the time that a plan will take told by runs like it, and by no others?"""

import dataclasses

import pytest

from touchstone.core.data import Dataset, load_example
from touchstone.core.trials import TrialPlan, to_json
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.engine.run_in_work import Tempo
from touchstone.core.workspace.runs import alike, expected_seconds
from touchstone.core.workspace.schema import now

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
    assert workspace.run(LOCAL_OWNER, run.id).seconds_left is None, "what came of cold workers tells nothing"
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    done = workspace.run(LOCAL_OWNER, run.id)
    assert done.started is not None
    assert done.finished is not None
    assert done.pace == pytest.approx((done.finished - done.started) / 2)
    assert done.seconds_left is None
    workspace.close()


def test_the_pace_is_that_of_warm_workers_also_when_all_is_done_and_begins_anew_when_a_run_is_resumed(tmp_path, wine):
    workspace = Workspace(tmp_path)
    workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    run = workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint, n_trials=8)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")

    def store(trials):
        for trial in trials:
            workspace.store_trials(LOCAL_OWNER, run.id, {trial: frames.to_bytes(PLAN.failed_trial(wine, trial))})

    store(range(2))
    began = now()
    workspace.count_from(LOCAL_OWNER, run.id, "somebody else", began - 100.0, 2.0)
    assert workspace.run(LOCAL_OWNER, run.id).pace is None, "the lease is not theirs"
    workspace.count_from(LOCAL_OWNER, run.id, "test", began - 4.0, 2.0)
    assert workspace.run(LOCAL_OWNER, run.id).pace is None, "nothing has come since"
    store(range(2, 4))
    going = workspace.run(LOCAL_OWNER, run.id)
    assert going.pace == pytest.approx((now() - began + 4.0) / 2, abs=0.5)
    assert going.seconds_left == pytest.approx(4 * going.pace)
    workspace.release(LOCAL_OWNER, run.id, "test", "interrupted")
    assert workspace.acquire(LOCAL_OWNER, run.id, "another")
    assert workspace.run(LOCAL_OWNER, run.id).pace is None, "its workers are cold"
    workspace.count_from(LOCAL_OWNER, run.id, "another", now(), 4.0)
    store(range(4, 8))
    workspace.release(LOCAL_OWNER, run.id, "another", "done")
    done = workspace.run(LOCAL_OWNER, run.id)
    assert done.pace < (done.finished - done.started) / 4
    workspace.close()


def test_the_pace_is_counted_over_the_later_half_once_every_worker_is_warm():
    """Two workers: 20 s to import, then a trial a second each; a line of ten trials takes that."""
    tempo, since = Tempo(n_workers=2), None
    for when, n_done in ((20.0, 1), (21.0, 2), *((21.0 + i, 2 + 2 * i) for i in range(1, 10))):
        since = tempo.note(when, n_done, []) or since
        if n_done > 2:
            pace = (when - since[0]) / (n_done - since[1])
            assert pace == pytest.approx(0.5)
            assert since[1] <= (2 + n_done) / 2
    assert since == (25.0, 10)


def test_a_single_trial_tells_by_its_steps_and_a_trial_that_begins_anew_moves_nothing_back():
    tempo = Tempo(n_workers=2)
    assert tempo.note(30.0, 0, [0.0]) is None
    assert tempo.note(31.0, 0, [0.1]) == (31.0, 0.1)
    assert tempo.note(32.0, 0, [0.2]) is None
    assert tempo.note(33.0, 0, [0.05]) is None
    assert tempo.note(34.0, 0, [0.3]) == (32.0, 0.2)
    assert tempo.note(34.5, 0, [0.3]) is None
