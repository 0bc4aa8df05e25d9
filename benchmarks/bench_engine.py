"""What does the engine cost, what does a second worker bring, and what do many trials take? Beside a plain loop.

`python -m benchmarks.bench_engine [tiny] [long] [memory] [many]` prints the parts that are named, or all; it asserts
nothing. Every ratio is that of two ways in the same round, with a 95 % interval over rounds (t of logarithms): of the
clock, which other work beside it distorts, and of the processors' seconds of all processes, which it does not.
"""

import argparse
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.paired import ratio
from core.data import Dataset, load_example
from core.evaluate.source_robustness import expected_accuracy_intervals
from core.figures.source_robustness import interval_chart
from core.models import MODELS
from core.models.threads import single_threaded
from core.trials import Context, TrialPlan
from core.workspace import frames
from core.workspace.engine.executor import Executor
from core.workspace.engine.runner import Engine
from core.workspace.run import Run
from core.workspace.workspace import LOCAL_OWNER, Workspace

SECONDS_OF_MEMORY = 200.0


Seconds = tuple[float, float]
"""Of the clock, and of processors."""


def plain_loop(plan: TrialPlan, dataset: Dataset) -> Seconds:
    """What it takes to draw, fit, predict and count, with nothing around it."""
    start, begun = time.perf_counter(), time.process_time()
    with single_threaded():
        for at in range(plan.n_trials(dataset)):
            draw = plan.draws(dataset)[at]
            train, test = plan.split(dataset, draw)
            model = MODELS[plan.models[0]]().fit(dataset.x[train], dataset.y[train], seed=plan.fit_seed(draw))
            np.bincount(dataset.y[test], weights=model.predict(dataset.x[test]) == dataset.y[test])
    return time.perf_counter() - start, time.process_time() - begun


@contextmanager
def workspace_of(plan: TrialPlan, dataset: Dataset) -> Iterator[tuple[Workspace, Run]]:
    """A workspace that will be gone, with a run of this plan."""
    with tempfile.TemporaryDirectory() as home:
        workspace = Workspace(Path(home))
        yield workspace, workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, dataset))
        workspace.close()


def engine(plan: TrialPlan, dataset: Dataset, executor: Executor) -> Seconds:
    """What it takes from the start of a run until it is done, here and on the workers."""
    with workspace_of(plan, dataset) as (workspace, run):
        begun = _processor(executor)
        start = time.perf_counter()
        Engine(workspace, executor).start(LOCAL_OWNER, run.id)
        while (run := workspace.run(LOCAL_OWNER, run.id)).state == "running":
            time.sleep(0.2)
        seconds = time.perf_counter() - start
        assert (run.state, run.n_failed) == ("done", 0), run
        return seconds, _processor(executor) - begun


def _processor(executor: Executor) -> float:
    return time.process_time() + sum(executor.client().run(time.process_time).values())


def print_ratio(name: str, these: list[Seconds], others: list[Seconds]) -> None:
    """The first by the second of every round: geometric mean, 95 % interval, lowest and highest."""
    for unit, a, b in zip(("clock", "processor"), zip(*these, strict=True), zip(*others, strict=True), strict=True):
        print(f"{name}, {unit}: {ratio(a, b)}")


def rounds(
    name: str, ways: dict[str, Callable[[int], Seconds]], n_rounds: int, n_trials: int
) -> dict[str, list[Seconds]]:
    """Seconds of every way in every round, the ways in turn; the round before the first starts workers and imports."""
    seconds: dict[str, list[Seconds]] = {way: [] for way in ways}
    for number in range(-1, n_rounds):
        order = list(ways) if number % 2 else list(reversed(ways))
        taken = {way: ways[way](number + 1) for way in order}
        told = ", ".join(
            f"{way} {clock:.1f} s ({processor:.1f} of processors)" for way, (clock, processor) in taken.items()
        )
        print(f"round {number + 1}: {told}; load {os.getloadavg()[0]:.1f}", flush=True)
        if number >= 0:
            for way, of_way in seconds.items():
                of_way.append(taken[way])
    print(f"\n## {name}: {n_trials} trials a round; load {os.getloadavg()[0]:.1f}")
    for way, of_way in seconds.items():
        clock, processor = 1000 * np.median(of_way, axis=0) / n_trials
        print(f"{way:22} {clock:9.2f} ms a trial, {processor:.2f} ms of processors (medians)")
    return seconds


def tiny(one: Executor, two: Executor, n_rounds: int) -> None:
    """The cost of the engine where a trial is next to nothing."""
    wine = load_example("wine")

    def plan(number: int) -> TrialPlan:
        return TrialPlan(models=("logistic",), n_repeats=400, seed=number)

    n_trials = plan(0).n_trials(wine)
    ways = {
        "plain loop": lambda number: plain_loop(plan(number), wine),
        "engine, one worker": lambda number: engine(plan(number), wine, one),
    }
    seconds = rounds("Tiny trials, logistic regression on wine", ways, n_rounds, n_trials)
    print_ratio("engine to plain loop", seconds["engine, one worker"], seconds["plain loop"])


