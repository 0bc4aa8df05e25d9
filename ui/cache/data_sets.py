"""What is in the data, and where do samples lie on maps and in folds?"""

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.data.identity import key
from core.evaluate.data_sets import NearCopies, NumberByClass, WordCounts
from core.workspace.run import Run
from ui.cache.common import dataset, task
from ui.data_sets import work as data_sets_work
from ui.data_sets.work import DataLook
from ui.shell.background import Task
from ui.shell.session import owner, workspace


def data_look(fingerprint: str) -> Task[DataLook]:
    """Classes, copies, columns or mean images of a stored data set."""
    data = dataset(fingerprint)
    return task(owner(), key("data look", fingerprint), lambda step: data_sets_work.look(data))


def number(fingerprint: str, name: str) -> Task[NumberByClass]:
    """One number of every sample of a stored data set, over all and by class."""
    data = dataset(fingerprint)
    return task(owner(), key("number", fingerprint, name), lambda step: data_sets_work.number(data, name))


def words(fingerprint: str) -> Task[WordCounts]:
    """The words of a stored data set of texts, by class."""
    data = dataset(fingerprint)
    return task(owner(), key("words", fingerprint), lambda step: data_sets_work.words(data))


def features(fingerprint: str, representation: str) -> Task[np.ndarray]:
    """The features that maps are drawn and near duplicates are found in."""
    data = dataset(fingerprint)
    name = key("features", fingerprint, representation)
    return task(owner(), name, lambda step: data_sets_work.features(data, representation))


def near_copies(fingerprint: str, representation: str, similarity: float) -> Task[NearCopies]:
    """Pairs of nearly equal samples; what this rests on was asked for before, so that no thread waits for itself."""
    data, look, of = dataset(fingerprint), data_look(fingerprint), features(fingerprint, representation)
    name = key("near copies", fingerprint, representation, similarity)

    def work(step: Callable[[], None]) -> NearCopies:
        copies = look.future.result().copies
        return data_sets_work.near_copies(data, representation, of.future.result, copies, similarity, step)

    return task(owner(), name, work, data_sets_work.n_steps_of_near_copies(data, representation))


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
        data_sets_work.fold_title(str(scheme), int(seed)): data_sets_work.folds(part, n_samples)
        for (scheme, seed), part in made.groupby(["scheme", "seed"], sort=False)
    }
