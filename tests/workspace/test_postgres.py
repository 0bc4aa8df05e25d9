"""PostgreSQL in the place of SQLite: two processes on it, a server that goes and comes, and what is said without it.

What of this folder asks the database runs on it, too, in `make evidence` (ON_POSTGRES in the Makefile).
"""

import builtins
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.browser.server import free_port
from tests.workspace.conftest import wait_until, wait_while_running
from tests.workspace.plans import SleepPlan
from tests.workspace.postgres import new_database, postgres
from tests.workspace.test_killed_process import SCRIPT, finished
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError
from touchstone.core.workspace.engine import runner
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine

N_TRIALS = 60
OTHER = "oidc:somebody else"


@pytest.fixture
def database(postgres_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database of its own, which other processes use, too."""
    address = new_database(postgres_server, f"own-{tmp_path.name[:40]}")
    monkeypatch.setenv("TOUCHSTONE_DATABASE", address)
    return address


@pytest.mark.evidence
def test_two_processes_on_one_database_store_each_trial_once(database: str, tmp_path: Path, wine):
    with closing(Workspace(tmp_path, database)) as workspace:
        assert workspace._store.database.dialect.name == "postgresql"
        assert not (tmp_path / "touchstone.sqlite").exists()
        fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
        plans = [SleepPlan(n=N_TRIALS, seconds=0.02, log=str(tmp_path / name)) for name in ("a", "b")]
        runs = [workspace.create_run(LOCAL_OWNER, plan, fingerprint) for plan in plans]
        command = [sys.executable, str(SCRIPT), str(tmp_path)]
        processes = [subprocess.Popen([*command, run.id], stdout=subprocess.PIPE, text=True) for run in runs]
        for process in processes:
            assert process.wait(timeout=240) == 0
            process.stdout.close()
        for run, plan in zip(runs, plans, strict=True):
            last = workspace.run(LOCAL_OWNER, run.id)
            assert (last.state, last.n_done, last.n_failed) == ("done", N_TRIALS, 0)
            assert set(finished(plan).values()) == {1}
            assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == list(range(N_TRIALS))


def test_a_connection_that_the_server_ended_is_made_anew(database: str, tmp_path: Path, wine):
    with closing(Workspace(tmp_path, database)) as workspace:
        fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
        with closing(Workspace(tmp_path, database)) as other, other._store.database.connect() as connection:
            ended = connection.execute(
                text(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            ).scalar()
            assert ended
        wait_until(lambda: workspace.datasets(LOCAL_OWNER)[0].fingerprint, lambda kept: kept == fingerprint)


@pytest.mark.evidence
def test_a_run_whose_database_is_lost_says_why_once_that_is_back_and_goes_on(
    tmp_path: Path, executor: Executor, wine, monkeypatch
):
    monkeypatch.setattr(runner, "SECONDS_BETWEEN_TRIES", 0.2)
    with postgres() as server, closing(Workspace(tmp_path, server.address)) as workspace:
        engine = Engine(workspace, executor)
        plan = SleepPlan(n=100, seconds=0.2)
        run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
        assert engine.start(LOCAL_OWNER, run.id)
        wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).n_done, lambda n_done: n_done > 0)
        release, given_back = workspace.release, []

        def counted(*run: str, error: str | None) -> None:
            given_back.append(error)
            release(*run, error=error)

        monkeypatch.setattr(workspace, "release", counted)
        server.stop()
        with pytest.raises(WorkspaceError, match="The database server cannot be reached"):
            workspace.run(LOCAL_OWNER, run.id)
        wait_until(lambda: given_back, lambda tries: len(tries) >= 2)
        server.start()
        stopped = wait_while_running(workspace, run.id)
        assert stopped.state == "interrupted"
        assert stopped.n_done < plan.n
        assert [error.partition(",")[0] for error in stopped.errors] == ["The database server cannot be reached"]
        assert engine.start(LOCAL_OWNER, run.id)
        assert wait_while_running(workspace, run.id).state == "done"
        assert workspace.rows(LOCAL_OWNER, run.id)["trial"].tolist() == list(range(plan.n))


def test_nobody_keeps_bytes_that_another_owner_is_deleting(database: str, tmp_path: Path, wine, monkeypatch):
    """SQLite lets one process write at a time; here whoever adds the same bytes waits for who deletes them."""
    with closing(Workspace(tmp_path, database)) as mine, closing(Workspace(tmp_path, database)) as theirs:
        fingerprint = mine.add_dataset(LOCAL_OWNER, wine)
        delete, adds = mine._store.blobs.delete, threading.Thread(target=theirs.add_dataset, args=(OTHER, wine))

        def delete_while_another_adds(name: str) -> None:
            adds.start()
            adds.join(timeout=1.0)
            assert adds.is_alive(), "it was kept between the count of rows and the end of their bytes"
            delete(name)

        monkeypatch.setattr(mine._store.blobs, "delete", delete_while_another_adds)
        mine.delete_dataset(LOCAL_OWNER, fingerprint)
        adds.join(timeout=60)
        assert theirs.dataset(OTHER, fingerprint).fingerprint == fingerprint


def test_a_server_that_is_not_there_is_a_sentence(tmp_path: Path):
    with pytest.raises(WorkspaceError, match="cannot be reached"):
        Workspace(tmp_path, f"postgresql://touchstone:secret@127.0.0.1:{free_port()}/touchstone")


def test_a_password_that_is_wrong_is_a_sentence_without_it(database: str, tmp_path: Path):
    address = database.replace("touchstone:", "touchstone:not")
    with pytest.raises(WorkspaceError, match="lets nobody in") as refused:
        Workspace(tmp_path, address)
    assert address.split(":")[2].split("@")[0] not in str(refused.value)


def test_a_database_that_is_not_there_is_a_sentence(postgres_server: str, tmp_path: Path):
    with pytest.raises(WorkspaceError, match="no database of this name"):
        Workspace(tmp_path, f"{postgres_server.rpartition('/')[0]}/none-such")


def test_a_missing_driver_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, name)
    import_as_ever = builtins.__import__

    def without_driver(name: str, *rest):
        if name.split(".")[0] == "psycopg":
            raise ModuleNotFoundError(f"No module named {name!r}", name="psycopg")
        return import_as_ever(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_driver)
    with pytest.raises(WorkspaceError, match=r"psycopg.*install 'psycopg\[binary\]>=3\.2,<4'"):
        Workspace(tmp_path, "postgresql://touchstone@127.0.0.1/touchstone")


@pytest.mark.parametrize("address", ["nonsense", "nosuch://host/name", "postgresql://user:geheim@host:port/name", ""])
def test_an_address_that_is_none_is_a_sentence_without_it(tmp_path: Path, address: str):
    with pytest.raises(WorkspaceError, match="TOUCHSTONE_DATABASE") as refused:
        Workspace(tmp_path, address or "://")
    assert "geheim" not in str(refused.value)
