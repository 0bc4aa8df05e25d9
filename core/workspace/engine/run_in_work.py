"""What happens to a run while this process works on it? Its trials go to the workers, and what comes back is stored."""

import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from touchstone.core.data import Dataset
from touchstone.core.data.store import from_bytes
from touchstone.core.trials import Plan, needed_by
from touchstone.core.trials.plan import Grouping
from touchstone.core.workspace import frames
from touchstone.core.workspace.engine import needed as leases
from touchstone.core.workspace.engine.executor import Executor, Pace, TrialQueue, provenance
from touchstone.core.workspace.engine.worker import Done, Task, Trials, work
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.records import Run, Steps
from touchstone.core.workspace.runs import WAITING
from touchstone.core.workspace.schema import now
from touchstone.core.workspace.workspace import Workspace

if TYPE_CHECKING:
    from distributed import Client, Future


# What have workers been given, and what came of it? Answers come over in threads of their own, beside all else.


Answer = Done | BaseException | None
"""What came of a task: rows and models of its trials, or what went wrong with it as a whole. None where the answer was
lost, with the last worker that had the data or on its way from the scheduler, which is no trial's fault."""


class InFlight:
    """The tasks that workers have, by the future of each answer."""

    def __init__(self) -> None:
        self._tasks: dict[Future, Task] = {}
        self._arrived: queue.SimpleQueue[tuple[Future, Answer]] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._tasks)

    def items(self) -> list[tuple["Future", Task]]:
        """Every future with its task."""
        return list(self._tasks.items())

    def add(self, future: "Future", task: Task) -> None:
        """Wait for what comes of a task."""
        self._tasks[future] = task
        future.add_done_callback(self._fetch)

    def forget(self, futures: Iterable["Future"]) -> None:
        """Wait for these no longer, whatever comes of them."""
        for future in futures:
            del self._tasks[future]

    def answers(self, *, timeout: float) -> Iterator[tuple[Task, Answer]]:
        """What has arrived; waits for the first of it at most `timeout` seconds."""
        with suppress(queue.Empty):
            while True:
                future, answer = self._arrived.get(timeout=timeout)
                task, timeout = self._tasks.pop(future, None), 0
                if task is not None:  # nobody waits any longer for what was forgotten
                    yield task, answer

    def _fetch(self, future: "Future") -> None:
        """Have what came of a task come over, however long that takes.

        A VGG-19 is 80 MB; and where the worker died with what it had, dask computes it again.
        """

        def fetch() -> None:
            try:
                self._arrived.put((future, future.result()))
            except BaseException as problem:  # whatever it is, a cancelled future's answer included
                self._arrived.put((future, None if _is_lost(future, problem) else problem))

        threading.Thread(target=fetch, name=f"fetch {future.key}", daemon=True).start()


def _is_lost(future: "Future", problem: BaseException) -> bool:
    """Whether the task itself did not fail: its answer went with a worker, or with the connection it came over."""
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    closed = isinstance(problem, (CommClosedError, ConnectionError)) and future.status != "error"
    return closed or isinstance(problem, FutureCancelledError)


# How far are the trials that are running? As their workers tell: when each has started, where, and its steps.


SECONDS_BETWEEN_STEPS = 1.0
"""How often it is written down how far the running trials are."""


