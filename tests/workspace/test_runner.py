"""Runs on real worker processes: everything is computed once, whatever dies on the way."""

import os
import signal
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from distributed import Future
from distributed.comm.core import CommClosedError

from tests.workspace.conftest import wait_until, wait_while_running, worker_pids
from tests.workspace.plans import SleepPlan
from touchstone.core.trials import COLUMNS, Context, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.executor import Executor, provenance
from touchstone.core.workspace.engine.runner import Engine, workers
from touchstone.core.workspace.engine.worker import NICE, work


def finished(log: Path) -> Counter:
    return Counter(int(line) for line in log.read_text().split())


def test_a_plan_becomes_rows_in_the_order_of_its_trials(run_plan, workspace):
    run = run_plan(SleepPlan(n=7))
    assert (run.state, run.n_done, run.n_failed) == ("done", 7, 0)
    assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == list(range(7))
    assert run.provenance["n_workers"] == 2
    assert run.provenance["versions"]["numpy"]


def test_provenance_counts_a_worker_that_is_being_replaced(monkeypatch):
    executor = Executor(n_workers=2)
    monkeypatch.setattr(executor, "client", lambda: SimpleNamespace(nthreads=lambda: {"the other": 1}))
    assert provenance(executor)["n_workers"] == 2


def test_workers_here_are_well_before_and_after_they_start(workspace, executor):
    before, after = Engine(workspace, Executor(n_workers=1)), Engine(workspace, executor)
    assert workers(lambda: before) == "not started"
    assert before.executor.connected() is None, "asking started them"
    worker_pids(executor)
    assert workers(lambda: after) == "ok"


def test_rows_do_not_depend_on_who_computes_them(run_plan, workspace, wine):
    plan = TrialPlan(models=("logistic", "nearest_neighbours"), n_repeats=4)
    run = run_plan(plan)
    here = [plan.run_trial(wine, trial, context=Context()) for trial in range(plan.n_trials(wine))]
    there = workspace.rows(LOCAL_OWNER, run.id)
    assert list(there.columns) == list(COLUMNS)
    expected = pd.concat(here, ignore_index=True)
    pd.testing.assert_frame_equal(there.drop(columns="seconds"), expected.drop(columns="seconds"))
    assert there.dtypes.astype(str).to_dict() == COLUMNS


def test_a_killed_worker_is_replaced_and_its_trials_run_again(workspace, executor, wine, tmp_path):
    log = tmp_path / "log"
    plan = SleepPlan(n=12, seconds=0.3, log=str(log))
    made = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    pids = worker_pids(executor)
    assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, made.id).n_done, lambda n: n >= 3)
    os.kill(pids.pop(), signal.SIGKILL)
    run = wait_while_running(workspace, made.id)
    assert (run.state, run.n_done, run.n_failed) == ("done", 12, 0)
    assert set(finished(log)) == set(range(12))


def test_all_workers_killed_at_once_lose_nothing(workspace, executor, wine, tmp_path):
    """The data goes with them and is sent again."""
    plan = SleepPlan(n=10, seconds=0.3, log=str(tmp_path / "log"))
    made = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    pids = worker_pids(executor)
    assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, made.id).n_done, lambda n: n >= 2)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    run = wait_while_running(workspace, made.id)
    assert (run.state, run.n_done, run.n_failed) == ("done", 10, 0)


def test_an_answer_that_is_lost_on_its_way_fails_no_trial(run_plan, workspace, monkeypatch):
    """As where the scheduler of a cluster is restarted while an answer comes over."""
    result, lost = Future.result, []

    def closed_once(future, *args, **options):
        answer = result(future, *args, **options)
        if not lost:
            lost.append(future)
            raise CommClosedError("Stream is closed")
        return answer

    monkeypatch.setattr(Future, "result", closed_once)
    run = run_plan(SleepPlan(n=6))
    assert lost
    assert (run.state, run.n_done, run.n_failed, run.errors) == ("done", 6, 0, ())
    assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == list(range(6))


def test_an_answer_that_cannot_be_taken_fails_its_trial_and_is_not_asked_for_for_ever(run_plan, monkeypatch):
    def no_room(future, *args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Future, "result", no_room)
    run = run_plan(SleepPlan(n=2))
    assert (run.state, run.n_done, run.n_failed) == ("done", 2, 2)
    assert "No space left on device" in run.errors[0]


