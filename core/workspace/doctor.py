"""Is what is stored whole? Database, files, trials, leases, and what belongs to nothing any more, for all owners."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from touchstone.core.evaluate.wording import plural
from touchstone.core.workspace.errors import DamagedRun, DamagedTrials, WorkspaceError
from touchstone.core.workspace.runs import Runs, require_run, state_of
from touchstone.core.workspace.schema import RunRow, StepsRow, TrialRow
from touchstone.core.workspace.store import NOT_HERE, Blobs, Store

SECONDS_TO_BE_KEPT = 3600.0
"""A file is stored before what it belongs to is noted: one that belongs to nothing is left alone for so long."""
EXCHANGED = "its seal is another than when it was done: trials were exchanged since."


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be, in a sentence.

    `kind` is "database", "file", "run", "trials", "older trials" (which cannot be computed again), "lease", "stray
    rows" or "stray file"; `owner` and `name` say whose it is and which: a run's id, or a file's name.
    """

    kind: str
    says: str
    owner: str = ""
    name: str = ""


def examine(store: Store) -> list[Finding]:
    """All that is not as it should be, of every owner."""
    with store.session() as session:
        found = [*_database(session), *_files(session, store.blobs), *_leases(session), *_stray_rows(session)]
        return [*found, *_trials(store, runs_of_all(store)), *_stray_files(session, store.blobs)]


def runs_of_all(store: Store) -> list[tuple[str, str]]:
    """The owner and id of every run."""
    with store.session() as session:
        return [(row.owner, row.id) for row in session.execute(select(RunRow.owner, RunRow.id))]


def mend(store: Store, finding: Finding) -> bool:
    """Mend what needs nobody's work: leases of the dead, and what belongs to nothing. False for all else."""
    if finding.kind == "stray file":
        store.blobs.delete(finding.name)
    elif finding.kind == "lease":
        with store.session() as session:
            row = require_run(session, finding.owner, finding.name)
            row.state, row.lease_owner, row.lease_until = state_of(row), None, 0.0
            session.commit()
    elif finding.kind == "stray rows":
        with store.session() as session:
            for kind in (TrialRow, StepsRow):
                session.execute(delete(kind).where(kind.run_id.not_in(select(RunRow.id))))
            session.commit()
    return finding.kind in ("stray file", "lease", "stray rows")


def _database(session: Session) -> Iterator[Finding]:
    if session.connection().dialect.name != "sqlite":
        return
    for (said,) in session.connection().exec_driver_sql("PRAGMA integrity_check(20)").all():
        if said != "ok":
            yield Finding("database", f"The database is damaged: {said}. Restore a backup of it.")


def _files(session: Session, blobs: Blobs) -> Iterator[Finding]:
    for kind in NOT_HERE:
        for row in session.execute(select(kind.owner, kind.name, kind.blob)):
            try:
                blobs.get(row.blob)
            except WorkspaceError as problem:
                yield Finding("file", f"{row.name}: {problem}", row.owner, row.blob)


def _leases(session: Session) -> Iterator[Finding]:
    for row in session.scalars(select(RunRow).where(RunRow.state == "running")):
        if state_of(row) != "running":
            yield Finding("lease", f"Run {row.id}: the process that worked on it has ended.", row.owner, row.id)


def _trials(store: Store, runs: list[tuple[str, str]]) -> Iterator[Finding]:
    for owner, run_id in runs:
        try:
            if Runs(store).run(owner, run_id).exchanged(Runs(store).seal(owner, run_id)):
                yield Finding("run", f"Run {run_id}: {EXCHANGED} Delete the run and start it again.", owner, run_id)
        except DamagedRun as problem:
            yield Finding("run", f"Run {run_id}: {problem}", owner, run_id)
        except DamagedTrials as problem:
            kind = "trials" if problem.mendable else "older trials"
            yield Finding(kind, f"Run {run_id}: {problem}", owner, run_id)


def _stray_rows(session: Session) -> Iterator[Finding]:
    for kind in (TrialRow, StepsRow):
        n_rows = len(session.execute(select(kind.trial).where(kind.run_id.not_in(select(RunRow.id)))).all())
        if n_rows:
            yield Finding("stray rows", f"Of no run, in {kind.__tablename__}: {plural(n_rows, 'row')}.")


def _stray_files(session: Session, blobs: Blobs) -> Iterator[Finding]:
    known = {name for kind in NOT_HERE for name in session.scalars(select(kind.blob))}
    for name, seconds in blobs.stored():
        if name not in known and time.time() - seconds > SECONDS_TO_BE_KEPT:
            yield Finding("stray file", f"The stored file {name[:12]} belongs to nothing.", name=name)
