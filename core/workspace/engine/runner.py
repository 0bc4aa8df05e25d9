"""How does a plan become rows? Trial by trial on the workers; each finished one is stored at once.

The runner lives in the process of the app: a thread per run hands trials to the workers, stores what comes back and
keeps the run's lease. All that it knows is in the database, so that a run can stop at any moment and be resumed,
here or in another process, with only the missing trials.
"""

import logging
import os
import queue
import socket
import threading
import time
import uuid
from collections import deque
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING

from core.data import Dataset
from core.data.home import home
from core.data.store import from_bytes
from core.models import Cancelled
from core.trials import Plan, from_json, needed_by, sources_at_hand
from core.trials.plan import Aside, Grouping
from core.workspace import frames
from core.workspace.engine.executor import Executor
from core.workspace.engine.lease import Lease
from core.workspace.engine.needed import (
    ABOUT_SOURCES,
    NeededRows,
    Waiting,
    about,
    found_otherwise,
    joined,
    name_of,
    tables,
)
from core.workspace.engine.worker import KeptModel, surroundings
from core.workspace.errors import WorkspaceError
from core.workspace.plans import PLANS, load_plan
from core.workspace.provenance import provenance
from core.workspace.workspace import WAITING, Steps, Workspace

if TYPE_CHECKING:
    from distributed import Future

TRIAL_SECONDS = 3600.0
"""A trial that takes longer is given up, and its worker is replaced."""

CANCEL_SECONDS = 20.0
"""How long a cancelled run waits for the trials that are running to answer."""

SECONDS_BETWEEN_STEPS = 1.0
"""How often it is written down how far the running trials are."""

Trials = tuple[int, ...]
"""What a worker is given at a time: one trial, or several that are done at once. The first names them all."""

Done = tuple[list[bytes], list[KeptModel]]
"""What came of it: the rows of each trial, and the models that were made."""

_log = logging.getLogger(__name__)


@lru_cache(maxsize=2)
def _decoded(fingerprint: str, content: Aside[bytes]) -> Dataset:
    return from_bytes(content.value)


def work(
    kind: str,
    plan_json: str,
    trials: Trials,
    fingerprint: str,
    content: bytes,
    models: dict[str, bytes],
    needed: NeededRows,
    stop: str,
) -> Done:
    """What a worker does: run a trial, or several at once, and return the rows of each, with the models that were made.

    `models` are the stored ones that the plan asks for, `needed` the rows of the plans that it rests on. `stop` names
    the event that asks it to give up, and the topic under which it tells how far it is.
    """
    plan = from_json(plan_json, PLANS)
    if plan.kind != kind:
        raise WorkspaceError(f"A trial of kind {kind!r} came with a plan of kind {plan.kind!r}.")
    context, kept = surroundings(stop, trials[0], models)
    dataset = _decoded(fingerprint, Aside(content))
    with sources_at_hand(fingerprint, joined(needed)) if needed else nullcontext():
        if len(trials) > 1:
            rows = plan.run_trials(dataset, trials, context=context)
        else:
            rows = [plan.run_trial(dataset, trial, context=context) for trial in trials]
    return [frames.to_bytes(one) for one in rows], kept


class Engine:
    """Runs plans: one thread per run, all on the same workers."""

    def __init__(self, workspace: Workspace, executor: Executor, *, trial_seconds: float = TRIAL_SECONDS):
        self.workspace = workspace
        self.executor = executor
        self.trial_seconds = trial_seconds
        self._closing = threading.Event()
        self._threads: set[threading.Thread] = set()

    def start(self, owner: str, run_id: str) -> bool:
        """Start or resume a run; returns at once. False where it is being worked on already, or done."""
        lease_owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        if self._closing.is_set() or not self.workspace.acquire(owner, run_id, lease_owner):
            return False
        work = threading.Thread(target=self._work_off, args=(owner, run_id, lease_owner), name=f"run {run_id[:8]}")
        work.daemon = True
        self._threads = {thread for thread in self._threads if thread.is_alive()} | {work}
        work.start()
        return True

    def warm(self) -> None:
        """Start the workers off the page's path, so that the first run need not wait for them."""
        threading.Thread(target=self.executor.client, name="warm", daemon=True).start()

    def close(self) -> None:
        """Stop: runs are left as interrupted, the workers end."""
        self._closing.set()
        for thread in self._threads:
            thread.join(timeout=10)
        self.executor.close()
        self.workspace.close()

    def _work_off(self, owner: str, run_id: str, lease_owner: str) -> None:
        state, error = "interrupted", None
        try:
            with Lease(self.workspace, owner, run_id, lease_owner) as lease:
                state = _RunInWork(self, owner, run_id, lease).finish(self._closing)
        except WorkspaceError as problem:
            error = str(problem)
        except Exception as problem:
            # Nobody waits for this thread: what went wrong must reach the run's row, whatever it is.
            error = f"{type(problem).__name__}: {problem}"
            _log.exception("run %s stopped", run_id)
        finally:
            self.workspace.release(owner, run_id, lease_owner, state, error=error)


