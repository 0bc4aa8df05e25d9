"""Where does a sample lie? Features of a whole data set, in which sources are found, folds made and maps drawn.

Features may see all inputs: they describe the data, and no model is trained on them. Those that saw labels as well
say so (``label_informed``), and every page that uses them repeats it.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from jaxtyping import Float

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.data.errors import DataError
from touchstone.core.models.inputs import fit_vectors
from touchstone.core.models.networks import MlpSmall
from touchstone.core.models.threads import single_threaded
from touchstone.core.registry import NO_PLUGIN, Registry
from touchstone.core.represent.word_vectors import n_tokens, train_word_vectors

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
        raise DataError(f"There is no representation called {representation!r}, and {NO_PLUGIN}; there are: {known}.")
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
    return MlpSmall().fit(dataset.x, dataset.y, seed=0, n_classes=dataset.n_classes).hidden_layer(dataset.x)


_BUILT_IN = {
    "raw": Representation("Raw values (columns standardised)", ("image", "tabular"), _vectors),
    "tfidf_svd": Representation("Word weights (TF-IDF, SVD)", ("text",), _vectors, own_units=False),
    "word_vectors": Representation(
        "Word vectors of these texts (mean)", ("text",), _mean_word_vectors, own_units=False
    ),
    "own_vectors": Representation("Your own vectors", _KINDS, _own_vectors, needs_vectors=True),
    "network": Representation("Network's last layer (label-informed)", _KINDS, _hidden_layer, label_informed=True),
}
REPRESENTATIONS: Registry[Representation] = Registry("touchstone.representations", Representation, _BUILT_IN)
"""Every way to turn samples into features, by its name."""


# In which space are folds made? In features standardised and condensed by PCA (ClusterDataSplit, section 3.1).


_EXACT = 1000
"""Up to so many samples or columns, whichever are fewer, PCA is exact; beyond, it is randomised with a fixed seed."""


def features_for_splits(
    dataset: Dataset, representation: str, *, n_components: int | None = 5, standardise: bool = True
) -> Float[np.ndarray, "n_samples n_components"]:
    """Give the features that folds are made in: encoded, standardised, and condensed to their principal components.

    Standardising brings every column to mean 0 and variance 1; columns that share a unit (see
    ``Representation.own_units``) get one common factor instead, as the leading components of an SVD would otherwise
    count no more than its last. Constant columns are left out. ``n_components=None`` keeps all columns as they are.

    No more components come out than differ from zero (at most the columns, and the samples less one), so that a table
    of two columns gives two where five were asked for; the shape says how many. The same data set always gives the
    same features. Raises DataError where all samples have the same features, or fewer than one component is asked for.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> features_for_splits(load_example("digits"), "raw").shape
    (1797, 5)
    >>> features_for_splits(load_example("digits"), "raw", n_components=None).shape
    (1797, 61)
    """
    if n_components is not None and n_components < 1:
        raise DataError(f"n_components must be at least 1, or nothing for all, not {n_components}.")
    features = np.asarray(encode(dataset, representation), dtype=np.float64)
    varying = np.ptp(features, axis=0) > 1e-12 * np.abs(features).max(axis=0)
    if not varying.any():
        raise DataError(
            f"{dataset.name}: all {dataset.n_samples} samples have the same features "
            f"({REPRESENTATIONS[representation].title}), so they cannot be separated. Choose another "
            f"representation, or leave out the columns that never change."
        )
    centred = features[:, varying] - features[:, varying].mean(axis=0)
    if standardise:
        spread = centred.std(axis=0)
        own_units = REPRESENTATIONS[representation].own_units
        centred /= spread if own_units else np.sqrt((spread**2).mean())
    return centred if n_components is None else principal_components(centred, n_components)


def principal_components(
    features: Float[np.ndarray, "n_samples n_features"], n_components: int
) -> Float[np.ndarray, "n_samples n_components"]:
    """Project onto the directions of largest variance, largest first, those without any left out.

    The sign of a component is such that the largest of its loadings is positive.

    Examples
    --------
    >>> principal_components(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [3.0, 1.0]]), 1).round(2).T
    array([[-1.52,  1.43, -1.52,  1.61]])
    """
    from sklearn.decomposition import PCA

    n_samples, n_features = features.shape
    if not np.ptp(features, axis=0).any():
        return np.zeros((n_samples, 0))
    n_components = min(n_components, n_samples, n_features)
    if min(n_samples, n_features) > _EXACT:
        solver = "randomized"
    else:
        solver = "covariance_eigh" if n_features <= n_samples else "full"
    with single_threaded():
        pca = PCA(n_components, svd_solver=solver, random_state=0, iterated_power=7).fit(features)
        kept = pca.explained_variance_ > 1e-12 * pca.explained_variance_[0]
        return pca.transform(features)[:, kept]


# How do many dimensions look on paper? PCA keeps large distances, UMAP (McInnes et al. 2018) keeps neighbourhoods.


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


def umap_compiles() -> bool:
    """Whether the next map by UMAP waits for its compiler first, as in each process that has drawn none.

    Examples
    --------
    >>> umap_compiles() == ("umap" not in sys.modules)
    True
    """
    return "umap" not in sys.modules


def umap_map(
    features: Float[np.ndarray, "n_samples n_features"], *, n_neighbors: int = 15, min_dist: float = 0.1, seed: int = 0
) -> Float[np.ndarray, "n_samples 2"]:
    """Lay samples out so that near ones stay near, starting from the PCA map; equal seeds give equal maps.

    Distances between far groups, and the sizes of groups, mean nothing in such a map. ``n_neighbors`` beyond the other
    samples there are is cut to these (``usable_neighbours``). The first call in a process compiles for a while
    (``umap_compiles``), so call it from a worker. Raises DataError for fewer than four samples or parameters out of
    range.

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


