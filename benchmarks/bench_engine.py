"""What does the engine cost, what does a second worker bring, and what do many trials take? Beside a plain loop.

`python -m benchmarks.bench_engine [tiny] [where] [long] [memory] [many]` prints the parts that are named, or all; it
asserts nothing. Every ratio is that of two ways in the same round, with a 95 % interval over rounds (t of logarithms):
of the clock, which other work beside it distorts, and of the processors' seconds of all processes, which it distorts
less. The plain loop is worked off in a process that steps back behind others as far as workers do.
"""

import argparse
import os
import platform
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import date
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.paired import ratio
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.figures.source_robustness import interval_chart
from touchstone.core.models import MODELS
from touchstone.core.models.threads import single_threaded
from touchstone.core.split.scheme import Split
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.run import n_rows, table_of
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine
from touchstone.core.workspace.engine.worker import NICE

SECONDS_OF_MEMORY = 200.0


Seconds = tuple[float, float]
"""Of the clock, and of processors."""


def plain_loop(plan: TrialPlan, name: str) -> Seconds:
    """What it takes to draw, fit, predict and count, with nothing around it."""
    dataset = load_example(name)
    start, begun = time.perf_counter(), time.process_time()
    with single_threaded():
        for at in range(plan.n_trials(dataset)):
            draw = plan.draws(dataset)[at]
            train, test = plan.split(dataset, draw)
            model = MODELS[plan.models[0]]().fit(dataset.x[train], dataset.y[train], seed=plan.fit_seed(draw))
            np.bincount(dataset.y[test], weights=model.predict(dataset.x[test]) == dataset.y[test])
    return time.perf_counter() - start, time.process_time() - begun


@contextmanager
def stepped_back() -> Iterator[Callable[[TrialPlan, str], Seconds]]:
    """The plain loop in another process, which is as polite as workers are."""
    with ProcessPoolExecutor(1, get_context("spawn"), os.nice, (NICE,)) as pool:
        yield lambda plan, name: pool.submit(plain_loop, plan, name).result()


@contextmanager
def workspace_of(plan: TrialPlan, dataset: Dataset) -> Iterator[tuple[Workspace, Run]]:
    """A workspace that will be gone, with a run of this plan."""
    with tempfile.TemporaryDirectory() as home:
        workspace = Workspace(Path(home))
        yield workspace, workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, dataset))
        workspace.close()


def engine(plan: TrialPlan, dataset: Dataset, executor: Executor, fitting: list[float] | None = None) -> Seconds:
    """What it takes from the start of a run until it is done, here and on the workers.

    `fitting` gets the share of the workers' time in which they fitted and tested.
    """
    with workspace_of(plan, dataset) as (workspace, run):
        begun = _processor(executor)
        start = time.perf_counter()
        Engine(workspace, executor).start(LOCAL_OWNER, run.id)
        # Whoever looked how far it is would take processors' seconds that are not the engine's.
        next(thread for thread in threading.enumerate() if thread.name == f"run {run.id[:8]}").join()
        seconds, taken = time.perf_counter() - start, _processor(executor) - begun
        run = workspace.run(LOCAL_OWNER, run.id)
        assert (run.state, run.n_failed) == ("done", 0), run
        if fitting is not None:
            rows = workspace.rows(LOCAL_OWNER, run.id)
            fitting.append(rows.loc[rows["label"].isna(), "seconds"].sum() / (seconds * executor.n_workers))
        return seconds, taken


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
        return TrialPlan(models=("logistic",), n_repeats=1000, seed=number)

    n_trials = plan(0).n_trials(wine)
    with stepped_back() as loop:
        ways = {
            "plain loop": lambda number: loop(plan(number), "wine"),
            "engine, one worker": lambda number: engine(plan(number), wine, one),
        }
        seconds = rounds("Tiny trials, logistic regression on wine", ways, n_rounds, n_trials)
    print_ratio("engine to plain loop", seconds["engine, one worker"], seconds["plain loop"])


def where(one: Executor, two: Executor, n_rounds: int) -> None:
    """Where the milliseconds of a tiny trial go, but for what lies between the two processes."""
    wine = load_example("wine")
    rounds = [parts_of(TrialPlan(models=("logistic",), n_repeats=100, seed=seed), wine) for seed in range(n_rounds + 1)]
    print(f"\n## Where a tiny trial goes, 300 trials a round, {n_rounds} rounds; load {os.getloadavg()[0]:.1f}")
    for name in rounds[0]:
        lowest, median, highest = np.quantile([parts[name] for parts in rounds[1:]], [0, 0.5, 1])
        print(f"{name:22} {median:7.3f} ms of processors [{lowest:.3f} to {highest:.3f}]")


