"""What is known of runs of trials: their evaluation, the sources they drew, and models that were brought along."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.cluster import Silhouettes
from core.data import Dataset, PredictionTable
from core.data.identity import key
from core.data.predictions.upload import PredictionUpload
from core.evaluate.source_robustness import (
    AccuracyIntervals,
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
)
from core.evaluate.source_robustness.agreement import SourceAgreement
from core.evaluate.source_robustness.agreement import agreement as agreement_of
from core.evaluate.source_robustness.mean_images import mean_images
from core.evaluate.source_robustness.true_sources import TrueSources
from core.evaluate.source_robustness.true_sources import true_sources as true_sources_of
from core.trials import (
    Plan,
    SourcesPlan,
    TrialPlan,
    found_in,
    sources_at_hand,
    splits_table,
    to_json,
    trials_of_predictions,
)
from core.trials import with_labels as join_labels
from core.trials.sources_plan import Found
from core.workspace.engine.needed import found_rows
from core.workspace.plans import load_plan
from core.workspace.run import Run
from ui.cache.common import dataset, owned_dataset, task
from ui.shell.background import Task
from ui.shell.session import owner, workspace


class SourceRobustness(NamedTuple):
    """All that the finished trials of a run tell."""

    intervals: AccuracyIntervals
    comparisons: tuple[ModelComparison, ...]


class OwnModels(NamedTuple):
    """Models that were trained elsewhere: the fingerprint of their predictions, and the trials that these make."""

    fingerprint: str
    trials: pd.DataFrame


def source_robustness(run: Run, own: OwnModels | None = None) -> SourceRobustness:
    """The evaluation of a run as far as it has come, with models that were brought along beside its own."""
    return _source_robustness(owner(), run.id, run.n_done, own and own.fingerprint, own)


@st.cache_resource(max_entries=16, show_spinner=False)
def _source_robustness(
    owner_name: str, run_id: str, n_done: int, own: str | None, _own: OwnModels | None
) -> SourceRobustness:
    rows = _trials(owner_name, run_id, n_done, _own)
    return SourceRobustness(expected_accuracy_intervals(rows), compare_models(rows))


def trials(run: Run, own: OwnModels | None = None) -> pd.DataFrame:
    """The rows of a run's trials and, below them, those of models that were brought along."""
    return _trials(owner(), run.id, run.n_done, own)


def _trials(owner_name: str, run_id: str, n_done: int, own: OwnModels | None) -> pd.DataFrame:
    if own is None:
        return workspace().rows(owner_name, run_id)
    return pd.concat([workspace().rows(owner_name, run_id), own.trials], ignore_index=True) if n_done else own.trials


def with_labels(upload: PredictionUpload, fingerprint: str) -> PredictionUpload:
    """Predictions by trial with the labels of a stored data set beside them, where they hold none."""
    return _with_labels(owner(), upload.fingerprint, fingerprint, upload)


@st.cache_resource(max_entries=8, show_spinner=False)
def _with_labels(owner_name: str, own: str, fingerprint: str, _upload: PredictionUpload) -> PredictionUpload:
    return join_labels(_upload, owned_dataset(owner_name, fingerprint))


def own_trials(own: str, table: PredictionTable, plan: TrialPlan, fingerprint: str) -> Task[pd.DataFrame]:
    """The trials of predictions of this fingerprint on the drawn splits of a stored data set, counted beside the page.

    They are the same whatever models the plan names.
    """
    data, plan = dataset(fingerprint), replace(plan, models=TrialPlan.models)
    name = key("own trials", own, to_json(plan), fingerprint)

    def count(_step: Callable[[], None]) -> pd.DataFrame:
        with sources_given(plan, fingerprint):
            return trials_of_predictions(plan, data, table)

    return task(owner(), name, count)


def true_sources(run: Run, own: OwnModels | None = None) -> tuple[TrueSources, ...]:
    """Whether the intervals of found sources hold the accuracy on known ones, as far as a run has come."""
    return _true_sources(owner(), run.id, run.n_done, own and own.fingerprint, own)


@st.cache_resource(max_entries=16, show_spinner=False)
def _true_sources(
    owner_name: str, run_id: str, n_done: int, own: str | None, _own: OwnModels | None
) -> tuple[TrueSources, ...]:
    return true_sources_of(_trials(owner_name, run_id, n_done, _own))


