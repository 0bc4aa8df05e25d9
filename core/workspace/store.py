"""Where does everything that is kept stand? In a database, and in a folder of blobs beside it."""

import hashlib
import os
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from sqlalchemy import create_engine, delete, event, func, make_url, select, text
from sqlalchemy.engine import Engine as Database
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError
from sqlalchemy.orm import Session

from touchstone.core.data.home import write_whole
from touchstone.core.data.limits import MIB, most
from touchstone.core.installed import command
from touchstone.core.workspace import schema
from touchstone.core.workspace.errors import DiskFull, WorkspaceError, database_error, disk_error

# How is the database reached? By its address; SQLite with readers beside a writer, and what is wrong in a sentence.


BUSY_MILLISECONDS = 20_000
"""How long SQLite waits for another process that writes, before it is said that the database is busy."""

DRIVER = "psycopg"
"""What reaches PostgreSQL where an address names no driver; SQLAlchemy's own choice is its predecessor."""
NO_DRIVER = (
    "TOUCHSTONE_DATABASE names a {kind} database, and its driver ({driver}) is not installed. {remedy} "
    "Nothing was read or written."
)
NO_ADDRESS = (
    "TOUCHSTONE_DATABASE is no address of a database that can be reached. "
    "It has to look like postgresql://user:password@host:5432/name."
)


def open_database(url: str) -> Database:
    """Connect, and bring the tables to today's form, made anew where there are none.

    Raises WorkspaceError where it cannot be read or written to, its driver is missing, or it has the tables of a newer
    Touchstone.
    """
    database = _connect(url)
    event.listen(database, "handle_error", _say, retval=True)
    if database.dialect.name == "sqlite":
        event.listen(database, "connect", _prepare_sqlite)
    try:
        schema.migrate(database)
    except BaseException:
        database.dispose()
        raise
    return database


def _connect(url: str) -> Database:
    """A database by its address. A connection that the server has closed meanwhile is replaced before it is used."""
    try:
        address = make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername=f"postgresql+{DRIVER}")
        return create_engine(address, pool_pre_ping=address.get_backend_name() != "sqlite")
    except ModuleNotFoundError as missing:
        remedy = f"Install it: {command(f'{DRIVER}[binary]>=3.2,<4')}." if missing.name == DRIVER else "Install it."
        kind = {"postgresql": "PostgreSQL"}.get(address.get_backend_name(), address.get_backend_name())
        raise WorkspaceError(NO_DRIVER.format(kind=kind, driver=missing.name, remedy=remedy)) from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise WorkspaceError(NO_ADDRESS) from None  # which may hold a password, so it is not repeated


def _say(context: ExceptionContext) -> Exception | None:
    """What is wrong with disk or database goes on as a WorkspaceError, in words that a page can show."""
    if context.sqlalchemy_exception is None or context.is_pre_ping:  # a connection that is lost is made anew
        return None
    return database_error(str(context.original_exception))


def _prepare_sqlite(connection, _record) -> None:
    # Damaged text is read as something else and then refused with its row; it must not stop whatever lists it.
    connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    # Some builds of SQLite write over all that is deleted, which takes as much room again: too much for a full disk.
    cursor.execute("PRAGMA secure_delete = FAST")
    cursor.close()


# How is something deleted, or a reason noted, when the disk is full? Out of a little room that was kept for that.


RESERVED_BYTES = 4 << 20
"""Enough for the pages of the database that a deletion touches."""

Result = TypeVar("Result")


