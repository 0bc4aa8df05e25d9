"""What is known of the quality of test sets, and of what moved between training and test?"""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from core.data import Dataset
from core.data.identity import key
from core.evaluate.covariate_shift import CovariateShift
from core.evaluate.test_quality import Curve, PairMap, TestQuality
from core.evaluate.test_quality.shift_plan import CovariateShiftPlan, shift_of_rows
from core.figures.test_quality import Subject
from core.trials.layer_parts import layer_parts, layers_offered, split_of
from core.workspace.models import StoredModel
from core.workspace.plans import load_plan
from core.workspace.run import Run
from ui.cache.common import owned_dataset, task
from ui.cache.layers import parts_name
from ui.shell import background
from ui.shell.background import Task
from ui.shell.session import owner, workspace
from ui.test_quality import work as test_quality_work
from ui.test_quality.controls import RegionChoice
from ui.test_quality.work import Looked


def test_quality(looked: Looked) -> Task[TestQuality]:
    """The four dimensions of a test set."""
    return _task(owner(), looked.named("test quality"), lambda step: test_quality_work.measured(looked))


def quality_beside(dataset: Dataset, title: str, model: StoredModel, choice: RegionChoice) -> Task[Subject]:
    """Another model's test set, by the same thresholds: in the layer of that name, or else in its usual one."""
    owner_name, shelf = owner(), workspace()

    def work(step: Callable[[], None]) -> Subject:
        stored = shelf.model_bytes(owner_name, model.fingerprint)
        layer = choice.layer if choice.layer in layers_offered(stored, dataset) else None
        parts = layer_parts(stored, dataset, layer=layer, **split_of(model.training_plan))
        looked = Looked(dataset, parts, choice, parts_name(dataset, model, parts.layer))
        return test_quality_work.subject(model.name, title, parts, choice, test_quality_work.measured(looked))

    return task(owner_name, key("quality beside", dataset.fingerprint, model.fingerprint, title, choice), work)


def quality_curves(looked: Looked) -> Task[tuple[Curve, Curve]]:
    """The shares over both thresholds."""
    return _task(owner(), looked.named("quality curves"), lambda step: test_quality_work.curves(looked))


def class_pair(looked: Looked, first: int, second: int) -> Task[PairMap]:
    """Two classes in a plane."""
    return _task(
        owner(), looked.named("pair", first, second), lambda step: test_quality_work.pair(looked, first, second)
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _task(owner_name: str, name: str, _work: Callable[[Callable[[], None]], object]) -> Task[Any]:
    """Few, since each holds the features that it was asked about."""
    return background.submit(_work)


def quality_samples(looked: Looked) -> pd.DataFrame:
    """Where every test sample lies."""
    return _samples(owner(), looked.named("samples"), looked)


@st.cache_resource(max_entries=4, show_spinner=False)
def _samples(owner_name: str, name: str, _looked: Looked) -> pd.DataFrame:
    return test_quality_work.samples(_looked)


def covariate_shift(run: Run) -> CovariateShift:
    """What the finished trials of a run of covariate shift tell."""
    return _covariate_shift(owner(), run.id, run.n_done, run.plan, run.fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _covariate_shift(owner_name: str, run_id: str, n_done: int, plan_json: str, fingerprint: str) -> CovariateShift:
    plan, names = load_plan(plan_json), owned_dataset(owner_name, fingerprint).class_names
    if not isinstance(plan, CovariateShiftPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} says nothing about a shift")
    return shift_of_rows(workspace().rows(owner_name, run_id), plan, names)
