"""How is the database reached? By its address; SQLite with readers beside a writer, and what is wrong in a sentence."""

from sqlalchemy import create_engine, event, make_url
from sqlalchemy.engine import Engine as Database
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from touchstone.core.workspace.errors import WorkspaceError, database_error
from touchstone.core.workspace.migrations import migrate

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
        migrate(database)
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
        remedy = f'Install it: pip install "{DRIVER}[binary]>=3.2,<4".' if missing.name == DRIVER else "Install it."
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
