"""What is known of what a workspace keeps, without reading it? Records, which need no database."""

from dataclasses import dataclass

from touchstone.core.data import DataError
from touchstone.core.data.dataset import key
from touchstone.core.trials import Plan, to_json, version_of
from touchstone.core.workspace.plans import load_plan


@dataclass(frozen=True)
class StoredDataset:
    """What is known of a data set without reading it. `example` names the built-in data set that it is, or None."""

    fingerprint: str
    name: str
    kind: str
    n_samples: int
    n_classes: int
    example: str | None
    created: float


@dataclass(frozen=True)
class StoredPredictions:
    """What is known of predictions without reading them. `example` names the built-in ones that they are, or None."""

    fingerprint: str
    name: str
    example: str | None
    created: float


@dataclass(frozen=True)
class StoredComparison:
    """A question that was asked of prediction files: its stem, the parameters of its address, its answer in a sentence.

    The answer itself is not stored: it follows from the files, and is computed again from them.
    """

    question: str
    address: str
    says: str
    created: float


@dataclass(frozen=True)
class StoredModel:
    """What is known of a model without reading it.

    `dataset_fingerprint` names the data set that it is a model of. `architecture` is one of ours, None for a model from
    elsewhere. `training_plan` is the JSON of the plan that trained it here, None for a model that was uploaded. Of
    `n_test` samples the model got `n_correct` right: those that were kept out of its training, or of an uploaded one
    any of the data set; None where it was not judged. `has_gradients` says whether estimators that take its gradients
    can be used.
    """

    fingerprint: str
    dataset_fingerprint: str
    name: str
    architecture: str | None
    file_name: str
    training_plan: str | None
    n_test: int | None
    n_correct: int | None
    created: float
    has_gradients: bool = True


@dataclass(frozen=True)
class Steps:
    """How far one running trial is: `n_done` of `n_steps`, one of which is called `what` ("epoch")."""

    n_done: int
    n_steps: int
    what: str

    @property
    def share(self) -> float:
        """How much of it is done; nothing where nobody knows how many steps there are.

        >>> Steps(3, 4, "epoch").share, Steps(3, 0, "blink").share
        (0.75, 0.0)
        """
        return self.n_done / self.n_steps if self.n_steps else 0.0


@dataclass(frozen=True)
class Run:
    """A plan's stored execution.

    `state` is "queued", "running", "interrupted" (its process is gone: resume it), "cancelled" or "done". Times are
    seconds since 1970, UTC. `pace` is how many seconds a trial took since the last start, None before the first;
    `seconds_left` is foreseen from it. `steps` say how far the trials are that are running, where they tell;
    `waits_for` how far another run is, that has to end before these trials can begin, or (of 0 steps) that nobody is
    there to compute them. `provenance` tells versions and place; `errors` are the messages of failed trials, each once,
    and what stopped the run. `name` is what its owner calls it, empty where it has none.
    """

    id: str
    key: str
    kind: str
    plan: str
    fingerprint: str
    dataset_name: str
    state: str
    n_trials: int
    n_done: int
    n_failed: int
    created: float
    started: float | None
    finished: float | None
    seconds_left: float | None
    cancelling: bool
    provenance: dict
    errors: tuple[str, ...]
    steps: tuple[Steps, ...] = ()
    waits_for: Steps | None = None
    pace: float | None = None
    name: str = ""

    @property
    def share(self) -> float:
        """How much of it is done, the finished steps of running trials included."""
        begun = sum(steps.share for steps in self.steps)
        return min((self.n_done + begun) / self.n_trials, 1.0) if self.n_trials else 1.0

    def exchanged(self, seal: str) -> bool:
        """Whether trials were exchanged since it was done: `seal`, of what is stored now, is not the one of then."""
        return self.state == "done" and self.provenance.get("seal", seal) != seal

    @property
    def older_method(self) -> bool:
        """Whether it was computed by another version of its method than is used today."""
        try:
            return self.key != run_key(load_plan(self.plan), self.fingerprint)
        except DataError:  # a plan that this version does not know
            return False


def run_key(plan: Plan, fingerprint: str) -> str:
    """What names a run: its plan, its data, and the version of its method.

    Examples
    --------
    >>> from touchstone.core.trials import TrialPlan
    >>> run_key(TrialPlan(), "f1") == run_key(TrialPlan(n_repeats=20), "f1") != run_key(TrialPlan(), "f2")
    True
    """
    return key(to_json(plan), fingerprint, version_of(plan))


def method_version(run: Run) -> int | None:
    """The version of the method that computed a run; None where no version gives its key.

    Raises DataError for a plan that this version does not know.
    """
    plan = load_plan(run.plan)
    versions = range(version_of(plan), 0, -1)
    return next((version for version in versions if key(to_json(plan), run.fingerprint, version) == run.key), None)
