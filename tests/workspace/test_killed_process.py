"""The whole process is killed mid-run and started again: no finished trial runs twice, none is lost, nothing stays."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.workspace.conftest import wait_until
from tests.workspace.plans import SleepPlan
from touchstone.core.workspace import LOCAL_OWNER

SCRIPT = Path(__file__).parent / "one_process.py"


def start(home: Path, run_id: str) -> tuple[subprocess.Popen, list[int]]:
    process = subprocess.Popen([sys.executable, str(SCRIPT), str(home), run_id], stdout=subprocess.PIPE, text=True)
    return process, [int(pid) for pid in process.stdout.readline().split()]


def alive(pids: list[int]) -> list[int]:
    """Those that still run; a zombie that nobody has waited for yet runs no more."""
    status = [(pid, Path(f"/proc/{pid}/stat")) for pid in pids]
    return [pid for pid, path in status if path.exists() and path.read_text().rsplit(")", 1)[1].split()[0] != "Z"]


def finished(plan: SleepPlan) -> Counter:
    return Counter(int(line) for line in Path(plan.log).read_text().split())


def interrupt_and_resume(workspace, home: Path, wine, plan: SleepPlan, n_kills: int) -> None:
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    stored: dict[int, int] = {}  # how often each trial had been finished when a kill found it stored
    for kill in range(n_kills):
        process, workers = start(home, run.id)
        goal = (kill + 1) * plan.n // (n_kills + 1)
        wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).n_done, lambda n, goal=goal: n >= goal)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        wait_until(lambda workers=workers: alive(workers), lambda left: left == [])
        counts, missing = finished(plan), set(workspace.missing_trials(LOCAL_OWNER, run.id))
        assert plan.n - len(missing) >= goal, "a finished trial was lost"
        stored |= {trial: counts[trial] for trial in counts if trial not in missing and trial not in stored}
    process, workers = start(home, run.id)
    assert process.wait(timeout=120) == 0
    process.stdout.close()
    assert alive(workers) == []
    last = workspace.run(LOCAL_OWNER, run.id)
    assert (last.state, last.n_done, last.n_failed) == ("done", plan.n, 0)
    counts = finished(plan)
    assert set(counts) == set(range(plan.n))
    assert len(stored) >= plan.n // (n_kills + 1)
    assert {trial: counts[trial] for trial in stored} == stored, "a finished trial ran again"
    assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == list(range(plan.n))


@pytest.mark.evidence
def test_a_killed_process_is_resumed_with_only_the_missing_trials(workspace, wine, tmp_path):
    plan = SleepPlan(n=24, seconds=0.2, log=str(tmp_path / "log"))
    interrupt_and_resume(workspace, tmp_path, wine, plan, n_kills=1)


@pytest.mark.evidence
def test_many_kills_at_length(workspace, tmp_path, wine):
    plan = SleepPlan(n=300, seconds=0.1, log=str(tmp_path / "log"))
    interrupt_and_resume(workspace, tmp_path, wine, plan, n_kills=4)


@pytest.mark.evidence
def test_a_thousand_short_trials_interrupted_twice_are_a_thousand_rows(workspace, tmp_path, wine):
    plan = SleepPlan(n=1000, seconds=0.01, log=str(tmp_path / "log"))
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))

    def wait_for(goal: int) -> int:
        return wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).n_done, lambda n: n >= goal)

    process, workers = start(tmp_path, run.id)
    at_first = wait_for(250)
    os.kill(workers[0], signal.SIGKILL)
    at_second = wait_for(at_first + 250)
    assert process.poll() is None, "a worker's death ended the process"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    wait_until(lambda: alive(workers), lambda left: left == [])
    assert at_second < plan.n, "all was done before the second kill"
    process, workers = start(tmp_path, run.id)
    assert process.wait(timeout=300) == 0
    process.stdout.close()
    last = workspace.run(LOCAL_OWNER, run.id)
    assert (last.state, last.n_done, last.n_failed, last.errors) == ("done", 1000, 0, ())
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert rows["trial"].tolist() == list(range(1000))
    assert rows["status"].eq("ok").all()
    assert set(finished(plan)) == set(range(1000))
