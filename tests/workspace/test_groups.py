"""Where the workers have a GPU they are given several trials at once; the rows are those of trials one by one."""

import pandas as pd
import pytest
import torch

from tests.workspace.plans import GroupedPlan
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "log")


def groups_in(log: str) -> list[list[int]]:
    with open(f"{log}.groups") as lines:
        return sorted([int(index) for index in line.split()] for line in lines)


def test_the_executor_asks_a_worker_for_its_gpu(executor):
    assert executor.has_gpu() == torch.cuda.is_available()


def test_with_a_gpu_trials_go_in_groups_and_without_one_by_one(run_plan, executor, workspace, log, monkeypatch):
    plan = GroupedPlan(n=10, log=log)
    for gpu in (False, True):
        monkeypatch.setattr(executor, "has_gpu", lambda gpu=gpu: gpu)
        run = run_plan(plan)
        assert (run.state, run.n_done, run.n_failed) == ("done", 10, 0)
        assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == list(range(10))
        workspace.delete_run(LOCAL_OWNER, run.id)
        if not gpu:
            with pytest.raises(FileNotFoundError):
                groups_in(log)
    assert groups_in(log) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.evidence
def test_of_a_group_that_fails_only_the_trial_at_fault_does(run_plan, executor, workspace, log, monkeypatch):
    monkeypatch.setattr(executor, "has_gpu", lambda: True)
    run = run_plan(GroupedPlan(n=12, log=log, raising=(5,), killing=(10,)))
    assert (run.state, run.n_done, run.n_failed) == ("done", 12, 2)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert rows["trial"].tolist() == list(range(12))
    assert rows.loc[rows["status"] == "failed", "trial"].tolist() == [5, 10]
    assert any("trial 5 cannot be done" in error for error in run.errors)
    assert any("also alone" in error for error in run.errors)


@pytest.mark.evidence
def test_trials_of_networks_in_groups_have_the_rows_of_trials_one_by_one(
    run_plan, executor, workspace, wine, monkeypatch
):
    monkeypatch.setattr(executor, "has_gpu", lambda: True)
    plan = TrialPlan(models=("logistic", "linear"), n_repeats=2, n_clusterings=1, n_epochs=2)
    assert plan.groups(wine, range(1, 16)) == [(1, 3, 5, 7, 9, 11, 13, 15), *[(trial,) for trial in range(2, 16, 2)]]
    run = run_plan(plan)
    assert (run.state, run.n_failed) == ("done", 0)
    here = pd.concat([plan.run_trial(wine, i, context=Context()) for i in range(16)], ignore_index=True)
    there = workspace.rows(LOCAL_OWNER, run.id)
    pd.testing.assert_frame_equal(there.drop(columns="seconds"), here.drop(columns="seconds"))
