"""How is the database reached? By its address; SQLite with readers beside a writer, and what is wrong in a sentence."""

from sqlalchemy import create_engine, event
from sqlalchemy.engine import Engine as Database
from sqlalchemy.engine import ExceptionContext

from core.workspace.errors import database_error
from core.workspace.migrations import migrate

BUSY_MILLISECONDS = 20_000
"""How long SQLite waits for another process that writes, before it is said that the database is busy."""


def open_database(url: str) -> Database:
    """Connect, and bring the tables to today's form, made anew where there are none.

    Raises WorkspaceError where it cannot be read or written to, or has the tables of a newer Touchstone.
    """
    database = create_engine(url)
    event.listen(database, "handle_error", _say, retval=True)
    if database.dialect.name == "sqlite":
        event.listen(database, "connect", _prepare_sqlite)
    try:
        migrate(database)
    except BaseException:
        database.dispose()
        raise
    return database


def _say(context: ExceptionContext) -> Exception | None:
    """What is wrong with disk or database goes on as a WorkspaceError, in words that a page can show."""
    return database_error(str(context.original_exception)) if context.sqlalchemy_exception is not None else None


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
