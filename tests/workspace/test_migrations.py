"""An older home is copied and brought to today's form, whole or not at all; a newer one is left as it is."""

import sqlite3
import threading
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError, schema
from touchstone.core.workspace.errors import DamagedTrials
from touchstone.core.workspace.frames import trial_seal
from touchstone.core.workspace.schema import copy_of, newest

pytestmark = pytest.mark.sqlite
GOLDEN = Path(__file__).parents[1] / "golden" / "home.zip"
DATABASE = "touchstone.sqlite"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of version 1, as commit 0919363 wrote it."""
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return tmp_path


def asked(file: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(query).fetchall()


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        return list(database.iterdump())


def open_and_close(home: Path) -> None:
    Workspace(home).close()


def set_version(home: Path, version: int) -> None:
    with closing(sqlite3.connect(home / DATABASE)) as database, database:
        database.execute("UPDATE schema_version SET version = ?", (version,))


def test_an_older_home_gets_todays_form_and_keeps_its_rows(home):
    before = asked(home / DATABASE, "SELECT run_id, trial, status, content FROM trials ORDER BY run_id, trial")
    assert before
    workspace = Workspace(home)
    after = asked(home / DATABASE, "SELECT run_id, trial, status, content FROM trials ORDER BY run_id, trial")
    assert after == before
    for *trial, sha256 in asked(home / DATABASE, "SELECT trial, status, error, content, sha256 FROM trials"):
        assert sha256 == trial_seal(*trial)
    assert asked(home / DATABASE, "SELECT version FROM schema_version") == [(newest(),)]
    for run in workspace.runs(LOCAL_OWNER):
        assert len(workspace.rows(LOCAL_OWNER, run.id)) >= run.n_done
        # Kinds whose method has had another version since.
        newer = ("adequacy", "average_case", "covariate_shift", "folds", "guided_tests", "sources", "trials")
        assert run.older_method == (run.kind in newer)
    workspace.close()


def test_the_copy_beside_it_is_the_home_as_it_was_and_opens(home, tmp_path_factory):
    before = dump(home / DATABASE)
    open_and_close(home)
    copy = copy_of(home / DATABASE, 1)
    assert [file.name for file in home.glob("*version-1*")] == [copy.name], "nothing else is left of the copying"
    assert dump(copy) == before
    assert copy.stat().st_mode == (home / DATABASE).stat().st_mode
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / DATABASE).write_bytes(copy.read_bytes())
    workspace = Workspace(elsewhere)
    assert workspace.runs(LOCAL_OWNER)
    workspace.close()


def test_a_home_of_today_is_neither_copied_nor_changed(home):
    open_and_close(home)
    copy_of(home / DATABASE, 1).unlink()
    before = (home / DATABASE).read_bytes()
    open_and_close(home)
    assert (home / DATABASE).read_bytes() == before
    assert not list(home.glob("*version*"))


def test_a_new_home_has_todays_form_and_no_copy(tmp_path, home, tmp_path_factory):
    new = tmp_path_factory.mktemp("new")
    for folder in (new, home):
        open_and_close(folder)
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    assert asked(new / DATABASE, tables) == asked(home / DATABASE, tables)
    for (table,) in asked(new / DATABASE, tables):
        columns = f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{table}') ORDER BY name"
        assert asked(new / DATABASE, columns) == asked(home / DATABASE, columns), table
    assert not list(new.glob("*version*"))


def test_a_step_that_fails_leaves_the_home_as_it_was(home, monkeypatch):
    before = dump(home / DATABASE)

    def half_done(connection) -> None:
        connection.execute(text("ALTER TABLE trials ADD COLUMN sha256 VARCHAR DEFAULT '' NOT NULL"))
        connection.execute(text("UPDATE trials SET sha256 = 'half'"))
        connection.execute(text("DELETE FROM links"))
        raise RuntimeError("in the middle of it")

    with monkeypatch.context() as patch:
        patch.setitem(schema.STEPS, 1, half_done)
        with pytest.raises(RuntimeError, match="in the middle of it"):
            Workspace(home)
    assert dump(home / DATABASE) == before
    open_and_close(home)
    assert asked(home / DATABASE, "SELECT version FROM schema_version") == [(newest(),)]


@pytest.mark.parametrize("version", range(2, newest()))
def test_a_home_of_every_version_since_is_opened_and_keeps_its_rows(home, version, monkeypatch):
    """The step beyond a version fails: what is left is a home of that version, as the code of its day wrote it."""
    rows = "SELECT run_id, trial, status, content FROM trials ORDER BY run_id, trial"
    before = asked(home / DATABASE, rows)
    with monkeypatch.context() as patch:
        patch.setitem(schema.STEPS, version, lambda connection: connection.execute(text("DROP TABLE nowhere")))
        with pytest.raises(Exception, match="nowhere"):
            Workspace(home)
    assert asked(home / DATABASE, "SELECT version FROM schema_version") == [(version,)]
    workspace = Workspace(home)
    assert asked(home / DATABASE, "SELECT version FROM schema_version") == [(newest(),)]
    assert asked(home / DATABASE, rows) == before
    for run in workspace.runs(LOCAL_OWNER):
        assert len(workspace.rows(LOCAL_OWNER, run.id)) >= run.n_done
    workspace.close()


def test_a_home_that_cannot_be_copied_is_not_touched_and_says_so(home, monkeypatch):
    before = dump(home / DATABASE)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(schema.os, "fsync", full)
        with pytest.raises(WorkspaceError, match="The disk is full, and this could not be copied"):
            Workspace(home)
    assert dump(home / DATABASE) == before
    assert not list(home.glob("*version*")) + list(home.glob(".*version*"))
    open_and_close(home)


def test_a_newer_home_is_refused_in_a_sentence_and_not_touched(home):
    open_and_close(home)
    set_version(home, newest() + 1)
    files = {file: file.read_bytes() for file in home.rglob("*") if file.is_file()}
    with pytest.raises(WorkspaceError) as refusal:
        Workspace(home)
    assert str(refusal.value) == (
        f"A newer Touchstone has used this folder. Its database has version {newest() + 1}; this Touchstone reads "
        f"versions up to {newest()}. Nothing was changed. Update Touchstone, or name another folder (TOUCHSTONE_HOME)."
    )
    assert {file: file.read_bytes() for file in home.rglob("*") if file.is_file()} == files


def test_several_that_open_an_older_home_at_once_all_open_it(home, monkeypatch):
    steps, hash_rows, together = [], schema.STEPS[1], threading.Barrier(4)

    def counted(connection) -> None:
        steps.append(threading.get_ident())
        hash_rows(connection)

    monkeypatch.setitem(schema.STEPS, 1, counted)
    counts, version_of = [], schema.version_of

    def all_see_version_1(connection) -> int:
        version = version_of(connection)
        if threading.current_thread().name not in waited:
            waited.add(threading.current_thread().name)
            together.wait(timeout=60)
        return version

    waited: set[str] = set()
    monkeypatch.setattr(schema, "version_of", all_see_version_1)

    def open_it() -> None:
        workspace = Workspace(home)
        counts.append(len(workspace.runs(LOCAL_OWNER)))
        workspace.close()

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(steps) == 1, "the step was taken more than once"
    assert counts == [len(asked(home / DATABASE, "SELECT id FROM runs"))] * 4


def test_rows_stored_beside_the_migration_are_hashed_too(home):
    """Whoever writes while the copy is made waits: nothing falls between the copy and the step."""
    other = sqlite3.connect(home / DATABASE, timeout=0.05, isolation_level=None)
    real = schema._copy

    def copy_beside_a_writer(database, version: int) -> bool:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        return real(database, version)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "_copy", copy_beside_a_writer)
        open_and_close(home)
    other.close()


def test_a_trial_that_was_damaged_before_the_migration_stays_damaged(home, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(schema.STEPS, 2, lambda connection: connection.execute(text("DROP TABLE nowhere")))
        with pytest.raises(Exception, match="nowhere"):
            Workspace(home)  # and so it is left with version 2
    runs = asked(home / DATABASE, "SELECT run_id FROM trials WHERE trial = 3")
    flip_a_byte(home / DATABASE, runs[0][0], 3, 0.5)
    workspace = Workspace(home)
    with pytest.raises(DamagedTrials):
        workspace.rows(LOCAL_OWNER, runs[0][0])
    assert len(workspace.rows(LOCAL_OWNER, runs[1][0]))
    workspace.close()


def test_a_flipped_byte_in_a_trials_rows_is_said_and_never_read(workspace, run_plan, tmp_path, wine):
    run = run_plan(TrialPlan(models=("nearest_neighbours",), n_repeats=2))
    kept = run_plan(TrialPlan(models=("logistic",), n_repeats=2))
    assert len(workspace.rows(LOCAL_OWNER, run.id))
    for place in (0.1, 0.5, 0.9):
        flip_a_byte(tmp_path / DATABASE, run.id, 3, place)
        with pytest.raises(WorkspaceError) as damage:
            workspace.rows(LOCAL_OWNER, run.id)
        assert str(damage.value) == (
            f"Trial 4 of {run.n_trials} of this run is damaged on disk, so that nothing is shown of the run. Compute "
            "it again; all else stays."
        )
        flip_a_byte(tmp_path / DATABASE, run.id, 3, place)
    assert len(workspace.rows(LOCAL_OWNER, run.id)), "the byte is as it was"
    flip_a_byte(tmp_path / DATABASE, run.id, 3, 0.5)
    assert len(workspace.rows(LOCAL_OWNER, kept.id))
    workspace.delete_run(LOCAL_OWNER, run.id)
    again = run_plan(TrialPlan(models=("nearest_neighbours",), n_repeats=2))
    assert len(workspace.rows(LOCAL_OWNER, again.id)), "the remedy does not work"


def flip_a_byte(file: Path, run_id: str, trial: int, place: float) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        query = "SELECT content FROM trials WHERE run_id = ? AND trial = ?"
        content = bytearray(database.execute(query, (run_id, trial)).fetchone()[0])
        content[int(place * len(content))] ^= 1
        change = "UPDATE trials SET content = ? WHERE run_id = ? AND trial = ?"
        database.execute(change, (bytes(content), run_id, trial))


def test_sign_ins_that_have_ended_stay_ended(home):
    with closing(sqlite3.connect(home / DATABASE)) as database, database:  # as version 4 kept them
        database.execute("CREATE TABLE sign_outs (owner VARCHAR, sign_in VARCHAR, at FLOAT)")
        database.execute("INSERT INTO sign_outs VALUES ('oidc:a', 'one', ?)", (time.time(),))
    workspace = Workspace(home)
    assert not workspace.follow_sign_in("oidc:a", "one", browser="")
    assert workspace.follow_sign_in("oidc:a", "two", browser="")
    assert [one.id for one in workspace.sign_ins("oidc:a")] == ["two"]
    assert asked(home / DATABASE, "SELECT name FROM sqlite_master WHERE name = 'sign_outs'") == []
    workspace.close()
