"""How do many dimensions look on paper? PCA keeps large distances, UMAP (McInnes et al. 2018) keeps neighbourhoods."""

import warnings

import numpy as np
from jaxtyping import Float

from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent.for_splits import principal_components

_FEWEST = 4  # samples of which UMAP can make a map


def pca_map(features: Float[np.ndarray, "n_samples n_features"]) -> Float[np.ndarray, "n_samples 2"]:
    """Give the first two principal components; zeros where features vary in fewer directions.

    Examples
    --------
    >>> pca_map(np.array([[0.0], [1.0], [5.0]])).tolist()
    [[-2.0, 0.0], [-1.0, 0.0], [3.0, 0.0]]
    """
    flat = np.zeros((len(features), 2))
    components = principal_components(features - features.mean(axis=0), 2)
    flat[:, : components.shape[1]] = components
    return flat


def usable_neighbours(n_neighbors: int, n_samples: int) -> int:
    """How many neighbours UMAP can take into account where so many are asked for: no more than there are others.

    Examples
    --------
    >>> usable_neighbours(15, 10), usable_neighbours(15, 1797)
    (9, 15)
    """
    return min(n_neighbors, n_samples - 1)


def umap_map(
    features: Float[np.ndarray, "n_samples n_features"], *, n_neighbors: int = 15, min_dist: float = 0.1, seed: int = 0
) -> Float[np.ndarray, "n_samples 2"]:
    """Lay samples out so that near ones stay near, starting from the PCA map; equal seeds give equal maps.

    Distances between far groups, and the sizes of groups, mean nothing in such a map. ``n_neighbors`` beyond the other
    samples there are is cut to these (``usable_neighbours``). The first call in a process compiles for a while, so call
    it from a worker. Raises DataError for fewer than four samples or parameters out of range.

    Examples
    --------
    >>> umap_map(np.eye(3))
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: UMAP needs 4 samples or more, and here are 3. Take PCA.
    """
    n_samples = len(features)
    if n_samples < _FEWEST:
        raise DataError(f"UMAP needs {_FEWEST} samples or more, and here are {n_samples}. Take PCA.")
    check_umap(n_neighbors, min_dist)
    with warnings.catch_warnings(), single_threaded():
        # umap tells every importer that its part for Tensorflow, which nobody asked for, is not there.
        warnings.filterwarnings("ignore", message="Tensorflow not installed", category=ImportWarning)
        from umap import UMAP

        umap = UMAP(
            n_neighbors=usable_neighbours(n_neighbors, n_samples),
            min_dist=min_dist,
            init=_start(features, np.random.default_rng(seed)),
            random_state=seed,
            n_jobs=1,  # all that a fixed seed allows
        )
        return np.asarray(umap.fit_transform(features), dtype=np.float64)


def check_umap(n_neighbors: int, min_dist: float) -> None:
    """Raise DataError for parameters that UMAP cannot work with.

    Examples
    --------
    >>> check_umap(1, 0.1)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: n_neighbors must be at least 2, not 1.
    """
    if n_neighbors < 2:
        raise DataError(f"n_neighbors must be at least 2, not {n_neighbors}.")
    if not 0 <= min_dist <= 1:
        raise DataError(f"min_dist must lie between 0 and 1, not {min_dist}.")


def _start(features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The PCA map; an axis along which nothing varies gets a little noise, as UMAP divides by its length."""
    start = pca_map(features)
    flat = np.ptp(start, axis=0) == 0
    start[:, flat] = rng.normal(scale=1e-4 * max(np.ptp(start), 1.0), size=(len(start), int(flat.sum())))
    return start
