"""What does the engine cost, and what does a second worker bring? Against a plain loop over the very same trials.

Prints a table; asserts nothing. Each figure is the median of five rounds; within a round all ways run in turn, so
that a machine which slows down slows all of them.
"""

import os
import platform
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path

from core.data import Dataset, load_example
from core.models.threads import single_threaded
from core.trials import Context, TrialPlan
from core.workspace.engine.executor import Executor
from core.workspace.engine.runner import Engine
from core.workspace.workspace import LOCAL_OWNER, Workspace

N_ROUNDS = 5
MODEL = "gradient_boosting"
N_REPEATS = 6


def plain_loop(plan: TrialPlan, dataset: Dataset) -> float:
    start = time.perf_counter()
    with single_threaded():
        for trial in range(plan.n_trials(dataset)):
            plan.run_trial(dataset, trial, context=Context())
    return time.perf_counter() - start


def engine(plan: TrialPlan, dataset: Dataset, executor: Executor) -> float:
    with tempfile.TemporaryDirectory() as home:
        workspace = Workspace(Path(home))
        run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, dataset))
        start = time.perf_counter()
        Engine(workspace, executor).start(LOCAL_OWNER, run.id)
        while (run := workspace.run(LOCAL_OWNER, run.id)).state == "running":
            time.sleep(0.02)
        seconds = time.perf_counter() - start
        assert (run.state, run.n_failed) == ("done", 0), run
        workspace.close()
    return seconds


def main() -> None:
    dataset = load_example("digits")
    one, two = Executor(n_workers=1), Executor(n_workers=2)
    rounds = []
    for i in range(N_ROUNDS + 1):
        plan = TrialPlan(models=(MODEL,), n_repeats=N_REPEATS, seed=i)
        rounds.append((plain_loop(plan, dataset), engine(plan, dataset, one), engine(plan, dataset, two)))
    one.close()
    two.close()
    del rounds[0]  # the first round starts the workers and imports
    n_trials = plan.n_trials(dataset)
    loop, with_one, with_two = (statistics.median(column) / n_trials for column in zip(*rounds, strict=True))
    overhead = [b / a - 1 for a, b, _ in rounds]
    speed_up = [b / c for _, b, c in rounds]
    print(f"# The engine against a plain loop, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"{n_trials} trials of {MODEL} on digits, medians of {N_ROUNDS} rounds (lowest to highest)")
    print(f"plain loop           {loop:.3f} s a trial")
    print(f"engine, one worker   {with_one:.3f} s a trial")
    print(f"engine, two workers  {with_two:.3f} s a trial")
    print(f"overhead, one worker {statistics.median(overhead):+.1%} ({min(overhead):+.1%} to {max(overhead):+.1%})")
    print(f"two workers to one   {statistics.median(speed_up):.2f} ({min(speed_up):.2f} to {max(speed_up):.2f})")


if __name__ == "__main__":
    main()
