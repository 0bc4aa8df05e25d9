"""A cluster by address: scheduler and workers are processes of their own, which know nothing of the app's folder."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pytest

from tests.workspace.conftest import wait_until, wait_while_running
from touchstone.core.command.runs import _say
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Run
from touchstone.core.workspace.engine import run_in_work
from touchstone.core.workspace.engine.executor import SameVersions, versions_here
from touchstone.core.workspace.engine.runner import close_engine, engine, workers
from touchstone.ui.shell.jobs import describe

ROOT = Path(__file__).resolve().parents[2]


class Cluster:
    """A scheduler on loopback, and workers that come and go."""

    def __init__(self, stack: ExitStack, folder: Path):
        self._stack, self._file = stack, folder / "scheduler.json"
        self._elsewhere = stack.enter_context(tempfile.TemporaryDirectory())
        self._log = stack.enter_context((folder / "cluster.log").open("w"))
        self._workers: dict[str, subprocess.Popen] = {}
        self._scheduler = self._start("scheduler", "--port", "0", "--no-dashboard")
        self.address = wait_until(self._written_address, bool)

    def _written_address(self) -> str | None:
        """The address in the scheduler's file, once all of it is written."""
        try:
            return json.loads(self._file.read_text())["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def add_worker(self, name: str) -> None:
        # Without a nanny, which would put another in the place of one that was killed.
        self._workers[name] = self._start("worker", "--nthreads", "1", "--no-dashboard", "--no-nanny", "--name", name)

    def kill_worker(self, name: str) -> None:
        self._workers[name].kill()
        self._workers[name].wait()

    def lose_scheduler(self) -> None:
        """The scheduler is killed, and its workers with it."""
        self._file.unlink()
        for process in (self._scheduler, *self._workers.values()):
            process.kill()
            process.wait()

    def start_scheduler_again(self) -> None:
        self._scheduler = self._start("scheduler", "--port", self.address.rpartition(":")[2], "--no-dashboard")
        wait_until(self._written_address, bool)

    def _start(self, *command: str) -> subprocess.Popen:
        options = ["--scheduler-file", str(self._file), "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, *options],
            cwd=self._elsewhere,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=self._log,
            stderr=self._log,
        )
        self._stack.callback(process.wait, timeout=20)
        self._stack.callback(process.terminate)
        return process


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Two workers, where TOUCHSTONE_SCHEDULER says they are."""
    with ExitStack() as stack:
        cluster = Cluster(stack, tmp_path)
        monkeypatch.setenv("TOUCHSTONE_SCHEDULER", cluster.address)
        monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "home"))
        monkeypatch.delenv("TOUCHSTONE_DATABASE", raising=False)
        for name in ("first", "second"):
            cluster.add_worker(name)
        close_engine()  # of whoever came before, under another home
        stack.callback(close_engine)
        yield cluster


def workers_there() -> dict[str, str]:
    """The names of the workers that the scheduler knows, by address."""
    told = engine().executor.client().scheduler_info(n_workers=-1)["workers"]
    return {address: worker["name"] for address, worker in told.items()}


@pytest.mark.evidence
def test_a_cluster_by_address_loses_its_workers_gets_another_and_computes_the_same_rows(cluster, wine):
    plan = TrialPlan(models=("logistic", "gradient_boosting"), n_repeats=20)
    workspace, client = engine().workspace, engine().executor.client()
    client.get_task_stream()  # from now on the scheduler keeps account of who has done what
    names = wait_until(workers_there, lambda there: len(there) == 2)
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    assert engine().start(LOCAL_OWNER, run.id)

    def n_done_by() -> Counter[str]:
        return Counter(names[one["worker"]] for one in client.get_task_stream() if one["key"].startswith("stop-"))

    before = wait_until(n_done_by, lambda who: set(who) == {"first", "second"})
    cluster.kill_worker("first")
    wait_until(n_done_by, lambda who: who["second"] > before["second"])
    cluster.kill_worker("second")  # before another comes, which else might find all that is left in the second's hands
    n_done = workspace.run(LOCAL_OWNER, run.id).n_done
    assert n_done < plan.n_trials(wine), "all was done before the third worker came"
    cluster.add_worker("third")
    names |= wait_until(workers_there, lambda there: set(there.values()) == {"third"})

    run = wait_while_running(workspace, run.id)
    assert (run.state, run.n_done, run.n_failed) == ("done", plan.n_trials(wine), 0)
    assert run.provenance["executor"] == "a dask cluster"
    assert set(n_done_by()) == {"first", "second", "third"}
    here = pd.concat([plan.run_trial(wine, i, context=Context()) for i in range(plan.n_trials(wine))])
    there = workspace.rows(LOCAL_OWNER, run.id)
    pd.testing.assert_frame_equal(there.drop(columns="seconds"), here.reset_index(drop=True).drop(columns="seconds"))


PLAN = TrialPlan(models=("logistic", "gradient_boosting"), n_repeats=10)


@pytest.fixture
def run(cluster, wine) -> Run:
    workspace = engine().workspace
    return workspace.create_run(LOCAL_OWNER, PLAN, workspace.add_dataset(LOCAL_OWNER, wine))


def told(run: Run) -> str:
    """What is said of a run that has to wait."""
    waits_for = engine().workspace.run(LOCAL_OWNER, run.id).waits_for
    return waits_for.what if waits_for is not None else ""


def test_a_cluster_without_workers_says_so_at_once_and_goes_on_when_one_comes(cluster, run, capsys):
    for name in ("first", "second"):
        cluster.kill_worker(name)
    assert engine().start(LOCAL_OWNER, run.id)
    began = time.monotonic()
    said = wait_until(lambda: told(run), bool)
    assert said == f"No worker is connected to the scheduler at {cluster.address}; waiting for one"
    assert time.monotonic() - began < 15, "at once, but for the time that connecting takes"
    now = engine().workspace.run(LOCAL_OWNER, run.id)
    assert describe(now) == said
    _say(now, end="\n")
    assert capsys.readouterr().err.startswith(f"{said}; running: 0 of 80 trials")
    cluster.add_worker("third")
    wait_until(lambda: engine().workspace.run(LOCAL_OWNER, run.id).n_done, bool)
    assert told(run) == ""


@pytest.mark.evidence
def test_a_scheduler_that_is_lost_and_comes_back_costs_no_trial(cluster, run):
    workspace = engine().workspace
    assert engine().start(LOCAL_OWNER, run.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).n_done, lambda n: n >= 3)
    cluster.lose_scheduler()
    said = wait_until(lambda: told(run), bool)
    assert said == f"The scheduler at {cluster.address} does not answer; trying again for some minutes"
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"
    cluster.start_scheduler_again()
    cluster.add_worker("third")
    done = wait_while_running(workspace, run.id)
    assert (done.state, done.n_done, done.n_failed, done.errors) == ("done", 80, 0, ())


@pytest.mark.evidence
def test_a_scheduler_that_stays_away_stops_the_run_with_a_sentence(cluster, run, monkeypatch):
    monkeypatch.setattr(run_in_work, "RECONNECT_SECONDS", 3.0)
    workspace = engine().workspace
    assert engine().start(LOCAL_OWNER, run.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).n_done, lambda n: n >= 3)
    cluster.lose_scheduler()
    stopped = wait_while_running(workspace, run.id)
    assert stopped.state == "interrupted"
    assert stopped.errors == (
        f"The scheduler at {cluster.address} (TOUCHSTONE_SCHEDULER) does not answer. Start it and its workers, "
        f"then resume.",
    )
    assert 3 <= stopped.n_done < 60


@pytest.mark.evidence
def test_a_run_whose_scheduler_is_away_can_be_cancelled(cluster, run):
    workspace = engine().workspace
    cluster.lose_scheduler()
    assert engine().start(LOCAL_OWNER, run.id)
    wait_until(lambda: told(run), bool)
    workspace.cancel(LOCAL_OWNER, run.id)
    assert wait_while_running(workspace, run.id).state == "cancelled"


@pytest.mark.evidence
@pytest.mark.parametrize("differs", ["numpy", "the method"])
def test_workers_with_other_versions_are_refused_in_a_sentence(cluster, run, monkeypatch, differs):
    others = SameVersions(ours=lambda kind: versions_here(kind) | {differs: "another"})
    monkeypatch.setattr(engine().executor, "_same_versions", others)
    wait_until(workers_there, lambda there: len(there) == 2)
    assert engine().start(LOCAL_OWNER, run.id)
    stopped = wait_while_running(engine().workspace, run.id)
    assert (stopped.state, stopped.n_done) == ("interrupted", 0)
    [error] = stopped.errors
    assert f"has {differs} {versions_here('trials')[differs]}, and this Touchstone has another." in error


def test_the_health_of_a_cluster_follows_it(cluster):
    wait_until(workers_there, lambda there: len(there) == 2)
    assert workers(engine) == "ok"
    for name in ("first", "second"):
        cluster.kill_worker(name)
    wait_until(lambda: workers(engine), lambda said: said == "none")
    cluster.add_worker("third")
    wait_until(lambda: workers(engine), lambda said: said == "ok")