class _RunInWork:
    """A run while this process works on it."""

    def __init__(self, engine: Engine, owner: str, run_id: str, lease: Lease):
        self.workspace, self.executor, self.trial_seconds = engine.workspace, engine.executor, engine.trial_seconds
        self.engine, self.needed = engine, NeededRows()
        self.owner, self.run_id, self.lease = owner, run_id, lease
        run = self.workspace.run(owner, run_id)
        self.about_sources = {name: of for name, of in run.provenance.items() if name in ABOUT_SOURCES}
        self.kind, self.plan_json, self.fingerprint = run.kind, run.plan, run.fingerprint
        self.plan = load_plan(run.plan)
        self.content = self.workspace.dataset_bytes(owner, run.fingerprint)
        self.dataset = from_bytes(self.content)
        self.models = {name: self.workspace.model_bytes(owner, name) for name in self.plan.stored_models()}
        self.waiting: deque[Trials] = deque((trial,) for trial in self.workspace.missing_trials(owner, run_id))
        self.suspects: deque[Trials] = deque()
        self.alone: set[Trials] = set()
        self.in_flight: dict[Future, Trials] = {}
        self.started: dict[int, tuple[float, str]] = {}
        self.steps: dict[int, Steps] = {}
        self.recorded: tuple[float, dict[int, Steps]] = (0.0, {})
        self.arrived: queue.SimpleQueue[tuple[Future, Done | BaseException]] = queue.SimpleQueue()
        self.stop = f"stop-{uuid.uuid4().hex}"

    def finish(self, closing: threading.Event) -> str:
        """Work until all trials are stored, or somebody asks to stop; returns the state to leave the run in.

        What the plan rests on is found first, by runs of its own.
        """
        needed = needed_by(self.plan, self.dataset) if self.waiting else ()
        if needed:
            came = self._wait_for(needed, closing)
            if isinstance(came, str):
                return came
            self.needed = came
            self._check_same_sources()
            self.workspace.begin_trials(self.owner, self.run_id, self.lease.owner)
        client = self.executor.client()
        client.subscribe_topic(self.stop, self._note)
        self._group()
        rests_on = provenance(self.executor) | self.about_sources
        self.workspace.record_provenance(self.owner, self.run_id, rests_on)
        try:
            while self.waiting or self.suspects or self.in_flight:
                if closing.is_set():
                    return "interrupted"
                if self.lease.answer != "go on":
                    return self._wind_down() if self.lease.answer == "cancel" else "interrupted"
                self._submit()
                self._collect(timeout=0.2)
                self._record_steps()
                self._give_up_on_slow_trials()
            return "done"
        finally:
            if self.in_flight:
                self._ask_to_stop()
            self._forget(list(self.in_flight))
            client.unsubscribe_topic(self.stop)

    def _wait_for(self, needed: tuple[Plan, ...], closing: threading.Event) -> NeededRows | str:
        waiting = Waiting(
            self.workspace,
            self.owner,
            self.run_id,
            start=self.engine.start,
            answer=lambda: self.lease.answer,
            tell=lambda steps: self.workspace.record_steps(self.owner, self.run_id, self.lease.owner, {WAITING: steps}),
            closing=closing,
        )
        return waiting.rows(needed, self.fingerprint)

    def _check_same_sources(self) -> None:
        """Raise WorkspaceError where a run that has begun was drawn from other sources than are found now."""
        run, rows = self.workspace.run(self.owner, self.run_id), tables(self.needed)
        if run.n_done and found_otherwise(run, rows):
            raise WorkspaceError(
                "The sources that this run began with are gone, and those found since differ from them. Delete this "
                "run on the page Runs and start it again."
            )
        self.about_sources = about(rows)

    def _group(self) -> None:
        """Put trials together that are faster so, which they are on a GPU."""
        if isinstance(self.plan, Grouping):
            groups = self.plan.groups(self.dataset, [trial for trials in self.waiting for trial in trials])
            if any(len(trials) > 1 for trials in groups) and self.executor.has_gpu():
                self.waiting = deque(groups)

    def _note(self, event: tuple[float, dict]) -> None:
        """Hear from a worker that a trial has started there, or how far it is."""
        _, message = event
        if "steps" in message:
            self.steps[message["trial"]] = Steps(*message["steps"])
        else:
            self.started[message["trial"]] = (time.monotonic(), message["worker"])
            self.steps.pop(message["trial"], None)

    def _record_steps(self) -> None:
        """Let pages know how far the running trials are, at most once a second."""
        running = {trials[0] for trials in self.in_flight.values()}
        steps = {trial: steps for trial, steps in self.steps.copy().items() if trial in running}
        when, before = self.recorded
        if steps != before and time.monotonic() - when > SECONDS_BETWEEN_STEPS:
            self.workspace.record_steps(self.owner, self.run_id, self.lease.owner, steps)
            self.recorded = (time.monotonic(), steps)

    def _submit(self) -> None:
        """Keep every worker busy with one more trial in reserve; suspects come last and alone."""
        room = 2 * self.executor.n_threads() - len(self.in_flight)
        work_now = [self.waiting.popleft() for _ in range(min(room, len(self.waiting)))]
        if not work_now and self.suspects and not self.in_flight:
            work_now = [self.suspects.popleft()]
            self.alone.add(work_now[0])
        if not work_now:
            return
        client, data = self.executor.client(), self.executor.data(self.fingerprint, self.content)
        models = {name: self.executor.data(name, content) for name, content in self.models.items()}
        needed = {plan: self.executor.data(name_of(content), content) for plan, content in self.needed.items()}
        for trials in work_now:
            self.started.pop(trials[0], None)
            future = client.submit(
                work, self.kind, self.plan_json, trials, self.fingerprint, data, models, needed, self.stop,
                key=f"{self.stop}-{trials[0]}-{uuid.uuid4().hex[:8]}", pure=False,
            )  # fmt: skip
            self._watch(future, trials)

    def _watch(self, future: "Future", trials: Trials) -> None:
        self.in_flight[future] = trials
        future.add_done_callback(self._fetch)

    def _fetch(self, future: "Future") -> None:
        """Have what came of a trial come over, beside all else, however long that takes.

        A VGG-19 is 80 MB; and where the worker died with what it had, dask computes it again.
        """

        def fetch() -> None:
            try:
                self.arrived.put((future, future.result()))
            except BaseException as problem:  # whatever it is, a cancelled future's answer included: `_settle` knows
                self.arrived.put((future, problem))

        threading.Thread(target=fetch, name=f"fetch {future.key}", daemon=True).start()

    def _collect(self, *, timeout: float) -> None:
        """Store what has arrived; waits for the first of it at most `timeout` seconds."""
        try:
            self._settle(*self.arrived.get(timeout=timeout))
            while True:
                self._settle(*self.arrived.get_nowait())
        except queue.Empty:
            return

    def _settle(self, future: "Future", came: Done | BaseException) -> None:
        """Store the rows of trials that have ended, or decide what becomes of them."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        trials = self.in_flight.pop(future, None)
        if trials is None:
            return
        try:
            if isinstance(came, BaseException):
                raise came
        except FutureCancelledError:  # the data went with the last worker that had it: it is sent again
            self.waiting.appendleft(trials)
        except Cancelled:
            self.waiting.append(trials)
        except KilledWorker:
            if len(trials) == 1 and trials not in self.alone:
                self.suspects.append(trials)
            else:
                self._fail(trials, "The worker process died whenever it ran this trial, also alone. Out of memory?")
        except Exception as error:
            # Whatever a trial raises is that trial's failure, and the run goes on.
            self._fail(trials, f"{type(error).__name__}: {error}")
        else:  # a database that cannot be written to is not the trial's failure
            contents, models = came
            for model, about in models:
                self.workspace.keep_model(self.owner, model, **about)
            for trial, content in zip(trials, contents, strict=True):
                self.workspace.store_trial(self.owner, self.run_id, trial, content)

    def _fail(self, trials: Trials, error: str) -> None:
        """Note that a trial failed; of several at once nobody knows which, so that each is tried by itself."""
        if len(trials) > 1:
            _log.warning("run %s: %d trials at once failed, now one by one: %s", self.run_id, len(trials), error)
            self.waiting.extendleft((trial,) for trial in reversed(trials))
            return
        for trial in trials:
            rows = self.plan.failed_trial(self.dataset, trial)
            self.workspace.store_trial(self.owner, self.run_id, trial, frames.to_bytes(rows), error=error)

    def _give_up_on_slow_trials(self) -> None:
        for future, trials in list(self.in_flight.items()):
            since, worker = self.started.get(trials[0], (time.monotonic(), ""))
            if future.status == "pending" and time.monotonic() - since > self.trial_seconds * len(trials):
                del self.in_flight[future]
                self._fail(
                    trials, f"Given up after {self.trial_seconds:.0f} seconds, the longest that a trial may take."
                )
                self.executor.client().cancel([future])
                self.executor.restart_worker(worker)

    def _wind_down(self) -> str:
        """Ask the trials that are running to stop, wait a while for their answers, forget the rest."""
        self._ask_to_stop()
        until = time.monotonic() + CANCEL_SECONDS
        waiting = [future for future, trials in self.in_flight.items() if trials[0] not in self.started]
        self._forget(waiting)
        while self.in_flight and time.monotonic() < until:
            self._collect(timeout=0.2)
        return "cancelled"

    def _ask_to_stop(self) -> None:
        """Tell the trials that are running that nobody waits for them: what is only forgotten would hold its worker."""
        from distributed import Event

        Event(self.stop, client=self.executor.client()).set()

    def _forget(self, futures: list["Future"]) -> None:
        for future in futures:
            del self.in_flight[future]
        if futures:
            self.executor.client().cancel(futures)


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
