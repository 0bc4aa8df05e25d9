"""What is computed, and what was? An owner's runs, each with the rows of its finished trials."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from statistics import median

import pandas as pd
from sqlalchemy import Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from touchstone.core.data import DataError, Dataset
from touchstone.core.trials import Plan, to_json
from touchstone.core.trials.defaults import Facts, same_work, spelled
from touchstone.core.trials.plan import MOST
from touchstone.core.workspace import frames
from touchstone.core.workspace.errors import DamagedRun, DamagedTrials, WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.records import Run, Steps, run_key
from touchstone.core.workspace.schema import LinkRow, RunNameRow, RunRow, StepsRow, TempoRow, TrialRow, now
from touchstone.core.workspace.store import Kept, commit_or_ignore_twin, forget_views, is_dead

# How is a run stored?


WAITING = -1
"""The number under which a run notes how far the run is that it waits for, beside the numbers of its trials."""

STATES = ("queued", "running", "interrupted", "cancelled", "done")
"""What a run may be."""

LONGEST_LEASE = 60.0
"""No lease is given for longer than that, in seconds; a longer one is not believed."""


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


_AS_NOTED = ("id", "key", "kind", "plan", "fingerprint", "dataset_name", "n_trials", "created", "started", "finished")


def as_run(session: Session, row: RunRow) -> Run:
    """A stored run with how far it is."""
    n_done, n_failed = counts_of(session, row.id)
    state = state_of(row)
    noted = _steps(session, row.id) if state == "running" else {}
    waits_for, steps = noted.pop(WAITING, None), tuple(noted.values())
    begun = sum((trial.share for trial in steps), 0.0)
    pace = _pace(session, row, n_done + begun, state)
    left = None if pace is None or state != "running" else pace * max(row.n_trials - n_done - begun, 0)
    failures = select(TrialRow.error).where(TrialRow.run_id == row.id, TrialRow.error.is_not(None)).distinct()
    errors = session.scalars(failures.limit(20)).all() if n_failed else []
    return Run(
        **{name: getattr(row, name) for name in _AS_NOTED},
        state=state,
        n_done=n_done,
        n_failed=n_failed,
        seconds_left=left,
        cancelling=state == "running" and row.cancel_requested,
        provenance=_provenance(row) or {},
        errors=(*([row.error] if row.error else []), *errors),
        steps=steps,
        waits_for=waits_for,
        pace=pace,
        name=session.scalar(select(RunNameRow.name).where(RunNameRow.run_id == row.id)) or "",
    )


def _pace(session: Session, row: RunRow, n_done: float, state: str) -> float | None:
    """Seconds a trial, of `n_done` with the parts of those that run; None where nobody knows yet.

    It is counted from when workers were warm (`Work.count_from`): starting them and their first trials are no measure.
    Of a run that is over and never got so far it is that of all its trials.
    """
    tempo = session.get(TempoRow, row.id)
    if state == "running":
        return None if tempo is None or n_done <= tempo.n_done else (now() - tempo.since) / (n_done - tempo.n_done)
    if row.finished is None or row.started is None:
        return None
    ways = [(row.started, row.started_with)] if tempo is None else [(tempo.since, tempo.n_done)]
    return next(((row.finished - since) / (n_done - then) for since, then in ways if n_done > then), None)


def _provenance(row: RunRow) -> dict | None:
    """What was noted of versions and place; None where it cannot be read any more."""
    try:
        noted = json.loads(row.provenance)
    except ValueError:
        return None
    return noted if isinstance(noted, dict) else None


def is_whole(row: RunRow) -> bool:
    """Whether what is noted of a run belongs together: its key, plan and data, and that its provenance can be read."""
    named = frames.is_named_by(row.key, kind=row.kind, plan=row.plan, fingerprint=row.fingerprint)
    return named and _provenance(row) is not None


def _steps(session: Session, run_id: str) -> dict[int, Steps]:
    rows = session.scalars(select(StepsRow).where(StepsRow.run_id == run_id).order_by(StepsRow.trial))
    return {row.trial: Steps(row.n_done, row.n_steps, row.what) for row in rows}


# An owner's runs.


LONGEST_NAME = 80
"""Letters of a run's name."""