class Reports:
    """What workers have told of the trials of one run; `record` writes down how far they are."""

    def __init__(self, record: Callable[[Mapping[int, Steps]], None]):
        self._record = record
        self._started: dict[int, tuple[float, str]] = {}
        self._steps: dict[int, Steps] = {}
        self._recorded: tuple[float, dict[int, Steps]] = (0.0, {})

    def hear(self, event: tuple[float, dict[str, Any]]) -> None:
        """Take what a worker tells: that a trial has started there, or how far it is."""
        _, message = event
        if "steps" in message:
            self._steps[message["trial"]] = Steps(*message["steps"])
        else:
            self._started[message["trial"]] = (time.monotonic(), message["worker"])
            self._steps.pop(message["trial"], None)

    def forget(self, trials: Trials) -> None:
        """Trials that are given to a worker anew have not started there yet."""
        self._started.pop(trials[0], None)

    def has_started(self, trials: Trials) -> bool:
        """Whether a worker has begun with these trials."""
        return trials[0] in self._started

    def running(self, trials: Trials) -> tuple[float, str]:
        """For how many seconds these trials have been running, and the address of their worker; 0 before they do."""
        since, worker = self._started.get(trials[0], (time.monotonic(), ""))
        return time.monotonic() - since, worker

    def begun(self, running: set[int]) -> list[float]:
        """What share of each of these trials is done."""
        return [self._steps[trial].share if trial in self._steps else 0.0 for trial in running]

    def write_down(self, running: set[int]) -> None:
        """Let pages know how far these trials are, where that has changed, at most once a second; forget all others."""
        for heard in (self._started, self._steps):
            for trial in heard.keys() - running:
                heard.pop(trial, None)
        steps = {trial: steps for trial, steps in self._steps.copy().items() if trial in running}
        when, before = self._recorded
        if steps != before and time.monotonic() - when > SECONDS_BETWEEN_STEPS:
            self._record(steps)
            self._recorded = (time.monotonic(), steps)


# How fast is a run? Only what workers do when they are warm tells that, and only the later half of it.


class Tempo:
    """From when on the pace of a run is counted, as it goes on.

    What a worker does first imports, compiles and draws what later trials find there.

    Examples
    --------
    >>> tempo = Tempo(n_workers=1)
    >>> tempo.note(8.0, 1, [])  # the first trial is the warm-up
    (8.0, 1.0)
    >>> [tempo.note(8.0 + done, done, []) for done in (2, 3, 4, 5)]
    [None, (10.0, 2.0), None, (11.0, 3.0)]
    """

    def __init__(self, n_workers: int, n_done: int = 0):
        self._n_workers, self._at_first = n_workers, n_done
        self._seen: list[tuple[float, float]] = []

    def note(self, when: float, n_done: int, begun: Sequence[float]) -> tuple[float, float] | None:
        """Take how much is done, the shares of running trials included; gives from when on to count, if that moved."""
        done = n_done + sum(begun, 0.0)
        is_warm = n_done - self._at_first >= self._n_workers or (bool(begun) and all(begun))
        if not is_warm or (self._seen and done <= self._seen[-1][1]):
            return None
        if not self._seen:
            self._first = done
        self._seen.append((when, done))
        middle = (self._first + done) / 2
        before = self._seen[0]
        while len(self._seen) > 1 and self._seen[1][1] <= middle:
            del self._seen[0]
        return self._seen[0] if self._seen[0] != before or len(self._seen) == 1 else None


# What does a worker need for a trial? The plan, the data, the models that it names and the rows that it rests on.


@dataclass(frozen=True)
class Inputs:
    """A plan with all that its trials need, as bytes for the workers; `dataset` is the same data, read."""

    plan: Plan
    plan_json: str
    fingerprint: str
    content: bytes
    dataset: Dataset
    models: Mapping[str, bytes]
    needed: leases.NeededRows = field(default_factory=dict)

    def submit(self, executor: Executor, task: Task, stop: str) -> "Future":
        """Give a task to a worker, with what it needs for it; `stop` names the event that asks it to give up."""
        data = executor.data(self.fingerprint, self.content)
        models = {name: executor.data(name, content) for name, content in self.models.items()}
        needed = {plan: executor.data(leases.name_of(content), content) for plan, content in self.needed.items()}
        return executor.client().submit(
            work, self.plan.kind, self.plan_json, task, self.fingerprint, data, models, needed, stop,
            key=f"{stop}-{task[0][0]}-{uuid.uuid4().hex[:8]}", pure=False,
        )  # fmt: skip