# Which one number describes a row? What folds by quantiles go by, and what is plotted against performance.


_TITLES = {"length": "Length (words)", "brightness": "Mean brightness (0 black, 1 white)"}
_LISTED = 10  # names that an error lists


def numbers_of(dataset: Dataset) -> tuple[str, ...]:
    """Name the numbers that every row of a data set has: a text's length, an image's brightness, a table's columns.

    Then come those that are known of the rows but are no inputs, such as a date.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> numbers_of(load_example("digits")), numbers_of(load_example("wine"))[:2]
    (('brightness',), ('alcohol', 'malic_acid'))
    """
    own = _own(dataset)
    return own + tuple(f"{name} (column)" if name in own else name for name in dataset.number_names)


def number_of(dataset: Dataset, name: str) -> Float[np.ndarray, " n_samples"]:
    """Give one number per row: words in a text, the mean of an image's pixels in [0, 1], or a column as it is.

    A date is the number of days since the beginning of 1970.

    Raises DataError for a name that is not in ``numbers_of``.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> number_of(load_example("wine"), "alcohol")[:2]
    array([14.23, 13.2 ])
    """
    names = numbers_of(dataset)
    if name not in names:
        listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
        raise DataError(f"{dataset.name}: no row has a number called {name!r}. Take one of {listed}.")
    position = names.index(name)
    if dataset.numbers is not None and position >= (n_own := len(_own(dataset))):
        return dataset.numbers[:, position - n_own].astype(np.float64)
    if dataset.kind == "text":
        return n_tokens(dataset.x).astype(np.float64)
    if dataset.kind == "image":
        return dataset.x.reshape(dataset.n_samples, -1).mean(axis=1, dtype=np.float64)
    return dataset.x[:, position]


def number_title(dataset: Dataset, name: str) -> str:
    """Say what a number of a data set is, with its unit, as an axis does.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> number_title(load_example("digits"), "brightness"), number_title(load_example("wine"), "alcohol")
    ('Mean brightness (0 black, 1 white)', 'alcohol')
    """
    return name if dataset.kind == "tabular" or name not in _own(dataset) else _TITLES[name]


def _own(dataset: Dataset) -> tuple[str, ...]:
    """The numbers that the inputs themselves have."""
    if dataset.kind == "text":
        return ("length",)
    return ("brightness",) if dataset.kind == "image" else dataset.feature_names
