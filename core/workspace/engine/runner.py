"""How does a plan become rows? Trial by trial on the workers; each finished one is stored at once.

The runner lives in the process of the app: a thread per run hands trials to the workers, stores what comes back and
keeps the run's lease. All that it knows is in the database, so that a run can stop at any moment and be resumed,
here or in another process, with only the missing trials.
"""

import logging
import os
import threading
import time
from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from touchstone.core.data.home import home
from touchstone.core.data.limits import most
from touchstone.core.workspace import events
from touchstone.core.workspace.engine.ask_all import AskAll, Step
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.needed import Lease
from touchstone.core.workspace.engine.run_in_work import RunInWork
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.runs import Run
from touchstone.core.workspace.store import new_holder
from touchstone.core.workspace.workspace import Workspace

SECONDS_TO_GIVE_BACK = 3600.0
SECONDS_BETWEEN_TRIES = 2.0
"""For so long, and so often, a run is given back again where the database is away: its reason must not be lost."""

BEGUN_BY_AN_OLDER_METHOD = "This run was started with an older method. Run it again with today's method."

_log = logging.getLogger(__name__)


class Engine:
    """Runs plans: one thread per run, all on the same workers.

    A trial that takes longer than `trial_seconds` (None: than the setting says) is given up, and its worker replaced.
    """

    def __init__(self, workspace: Workspace, executor: Executor, *, trial_seconds: float | None = None):
        self.workspace = workspace
        self.executor = executor
        self.trial_seconds = trial_seconds or float(most("TOUCHSTONE_MOST_TRIAL_SECONDS") or "inf")
        self._closing = threading.Event()
        self._threads: set[threading.Thread] = set()
        self._agendas: dict[tuple[str, str], AskAll] = {}

    def start(self, owner: str, run_id: str) -> bool:
        """Start or resume a run; returns at once. False where it is being worked on already, or done.

        Raises WorkspaceError for one that an older method began: its other trials would not be of the same kind.
        """
        lease_owner, run = new_holder(), self.workspace.run(owner, run_id)
        if run.older_method:
            raise WorkspaceError(BEGUN_BY_AN_OLDER_METHOD)
        if self._closing.is_set() or not self.workspace.acquire(owner, run_id, lease_owner):
            return False
        events.note("run_started", run=run_id, kind=run.kind, n_trials=run.n_trials, n_done=run.n_done)
        work = threading.Thread(target=self._work_off, args=(owner, run, lease_owner), name=f"run {run_id[:8]}")
        work.daemon = True
        self._threads = {thread for thread in self._threads if thread.is_alive()} | {work}
        work.start()
        return True

    def ask(self, owner: str, fingerprint: str, steps: Sequence[Step], seconds: float) -> AskAll:
        """Have these questions about a data set worked off, one after the other, within a time; returns at once.

        Where an agenda for it is going on already, that one is returned, and nothing begins.
        """
        agenda = self.agenda(owner, fingerprint)
        if agenda is None or not agenda.going:
            agenda = self._agendas[owner, fingerprint] = AskAll(self, owner, fingerprint, steps, seconds)
            agenda.start()
        return agenda

    def agenda(self, owner: str, fingerprint: str) -> AskAll | None:
        """The last agenda for a data set that this process has begun; None where there is none."""
        return self._agendas.get((owner, fingerprint))

    def close(self) -> None:
        """Stop: runs are left as interrupted, the workers end."""
        for agenda in self._agendas.values():
            agenda.leave()
        self._closing.set()
        for agenda in self._agendas.values():
            agenda.join(timeout=10)
        for thread in self._threads:
            thread.join(timeout=10)
        self.executor.close()
        self.workspace.close()

    def _work_off(self, owner: str, run: Run, lease_owner: str) -> None:
        state, error, stopped_by, began = "interrupted", None, None, time.monotonic()
        try:
            with Lease(self.workspace, owner, run.id, lease_owner) as lease:
                work = RunInWork(lease, self.executor, start=self.start, trial_seconds=self.trial_seconds)
                state = work.finish(self._closing)
        except WorkspaceError as problem:
            error, stopped_by = str(problem), problem
        except Exception as problem:
            # Nobody waits for this thread: what went wrong must reach the run's row, whatever it is.
            error, stopped_by = f"{type(problem).__name__}: {problem}", problem
            _log.exception("run %s stopped", run.id)
            events.note_fault(problem)
        of_run = {"run": run.id, "kind": run.kind, "seconds": round(time.monotonic() - began, 1)}
        if stopped_by is None:
            events.note("run_finished", state=state, **of_run)
        else:
            events.note("run_failed", type=type(stopped_by).__name__, **of_run)
        self._give_back(owner, run.id, lease_owner, state, error)

    def _give_back(self, owner: str, run_id: str, lease_owner: str, state: str, error: str | None) -> None:
        """Give a run back with what stopped it; a database that cannot be written to now is asked again for a while."""
        until = time.monotonic() + SECONDS_TO_GIVE_BACK
        while True:
            try:
                return self.workspace.release(owner, run_id, lease_owner, state, error=error)
            except (SQLAlchemyError, WorkspaceError) as problem:
                _log.warning("run %s could not be given back as %s (%s): %s", run_id, state, error, problem)
            if time.monotonic() > until or self._closing.wait(SECONDS_BETWEEN_TRIES):
                return None


_engine: Engine | None = None
_engine_lock = threading.Lock()


def engine() -> Engine:
    """The engine of this process; made on first use, workers only when the first run starts.

    TOUCHSTONE_HOME names the folder of everything that is kept, TOUCHSTONE_DATABASE another database than the SQLite
    file in it, TOUCHSTONE_SCHEDULER a dask cluster to work on.
    """
    global _engine
    with _engine_lock:
        if _engine is None:
            workspace = Workspace(home(), os.environ.get("TOUCHSTONE_DATABASE"))
            _engine = Engine(workspace, Executor(os.environ.get("TOUCHSTONE_SCHEDULER")))
        return _engine


def close_engine() -> None:
    """Stop the engine of this process, if it was ever made."""
    global _engine
    with _engine_lock:
        if _engine is not None:
            _engine.close()
        _engine = None
