"""What outlives a page, a browser and a crash? An owner's data sets, predictions, models, runs and finished trials.

Every call names the owner of the objects; what belongs to somebody else is as good as absent.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from core.data.identity import key
from core.trials import Plan, to_json
from core.workspace import frames
from core.workspace.errors import WorkspaceError
from core.workspace.links import LinkShelf
from core.workspace.schema import LinkRow, RunRow, StepsRow, TrialRow, now
from core.workspace.shelf import commit_or_ignore_twin, find_run_row, forget_views, require_run

LOCAL_OWNER = "local"
"""The owner of everything while nobody signs in."""

LEASE_SECONDS = 15.0
"""How long a process that says nothing is believed to work on its run still."""

WAITING = -1
"""The number under which a run notes how far the run is that it waits for, beside the numbers of its trials."""


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
    seconds since 1970, UTC. `seconds_left` is foreseen from the pace since the last start, or None. `steps` say how far
    the trials are that are running, where they tell; `waits_for` how far another run is, that has to end before these
    trials can begin. `provenance` tells versions and place; `errors` are the messages of failed trials, each once, and
    what stopped the run.
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

    @property
    def share(self) -> float:
        """How much of it is done, the finished steps of running trials included."""
        begun = sum(one.share for one in self.steps)
        return min((self.n_done + begun) / self.n_trials, 1.0) if self.n_trials else 1.0


def run_key(plan: Plan, fingerprint: str) -> str:
    """What names a run: its plan, its data, and the version of its method.

    Examples
    --------
    >>> from core.trials import TrialPlan
    >>> run_key(TrialPlan(), "f1") == run_key(TrialPlan(n_repeats=20), "f1") != run_key(TrialPlan(), "f2")
    True
    """
    return key(to_json(plan), fingerprint, plan.METHOD_VERSION)


class Workspace(LinkShelf):
    """Data sets, predictions, models, runs and links in a database and a folder of blobs.

    Every method takes the owner first and raises WorkspaceError for what the owner does not have.
    """

    def delete_dataset(self, owner: str, fingerprint: str) -> None:
        """Forget a data set, its models and its runs; the bytes go when nobody else keeps the same ones."""
        for run in self.runs(owner, fingerprint):
            self.delete_run(owner, run.id)
        super().delete_dataset(owner, fingerprint)

    def create_run(self, owner: str, plan: Plan, fingerprint: str, *, n_trials: int | None = None) -> Run:
        """The run of a plan on a data set: the one that exists, or a new one, queued.

        Raises DataError where the plan does not fit the data, and WorkspaceError where it asks for a model that the
        owner does not have. `n_trials` may be given by who knows it already.
        """
        found = self.find_run(owner, plan, fingerprint)
        if found is not None:
            return found
        stored = self.stored_dataset(owner, fingerprint)
        for model in plan.stored_models():
            self.stored_model(owner, model)
        if n_trials is None:
            n_trials = plan.n_trials(self.dataset(owner, fingerprint))
        row = RunRow(
            id=uuid.uuid4().hex,
            owner=owner,
            key=run_key(plan, fingerprint),
            kind=plan.kind,
            plan=to_json(plan),
            fingerprint=fingerprint,
            dataset_name=stored.name,
            n_trials=n_trials,
        )
        with Session(self._database) as session:
            session.add(row)
            commit_or_ignore_twin(session)
        found = self.find_run(owner, plan, fingerprint)
        if found is None:
            raise WorkspaceError("This run was deleted while it was being made. Start it again.")
        return found

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of this plan on this data set, or None where the owner has none."""
        query = select(RunRow).where(RunRow.owner == owner, RunRow.key == run_key(plan, fingerprint))
        with Session(self._database) as session:
            row = session.scalar(query)
            return None if row is None else _run(session, row)

    def run(self, owner: str, run_id: str) -> Run:
        """A run as it stands now."""
        with Session(self._database) as session:
            return _run(session, require_run(session, owner, run_id))

    def runs(self, owner: str, fingerprint: str | None = None) -> list[Run]:
        """The owner's runs (of one data set, where it is named), the newest first."""
        query = select(RunRow).where(RunRow.owner == owner).order_by(RunRow.created.desc())
        if fingerprint is not None:
            query = query.where(RunRow.fingerprint == fingerprint)
        with Session(self._database) as session:
            return [_run(session, row) for row in session.scalars(query)]

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of every finished trial so far, in the order of the trials."""
        query = select(TrialRow.content).where(TrialRow.run_id == run_id).order_by(TrialRow.trial)
        with Session(self._database) as session:
            require_run(session, owner, run_id)
            return frames.from_bytes(session.scalars(query).all())

    def cancel(self, owner: str, run_id: str) -> None:
        """Ask a run to stop. Finished trials stay; resuming goes on from there."""
        with Session(self._database) as session:
            row = require_run(session, owner, run_id)
            if _state(row) == "running":
                row.cancel_requested = True
            elif row.state != "done":
                row.state = "cancelled"
            session.commit()

    def delete_run(self, owner: str, run_id: str) -> None:
        """Forget a run, its rows and the links to it. A process that works on it stops by itself."""
        with Session(self._database) as session:
            row = require_run(session, owner, run_id)
            session.execute(delete(TrialRow).where(TrialRow.run_id == run_id))
            session.execute(delete(StepsRow).where(StepsRow.run_id == run_id))
            session.execute(delete(LinkRow).where(LinkRow.run_id == run_id))
            session.delete(row)
            session.flush()
            forget_views(session, owner, RunRow.__tablename__, run_id)
            session.commit()

    # What the process that works on a run says of it

    def acquire(self, owner: str, run_id: str, lease_owner: str) -> bool:
        """Take a run to work on it; False where a living process has it, or nothing is left to do."""
        with Session(self._database) as session:
            row = require_run(session, owner, run_id)
            n_done = _counts(session, run_id)[0]
            taken = session.execute(
                update(RunRow)
                .where(RunRow.id == run_id, RunRow.state != "done")
                .where((RunRow.lease_until < now()) | (RunRow.lease_owner == lease_owner) | (RunRow.state != "running"))
                .values(
                    state="running",
                    cancel_requested=False,
                    lease_owner=lease_owner,
                    lease_until=now() + LEASE_SECONDS,
                    started=now(),
                    started_with=n_done,
                    finished=None,
                    error=None,
                )
            )
            session.commit()
            session.refresh(row)
        return taken.rowcount == 1

    def renew(self, owner: str, run_id: str, lease_owner: str) -> str:
        """Keep the lease: "go on", "cancel" where that was asked for, or "lost" where the run is gone or taken over."""
        with Session(self._database) as session:
            kept = session.execute(
                update(RunRow)
                .where(RunRow.owner == owner, RunRow.id == run_id)
                .where(RunRow.lease_owner == lease_owner, RunRow.state == "running")
                .values(lease_until=now() + LEASE_SECONDS)
            )
            session.commit()
            if kept.rowcount == 0:
                return "lost"
            asked = session.scalar(select(RunRow.cancel_requested).where(RunRow.id == run_id))
        return "cancel" if asked else "go on"

    def release(self, owner: str, run_id: str, lease_owner: str, state: str, *, error: str | None = None) -> None:
        """Give a run back as "done", "cancelled" or "interrupted"; nothing happens where the lease is lost."""
        with Session(self._database) as session:
            released = session.execute(
                update(RunRow)
                .where(RunRow.owner == owner, RunRow.id == run_id, RunRow.lease_owner == lease_owner)
                .values(state=state, lease_owner=None, lease_until=0.0, finished=now(), error=error)
            )
            if released.rowcount:
                session.execute(delete(StepsRow).where(StepsRow.run_id == run_id))
            session.commit()

    def record_provenance(self, owner: str, run_id: str, provenance: dict) -> None:
        """Note the versions and the place that a run's newest trials came from."""
        ours = update(RunRow).where(RunRow.owner == owner, RunRow.id == run_id)
        with Session(self._database) as session:
            session.execute(ours.values(provenance=json.dumps(provenance)))
            session.commit()

    def record_steps(self, owner: str, run_id: str, lease_owner: str, steps: Mapping[int, Steps]) -> None:
        """Note how far the trials are that are running now, in place of what was noted; nothing for a lost lease."""
        with Session(self._database) as session:
            ours = select(RunRow.id).where(RunRow.owner == owner, RunRow.id == run_id)
            if session.scalar(ours.where(RunRow.lease_owner == lease_owner)) is None:
                return
            session.execute(delete(StepsRow).where(StepsRow.run_id == run_id))
            session.add_all(
                StepsRow(run_id=run_id, trial=trial, n_done=one.n_done, n_steps=one.n_steps, what=one.what)
                for trial, one in steps.items()
            )
            commit_or_ignore_twin(session)

    def begin_trials(self, owner: str, run_id: str, lease_owner: str) -> None:
        """Note that a run need not wait any longer: the pace of its trials is counted from now."""
        self.record_steps(owner, run_id, lease_owner, {})
        with Session(self._database) as session:
            begun = update(RunRow).where(RunRow.owner == owner, RunRow.id == run_id)
            session.execute(begun.where(RunRow.lease_owner == lease_owner).values(started=now()))
            session.commit()

    def missing_trials(self, owner: str, run_id: str) -> list[int]:
        """The trials of a run that have no rows yet."""
        with Session(self._database) as session:
            n_trials = require_run(session, owner, run_id).n_trials
            done = set(session.scalars(select(TrialRow.trial).where(TrialRow.run_id == run_id)))
        return [trial for trial in range(n_trials) if trial not in done]

    def store_trial(self, owner: str, run_id: str, trial: int, content: bytes, *, error: str | None = None) -> None:
        """Keep a trial's rows at once; a trial that is there already, or whose run is gone, is left alone."""
        status = "ok" if error is None else "failed"
        with Session(self._database) as session:
            if find_run_row(session, owner, run_id) is None:
                return
            session.add(TrialRow(run_id=run_id, trial=trial, status=status, error=error, content=content))
            commit_or_ignore_twin(session)


