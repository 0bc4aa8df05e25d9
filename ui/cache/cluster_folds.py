"""What do folds tell, from runs and from files?"""

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np
import streamlit as st

from core.data import DataError
from core.data.identity import key
from core.evaluate.cluster_folds import FoldPerformance, Metric, rows_of_run
from core.evaluate.data_sets import WordCounts
from core.represent.duplicates import NearDuplicates
from core.split.describe_folds import FoldDescription
from core.trials import FoldPlan
from core.workspace.plans import load_plan
from core.workspace.run import Run
from ui.cache.common import owned_dataset, task
from ui.cluster_folds import work as cluster_folds_work
from ui.cluster_folds.work import Cut, Folded, Related
from ui.shell.background import Answer, Task
from ui.shell.session import owner, workspace


def fold_run(run: Run) -> Folded:
    """The predictions on folds of a run, as far as it has come."""
    return _fold_run(owner(), run.id, run.n_done, run.plan, run.fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _fold_run(owner_name: str, run_id: str, n_done: int, plan_json: str, fingerprint: str) -> Folded:
    plan, data = load_plan(plan_json), owned_dataset(owner_name, fingerprint)
    if not isinstance(plan, FoldPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} has no folds")
    rows = rows_of_run(workspace().rows(owner_name, run_id), data)
    return Folded(key("folds of a run", run_id, n_done), rows, plan, data)


def fold_uploads(addresses: Mapping[str, str], fingerprint: str | None) -> Folded:
    """Stored predictions with their folds, and the data set of this fingerprint where it has the same samples."""
    return _fold_uploads(owner(), tuple(addresses.values()), fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _fold_uploads(owner_name: str, addresses: tuple[str, ...], fingerprint: str | None) -> Folded:
    data = None if fingerprint is None else owned_dataset(owner_name, fingerprint)
    uploads = {address: workspace().predictions(owner_name, address) for address in addresses}
    return cluster_folds_work.from_uploads(uploads, data, FoldPlan(), key("folds of files", *addresses, fingerprint))


def fold_performance(folded: Folded, metric: Metric) -> FoldPerformance:
    """The scores of every fold, run and scheme."""
    return _fold_performance(owner(), key("scores", folded.name, metric), folded, metric)


@st.cache_resource(max_entries=16, show_spinner=False)
def _fold_performance(owner_name: str, name: str, _folded: Folded, _metric: Metric) -> FoldPerformance:
    return cluster_folds_work.performance(_folded, _metric)


def fold_features(folded: Folded) -> Task[np.ndarray] | None:
    """The features that folds are made in; None where the samples are not here."""
    data = folded.dataset
    if data is None:
        return None
    name = key("fold features", data.fingerprint, folded.plan.representation, folded.plan.n_components)
    return task(owner(), name, lambda step: folded.plan.features(data))


def fold_relations(folded: Folded, scores: FoldPerformance) -> Task[Related]:
    """What goes with scores; its features were asked for before, so that no thread waits for itself."""
    of, name = fold_features(folded), key("relations", folded.name, scores.metric)
    return task(owner(), name, lambda step: cluster_folds_work.related(folded, scores, _or_none(of)))


def fold_description(folded: Folded, cut: Cut) -> Task[FoldDescription]:
    """What a scheme did to the data."""
    of, near, name = fold_features(folded), _near_duplicates(folded), key("description", folded.name, *cut)

    def work(step: Callable[[], None]) -> FoldDescription:
        return cluster_folds_work.description(folded, cut, _or_none(of), _or_none(near))

    return task(owner(), name, work)


def _or_none(task: Task[Answer] | None) -> Answer | None:
    """What a task comes to; None where there are no such features, of which the map says why."""
    with suppress(DataError):
        return None if task is None else task.future.result()


def _near_duplicates(folded: Folded) -> Task[NearDuplicates] | None:
    data, plan = folded.dataset, folded.plan
    if data is None:
        return None
    name = key("near duplicates", data.fingerprint, plan.representation)
    return task(owner(), name, lambda step: cluster_folds_work.near_duplicates(data, plan))


def fold_words(folded: Folded, cut: Cut) -> Task[WordCounts]:
    """The words of the texts of every fold."""
    return task(owner(), key("fold words", folded.name, *cut), lambda step: cluster_folds_work.words(folded, cut))
