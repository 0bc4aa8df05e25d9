"""Who works on a run, and what does it rest on? Its lease, and the sources that other runs found."""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import pandas as pd
from sqlalchemy import exc

from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.data import DataError, Dataset
from touchstone.core.trials import Plan, SourcesPlan, found_in, from_json, needed_by, notes_in, to_json
from touchstone.core.trials.plan import Aside
from touchstone.core.trials.sources_plan import Found
from touchstone.core.workspace import frames
from touchstone.core.workspace.errors import DatabaseBusy, WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.records import Run, Steps
from touchstone.core.workspace.runs import WAITING
from touchstone.core.workspace.workspace import Workspace

# Who works on a run, and writes down how it goes? Whoever holds its lease, which has to be renewed meanwhile.


RENEWAL_SECONDS = 0.5
"""How often a run's lease is renewed, and so how soon a cancel is heard."""

_log = logging.getLogger(__name__)


class Lease:
    """Keeps a run's lease while work goes on, however long a single step of it takes.

    `owner` is whose run it is, `holder` the name under which this process works on it. `answer` is what the workspace
    said last: "go on", "cancel" or "lost".
    """

    def __init__(self, workspace: Workspace, owner: str, run_id: str, holder: str):
        self.workspace, self.owner, self.run_id, self.holder = workspace, owner, run_id, holder
        self.answer = "go on"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease {run_id[:8]}", daemon=True)

    def __enter__(self) -> "Lease":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._ended.wait(RENEWAL_SECONDS):
            try:
                self.answer = self.workspace.renew(self.owner, self.run_id, self.holder)
            except (exc.SQLAlchemyError, WorkspaceError) as problem:
                # A database that is locked, full or away is asked again; the lease lasts for many renewals.
                _log.warning("run %s: the lease could not be renewed, trying again: %s", self.run_id, problem)

    def run(self) -> Run:
        """The run as it stands now."""
        return self.workspace.run(self.owner, self.run_id)

    def begin_trials(self) -> None:
        """Note that the run need not wait any longer."""
        self.workspace.begin_trials(self.owner, self.run_id, self.holder)

    def count_from(self, since: float, n_done: float) -> None:
        """Note since when the pace of the run is counted, and how many trials were done then."""
        self.workspace.count_from(self.owner, self.run_id, self.holder, since, n_done)

    def record_steps(self, steps: Mapping[int, Steps]) -> None:
        """Note how far the trials are that are running now."""
        self.workspace.record_steps(self.owner, self.run_id, self.holder, steps)

    def record_provenance(self, provenance: dict) -> None:
        """Note what the run's newest trials rest on."""
        self.workspace.record_provenance(self.owner, self.run_id, provenance)

    def store_trials(self, contents: Mapping[int, bytes], *, error: str | None = None) -> None:
        """Keep the rows of trials."""
        self.workspace.store_trials(self.owner, self.run_id, contents, error=error)

    def keep_model(self, stored: bytes, about: Mapping[str, Any]) -> None:
        """Keep a model that a trial made."""
        self.workspace.keep_model(self.owner, stored, **about)


# What does a run rest on? The sources that other runs found.


NeededRows = dict[str, bytes]
"""The rows of plans, as bytes, by the JSON of each."""


ABOUT_SOURCES = ("sources", "source_notes")
"""What `about` puts into the provenance of a run."""


@runtime_checkable
class Shelf(Protocol):
    """Where runs and their rows are: a workspace, or as much of it as a link shows."""

    def find_run(self, owner: str, plan: Plan, fingerprint: str) -> Run | None:
        """The run of a plan, None where there is none."""

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of a run."""


def found_sources(workspace: Shelf, owner: str, plan: Plan, dataset: Dataset) -> Found:
    """The sources that a plan draws from, out of the runs that found them.

    Raises DataError where such a run is not there or has not found all of them.
    """
    found: dict = {}
    for needed, rows in found_rows(workspace, owner, plan, dataset).items():
        found |= found_in(needed, rows)
    return found


def found_rows(workspace: Shelf, owner: str, plan: Plan, dataset: Dataset) -> dict[SourcesPlan, pd.DataFrame]:
    """The rows of the runs that found the sources that a plan draws from; DataError as above."""
    rows = {}
    for needed in needed_by(plan, dataset):
        run = workspace.find_run(owner, needed, dataset.fingerprint)
        if run is None or run.state != "done" or run.n_failed or not isinstance(needed, SourcesPlan):
            raise DataError(f"{title(needed)}: the sources are not stored here. A run has to find them first.")
        rows[needed] = workspace.rows(owner, run.id)
    return rows


def marks(rows: Mapping[SourcesPlan, pd.DataFrame]) -> dict[str, str]:
    """What tells sources from others that the same plan found elsewhere: a hash of them, by the plan's JSON."""
    return {
        to_json(plan): hashlib.sha256(
            b"".join(sources.tobytes() for _, sources in sorted(found_in(plan, of).items(), key=lambda one: one[0][1]))
        ).hexdigest()
        for plan, of in rows.items()
    }


def about(rows: Mapping[SourcesPlan, pd.DataFrame]) -> dict[str, object]:
    """What the provenance of a run tells of the sources that it draws from: their marks, and what has to be known."""
    notes = [f"{title(plan)}: {note}" for plan, of in rows.items() for note in notes_in(plan, of)]
    return dict(zip(ABOUT_SOURCES, (marks(rows), notes), strict=True))


