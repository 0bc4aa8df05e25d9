"""What is a run? A plan's stored execution on a data set, as it stands at one moment."""

import json
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from touchstone.core.data import DataError
from touchstone.core.data.identity import key
from touchstone.core.trials import Plan, to_json, version_of
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.holders import is_dead
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.schema import RunNameRow, RunRow, StepsRow, TrialRow, now
from touchstone.core.workspace.seals import is_named_by

WAITING = -1
"""The number under which a run notes how far the run is that it waits for, beside the numbers of its trials."""

STATES = ("queued", "running", "interrupted", "cancelled", "done")
"""What a run may be."""

LONGEST_LEASE = 60.0
"""No lease is given for longer than that, in seconds; a longer one is not believed."""


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


def find_run_row(session: Session, owner: str, run_id: str) -> RunRow | None:
    """The owner's run of this id, or None."""
    return session.scalar(select(RunRow).where(RunRow.owner == owner, RunRow.id == run_id))


def require_run(session: Session, owner: str, run_id: str) -> RunRow:
    """The owner's run of this id. Raises WorkspaceError where the owner has none."""
    row = find_run_row(session, owner, run_id)
    if row is None:
        raise WorkspaceError("This run is not in your workspace: deleted, or somebody else's. Start it again.")
    return row


def counts_of(session: Session, run_id: str) -> tuple[int, int]:
    """How many trials of a run are finished, and how many of these failed."""
    query = select(TrialRow.status, func.count().label("n")).where(TrialRow.run_id == run_id)
    query = query.group_by(TrialRow.status)
    counts: dict[str, int] = {row.status: row.n for row in session.execute(query)}
    return sum(counts.values()), counts.get("failed", 0)


def state_of(row: RunRow) -> str:
    """The state of a run; where the process that worked on it is gone, it is interrupted, or cancelled as was asked.

    Interrupted is also one whose word for it is damaged: resuming it does what is missing, if anything.
    """
    if row.state not in STATES:
        return "interrupted"
    if row.state != "running" or is_held(row):
        return row.state
    return "cancelled" if row.cancel_requested else "interrupted"


def is_held(row: RunRow) -> bool:
    """Whether the lease of a run stands: it has not run out, and its process is not known to be dead.

    One that ends too far from now is of a clock that was set back since: whoever lives writes it anew at once.
    """
    return 0 <= row.lease_until - now() <= LONGEST_LEASE and not is_dead(row.lease_owner)


def as_run(session: Session, row: RunRow) -> Run:
    """A stored run with how far it is."""
    n_done, n_failed = counts_of(session, row.id)
    state = state_of(row)
    noted = _steps(session, row.id) if state == "running" else {}
    waits_for, steps = noted.pop(WAITING, None), tuple(noted.values())
    begun = sum(trial.share for trial in steps)
    pace, until = None, now() if state == "running" else row.finished
    if row.started is not None and until is not None and n_done + begun > row.started_with:
        pace = (until - row.started) / (n_done + begun - row.started_with)
    left = None if pace is None or state != "running" else pace * max(row.n_trials - n_done - begun, 0)
    failures = select(TrialRow.error).where(TrialRow.run_id == row.id, TrialRow.error.is_not(None)).distinct()
    errors = session.scalars(failures.limit(20)).all() if n_failed else []
    return Run(
        id=row.id,
        key=row.key,
        kind=row.kind,
        plan=row.plan,
        fingerprint=row.fingerprint,
        dataset_name=row.dataset_name,
        state=state,
        n_trials=row.n_trials,
        n_done=n_done,
        n_failed=n_failed,
        created=row.created,
        started=row.started,
        finished=row.finished,
        seconds_left=left,
        cancelling=state == "running" and row.cancel_requested,
        provenance=_provenance(row) or {},
        errors=(*([row.error] if row.error else []), *errors),
        steps=steps,
        waits_for=waits_for,
        pace=pace,
        name=session.scalar(select(RunNameRow.name).where(RunNameRow.run_id == row.id)) or "",
    )


def _provenance(row: RunRow) -> dict | None:
    """What was noted of versions and place; None where it cannot be read any more."""
    try:
        noted = json.loads(row.provenance)
    except ValueError:
        return None
    return noted if isinstance(noted, dict) else None


def is_whole(row: RunRow) -> bool:
    """Whether what is noted of a run belongs together: its key, plan and data, and that its provenance can be read."""
    named = is_named_by(row.key, kind=row.kind, plan=row.plan, fingerprint=row.fingerprint)
    return named and _provenance(row) is not None


def _steps(session: Session, run_id: str) -> dict[int, Steps]:
    rows = session.scalars(select(StepsRow).where(StepsRow.run_id == run_id).order_by(StepsRow.trial))
    return {row.trial: Steps(row.n_done, row.n_steps, row.what) for row in rows}
