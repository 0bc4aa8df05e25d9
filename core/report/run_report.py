"""What does the report of a run say? Its question, what its rows come to, and what it rests on."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import pandas as pd

from touchstone.core.data import EXAMPLES, DataError, Dataset
from touchstone.core.questions import Question, module_of, of_kind
from touchstone.core.report.parts import Body, Report, Section
from touchstone.core.report.provenance import provenance
from touchstone.core.report.recreate import recipe
from touchstone.core.workspace.data import StoredDataset
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run

NOTHING_YET = "No trial has finished yet, so there is no result to show."


@runtime_checkable
class Results(Protocol):
    """What a report asks of a workspace, or of as much of one as a link shows."""

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of a run's finished trials."""
        ...

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of a data set."""
        ...

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """The data set itself."""
        ...


def report_of(
    workspace: Results,
    owner: str,
    run: Run,
    *,
    how_to_read: Callable[[str], str],
    body: Body | None = None,
    also: Mapping[str, str] = MappingProxyType({}),
    with_rows: bool = False,
) -> Report:
    """The report of a run as it stands, or of what a page shows of it (`body`), which rests on what `also` names, too.

    `how_to_read` gives the Markdown of a page by its file stem. Raises WorkspaceError for what the owner does not have,
    and DataError for a plan that this version does not know.
    """
    question, stored = _question(run), workspace.stored_dataset(owner, run.fingerprint)
    rows = workspace.rows(owner, run.id) if body is None or with_rows else None
    if body is None:
        body = body_of(rows, workspace.dataset(owner, run.fingerprint), run)
    if notes := tuple(run.provenance.get("source_notes", ())):
        body = replace(body, sections=(Section("", notes), *body.sections))
    return Report(
        question.title,
        stored.name if stored.example is None else EXAMPLES[stored.example].title,
        body,
        how_to_read(question.page),
        (*provenance(run), *also.items()),
        recipe(run, stored.example),
        rows if with_rows else None,
    )


def body_of(rows: pd.DataFrame | None, dataset: Dataset, run: Run) -> Body:
    """What the rows of a run's finished trials come to."""
    if rows is None or rows.empty or run.n_done == run.n_failed:
        return Body(None, (), (Section("", (NOTHING_YET,)),))
    return module_of(_question(run), "report").body_of_rows(rows, dataset, load_plan(run.plan))


def _question(run: Run) -> Question:
    question = of_kind(run.kind)
    if question is None:
        raise DataError(f"There is no report of a run of kind {run.kind!r}.")
    return question
