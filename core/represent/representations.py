"""Where does a sample lie? Features of a whole data set, in which sources are found, folds made and maps drawn.

Features may see all inputs: they describe the data, and no model is trained on them. Those that saw labels as well
say so (``label_informed``), and every page that uses them repeats it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from jaxtyping import Float

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.data.errors import DataError
from touchstone.core.models import MODELS
from touchstone.core.models.networks import MlpSmall
from touchstone.core.models.threads import single_threaded
from touchstone.core.models.vectors import fit_vectors
from touchstone.core.represent.word_vectors import train_word_vectors

_KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Representation:
    """A way to turn samples into features: what a picker shows, the kinds of data it fits, and the function itself.

    ``label_informed`` features saw the labels: folds made of them are no longer about the inputs alone.
    ``needs_vectors`` fits only data sets that somebody gave vectors to. Where each column is in units of its own
    (``own_units``), standardising brings each to variance 1; columns of one SVD share a unit, and keep their ratios.

    Examples
    --------
    >>> REPRESENTATIONS["raw"].kinds
    ('image', 'tabular')
    >>> [name for name, entry in REPRESENTATIONS.items() if entry.label_informed]
    ['network']
    """

    title: str
    kinds: tuple[Kind, ...]
    encode: Callable[[Dataset], Float[np.ndarray, "n_samples n_features"]]
    label_informed: bool = False
    needs_vectors: bool = False
    own_units: bool = True


def encode(dataset: Dataset, representation: str) -> Float[np.ndarray, "n_samples n_features"]:
    """Give the features of every sample; the same data set always gets the same ones.

    Raises DataError where there is no such representation, or where it does not fit the data set.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> encode(load_example("digits"), "raw").shape
    (1797, 64)
    """
    check_representation(dataset, representation)
    with single_threaded():
        return REPRESENTATIONS[representation].encode(dataset)


def available(dataset: Dataset) -> dict[str, Representation]:
    """Give the representations that fit a data set, by name; the usual one of its kind comes first.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> list(available(load_example("digits")))
    ['raw', 'network']
    """
    return {name: entry for name, entry in REPRESENTATIONS.items() if _fits(entry, dataset)}


def _fits(entry: Representation, dataset: Dataset) -> bool:
    return dataset.kind in entry.kinds and (dataset.vectors is not None or not entry.needs_vectors)


def check_representation(dataset: Dataset, representation: str) -> None:
    """Raise DataError, with what fits, unless the representation can be had of the data set.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> check_representation(load_example("digits"), "own_vectors")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: digits has no vectors of its own. Add a file of them by id, or take ...
    """
    if representation not in REPRESENTATIONS:
        known = ", ".join(REPRESENTATIONS)
        raise DataError(f"There is no representation called {representation!r}; there are: {known}.")
    entry = REPRESENTATIONS[representation]
    fitting = ", ".join(available(dataset))
    if dataset.kind not in entry.kinds:
        raise DataError(
            f"{dataset.name}: the representation {representation!r} is not for {dataset.kind} data. Take {fitting}."
        )
    if not _fits(entry, dataset):
        raise DataError(f"{dataset.name} has no vectors of its own. Add a file of them by id, or take {fitting}.")


def default_representation(kind: Kind) -> str:
    """Name the representation that a kind of data gets when nobody chose one: the first that fits.

    Examples
    --------
    >>> default_representation("text")
    'tfidf_svd'
    """
    return next(name for name, entry in REPRESENTATIONS.items() if kind in entry.kinds)


def _vectors(dataset: Dataset) -> Float[np.ndarray, "n_samples n_features"]:
    """Give the very vectors that models learn from, fitted on all inputs and no label."""
    return fit_vectors(dataset.x, seed=0).transform(dataset.x)


def _mean_word_vectors(dataset: Dataset) -> Float[np.ndarray, "n_samples n_features"]:
    """Give the mean of each text's word vectors, trained on all texts and no label; zeros without a known word."""
    return train_word_vectors(dataset.x).means(dataset.x).features


def _own_vectors(dataset: Dataset) -> Float[np.ndarray, "n_samples n_features"]:
    """Give the vectors that somebody brought along; what those saw, only that person knows."""
    if dataset.vectors is None:
        raise DataError(f"{dataset.name} has no vectors of its own.")
    return np.asarray(dataset.vectors, dtype=np.float64)


def _hidden_layer(dataset: Dataset) -> Float[np.ndarray, "n_samples n_hidden"]:
    """Give the last hidden layer of a small network that was trained on all inputs and all labels of the data set."""
    network = MODELS["mlp_small"]()
    if not isinstance(network, MlpSmall):
        raise TypeError("mlp_small must be a network with a hidden layer")
    return network.fit(dataset.x, dataset.y, seed=0, n_classes=dataset.n_classes).hidden_layer(dataset.x)


REPRESENTATIONS: dict[str, Representation] = {
    "raw": Representation("Raw values (columns standardised)", ("image", "tabular"), _vectors),
    "tfidf_svd": Representation("Word weights (TF-IDF, SVD)", ("text",), _vectors, own_units=False),
    "word_vectors": Representation(
        "Word vectors of these texts (mean)", ("text",), _mean_word_vectors, own_units=False
    ),
    "own_vectors": Representation("Your own vectors", _KINDS, _own_vectors, needs_vectors=True),
    "network": Representation("Network's last layer (label-informed)", _KINDS, _hidden_layer, label_informed=True),
}