def trained_sources(plan: Plan, fingerprint: str) -> Mapping[SourcesPlan, pd.DataFrame]:
    """The rows of the runs that trained for the sources that a plan draws from; none where no network finds them.

    Raises DataError where there are no such runs, or they are not done.
    """
    return _trained_sources(owner(), to_json(plan), fingerprint)


@st.cache_resource(max_entries=16, show_spinner=False)
def _trained_sources(owner_name: str, plan_json: str, fingerprint: str) -> Mapping[SourcesPlan, pd.DataFrame]:
    plan, data = load_plan(plan_json), owned_dataset(owner_name, fingerprint)
    return found_rows(workspace(), owner_name, plan, data)


@contextmanager
def sources_given(plan: Plan, fingerprint: str) -> Iterator[None]:
    """Draw from sources that are stored, for as long as it lasts: no page ever trains for them. DataError as above."""
    with sources_at_hand(fingerprint, _found(owner(), to_json(plan), fingerprint)):
        yield


@st.cache_resource(max_entries=16, show_spinner=False)
def _found(owner_name: str, plan_json: str, fingerprint: str) -> Found:
    rows = _trained_sources(owner_name, plan_json, fingerprint)
    return {clustering: of for plan, found in rows.items() for clustering, of in found_in(plan, found).items()}


def drawn(
    plan: TrialPlan, dataset: Dataset, make: Callable[[TrialPlan, Dataset], pd.DataFrame] = splits_table
) -> pd.DataFrame:
    """Every drawn split of a plan, row by row, or what else is made of its draws."""
    with sources_given(plan, dataset.fingerprint):
        return make(plan, dataset)


def agreement(run: Run) -> Task[SourceAgreement]:
    """How far the clusterings of a run agree with each other, measured beside the page.

    What the sources are used for makes no difference to them.
    """
    plan = replace(_trial_plan(run.plan), models=TrialPlan.models, schemes=TrialPlan.schemes)
    data = dataset(run.fingerprint)
    name = key("agreement", to_json(plan), run.fingerprint)

    def compare(step: Callable[[], None]) -> SourceAgreement:
        with sources_given(plan, run.fingerprint):
            return agreement_of(plan, data, step=step)

    return task(owner(), name, compare)


def source_of_each(run: Run, source_finder: str, clustering: int) -> np.ndarray:
    """The name of the source of every sample of a run's data set, as one clustering of its plan has it."""
    return _source_of_each(owner(), run.fingerprint, run.plan, source_finder, clustering)


@st.cache_resource(max_entries=32, show_spinner=False)
def _source_of_each(
    owner_name: str, fingerprint: str, plan_json: str, source_finder: str, clustering: int
) -> np.ndarray:
    plan, data = _trial_plan(plan_json), owned_dataset(owner_name, fingerprint)
    with sources_given(plan, fingerprint):
        return plan.source_names(data, source_finder)[plan.sources(data, source_finder, clustering)]


def source_images(run: Run, source_finder: str) -> np.ndarray:
    """The mean image of each source of a run's first clustering: (n_classes, n_sources, height, width, channels)."""
    return _source_images(owner(), run.fingerprint, run.plan, source_finder)


@st.cache_resource(max_entries=16, show_spinner=False)
def _source_images(owner_name: str, fingerprint: str, plan_json: str, source_finder: str) -> np.ndarray:
    plan, data = _trial_plan(plan_json), owned_dataset(owner_name, fingerprint)
    with sources_given(plan, fingerprint):
        sources = plan.sources(data, source_finder, 0)
    return mean_images(data.x, sources, n_classes=data.n_classes, n_sources=plan.n_sources)


def silhouettes(run: Run, source_finder: str) -> Silhouettes:
    """How well the sources of a run's first clustering stand apart."""
    return _silhouettes(owner(), run.fingerprint, run.plan, source_finder)


@st.cache_resource(max_entries=32, show_spinner=False)
def _silhouettes(owner_name: str, fingerprint: str, plan_json: str, source_finder: str) -> Silhouettes:
    plan = _trial_plan(plan_json)
    with sources_given(plan, fingerprint):
        return plan.silhouettes(owned_dataset(owner_name, fingerprint), source_finder, 0)


def _trial_plan(plan_json: str) -> TrialPlan:
    plan = load_plan(plan_json)
    if not isinstance(plan, TrialPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} has no sources")
    return plan
