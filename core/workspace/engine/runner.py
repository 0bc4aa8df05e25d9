"""How does a plan become rows? Trial by trial on the workers; each finished one is stored at once.

The runner lives in the process of the app: a thread per run hands trials to the workers, stores what comes back and
keeps the run's lease. All that it knows is in the database, so that a run can stop at any moment and be resumed,
here or in another process, with only the missing trials.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from functools import partial

from sqlalchemy import exc

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.home import home
from touchstone.core.data.limits import most
from touchstone.core.models.model_file import RECORDED
from touchstone.core.parameters import About, usual_plan
from touchstone.core.questions import QUESTIONS, Question, plan_class, with_page
from touchstone.core.trials import Plan, TrainingPlan, TrialPlan
from touchstone.core.workspace import events
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.needed import Lease
from touchstone.core.workspace.engine.run_in_work import RunInWork
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.records import Run, StoredModel
from touchstone.core.workspace.store import new_holder
from touchstone.core.workspace.workspace import LOCAL_OWNER, Workspace

# How are many questions worked off within a time? One after the other, each as a run like any other.
#
# Nothing but the runs is stored: whoever asks again finds those that are done, and goes on with the others.


SECONDS_BETWEEN_LOOKS = 0.3
_PLACE = {"source_robustness": -1, "data_set_adequacy": 1}
"""The first question that is asked, and the one that takes longest, last; the others as in the navigation."""
NO_TIME = "There was no time left."
CUT = "The time was up. What is done stays, and goes on when you ask again."
STOPPED = "It was stopped."
NO_MODEL = "There is no model to ask about: none was brought, and none could be trained."
ANSWERED = "Already answered."


class NoModel(DataError):
    """A question is about a model, and there is none."""


@dataclass(frozen=True)
class Step:
    """One question: its stem, and how its plan comes to be when its turn has come.

    `make` may rest on what earlier steps left, such as a trained model. It returns None where there is nothing to do,
    and raises DataError or WorkspaceError, in words, where the question cannot be asked.
    """

    stem: str
    make: Callable[[], Plan | None]


@dataclass(eq=False)
class AskAll:
    """Questions about one data set, worked off in a thread of its own until the time is up.

    `done` are the stems of what was answered, `left_out` the others so far with the reason, `now` what is being worked
    on. The time is in seconds; a question under way when it ends is stopped, and keeps the trials that are finished.
    """

    runs: "Engine"
    owner: str
    fingerprint: str
    steps: Sequence[Step]
    seconds: float
    done: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    now: str | None = None

    def __post_init__(self) -> None:
        self.ends = time.monotonic() + self.seconds
        self._stop, self._left = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work_off, name="agenda", daemon=True)

    def start(self) -> None:
        """Begin with the first step; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; the run under way is stopped too."""
        self._stop.set()

    def leave(self) -> None:
        """Ask no more, and leave the run under way to whoever stops the engine."""
        self._left.set()
        self._stop.set()

    def join(self, timeout: float | None = None) -> None:
        """Wait until nothing is left to do."""
        self._thread.join(timeout)

    @property
    def going(self) -> bool:
        """Whether something is still to come."""
        return self._thread.is_alive()

    @property
    def seconds_left(self) -> float:
        """What is left of the time; 0 where it is up."""
        return max(self.ends - time.monotonic(), 0.0)

    def _work_off(self) -> None:
        for step in self.steps:
            if self._stop.is_set() or not self.seconds_left:
                self.left_out[step.stem] = STOPPED if self._stop.is_set() else NO_TIME
                continue
            self.now = step.stem
            try:
                reason = self._ask(step)
            except (DataError, WorkspaceError) as problem:
                reason = str(problem)
            if reason:
                self.left_out[step.stem] = reason
            elif step.stem not in self.done:
                self.done.append(step.stem)
        self.now = None

    def _ask(self, step: Step) -> str:
        """Work one question off; why it has no whole answer, or nothing."""
        plan = step.make()
        if plan is None:
            return ""
        workspace = self.runs.workspace
        run = workspace.create_run(self.owner, plan, self.fingerprint)
        self.runs.start(self.owner, run.id)
        asked_to_end = False
        while (run := workspace.run(self.owner, run.id)).state == "running":
            if not asked_to_end and (self._stop.is_set() or not self.seconds_left):
                if self._left.is_set():
                    return STOPPED
                workspace.cancel(self.owner, run.id)
                asked_to_end = True
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if run.state == "done":
            return run.errors[0] if run.n_failed == run.n_trials and run.errors else ""
        return STOPPED if self._stop.is_set() else CUT


def steps_of(steps: Sequence[Step], stem: str) -> tuple[Step, ...]:
    """Those that one question takes: what serves it, and itself.

    >>> known = [Step(stem, lambda: None) for stem in ("source_robustness", "training", "average_case")]
    >>> [step.stem for step in steps_of(known, "average_case")]
    ['training', 'average_case']
    """
    return tuple(step for step in steps if step.stem == stem or stem in QUESTIONS[step.stem].serves)


def foreseen(steps: Sequence[Step], workspace: Workspace, owner: str, fingerprint: str) -> dict[str, str]:
    """Why each step would not be worked off if it was asked now, by stem; nothing where it would be.

    A question about a model is asked where none is there yet and one is trained first. Steps with nothing to do are
    left out.
    """
    ahead: dict[str, str] = {}
    for step in steps:
        try:
            plan = step.make()
        except (DataError, WorkspaceError) as problem:
            comes = isinstance(problem, NoModel) and ahead.get("training") == ""
            ahead[step.stem] = "" if comes else str(problem)
            continue
        if plan is not None:
            run = workspace.find_run(owner, plan, fingerprint)
            done = run is not None and run.state == "done" and not run.older_method
            ahead[step.stem] = ANSWERED if done else ""
    return ahead


def usual_steps(
    workspace: Workspace,
    owner: str,
    fingerprint: str,
    *,
    model: str | None = None,
    only: Collection[str] | None = None,
) -> tuple[Step, ...]:
    """Every question that a run can answer about a data set, each with the settings that its form begins with.

    `only` are the stems of those that are asked, with what they rest on; None asks all.

    What is trained anew comes before what is asked of one model, and the longest of it last. That is the stored model
    of this fingerprint, or else the newest; where there is none yet, one is trained.
    """

    def dataset() -> Dataset:
        return workspace.dataset(owner, fingerprint)

    def recipe(question: Question) -> Plan:
        return usual_plan(plan_class(question), About(dataset()))

    def clouds() -> Plan | None:
        from touchstone.core.evaluate.source_robustness.parametric_null import clouds_plan

        plan: TrialPlan = usual_plan(TrialPlan, About(dataset()))
        return clouds_plan(plan, plan.source_finders[0])

    def stored_model() -> StoredModel | None:
        if model is not None:
            return workspace.stored_model(owner, model)
        models = workspace.models(owner, fingerprint)
        return next((each for each in models if each.architecture != RECORDED), None)

    def training() -> Plan | None:
        return None if stored_model() else usual_plan(TrainingPlan, About(dataset()))

    def of_model(question: Question) -> Plan:
        from touchstone.core.trials.layer_parts import layers_offered

        asked_about = stored_model()
        if asked_about is None:
            raise NoModel(NO_MODEL)
        kind, settled = plan_class(question), {"model": asked_about.fingerprint}
        if any(one.name == "layer" for one in fields(kind)):  # by its name, as addresses have it
            settled["layer"] = layers_offered(workspace.model_bytes(owner, asked_about.fingerprint), dataset())[0]
        return usual_plan(kind, About(dataset(), model=asked_about), **settled)

    asked = sorted((one for one in with_page().values() if one.kind), key=lambda one: _PLACE.get(one.stem, 0))
    steps: list[Step] = []
    for question in asked:
        if only is not None and question.stem not in only:
            continue
        if question.speaks_of == "model":
            if not any(step.stem == "training" for step in steps):
                steps.append(Step("training", training))
            steps.append(Step(question.stem, partial(of_model, question)))
        else:
            steps.append(Step(question.stem, partial(recipe, question)))
        if question.stem == "source_robustness":
            steps.append(Step("parametric_null", clouds))
    return tuple(steps)


# How does a plan become rows? A thread for each run hands its trials to the workers, and keeps what comes back.


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
            except (exc.SQLAlchemyError, WorkspaceError) as problem:
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


# Do the database and the workers answer? A word for each, for whoever watches over a server; of nobody's data.


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
        executor = engine().executor
        if executor.address is None and executor.connected() is None:
            return NOT_STARTED
        return OK if executor.client().nthreads() else NONE
    except (WorkspaceError, OSError):
        return NO_ANSWER


PARTS = {"database": database, "workers": workers}
"""What is asked, by the name that it is told under."""
