"""Is the time that a run says it takes the time that it takes? Told against true, for every kind of run.

`python -m benchmarks.bench_time_told [digits wine …] [--only stem …]` works off all questions of a data set as **Ask
all questions** does, in a home that is new, and looks at each run as its page does. It prints what was told before the
run, when a time was first told, after a tenth and after half of the work, each as a ratio to the seconds that were then
left; it asserts nothing. Other work on the machine moves every ratio: see the load beside the heading.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.trials import Plan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, WorkspaceError
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine, Step, usual_steps
from touchstone.core.workspace.runs import expected_seconds

AT = (0.0, 0.1, 0.5)
"""Of the work that is done."""
SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True)
class Look:
    """A run at some moment: the share that is done, and the seconds that it says are left."""

    when: float
    share: float
    told: float | None


def looks(workspace: Workspace, run_id: str) -> Iterator[Look]:
    """One run as a page sees it, until it ends."""
    while True:
        run = workspace.run(LOCAL_OWNER, run_id)
        if run.state != "running":
            return
        yield Look(time.monotonic(), run.share, run.seconds_left)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def ratios(seen: Sequence[Look], end: float) -> dict[float, float | None]:
    """Seconds told by seconds that were left, when so much was done first and a time was told."""
    made: dict[float, float | None] = {}
    for share in AT:
        first = next((look for look in seen if look.share >= share and look.told is not None), None)
        left = None if first is None else end - first.when
        made[share] = None if first is None or first.told is None or not left else first.told / left
    return made


def worked_off(workspace: Workspace, runs: Engine, plan: Plan, dataset: Dataset) -> tuple[Run, list[str]]:
    """A run from its start to its end, and a line of its ratios."""
    n_trials = plan.n_trials(dataset)
    known = workspace.runs(LOCAL_OWNER, dataset.fingerprint)
    before = expected_seconds(plan, dataset, known, n_trials=n_trials)
    run = workspace.create_run(LOCAL_OWNER, plan, dataset.fingerprint, n_trials=n_trials)
    begun = time.monotonic()
    runs.start(LOCAL_OWNER, run.id)
    seen = list(looks(workspace, run.id))
    end = time.monotonic()
    told = [before and before / (end - begun), *ratios(seen, end).values()]
    return workspace.run(LOCAL_OWNER, run.id), [
        f"{end - begun:8.1f}",
        *("       –" if ratio is None else f"{ratio:8.2f}" for ratio in told),
    ]


def of_data(name: str, steps: Sequence[Step], workspace: Workspace, runs: Engine) -> None:
    """A table of one data set, a line for each of its runs."""
    dataset = load_example(name)
    print(f"\n## {name}; load {os.getloadavg()[0]:.1f}")
    print(f"{'run':22}{'trials':>8}{'seconds':>8}{'before':>8}{'first':>8}{'10 %':>8}{'50 %':>8}", flush=True)
    for step in steps:
        try:
            plan = step.make()
            if plan is not None:
                run, line = worked_off(workspace, runs, plan, dataset)
                print(f"{step.stem:22}{run.n_trials:8}{''.join(line)}  {run.state}", flush=True)
        except (DataError, WorkspaceError) as problem:
            print(f"{step.stem:22}  not asked: {problem}", flush=True)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description="Told against true, for every kind of run.")
    parser.add_argument("names", nargs="*", default=["digits"])
    parser.add_argument("--only", nargs="*")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        workspace, executor = Workspace(Path(home)), Executor()
        runs = Engine(workspace, executor)
        for name in chosen.names:
            fingerprint = workspace.add_dataset(LOCAL_OWNER, load_example(name), example=name)
            of_data(name, usual_steps(workspace, LOCAL_OWNER, fingerprint, only=chosen.only), workspace, runs)
        runs.close()
        workspace.close()


if __name__ == "__main__":
    main()