def long(one: Executor, two: Executor, n_rounds: int) -> None:
    """What a second worker brings where trials are longer than .2 s; both cores have to be idle for it to mean much."""
    digits = load_example("digits")

    def plan(number: int) -> TrialPlan:
        return TrialPlan(models=("gradient_boosting",), n_repeats=4, seed=number)

    n_trials = plan(0).n_trials(digits)
    ways = {
        "plain loop": lambda number: plain_loop(plan(number), digits),
        "engine, one worker": lambda number: engine(plan(number), digits, one),
        "engine, two workers": lambda number: engine(plan(number), digits, two),
    }
    seconds = rounds("Longer trials, gradient boosting on digits", ways, n_rounds, n_trials)
    loop, with_one, with_two = seconds.values()
    print_ratio("engine to plain loop", with_one, loop)
    print_ratio("one worker to two", with_one, with_two)


def memory(one: Executor, two: Executor, n_rounds: int) -> None:
    """Whether memory grows over tiny trials: of this process, which keeps nothing, and of the worker."""
    wine = load_example("wine")
    plan = TrialPlan(models=("nearest_neighbours",), n_repeats=10_000)
    points: list[tuple[int, float, float]] = []
    with workspace_of(plan, wine) as (workspace, run):
        start = time.perf_counter()
        Engine(workspace, one).start(LOCAL_OWNER, run.id)
        while run.state != "done" and time.perf_counter() - start < SECONDS_OF_MEMORY:
            time.sleep(1)
            run = workspace.run(LOCAL_OWNER, run.id)
            worker = max(one.client().run(_resident).values())
            points.append((run.n_done, _resident(), worker))
        if run.state != "done":
            workspace.cancel(LOCAL_OWNER, run.id)
            while workspace.run(LOCAL_OWNER, run.id).state == "running":
                time.sleep(0.05)
    settled = [point for point in points if point[0] > points[-1][0] / 5]
    n_done, here, worker = np.array(settled).T
    n_all, n_looks = f"{points[-1][0]:,} of {run.n_trials:,}", len(settled)
    print(f"\n## Memory over {n_all} tiny trials, {n_looks} looks after the first fifth")
    for name, mib in {"this process": here, "the worker": worker}.items():
        slope, error = stats.linregress(n_done, mib)[0], stats.linregress(n_done, mib)[4]
        low, high = (100_000 * (slope + sign * 1.96 * error) for sign in (-1, 1))
        ends = f"slope {slope * 100_000:+.1f} [{low:+.1f}, {high:+.1f}] MiB in 100,000 trials"
        print(f"{name:13} {mib[0]:.0f} to {mib[-1]:.0f} MiB; {ends}")


def _resident() -> float:
    """The resident memory of a process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def many(one: Executor, two: Executor, n_rounds: int) -> None:
    """How long a run of 10,000 trials takes to be made, listed, read and drawn."""
    wine = load_example("wine")
    plan = TrialPlan(models=("logistic",), schemes=("source_exclusive", "source_inclusive"), n_repeats=9500)
    parts: dict[str, Seconds] = {}

    def timed(name: str, of: Callable):
        start, begun = time.perf_counter(), time.process_time()
        answer = of()
        parts[name] = time.perf_counter() - start, time.process_time() - begun
        return answer

    timed("its trials counted", lambda: plan.n_trials(wine))
    with workspace_of(plan, wine) as (workspace, run):
        content = frames.to_bytes(plan.run_trial(wine, 0, context=Context()))
        rows = [plan.run_trial(wine, trial, context=Context()) for trial in range(200)]
        for first in range(0, run.n_trials, 200):
            contents = {first + at: frames.to_bytes(of.assign(repeat=first + at)) for at, of in enumerate(rows)}
            workspace.store_trials(LOCAL_OWNER, run.id, contents)
        timed("missing trials found", lambda: workspace.missing_trials(LOCAL_OWNER, run.id))
        timed("runs listed", lambda: workspace.runs(LOCAL_OWNER, run.fingerprint))
        frame = timed("rows read", lambda: workspace.rows(LOCAL_OWNER, run.id))
        intervals = timed("intervals estimated", lambda: expected_accuracy_intervals(frame))
        timed("figure drawn", lambda: interval_chart(intervals.overall))
    print(f"\n## A run of {run.n_trials:,} trials, {len(frame):,} rows, {len(content):,} bytes a trial")
    for name, (clock, processor) in parts.items():
        print(f"{name:22} {clock:8.2f} s, {processor:.2f} of processors")
    print(f"load {os.getloadavg()[0]:.1f}")


PARTS = {"tiny": tiny, "long": long, "memory": memory, "many": many}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", help=", ".join(PARTS))
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    print(f"# The engine, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    one, two = Executor(n_workers=1), Executor(n_workers=2)
    for name in given.parts or PARTS:
        PARTS[name](one, two, given.rounds)
    one.close()
    two.close()


if __name__ == "__main__":
    main()
