"""How are many questions worked off within a time? One after the other, each as a run like any other.

Nothing but the runs is stored: whoever asks again finds those that are done, and goes on with the others.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Protocol, runtime_checkable

from touchstone.core.data import DataError, Dataset
from touchstone.core.models.load import RECORDED
from touchstone.core.parameters import About, usual_plan
from touchstone.core.questions import QUESTIONS, Question, plan_class, with_page
from touchstone.core.trials import Plan, TrainingPlan, TrialPlan
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.models import StoredModel
from touchstone.core.workspace.workspace import Workspace

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


@runtime_checkable
class Runs(Protocol):
    """What an agenda needs of an engine."""

    workspace: Workspace

    def start(self, owner: str, run_id: str) -> bool:
        """Start or resume a run; returns at once."""


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

    runs: Runs
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


def usual_steps(workspace: Workspace, owner: str, fingerprint: str, *, model: str | None = None) -> tuple[Step, ...]:
    """Every question that a run can answer about a data set, each with the settings that its form begins with.

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
        if question.speaks_of == "model":
            if not any(step.stem == "training" for step in steps):
                steps.append(Step("training", training))
            steps.append(Step(question.stem, partial(of_model, question)))
        else:
            steps.append(Step(question.stem, partial(recipe, question)))
        if question.stem == "source_robustness":
            steps.append(Step("parametric_null", clouds))
    return tuple(steps)
