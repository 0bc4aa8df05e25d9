"""What is computed, and what was? An owner's runs, each with the rows of its finished trials."""

import uuid

import pandas as pd
from sqlalchemy import delete, select

from core.trials import Plan, to_json
from core.workspace import frames
from core.workspace.errors import WorkspaceError
from core.workspace.run import Run, as_run, require_run, run_key, state_of
from core.workspace.schema import LinkRow, RunRow, StepsRow, TrialRow
from core.workspace.store import Store, commit_or_ignore_twin, forget_views


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
            session.add(row)
            commit_or_ignore_twin(session)
        run = self.run_of_today(owner, plan, fingerprint)
        if run is None:
            raise WorkspaceError("This run was deleted while it was being made. Start it again.")
        return run

    def run_of_today(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of this plan on this data set by today's method, or None where the owner has none."""
        query = select(RunRow).where(RunRow.owner == owner, RunRow.key == run_key(plan, fingerprint))
        with self._store.session() as session:
            row = session.scalar(query)
            return None if row is None else as_run(session, row)

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The same; where there is none, the newest that an older method computed."""
        query = select(RunRow).where(RunRow.owner == owner, RunRow.fingerprint == fingerprint)
        query = query.where(RunRow.kind == plan.kind, RunRow.plan == to_json(plan)).order_by(RunRow.created.desc())
        run = self.run_of_today(owner, plan, fingerprint)
        if run is not None:
            return run
        with self._store.session() as session:
            row = session.scalars(query).first()
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

        Raises WorkspaceError where those of one are no longer what was stored.
        """
        query = select(TrialRow.trial, TrialRow.content, TrialRow.sha256)
        query = query.where(TrialRow.run_id == run_id).order_by(TrialRow.trial)
        with self._store.session() as session:
            n_trials = require_run(session, owner, run_id).n_trials
            stored = session.execute(query).all()
        for row in stored:
            if frames.sha256(row.content) != row.sha256:
                raise WorkspaceError(
                    f"Trial {row.trial + 1} of {n_trials} of this run is damaged on disk, so that nothing is shown of "
                    "the run. Delete the run and start it again; nothing else is lost."
                )
        return frames.from_bytes([row.content for row in stored])

    def cancel(self, owner: str, run_id: str) -> None:
        """Ask a run to stop. Finished trials stay; resuming goes on from there."""
        with self._store.session() as session:
            row = require_run(session, owner, run_id)
            if state_of(row) == "running":
                row.cancel_requested = True
            elif row.state != "done":
                row.state = "cancelled"
            session.commit()

    def delete_run(self, owner: str, run_id: str) -> None:
        """Forget a run, its rows and the links to it. A process that works on it stops by itself."""
        with self._store.session() as session:
            row = require_run(session, owner, run_id)
            for kind in (TrialRow, StepsRow, LinkRow):
                session.execute(delete(kind).where(kind.run_id == run_id))
            session.delete(row)
            session.flush()
            forget_views(session, owner, RunRow.__tablename__, run_id)
            session.commit()