def test_a_trial_that_always_kills_its_worker_fails_and_the_others_do_not(run_plan, workspace, tmp_path):
    run = run_plan(SleepPlan(n=8, seconds=0.05, killing=(3,), killing_once=(5,), log=str(tmp_path / "log")))
    assert (run.state, run.n_done, run.n_failed) == ("done", 8, 1)
    assert "died" in run.errors[0]
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert rows.loc[rows["status"] == "failed", "trial"].tolist() == [3]


def test_a_trial_that_raises_fails_with_its_message(run_plan):
    run = run_plan(SleepPlan(n=4, raising=(1, 2)))
    assert (run.state, run.n_done, run.n_failed) == ("done", 4, 2)
    assert set(run.errors) == {"DataError: trial 1 cannot be done", "DataError: trial 2 cannot be done"}


def test_a_trial_that_hangs_is_given_up(run_plan):
    run = run_plan(SleepPlan(n=5, hanging=(2,)), trial_seconds=2.0)
    assert (run.state, run.n_done, run.n_failed) == ("done", 5, 1)
    assert "Given up" in run.errors[0]


def test_cancel_reaches_running_trials_and_resume_does_only_the_rest(workspace, executor, wine, tmp_path):
    log = tmp_path / "log"
    plan = SleepPlan(n=6, seconds=1.5, log=str(log))
    made = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    engine = Engine(workspace, executor)
    assert engine.start(LOCAL_OWNER, made.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, made.id).n_done, lambda n: n >= 2)
    workspace.cancel(LOCAL_OWNER, made.id)
    run = wait_while_running(workspace, made.id)
    assert run.state == "cancelled"
    assert run.n_done < 6
    assert sum(finished(log).values()) == run.n_done, "a trial went on after the cancel"
    assert engine.start(LOCAL_OWNER, made.id)
    run = wait_while_running(workspace, made.id)
    assert (run.state, run.n_done) == ("done", 6)
    assert finished(log) == Counter(range(6)), "a finished trial ran twice"


def test_a_deleted_run_stops_by_itself(workspace, executor, wine):
    made = workspace.create_run(LOCAL_OWNER, SleepPlan(n=50, seconds=0.2), workspace.add_dataset(LOCAL_OWNER, wine))
    engine = Engine(workspace, executor)
    assert engine.start(LOCAL_OWNER, made.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, made.id).n_done, lambda n: n >= 1)
    workspace.delete_run(LOCAL_OWNER, made.id)
    for thread in engine._threads:
        thread.join(timeout=20)
        assert not thread.is_alive()
    assert workspace.runs(LOCAL_OWNER) == []


def test_two_engines_do_not_work_on_one_run(workspace, executor, wine):
    made = workspace.create_run(LOCAL_OWNER, SleepPlan(n=4, seconds=0.3), workspace.add_dataset(LOCAL_OWNER, wine))
    assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    assert not Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    assert wait_while_running(workspace, made.id).n_done == 4
    assert not Engine(workspace, executor).start(LOCAL_OWNER, made.id), "nothing is left to do"


def test_workers_know_nothing_of_streamlit_also_after_a_respawn(executor):
    worker_pids(executor)
    client = executor.client()
    client.run(_import_work)
    assert not any(client.run(_has_streamlit).values())
    before = worker_pids(executor)
    os.kill(min(before), signal.SIGKILL)
    wait_until(lambda: worker_pids(executor), lambda pids: len(pids - before) == 1)
    client.run(_import_work)
    assert not any(client.run(_has_streamlit).values())


def _import_work() -> str:
    return work.__module__


def _has_streamlit() -> bool:
    import sys

    return "streamlit" in sys.modules


def test_workers_are_single_threaded(executor):
    worker_pids(executor)
    assert set(executor.client().nthreads().values()) == {1}
    assert set(executor.client().run(_omp_threads).values()) == {"1"}


def test_workers_step_back_behind_the_process_of_the_pages(executor):
    worker_pids(executor)  # once all are there
    assert set(executor.client().run(os.nice, 0).values()) == {min(os.nice(0) + NICE, 19)}


def test_workers_let_torch_ask_for_large_pages(executor):
    worker_pids(executor)
    assert set(executor.client().run(_large_pages).values()) == {"1"}


def _large_pages() -> str | None:
    return os.environ.get("THP_MEM_ALLOC_ENABLE")


def test_a_ctrl_c_in_the_terminal_is_left_to_the_app(executor):
    pids = worker_pids(executor)
    for pid in pids:
        os.kill(pid, signal.SIGINT)
    assert worker_pids(executor) == pids


def _omp_threads() -> str | None:
    return os.environ.get("OMP_NUM_THREADS")
