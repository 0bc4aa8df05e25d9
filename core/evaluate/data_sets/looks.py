"""What is looked at in a data set? Classes, copies, a number, words and the features of maps: functions of the data."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import duplicate_groups
from touchstone.core.evaluate.data_sets import (
    ColumnSummaries,
    ExactCopies,
    LabelCounts,
    NearCopies,
    NumberByClass,
    WordCounts,
    column_summaries,
    count_words,
    near_copies,
    number_by_class,
    label_counts,
    mean_images,
)
from touchstone.core.evaluate.units import design_of
from touchstone.core.represent import features_for_splits, n_tokens, number_of, number_title
from touchstone.core.represent.duplicates import (
    n_steps,
    near_duplicate_pairs,
    near_duplicate_texts,
    similarities,
)
from touchstone.core.split import FOLD_SCHEMES

N_COMPONENTS = 50
"""Maps and near duplicates go by so many principal components, as a MapPlan does by default."""
MOST_PAIRS = 10_000
WORD_WEIGHTS = "tfidf_svd"


class DataLook(NamedTuple):
    """What is known of a data set: classes and copies; of a table its columns, of images the mean of each class."""

    labels: LabelCounts
    copies: ExactCopies
    columns: ColumnSummaries | None
    pictures: np.ndarray | None
    n_wordless: int
    """Texts without a single word."""


def look(dataset: Dataset) -> DataLook:
    """Count classes and copies, and look at columns or mean images."""
    return DataLook(
        label_counts(dataset.y, dataset.class_names, design_of(dataset)),
        ExactCopies(duplicate_groups(dataset), dataset.y),
        column_summaries(dataset.x, dataset.feature_names) if dataset.kind == "tabular" else None,
        mean_images(dataset.x, dataset.y, dataset.n_classes) if dataset.kind == "image" else None,
        int((n_tokens(dataset.x) == 0).sum()) if dataset.kind == "text" else 0,
    )


def number(dataset: Dataset, name: str) -> NumberByClass:
    """One number of every sample, over all and by class."""
    title = number_title(dataset, name)
    return number_by_class(number_of(dataset, name), dataset.y, dataset.class_names, title=title)


def words(dataset: Dataset) -> WordCounts:
    """The words of the texts by class."""
    return count_words(dataset.x, dataset.y, dataset.class_names)


def features(dataset: Dataset, representation: str) -> np.ndarray:
    """The features that maps are drawn and near duplicates are found in, as a MapPlan makes them."""
    return features_for_splits(dataset, representation, n_components=N_COMPONENTS)


def fold_title(scheme: str, seed: int) -> str:
    """What the folds of a scheme and seed are called."""
    title = FOLD_SCHEMES[scheme].title if scheme in FOLD_SCHEMES else scheme
    return f"fold ({title}, seed {seed})"


def folds(made: pd.DataFrame, n_samples: int) -> np.ndarray:
    """The fold of every sample, -1 for none, from the rows of the trial that made them."""
    folds = np.full(n_samples, -1, dtype=np.int64)
    folds[made["row"].to_numpy(dtype=np.int64)] = made["fold"].to_numpy(dtype=np.int64)
    return folds


def near_copies_of(
    dataset: Dataset,
    representation: str,
    features_of: Callable[[], np.ndarray],
    copies: ExactCopies,
    similarity: float,
    step: Callable[[], None],
) -> NearCopies:
    """Pairs of samples that are nearly the same, of every content the first sample only.

    Texts are compared word by word, unless other features than word weights were chosen; all else by its features.
    """
    first = np.flatnonzero(copies.first == np.arange(dataset.n_samples))
    if representation == WORD_WEIGHTS:
        pairs, cosines = near_duplicate_texts(dataset.x[first], similarity=similarity, most=MOST_PAIRS)
    else:
        vectors = features_of()[first]
        pairs = near_duplicate_pairs(vectors, similarity=similarity, most=MOST_PAIRS, on_step=step)
        cosines = similarities(vectors, pairs)
    return near_copies(first[pairs], cosines, copies, most=MOST_PAIRS)


def n_steps_of_near_copies(dataset: Dataset, representation: str) -> int:
    """How many steps `near_copies_of` takes, about (copies are left out); 0 where it counts none."""
    return 0 if representation == WORD_WEIGHTS else n_steps(dataset.n_samples)
