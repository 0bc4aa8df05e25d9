"""What do folds tell, from runs and from files?"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import duplicate_groups, key
from touchstone.core.data.predictions.upload import PredictionUpload, read_folds, scheme_of
from touchstone.core.evaluate import data_sets
from touchstone.core.evaluate.cluster_folds.performance import characteristics_of, fold_performance
from touchstone.core.evaluate.cluster_folds.performance import relations as relations_of
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, Relation, ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import (
    FoldPredictions,
    LabelShift,
    joined,
    labels_shift,
    rows_of_run,
    rows_of_tables,
)
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.data_sets import WordCounts, count_words
from touchstone.core.represent import default_representation, features_for_splits, number_of, number_title, numbers_of
from touchstone.core.represent.duplicates import NearDuplicates, near_duplicate_pairs, near_duplicate_texts
from touchstone.core.split.describe_folds import FoldDescription, describe_folds
from touchstone.core.trials import FoldPlan
from touchstone.core.workspace import Run, load_plan
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell.background import Answer, Task, Work
from touchstone.ui.shell.session import owner, workspace

# What does the page of folds have worked out? Each is a function of predictions on folds, and kept further down.


SEED = 0
"""Of resampling and of the samples that distances are measured on."""
SIMILARITY = 0.95
MOST_PAIRS = 100_000
"""Of nearly equal samples; copies of the same content are counted apart."""
MOST_NUMBERS = 12
"""Of a table, scores are held against so many columns; more would leave nothing to tell after correction."""


class Cut(NamedTuple):
    """The folds of one scheme and seed."""

    scheme: str
    seed: int


@dataclass(frozen=True, eq=False)
class Folded:
    """Predictions on folds, from a run or from files; `identity` names them in keys.

    `dataset` is what the rows are positions in, where it is known; `coordinates` are those that a file of folds told.
    """

    identity: str
    rows: FoldPredictions
    plan: FoldPlan
    dataset: Dataset | None = None
    coordinates: np.ndarray | None = None

    @property
    def cuts(self) -> dict[Cut, str]:
        """The folds that there are, and what to call them."""
        cuts = [Cut(scheme, seed) for scheme in self.rows.schemes for seed in self.rows.seeds(scheme)]
        several = len({cut.seed for cut in cuts}) > 1
        return {cut: scheme_title(cut.scheme) + f", seed {cut.seed}" * several for cut in cuts}

    def unlike(self, cut: Cut) -> Cut | None:
        """The first folds of another scheme than that of `cut`; None where there is no other."""
        return next((other for other in self.cuts if other.scheme != cut.scheme), None)

    def names(self, cut: Cut) -> tuple[str, ...]:
        """What the folds of a cut are called: numbers from 1, unless their file says otherwise."""
        n_folds = int(self.rows.folds(*cut).max(initial=-1)) + 1
        return self.rows.fold_names.get(cut.scheme) or tuple(str(fold + 1) for fold in range(n_folds))


class Related(NamedTuple):
    """What sets the folds apart, how scores go with it, and whether labels change with the folds, given the inputs."""

    characteristics: pd.DataFrame
    relations: tuple[Relation, ...]
    shifts: tuple[LabelShift, ...]


def related(folded: Folded, scores: FoldPerformance, features: np.ndarray | None) -> Related:
    """Scores against sizes, labels, numbers of the samples and, where there are features, distances."""
    numbers: dict[str, np.ndarray] = {}
    data = folded.dataset
    if data is not None:
        titles = {name: number_title(data, name) for name in numbers_of(data)[:MOST_NUMBERS]}
        numbers = {f"mean {title[0].lower()}{title[1:]}": number_of(data, name) for name, title in titles.items()}
    rng = np.random.default_rng(SEED)
    known = characteristics_of(folded.rows, features=features, numbers=numbers, rng=rng)
    related = relations_of(scores, known, rng=np.random.default_rng(SEED))
    return Related(known, related, _shifts(folded, features))


def _shifts(folded: Folded, features: np.ndarray | None) -> tuple[LabelShift, ...]:
    """Whether labels change with the folds, given the inputs; nothing where these are not here.

    Inputs are held against each other in the usual features, whatever the folds were made in.
    """
    data, plan, rows = folded.dataset, folded.plan, folded.rows
    if data is None or features is None:
        return ()
    usual = default_representation(data.kind)
    if plan.representation not in (None, usual):
        features = features_for_splits(data, usual, n_components=plan.n_components)
    known, shifts = rows.y >= 0, []
    for scheme in rows.schemes:
        folds = [rows.folds(scheme, seed)[known] for seed in rows.seeds(scheme)]
        rng, design = np.random.default_rng(SEED), rows.design.of(known)
        shifts.append(labels_shift(scheme, features[known], rows.y[known], folds, rng=rng, design=design))
    return tuple(shift for shift in shifts if shift is not None)


def near_duplicates(dataset: Dataset, plan: FoldPlan) -> NearDuplicates:
    """Exact copies, and nearly equal samples: texts by their words, else by the features before PCA to few.

    In a handful of principal components everything is near something.
    """
    copies = duplicate_groups(dataset)
    first = np.flatnonzero(copies == np.arange(dataset.n_samples))
    if dataset.kind == "text":
        pairs, _ = near_duplicate_texts(dataset.x[first], similarity=SIMILARITY, most=MOST_PAIRS)
    else:
        features = data_sets.features(dataset, representation(dataset, plan))[first]
        pairs = near_duplicate_pairs(features, similarity=SIMILARITY, most=MOST_PAIRS)
    return NearDuplicates(copies, first[pairs], full=len(pairs) == MOST_PAIRS)


def described(folded: Folded, cut: Cut, features: np.ndarray | None, near: NearDuplicates | None) -> FoldDescription:
    """Wanted and got, and how far train and test lie apart."""
    known, data = folded.rows.y >= 0, folded.dataset
    return describe_folds(
        folded.rows.folds(*cut)[known],
        folded.rows.y[known],
        None if features is None else features[known],
        class_names=folded.rows.class_names,
        wanted=None if data is None else folded.plan.wanted(data, cut.scheme),
        duplicates=near if known.all() else None,
        rng=np.random.default_rng(SEED),
    )


def counted(folded: Folded, cut: Cut) -> WordCounts:
    """The words of the texts by fold."""
    if folded.dataset is None:
        raise TypeError("words can only be counted in texts that are stored here")
    folds = folded.rows.folds(*cut)
    tested = folds >= 0
    return count_words(folded.dataset.x[tested], folds[tested], [f"fold {name}" for name in folded.names(cut)])


def representation(dataset: Dataset, plan: FoldPlan) -> str:
    """The features that folds are made in, by name."""
    return plan.representation or default_representation(dataset.kind)


def from_uploads(
    uploads: Mapping[str, PredictionUpload], dataset: Dataset | None, plan: FoldPlan, identity: str
) -> Folded:
    """Uploaded predictions with their folds; joined with a data set where they are of the very same samples."""
    parts, tables = [], {}
    for upload in uploads.values():
        file = upload.truth or upload.predictions
        scheme = scheme_of(file.name)
        while scheme_title(scheme) in map(scheme_title, tables):  # the address tells them apart by what they are called
            scheme += " (again)"
        tables[scheme] = upload.read()
        parts.append(rows_of_tables({scheme: tables[scheme]}))
    rows = joined(parts)
    if dataset is not None and set(rows.ids.tolist()) == set(dataset.ids.tolist()):
        with_data = joined(parts, ids=dataset.ids)
        if with_data.class_names == dataset.class_names and (with_data.y == dataset.y).all():
            return Folded(identity, with_data.made_of(dataset), plan, dataset)
    return Folded(identity, rows, plan, None, _coordinates(uploads, rows))


def _coordinates(uploads: Mapping[str, PredictionUpload], rows: FoldPredictions) -> np.ndarray | None:
    """Where the samples lie, if a file of folds says it of all of them (the notebooks' `analysis_` files do)."""
    for upload in uploads.values():
        table = None if upload.truth is None else read_folds(upload.truth.open())
        if table is not None and table.coordinates is not None:
            place = dict(zip(table.ids.tolist(), table.coordinates, strict=True))
            if all(value in place for value in rows.ids.tolist()):
                return np.array([place[value] for value in rows.ids.tolist()])
    return None


# What do folds tell, from runs and from files? What is above, kept for as long as it stays the same.


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
    return from_uploads(uploads, data, FoldPlan(), key("folds of files", *addresses, fingerprint))


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
    return Work(lambda step: related(folded, scores, _or_none(vectors)))


@cache.task(max_entries=16)
def description(folded: Folded, cut: Cut) -> Work[FoldDescription]:
    """What a scheme did to the data."""
    vectors, data = features(folded), folded.dataset
    near = None if data is None else _near_duplicates(data, folded.plan.representation)

    def describe(step: Callable[[], None]) -> FoldDescription:
        return described(folded, cut, _or_none(vectors), _or_none(near))

    return Work(describe)


def _or_none(task: Task[Answer] | None) -> Answer | None:
    """What a task comes to; None where there are no such features, of which the map says why."""
    with suppress(DataError):
        return None if task is None else task.future.result()


@cache.task(max_entries=4)
def _near_duplicates(dataset: Dataset, representation: str | None) -> Work[NearDuplicates]:
    plan = FoldPlan(representation=representation)
    return Work(lambda step: near_duplicates(dataset, plan))


@cache.task(max_entries=8)
def words(folded: Folded, cut: Cut) -> Work[WordCounts]:
    """The words of the texts of every fold."""
    return Work(lambda step: counted(folded, cut))
