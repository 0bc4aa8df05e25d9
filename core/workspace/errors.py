"""What a page shows, as written, when something stored cannot be had or kept."""

import errno
import re
from collections.abc import Sequence

FULL = (errno.ENOSPC, errno.EDQUOT)
MOST_NAMED = 5
"""How many damaged trials a sentence names."""


class WorkspaceError(ValueError):
    """Says in a sentence what happened (gone, damaged, not yours, busy, full) and what to do.

    Examples
    --------
    >>> raise WorkspaceError("This run is gone. Start it again.")
    Traceback (most recent call last):
    ...
    touchstone.core.workspace.errors.WorkspaceError: This run is gone. Start it again.
    """


class DatabaseBusy(WorkspaceError):
    """Somebody else holds the database for longer than anybody should wait; asking again may help."""


class DiskFull(WorkspaceError):
    """There is no room left to store something; deleting something else helps."""

    def __init__(self, what: str = "be stored"):
        super().__init__(
            f"The disk is full, and this could not {what}. Free some space and try again; data stored before are kept."
        )


class DamagedTrials(WorkspaceError):
    """Trials of a run that are not what was stored, by number from 0; `mendable` where they can be computed again.

    Examples
    --------
    >>> print(DamagedTrials("r1", [3], 12, mendable=True))
    Trial 4 of 12 of this run is damaged on disk, so that nothing is shown of the run. Compute it again; all else stays.
    """

    def __init__(self, run_id: str, trials: Sequence[int], n_trials: int, *, mendable: bool):
        self.run_id, self.trials, self.mendable = run_id, tuple(trials), mendable
        several = len(trials) > 1
        which = f"{'Trials' if several else 'Trial'} {_listed(trials)} of {n_trials} of this run"
        remedy = f"Compute {'them' if several else 'it'} again; all else stays."
        if not mendable:
            remedy = "Delete the run and start it again; nothing else is lost."
        super().__init__(
            f"{which} {'are' if several else 'is'} damaged on disk, so that nothing is shown of the run. {remedy}"
        )


class DamagedRun(WorkspaceError):
    """What is noted of a run is not what was stored, so that nobody knows what its rows are of.

    Examples
    --------
    >>> print(DamagedRun())
    What is noted of this run (its plan, data or trials) is damaged on disk, so that nothing is shown of the run. ...
    """

    def __init__(self):
        super().__init__(
            "What is noted of this run (its plan, data or trials) is damaged on disk, so that nothing is shown of the "
            "run. Delete the run and start it again; nothing else is lost."
        )


def _listed(trials: Sequence[int]) -> str:
    """Numbers from 1, the first few of them by name.

    >>> _listed([0]), _listed([0, 1, 4]), _listed(range(30))
    ('1', '1, 2 and 5', '1, 2, 3, 4, 5 and 25 more')
    """
    numbers = [str(trial + 1) for trial in trials]
    if len(numbers) > MOST_NAMED:
        numbers = [*numbers[:MOST_NAMED], f"{len(numbers) - MOST_NAMED} more"]
    return " and ".join(part for part in (", ".join(numbers[:-1]), numbers[-1]) if part)


def disk_error(problem: OSError, what: str) -> WorkspaceError:
    """What a file system says, as a sentence; `what` could not be done with it.

    >>> print(disk_error(OSError(errno.ENOSPC, "No space left on device"), "be stored"))
    The disk is full, and this could not be stored. Free some space and try again; data stored before are kept.
    """
    if problem.errno in FULL:
        return DiskFull(what)
    return WorkspaceError(
        f"This could not {what}: {problem.strerror or problem}. Check that Touchstone's folder (TOUCHSTONE_HOME) may "
        "be read and written by whoever runs it."
    )


_AWAY = (
    *("connection refused", "could not connect", "could not translate host", "failed to resolve host"),
    *("name or service", "server closed the connection", "connection is closed", "connection has been closed"),
    *("terminating connection", "system is starting up", "system is shutting down", "too many clients"),
    *("connection slots", "timeout expired", "connection timeout", "connection is lost", "consuming input failed"),
)
"""How a database on a server says that it cannot be reached now."""

_IN_WORDS = {
    "|".join(_AWAY): (
        "The database server cannot be reached, or has just been restarted. Try again in a moment; if it stays so, "
        "check that it runs, and its address in TOUCHSTONE_DATABASE. Data stored before are kept."
    ),
    "authentication failed|no password supplied|no pg_hba.conf entry": (
        "The database server lets nobody in with the name and password of TOUCHSTONE_DATABASE. Correct them there."
    ),
    'database ".*does not exist': "The database server has no database of this name. Create it, or name another one.",
    "disk i/o error": (
        "The database cannot be read or written: the disk reports an error, or the file is gone. Check the disk of "
        "Touchstone's folder (TOUCHSTONE_HOME); data stored before are kept as far as the disk allows."
    ),
    "malformed|not a database": (
        "The database is damaged. Put a copy of it in its place, or move it out of Touchstone's folder "
        "(TOUCHSTONE_HOME) to begin with an empty one."
    ),
    "readonly|read-only|unable to open": (
        "The database cannot be opened or written to. Check that Touchstone's folder (TOUCHSTONE_HOME) may be read "
        "and written by whoever runs it."
    ),
}
"""What a database says, as a pattern, in words that help."""


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
    if "is full" in said or "no space left" in said:
        return DiskFull()
    words = next((words for signs, words in _IN_WORDS.items() if re.search(signs, said, re.DOTALL)), None)
    return None if words is None else WorkspaceError(words)