class Reserve:
    """A file that only takes up room, and is given up when there is none left.

    Examples
    --------
    >>> import tempfile
    >>> reserve = Reserve(Path(tempfile.mkdtemp()) / "reserve")
    >>> reserve.hold()
    >>> reserve.with_room(lambda: "deleted")
    'deleted'
    """

    def __init__(self, file: Path):
        self.file = file

    def hold(self) -> None:
        """Keep the room, where it is not kept yet and there is any; nothing is said where there is not."""
        with suppress(OSError):
            if self.file.exists() and self.file.stat().st_size == RESERVED_BYTES:
                return
            try:
                with os.fdopen(os.open(self.file, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as stream:
                    stream.write(bytes(RESERVED_BYTES))
                    stream.flush()
                    os.fsync(stream.fileno())
            except OSError:
                self.file.unlink(missing_ok=True)
                raise

    def with_room(self, change: Callable[[], Result]) -> Result:
        """What a change gives; where the disk is full, it is made again with the room that was kept."""
        try:
            return change()
        except DiskFull:
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
            result = change()
        self.hold()
        return result


# Where do large things live? In files named by their content, so that what is read back is what was written.


class Blobs:
    """A folder of content-addressed files: the name of a blob is the SHA-256 of its bytes.

    Examples
    --------
    >>> import tempfile
    >>> blobs = Blobs(Path(tempfile.mkdtemp()))
    >>> name = blobs.put(b"five bytes")
    >>> blobs.get(name)
    b'five bytes'
    """

    def __init__(self, folder: Path):
        """Raises WorkspaceError where the folder is not there and cannot be made."""
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise disk_error(problem, "be opened") from problem

    def put(self, content: bytes) -> str:
        """Store bytes and return their name. A reader never sees half a blob: it is renamed into place when whole.

        Raises WorkspaceError where the disk is full or may not be written to; nothing is left behind then.
        """
        name = hashlib.sha256(content).hexdigest()
        path = self._path(name)
        try:
            if path.exists() and path.read_bytes() == content:
                return name  # what was cut short or damaged is written again
            write_whole(path, content)
        except OSError as problem:
            raise disk_error(problem, "be stored") from problem
        return name

    def get(self, name: str) -> bytes:
        """The bytes of a blob. Raises WorkspaceError when it is missing or its bytes are no longer those stored."""
        try:
            content = self._path(name).read_bytes()
        except FileNotFoundError:
            raise WorkspaceError(
                f"The stored file {name[:12]} is missing. Delete what it belongs to, and upload or train it again."
            ) from None
        except OSError as problem:
            raise disk_error(problem, "be read") from problem
        if hashlib.sha256(content).hexdigest() != name:
            raise WorkspaceError(
                f"The stored file {name[:12]} is damaged. Delete what it belongs to, and upload or train it again."
            )
        return content

    def n_bytes(self, name: str) -> int:
        """How large a blob is; 0 where it is missing."""
        try:
            return self._path(name).stat().st_size
        except OSError:
            return 0

    def stored(self) -> Iterator[tuple[str, float]]:
        """The name of every blob, and when it was written (seconds since 1970)."""
        for path in self._folder.glob("??/*"):
            if len(path.name) == 64 and path.is_file():
                yield path.name, path.stat().st_mtime

    def delete(self, name: str) -> None:
        """Remove a blob; nothing happens where there is none. Raises WorkspaceError where it cannot be removed."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as problem:
            raise disk_error(problem, "be deleted") from problem

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name


# Database and blobs together.


LOCK_OF_BLOBS = 7_305_803_174
"""Known to no other program that may share the database."""
MOST_STORED = "TOUCHSTONE_MOST_STORED"
FULL = (
    "Your storage is full: you keep {stored} of at most {limit}, and this needs {more} more. Delete data sets, "
    "models or runs that you do not need; or whoever runs Touchstone raises TOUCHSTONE_MOST_STORED."
)
RowWithBlob = TypeVar("RowWithBlob", schema.DatasetRow, schema.PredictionsRow, schema.ModelRow)
NOT_HERE: dict[type, str] = {
    schema.DatasetRow: "This data set is not in your workspace: deleted, or somebody else's. Choose another one.",
    schema.PredictionsRow: (
        "These predictions are not in your workspace: deleted, or somebody else's. Upload the file again."
    ),
    schema.ModelRow: "The model {} is not in your workspace: deleted, or somebody else's. Choose another one.",
}
"""The tables of rows with a blob, and what is said where a row is not there."""


class Store:
    """A database and a folder of blobs, which all parts of a workspace share.

    Parameters
    ----------
    home
        The folder of the blobs and, unless `database_url` says otherwise, of the SQLite database.
    database_url
        Any database that SQLAlchemy reaches.
    """

    def __init__(self, home: Path, database_url: str | None = None):
        """Raises WorkspaceError where it cannot be opened, or was made by a newer Touchstone."""
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if database_url is None:
            with suppress(OSError):
                (home / "touchstone.sqlite").touch(mode=0o600)
        _for_us_alone(home)
        # The database first: what a newer Touchstone made is refused before anything is written.
        self.database = open_database(database_url or f"sqlite:///{home / 'touchstone.sqlite'}")
        self.blobs = Blobs(home / "blobs")
        self._reserve = Reserve(home / "reserve")
        self._reserve.hold()

    def session(self) -> Session:
        """A transaction, for a `with` statement."""
        return Session(self.database)

    def free(self, change: Callable[[Session], Result]) -> Result:
        """Make a change that a full disk must not stop, in a transaction of its own: it deletes, stops or says why."""

        def in_session() -> Result:
            with self.session() as session:
                return change(session)

        return self._reserve.with_room(in_session)

    def close(self) -> None:
        """Close every connection."""
        self.database.dispose()

    def check_room(self, session: Session, owner: str, n_bytes: int = 0) -> None:
        """Raises WorkspaceError where an owner who keeps so many bytes more keeps too many."""
        limit = most(MOST_STORED)
        if limit is None:
            return
        stored = self.n_bytes(session, owner)
        if stored + n_bytes > limit * MIB:
            raise WorkspaceError(FULL.format(limit=_amount(limit * MIB), stored=_amount(stored), more=_amount(n_bytes)))

    def n_bytes(self, session: Session, owner: str) -> int:
        """How much an owner keeps: files, each once, and the rows of trials."""
        blobs = {name for kind in NOT_HERE for name in session.scalars(select(kind.blob).where(kind.owner == owner))}
        of_runs = (
            select(func.sum(func.length(schema.TrialRow.content)))
            .join(schema.RunRow)
            .where(schema.RunRow.owner == owner)
        )
        return sum(self.blobs.n_bytes(name) for name in blobs) + (session.scalar(of_runs) or 0)

    def keep_with_blob(self, session: Session, row: RowWithBlob, content: bytes) -> None:
        """Keep a row and its blob. Raises WorkspaceError where that is more than one owner may keep."""
        self.check_room(session, row.owner, len(content))
        row.blob = self.blobs.put(content)
        self._alone(session)
        session.add(row)
        commit_or_ignore_twin(session)
        self.blobs.put(content)  # again, as another owner may have deleted the same bytes meanwhile

    def _alone(self, session: Session) -> None:
        """Have nobody else keep or delete rows with blobs until this transaction ends; SQLite has one writer anyway."""
        if self.database.dialect.name == "postgresql":
            session.execute(text(f"SELECT pg_advisory_xact_lock({LOCK_OF_BLOBS})"))

    def delete_with_blob(self, session: Session, row: RowWithBlob) -> None:
        """Forget a row with the links to views that rest on it, and its blob where no other row has it.

        The blob goes before the commit, for which others wait to add one.
        """
        kind, blob = type(row), row.blob
        self._alone(session)
        session.delete(row)
        session.flush()
        forget_views(session, row.owner, kind.__tablename__, row.fingerprint)
        if not session.scalar(select(func.count()).select_from(kind).where(kind.blob == blob)):
            self.blobs.delete(blob)
        session.commit()


def find(session: Session, kind: type[RowWithBlob], owner: str, fingerprint: str) -> RowWithBlob | None:
    """The owner's row of this fingerprint, or None."""
    return session.scalar(select(kind).where(kind.owner == owner, kind.fingerprint == fingerprint))


def require(session: Session, kind: type[RowWithBlob], owner: str, fingerprint: str) -> RowWithBlob:
    """The owner's row of this fingerprint. Raises WorkspaceError where the owner has none."""
    row = find(session, kind, owner, fingerprint)
    if row is None:
        raise WorkspaceError(NOT_HERE[kind].format(fingerprint[:12]))
    return row


class Kept:
    """A part of what a workspace keeps in its store."""

    def __init__(self, store: Store):
        self._store = store

    def _content(self, kind: type[RowWithBlob], owner: str, fingerprint: str) -> bytes:
        """The file of a row."""
        with self._store.session() as session:
            return self._store.blobs.get(require(session, kind, owner, fingerprint).blob)

    def _delete(self, kind: type[RowWithBlob], owner: str, fingerprint: str) -> None:
        """Forget a row; its bytes go when nobody else keeps the same ones."""
        self._store.free(
            lambda session: self._store.delete_with_blob(session, require(session, kind, owner, fingerprint))
        )


def _amount(n_bytes: int) -> str:
    """A number of bytes as people read it.

    >>> _amount(5), _amount(3 * 1024), _amount(20 * 1024**3)
    ('5 B', '3.0 KiB', '20.0 GiB')
    """
    for unit, size in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} B"


def _for_us_alone(home: Path) -> None:
    """Let nobody else on this machine read a home of ours; what SQLite writes beside its database goes by its mode."""
    with suppress(OSError):  # somebody else's folder, or a file system without modes
        for path, mode in ((home, 0o700), *((file, 0o600) for file in home.glob("touchstone*.sqlite*"))):
            if path.stat().st_mode & 0o077:
                path.chmod(mode)


def commit_or_ignore_twin(session: Session) -> None:
    """Commit; where somebody else stored the same row meanwhile, theirs stays and ours is dropped."""
    try:
        session.commit()
    except IntegrityError:
        session.rollback()


def forget_views(session: Session, owner: str, kind: str, name: str) -> None:
    """Forget the links to views that rest on what an owner has deleted: its table, and its fingerprint or id.

    It has to be deleted already, so that whoever makes a link to it meanwhile has to wait, or was waited for.
    """
    resting = select(schema.RestsOnRow.link_id).where(
        schema.RestsOnRow.owner == owner, schema.RestsOnRow.kind == kind, schema.RestsOnRow.name == name
    )
    session.execute(delete(schema.ViewLinkRow).where(schema.ViewLinkRow.id.in_(resting)))


def hold(session: Session, kind: type, owner: str, name: str) -> None:
    """Have nobody delete a row until this transaction ends (in SQLite nobody can, once it has written)."""
    column = kind.id if kind is schema.RunRow else kind.fingerprint
    session.execute(select(kind.id).where(kind.owner == owner, column == name).with_for_update(read=True))


# Which process works on a run, and does it still live? Told at once of those on this machine, else by its lease.


def new_holder() -> str:
    """A name under which this process works on a run: its place, its number and start there, and something unique.

    >>> is_dead(new_holder())
    False
    """
    return f"{_place()}:{os.getpid()}:{_started(os.getpid())}:{uuid.uuid4().hex[:8]}"


def is_dead(holder: str | None) -> bool:
    """Whether the process of this name is known to have ended; False where that cannot be told from here.

    >>> is_dead("another machine:1:2:3"), is_dead(None)
    (False, False)
    """
    place, _, process = (holder or "").rpartition(":")[0].partition(":")
    pid, _, started = process.partition(":")
    return place == _place() != "" and pid.isdigit() and _started(int(pid)) != started


def _place() -> str:
    """What tells this machine, since its last start, and this container from all others; empty where nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.sha256(f"{socket.gethostname()} {boot} {numbers}".encode()).hexdigest()[:16]


def _started(pid: int) -> str:
    """When a process of this machine started, in its own ticks; empty where none of this number runs."""
    try:
        state, *words = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else words[18]