class Runs(Kept):
    """The runs of a workspace."""

    def _add_run(self, owner: str, plan: Plan, fingerprint: str, *, dataset_name: str, n_trials: int) -> Run:
        """A new run, queued; or today's run of this plan, where somebody made one meanwhile."""
        row = RunRow(
            id=uuid.uuid4().hex,
            owner=owner,
            key=run_key(plan, fingerprint),
            kind=plan.kind,
            plan=to_json(plan),
            fingerprint=fingerprint,
            dataset_name=dataset_name,
            n_trials=n_trials,
        )
        with self._store.session() as session:
            self._store.check_room(session, owner)
            session.add(row)
            commit_or_ignore_twin(session)
        with self._store.session() as session:
            made = session.scalar(_by_key(owner, run_key(plan, fingerprint)))
            if made is None:
                raise WorkspaceError("This run was deleted while it was being made. Start it again.")
            return as_run(session, made)

    def _run_of(self, owner: str, plan: Plan, facts: Facts, *, older: bool) -> Run | None:
        """The run of this plan on this data set by today's method, or None where the owner has none.

        Also one whose plan says what this one leaves to a default, or leaves what this one says; of several, one that
        is done. Where there is none, the newest that an older method computed (`older`).
        """
        with self._store.session() as session:
            row = _found(session, owner, plan, facts, older=older)
            return None if row is None else as_run(session, row)

    def run(self, owner: str, run_id: str) -> Run:
        """A run as it stands now."""
        with self._store.session() as session:
            return as_run(session, require_run(session, owner, run_id))

    def runs(self, owner: str, fingerprint: str | None = None) -> list[Run]:
        """The owner's runs (of one data set, where it is named), the newest first."""
        query = select(RunRow).where(RunRow.owner == owner).order_by(RunRow.created.desc())
        if fingerprint is not None:
            query = query.where(RunRow.fingerprint == fingerprint)
        with self._store.session() as session:
            return [as_run(session, row) for row in session.scalars(query)]

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of every finished trial so far, in the order of the trials.

        Raises DamagedTrials where those of one are no longer what was stored, DamagedRun where its plan is not.
        """
        with self._store.session() as session:
            _, stored = _require_whole(session, owner, run_id)
        return frames.from_bytes([trial.content for trial in stored])

    def rows_by_trial(self, owner: str, run_id: str) -> dict[int, pd.DataFrame]:
        """The rows of each trial that did not fail, by its number from 0. Raises DamagedTrials as `rows` does."""
        with self._store.session() as session:
            _, stored = _require_whole(session, owner, run_id)
        return {trial.trial: frames.from_bytes([trial.content]) for trial in stored if trial.error is None}

    def trial_seals(self, owner: str, run_id: str) -> dict[int, str]:
        """The hash of each finished trial, by its number from 0, as it is noted."""
        with self._store.session() as session:
            require_run(session, owner, run_id)
            return {trial.trial: trial.sha256 for trial in _stored(session, run_id)}

    def seal(self, owner: str, run_id: str) -> str:
        """The hash that stands for a run as it is stored: its plan, its data, and each finished trial.

        Raises DamagedRun or DamagedTrials where one of these is no longer what was stored.
        """
        with self._store.session() as session:
            run, stored = _require_whole(session, owner, run_id)
            return frames.run_seal(run.key, [trial.sha256 for trial in stored])

    def forget_damaged(self, owner: str, run_id: str) -> tuple[int, ...]:
        """Forget the damaged trials of a run, by number from 0, so that whoever resumes it computes them again.

        Raises WorkspaceError, and forgets nothing, where somebody works on the run, or an older method computed it.
        """
        with self._store.session() as session:
            row = require_run(session, owner, run_id)
            damaged = _damaged(row, _stored(session, run_id))
            if not damaged:
                return ()
            if state_of(row) == "running":
                raise WorkspaceError("This run is being worked on. Wait until it is done, or cancel it first.")
            if as_run(session, row).older_method:
                raise DamagedTrials(run_id, damaged, row.n_trials, mendable=False)
            for trial in damaged:
                session.execute(delete(TrialRow).where(TrialRow.run_id == run_id, TrialRow.trial == trial))
            row.state = "interrupted"
            session.commit()
        return damaged

    def cancel(self, owner: str, run_id: str) -> None:
        """Ask a run to stop. Finished trials stay; resuming goes on from there."""
        self._store.free(lambda session: _cancel(session, owner, run_id))

    def name_run(self, owner: str, run_id: str, name: str) -> None:
        """Call a run so; by no name where that is empty. Raises WorkspaceError for a name that is too long."""
        name = " ".join(name.split())
        if len(name) > LONGEST_NAME:
            raise WorkspaceError(f"A run's name has at most {LONGEST_NAME} letters, not {len(name)}. Shorten it.")
        with self._store.session() as session:
            require_run(session, owner, run_id)
            session.execute(delete(RunNameRow).where(RunNameRow.run_id == run_id))
            if name:
                session.add(RunNameRow(run_id=run_id, name=name))
            commit_or_ignore_twin(session)

    def delete_run(self, owner: str, run_id: str) -> None:
        """Forget a run, its rows and the links to it. A process that works on it stops by itself."""
        self._store.free(lambda session: _delete(session, owner, run_id))


def _cancel(session: Session, owner: str, run_id: str) -> None:
    row = require_run(session, owner, run_id)
    if state_of(row) == "running":
        row.cancel_requested = True
    elif row.state != "done":
        row.state = "cancelled"
    session.commit()


def _delete(session: Session, owner: str, run_id: str) -> None:
    row = require_run(session, owner, run_id)
    for kind in (TrialRow, StepsRow, RunNameRow, LinkRow):
        session.execute(delete(kind).where(kind.run_id == run_id))
    session.delete(row)
    session.flush()
    forget_views(session, owner, RunRow.__tablename__, run_id)
    session.commit()


def _stored(session: Session, run_id: str) -> list[frames.StoredTrial]:
    columns = (TrialRow.trial, TrialRow.status, TrialRow.error, TrialRow.content, TrialRow.sha256)
    query = select(*columns).where(TrialRow.run_id == run_id).order_by(TrialRow.trial)
    return [frames.StoredTrial(*row) for row in session.execute(query)]


def _require_whole(session: Session, owner: str, run_id: str) -> tuple[RunRow, list[frames.StoredTrial]]:
    """A run and its trials; DamagedRun or DamagedTrials where one of these is no longer what was stored."""
    run, stored = require_run(session, owner, run_id), _stored(session, run_id)
    if not is_whole(run) or any(row.whole and row.trial >= run.n_trials for row in stored):
        raise DamagedRun
    damaged = _damaged(run, stored)
    if damaged:
        raise DamagedTrials(run_id, damaged, run.n_trials, mendable=not as_run(session, run).older_method)
    return run, stored


def _damaged(run: RunRow, stored: Sequence[frames.StoredTrial]) -> tuple[int, ...]:
    """The trials that are not what was stored, and of a run that is done those that are gone."""
    whole = {row.trial for row in stored if row.whole}
    expected = range(run.n_trials) if run.state == "done" else ()
    return tuple(sorted({row.trial for row in stored}.union(expected) - whole))


def _by_key(owner: str, key: str) -> Select[tuple[RunRow]]:
    return select(RunRow).where(RunRow.owner == owner, RunRow.key == key)


def _found(session: Session, owner: str, plan: Plan, facts: Facts, *, older: bool) -> RunRow | None:
    """The run of this plan by today's method, under whichever spelling of its defaults, or else an `older` one."""
    key = run_key(plan, facts.fingerprint)
    own = session.scalar(_by_key(owner, key))
    if own is not None and own.state == "done":
        return own
    query = select(RunRow).where(RunRow.owner == owner, RunRow.fingerprint == facts.fingerprint)
    rows = session.scalars(query.where(RunRow.kind == plan.kind).order_by(RunRow.created.desc()))
    same = [row for row in rows if is_of(row.plan, plan, facts)]  # by whatever method, the newest first
    of_today = [row for row in same if row.key == run_key(load_plan(row.plan), row.fingerprint)]
    if not of_today and older:
        return next(iter(same), None)
    return max(of_today, key=lambda row: (row.state == "done", row.key == key), default=None)


