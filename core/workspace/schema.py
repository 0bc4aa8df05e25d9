"""What is remembered? Data sets, predictions, models, runs, links, sign-ins, how far trials are and their rows.

Whoever changes a table here adds a step to `STEPS`, which older databases go through.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import ForeignKey, Index, LargeBinary, UniqueConstraint, delete, insert, inspect, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.engine import Engine as Database
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from touchstone.core.workspace import frames
from touchstone.core.workspace.errors import WorkspaceError, database_error, disk_error


def now() -> float:
    """Seconds since 1970 (UTC): one number that every database keeps and compares alike."""
    return datetime.now(UTC).timestamp()


class Base(DeclarativeBase):
    """The tables below."""


class SchemaVersionRow(Base):
    """Which form the tables have, in a single row (see `migrate`)."""

    __tablename__ = "schema_version"

    version: Mapped[int] = mapped_column(primary_key=True)


class _WithBlob:
    """What belongs to an owner and has a file of its own, named by its content (`blob`)."""

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    fingerprint: Mapped[str]
    name: Mapped[str]
    blob: Mapped[str]
    created: Mapped[float] = mapped_column(default=now)


class DatasetRow(_WithBlob, Base):
    """A data set that an owner keeps; its bytes are a blob."""

    __tablename__ = "datasets"
    __table_args__ = (UniqueConstraint("owner", "fingerprint"),)

    kind: Mapped[str]
    n_samples: Mapped[int]
    n_classes: Mapped[int]
    example: Mapped[str | None]


class PredictionsRow(_WithBlob, Base):
    """Predictions that an owner keeps: the files as given, with the roles of their columns, are one blob."""

    __tablename__ = "predictions"
    __table_args__ = (UniqueConstraint("owner", "fingerprint"),)

    example: Mapped[str | None]


class ComparisonRow(Base):
    """A question that was asked of prediction files: the parameters that lead to it, and its answer in a sentence."""

    __tablename__ = "comparisons"
    __table_args__ = (UniqueConstraint("owner", "question", "address"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    question: Mapped[str]
    address: Mapped[str]
    says: Mapped[str]
    created: Mapped[float] = mapped_column(default=now)


class ModelRow(_WithBlob, Base):
    """A model that an owner keeps, of one data set; the file and what it takes to read it again are a blob."""

    __tablename__ = "models"
    __table_args__ = (UniqueConstraint("owner", "fingerprint"),)

    dataset: Mapped[str] = mapped_column(index=True)
    architecture: Mapped[str | None]
    file_name: Mapped[str]
    training_plan: Mapped[str | None]
    n_test: Mapped[int | None]
    n_correct: Mapped[int | None]
    has_gradients: Mapped[bool] = mapped_column(default=True)


class RunRow(Base):
    """A plan's stored execution on a data set.

    `lease_owner` is the process that works on it until `lease_until`, which that process keeps moving; a lease that
    has run out means that the process is gone, and anyone may take the run over.
    """

    __tablename__ = "runs"
    __table_args__ = (UniqueConstraint("owner", "key"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    key: Mapped[str]
    kind: Mapped[str]
    plan: Mapped[str]
    fingerprint: Mapped[str] = mapped_column(index=True)
    dataset_name: Mapped[str]
    n_trials: Mapped[int]
    state: Mapped[str] = mapped_column(default="queued")
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    lease_owner: Mapped[str | None]
    lease_until: Mapped[float] = mapped_column(default=0.0)
    created: Mapped[float] = mapped_column(default=now)
    started: Mapped[float | None]
    started_with: Mapped[int] = mapped_column(default=0)
    finished: Mapped[float | None]
    provenance: Mapped[str] = mapped_column(default="{}")
    error: Mapped[str | None]


class TrialRow(Base):
    """The rows of one finished trial, exactly once: `content` is an Arrow stream of a data frame.

    `sha256` is its `core.workspace.frames.trial_seal`; a row with another one is not believed, nor one that an older
    Touchstone wrote after the database had come to today's form.
    """

    __tablename__ = "trials"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    trial: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    error: Mapped[str | None]
    content: Mapped[bytes] = mapped_column(LargeBinary)
    sha256: Mapped[str] = mapped_column(server_default="")
    finished: Mapped[float] = mapped_column(default=now)


class StepsRow(Base):
    """How far a trial is that is running now, where it tells; gone when the trial has ended or its run rests."""

    __tablename__ = "steps"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    trial: Mapped[int] = mapped_column(primary_key=True)
    n_done: Mapped[int]
    n_steps: Mapped[int]
    what: Mapped[str]


class TempoRow(Base):
    """From when on the pace of a run is counted, and how many trials were done then, parts of them included."""

    __tablename__ = "tempos"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    since: Mapped[float]
    n_done: Mapped[float]


class RunNameRow(Base):
    """What somebody calls a run; a table of its own, for most have no name."""

    __tablename__ = "run_names"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str]


class _Link:
    """What is kept of every link: `id` is the SHA-256 of its token; the token itself is not kept."""

    id: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str] = mapped_column(index=True)
    created: Mapped[float] = mapped_column(default=now)
    expires: Mapped[float]
    revoked: Mapped[float | None]
    used: Mapped[float | None]


class LinkRow(_Link, Base):
    """A link that shows a run to whoever has its token."""

    __tablename__ = "links"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)


class ViewLinkRow(_Link, Base):
    """A link that shows a view, which is no run; a table of its own.

    `settings` is the JSON of the parameters that settle the view.
    """

    __tablename__ = "view_links"

    page: Mapped[str]
    title: Mapped[str]
    settings: Mapped[str]


class SignInRow(Base):
    """A sign-in, which is named by a hash of what the provider said of it; or the end of one."""

    __tablename__ = "sign_ins"

    owner: Mapped[str] = mapped_column(primary_key=True)
    sign_in: Mapped[str] = mapped_column(primary_key=True)
    browser: Mapped[str] = mapped_column(default="")
    began: Mapped[float] = mapped_column(default=now)
    used: Mapped[float] = mapped_column(default=now)
    ended: Mapped[float | None]


class RestsOnRow(Base):
    """What the view of a link rests on: the link goes with the first of them that its owner deletes.

    `kind` is the table where it stands and `name` its fingerprint, or the id of a run.
    """

    __tablename__ = "view_link_rests_on"
    __table_args__ = (Index("rests_on_what", "owner", "kind", "name"),)

    link_id: Mapped[str] = mapped_column(ForeignKey("view_links.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]


# Which form do the stored tables have, and how do older ones come to today's? Step by step, each whole or not at all.
#
# The database carries its version in a table of its own; one without that table but with runs has version 1. A
# database of SQLite is copied before its first step. Several processes may open it at once: who comes first does the
# work, and the others wait for it.


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
    """Nothing but a table that was not there before (of sign-outs, names of runs, comparisons, tempos)."""


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
    6: _only_tables,
}
"""What leads from each version to the next, in SQL of its own: the tables above are those of the newest version.

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
