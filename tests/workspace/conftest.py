"""An engine on real worker processes, which know the misbehaving plans of plans.py."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dask.config
import distributed
import pytest

from core.data import Dataset, load_example
from core.workspace.engine.executor import Executor
from core.workspace.engine.runner import Engine
from core.workspace.run import Run
from core.workspace.workspace import LOCAL_OWNER, Workspace


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with dask.config.set({"distributed.worker.preload": ["tests.workspace.plans"]}, config=distributed.config):
        executor = Executor(n_workers=2)
        yield executor
        executor.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path)
    yield workspace
    workspace.close()


@pytest.fixture
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture
def run_plan(workspace: Workspace, executor: Executor, wine: Dataset) -> Callable[..., Run]:
    """Start a plan on the wine data and wait until the run leaves its "running" state."""

    def run(plan: object, *, trial_seconds: float = 600.0) -> Run:
        fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
        made = workspace.create_run(LOCAL_OWNER, plan, fingerprint)
        engine = Engine(workspace, executor, trial_seconds=trial_seconds)
        assert engine.start(LOCAL_OWNER, made.id)
        return wait_while_running(workspace, made.id)

    return run


def wait_while_running(workspace: Workspace, run_id: str, *, seconds: float = 300.0) -> Run:
    return wait_until(lambda: workspace.run(LOCAL_OWNER, run_id), lambda run: run.state != "running", seconds=seconds)


def wait_until(ask: Callable[[], object], enough: Callable[[object], bool], *, seconds: float = 120.0) -> object:
    until = time.monotonic() + seconds
    while not enough(answer := ask()):
        assert time.monotonic() < until, f"still {answer} after {seconds} seconds"
        time.sleep(0.05)
    return answer
