"""Where do the sources of a plan's trials come from? From the data set itself, or found in features, once."""

from functools import lru_cache

import numpy as np
from jaxtyping import Integer

from touchstone.core.cluster import find_sources
from touchstone.core.data import DataError, Dataset
from touchstone.core.represent import encode

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
    return find_sources(
        features(dataset, representation),
        dataset.y,
        n_sources=n_sources,
        method=source_finder,
        rng=np.random.default_rng([seed, clustering]),
        class_names=dataset.class_names,
    )


def check_class_sizes(dataset: Dataset, n_sources: int) -> None:
    """Raise DataError where a class has fewer rows than sources are to be found in it."""
    small = [
        f"{name} ({n} rows)" for name, n in zip(dataset.class_names, dataset.n_per_class, strict=True) if n < n_sources
    ]
    if small:
        raise DataError(
            f"{n_sources} sources cannot be found in {', '.join(small)}: a class needs at least one row for each "
            "source. Choose fewer sources, or leave these classes out."
        )
