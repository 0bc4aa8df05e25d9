"""What is in the data, and where do samples lie on maps and in folds?"""

from collections.abc import Callable
from typing import cast

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_sets import NearCopies, NumberByClass, WordCounts, looks
from touchstone.core.evaluate.data_sets.looks import DataLook
from touchstone.core.workspace import Run
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell.background import Work
from touchstone.ui.shell.session import owner, workspace


@cache.task(max_entries=4)
def look(dataset: Dataset) -> Work[DataLook]:
    """Classes, copies, columns or mean images of a data set."""
    return Work(lambda step: looks.look(dataset))


@cache.task(max_entries=16)
def number(dataset: Dataset, name: str) -> Work[NumberByClass]:
    """One number of every sample of a data set, over all and by class."""
    return Work(lambda step: looks.number(dataset, name))


@cache.task(max_entries=4)
def words(dataset: Dataset) -> Work[WordCounts]:
    """The words of a data set of texts, by class."""
    return Work(lambda step: looks.words(dataset))


@cache.task(max_entries=4)
def features(dataset: Dataset, representation: str) -> Work[np.ndarray]:
    """The features that maps are drawn and near duplicates are found in."""
    return Work(lambda step: looks.features(dataset, representation))


@cache.task(max_entries=8)
def near_copies(dataset: Dataset, representation: str, similarity: float) -> Work[NearCopies]:
    """Pairs of nearly equal samples."""
    known, vectors = look(dataset), features(dataset, representation)

    def compare(step: Callable[[], None]) -> NearCopies:
        copies = known.future.result().copies
        return looks.near_copies(dataset, representation, vectors.future.result, copies, similarity, step)

    return Work(compare, looks.n_steps_of_near_copies(dataset, representation))


@cache.result(max_entries=8)
def map_of(run: Run) -> np.ndarray:
    """Where the samples of a data set lie on the map of a run; NaN where it has not come to one."""
    rows = workspace().rows(owner(), run.id)
    rows = rows[rows["status"] == "ok"]
    points = np.full((dataset_of(run.fingerprint).n_samples, 2), np.nan)
    points[rows["row"].to_numpy(dtype=np.int64)] = rows[["x", "y"]].to_numpy(dtype=np.float64)
    return points


@cache.result(max_entries=4)
def folds_of(run: Run) -> dict[str, np.ndarray]:
    """The fold of every sample (−1 for none) by every scheme and seed of a run of folds, as far as they are made."""
    rows, n_samples = workspace().rows(owner(), run.id), dataset_of(run.fingerprint).n_samples
    made = rows[rows["model"].isna() & (rows["status"] == "ok")]
    folds = {}
    for group, part in made.groupby(["scheme", "seed"], sort=False):
        scheme, seed = cast(tuple[str, int], group)
        folds[looks.fold_title(scheme, int(seed))] = looks.folds(part, n_samples)
    return folds