def found_otherwise(run: Run, rows: Mapping[SourcesPlan, pd.DataFrame]) -> tuple[SourcesPlan, ...]:
    """Those plans whose sources are not the ones that the run's trials were drawn from."""
    drawn_from, now = run.provenance.get("sources", {}), marks(rows)
    return tuple(plan for plan in rows if drawn_from.get(to_json(plan), now[to_json(plan)]) != now[to_json(plan)])


def title(plan: Plan) -> str:
    """What the page calls a plan that others rest on."""
    return SOURCE_FINDERS[plan.finder].title if isinstance(plan, SourcesPlan) else plan.kind


def joined(needed: NeededRows) -> Found:
    """The sources in the rows of all plans that a worker was given."""
    return {
        clustering: sources
        for plan_json, content in needed.items()
        for clustering, sources in _decoded(plan_json, name_of(content), Aside(content)).items()
    }


def name_of(content: bytes) -> str:
    """What rows are called on their way to workers: those of equal bytes travel once."""
    return f"needed-{hashlib.sha256(content).hexdigest()}"


def tables(needed: NeededRows) -> dict[SourcesPlan, pd.DataFrame]:
    """The rows of all plans that a run was given."""
    return {_sources_plan(plan_json): frames.from_bytes([content]) for plan_json, content in needed.items()}


@lru_cache(maxsize=4)
def _decoded(plan_json: str, name: str, content: Aside[bytes]) -> Found:
    return found_in(_sources_plan(plan_json), frames.from_bytes([content.value]))


def _sources_plan(plan_json: str) -> SourcesPlan:
    plan = from_json(plan_json, {SourcesPlan.kind: SourcesPlan})
    if not isinstance(plan, SourcesPlan):
        raise WorkspaceError(f"Plans of kind {plan.kind!r} find no sources.")
    return plan


# What does a run wait for? The runs that its plan rests on: they are worked off first, and what they found goes along.
#
# They are runs like any other, with a key of their own, so that what one plan had found is there for the next. Whoever
# works on them, here or in another process, the run that needs them waits, says how far they are, and stops where they
# fail.


SECONDS_BETWEEN_LOOKS = 0.5


class Waiting:
    """A run, by its lease, while it waits for those that its plan rests on.

    `start` has the engine work on a run (and does nothing where somebody does).
    """

    def __init__(self, lease: Lease, *, start: Callable[[str, str], bool], closing: threading.Event):
        self.lease, self.start, self.closing = lease, start, closing
        self.workspace, self.owner = lease.workspace, lease.owner

    def rows(self, plans: tuple[Plan, ...], fingerprint: str) -> NeededRows | str:
        """The rows of all these plans, worked off where they were not; or the state in which to leave the run.

        Raises WorkspaceError, with a sentence for the page, where one of them cannot be had.
        """
        rows: NeededRows = {}
        for plan in plans:
            run = self.workspace.create_run(self.owner, plan, fingerprint)
            state = self._wait(plan, run.id)
            if state != "done":
                return state
            rows[to_json(plan)] = frames.to_bytes(self.workspace.rows(self.owner, run.id))
        return rows

    def _wait(self, plan: Plan, needed: str) -> str:
        """Wait until a run is done; gives "done", or what becomes of the run that waits."""
        begun = False
        while True:
            try:
                run = self.workspace.run(self.owner, needed)
            except DatabaseBusy:
                raise
            except WorkspaceError:
                raise WorkspaceError(
                    f"{_work(plan)} was deleted, and this run needs it. Resume to compute it again."
                ) from None
            if run.state == "done" and run.n_failed:
                raise WorkspaceError(
                    f"{_work(plan)} failed, and this run needs it: {'; '.join(run.errors)} Delete that run on the page "
                    "Runs to try again, or choose another way to find sources."
                )
            if run.state == "done":
                return "done"
            if self.closing.is_set():
                return "interrupted"
            if self.lease.answer == "cancel":
                self._cancel(plan, run)
                return "cancelled"
            if self.lease.answer != "go on":
                return "interrupted"
            if run.state == "running":
                begun = True
                self.lease.record_steps({WAITING: _steps(plan, run)})
            elif begun and run.state == "cancelled":
                raise WorkspaceError(f"{_work(plan)} was cancelled, and this run needs it. Resume to continue it.")
            elif begun and run.errors and run.state == "interrupted":
                raise WorkspaceError(f"{_work(plan)} stopped: {run.errors[0]}")
            else:
                begun = self.start(self.owner, needed) or begun
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _cancel(self, plan: Plan, needed: Run) -> None:
        """Stop what is waited for, unless another run waits for it, too."""
        others = [run for run in self.workspace.runs(self.owner, needed.fingerprint) if run.id != self.lease.run_id]
        waiting = [run for run in others if run.state == "running" and not run.cancelling]
        if not any(plan in self._needs(run) for run in waiting):
            self.workspace.cancel(self.owner, needed.id)

    def _needs(self, run: Run) -> tuple[Plan, ...]:
        try:
            return needed_by(load_plan(run.plan), self.workspace.dataset(self.owner, run.fingerprint))
        except DataError:  # a kind that this version does not know
            return ()


def _work(plan: Plan) -> str:
    return f"Finding sources by {title(plan)}"


def _steps(plan: Plan, run: Run) -> Steps:
    """How far the run is that is waited for, in the words of the one that waits."""
    if not run.steps:
        return Steps(run.n_done, run.n_trials, f"{_work(plan)}: clustering")
    first = run.steps[0]
    which = f"clustering {run.n_done + 1} of {run.n_trials}, " if run.n_trials > 1 else ""
    return Steps(first.n_done, first.n_steps, f"{_work(plan)}: {which}{first.what}")
