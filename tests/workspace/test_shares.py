"""Who has many runs, or came first, keeps nobody else waiting: owners take turns, and so do the runs of each."""

from collections import Counter, deque

import pytest

from tests.workspace.conftest import wait_until
from tests.workspace.plans import SleepPlan
from touchstone.core.data import DataError
from touchstone.core.data.limits import most
from touchstone.core.workspace import Workspace
from touchstone.core.workspace.engine.executor import Executor, Shares
from touchstone.core.workspace.engine.runner import Engine

ANNA, BOB = "oidc:anna", "oidc:bob"


def worked_off(wanted: dict[tuple[str, str], int], *, n_workers: int = 2, most: int | None = None) -> list[tuple]:
    """The order in which workers that do what they were given first finish the trials of runs that all have begun."""
    shares, left = Shares(most), dict(wanted)
    given: deque[tuple[str, str]] = deque()
    order, in_flight = [], Counter()
    while sum(left.values()) or given:
        for run in left:
            room = shares.room(run, in_flight=in_flight[run], waiting=left[run], places=2 * n_workers)
            assert room <= left[run]
            given.extend([run] * room)
            in_flight[run] += room
            left[run] -= room
            if not left[run] and not in_flight[run]:
                shares.leave(run)
        assert given, "workers have nothing to do, and runs wait"
        for _ in range(min(n_workers, len(given))):
            run = given.popleft()
            order.append(run)
            in_flight[run] -= 1
    return order


def of_owner(order: list[tuple], owner: str) -> list[int]:
    """When an owner's trials were finished."""
    return [place for place, run in enumerate(order) if run[0] == owner]


@pytest.mark.parametrize("n_runs", [1, 3, 40])
@pytest.mark.parametrize("n_workers", [1, 2, 8])
def test_an_owner_with_many_runs_keeps_nobody_waiting(n_runs: int, n_workers: int):
    wanted = {(ANNA, f"run {number}"): 400 // n_runs for number in range(n_runs)} | {(BOB, "only"): 20}
    done = of_owner(worked_off(wanted, n_workers=n_workers), BOB)[-1] + 1
    assert done <= 2 * 20 + 4 * n_workers, "his 20 trials and as many of hers, and what was with the workers"


def test_ten_owners_on_two_workers_take_turns():
    order = worked_off({(f"owner {number}", "run"): 30 for number in range(10)})
    for start in range(0, 200, 50):
        counts = Counter(run[0] for run in order[start : start + 50])
        ahead = 2 * 2 if start == 0 else 0  # who comes first is alone for a moment, and has all places
        assert max(counts.values()) - min(counts[f"owner {number}"] for number in range(10)) <= 3 + ahead


def test_the_runs_of_an_owner_take_turns_too():
    order = worked_off({(ANNA, f"run {number}"): 30 for number in range(10)})
    counts = Counter(run[1] for run in order[:100])
    assert len(counts) == 10
    assert max(counts.values()) - min(counts.values()) <= 3 + 2 * 2


def test_who_is_alone_has_all_workers():
    shares = Shares()
    assert shares.room((ANNA, "run"), in_flight=0, waiting=100, places=8) == 8
    assert worked_off({(ANNA, "run"): 7}) == [(ANNA, "run")] * 7


def test_an_owner_may_be_held_to_fewer_trials():
    shares = Shares(most=3)
    rooms = [shares.room((ANNA, f"run {n}"), in_flight=0, waiting=100, places=16) for n in range(4)]
    assert sum(rooms) == 3
    assert len(worked_off({(ANNA, "a"): 30, (BOB, "b"): 30}, most=1)) == 60


def test_on_real_workers_the_second_owner_is_done_before_the_first(workspace: Workspace, executor: Executor, wine):
    engine = Engine(workspace, executor)
    executor.client()
    runs = {}
    for owner in (ANNA, BOB):
        fingerprint = workspace.add_dataset(owner, wine)
        plans = [SleepPlan(n=300, seconds=0.1 + n / 1000) for n in range(3)] if owner == ANNA else [SleepPlan(n=12)]
        runs[owner] = [workspace.create_run(owner, plan, fingerprint) for plan in plans]
    for run in runs[ANNA]:
        engine.start(ANNA, run.id)
    wait_until(
        lambda: [workspace.run(ANNA, run.id) for run in runs[ANNA]], lambda all_: all(run.n_done for run in all_)
    )
    before = sum(workspace.run(ANNA, run.id).n_done for run in runs[ANNA])
    engine.start(BOB, runs[BOB][0].id)
    wait_until(lambda: workspace.run(BOB, runs[BOB][0].id).state, lambda state: state == "done")
    meanwhile = sum(workspace.run(ANNA, run.id).n_done for run in runs[ANNA]) - before
    for run in runs[ANNA]:
        workspace.cancel(ANNA, run.id)
    wait_until(lambda: [workspace.run(ANNA, run.id).state for run in runs[ANNA]], lambda all_: "running" not in all_)
    assert meanwhile <= 60, "he waited for his 12 trials longer than for a few of hers each"


@pytest.mark.parametrize("said", ["0", "-1", "many", "1.5", "1e6", "²"])
def test_a_setting_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch, said: str):
    monkeypatch.setenv("TOUCHSTONE_MOST_TRIALS", said)
    with pytest.raises(DataError, match="TOUCHSTONE_MOST_TRIALS"):
        most("TOUCHSTONE_MOST_TRIALS")


def test_the_longest_trial_and_its_memory_are_settings(monkeypatch: pytest.MonkeyPatch, workspace: Workspace):
    monkeypatch.setenv("TOUCHSTONE_MOST_TRIAL_SECONDS", "7")
    monkeypatch.setenv("TOUCHSTONE_MOST_TRIAL_MEMORY", "700")
    executor = Executor(n_workers=1)
    try:
        assert Engine(workspace, executor).trial_seconds == 7
        [worker] = executor.client().scheduler_info()["workers"].values()
        assert worker["memory_limit"] == 700 * 2**20
    finally:
        executor.close()