def parts_of(plan: TrialPlan, dataset: Dataset) -> dict[str, float]:
    """Milliseconds a trial of this process's processor, of every step from a draw to what is stored of it."""
    parts: dict[str, float] = {}
    draws, n_trials, about = plan.draws(dataset), plan.n_trials(dataset), {"model": plan.models[0], "seconds": 0.0}

    def timed(name: str, of: Callable):
        begun = time.process_time()
        answer = of()
        parts[name] = 1000 * (time.process_time() - begun) / n_trials
        return answer

    for draw in draws:
        plan.sources(dataset, draw.source_finder, draw.clustering)
    with workspace_of(plan, dataset) as (workspace, run), single_threaded():
        splits = timed("drawn", lambda: [plan.split(dataset, draw) for draw in draws])
        predicted = timed("fitted and tested", lambda: [_predicted(plan, dataset, split) for split in splits])
        given = list(zip(draws, predicted, splits, strict=True))
        counted = timed("counted", lambda: [plan.counted(dataset, d, p, split=s, **about) for d, p, s in given])
        table = timed("made a table", lambda: table_of(counted))
        contents = timed("made bytes", lambda: frames.cut_to_bytes(table, [n_rows(trial) for trial in counted]))
        timed("sealed and stored", lambda: workspace.store_trials(LOCAL_OWNER, run.id, dict(enumerate(contents))))
    return parts


def _predicted(plan: TrialPlan, dataset: Dataset, split: Split) -> np.ndarray:
    model = MODELS[plan.models[0]]().fit(dataset.x[split.train], dataset.y[split.train], seed=0)
    return model.predict(dataset.x[split.test])


def long(one: Executor, two: Executor, n_rounds: int) -> None:
    """What a second worker brings where trials are longer than .2 s; both cores have to be idle for it to mean much."""
    digits = load_example("digits")

    def plan(number: int) -> TrialPlan:
        return TrialPlan(models=("gradient_boosting",), n_repeats=12, seed=number)

    n_trials = plan(0).n_trials(digits)
    shares: dict[str, list[float]] = {"one worker": [], "two workers": []}
    with stepped_back() as loop:
        ways = {
            "plain loop": lambda number: loop(plan(number), "digits"),
            "engine, one worker": lambda number: engine(plan(number), digits, one, shares["one worker"]),
            "engine, two workers": lambda number: engine(plan(number), digits, two, shares["two workers"]),
        }
        seconds = rounds("Longer trials, gradient boosting on digits", ways, n_rounds, n_trials)
    alone, with_one, with_two = seconds.values()
    print_ratio("engine to plain loop", with_one, alone)
    print_ratio("one worker to two", with_one, with_two)
    for name, of_rounds in shares.items():
        lowest, highest = min(of_rounds[1:]), max(of_rounds[1:])
        print(f"{name}: fitted and tested in {100 * lowest:.1f} to {100 * highest:.1f} % of the time that they had")


def memory(one: Executor, two: Executor, n_rounds: int) -> None:
    """Whether memory grows over tiny trials: of this process, which keeps nothing, and of the worker.

    Both are read from the system: to ask a worker through the cluster leaves something of every question here.
    """
    wine = load_example("wine")
    plan = TrialPlan(models=("nearest_neighbours",), n_repeats=10_000)
    points: list[tuple[int, float, float]] = []
    with workspace_of(plan, wine) as (workspace, run):
        start = time.perf_counter()
        Engine(workspace, one).start(LOCAL_OWNER, run.id)
        (at_work,) = one.client().run(os.getpid).values()
        while run.state != "done" and time.perf_counter() - start < SECONDS_OF_MEMORY:
            time.sleep(1)
            run = workspace.run(LOCAL_OWNER, run.id)
            points.append((run.n_done, _resident(os.getpid()), _resident(at_work)))
        if run.state != "done":
            workspace.cancel(LOCAL_OWNER, run.id)
            while workspace.run(LOCAL_OWNER, run.id).state == "running":
                time.sleep(0.05)
    # The run is sealed once all are done, which takes some memory at once, however many there were.
    settled = [point for point in points if points[-1][0] / 5 < point[0] < run.n_trials]
    n_done, here, worker = np.array(settled).T
    n_all, n_looks = f"{points[-1][0]:,} of {run.n_trials:,}", len(settled)
    print(f"\n## Memory over {n_all} tiny trials, {n_looks} looks after the first fifth")
    for name, mib in {"this process": here, "the worker": worker}.items():
        slope, error = stats.linregress(n_done, mib)[0], stats.linregress(n_done, mib)[4]
        low, high = (100_000 * (slope + sign * 1.96 * error) for sign in (-1, 1))
        ends = f"slope {slope * 100_000:+.1f} [{low:+.1f}, {high:+.1f}] MiB in 100,000 trials"
        print(f"{name:13} {mib[0]:.0f} to {mib[-1]:.0f} MiB; {ends}")


def _resident(process: int) -> float:
    """The resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
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


PARTS = {"tiny": tiny, "where": where, "long": long, "memory": memory, "many": many}


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
