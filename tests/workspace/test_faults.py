"""Real faults: a flipped byte, a locked database, a full disk. Each is said in a sentence with its remedy."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from tests.workspace.conftest import wait_until, wait_while_running
from touchstone.core.data import load_example
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError, store
from touchstone.core.workspace.engine import needed, runner
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.errors import DatabaseBusy, DiskFull, database_error
from touchstone.core.workspace.store import Blobs

PLAN = TrialPlan(models=("nearest_neighbours",), n_repeats=2)


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    monkeypatch.setattr(store, "BUSY_MILLISECONDS", 100)
    return Workspace(tmp_path)


def blob_files(folder):
    return [path for path in (folder / "blobs").rglob("*") if path.is_file()]


def test_a_flipped_byte_is_damage_and_never_data(workspace, tmp_path):
    wine = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    (file,) = blob_files(tmp_path)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(WorkspaceError, match=r"is damaged\. Delete what it belongs to, and upload or train it again\."):
        workspace.dataset(LOCAL_OWNER, wine.fingerprint)
    workspace.delete_dataset(LOCAL_OWNER, wine.fingerprint)
    workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    assert workspace.dataset(LOCAL_OWNER, wine.fingerprint).fingerprint == wine.fingerprint


def test_a_blob_that_was_cut_short_is_written_again(tmp_path):
    blobs = Blobs(tmp_path)
    name = blobs.put(b"a whole blob")
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    file.write_bytes(b"a wh")
    with pytest.raises(WorkspaceError, match="is damaged"):
        blobs.get(name)
    assert blobs.get(blobs.put(b"a whole blob")) == b"a whole blob"


def test_a_missing_blob_says_so(workspace, tmp_path):
    wine = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine)
    blob_files(tmp_path)[0].unlink()
    with pytest.raises(WorkspaceError, match="is missing"):
        workspace.dataset(LOCAL_OWNER, wine.fingerprint)


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "blobs").write_bytes(b"a file is in the way")
    with pytest.raises(WorkspaceError, match=r"could not be opened: File exists\. Check that Touchstone's folder"):
        Workspace(tmp_path)


def test_a_folder_that_is_in_the_way_says_so(tmp_path):
    blobs = Blobs(tmp_path)
    name = blobs.put(b"a blob")
    blobs.delete(name)
    (tmp_path / name[:2] / name).mkdir()
    with pytest.raises(WorkspaceError, match="could not be deleted"):
        blobs.delete(name)
    with pytest.raises(WorkspaceError, match="could not be stored"):
        blobs.put(b"a blob")


@pytest.mark.sqlite
def test_a_locked_database_is_busy_and_later_free(workspace, tmp_path):
    wine = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine)
    other = sqlite3.connect(tmp_path / "touchstone.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(DatabaseBusy, match=r"keeps the database busy\. Try again in a moment"):
            workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint)
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint).state == "queued"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_keeps_nothing_by_halves(workspace, tmp_path, monkeypatch, code):
    def full(_descriptor):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", full)
    wine = load_example("wine")
    with pytest.raises(WorkspaceError, match=r"The disk is full, .* Free some space and try again"):
        workspace.add_dataset(LOCAL_OWNER, wine)
    assert not blob_files(tmp_path)
    assert workspace.datasets(LOCAL_OWNER) == []
    monkeypatch.undo()
    workspace.add_dataset(LOCAL_OWNER, wine)
    assert workspace.dataset(LOCAL_OWNER, wine.fingerprint).n_samples == wine.n_samples


@pytest.mark.sqlite
def test_a_database_that_can_grow_no_more_says_so(workspace):
    wine = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine)
    run = workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint)
    with workspace._store.database.connect() as connection:  # as a full disk answers: SQLITE_FULL
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(WorkspaceError, match="The disk is full"):
        workspace.store_trials(LOCAL_OWNER, run.id, {0: os.urandom(1_000_000)})
    assert workspace.run(LOCAL_OWNER, run.id).n_done == 0


@pytest.mark.sqlite
def test_a_file_that_is_no_database_says_so(tmp_path):
    (tmp_path / "touchstone.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises((WorkspaceError, sqlite3.DatabaseError)) as told:
        Workspace(tmp_path)
    assert isinstance(told.value, WorkspaceError), "the first connection says it in SQLite's words"
    assert "The database is damaged" in str(told.value)


def test_what_is_gone_says_so(workspace):
    with pytest.raises(WorkspaceError, match=r"not in your workspace: deleted, or somebody else's"):
        workspace.run(LOCAL_OWNER, "0" * 32)
    with pytest.raises(WorkspaceError, match=r"not in your workspace: deleted, or somebody else's"):
        workspace.dataset(LOCAL_OWNER, "0" * 64)


def test_a_lock_that_ends_in_time_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BUSY_MILLISECONDS", 10_000)
    workspace, wine = Workspace(tmp_path), load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, wine)
    other = sqlite3.connect(tmp_path / "touchstone.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.5, other.execute, ["ROLLBACK"]).start()
    assert workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint).state == "queued"


@pytest.mark.parametrize("kind", ["dataset", "predictions"])
def test_bytes_that_another_owner_deletes_meanwhile_are_kept_all_the_same(kind, workspace, monkeypatch):
    wine, upload = load_example("wine"), PredictionUpload(GivenFile("said.tsv", b"id\tanswer\tgold\n1\tcat\tcat\n"))
    thing, fingerprint = (wine, wine.fingerprint) if kind == "dataset" else (upload, upload.fingerprint)
    keep = getattr(workspace, {"dataset": "add_dataset", "predictions": "add_predictions"}[kind])
    keep("another", thing)
    put = workspace._store.blobs.put

    def put_and_deleted(content: bytes) -> str:
        name = put(content)
        monkeypatch.setattr(workspace._store.blobs, "put", put)
        getattr(workspace, f"delete_{kind}")("another", fingerprint)
        return name

    monkeypatch.setattr(workspace._store.blobs, "put", put_and_deleted)
    keep(LOCAL_OWNER, thing)
    assert getattr(workspace, kind)(LOCAL_OWNER, fingerprint).fingerprint == fingerprint


@pytest.mark.sqlite
def test_nobody_can_add_a_row_between_the_count_of_rows_and_the_end_of_their_bytes(workspace, tmp_path, monkeypatch):
    wine, delete = load_example("wine"), workspace._store.blobs.delete
    workspace.add_dataset(LOCAL_OWNER, wine)
    other = sqlite3.connect(tmp_path / "touchstone.sqlite", timeout=0.05, isolation_level=None)

    def delete_beside_another(name: str) -> None:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        delete(name)

    monkeypatch.setattr(workspace._store.blobs, "delete", delete_beside_another)
    workspace.delete_dataset(LOCAL_OWNER, wine.fingerprint)
    assert not blob_files(tmp_path)
    other.close()


def test_a_damaged_blob_is_written_again_though_another_owner_keeps_it(workspace, tmp_path):
    wine = load_example("wine")
    for owner in (LOCAL_OWNER, "another"):
        workspace.add_dataset(owner, wine)
    (file,) = blob_files(tmp_path)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    workspace.delete_dataset(LOCAL_OWNER, wine.fingerprint)
    workspace.add_dataset(LOCAL_OWNER, wine)
    for owner in (LOCAL_OWNER, "another"):
        assert workspace.dataset(owner, wine.fingerprint).fingerprint == wine.fingerprint


def test_on_a_full_disk_a_reason_is_noted_and_everything_can_be_deleted(tmp_path):
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*own, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small disk for a test (user namespaces)")
    script = Path(__file__).parent / "on_a_full_disk.py"
    tried = subprocess.run([*own, sys.executable, script, tmp_path], capture_output=True, text=True, timeout=120)
    assert tried.returncode == 0, tried.stderr
    answers = json.loads(tried.stdout)
    assert answers.pop("free before") == 0
    assert answers.pop("store").startswith("The disk is full, and this could not be stored.")
    assert answers.pop("reason") == ["disk full"]
    assert answers.pop("left") == [0, 0]
    assert answers.pop("reserve"), "the room is kept again once there is some"
    assert set(answers.values()) == {"done"}, answers


@pytest.mark.parametrize(
    "problem", [DiskFull(), database_error("disk I/O error"), OperationalError("UPDATE", {}, Exception("gone"))]
)
def test_the_reason_of_a_run_reaches_it_once_the_database_is_back(workspace, monkeypatch, problem, caplog):
    monkeypatch.setattr(runner, "SECONDS_BETWEEN_TRIES", 0.05)
    run = workspace.create_run(LOCAL_OWNER, PLAN, workspace.add_dataset(LOCAL_OWNER, load_example("wine")))
    free, n_tries = workspace._store.free, 0

    def away(change: Callable) -> None:
        nonlocal n_tries
        n_tries += 1
        if n_tries < 5:
            raise problem
        free(change)

    class Broken(Executor):
        def client(self) -> None:
            monkeypatch.setattr(workspace._store, "free", away)
            raise RuntimeError("the cables were cut")

    assert runner.Engine(workspace, Broken()).start(LOCAL_OWNER, run.id)
    stopped = wait_while_running(workspace, run.id)
    assert (stopped.state, stopped.errors) == ("interrupted", ("RuntimeError: the cables were cut",))
    assert caplog.text.count("could not be given back as interrupted (RuntimeError: the cables were cut)") == 4


def test_a_lease_is_renewed_again_after_a_full_disk(workspace, monkeypatch):
    monkeypatch.setattr(needed, "RENEWAL_SECONDS", 0.01)
    run = workspace.create_run(LOCAL_OWNER, PLAN, workspace.add_dataset(LOCAL_OWNER, load_example("wine")))
    assert workspace.acquire(LOCAL_OWNER, run.id, "us")
    renew, n_tries = workspace.renew, []

    def full_at_first(*given: str) -> str:
        n_tries.append(given)
        if len(n_tries) < 3:
            raise DiskFull
        return renew(*given)

    monkeypatch.setattr(workspace, "renew", full_at_first)
    with needed.Lease(workspace, LOCAL_OWNER, run.id, "us") as held:
        workspace.cancel(LOCAL_OWNER, run.id)
        wait_until(lambda: held.answer, lambda answer: answer == "cancel")
    assert len(n_tries) >= 3
