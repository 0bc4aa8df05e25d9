"""A process that works runs off does not grow by what it has done."""

import gc
import sys

from tests.workspace.plans import SleepPlan
from touchstone.core.workspace.engine.executor import Pace
from touchstone.core.workspace.engine.run_in_work import Reports

N_TASKS = 100


def test_what_is_done_leaves_nothing_in_the_process_that_had_it_done(run_plan, monkeypatch):
    """A task left some 120 blocks of memory behind, in what dask remembers of messages and in its spans; today 10."""
    monkeypatch.setattr(Pace, "n_trials", lambda *_, **__: 1)
    n_blocks = []
    for number in range(3):  # the first one begins what lasts
        assert run_plan(SleepPlan(n=N_TASKS, raising=(N_TASKS + number,))).n_done == N_TASKS
        gc.collect()
        n_blocks.append(sys.getallocatedblocks())
    assert n_blocks[2] - n_blocks[1] < 40 * N_TASKS


def test_what_was_told_of_a_trial_is_forgotten_with_it():
    recorded = []
    reports = Reports(lambda steps: recorded.append(set(steps)))
    for trial in (0, 1):
        reports.hear((0.0, {"trial": trial, "worker": "tcp://1"}))
        reports.hear((0.0, {"trial": trial, "steps": (1, 2, "epoch")}))
    reports.write_down({1})
    assert (reports.has_started((0,)), reports.has_started((1,))) == (False, True)
    assert recorded == [{1}]