def is_of(stored: str, plan: Plan, facts: Facts) -> bool:
    """Whether a stored plan, as JSON, is this plan, or says the same: what this one leaves to a default, say."""
    own = to_json(plan)
    if stored == own:
        return True
    try:
        then, now = json.loads(stored), json.loads(own)  # after the texts, whose comparison is quicker
        if any(then.get(name) != now.get(name) for name in (then.keys() | now.keys()) - spelled(type(plan))):
            return False
        return same_work(load_plan(stored), plan, facts)
    except ValueError:  # a plan that this version does not know, or a damaged one
        return False


# What does the process that works on a run write down? That it has the run, how far it is, and the rows of each trial.
#
# Who works on a run holds its lease, which has to be renewed; a lease that has run out means that the process is gone,
# and anyone may take the run over.


LEASE_SECONDS = 15.0
"""How long a process that says nothing is believed to work on its run still."""


class Work(Kept):
    """The runs of a workspace, for whoever works on them."""

    def acquire(self, owner: str, run_id: str, lease_owner: str) -> bool:
        """Take a run to work on it; False where a living process has it, or nothing is left to do."""
        with self._store.session() as session:
            row = require_run(session, owner, run_id)
            if row.state == "running" and is_held(row) and row.lease_owner != lease_owner:
                return False
            n_done = counts_of(session, run_id)[0]
            as_seen = (RunRow.lease_owner.is_not_distinct_from(row.lease_owner), RunRow.lease_until == row.lease_until)
            taken = session.execute(
                update(RunRow)
                .where(RunRow.id == run_id, RunRow.state == row.state, RunRow.state != "done", *as_seen)
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
            if taken.rowcount == 1:
                session.execute(delete(TempoRow).where(TempoRow.run_id == run_id))
            session.commit()
            session.refresh(row)
        return taken.rowcount == 1

    def renew(self, owner: str, run_id: str, lease_owner: str) -> str:
        """Keep the lease: "go on", "cancel" where that was asked for, or "lost" where the run is gone or taken over."""
        with self._store.session() as session:
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

        def give_back(session: Session) -> None:
            released = session.execute(
                update(RunRow)
                .where(RunRow.owner == owner, RunRow.id == run_id, RunRow.lease_owner == lease_owner)
                .values(state=state, lease_owner=None, lease_until=0.0, finished=now(), error=error)
            )
            if released.rowcount:
                session.execute(delete(StepsRow).where(StepsRow.run_id == run_id))
            if released.rowcount and state == "done":
                _seal(session, run_id)
            session.commit()

        self._store.free(give_back)

    def record_provenance(self, owner: str, run_id: str, provenance: dict) -> None:
        """Note the versions and the place that a run's newest trials came from."""
        ours = update(RunRow).where(RunRow.owner == owner, RunRow.id == run_id)
        with self._store.session() as session:
            session.execute(ours.values(provenance=json.dumps(provenance)))
            session.commit()

    def record_steps(self, owner: str, run_id: str, lease_owner: str, steps: Mapping[int, Steps]) -> None:
        """Note how far the trials are that are running now, in place of what was noted; nothing for a lost lease."""
        with self._store.session() as session:
            ours = select(RunRow.id).where(RunRow.owner == owner, RunRow.id == run_id)
            if session.scalar(ours.where(RunRow.lease_owner == lease_owner)) is None:
                return
            session.execute(delete(StepsRow).where(StepsRow.run_id == run_id))
            session.add_all(
                StepsRow(run_id=run_id, trial=trial, n_done=far.n_done, n_steps=far.n_steps, what=far.what)
                for trial, far in steps.items()
            )
            commit_or_ignore_twin(session)

    def begin_trials(self, owner: str, run_id: str, lease_owner: str) -> None:
        """Note that a run need not wait any longer: the pace of its trials is counted from now."""
        self.record_steps(owner, run_id, lease_owner, {})
        with self._store.session() as session:
            begun = update(RunRow).where(RunRow.owner == owner, RunRow.id == run_id)
            session.execute(begun.where(RunRow.lease_owner == lease_owner).values(started=now()))
            session.commit()

    def count_from(self, owner: str, run_id: str, lease_owner: str, since: float, n_done: float) -> None:
        """Note since when the pace of a run is counted, and what was done then; nothing for a lost lease."""
        with self._store.session() as session:
            ours = select(RunRow.id).where(RunRow.owner == owner, RunRow.id == run_id)
            if session.scalar(ours.where(RunRow.lease_owner == lease_owner)) is None:
                return
            session.merge(TempoRow(run_id=run_id, since=since, n_done=n_done))
            commit_or_ignore_twin(session)

    def missing_trials(self, owner: str, run_id: str) -> list[int]:
        """The trials of a run that have no rows yet."""
        with self._store.session() as session:
            n_trials = require_run(session, owner, run_id).n_trials
            done = set(session.scalars(select(TrialRow.trial).where(TrialRow.run_id == run_id)))
        return [trial for trial in range(n_trials) if trial not in done]

    def store_trials(self, owner: str, run_id: str, contents: Mapping[int, bytes], *, error: str | None = None) -> None:
        """Keep the rows of trials at once; a trial that is there already, or whose run is gone, is left alone."""
        status = "ok" if error is None else "failed"
        with self._store.session() as session:
            if find_run_row(session, owner, run_id) is None:
                return
            of_run = select(TrialRow.trial).where(TrialRow.run_id == run_id)
            there = set(session.scalars(of_run.where(TrialRow.trial.in_(contents))))
            same = {"run_id": run_id, "status": status, "error": error}
            rows = [
                {**same, "trial": trial, "content": content, "sha256": frames.trial_seal(trial, status, error, content)}
                for trial, content in contents.items()
                if trial not in there
            ]
            kept = not rows or _insert(session, rows)
        if not kept and len(rows) > 1:  # somebody else stored one of them at this very moment
            for row in rows:
                self.store_trials(owner, run_id, {row["trial"]: row["content"]}, error=error)


def _insert(session: Session, rows: list[dict]) -> bool:
    """Store rows of trials; where somebody else stored one of them meanwhile, none is, and the answer is no."""
    try:
        session.execute(insert(TrialRow), rows)
        session.commit()
    except IntegrityError:
        session.rollback()
        return False
    return True


def _seal(session: Session, run_id: str) -> None:
    """Note the seal of a run that is done beside what else its results rest on."""
    row = session.get_one(RunRow, run_id)
    trials = session.scalars(select(TrialRow.sha256).where(TrialRow.run_id == run_id).order_by(TrialRow.trial))
    row.provenance = json.dumps(json.loads(row.provenance) | {"seal": frames.run_seal(row.key, trials)})


# How long will a plan take? As long as a trial took in runs like it, times its trials; no run like it, no answer.


def expected_seconds(plan: Plan, dataset: Dataset, runs: Sequence[Run], *, n_trials: int) -> float | None:
    """Seconds that a plan of so many trials will take: the median pace of the `runs` of this data set that are like it.

    None where no run is. What `alike` compares are plans; failed trials and other work of the machine count as they
    come, so this is a guide and no promise.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.trials import TrialPlan
    >>> expected_seconds(TrialPlan(), load_example("wine"), [], n_trials=120) is None
    True
    """
    of_kind = [run for run in runs if run.kind == plan.kind and run.fingerprint == dataset.fingerprint]
    paces = [run.pace for run in of_kind if run.pace is not None and alike(run, plan, dataset)]
    return n_trials * median(paces) if paces else None


def alike(run: Run, plan: Plan, dataset: Dataset) -> bool:
    """Whether a trial of a run is as much work as one of a plan: they differ in seeds and in how often it is done."""
    try:
        then = load_plan(run.plan)
        differing = [field.name for field in fields(plan) if getattr(plan, field.name) != getattr(then, field.name)]
        return all(name == "seed" or _counts_trials(then, plan, name, dataset) for name in differing)
    except DataError:  # a plan that this version does not know, or two that do not go together
        return False


def _counts_trials(then: Plan, plan: Plan, name: str, dataset: Dataset) -> bool:
    """Whether a field in which two plans differ says how many trials there are, and nothing else."""
    if name not in MOST:
        return False
    return replace(then, **{name: getattr(plan, name)}).n_trials(dataset) != then.n_trials(dataset)
