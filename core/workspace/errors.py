"""What a page shows, as written, when something stored cannot be had or kept."""

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)


class WorkspaceError(ValueError):
    """Says in a sentence what happened (gone, damaged, not yours, busy, full) and what to do.

    Examples
    --------
    >>> raise WorkspaceError("This run is gone. Start it again.")
    Traceback (most recent call last):
    ...
    core.workspace.errors.WorkspaceError: This run is gone. Start it again.
    """


class DatabaseBusy(WorkspaceError):
    """Somebody else holds the database for longer than anybody should wait; asking again may help."""


def disk_error(problem: OSError, what: str) -> WorkspaceError:
    """What a file system says, as a sentence; `what` could not be done with it.

    >>> print(disk_error(OSError(errno.ENOSPC, "No space left on device"), "be stored"))
    The disk is full, and this could not be stored. Free some space and try again; what was stored before is kept.
    """
    if problem.errno in FULL:
        return WorkspaceError(
            f"The disk is full, and this could not {what}. Free some space and try again; what was stored before is "
            "kept."
        )
    return WorkspaceError(
        f"This could not {what}: {problem.strerror or problem}. Check that Touchstone's folder (TOUCHSTONE_HOME) may "
        "be read and written by whoever runs it."
    )


def database_error(said: str) -> WorkspaceError | None:
    """What a database says, as a sentence; None for what is nobody's fault but ours.

    >>> print(database_error("database is locked"))
    Another process keeps the database busy. Try again in a moment; if it stays so, close the other one.
    >>> database_error("no such column: runs.colour") is None
    True
    """
    said = said.lower()
    if "is locked" in said or "busy" in said:
        return DatabaseBusy(
            "Another process keeps the database busy. Try again in a moment; if it stays so, close the other one."
        )
    if "is full" in said:
        return WorkspaceError(
            "The disk is full, and this could not be stored. Free some space and try again; what was stored before is "
            "kept."
        )
    if "malformed" in said or "not a database" in said:
        return WorkspaceError(
            "The database is damaged. Put a copy of it in its place, or move it out of Touchstone's folder "
            "(TOUCHSTONE_HOME) to begin with an empty one."
        )
    if "readonly" in said or "read-only" in said or "unable to open" in said:
        return WorkspaceError(
            "The database cannot be opened or written to. Check that Touchstone's folder (TOUCHSTONE_HOME) may be read "
            "and written by whoever runs it."
        )
    return None
