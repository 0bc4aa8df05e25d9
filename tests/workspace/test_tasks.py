"""Tiny trials go to a worker many at a time; what becomes of each is as if it had gone alone."""

import asyncio
import threading
import time
from collections import Counter
from dataclasses import replace
from threading import Timer
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from distributed import Status

from tests.workspace.conftest import wait_until, wait_while_running
from tests.workspace.plans import SleepPlan
from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.plan import Counting
from touchstone.core.workspace import LOCAL_OWNER, frames, runs
from touchstone.core.workspace.engine import worker
from touchstone.core.workspace.engine.executor import Executor, Pace, TrialQueue
from touchstone.core.workspace.engine.run_in_work import InFlight, Inputs, Reports, RunInWork
from touchstone.core.workspace.engine.runner import Engine

hear = Reports.hear


@pytest.fixture
def sizes(monkeypatch) -> list[int]:
    """How many trials each task held that was given to a worker."""
    submitted: list[int] = []
    submit = Inputs.submit

    def noted(self, executor, task, stop):
        submitted.append(sum(map(len, task)))
        return submit(self, executor, task, stop)

    monkeypatch.setattr(Inputs, "submit", noted)
    return submitted


def test_tiny_trials_go_many_at_a_time_and_long_ones_alone(run_plan, sizes, monkeypatch):
    took = Pace.took
    with monkeypatch.context() as patched:  # a millisecond each, however busy this machine is
        patched.setattr(Pace, "took", lambda pace, n_trials, _: took(pace, n_trials, 0.001 * n_trials))
        assert run_plan(SleepPlan(n=400)).n_done == 400
    assert max(sizes) > 20
    assert sum(sizes) == 400
    sizes.clear()
    assert run_plan(SleepPlan(n=12, seconds=0.3)).n_done == 12
    assert set(sizes) == {1}


@pytest.mark.evidence
def test_rows_are_the_same_with_one_worker_and_with_two(run_plan, workspace, wine, sizes):
    plan = TrialPlan(models=("logistic", "nearest_neighbours"), n_repeats=40)
    rows = []
    for n_workers in (1, 2):
        executor = Executor(n_workers=n_workers)
        made = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
        assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
        run = wait_while_running(workspace, made.id)
        executor.close()
        assert (run.state, run.n_done, run.n_failed) == ("done", 320, 0)
        rows.append(workspace.rows(LOCAL_OWNER, run.id).drop(columns="seconds"))
        workspace.delete_run(LOCAL_OWNER, run.id)
    here = [plan.run_trial(wine, trial, context=Context()) for trial in range(plan.n_trials(wine))]
    pd.testing.assert_frame_equal(rows[0], rows[1])
    pd.testing.assert_frame_equal(rows[0], pd.concat(here, ignore_index=True).drop(columns="seconds"))
    assert max(sizes) > 1


def test_a_trial_whose_worker_is_gone_is_not_given_up_but_begins_anew():
    """Its clock ran on while a new worker was started, or an answer that was lost was made again."""
    given_up = []
    work = RunInWork.__new__(RunInWork)
    work.trial_seconds, work.in_flight, work.reports = -1.0, InFlight(), Reports(lambda _: None)
    client = SimpleNamespace(nthreads=lambda: {"tcp://here": 1})
    work.executor = SimpleNamespace(client=lambda: client, restart_worker=given_up.append)
    work._forget, work._fail = work.in_flight.forget, lambda task, error: given_up.append(task)
    for trial, address in enumerate(("tcp://here", "tcp://gone")):
        work.reports.hear((0.0, {"trial": trial, "worker": address}))
        work.in_flight.add(Mock(status="pending"), ((trial,),))
    work._give_up_on_slow_trials()
    assert given_up == [((0,),), "tcp://here"]
    assert [task for _, task in work.in_flight.items()] == [((1,),)]
    assert not work.reports.has_started((1,))


@pytest.mark.evidence
def test_of_many_at_a_time_only_those_fail_that_raise_or_kill_or_hang(run_plan, workspace, sizes, tmp_path):
    log = tmp_path / "log"
    plan = SleepPlan(n=200, raising=(90, 150), killing=(110,), hanging=(130,), log=str(log))
    run = run_plan(plan, trial_seconds=20.0)
    assert (run.state, run.n_done, run.n_failed) == ("done", 200, 4)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert rows["trial"].tolist() == list(range(200))
    assert rows.loc[rows["status"] == "failed", "trial"].tolist() == [90, 110, 130, 150]
    assert max(sizes) > 1
    errors = " ".join(run.errors)
    assert "trial 90 cannot be done" in errors
    assert "also alone" in errors
    assert "Given up" in errors


