"""Who works on a run? Whoever holds its lease, which has to be renewed while the work goes on."""

import logging
import threading

from sqlalchemy.exc import OperationalError

from core.workspace.errors import DatabaseBusy
from core.workspace.workspace import Workspace

RENEWAL_SECONDS = 0.5
"""How often a run's lease is renewed, and so how soon a cancel is heard."""

_log = logging.getLogger(__name__)


class Lease:
    """Keeps a run's lease while work goes on, however long a single step of it takes.

    `answer` is what the workspace said last: "go on", "cancel" or "lost".
    """

    def __init__(self, workspace: Workspace, owner: str, run_id: str, lease_owner: str):
        self._workspace, self._run_owner, self._run_id, self.owner = workspace, owner, run_id, lease_owner
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {run_id[:8]}", daemon=True)
        self.answer = "go on"

    def __enter__(self) -> "Lease":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._ended.wait(RENEWAL_SECONDS):
            try:
                self.answer = self._workspace.renew(self._run_owner, self._run_id, self.owner)
            except (OperationalError, DatabaseBusy):
                # A locked database is asked again; the lease lasts for many renewals.
                _log.warning("run %s: the lease could not be renewed, trying again", self._run_id)
