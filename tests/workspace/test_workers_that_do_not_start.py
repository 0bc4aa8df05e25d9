"""Workers that cannot start are a sentence with a remedy; a run goes on once they can."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import dask.config
import distributed
import pytest

from tests.plain_words import problems
from tests.workspace.conftest import wait_until, wait_while_running, worker_pids
from tests.workspace.not_starting import HOW
from tests.workspace.plans import SleepPlan
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine

SENTENCES = {
    "killed": "Worker processes end as soon as they start. Free memory or install Touchstone again, then resume.",
    "incomplete": "Worker processes cannot start: No module named 'sklearn'. Install Touchstone again, then resume.",
    "full": "Worker processes cannot start: Resource temporarily unavailable. Close other programs, then resume.",
}


@pytest.fixture
def how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that says how workers fail to start; empty: they start."""
    file = tmp_path / "how"
    file.write_text("", "utf-8")
    monkeypatch.setenv(HOW, str(file))
    return file


@pytest.fixture
def executor(how: Path) -> Iterator[Executor]:
    preload = ["tests.workspace.not_starting", "tests.workspace.plans"]
    with dask.config.set({"distributed.worker.preload": preload}, config=distributed.config):
        executor = Executor(n_workers=1)
        yield executor
        executor.close()


@pytest.mark.parametrize("failing", SENTENCES)
def test_workers_that_cannot_start_are_a_sentence_and_the_run_can_be_resumed(workspace, wine, executor, how, failing):
    how.write_text(failing, "utf-8")
    run = workspace.create_run(LOCAL_OWNER, SleepPlan(n=2), workspace.add_dataset(LOCAL_OWNER, wine))
    engine = Engine(workspace, executor)
    assert engine.start(LOCAL_OWNER, run.id)
    stopped = wait_while_running(workspace, run.id)
    assert (stopped.state, stopped.errors) == ("interrupted", (SENTENCES[failing],))
    assert not list(problems(SENTENCES[failing]))
    how.write_text("", "utf-8")
    assert engine.start(LOCAL_OWNER, run.id)
    assert wait_while_running(workspace, run.id).state == "done"


def test_a_run_whose_workers_do_not_come_back_says_so_and_goes_on_once_they_do(workspace, wine, executor, how):
    plan = SleepPlan(n=6, seconds=0.2)
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    [pid] = worker_pids(executor)
    assert Engine(workspace, executor).start(LOCAL_OWNER, run.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).n_done, lambda n: n >= 1)
    how.write_text("killed", "utf-8")
    os.kill(pid, signal.SIGKILL)
    waiting = wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).waits_for, lambda waits: waits is not None)
    assert waiting.what == (
        "All worker processes have ended; waiting for new ones. If none comes, free memory or start Touchstone again"
    )
    how.write_text("", "utf-8")
    done = wait_while_running(workspace, run.id)
    assert (done.state, done.n_done, done.n_failed) == ("done", 6, 0)
