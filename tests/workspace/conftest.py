"""An engine on real worker processes, which know the misbehaving plans of plans.py.

With TOUCHSTONE_TEST_DATABASE=postgresql every home of a test has a database of a real server in the place of its file.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dask.config
import distributed
import pytest
import sqlalchemy

from tests.workspace.postgres import new_database, postgres
from touchstone.core.data import Dataset, load_example
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, store
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine

MOST_SECONDS = 600
ON_POSTGRES = os.environ.get("TOUCHSTONE_TEST_DATABASE") == "postgresql"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is about SQLite's file has nothing to say of another database."""
    for item in items if ON_POSTGRES else ():
        if item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.skip(reason="about the file of SQLite"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server, started for these tests."""
    with postgres() as server:
        yield server.address


@pytest.fixture(autouse=ON_POSTGRES)
def on_postgres(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Each home that would have a file of SQLite has a database of the server, by its name; so have other processes.

    What a test leaves open is closed after it: unlike SQLite's, the server's driver warns of it, in some later test.
    """
    server, connect = request.getfixturevalue("postgres_server"), store.open_database
    opened: list[sqlalchemy.Engine] = []

    def database_of(home: str) -> str:
        return new_database(server, f"home-{hashlib.sha256(home.encode()).hexdigest()[:32]}")

    def open_database(url: str) -> sqlalchemy.Engine:
        opened.append(connect(database_of(str(Path(url[10:]).parent)) if url.startswith("sqlite:///") else url))
        return opened[-1]

    monkeypatch.setattr(store, "open_database", open_database)
    monkeypatch.setenv("TOUCHSTONE_DATABASE", database_of(str(tmp_path)))
    yield
    ended_threads()
    for database in opened:
        database.dispose()


def ended_threads() -> None:
    """Wait for the threads of runs that have ended, before what they work on is closed.

    A run's row says so a moment before its thread gives the connection back; one that is given back to a closed pool
    stays open until somebody collects it, and PostgreSQL's driver warns of that.
    """
    for thread in threading.enumerate():
        if thread.name.startswith("run "):
            thread.join(timeout=1)


@contextmanager
def behind(workspace: Workspace) -> Iterator[sqlalchemy.Connection]:
    """The database behind a workspace's back: each change is kept at once, and whatever refers to what may break."""
    with workspace._store.database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        connection.execute(
            sqlalchemy.text("PRAGMA foreign_keys = OFF" if is_sqlite else "SET session_replication_role = replica")
        )
        yield connection
        connection.invalidate()


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
    ended_threads()
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


def worker_pids(executor: Executor) -> set[int]:
    """The process of every worker, once all are there: one that an earlier test killed may still be on its way."""

    def pids() -> set[int]:
        return set(executor.client().run(os.getpid, on_error="ignore").values())

    return wait_until(pids, lambda pids: len(pids) == executor.n_workers)


def wait_while_running(workspace: Workspace, run_id: str) -> Run:
    return wait_until(lambda: workspace.run(LOCAL_OWNER, run_id), lambda run: run.state != "running")


def wait_until(ask: Callable[[], object], enough: Callable[[object], bool]) -> object:
    """Far longer than anything takes: how long it does take on a busy machine says nothing."""
    until = time.monotonic() + MOST_SECONDS
    while not enough(answer := ask()):
        assert time.monotonic() < until, f"still {answer} after {MOST_SECONDS} seconds"
        time.sleep(0.05)
    return answer
