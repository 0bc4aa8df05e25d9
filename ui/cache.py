"""What need not be read or computed twice? Every cache of the app is here, named by strings and counts.

Streamlit hashes large arrays by a sample and forgets the class of a nested dataclass, so no array and no dataclass is
ever an argument: fingerprints and run ids name the big object, which the function fetches for itself.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.cluster import Silhouettes
from core.data import DataError, Dataset, PredictionTable
from core.data.identity import key
from core.data.prediction_files import read_prediction_table
from core.data.prediction_pairs import PredictionPairs, choices_of, pair_predictions
from core.data.prediction_upload import GivenFile, PredictionUpload
from core.data.tables import Table
from core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from core.evaluate.calibration import ClassCalibration
from core.evaluate.cluster_folds import FoldPerformance, Metric, rows_of_run
from core.evaluate.data_sets import NearCopies, NumberByClass, WordCounts
from core.evaluate.matched_subsets import MatchedSubsets, ModelComparisons, SetComparison, worked_example
from core.evaluate.matched_subsets.samples import samples_table
from core.evaluate.source_robustness import (
    AccuracyIntervals,
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
)
from core.represent.duplicates import NearDuplicates
from core.split.describe_folds import FoldDescription
from core.trials import FoldPlan, TrialPlan, to_json, trials_of_predictions
from core.trials import with_labels as join_labels
from core.workspace.runner import load_plan
from core.workspace.workspace import Run
from ui import background, data_work, fold_work, matching_work
from ui.background import Answer, Task
from ui.data_work import DataLook
from ui.fold_work import Cut, Folded, Related
from ui.matching_plan import MatchingPlan, TwoSets
from ui.matching_work import Compared, Reliability
from ui.session import owner, workspace


class SourceRobustness(NamedTuple):
    """All that the finished trials of a run tell."""

    intervals: AccuracyIntervals
    comparisons: tuple[ModelComparison, ...]


class OwnModels(NamedTuple):
    """Models that were trained elsewhere: the fingerprint of their predictions, and the trials that these make."""

    fingerprint: str
    trials: pd.DataFrame


def dataset(fingerprint: str) -> Dataset:
    """A stored data set; one object per process, so that what core keeps by object is computed once, too."""
    return _dataset(owner(), fingerprint)


@st.cache_resource(max_entries=4, show_spinner=False)
def _dataset(owner_name: str, fingerprint: str) -> Dataset:
    return workspace().dataset(owner_name, fingerprint)


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
    return join_labels(_upload, _dataset(owner_name, fingerprint))


def own_trials(own: str, table: PredictionTable, plan: TrialPlan, fingerprint: str) -> Task[pd.DataFrame]:
    """The trials of predictions of this fingerprint on the drawn splits of a stored data set, counted beside the page.

    They are the same whatever models the plan names.
    """
    data, plan = dataset(fingerprint), replace(plan, models=TrialPlan.models)
    name = key("own trials", own, to_json(plan), fingerprint)
    return _task(owner(), name, lambda step: trials_of_predictions(plan, data, table))


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


# Predictions


def columns_of(file: GivenFile) -> Table:
    """The columns of a file of predictions, whatever they mean."""
    return _columns_of(PredictionUpload(GivenFile(file.name, file.content)).fingerprint, file)


@st.cache_resource(max_entries=4, show_spinner=False)
def _columns_of(fingerprint: str, _file: GivenFile) -> Table:
    return read_prediction_table(_file.open())


def uploaded(upload: PredictionUpload) -> PredictionTable:
    """What an upload says that is not stored yet; DataError or RolesNeeded as reading raises them."""
    return _uploaded(upload.fingerprint, upload)


@st.cache_resource(max_entries=8, show_spinner=False)
def _uploaded(fingerprint: str, _upload: PredictionUpload) -> PredictionTable:
    return _upload.read()


def prediction_table(fingerprint: str) -> PredictionTable:
    """Stored predictions; one object per process and fingerprint."""
    return _prediction_table(owner(), fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _prediction_table(owner_name: str, fingerprint: str) -> PredictionTable:
    return workspace().predictions(owner_name, fingerprint).read()


def prediction_choices(fingerprint: str) -> dict[str, tuple[str, ...]]:
    """The sets, folds, sources and trials of stored predictions, where there are several."""
    return _prediction_choices(owner(), fingerprint)


@st.cache_resource(max_entries=16, show_spinner=False)
def _prediction_choices(owner_name: str, fingerprint: str) -> dict[str, tuple[str, ...]]:
    return choices_of(_prediction_table(owner_name, fingerprint))


def prediction_pairs(sets: TwoSets) -> PredictionPairs:
    """The predictions of every model on the two sets."""
    return _prediction_pairs(owner(), key(sets), sets)


@st.cache_resource(max_entries=8, show_spinner=False)
def _prediction_pairs(owner_name: str, name: str, _sets: TwoSets) -> PredictionPairs:
    reference, target = (_prediction_table(owner_name, each) for each in (_sets.reference, _sets.target))
    parts = {"reference_part": _sets.reference_part, "target_part": _sets.target_part}
    return pair_predictions(reference, target, **parts, task=_sets.task)


def comparisons(sets: TwoSets, plan: MatchingPlan) -> Task[ModelComparisons]:
    """All models compared on the two sets, worked out beside the page."""
    pairs, name, known = prediction_pairs(sets), key("comparisons", sets, plan), _compared(owner())

    def work(step: Callable[[], None]) -> ModelComparisons:
        found = matching_work.comparisons(pairs, plan, step)
        known[name] = Compared(sets, plan, matching_work.headline(found))
        return found

    return _task(owner(), name, work, matching_work.n_steps_of_comparisons(pairs, plan))


def compared() -> list[Compared]:
    """What this server has compared and still knows the verdict of, the newest first."""
    return list(reversed(_compared(owner()).values()))


@st.cache_resource(max_entries=16, show_spinner=False)
def _compared(owner_name: str) -> dict[str, Compared]:
    return {}


def curve(sets: TwoSets, plan: MatchingPlan, model: str) -> Task[tuple[SetComparison, ...]]:
    """One model compared at every epsilon."""
    pairs, n_steps = prediction_pairs(sets), matching_work.n_steps_of_curve(plan)
    name = key("curve", sets, plan.by, plan.method, plan.order, plan.seed, model)
    return _task(owner(), name, lambda step: matching_work.curve(pairs, plan, model, step), n_steps)


def matched_samples(of: SetComparison, sets: TwoSets, plan: MatchingPlan) -> pd.DataFrame:
    """Every sample of both sets and the subset that it is in, as the first of the matchings made them."""
    return _matched_samples(owner(), key("samples", sets, plan, of.model), of.matched, prediction_pairs(sets), of.model)


@st.cache_resource(max_entries=4, show_spinner=False)
def _matched_samples(
    owner_name: str, name: str, _of: MatchedSubsets, _pairs: PredictionPairs, model: str
) -> pd.DataFrame:
    return samples_table(_of, _pairs.references[model], _pairs.targets[model])


def matching_example() -> Task[MatchedSubsets]:
    """A few samples, matched; what matching needs is compiled or loaded on the way, off the page's path."""
    return _task("", "worked example", lambda step: worked_example())