@pytest.mark.parametrize("late", [0.0, 3.0])
def test_what_is_done_when_somebody_cancels_is_kept(late, workspace, executor, wine, tmp_path, monkeypatch):
    log = tmp_path / "log"
    plan = SleepPlan(n=60, seconds=0.2, log=str(log))
    monkeypatch.setattr("touchstone.core.workspace.engine.executor.SECONDS", 4.0)  # twenty at a time
    if late:  # the word that a task has begun comes when the run has long been cancelled
        monkeypatch.setattr(Reports, "hear", lambda self, event: Timer(late, hear, (self, event)).start())
    made = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    engine = Engine(workspace, executor)
    assert engine.start(LOCAL_OWNER, made.id)
    wait_until(lambda: len(log.read_text().split()) if log.exists() else 0, lambda n: n >= 12)
    begin = time.monotonic()
    workspace.cancel(LOCAL_OWNER, made.id)
    run = wait_while_running(workspace, made.id)
    assert run.state == "cancelled"
    assert time.monotonic() - begin < 4.0, "somebody waited for the whole task"
    finished = Counter(int(line) for line in log.read_text().split())
    assert sum(finished.values()) == run.n_done < 60
    assert engine.start(LOCAL_OWNER, made.id)
    run = wait_while_running(workspace, made.id)
    assert (run.state, run.n_done) == ("done", 60)
    assert Counter(int(line) for line in log.read_text().split()) == Counter(range(60)), "a finished trial ran twice"


def test_a_worker_asks_on_whether_to_stop_and_no_trial_waits_for_the_answer(monkeypatch):
    asked, answer, loop = [], threading.Event(), asyncio.new_event_loop()

    async def event_is_set(name: str) -> bool:
        asked.append(name)
        if len(asked) == 1:
            raise OSError("the scheduler is away")
        while not answer.is_set():
            await asyncio.sleep(0.01)
        return len(asked) == 3

    asking = []
    of_loop = SimpleNamespace(add_callback=lambda ask: asking.append(asyncio.run_coroutine_threadsafe(ask(), loop)))
    connections = SimpleNamespace(status=Status.running)
    here = SimpleNamespace(loop=of_loop, rpc=connections, scheduler=SimpleNamespace(event_is_set=event_is_set))
    monkeypatch.setattr("distributed.get_worker", lambda: here)
    monkeypatch.setattr(worker, "SECONDS_BETWEEN_QUESTIONS", 0.01)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    with worker._asked_to_stop("stop-1") as should_stop:
        wait_until(lambda: len(asked), lambda n_asked: n_asked == 2)
        assert not should_stop(), "the answer is still to come"
        answer.set()
        assert wait_until(should_stop, bool)
    with worker._asked_to_stop("stop-2"):
        wait_until(lambda: asked.count("stop-2"), bool)
    before = wait_until(lambda: len(asyncio.all_tasks(loop)), lambda n_tasks: n_tasks == 0)
    connections.status = Status.closed
    with worker._asked_to_stop("stop-3"):
        asking[-1].result(600)  # it ends by itself, and asks nobody
    assert (before, set(asked)) == (0, {"stop-1", "stop-2"})
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_the_last_tasks_are_not_cut_to_single_trials():
    pace = Pace()
    pace.took(100, 0.5)
    assert [pace.n_trials(n, n_threads=1) for n in (500, 60, 3)] == [100, 60, 3], "nobody is there to share with"
    assert [pace.n_trials(n, n_threads=2) for n in (500, 60, 3)] == [100, 15, 10]


def test_a_long_trial_makes_the_next_tasks_small():
    pace = Pace()
    for _ in range(8):
        pace.took(100, 0.5)
    assert pace.n_trials(10_000, n_threads=2) == 100
    pace.took(100, 60.0)
    assert pace.n_trials(10_000, n_threads=2) < 10
    assert pace.n_trials(0, n_threads=2) == 1


def test_trials_that_are_to_be_apart_stay_apart():
    queue = TrialQueue(range(6))
    assert queue.take(1, alone=True, at_a_time=3) == [((0,), (1,), (2,))]
    queue.one_by_one((0, 1, 2))
    assert queue.take(9, alone=True, at_a_time=3) == [((0,),), ((1,),), ((2,),), ((3,), (4,), (5,))]


def test_trials_done_at_once_are_a_task_of_their_own():
    queue = TrialQueue(range(6))
    queue.group([(0,), (1,), (2, 3), (4,), (5,)])
    assert queue.take(9, alone=True, at_a_time=4) == [((0,), (1,)), ((2, 3),), ((4,), (5,))]


def test_rows_that_somebody_stored_meanwhile_stay_and_the_others_are_added(workspace, wine, monkeypatch):
    plan = SleepPlan(n=4)
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    contents = {trial: frames.to_bytes(plan.run_trial(wine, trial, context=Context())) for trial in range(4)}
    workspace.store_trials(LOCAL_OWNER, run.id, {1: frames.to_bytes(plan.failed_trial(wine, 1))}, error="first")
    workspace.store_trials(LOCAL_OWNER, run.id, contents)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert rows["status"].tolist() == ["ok", "failed", "ok", "ok"]


