"""An older database of PostgreSQL is brought to today's form, whole or not at all; a newer one is left as it is."""

import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, MetaData, create_engine, inspect, text
from sqlalchemy.engine import Engine as Database

from tests.workspace.postgres import new_database
from tests.workspace.test_migrations import DATABASE, GOLDEN
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError, schema
from touchstone.core.workspace.errors import DamagedTrials
from touchstone.core.workspace.frames import trial_seal
from touchstone.core.workspace.schema import newest

TRIALS = "SELECT run_id, trial, status, error, content FROM trials ORDER BY run_id, trial"


class Older:
    """A database of version 1 with the rows that commit 0919363 wrote, and the folder of its blobs."""

    def __init__(self, home: Path, address: str):
        self.home, self.address = home, address
        self.database = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
        written, tables = create_engine(f"sqlite:///{home / DATABASE}"), MetaData()
        tables.reflect(written)
        for table in tables.sorted_tables:
            for column in table.columns:
                column.type = column.type.as_generic()
        tables.create_all(self.database)
        with written.connect() as source, self.database.begin() as target:
            for table in tables.sorted_tables:
                if rows := [dict(row) for row in source.execute(table.select()).mappings()]:
                    target.execute(table.insert(), rows)
        written.dispose()
        (home / DATABASE).unlink()

    def open(self) -> Workspace:
        return Workspace(self.home, self.address)

    def asked(self, query: str) -> list[tuple]:
        with self.database.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]

    def change(self, query: str) -> None:
        with self.database.begin() as connection:
            connection.execute(text(query))

    def dump(self) -> dict[str, list]:
        """All columns and rows."""
        return {
            table: [columns_of(self.database, table), sorted(map(repr, self.asked(f"SELECT * FROM {table}")))]
            for table in inspect(self.database).get_table_names()
        }


def columns_of(database: Database, table: str) -> list[str]:
    return sorted(
        f"{column['name']} {column['type']} {column['nullable']}" for column in inspect(database).get_columns(table)
    )


@pytest.fixture
def older(tmp_path: Path, postgres_server: str):
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(tmp_path)
    older = Older(tmp_path, new_database(postgres_server, f"older-{tmp_path.name[:40]}"))
    yield older
    older.database.dispose()


def fails(query: str) -> Callable[[Connection], None]:
    def step(connection: Connection) -> None:
        connection.execute(text("UPDATE trials SET status = 'half'"))
        connection.execute(text("DELETE FROM links"))
        connection.execute(text(query))

    return step


def test_an_older_database_gets_todays_form_and_keeps_its_rows(older: Older, postgres_server: str, tmp_path_factory):
    before = older.asked(TRIALS)
    assert before
    with closing(older.open()) as workspace:
        assert older.asked(TRIALS) == before
        for *trial, sha256 in older.asked("SELECT trial, status, error, content, sha256 FROM trials"):
            assert sha256 == trial_seal(*trial)
        runs = workspace.runs(LOCAL_OWNER)
        assert runs
        for run in runs:
            assert len(workspace.rows(LOCAL_OWNER, run.id)) >= run.n_done
    assert older.asked("SELECT version FROM schema_version") == [(newest(),)]
    new = new_database(postgres_server, f"new-{older.home.name[:40]}")
    with closing(Workspace(tmp_path_factory.mktemp("new"), new)) as workspace:
        of_new = workspace._store.database
        tables = inspect(of_new).get_table_names()
        assert {table: columns_of(older.database, table) for table in tables} == {
            table: columns_of(of_new, table) for table in tables
        }


def test_a_step_that_fails_leaves_the_database_as_it_was(older: Older, monkeypatch: pytest.MonkeyPatch):
    before = older.dump()
    with monkeypatch.context() as patch:
        patch.setitem(schema.STEPS, 1, fails("DROP TABLE nowhere"))
        with pytest.raises(Exception, match="nowhere"):
            older.open()
    assert older.dump() == before
    older.open().close()
    assert older.asked("SELECT version FROM schema_version") == [(newest(),)]


def test_of_two_steps_the_first_is_kept_where_the_second_fails(older: Older, monkeypatch: pytest.MonkeyPatch):
    before = older.asked(TRIALS)
    with monkeypatch.context() as patch:
        patch.setitem(schema.STEPS, 2, fails("DROP TABLE nowhere"))
        with pytest.raises(Exception, match="nowhere"):
            older.open()
    assert older.asked("SELECT version FROM schema_version") == [(2,)]
    assert older.asked(TRIALS) == before
    older.open().close()


def test_a_trial_that_was_damaged_between_two_steps_stays_damaged(older: Older, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setitem(schema.STEPS, 2, fails("DROP TABLE nowhere"))
        with pytest.raises(Exception, match="nowhere"):
            older.open()
    (damaged,), (whole,), *_ = older.asked("SELECT DISTINCT run_id FROM trials WHERE trial = 3 ORDER BY run_id")
    older.change(
        "UPDATE trials SET content = set_byte(content, 500, get_byte(content, 500) # 1) "
        f"WHERE run_id = '{damaged}' AND trial = 3"
    )
    with closing(older.open()) as workspace:
        with pytest.raises(DamagedTrials, match="Trial 4 of"):
            workspace.rows(LOCAL_OWNER, damaged)
        assert len(workspace.rows(LOCAL_OWNER, whole))


def test_a_newer_database_is_refused_in_a_sentence_and_not_touched(older: Older):
    older.open().close()
    older.change(f"UPDATE schema_version SET version = {newest() + 1}")
    before = older.dump()
    with pytest.raises(WorkspaceError, match=rf"Its database has version {newest() + 1}; .* Nothing was changed"):
        older.open()
    assert older.dump() == before


def test_several_that_open_an_older_database_at_once_take_each_step_once(older: Older, monkeypatch: pytest.MonkeyPatch):
    steps, hash_rows, version_of = [], schema.STEPS[1], schema.version_of
    together, waited, n_runs = threading.Barrier(4), set(), []

    def counted(connection: Connection) -> None:
        steps.append(threading.get_ident())
        hash_rows(connection)

    def all_see_version_1(connection: Connection) -> int:
        version, thread = version_of(connection), threading.get_ident()
        if thread not in waited:
            waited.add(thread)
            together.wait(timeout=60)
        return version

    def open_it() -> None:
        with closing(older.open()) as workspace:
            n_runs.append(len(workspace.runs(LOCAL_OWNER)))

    monkeypatch.setitem(schema.STEPS, 1, counted)
    monkeypatch.setattr(schema, "version_of", all_see_version_1)
    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(steps) == 1, "the step was taken more than once"
    assert n_runs == 4 * [len(older.asked("SELECT id FROM runs"))]
