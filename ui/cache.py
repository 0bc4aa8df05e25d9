"""What need not be read or computed twice? Every cache of the app is here, named by strings and counts.

Streamlit hashes large arrays by a sample and forgets the class of a nested dataclass, so no array and no dataclass is
ever an argument: fingerprints and run ids name the big object, which the function fetches for itself.
"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core.cluster import Silhouettes
from core.data import Dataset
from core.evaluate.source_robustness import (
    AccuracyIntervals,
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
)
from core.trials import TrialPlan
from core.workspace.runner import load_plan
from core.workspace.workspace import Run
from ui.session import owner, workspace


class SourceRobustness(NamedTuple):
    """All that the finished trials of a run tell."""

    intervals: AccuracyIntervals
    comparisons: tuple[ModelComparison, ...]


def dataset(fingerprint: str) -> Dataset:
    """A stored data set; one object per process, so that what core keeps by object is computed once, too."""
    return _dataset(owner(), fingerprint)


@st.cache_resource(max_entries=4, show_spinner=False)
def _dataset(owner_name: str, fingerprint: str) -> Dataset:
    return workspace().dataset(owner_name, fingerprint)


def source_robustness(run: Run) -> SourceRobustness:
    """The evaluation of a run as far as it has come."""
    return _source_robustness(owner(), run.id, run.n_done)


@st.cache_resource(max_entries=16, show_spinner=False)
def _source_robustness(owner_name: str, run_id: str, n_done: int) -> SourceRobustness:
    trials = workspace().rows(owner_name, run_id)
    return SourceRobustness(expected_accuracy_intervals(trials), compare_models(trials))


def source_of_each(run: Run, source_finder: str, clustering: int) -> np.ndarray:
    """The name of the source of every sample of a run's data set, as one clustering of its plan has it."""
    return _source_of_each(owner(), run.fingerprint, run.plan, source_finder, clustering)


@st.cache_resource(max_entries=32, show_spinner=False)
def _source_of_each(
    owner_name: str, fingerprint: str, plan_json: str, source_finder: str, clustering: int
) -> np.ndarray:
    plan, data = _trial_plan(plan_json), _dataset(owner_name, fingerprint)
    return plan.source_names(data, source_finder)[plan.sources(data, source_finder, clustering)]


def silhouettes(run: Run, source_finder: str) -> Silhouettes:
    """How well the sources of a run's first clustering stand apart."""
    return _silhouettes(owner(), run.fingerprint, run.plan, source_finder)


@st.cache_resource(max_entries=32, show_spinner=False)
def _silhouettes(owner_name: str, fingerprint: str, plan_json: str, source_finder: str) -> Silhouettes:
    return _trial_plan(plan_json).silhouettes(_dataset(owner_name, fingerprint), source_finder, 0)


def _trial_plan(plan_json: str) -> TrialPlan:
    plan = load_plan(plan_json)
    if not isinstance(plan, TrialPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} has no sources")
    return plan
