"""Where is long work done? On worker processes of dask: our own, started when first needed, or a cluster by address."""

import logging
import os
import platform
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from touchstone import core
from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.data.limits import MIB, most
from touchstone.core.registry import plugin_versions
from touchstone.core.workspace.engine.worker import Task, Trials, mismatch_said, security, start_said
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import PLANS

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

        Raises OSError where no scheduler answers, WorkspaceError where it is to be encrypted and that cannot be, and
        where processes here cannot start.
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
        with start_said():
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
                scheduler_kwargs={
                    "extensions": {name: of for name, of in DEFAULT_EXTENSIONS.items() if name != "spans"}
                },
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
        """Whether a worker is there now."""
        return bool(self.client().nthreads())

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
            with suppress(OSError, KeyError):  # the connection was closed meanwhile, or this worker has gone by itself
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


# Which trials are next? Those that nobody has had, then those that may have killed a worker, each of these alone.
#
# Tiny trials go many at a time: to give one to a worker and store its rows takes longer than to fit a small model.


SECONDS = 0.5
"""So much work is a task where trials are shorter, and so soon, at the least, are rows stored."""
MOST_AT_A_TIME = 200
"""So many trials are a task at the most, whose rows then travel together."""
_N_RECENT = 8
_SMALLEST = 10
"""Towards the end tasks get smaller, to this part of what fits: to hand out less takes longer than a worker waits."""


