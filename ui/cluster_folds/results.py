"""What do folds tell, from runs and from files?"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.identity import key
from touchstone.core.evaluate.cluster_folds import FoldPerformance, ScoredBy, fold_performance, rows_of_run
from touchstone.core.evaluate.data_sets import WordCounts
from touchstone.core.represent.duplicates import NearDuplicates
from touchstone.core.split.describe_folds import FoldDescription
from touchstone.core.trials import FoldPlan
from touchstone.core.workspace import Run, load_plan
from touchstone.ui import cache
from touchstone.ui.cluster_folds import work
from touchstone.ui.cluster_folds.work import Cut, Folded, Related
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell.background import Answer, Task, Work
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=8)
def of_run(run: Run) -> Folded:
    """The predictions on folds of a run, as far as it has come."""
    plan, data = load_plan(run.plan), dataset_of(run.fingerprint)
    if not isinstance(plan, FoldPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} has no folds")
    rows = rows_of_run(workspace().rows(owner(), run.id), data)
    return Folded(key("folds of a run", run.id, run.n_done), rows, plan, data)


@cache.result(max_entries=8)
def of_files(addresses: tuple[str, ...], fingerprint: str | None) -> Folded:
    """Stored predictions with their folds, and the data set of this fingerprint where it has the same samples."""
    data = None if fingerprint is None else dataset_of(fingerprint)
    uploads = {address: workspace().predictions(owner(), address) for address in addresses}
    return work.from_uploads(uploads, data, FoldPlan(), key("folds of files", *addresses, fingerprint))


@cache.result(max_entries=16)
def performance(folded: Folded, metric: ScoredBy) -> FoldPerformance:
    """The scores of every fold, run and scheme."""
    return fold_performance(folded.rows, metric=metric)


def features(folded: Folded) -> Task[np.ndarray] | None:
    """The features that folds are made in; None where the samples are not here."""
    data, plan = folded.dataset, folded.plan
    return None if data is None else _features(data, plan.representation, plan.n_components)


@cache.task(max_entries=4)
def _features(dataset: Dataset, representation: str | None, n_components: int | None) -> Work[np.ndarray]:
    plan = FoldPlan(representation=representation, n_components=n_components)
    return Work(lambda step: plan.features(dataset))


@cache.task(max_entries=16)
def relations(folded: Folded, metric: ScoredBy) -> Work[Related]:
    """What goes with scores."""
    vectors, scores = features(folded), performance(folded, metric)
    return Work(lambda step: work.related(folded, scores, _or_none(vectors)))


@cache.task(max_entries=16)
def description(folded: Folded, cut: Cut) -> Work[FoldDescription]:
    """What a scheme did to the data."""
    vectors, data = features(folded), folded.dataset
    near = None if data is None else _near_duplicates(data, folded.plan.representation)

    def describe(step: Callable[[], None]) -> FoldDescription:
        return work.description(folded, cut, _or_none(vectors), _or_none(near))

    return Work(describe)


def _or_none(task: Task[Answer] | None) -> Answer | None:
    """What a task comes to; None where there are no such features, of which the map says why."""
    with suppress(DataError):
        return None if task is None else task.future.result()


@cache.task(max_entries=4)
def _near_duplicates(dataset: Dataset, representation: str | None) -> Work[NearDuplicates]:
    plan = FoldPlan(representation=representation)
    return Work(lambda step: work.near_duplicates(dataset, plan))


@cache.task(max_entries=8)
def words(folded: Folded, cut: Cut) -> Work[WordCounts]:
    """The words of the texts of every fold."""
    return Work(lambda step: work.words(folded, cut))
