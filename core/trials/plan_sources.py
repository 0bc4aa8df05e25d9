"""Where do the sources of a plan's trials come from? From the data set itself, or found in features, once."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.cluster import find_sources
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.tables.names import plural_of
from touchstone.core.represent import encode
from touchstone.core.split.units import labels_of_units, means_of_units, sources_of_units

KNOWN_SOURCES = "known"
"""The source finder's name for the sources that the data set itself came with."""


@lru_cache(maxsize=4)
def known_sources(dataset: Dataset) -> tuple[Integer[np.ndarray, " n_samples"], np.ndarray]:
    """Codes and names of the data set's own sources; DataError where it has none."""
    if dataset.sources is None:
        raise DataError(f"{dataset.name} does not name the source of its rows. Find sources by clustering.")
    names, codes = np.unique(dataset.sources.astype(str), return_inverse=True)
    return codes, names.astype(object)


@lru_cache(maxsize=4)
def features(dataset: Dataset, representation: str) -> np.ndarray:
    """The features that sources are found in, encoded once for all who ask."""
    return encode(dataset, representation)


@lru_cache(maxsize=32)
def found_by_clustering(
    dataset: Dataset, representation: str, source_finder: str, n_sources: int, seed: int, clustering: int
) -> np.ndarray:
    """The sources of one clustering of features, the same whenever they are asked for."""
    rows, y = rows_of_units(dataset, features(dataset, representation))
    found = find_sources(
        rows,
        y,
        n_sources=n_sources,
        method=source_finder,
        rng=np.random.default_rng([seed, clustering]),
        class_names=dataset.class_names,
    )
    return found if dataset.unit_codes is None else found[dataset.unit_codes]


def rows_of_units(
    dataset: Dataset, rows: Float[np.ndarray, "n_samples n_features"]
) -> tuple[Float[np.ndarray, "n_units n_features"], Integer[np.ndarray, " n_units"]]:
    """Features and label of each unit: the mean of its samples' features; those of samples where each is one."""
    return rows if dataset.unit_codes is None else means_of_units(dataset.unit_codes, rows), _labels(dataset)


def _labels(dataset: Dataset) -> Integer[np.ndarray, " n_units"]:
    return dataset.y if dataset.unit_codes is None else labels_of_units(dataset.unit_codes, dataset.y)


def whole_sources(dataset: Dataset, sources: Integer[np.ndarray, " n_samples"]) -> Integer[np.ndarray, " n_samples"]:
    """Sources that were found sample by sample, each unit in that of most of its samples."""
    if dataset.unit_codes is None:
        return sources
    return sources_of_units(dataset.unit_codes, sources)[dataset.unit_codes]


def check_class_sizes(dataset: Dataset, n_sources: int) -> None:
    """Raise DataError where a class has fewer rows than sources are to be found in it."""
    word = "row" if dataset.unit_codes is None else dataset.unit_word
    n_per_class = np.bincount(_labels(dataset), minlength=dataset.n_classes)
    small = [
        f"{name} ({n} {word if n == 1 else plural_of(word)})"
        for name, n in zip(dataset.class_names, n_per_class, strict=True)
        if n < n_sources
    ]
    if small:
        raise DataError(
            f"{n_sources} sources cannot be found in {', '.join(small)}: a class needs at least one {word} for each "
            "source. Choose fewer sources, or leave these classes out."
        )
