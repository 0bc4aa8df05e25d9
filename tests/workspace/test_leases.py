"""Whoever works on a run says so; where that process is gone, nobody waits for it, whatever the clock says."""

import os
import subprocess
import sys

import pytest

from tests.workspace.plans import SleepPlan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace
from touchstone.core.workspace.runs import LEASE_SECONDS, LONGEST_LEASE
from touchstone.core.workspace.store import is_dead, new_holder

NAME = "from touchstone.core.workspace.store import new_holder; print(new_holder(), flush=True); input()"


@pytest.fixture
def run(workspace: Workspace, wine) -> Run:
    return workspace.create_run(LOCAL_OWNER, SleepPlan(n=3), workspace.add_dataset(LOCAL_OWNER, wine))


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """What the clock says."""
    clock = [1e9]
    monkeypatch.setattr("touchstone.core.workspace.runs.now", lambda: clock[0])
    return clock


def dead_holder() -> str:
    """The name of a process that has worked here and was killed."""
    process = subprocess.Popen([sys.executable, "-c", NAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder = process.stdout.readline().strip()
    assert not is_dead(holder)
    process.kill()
    process.communicate()
    return holder


def test_a_clock_set_back_an_hour_keeps_no_run_of_a_crashed_process(workspace, run, clock):
    assert workspace.acquire(LOCAL_OWNER, run.id, "elsewhere, crashed")
    clock[0] -= 3600
    assert workspace.run(LOCAL_OWNER, run.id).state == "interrupted"
    assert workspace.acquire(LOCAL_OWNER, run.id, "another")
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"


def test_a_clock_set_back_takes_no_run_from_who_renews(workspace, run, clock):
    assert workspace.acquire(LOCAL_OWNER, run.id, "elsewhere, alive")
    clock[0] -= 3600
    assert workspace.renew(LOCAL_OWNER, run.id, "elsewhere, alive") == "go on"
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"
    assert not workspace.acquire(LOCAL_OWNER, run.id, "another")


def test_a_lease_ends_well_before_it_is_no_longer_believed():
    assert 2 * LEASE_SECONDS <= LONGEST_LEASE <= 120


def test_the_run_of_a_killed_process_is_free_at_once(workspace, run):
    assert workspace.acquire(LOCAL_OWNER, run.id, dead_holder())
    assert workspace.run(LOCAL_OWNER, run.id).state == "interrupted"
    assert workspace.acquire(LOCAL_OWNER, run.id, new_holder())
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"


def test_cancel_frees_the_run_of_a_killed_process_at_once(workspace, run):
    assert workspace.acquire(LOCAL_OWNER, run.id, dead_holder())
    workspace.cancel(LOCAL_OWNER, run.id)
    assert workspace.run(LOCAL_OWNER, run.id).state == "cancelled"


def test_a_cancel_that_nobody_heard_holds_once_the_lease_has_run_out(workspace, run, clock):
    assert workspace.acquire(LOCAL_OWNER, run.id, "elsewhere, crashed")
    workspace.cancel(LOCAL_OWNER, run.id)
    assert workspace.run(LOCAL_OWNER, run.id).cancelling
    clock[0] += LEASE_SECONDS + 1
    assert workspace.run(LOCAL_OWNER, run.id).state == "cancelled"


def test_of_a_process_elsewhere_only_its_lease_tells(workspace, run):
    place, rest = new_holder().split(":", 1)
    elsewhere = f"{'f' * len(place)}:{rest}"
    assert not is_dead(elsewhere.replace(str(os.getpid()), "999999999"))


def test_a_process_with_the_number_of_a_dead_one_is_not_taken_for_it():
    place, pid, started, unique = new_holder().split(":")
    assert not is_dead(":".join((place, pid, started, unique)))
    assert is_dead(":".join((place, pid, str(int(started) - 1), unique)))


def test_two_that_find_a_free_run_do_not_both_take_it(workspace, run, monkeypatch):
    assert workspace.acquire(LOCAL_OWNER, run.id, dead_holder())
    counted = "touchstone.core.workspace.runs.counts_of"
    from touchstone.core.workspace.runs import counts_of

    def taken_meanwhile(*given: object) -> tuple[int, int]:
        monkeypatch.setattr(counted, counts_of)
        other = Workspace(workspace._store.blobs._folder.parent)
        assert other.acquire(LOCAL_OWNER, run.id, "the faster one")
        other.close()
        return counts_of(*given)

    monkeypatch.setattr(counted, taken_meanwhile)
    assert not workspace.acquire(LOCAL_OWNER, run.id, "the slower one")
    assert workspace.renew(LOCAL_OWNER, run.id, "the faster one") == "go on"
