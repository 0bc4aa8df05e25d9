"""Do the database and the workers answer? A word for each, for whoever watches over a server; of nobody's data."""

from collections.abc import Callable

from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.workspace import LOCAL_OWNER

OK, NOT_STARTED, NONE, NO_ANSWER = "ok", "not started", "none", "no answer"
WELL = (OK, NOT_STARTED)
"""Workers on this machine start with the first run: until then nothing is wrong."""


def database(engine: Callable[[], Engine]) -> str:
    """Whether the database can be read; the engine may be one that is only now made."""
    try:
        engine().workspace.runs(LOCAL_OWNER, "the fingerprint of no data set")
    except (WorkspaceError, OSError):
        return NO_ANSWER
    return OK


def workers(engine: Callable[[], Engine]) -> str:
    """Whether there are workers; a cluster that nobody asked yet is connected to, which starts no process."""
    try:
        return _workers(engine().executor)
    except (WorkspaceError, OSError):
        return NO_ANSWER


PARTS = {"database": database, "workers": workers}
"""What is asked, by the name that it is told under."""


def _workers(executor: Executor) -> str:
    if executor.address is None and executor.connected() is None:
        return NOT_STARTED
    return OK if executor.client().nthreads() else NONE
