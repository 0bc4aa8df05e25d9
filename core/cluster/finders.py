"""Which ways are there to find sources? Clusterings, and networks that are trained for it (Kilinc & Uysal 2017)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer, Real

from touchstone.core.cluster.deep import acol_sources, deep_kmeans
from touchstone.core.cluster.sources import (
    Clusterer,
    FoundSources,
    OnStep,
    cluster_classes,
    kmeans,
    same_size_kmeans,
    unheard,
)
from touchstone.core.data import DataError, Dataset
from touchstone.core.models.classical import ShouldStop
from touchstone.core.models.networks import Cnn2
from touchstone.core.models.training import fits


@dataclass(frozen=True)
class SourceFinder:
    """A way to find sources: what the screen calls it, how it finds them, and what it takes.

    One that has `cluster` clusters the features of each class: that takes seconds. One that has `train` trains a
    network, and is called with a data set, `n_sources`, `seed`, `on_step` and `should_stop`; it takes minutes, and so
    its sources are found once by a run of their own (`core.trials.SourcesPlan`) and kept. `fits` says of a data set
    whether it can be used there, `takes` says which it can be used on. `short` is its name beside a model's, where
    there is little room, and `in_sentences` that in a sentence; they are the title where it has none. `version` is
    raised when it comes to find other sources: runs of plans that chose it are then computed by an older method.

    Examples
    --------
    >>> [name for name, finder in SOURCE_FINDERS.items() if finder.trains]
    ['deep_kmeans', 'acol']
    """

    title: str
    train: Callable[..., FoundSources] | None = None
    fits: Callable[[Dataset], bool] = lambda dataset: True
    takes: str = "any data"
    cluster: Clusterer | None = None
    short: str = ""
    in_sentences: str = ""
    version: int = 1

    def __post_init__(self) -> None:
        if (self.train is None) == (self.cluster is None):
            raise TypeError(f"{self.title}: a source finder either clusters features or trains a network.")
        object.__setattr__(self, "short", self.short or self.title)
        object.__setattr__(self, "in_sentences", self.in_sentences or self.short)

    @property
    def trains(self) -> bool:
        """Whether a network is trained to find the sources."""
        return self.train is not None


def trains(method: str) -> bool:
    """Whether a name is that of a source finder that trains a network.

    Examples
    --------
    >>> trains("acol"), trains("kmeans"), trains("known")
    (True, False, False)
    """
    return method in SOURCE_FINDERS and SOURCE_FINDERS[method].trains


def find_sources(
    features: Real[np.ndarray, "n_samples n_features"],
    y: Integer[np.ndarray, " n_samples"],
    *,
    n_sources: int = 5,
    method: str = "kmeans",
    rng: np.random.Generator,
    class_names: Sequence[str] | None = None,
) -> Integer[np.ndarray, " n_samples"]:
    """Cluster the features of each class by one of `SOURCE_FINDERS` that trains nothing (`cluster_classes`).

    Raises DataError for another name, and where a class has fewer different samples than ``n_sources``.

    Examples
    --------
    >>> features, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.zeros(4, int)
    >>> sources = find_sources(features, y, n_sources=2, rng=np.random.default_rng(0))
    >>> bool(sources[0] == sources[1] != sources[2])
    True
    """
    clusterers = {name: finder.cluster for name, finder in SOURCE_FINDERS.items() if finder.cluster is not None}
    if method not in clusterers:
        raise DataError(f"There is no way to cluster a class called {method!r}; there are: {', '.join(clusterers)}.")
    return cluster_classes(features, y, clusterers[method], n_sources=n_sources, rng=rng, class_names=class_names)


def train_for_sources(
    method: str,
    dataset: Dataset,
    *,
    n_sources: int = 5,
    seed: int = 0,
    on_step: OnStep = unheard,
    should_stop: ShouldStop | None = None,
) -> FoundSources:
    """Find sources by one of `SOURCE_FINDERS` that trains; the same seed gives the same sources.

    Raises DataError for a finder that does not fit the data set or trains nothing, and Cancelled between epochs.
    """
    check_finder(method, dataset)
    train = SOURCE_FINDERS[method].train
    if train is None:
        raise DataError(f"{SOURCE_FINDERS[method].title}: nothing is trained for these. Cluster features instead.")
    return train(dataset, n_sources=n_sources, seed=seed, on_step=on_step, should_stop=should_stop)


def check_finder(method: str, dataset: Dataset) -> None:
    """Raise DataError, before anything is trained, where a source finder cannot be used on this data set.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> check_finder("acol", load_example("wine"))
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: ACOL (experimental) needs images of at least 4 x 4 pixels, and wine is ...
    """
    finder = SOURCE_FINDERS[method]
    if finder.fits(dataset):
        return
    size = f" of {dataset.x.shape[1]} x {dataset.x.shape[2]} pixels" if dataset.kind == "image" else ""
    raise DataError(
        f"{finder.title} needs {finder.takes}, and {dataset.name} is {dataset.kind} data{size}. "
        "Choose another way to find sources."
    )


SOURCE_FINDERS: dict[str, SourceFinder] = {
    "kmeans": SourceFinder("k-means clusters", cluster=kmeans, short="k-means"),
    "same_size_kmeans": SourceFinder(
        "k-means clusters of the same size",
        cluster=same_size_kmeans,
        short="same-size",
        in_sentences="same-size k-means",
        version=2,  # since 2 steps go beyond the means, and starts are tried on 3,000 samples
    ),
    "deep_kmeans": SourceFinder("deep k-means", deep_kmeans),
    "acol": SourceFinder(
        "ACOL (experimental)",
        lambda dataset, **options: acol_sources(dataset.x, dataset.y, class_names=dataset.class_names, **options),
        lambda dataset: fits(Cnn2, dataset),
        "images of at least 4 x 4 pixels",
        short="ACOL",
    ),
}
"""Every way to find sources, by name."""