def inputs_of(workspace: Workspace, owner: str, run: Run) -> Inputs:
    """What the trials of a run need, but for the rows that it rests on, which have to be there first.

    Raises WorkspaceError where some of it is not there any more.
    """
    plan, content = load_plan(run.plan), workspace.dataset_bytes(owner, run.fingerprint)
    models = {name: workspace.model_bytes(owner, name) for name in plan.stored_models()}
    return Inputs(plan, run.plan, run.fingerprint, content, from_bytes(content), models)


# What happens to a run while this process works on it? Trials go to the workers, and what comes back is stored.


RECONNECT_SECONDS = 300.0
"""How long a scheduler that is gone is waited for."""

SECONDS_BETWEEN_LOOKS = 1.0
"""How often it is looked for meanwhile."""

CANCEL_SECONDS = 20.0
"""How long a cancelled run waits for the trials that are running to answer."""

WORD_SECONDS = 2.0
"""How long it waits for the word that trials have begun: what has begun has rows, which are kept."""

NO_WORKER = "No worker is connected to the scheduler at {}; waiting for one"
ALL_ENDED = (
    "All worker processes have ended; waiting for new ones. If none comes, free memory or start Touchstone again"
)
"""What a page says while a run has no worker, of a cluster and of processes that were started here."""

_log = logging.getLogger(__name__)


