"""What is computed, and what was? An owner's runs, each with the rows of its finished trials."""

import json
import uuid
from collections.abc import Sequence

import pandas as pd
from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from touchstone.core.trials import Plan, to_json
from touchstone.core.trials.defaults import Facts, left_open, same_work
from touchstone.core.workspace import frames
from touchstone.core.workspace.errors import DamagedRun, DamagedTrials, WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run, as_run, is_whole, require_run, run_key, state_of
from touchstone.core.workspace.schema import LinkRow, RunNameRow, RunRow, StepsRow, TrialRow
from touchstone.core.workspace.seals import StoredTrial, run_seal
from touchstone.core.workspace.store import Store, commit_or_ignore_twin, forget_views

LONGEST_NAME = 80
"""Letters of a run's name."""


class Runs:
    """The runs of a workspace."""

    def __init__(self, store: Store):
        self._store = store

    def create_run(self, owner: str, plan: Plan, fingerprint: str, *, dataset_name: str, n_trials: int) -> Run:
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

    def run_of_today(self, owner: str, plan: Plan, facts: Facts) -> Run | None:
        """The run of this plan on this data set by today's method, or None where the owner has none.

        Also one whose plan says what this one leaves to a default, or leaves what this one says; of several, one that
        is done.
        """
        with self._store.session() as session:
            row = _found(session, owner, plan, facts)
            return None if row is None else as_run(session, row)

    def find_run(self, owner: str, plan: Plan, facts: Facts) -> Run | None:
        """The same; where there is none, the newest that an older method computed."""
        with self._store.session() as session:
            row = _found(session, owner, plan, facts, older=True)
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
            return run_seal(run.key, [trial.sha256 for trial in stored])

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


def _stored(session: Session, run_id: str) -> list[StoredTrial]:
    columns = (TrialRow.trial, TrialRow.status, TrialRow.error, TrialRow.content, TrialRow.sha256)
    query = select(*columns).where(TrialRow.run_id == run_id).order_by(TrialRow.trial)
    return [StoredTrial(*row) for row in session.execute(query)]


def _require_whole(session: Session, owner: str, run_id: str) -> tuple[RunRow, list[StoredTrial]]:
    """A run and its trials; DamagedRun or DamagedTrials where one of these is no longer what was stored."""
    run, stored = require_run(session, owner, run_id), _stored(session, run_id)
    if not is_whole(run) or any(row.whole and row.trial >= run.n_trials for row in stored):
        raise DamagedRun
    damaged = _damaged(run, stored)
    if damaged:
        raise DamagedTrials(run_id, damaged, run.n_trials, mendable=not as_run(session, run).older_method)
    return run, stored


def _damaged(run: RunRow, stored: Sequence[StoredTrial]) -> tuple[int, ...]:
    """The trials that are not what was stored, and of a run that is done those that are gone."""
    whole = {row.trial for row in stored if row.whole}
    expected = range(run.n_trials) if run.state == "done" else ()
    return tuple(sorted({row.trial for row in stored}.union(expected) - whole))


def _by_key(owner: str, key: str) -> Select[tuple[RunRow]]:
    return select(RunRow).where(RunRow.owner == owner, RunRow.key == key)


def _found(session: Session, owner: str, plan: Plan, facts: Facts, *, older: bool = False) -> RunRow | None:
    """The run of this plan by today's method, under whichever spelling of its defaults, or else an `older` one."""
    key = run_key(plan, facts.fingerprint)
    own = session.scalar(_by_key(owner, key))
    if own is not None and own.state == "done":
        return own
    same = _of_the_same_work(session, owner, plan, facts)
    of_today = [row for row in same if row.key == run_key(load_plan(row.plan), row.fingerprint)]
    if not of_today and older:
        return next(iter(same), None)
    return max(of_today, key=lambda row: (row.state == "done", row.key == key), default=None)


def _of_the_same_work(session: Session, owner: str, plan: Plan, facts: Facts) -> list[RunRow]:
    """The runs whose trials are those of this plan, by whatever method; the newest first."""
    query = select(RunRow).where(RunRow.owner == owner, RunRow.fingerprint == facts.fingerprint)
    rows = session.scalars(query.where(RunRow.kind == plan.kind).order_by(RunRow.created.desc()))
    return [row for row in rows if is_of(row.plan, plan, facts)]


def is_of(stored: str, plan: Plan, facts: Facts) -> bool:
    """Whether a stored plan, as JSON, is this plan, or one that only says what this one leaves to a default."""
    own = to_json(plan)
    if stored == own:
        return True
    try:
        then, now = json.loads(stored), json.loads(own)  # after the texts, whose comparison is quicker
        if any(then.get(name) != now.get(name) for name in (then.keys() | now.keys()) - left_open(type(plan))):
            return False
        return same_work(load_plan(stored), plan, facts)
    except ValueError:  # a plan that this version does not know, or a damaged one
        return False