def test_of_rows_that_collide_at_the_very_moment_all_others_are_kept(workspace, wine, monkeypatch):
    plan = SleepPlan(n=3)
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    contents = {trial: frames.to_bytes(plan.run_trial(wine, trial, context=Context())) for trial in range(3)}
    insert = runs._insert

    def collides_once(session, rows):
        if len(rows) > 1:
            session.rollback()
            return False
        return insert(session, rows)

    monkeypatch.setattr(runs, "_insert", collides_once)
    workspace.store_trials(LOCAL_OWNER, run.id, contents)
    assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == [0, 1, 2]


MIXED = pd.DataFrame(
    {
        "text": pd.Series(["a", None, "ü"], dtype=TEXTS),
        "whole": pd.Series([1, None, 3], dtype="Int64"),
        "number": [0.5, np.nan, -1.0],
        "count": [1, 2, 3],
        "flag": [True, False, True],
        "late": pd.Series([True, None, False], dtype="boolean"),
    }
)


@pytest.mark.parametrize("columns", [list(MIXED), ["text"], ["count", "number"]])
def test_the_schema_is_that_of_arrow_itself(columns):
    frame = MIXED[columns]
    ours, arrows = frames._table(frame), pa.Table.from_pandas(frame, preserve_index=False)
    assert ours.schema.equals(arrows.schema, check_metadata=True)
    assert ours.equals(arrows)
    pd.testing.assert_frame_equal(frames.from_bytes([frames.to_bytes(frame)]), frame)


def test_frames_made_at_once_are_those_made_one_by_one():
    kinds = {
        "same": [MIXED, MIXED.iloc[:1], MIXED.iloc[:0], MIXED.iloc[1:]],
        "other types": [MIXED, MIXED.astype({"count": "float64"})],
        "other columns": [MIXED, MIXED[["text", "count"]]],
        "objects": [MIXED.astype(object), MIXED.astype(object)],
        "none": [],
    }
    for name, parts in kinds.items():
        for content, part in zip(frames.each_to_bytes(parts), parts, strict=True):
            back, expected = frames.from_bytes([content]), frames.from_bytes([frames.to_bytes(part)])
            pd.testing.assert_frame_equal(back, expected, obj=name)


@pytest.mark.parametrize(
    "plan",
    [
        TrialPlan(models=("logistic", "svm"), n_repeats=2),
        TrialPlan(models=("nearest_neighbours",), n_repeats=2, source_finders=("known",), across="all", left_out=True),
        AdequacyPlan(models=("nearest_neighbours",), n_repeats=2, sizes=(20, 0)),
    ],
    ids=["trials", "without sources in turn", "of several sizes"],
)
def test_trials_that_become_a_table_together_are_kept_as_each_alone(plan, wine, monkeypatch):
    monkeypatch.setattr("touchstone.core.trials.epochs.time.perf_counter", lambda: 0.0)
    sources = np.array([f"source {row % 5}" for row in range(wine.n_samples)], dtype=object)
    sourced = replace(wine, sources=sources)
    trials = range(plan.n_trials(sourced))
    assert isinstance(plan, Counting)
    counted = [plan.count_trial(sourced, trial, context=Context()) for trial in trials]
    alone = [frames.to_bytes(plan.run_trial(sourced, trial, context=Context())) for trial in trials]
    assert worker._contents(counted) == alone
    failed = frames.from_bytes([frames.to_bytes(plan.failed_trial(sourced, trials[-1])), alone[-1]])
    assert failed.dtypes.equals(frames.from_bytes(alone).dtypes)


def test_a_large_table_is_compressed_and_a_small_one_is_not():
    large = pd.DataFrame({"n": np.zeros(frames.SMALL, dtype=np.int64)})
    assert len(frames.to_bytes(large)) < frames.SMALL / 10
    pd.testing.assert_frame_equal(frames.from_bytes([frames.to_bytes(large)]), large)


def test_many_tables_are_read_at_once_as_one_by_one_and_lie_in_one_piece():
    large = pd.concat([MIXED] * 3000, ignore_index=True)
    other = MIXED.assign(count=MIXED["count"].astype("float64"))
    for parts in ([MIXED, MIXED.iloc[:0], large, MIXED.iloc[1:]], [MIXED.iloc[:0]], [MIXED.astype(object)] * 2):
        contents = [frames.to_bytes(part) for part in parts]
        one_by_one = pa.concat_tables([pa.ipc.open_stream(content).read_all() for content in contents]).to_pandas()
        pd.testing.assert_frame_equal(frames.from_bytes(contents), one_by_one, check_exact=True)
    several = frames.from_bytes([frames.to_bytes(part) for part in (MIXED, large, MIXED)])
    assert pa.chunked_array(several["text"].array.__arrow_array__()).num_chunks == 1
    with pytest.raises(pa.ArrowInvalid):
        frames.from_bytes([frames.to_bytes(MIXED), frames.to_bytes(other)])