def _counts(session: Session, run_id: str) -> tuple[int, int]:
    query = select(TrialRow.status, func.count().label("n")).where(TrialRow.run_id == run_id)
    query = query.group_by(TrialRow.status)
    counts: dict[str, int] = {row.status: row.n for row in session.execute(query)}
    return sum(counts.values()), counts.get("failed", 0)


def _steps(session: Session, run_id: str) -> dict[int, Steps]:
    rows = session.scalars(select(StepsRow).where(StepsRow.run_id == run_id).order_by(StepsRow.trial))
    return {row.trial: Steps(row.n_done, row.n_steps, row.what) for row in rows}


def _state(row: RunRow) -> str:
    return "interrupted" if row.state == "running" and row.lease_until < now() else row.state


def _run(session: Session, row: RunRow) -> Run:
    n_done, n_failed = _counts(session, row.id)
    state = _state(row)
    noted = _steps(session, row.id) if state == "running" else {}
    waits_for, steps = noted.pop(WAITING, None), tuple(noted.values())
    pace, begun = None, sum(one.share for one in steps)
    if row.started is not None and state == "running" and n_done + begun > row.started_with:
        pace = (now() - row.started) / (n_done + begun - row.started_with)
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
        seconds_left=None if pace is None else pace * max(row.n_trials - n_done - begun, 0),
        cancelling=state == "running" and row.cancel_requested,
        provenance=json.loads(row.provenance),
        errors=(*([row.error] if row.error else []), *errors),
        steps=steps,
        waits_for=waits_for,
    )
