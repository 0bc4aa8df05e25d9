"""How is everything that is kept copied and put in another place, and is all of it whole? For all owners.

A backup is one file, whole or not at all: a zip of the database, as it was at one moment, and of the blobs that this
database names.
"""

import json
import os
import re
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from touchstone import core
from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import plural
from touchstone.core.trials import Context, sources_at_hand
from touchstone.core.workspace import frames
from touchstone.core.workspace.engine.needed import found_sources
from touchstone.core.workspace.errors import FULL, DamagedRun, DamagedTrials, WorkspaceError, database_error, disk_error
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.records import Run
from touchstone.core.workspace.runs import Runs, require_run, state_of
from touchstone.core.workspace.schema import RunRow, StepsRow, TrialRow
from touchstone.core.workspace.store import NOT_HERE, Blobs, Store
from touchstone.core.workspace.workspace import Workspace

DATABASE, ABOUT = "touchstone.sqlite", "about.json"
N_TRIES = 3
"""How often a backup begins anew, where somebody deletes meanwhile what it is about to copy."""
_BLOB = re.compile(r"blobs/([0-9a-f]{64})")


def back_up(home: Path, file: Path) -> int:
    """Write a backup of a home; the app may go on working beside it. Gives how many blobs it holds.

    Raises DataError where nothing can be written there, WorkspaceError where something stored is missing or damaged.
    """
    if file.exists():
        raise DataError(f"{file}: there is a file of this name already. Name another one.")
    if not (home / DATABASE).is_file():
        raise DataError(f"{home}: there is nothing to back up. Set TOUCHSTONE_HOME to the folder that Touchstone uses.")
    for last in (*[False] * (N_TRIES - 1), True):
        try:
            return _write(home, file)
        except WorkspaceError as problem:
            if last or "is missing" not in str(problem):
                raise
    raise AssertionError


def restore(file: Path, home: Path) -> int:
    """Put a backup in place as a home, which has to be new or empty. Gives how many blobs it holds.

    Raises DataError, and leaves the home as it was, where the file is no backup, or damaged; WorkspaceError where the
    disk is full.
    """
    if (home / DATABASE).exists() or (home / "blobs").exists():
        raise DataError(f"{home}: there are data already. Set TOUCHSTONE_HOME to another folder, new or empty.")
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=home) as folder:
        part = Path(folder)
        try:
            n_blobs = _unpack(file, part)
            os.replace(part / "blobs", home / "blobs")
            os.replace(part / DATABASE, home / DATABASE)
        except (DataError, WorkspaceError):
            raise
        except Exception as problem:  # zipfile lets through whatever a decompressor raises
            if isinstance(problem, OSError) and problem.errno in FULL:
                raise disk_error(problem, "be restored") from problem
            raise DataError(f"{file}: this is no backup of Touchstone, or a damaged one ({problem}).") from problem
    return n_blobs


def _write(home: Path, file: Path) -> int:
    part = file.with_name(f".{file.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.parent) as folder:
            copy = Path(folder) / DATABASE
            names = _copy_database(home / DATABASE, copy)
            with (
                os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "wb+") as stream,
                zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
            ):
                archive.writestr(ABOUT, json.dumps({"touchstone": core.version(), "blobs": len(names)}))
                archive.write(copy, DATABASE, zipfile.ZIP_DEFLATED)
                for name in names:
                    archive.writestr(f"blobs/{name}", Blobs(home / "blobs").get(name))
        os.replace(part, file)
    except OSError as problem:
        raise disk_error(problem, "be backed up") from problem
    finally:
        part.unlink(missing_ok=True)
    return len(names)


def _copy_database(file: Path, copy: Path) -> list[str]:
    """Copy a SQLite database as it is at this moment; gives the names of the blobs that it refers to."""
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            named = " UNION ".join(f"SELECT blob FROM {kind.__tablename__}" for kind in NOT_HERE)
            return sorted(name for (name,) in target.execute(named))
    except sqlite3.Error as problem:
        raise database_error(str(problem)) or WorkspaceError(f"The database could not be copied: {problem}.") from None


def _unpack(file: Path, folder: Path) -> int:
    with zipfile.ZipFile(file) as archive:
        expected = json.loads(archive.read(ABOUT))["blobs"]
        with archive.open(DATABASE) as stored, open(folder / DATABASE, "xb") as database:
            shutil.copyfileobj(stored, database)
        (folder / DATABASE).chmod(0o600)
        blobs = Blobs(folder / "blobs")
        names = [match[1] for match in map(_BLOB.fullmatch, archive.namelist()) if match]
        for name in names:
            if blobs.put(archive.read(f"blobs/{name}")) != name:
                raise DataError(f"{file}: the stored file {name[:12]} in it is damaged. Use another backup.")
    if len(names) != expected:
        raise DataError(f"{file}: {expected} files should be in it, and {len(names)} are. Use another backup.")
    return expected


# Is what is stored whole? Database, files, trials, leases, and what belongs to nothing any more, for all owners.


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


# Do stored trials come out again? Some are computed anew, from their seeds, and held against what is stored.


TOLERANCE = 1e-6
"""How far two numbers may lie apart, relative to them: processors and versions round sums differently."""
TIMES = ("seconds",)
"""Columns that tell how long something took, which is another time each time."""


@dataclass(frozen=True)
class Recomputed:
    """A trial that was computed again, by number from 0, and the columns in which it differs from what is stored."""

    trial: int
    differs_in: tuple[str, ...]


def recompute(workspace: Workspace, owner: str, run: Run, trials: Iterable[int]) -> Iterator[Recomputed]:
    """Compute trials of a run again, here in this process, one after another.

    Raises DataError or WorkspaceError where something that they rest on is not there any more.
    """
    plan, dataset = load_plan(run.plan), workspace.dataset(owner, run.fingerprint)
    context = Context(model=lambda fingerprint: workspace.model_bytes(owner, fingerprint))
    stored = workspace.rows_by_trial(owner, run.id)
    found = found_sources(workspace, owner, plan, dataset)
    with sources_at_hand(run.fingerprint, found) if found else nullcontext():
        for trial in trials:
            rows = frames.from_bytes([frames.to_bytes(plan.run_trial(dataset, trial, context=context))])
            yield Recomputed(trial, differing(stored[trial], rows))


def differing(stored: pd.DataFrame, again: pd.DataFrame) -> tuple[str, ...]:
    """The columns in which two tables differ by more than rounding; those of times are not looked at.

    Examples
    --------
    >>> stored = pd.DataFrame({"n": [1, 2], "score": [0.1, np.nan], "seconds": [1.0, 2.0]})
    >>> again = stored.assign(score=[0.1 + 1e-12, np.nan], seconds=9.0)
    >>> differing(stored, again), differing(stored, again.assign(n=[1, 3]))
    ((), ('n',))
    >>> differing(stored, again.head(1))
    ('number of rows',)
    """
    if len(stored) != len(again):
        return ("number of rows",)
    columns = [name for name in dict.fromkeys([*stored, *again]) if name not in TIMES]
    return tuple(
        name for name in columns if not (name in stored and name in again and _alike(stored[name], again[name]))
    )


def _alike(stored: pd.Series, again: pd.Series) -> bool:
    if pd.api.types.is_float_dtype(stored) and pd.api.types.is_numeric_dtype(again):
        as_float = [column.to_numpy(dtype=np.float64, na_value=np.nan) for column in (stored, again)]
        return bool(np.allclose(*as_float, rtol=TOLERANCE, atol=1e-12, equal_nan=True))
    return stored.equals(again)
