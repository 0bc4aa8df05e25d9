"""What does a run wait for? The runs that its plan rests on: they are worked off first, and what they found goes along.

They are runs like any other, with a key of their own, so that what one plan had found is there for the next. Whoever
works on them, here or in another process, the run that needs them waits, says how far they are, and stops where they
fail.
"""

import threading
import time
from collections.abc import Callable

from touchstone.core.data import DataError
from touchstone.core.trials import Plan, needed_by, to_json
from touchstone.core.workspace import frames
from touchstone.core.workspace.engine.lease import Lease
from touchstone.core.workspace.engine.needed import NeededRows, title
from touchstone.core.workspace.errors import DatabaseBusy, WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import WAITING, Run, Steps

SECONDS_BETWEEN_LOOKS = 0.5


class Waiting:
    """A run, by its lease, while it waits for those that its plan rests on.

    `start` has the engine work on a run (and does nothing where somebody does).
    """

    def __init__(self, lease: Lease, *, start: Callable[[str, str], bool], closing: threading.Event):
        self.lease, self.start, self.closing = lease, start, closing
        self.workspace, self.owner = lease.workspace, lease.owner

    def rows(self, plans: tuple[Plan, ...], fingerprint: str) -> NeededRows | str:
        """The rows of all these plans, worked off where they were not; or the state in which to leave the run.

        Raises WorkspaceError, with a sentence for the page, where one of them cannot be had.
        """
        rows: NeededRows = {}
        for plan in plans:
            run = self.workspace.create_run(self.owner, plan, fingerprint)
            state = self._wait(plan, run.id)
            if state != "done":
                return state
            rows[to_json(plan)] = frames.to_bytes(self.workspace.rows(self.owner, run.id))
        return rows

    def _wait(self, plan: Plan, needed: str) -> str:
        """Wait until a run is done; gives "done", or what becomes of the run that waits."""
        begun = False
        while True:
            try:
                run = self.workspace.run(self.owner, needed)
            except DatabaseBusy:
                raise
            except WorkspaceError:
                raise WorkspaceError(
                    f"{_work(plan)} was deleted, and this run needs it. Resume to compute it again."
                ) from None
            if run.state == "done":
                self._check(plan, run)
                return "done"
            if self.closing.is_set():
                return "interrupted"
            if self.lease.answer == "cancel":
                self._cancel(plan, run)
                return "cancelled"
            if self.lease.answer != "go on":
                return "interrupted"
            if run.state == "running":
                begun = True
                self.lease.record_steps({WAITING: _steps(plan, run)})
            elif begun and run.state == "cancelled":
                raise WorkspaceError(f"{_work(plan)} was cancelled, and this run needs it. Resume to continue it.")
            elif begun and run.errors and run.state == "interrupted":
                raise WorkspaceError(f"{_work(plan)} stopped: {run.errors[0]}")
            else:
                begun = self.start(self.owner, needed) or begun
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _check(self, plan: Plan, run: Run) -> None:
        if run.n_failed:
            raise WorkspaceError(
                f"{_work(plan)} failed, and this run needs it: {'; '.join(run.errors)} Delete that run on the page "
                "Runs to try again, or choose another way to find sources."
            )

    def _cancel(self, plan: Plan, needed: Run) -> None:
        """Stop what is waited for, unless another run waits for it, too."""
        others = [run for run in self.workspace.runs(self.owner, needed.fingerprint) if run.id != self.lease.run_id]
        waiting = [run for run in others if run.state == "running" and not run.cancelling]
        if not any(plan in self._needs(run) for run in waiting):
            self.workspace.cancel(self.owner, needed.id)

    def _needs(self, run: Run) -> tuple[Plan, ...]:
        try:
            return needed_by(load_plan(run.plan), self.workspace.dataset(self.owner, run.fingerprint))
        except DataError:  # a kind that this version does not know
            return ()


def _work(plan: Plan) -> str:
    return f"Finding sources by {title(plan)}"


def _steps(plan: Plan, run: Run) -> Steps:
    """How far the run is that is waited for, in the words of the one that waits."""
    if not run.steps:
        return Steps(run.n_done, run.n_trials, f"{_work(plan)}: clustering")
    first = run.steps[0]
    which = f"clustering {run.n_done + 1} of {run.n_trials}, " if run.n_trials > 1 else ""
    return Steps(first.n_done, first.n_steps, f"{_work(plan)}: {which}{first.what}")
