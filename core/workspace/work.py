"""What does the process that works on a run write down? That it has the run, how far it is, and the rows of each trial.

Who works on a run holds its lease, which has to be renewed; a lease that has run out means that the process is gone,
and anyone may take the run over.
"""

import json
from collections.abc import Mapping

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from touchstone.core.workspace.frames import run_seal, trial_seal
from touchstone.core.workspace.runs import Steps, counts_of, find_run_row, is_held, require_run
from touchstone.core.workspace.schema import RunRow, StepsRow, TrialRow, now
from touchstone.core.workspace.store import Kept, commit_or_ignore_twin

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
                {**same, "trial": trial, "content": content, "sha256": trial_seal(trial, status, error, content)}
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
    row.provenance = json.dumps(json.loads(row.provenance) | {"seal": run_seal(row.key, trials)})
