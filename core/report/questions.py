"""Which question does a run answer, and what does it come to? An entry per kind of plan."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import pandas as pd

from core.data import DataError, Dataset
from core.evaluate.average_case.plan import AverageCasePlan
from core.evaluate.average_case.robustness import evaluate_robustness
from core.evaluate.cluster_folds import Metric, fold_performance, rows_of_run
from core.evaluate.data_set_adequacy.adequacy import adequacy_of
from core.evaluate.data_set_adequacy.plan import AdequacyPlan
from core.evaluate.guided_tests import guided_of_rows
from core.evaluate.guided_tests.plan import GuidedTestsPlan
from core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from core.evaluate.source_robustness.true_sources import true_sources
from core.evaluate.test_quality.shift_plan import CovariateShiftPlan, shift_of_rows
from core.evaluate.wording import plural
from core.report import (
    average_case,
    cluster_folds,
    data_set_adequacy,
    guided_tests,
    source_robustness,
    test_quality,
)
from core.report.parts import Body, Report, Section, Table
from core.report.provenance import provenance
from core.report.recreate import recipe
from core.trials import FoldPlan, MapPlan, SourcesPlan, TrainingPlan, TrialPlan, notes_in
from core.workspace.data import StoredDataset
from core.workspace.plans import load_plan
from core.workspace.run import Run

Rows = pd.DataFrame
NOTHING_YET = "No trial has come to a result yet, so there is nothing to show."


@dataclass(frozen=True)
class Question:
    """What a kind of plan asks, the file stem of its page, and what the rows of its trials come to."""

    title: str
    page: str
    body: Callable[[Rows, Dataset, Any], Body]


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


def _trials(rows: Rows, _data: Dataset, plan: TrialPlan) -> Body:
    several = len(plan.source_finders) > 1
    told = true_sources(rows) if several else ()
    intervals, comparisons = expected_accuracy_intervals(rows), compare_models(rows)
    return source_robustness.body(intervals, comparisons, told=told, epoch=plan.epoch)


def _adequacy(rows: Rows, data: Dataset, _plan: AdequacyPlan) -> Body:
    n_per_class = dict(zip(data.class_names, data.n_per_class.tolist(), strict=True))
    return data_set_adequacy.body(adequacy_of(rows, n_per_class=n_per_class))


def _folds(rows: Rows, data: Dataset, _plan: FoldPlan) -> Body:
    tested = rows_of_run(rows, data)
    return cluster_folds.body(fold_performance(tested, metric=Metric()), tested)


def _average_case(rows: Rows, data: Dataset, _plan: AverageCasePlan) -> Body:
    return average_case.body(evaluate_robustness(rows, class_names=data.class_names))


def _shift(rows: Rows, data: Dataset, plan: CovariateShiftPlan) -> Body:
    return test_quality.body(shift_of_rows(rows, plan, data.class_names))


def _guided(rows: Rows, data: Dataset, _plan: GuidedTestsPlan) -> Body:
    return guided_tests.body(guided_of_rows(rows, class_names=data.class_names))


def _training(rows: Rows, _data: Dataset, _plan: TrainingPlan) -> Body:
    said = "A network was trained and kept. That is no verdict: its epochs, and how it did on the samples kept out."
    columns = {"epoch": "Epoch", "loss": "Loss", "seconds": "Seconds", "accuracy": "Accuracy", "status": "Status"}
    lines = rows[list(columns)].rename(columns=columns)
    return Body(None, (), (Section("", (said, Table("Epochs; the last line is the whole", lines))),))


def _map(rows: Rows, _data: Dataset, _plan: MapPlan) -> Body:
    n = plural(len(rows), "sample")
    said = f"A map with the places of {n} was worked out. That is no verdict, and places are rows of data: they stay."
    return Body(None, (), (Section("", (said,)),))


def _sources(rows: Rows, _data: Dataset, plan: SourcesPlan) -> Body:
    said = "Sources were found by training networks. That is no verdict: other questions draw from them."
    columns = {"clustering": "Clustering", "n_tries": "Tries", "options": "Options", "note": "Note", "status": "Status"}
    lines = rows.loc[rows["row"].isna(), list(columns)].rename(columns=columns)
    return Body(
        None,
        (),
        (
            Section(
                "",
                (said, *notes_in(plan, rows), Table(plan.title, lines.fillna(""))),
            ),
        ),
    )


QUESTIONS: dict[str, Question] = {
    TrialPlan.kind: Question("How far does accuracy fall on unfamiliar sources?", "source_robustness", _trials),
    AdequacyPlan.kind: Question("Would more data help, or new sources?", "data_set_adequacy", _adequacy),
    FoldPlan.kind: Question("How do folds that are made to differ behave?", "cluster_folds", _folds),
    AverageCasePlan.kind: Question("Which samples and classes are fragile under noise?", "average_case", _average_case),
    CovariateShiftPlan.kind: Question("Does the test set cover the feature space?", "test_quality", _shift),
    GuidedTestsPlan.kind: Question("Which tests are missing?", "guided_tests", _guided),
    TrainingPlan.kind: Question("A network that is trained and kept", "average_case", _training),
    SourcesPlan.kind: Question("Which sources does a network find?", "source_robustness", _sources),
    MapPlan.kind: Question("Where do the samples lie? (map)", "data_sets", _map),
}
"""By the plan's kind; every kind of `core.workspace.plans.PLANS` has one."""


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
    if run.kind not in QUESTIONS:
        raise DataError(f"There is no report of a run of kind {run.kind!r}.")
    question, stored = QUESTIONS[run.kind], workspace.stored_dataset(owner, run.fingerprint)
    rows = workspace.rows(owner, run.id) if body is None or with_rows else None
    if body is None:
        body = body_of(rows, workspace.dataset(owner, run.fingerprint), run)
    if notes := tuple(run.provenance.get("source_notes", ())):
        body = replace(body, sections=(Section("", notes), *body.sections))
    return Report(
        question.title,
        stored.name,
        body,
        how_to_read(question.page),
        (*provenance(run), *also.items()),
        recipe(run, stored.example),
        rows if with_rows else None,
    )


def body_of(rows: Rows | None, dataset: Dataset, run: Run) -> Body:
    """What the rows of a run's finished trials come to."""
    if rows is None or rows.empty or run.n_done == run.n_failed:
        return Body(None, (), (Section("", (NOTHING_YET,)),))
    return QUESTIONS[run.kind].body(rows, dataset, load_plan(run.plan))
