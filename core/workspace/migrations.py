"""Which form do the stored tables have, and how do older ones come to today's? Step by step, each whole or not at all.

The database carries its version in a table of its own; one without that table but with runs has version 1. A database
of SQLite is copied before its first step. Several processes may open it at once: who comes first does the work, and
the others wait for it.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import delete, insert, inspect, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.engine import Engine as Database

from touchstone.core.workspace import frames
from touchstone.core.workspace.errors import WorkspaceError, database_error, disk_error
from touchstone.core.workspace.schema import Base, RunRow, SchemaVersionRow

_EMPTY = 0
_LOCK = 7_206_041
"""The number under which processes that open one PostgreSQL database wait for one another; any will do."""


def _hash_rows(connection: Connection) -> None:
    """Every trial's rows get their SHA-256, which stands for them from now on."""
    connection.execute(text("ALTER TABLE trials ADD COLUMN sha256 VARCHAR DEFAULT '' NOT NULL"))
    read = text("SELECT content FROM trials WHERE run_id = :run AND trial = :trial")
    write = text("UPDATE trials SET sha256 = :sha256 WHERE run_id = :run AND trial = :trial")
    for run, trial in connection.execute(text("SELECT run_id, trial FROM trials")).all():
        of_trial = {"run": run, "trial": trial}
        content = bytes(connection.execute(read, of_trial).scalar_one())
        connection.execute(write, of_trial | {"sha256": frames.sha256(content)})


def _seal_rows(connection: Connection) -> None:
    """The hash of a trial comes to stand for its number, status and error, too; rows that were damaged stay so."""
    read = text("SELECT status, error, content, sha256 FROM trials WHERE run_id = :run AND trial = :trial")
    write = text("UPDATE trials SET sha256 = :sha256 WHERE run_id = :run AND trial = :trial")
    for run, trial in connection.execute(text("SELECT run_id, trial FROM trials")).all():
        of_trial = {"run": run, "trial": trial}
        row = connection.execute(read, of_trial).one()
        content = bytes(row.content)
        whole = row.sha256 == frames.sha256(content)
        seal = frames.trial_seal(trial, row.status, row.error, content) if whole else ""
        connection.execute(write, of_trial | {"sha256": seal})


def _only_tables(_connection: Connection) -> None:
    """Nothing but a table that was not there before (that of sign-outs, that of names of runs)."""


def _list_sign_ins(connection: Connection) -> None:
    """The ends of sign-ins come to stand in the table of all sign-ins."""
    if "sign_outs" not in inspect(connection).get_table_names():  # an older database has no table that came after it
        return
    columns = (
        *("owner VARCHAR NOT NULL", "sign_in VARCHAR NOT NULL", "browser VARCHAR NOT NULL", "began FLOAT NOT NULL"),
        *("used FLOAT NOT NULL", "ended FLOAT", "PRIMARY KEY (owner, sign_in)"),
    )
    connection.execute(text(f"CREATE TABLE sign_ins ({', '.join(columns)})"))
    connection.execute(text("INSERT INTO sign_ins SELECT owner, sign_in, '', at, at, at FROM sign_outs"))
    connection.execute(text("DROP TABLE sign_outs"))


STEPS: dict[int, Callable[[Connection], None]] = {
    1: _hash_rows,
    2: _seal_rows,
    3: _only_tables,
    4: _list_sign_ins,
    5: _only_tables,
}
"""What leads from each version to the next, in SQL of its own: the tables of `schema` are those of the newest version.

A table that a version adds needs no SQL: those that are not there are made after the last step.
"""


def newest() -> int:
    """The version of today's tables."""
    return max(STEPS) + 1


def version_of(connection: Connection) -> int:
    """The version of a database's tables; 0 where it has none."""
    tables = inspect(connection).get_table_names()
    if SchemaVersionRow.__tablename__ in tables:
        return connection.execute(select(SchemaVersionRow.version)).scalar_one()
    return 1 if RunRow.__tablename__ in tables else _EMPTY


def copy_of(file: Path, version: int) -> Path:
    """Where the copy of a database lies that was made before it left a version.

    >>> copy_of(Path("home/touchstone.sqlite"), 1).name
    'touchstone.version-1.sqlite'
    """
    return file.with_name(f"{file.stem}.version-{version}{file.suffix}")


def migrate(database: Database) -> None:
    """Bring a database to today's tables, or make them where there are none.

    Raises WorkspaceError, and changes nothing, where it has those of a newer Touchstone, or cannot be copied.
    """
    with database.connect() as connection:
        version = version_of(connection)
    copied = False
    while _checked(version) != newest():
        with _alone(database) as connection:
            version = _checked(version_of(connection))  # another process may have been here meanwhile
            if version == newest():
                return
            if version != _EMPTY:
                copied = copied or _copy(database, version)
                STEPS[version](connection)
            version = newest() if version == _EMPTY else version + 1
            if version == newest():
                Base.metadata.create_all(connection)
            SchemaVersionRow.metadata.create_all(connection, tables=[SchemaVersionRow.__table__])
            connection.execute(delete(SchemaVersionRow))
            connection.execute(insert(SchemaVersionRow).values(version=version))


def _checked(version: int) -> int:
    if version > newest():
        raise WorkspaceError(
            f"A newer Touchstone has used this folder. Its database has version {version}; this Touchstone reads "
            f"versions up to {newest()}. Nothing was changed. Update Touchstone, or name another folder "
            f"(TOUCHSTONE_HOME)."
        )
    return version


@contextmanager
def _alone(database: Database) -> Iterator[Connection]:
    """A transaction, tables included, beside which nobody else writes; all of it is kept or nothing."""
    if database.dialect.name != "sqlite":
        with database.begin() as connection:
            if database.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection
        return
    with database.connect() as connection:
        # By itself Python's driver begins no transaction before it makes or alters tables.
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")


def _copy(database: Database, version: int) -> bool:
    """Copy a SQLite database, beside which nobody writes now, to a file of its own; other databases have other ways.

    A copy that is there already is of an earlier try, after which the database may have been used: it is replaced.
    """
    if database.dialect.name != "sqlite" or not database.url.database:
        return True
    file = Path(database.url.database)
    copy = copy_of(file, version)
    part = copy.with_name(f".{copy.name}.part")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
        shutil.copymode(file, part)
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(part, copy)
    except OSError as problem:
        raise disk_error(problem, "be copied before it is brought to the form of this version") from problem
    except sqlite3.Error as problem:
        raise database_error(str(problem)) or problem from problem
    finally:
        part.unlink(missing_ok=True)
    return True
