"""Trainings on real workers: told by epoch, stopped between epochs, begun again where their worker dies."""

import os
import signal

import pandas as pd
import pytest

from tests.workspace.conftest import wait_until, wait_while_running, worker_pids
from touchstone.core.trials import Context, TrainingPlan
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.runner import Engine

ENDLESS = TrainingPlan("linear", n_epochs=10**7)


def test_a_training_leaves_its_rows_and_its_model(workspace, wine, run_plan):
    plan = TrainingPlan("linear", n_epochs=5)
    run = run_plan(plan)
    assert (run.state, run.n_done, run.n_failed) == ("done", 1, 0)
    there = workspace.rows(LOCAL_OWNER, run.id)
    here = plan.run_trial(wine, 0, context=Context())
    pd.testing.assert_frame_equal(there.drop(columns="seconds"), here.drop(columns="seconds"))
    [model] = workspace.models(LOCAL_OWNER, wine.fingerprint)
    whole = there.iloc[-1]
    assert (model.fingerprint, model.n_test, model.n_correct) == (
        whole["model"],
        whole["n_test"],
        whole["n_correct"],
    )
    assert (model.name, model.architecture, model.training_plan) == (plan.title, "linear", run.plan)


def test_cancel_is_heard_between_two_epochs_and_leaves_nothing(workspace, executor, wine, run_plan):
    run = workspace.create_run(LOCAL_OWNER, ENDLESS, workspace.add_dataset(LOCAL_OWNER, wine))
    assert Engine(workspace, executor).start(LOCAL_OWNER, run.id)
    first = wait_until(lambda: workspace.run(LOCAL_OWNER, run.id), lambda run: run.steps)
    assert (first.steps[0].n_steps, first.steps[0].what) == (10**7, "epoch")
    workspace.cancel(LOCAL_OWNER, run.id)
    stopped = wait_while_running(workspace, run.id)
    assert (stopped.state, stopped.n_done, stopped.steps) == ("cancelled", 0, ())
    assert workspace.models(LOCAL_OWNER) == []
    wait_until(executor.client().processing, lambda tasks: not any(tasks.values()))
    assert run_plan(TrainingPlan("linear", n_epochs=2)).state == "done"


@pytest.mark.evidence
def test_a_training_whose_worker_dies_begins_again_and_makes_the_same_model(workspace, executor, wine):
    plan = TrainingPlan("linear", n_epochs=1000)
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    pids = worker_pids(executor)
    assert Engine(workspace, executor).start(LOCAL_OWNER, run.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).steps, bool)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    run = wait_while_running(workspace, run.id)
    assert (run.state, run.n_done, run.n_failed) == ("done", 1, 0)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert rows["epoch"].dropna().tolist() == list(range(1, 1001))
    [model] = workspace.models(LOCAL_OWNER)
    here = plan.run_trial(wine, 0, context=Context())
    assert model.fingerprint == rows["model"].iloc[-1] == here["model"].iloc[-1]


def test_a_training_that_cannot_be_done_fails_with_its_reason(workspace, run_plan):
    run = run_plan(TrainingPlan("mlp_2048", n_epochs=5, learning_rate=1e8))
    assert (run.state, run.n_done, run.n_failed) == ("done", 1, 1)
    assert "Training diverged" in run.errors[0]
    assert workspace.models(LOCAL_OWNER) == []