def reliability(of: MatchedSubsets, sets: TwoSets, plan: MatchingPlan, model: str) -> Task[Reliability]:
    """The calibration of the subsets of one model, as the first of its matchings made them."""
    return _task(owner(), key("reliability", sets, plan, model), lambda step: matching_work.reliability(of, plan))


def class_calibration(
    of: MatchedSubsets, sets: TwoSets, plan: MatchingPlan, model: str, subset: str
) -> Task[tuple[ClassCalibration, ...] | None]:
    """The calibration of every class in one of the subsets."""
    pairs = prediction_pairs(sets)
    name = key("class calibration", sets, plan, model, subset)
    n_steps = (pairs.targets if "target" in subset else pairs.references)[model].n_classes
    return _task(owner(), name, lambda step: matching_work.by_class(of, pairs, plan, model, subset, step), n_steps)


@st.cache_resource(max_entries=48, show_spinner=False)
def _task(owner_name: str, name: str, _work: Callable[[Callable[[], None]], object], n_steps: int = 0) -> Task[Any]:
    return background.submit(_work, n_steps=n_steps)


# Average-case robustness


def robustness(run: Run) -> Robustness:
    """All that the finished trials of a run of average-case robustness tell."""
    return _robustness(owner(), run.id, run.n_done, run.fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _robustness(owner_name: str, run_id: str, n_done: int, fingerprint: str) -> Robustness:
    names = _dataset(owner_name, fingerprint).class_names
    return evaluate_robustness(workspace().rows(owner_name, run_id), class_names=names)


# What is in the data


def data_look(fingerprint: str) -> Task[DataLook]:
    """Classes, copies, columns or mean images of a stored data set."""
    data = dataset(fingerprint)
    return _task(owner(), key("data look", fingerprint), lambda step: data_work.look(data))


def number(fingerprint: str, name: str) -> Task[NumberByClass]:
    """One number of every sample of a stored data set, over all and by class."""
    data = dataset(fingerprint)
    return _task(owner(), key("number", fingerprint, name), lambda step: data_work.number(data, name))


def words(fingerprint: str) -> Task[WordCounts]:
    """The words of a stored data set of texts, by class."""
    data = dataset(fingerprint)
    return _task(owner(), key("words", fingerprint), lambda step: data_work.words(data))


def features(fingerprint: str, representation: str) -> Task[np.ndarray]:
    """The features that maps are drawn and near duplicates are found in."""
    data = dataset(fingerprint)
    name = key("features", fingerprint, representation)
    return _task(owner(), name, lambda step: data_work.features(data, representation))


def near_copies(fingerprint: str, representation: str, similarity: float) -> Task[NearCopies]:
    """Pairs of nearly equal samples; what this rests on was asked for before, so that no thread waits for itself."""
    data, look, of = dataset(fingerprint), data_look(fingerprint), features(fingerprint, representation)
    name = key("near copies", fingerprint, representation, similarity)

    def work(step: Callable[[], None]) -> NearCopies:
        copies = look.future.result().copies
        return data_work.near_copies(data, representation, of.future.result, copies, similarity, step)

    return _task(owner(), name, work, data_work.n_steps_of_near_copies(data, representation))


def map_of(run: Run) -> np.ndarray:
    """Where the samples of a data set lie on the map of a run; NaN where it has not come to one."""
    return _map_of(owner(), run.id, run.n_done, dataset(run.fingerprint).n_samples)


@st.cache_resource(max_entries=8, show_spinner=False)
def _map_of(owner_name: str, run_id: str, n_done: int, n_samples: int) -> np.ndarray:
    rows = workspace().rows(owner_name, run_id)
    rows = rows[rows["status"] == "ok"]
    points = np.full((n_samples, 2), np.nan)
    points[rows["row"].to_numpy(dtype=np.int64)] = rows[["x", "y"]].to_numpy(dtype=np.float64)
    return points


def folds_of(run: Run) -> dict[str, np.ndarray]:
    """The fold of every sample (−1 for none) by every scheme and seed of a run of folds, as far as they are made."""
    return _folds_of(owner(), run.id, run.n_done, dataset(run.fingerprint).n_samples)


@st.cache_resource(max_entries=4, show_spinner=False)
def _folds_of(owner_name: str, run_id: str, n_done: int, n_samples: int) -> dict[str, np.ndarray]:
    rows = workspace().rows(owner_name, run_id)
    made = rows[rows["model"].isna() & (rows["status"] == "ok")]
    return {
        data_work.fold_title(str(scheme), int(seed)): data_work.folds(part, n_samples)
        for (scheme, seed), part in made.groupby(["scheme", "seed"], sort=False)
    }


# Folds


def fold_run(run: Run) -> Folded:
    """The predictions on folds of a run, as far as it has come."""
    return _fold_run(owner(), run.id, run.n_done, run.plan, run.fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _fold_run(owner_name: str, run_id: str, n_done: int, plan_json: str, fingerprint: str) -> Folded:
    plan, data = load_plan(plan_json), _dataset(owner_name, fingerprint)
    if not isinstance(plan, FoldPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} has no folds")
    rows = rows_of_run(workspace().rows(owner_name, run_id), data)
    return Folded(key("folds of a run", run_id, n_done), rows, plan, data)


def fold_uploads(addresses: Mapping[str, str], fingerprint: str | None) -> Folded:
    """Stored predictions with their folds, and the data set of this fingerprint where it has the same samples."""
    return _fold_uploads(owner(), tuple(addresses.values()), fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _fold_uploads(owner_name: str, addresses: tuple[str, ...], fingerprint: str | None) -> Folded:
    data = None if fingerprint is None else _dataset(owner_name, fingerprint)
    uploads = {address: workspace().predictions(owner_name, address) for address in addresses}
    return fold_work.from_uploads(uploads, data, FoldPlan(), key("folds of files", *addresses, fingerprint))


def fold_performance(folded: Folded, metric: Metric) -> FoldPerformance:
    """The scores of every fold, run and scheme."""
    return _fold_performance(owner(), key("scores", folded.name, metric), folded, metric)


@st.cache_resource(max_entries=16, show_spinner=False)
def _fold_performance(owner_name: str, name: str, _folded: Folded, _metric: Metric) -> FoldPerformance:
    return fold_work.performance(_folded, _metric)


def fold_features(folded: Folded) -> Task[np.ndarray] | None:
    """The features that folds are made in; None where the samples are not here."""
    data = folded.dataset
    if data is None:
        return None
    name = key("fold features", data.fingerprint, folded.plan.representation, folded.plan.n_components)
    return _task(owner(), name, lambda step: folded.plan.features(data))


def fold_relations(folded: Folded, scores: FoldPerformance) -> Task[Related]:
    """What goes with scores; its features were asked for before, so that no thread waits for itself."""
    of, name = fold_features(folded), key("relations", folded.name, scores.metric)
    return _task(owner(), name, lambda step: fold_work.related(folded, scores, _or_none(of)))


def fold_description(folded: Folded, cut: Cut) -> Task[FoldDescription]:
    """What a scheme did to the data."""
    of, near, name = fold_features(folded), _near_duplicates(folded), key("description", folded.name, *cut)

    def work(step: Callable[[], None]) -> FoldDescription:
        return fold_work.description(folded, cut, _or_none(of), _or_none(near))

    return _task(owner(), name, work)


def _or_none(task: Task[Answer] | None) -> Answer | None:
    """What a task comes to; None where there are no such features, of which the map says why."""
    with suppress(DataError):
        return None if task is None else task.future.result()


def _near_duplicates(folded: Folded) -> Task[NearDuplicates] | None:
    data, plan = folded.dataset, folded.plan
    if data is None:
        return None
    name = key("near duplicates", data.fingerprint, plan.representation)
    return _task(owner(), name, lambda step: fold_work.near_duplicates(data, plan))


def fold_words(folded: Folded, cut: Cut) -> Task[WordCounts]:
    """The words of the texts of every fold."""
    return _task(owner(), key("fold words", folded.name, *cut), lambda step: fold_work.words(folded, cut))
