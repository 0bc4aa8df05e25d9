"""Where is long work done? On worker processes of dask: our own, started when first needed, or a cluster by address."""

import logging
import os
import threading
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from touchstone.core.data.limits import MIB, most
from touchstone.core.workspace.engine.recompute import SameVersions
from touchstone.core.workspace.engine.trial_queue import Shares
from touchstone.core.workspace.engine.worker import mismatch_said, security

if TYPE_CHECKING:
    from distributed import Client, Future

DASK = {
    # The runner tries a trial that has seen two workers die once more, alone, before it blames the trial.
    "distributed.scheduler.allowed-failures": 1,
    # A worker that is away for a moment is coming back: its nanny must not be dismissed meanwhile, as after 15 s it is.
    "distributed.deploy.lost-worker-timeout": "1000 days",
    # A data set is one large argument, and meant to be.
    "distributed.admin.large-graph-warning-threshold": "4 GiB",
    # Fifty times a second it would be looked whether something holds a process up, here and in each worker: it takes a
    # thirtieth of a processor while nothing is done, and a trial its turn.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "60s",
    # Nobody looks at what dask samples of a worker's stack a hundred times a second.
    "distributed.worker.profile.enabled": False,
    # Nor at the last thousand of its messages, of each worker, client and topic (each run has a topic of its own), nor
    # at an hour of its machine's readings: a process is not to grow by what it has done.
    "distributed.admin.low-level-log-length": 0,
    "distributed.admin.system-monitor.log-length": 2,
}

WORKER_SETUP = "touchstone.core.workspace.engine.worker"


class Executor:
    """Worker processes, single-threaded each; a dead one is replaced.

    Parameters
    ----------
    address
        A running scheduler such as "tcp://10.0.0.5:8786"; its workers need the project on PYTHONPATH and the same
        versions. None starts processes on this machine, one per core.
    n_workers
        How many processes to start here.
    """

    def __init__(self, address: str | None = None, n_workers: int | None = None):
        self.address = address
        self._n_workers = n_workers or os.cpu_count() or 1
        self.shares = Shares(most("TOUCHSTONE_MOST_TRIALS"))
        """Which runs may give the workers how much."""
        self._memory = most("TOUCHSTONE_MOST_TRIAL_MEMORY")
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._data: dict[str, Future] = {}
        self._gpu: bool | None = None
        self._same_versions = SameVersions()

    def client(self) -> "Client":
        """The connection to the workers; the first call starts them (a few seconds).

        Raises OSError where no scheduler answers, WorkspaceError where it is to be encrypted and that cannot be.
        """
        with self._lock:
            if self._client is None or self._client.status in ("closing", "closed"):
                self._data.clear()
                self._gpu = None
                self._client = self._connect()
            return self._client

    def _connect(self) -> "Client":
        from dask import config
        from distributed import Client, LocalCluster
        from distributed.scheduler import DEFAULT_EXTENSIONS

        preload = [*config.get("distributed.worker.preload", []), WORKER_SETUP]
        config.set({**DASK, "distributed.worker.preload": list(dict.fromkeys(preload))})
        # Workers that come and go are the runner's business, and it tells the run's row what matters.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        if self.address is not None:
            with mismatch_said(self.address):
                return Client(self.address, security=security(self.address), set_as_default=False, timeout=10)
        cluster = LocalCluster(
            n_workers=self._n_workers,
            threads_per_worker=1,
            memory_limit="auto" if self._memory is None else self._memory * MIB,
            processes=True,
            host="127.0.0.1",
            # Any free port of this machine only: None would take 8787 on every interface.
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            # Dask's spans remember every task as long as the scheduler lives, here and on the worker.
            scheduler_kwargs={"extensions": {name: of for name, of in DEFAULT_EXTENSIONS.items() if name != "spans"}},
            extensions={},
        )
        return Client(cluster, set_as_default=False)

    def reconnect(self, lost: "Client | None") -> None:
        """Leave a scheduler that is gone, unless somebody else did, and connect to one at its address.

        Raises OSError where none answers there.
        """
        with self._lock:
            if self._client is lost and lost is not None:
                self._client = None
                threading.Thread(target=_leave, args=(lost,), name="leave", daemon=True).start()
        self.client()

    def connected(self) -> "Client | None":
        """The connection as it is, also where it is lost; None before the first."""
        return self._client

    def has_workers(self) -> bool:
        """Whether a worker is there now; those started here always are, also while they start."""
        return self.address is None or bool(self.client().nthreads())

    @property
    def n_workers(self) -> int:
        """How many trials can run at once: on each process that was started here, also while one of them is replaced.

        Of a cluster it is how many threads it has today; at least 1, also while its workers are still to come.
        """
        return self._n_workers if self.address is None else max(1, sum(self.client().nthreads().values()))

    def has_gpu(self) -> bool:
        """Whether trials have a GPU, as one worker says; asked once per connection."""
        if self._gpu is None:
            from touchstone.core.models.networks import best_device

            client = self.client()
            first = list(client.nthreads())[:1]
            said = client.run(best_device, workers=first, on_error="ignore").values()
            if not said:  # there are no workers yet, or this one has just gone
                return False
            self._gpu = "cuda" in said
        return self._gpu

    def data(self, fingerprint: str, content: bytes) -> "Future":
        """A data set's bytes on the workers, sent once per fingerprint.

        They travel as a task that returns them, not scattered: when the only worker that holds them dies, dask makes
        them anew, where scattered data would be lost and every trial that waits for them cancelled.
        """
        client = self.client()
        with self._lock:
            future = self._data.get(fingerprint)
            if future is None or future.status not in ("pending", "finished"):
                future = client.submit(_itself, content, key=f"data-{fingerprint}-{uuid.uuid4().hex[:8]}")
                self._data[fingerprint] = future
            return future

    def check_versions(self, kind: str) -> None:
        """Raises WorkspaceError where a worker of a cluster would compute trials of a kind with other versions."""
        if self.address is not None:
            self._same_versions.check(self.client(), kind)

    def restart_worker(self, address: str) -> None:
        """Replace one worker by force, in the background; whatever else it held is done again elsewhere."""
        client = self.client()

        def restart() -> None:
            with suppress(OSError):  # the connection was closed meanwhile, and its workers with it
                client.restart_workers([address], raise_for_error=False)

        threading.Thread(target=restart, name="restart worker", daemon=True).start()

    def close(self) -> None:
        """Stop the processes that were started here; a foreign cluster is only left."""
        with self._lock:
            client, self._client = self._client, None
            self._data.clear()
        if client is None:
            return
        with suppress(TimeoutError, OSError):
            cluster = client.cluster
            client.close()
            if cluster is not None:
                cluster.close()


def _itself(content: bytes) -> bytes:
    return content


def _leave(client: "Client") -> None:
    with suppress(Exception):  # nobody answers there any more, which takes its time to be seen
        client.close(timeout=2)