class Pace:
    """How many trials make a task? As many as take SECONDS, by what the last ones took; a long trial is one by itself.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.n_trials(1000, n_threads=2)  # nobody knows yet
    1
    >>> pace.took(1, 0.01)
    >>> pace.n_trials(1000, n_threads=2), pace.n_trials(20, n_threads=2)  # towards the end all workers are to have some
    (50, 5)
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[int, float]] = deque(maxlen=_N_RECENT)

    def took(self, n_trials: int, seconds: float) -> None:
        """Note how long some trials took on their worker."""
        self._recent.append((n_trials, seconds))

    def n_trials(self, n_waiting: int, *, n_threads: int) -> int:
        """The number for the next task, where so many trials wait for so many workers."""
        seconds = sum(seconds for _, seconds in self._recent)
        n_done = sum(n for n, _ in self._recent)
        fitting = int(SECONDS * n_done / max(seconds, 1e-9)) if n_done else 1
        share = n_waiting if n_threads == 1 else max(n_waiting // (2 * n_threads), fitting // _SMALLEST)
        return max(1, min(fitting, MOST_AT_A_TIME, share))


class TrialQueue:
    """The trials that are still to be given to a worker.

    Examples
    --------
    >>> queue = TrialQueue([0, 1, 2])
    >>> queue.take(2, alone=True)
    [((0,),), ((1,),)]
    >>> queue.suspect((0,))
    True
    >>> queue.take(2, alone=False), queue.take(2, alone=False), queue.take(2, alone=True)
    ([((2,),)], [], [((0,),)])
    >>> queue.suspect((0,)), len(queue)
    (False, 0)
    >>> TrialQueue(range(5)).take(2, alone=True, at_a_time=4)
    [((0,), (1,), (2,), (3,)), ((4,),)]
    """

    def __init__(self, trials: Iterable[int]):
        self._waiting: deque[Trials] = deque((trial,) for trial in trials)
        self._apart: set[Trials] = set()
        self._suspects: deque[Trials] = deque()
        self._tried_alone: set[Trials] = set()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._suspects)

    def waiting(self) -> list[int]:
        """The trials that are no suspects."""
        return [trial for trials in self._waiting for trial in trials]

    def group(self, groups: Iterable[Trials]) -> None:
        """Have the trials that wait given out as these groups."""
        self._waiting = deque(groups)

    def take(self, room: int, *, alone: bool, at_a_time: int = 1) -> list[Task]:
        """The next tasks, at most `room`; a suspect only where nothing else waits and it would be `alone`."""
        taken: list[Task] = []
        while self._waiting and len(taken) < room:
            taken.append(self._next(at_a_time))
        if not taken and self._suspects and alone:
            taken = [(self._suspects.popleft(),)]
            self._tried_alone.add(taken[0][0])
        return taken

    def _next(self, at_a_time: int) -> Task:
        """So many trials, or what is one task whatever their number: trials done at once, and one to be apart."""
        task = [self._waiting.popleft()]
        while self._mixes(task[0]) and len(task) < at_a_time and self._waiting and self._mixes(self._waiting[0]):
            task.append(self._waiting.popleft())
        return tuple(task)

    def _mixes(self, trials: Trials) -> bool:
        return len(trials) == 1 and trials not in self._apart

    def first(self, trials: Trials) -> None:
        """Put back what is to be tried again before all others."""
        self._waiting.appendleft(trials)

    def last(self, trials: Trials) -> None:
        """Put back what is to be tried again after all others."""
        self._waiting.append(trials)

    def suspect(self, trials: Trials) -> bool:
        """Put back a trial whose worker died, to be tried alone; False where it was, or where they are several."""
        if len(trials) > 1 or trials in self._tried_alone:
            return False
        self._suspects.append(trials)
        return True

    def one_by_one(self, trials: Iterable[int]) -> None:
        """Put back several that a worker had together, each to be a task by itself, before all others."""
        apart = [(trial,) for trial in trials]
        self._apart.update(apart)
        self._waiting.extendleft(reversed(apart))


# Whose trials are next? Owners take turns, whoever came first and however many runs they have; so do an owner's runs.


Name = tuple[str, str]
"""A run: its owner and its id."""


@dataclass
class _Asking:
    in_flight: int = 0
    turn: int = field(default=0)


class Shares:
    """How many trials each run may have with the workers; shared by the threads of all runs of a process.

    `most` is the highest number of trials that an owner may have there, None for no such limit.

    Examples
    --------
    >>> shares = Shares()
    >>> shares.room(("ada", "first"), in_flight=0, waiting=100, places=4)
    4
    >>> shares.room(("bob", "only"), in_flight=0, waiting=3, places=4)
    2
    >>> shares.room(("ada", "first"), in_flight=3, waiting=96, places=4)
    0
    >>> shares.leave(("bob", "only"))
    >>> shares.room(("ada", "first"), in_flight=3, waiting=96, places=4)
    1
    """

    def __init__(self, most: int | None = None):
        self._most = most
        self._lock = threading.Lock()
        self._runs: dict[Name, _Asking] = {}
        self._turns = count(1)

    def room(self, run: Name, *, in_flight: int, waiting: int, places: int) -> int:
        """How many more trials a run may give to the workers now; so many count as given from now on.

        It has `in_flight` there and `waiting` still to give; all runs together may have about `places` there.
        """
        with self._lock:
            asking = self._runs.setdefault(run, _Asking())
            asking.in_flight = in_flight
            if not waiting:
                return 0
            runs = {name: other for name, other in self._runs.items() if name[0] == run[0]}
            share = max(1, places // len({owner for owner, _ in self._runs}))
            if self._most is not None:
                share = min(share, self._most)
            free = share - sum(other.in_flight for other in runs.values())
            ahead = sum((other.in_flight, other.turn) < (in_flight, asking.turn) for other in runs.values())
            if free <= ahead:
                return 0
            granted = min(waiting, max(1, free // len(runs)))
            asking.in_flight += granted
            asking.turn = next(self._turns)
            return granted

    def leave(self, run: Name) -> None:
        """Forget a run that has nothing more to give."""
        with self._lock:
            self._runs.pop(run, None)


# Where do results come from? Versions of Touchstone and the numeric libraries, the device, the kind of executor.


LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "torch", "umap-learn")


def versions_used() -> dict[str, str]:
    """The versions that are here of the libraries that numbers rest on, and of all plugins.

    >>> list(versions_used())[:2]
    ['numpy', 'scipy']
    """
    return {**core.versions(*LIBRARIES), **plugin_versions()}


def provenance(executor: Executor) -> dict[str, object]:
    """Where results come from: versions of Touchstone and the numeric libraries, Python, device, kind of executor."""
    return {
        "touchstone": core.version(),
        "versions": versions_used(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "device": device() if executor.address is None else "as the workers of the cluster have it",
        "executor": "processes on this machine" if executor.address is None else "a dask cluster",
        "n_workers": executor.n_workers,
    }


def device(processors: Path = Path("/proc")) -> str:
    """What networks are trained on here: the name of the graphics processor where torch can use one, else the CPU's.

    It is asked of the system, since importing torch takes seconds.
    """
    if not core.versions("torch").get("torch", "+cpu").endswith("+cpu"):
        told = [file.read_text("utf-8") for file in sorted(processors.glob("driver/nvidia/gpus/*/information"))]
        names = [line.partition(":")[2].strip() for text in told for line in text.splitlines() if "Model:" in line]
        if names:
            return f"cuda, {', '.join(dict.fromkeys(names))}"
    try:
        lines = (processors / "cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    name = next(named, platform.processor())
    return f"cpu, {name}" if name else "cpu"


# Do the workers of a cluster compute what this process would? Only with the same versions and the same method.


def versions_here(kind: str) -> dict[str, str]:
    """What this process computes trials of a kind with.

    >>> versions_here("trials")["Touchstone"] == core.__version__
    True
    """
    plan = PLANS.get(kind)
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "Touchstone": core.__version__,
        **versions_used(),
        **core.versions("pyarrow", "distributed"),
        "the method": "none" if plan is None else f"version {plan.METHOD_VERSION}",
        "how sources are found": f"version {'.'.join(str(finder.version) for finder in SOURCE_FINDERS.values())}",
    }


class SameVersions:
    """Asks each worker of a cluster once, for each kind of plan, and remembers who has the same as `ours`."""

    def __init__(self, ours: Callable[[str], dict[str, str]] = versions_here) -> None:
        self._ours = ours
        self._same: set[tuple[str, str]] = set()

    def check(self, client: "Client", kind: str) -> None:
        """Raises WorkspaceError where a worker has other versions than this process; names the first of them."""
        there: Any = client.nthreads()
        asked = [address for address in there if (address, kind) not in self._same]
        if not asked:
            return
        ours = self._ours(kind)
        # A worker that has gone meanwhile says nothing, and is not asked to.
        told = cast(dict, client.run(versions_here, kind, workers=asked, on_error="ignore"))
        for address, theirs in told.items():
            for name in ours:
                if (other := theirs.get(name, "in no version")) != ours[name]:
                    raise WorkspaceError(
                        f"A worker of the cluster ({address}) has {name} {other}, and this Touchstone has "
                        f"{ours[name]}. Start all workers with the same versions, then resume."
                    )
            self._same.add((address, kind))
