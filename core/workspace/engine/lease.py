"""Who works on a run, and writes down how it goes? Whoever holds its lease, which has to be renewed meanwhile."""

import logging
import threading
from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.runs import Run, Steps
from touchstone.core.workspace.workspace import Workspace

RENEWAL_SECONDS = 0.5
"""How often a run's lease is renewed, and so how soon a cancel is heard."""

_log = logging.getLogger(__name__)


class Lease:
    """Keeps a run's lease while work goes on, however long a single step of it takes.

    `owner` is whose run it is, `holder` the name under which this process works on it. `answer` is what the workspace
    said last: "go on", "cancel" or "lost".
    """

    def __init__(self, workspace: Workspace, owner: str, run_id: str, holder: str):
        self.workspace, self.owner, self.run_id, self.holder = workspace, owner, run_id, holder
        self.answer = "go on"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {run_id[:8]}", daemon=True)

    def __enter__(self) -> "Lease":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._ended.wait(RENEWAL_SECONDS):
            try:
                self.answer = self.workspace.renew(self.owner, self.run_id, self.holder)
            except (SQLAlchemyError, WorkspaceError) as problem:
                # A database that is locked, full or away is asked again; the lease lasts for many renewals.
                _log.warning("run %s: the lease could not be renewed, trying again: %s", self.run_id, problem)

    def run(self) -> Run:
        """The run as it stands now."""
        return self.workspace.run(self.owner, self.run_id)

    def begin_trials(self) -> None:
        """Note that the run need not wait any longer."""
        self.workspace.begin_trials(self.owner, self.run_id, self.holder)

    def record_steps(self, steps: Mapping[int, Steps]) -> None:
        """Note how far the trials are that are running now."""
        self.workspace.record_steps(self.owner, self.run_id, self.holder, steps)

    def record_provenance(self, provenance: dict) -> None:
        """Note what the run's newest trials rest on."""
        self.workspace.record_provenance(self.owner, self.run_id, provenance)

    def store_trials(self, contents: Mapping[int, bytes], *, error: str | None = None) -> None:
        """Keep the rows of trials."""
        self.workspace.store_trials(self.owner, self.run_id, contents, error=error)

    def keep_model(self, stored: bytes, about: Mapping[str, Any]) -> None:
        """Keep a model that a trial made."""
        self.workspace.keep_model(self.owner, stored, **about)