class RunInWork:
    """A run while this process works on it.

    `start` has the engine work on another run, and `trial_seconds` is the longest that a trial may take. Raises
    WorkspaceError where something that the run needs is not there any more.
    """

    def __init__(
        self, lease: leases.Lease, executor: Executor, *, start: Callable[[str, str], bool], trial_seconds: float
    ):
        run = lease.run()
        self.lease, self.executor, self.start, self.trial_seconds = lease, executor, start, trial_seconds
        self.name, self.n_trials = (lease.owner, lease.run_id), run.n_trials
        self.inputs = inputs_of(lease.workspace, lease.owner, run)
        self.about_sources = {name: words for name, words in run.provenance.items() if name in leases.ABOUT_SOURCES}
        self._begin()

    def _begin(self) -> None:
        """All that is missing is still to be done, and no worker has any of it."""
        self.queue = TrialQueue(self.lease.workspace.missing_trials(self.lease.owner, self.lease.run_id))
        self.in_flight, self.pace = InFlight(), Pace()
        self.reports = Reports(self.lease.record_steps)
        self.stop = f"stop-{uuid.uuid4().hex}"
        self.alone = False
        self.n_done = self.n_trials - len(self.queue)

    def finish(self, closing: threading.Event) -> str:
        """Work until all trials are stored, or somebody asks to stop; returns the state to leave the run in."""
        state = self._wait_for_needed(closing) if self.queue else "done"
        if state != "done":
            return state
        while True:
            connected = self.executor.connected()
            try:
                return self._on_workers(closing)
            except OSError as problem:
                if self.executor.address is None:
                    raise
                _log.warning("run %s: the scheduler does not answer: %s", self.lease.run_id, problem)
            stopped = self._reconnect(self.executor.connected() or connected, closing)
            if stopped is not None:
                return stopped

    def _on_workers(self, closing: threading.Event) -> str:
        """Work until all trials are stored, or somebody asks to stop. Raises OSError where the scheduler is gone."""
        client = self.executor.client()
        client.subscribe_topic(self.stop, self.reports.hear)
        self._group()
        self.tempo = Tempo(self.executor.n_workers, self.n_done)
        self.lease.record_provenance(provenance(self.executor) | self.about_sources)
        try:
            return self._work_off(closing)
        finally:
            self.executor.shares.leave(self.name)
            with suppress(OSError):
                if self.in_flight:
                    self._ask_to_stop()
                self._forget([future for future, _ in self.in_flight.items()])
                client.unsubscribe_topic(self.stop)

    def _reconnect(self, lost: "Client | None", closing: threading.Event) -> str | None:
        """Wait until a scheduler answers again, and begin anew with what is missing; or the state to leave the run in.

        Raises WorkspaceError where none answers for some minutes.
        """
        address, until = self.executor.address, time.monotonic() + RECONNECT_SECONDS
        said = f"The scheduler at {address} does not answer; trying again for some minutes"
        self.lease.record_steps({WAITING: Steps(0, 0, said)})
        while time.monotonic() < until:
            if closing.is_set():
                return "interrupted"
            if self.lease.answer != "go on":
                return "cancelled" if self.lease.answer == "cancel" else "interrupted"
            try:
                self.executor.reconnect(lost)
            except OSError:
                time.sleep(SECONDS_BETWEEN_LOOKS)
                continue
            self._begin()
            self.lease.record_steps({})
            return None
        raise WorkspaceError(
            f"The scheduler at {address} (TOUCHSTONE_SCHEDULER) does not answer. Start it and its workers, then resume."
        )

    def _wait_for_needed(self, closing: threading.Event) -> str:
        """Have found what the plan rests on, by runs of its own; "done", or the state in which to leave this run."""
        needed = needed_by(self.inputs.plan, self.inputs.dataset)
        if not needed:
            return "done"
        rows = leases.Waiting(self.lease, start=self.start, closing=closing).rows(needed, self.inputs.fingerprint)
        if isinstance(rows, str):
            return rows
        self.inputs = replace(self.inputs, needed=rows)
        run, sources = self.lease.run(), leases.tables(rows)
        if run.n_done and leases.found_otherwise(run, sources):
            raise WorkspaceError(
                "The sources of this run were deleted, and those found since differ. Delete this "
                "run on the page Runs and start it again."
            )
        self.about_sources = leases.about(sources)
        self.lease.begin_trials()
        return "done"

    def _group(self) -> None:
        """Put trials together that are faster so, which they are on a GPU."""
        plan = self.inputs.plan
        if isinstance(plan, Grouping):
            groups = plan.groups(self.inputs.dataset, self.queue.waiting())
            if any(len(trials) > 1 for trials in groups) and self.executor.has_gpu():
                self.queue.group(groups)

    def _work_off(self, closing: threading.Event) -> str:
        while self.queue or self.in_flight:
            if closing.is_set():
                return "interrupted"
            if self.lease.answer != "go on":
                return self._wind_down() if self.lease.answer == "cancel" else "interrupted"
            self._look_for_workers()
            self._submit()
            self._collect()
            running = {task[0][0] for _, task in self.in_flight.items()}
            self.reports.write_down(running)
            self._tell_pace(running)
            self._give_up_on_slow_trials()
        return "done"

    def _tell_pace(self, running: set[int]) -> None:
        """Let pages know from when on the pace is counted, where that has moved."""
        has_begun = {trial for trial in running if self.reports.has_started((trial,))}
        moved = self.tempo.note(now(), self.n_done, self.reports.begun(has_begun))
        if moved is not None:
            self.lease.count_from(*moved)

    def _look_for_workers(self) -> None:
        """Say it at once where there are no workers, and take it back when one has come.

        Raises WorkspaceError for one that would compute with other versions.
        """
        alone = not self.executor.has_workers()
        if alone != self.alone:
            self.alone = alone
            address = self.executor.address
            said = ALL_ENDED if address is None else NO_WORKER.format(address)
            self.lease.record_steps({WAITING: Steps(0, 0, said)} if alone else {})
        self.executor.check_versions(self.inputs.plan.kind)

    def _submit(self) -> None:
        """Keep every worker busy with one more task in reserve, owners in turn; suspects come last and alone."""
        n_workers = self.executor.n_workers
        so_far = {"in_flight": len(self.in_flight), "waiting": len(self.queue)}
        room = self.executor.shares.room(self.name, **so_far, places=2 * n_workers)
        at_a_time = self.pace.n_trials(len(self.queue), n_threads=n_workers)
        for task in self.queue.take(room, alone=not self.in_flight, at_a_time=at_a_time):
            self.reports.forget(task[0])
            self.in_flight.add(self.inputs.submit(self.executor, task, self.stop), task)

    def _collect(self) -> None:
        """Store what has arrived."""
        for task, answer in self.in_flight.answers(timeout=0.2):
            self._settle(task, answer)

    def _settle(self, task: Task, answer: Answer) -> None:
        """Store the rows of trials that have ended, or decide what becomes of them."""
        from distributed import KilledWorker

        if answer is None:
            _log.warning(
                "run %s: an answer was lost on its way, %d trials are sent again", self.lease.run_id, len(task)
            )
            for trials in reversed(task):
                self.queue.first(trials)
        elif not isinstance(answer, BaseException):  # a database that cannot be written to is not the trial's failure
            self._store(task, answer)
        elif isinstance(answer, KilledWorker):
            if len(task) != 1 or not self.queue.suspect(task[0]):
                self._fail(task, "The worker process died whenever it ran this trial, also alone. Out of memory?")
        elif isinstance(answer, Exception):  # no trial's doing: the task could not begin, or its answer not be read
            self._fail(task, f"{type(answer).__name__}: {answer}")
        else:
            raise answer

    def _store(self, task: Task, done: Done) -> None:
        """Keep what trials made and gave, all rows at once; what was asked to stop is left for later."""
        for model, about_model in done.models:
            self.lease.keep_model(model, about_model)
        rows = {trials: contents for trials, contents in done.outcomes if not isinstance(contents, str)}
        self.lease.store_trials({t: c for trials in rows for t, c in zip(trials, rows[trials], strict=True)})
        self.n_done += sum(map(len, rows))
        for trials, error in done.outcomes:
            if isinstance(error, str):
                self._fail((trials,), error)
        for trials in task[len(done.outcomes) :]:
            self.queue.last(trials)
        if len(done.outcomes) == len(task):
            self.pace.took(sum(map(len, task)), done.seconds)

    def _fail(self, task: Task, error: str) -> None:
        """Note that a trial failed; of several nobody knows which, so that each is tried by itself."""
        (trial, *others) = (trial for trials in task for trial in trials)
        if others:
            n_trials = 1 + len(others)
            _log.warning("run %s: %d trials together failed, now one by one: %s", self.lease.run_id, n_trials, error)
            self.queue.one_by_one((trial, *others))
            return
        rows = self.inputs.plan.failed_trial(self.inputs.dataset, trial)
        self.lease.store_trials({trial: frames.to_bytes(rows)}, error=error)
        self.n_done += 1

    def _give_up_on_slow_trials(self) -> None:
        """Tiny trials that take as long together as one may are tried one by one: nobody knows which is slow."""
        for future, task in self.in_flight.items():
            seconds, worker = self.reports.running(task[0])
            slow = future.status == "pending" and seconds > self.trial_seconds * max(map(len, task))
            if slow and worker not in list(self.executor.client().nthreads()):
                self.reports.forget(task[0])  # its worker is gone, or its answer went with it: it begins anew elsewhere
            elif slow:
                self._forget([future])
                self._fail(
                    task,
                    f"Given up after {self.trial_seconds:.0f} seconds, the longest that a trial may take "
                    "(TOUCHSTONE_MOST_TRIAL_SECONDS).",
                )
                self.executor.restart_worker(worker)

    def _wind_down(self) -> str:
        """Ask all trials to stop, wait a while for the answers of those that have begun, forget the rest."""
        self._ask_to_stop()
        asked = time.monotonic()
        while self.in_flight and time.monotonic() - asked < CANCEL_SECONDS:
            self._collect()
            if time.monotonic() - asked > WORD_SECONDS:
                waiting = [future for future, task in self.in_flight.items() if not self.reports.has_started(task[0])]
                self._forget(waiting)
        return "cancelled"

    def _ask_to_stop(self) -> None:
        """Tell the trials that are running that nobody waits for them: what is only forgotten would hold its worker."""
        from distributed import Event

        Event(self.stop, client=self.executor.client()).set()

    def _forget(self, futures: list) -> None:
        """Wait for these answers no longer, and have what is not running yet not begin."""
        self.in_flight.forget(futures)
        if futures:
            self.executor.client().cancel(futures)
