"""Where does a sample lie? Features of a whole data set, in which sources are found and maps are drawn.

Features may see all inputs (never labels): they describe the data, and no model is trained on them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.data import Dataset
from core.data.dataset import Kind
from core.data.errors import DataError
from core.models.threads import single_threaded
from core.models.vectors import fit_vectors


@dataclass(frozen=True)
class Representation:
    """A way to turn samples into features: what a picker shows, the kinds of data it fits, and the function itself.

    Examples
    --------
    >>> REPRESENTATIONS["raw"].kinds
    ('image', 'tabular')
    """

    title: str
    kinds: tuple[Kind, ...]
    encode: Callable[[Dataset], Float[np.ndarray, "n_samples n_features"]]


def encode(dataset: Dataset, representation: str) -> Float[np.ndarray, "n_samples n_features"]:
    """Give the features of every sample; the same data set always gets the same ones.

    Examples
    --------
    >>> from core.data import load_example
    >>> encode(load_example("digits"), "raw").shape
    (1797, 64)
    """
    if representation not in REPRESENTATIONS:
        known = ", ".join(REPRESENTATIONS)
        raise DataError(f"There is no representation called {representation!r}; there are: {known}.")
    entry = REPRESENTATIONS[representation]
    if dataset.kind not in entry.kinds:
        fitting = ", ".join(name for name, other in REPRESENTATIONS.items() if dataset.kind in other.kinds)
        raise DataError(
            f"{dataset.name}: the representation {representation!r} is not for {dataset.kind} data. Take {fitting}."
        )
    with single_threaded():
        return entry.encode(dataset)


def default_representation(kind: Kind) -> str:
    """Name the representation that a kind of data gets when nobody chose one: the first that fits.

    Examples
    --------
    >>> default_representation("text")
    'tfidf_svd'
    """
    return next(name for name, entry in REPRESENTATIONS.items() if kind in entry.kinds)


def _vectors(dataset: Dataset) -> Float[np.ndarray, "n_samples n_features"]:
    """Give the very vectors that models learn from, fitted on all samples."""
    return fit_vectors(dataset.x, seed=0).transform(dataset.x)


REPRESENTATIONS: dict[str, Representation] = {
    "raw": Representation("Raw values (columns standardised)", ("image", "tabular"), _vectors),
    "tfidf_svd": Representation("Word weights (TF-IDF, SVD)", ("text",), _vectors),
}
