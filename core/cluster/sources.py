"""Which sources does a class consist of, when nobody wrote them down? (Kilinc & Uysal 2017, section 2)"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer, Real, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.values import Codes
from touchstone.core.models.threads import single_threaded
from touchstone.core.questions import named

Features = Real[np.ndarray, "n_samples n_features"]
Clusterer = Callable[[Features, int, np.random.Generator], Codes]
"""A way to cluster the features of one class into a number of sources."""


def cluster_classes(
    features: Features,
    y: Codes,
    cluster: Clusterer,
    *,
    n_sources: int = 5,
    rng: np.random.Generator,
    class_names: Sequence[str] | None = None,
) -> Codes:
    """Cluster the samples of each class; every cluster is taken for a source.

    The ids run from 0 to ``n_classes * n_sources - 1``, class by class: none belongs to two classes, none is unused.
    ``class_names`` only serve to name a class in an error.

    Raises
    ------
    DataError
        Where a class has fewer different samples than ``n_sources``; each such class is named. Also where ``cluster``
        finds another number of clusters in a class.

    Examples
    --------
    >>> features = np.array([[0.0], [0.1], [5.0], [5.1], [2.0], [9.0]])
    >>> y, rng = np.array([0, 0, 0, 0, 1, 1]), np.random.default_rng(0)
    >>> sources = cluster_classes(features, y, kmeans, n_sources=2, rng=rng)
    >>> len(set(sources[:2])), len(set(sources[2:4])), sorted(set(sources.tolist()))
    (1, 1, [0, 1, 2, 3])
    """
    if n_sources < 2:
        raise DataError(f"Each class needs 2 sources or more, not {n_sources}: one is held out, another trains.")
    _refuse_small_classes(features, y, n_sources, class_names)
    sources = np.empty(len(y), dtype=np.int64)
    for position, label in enumerate(np.unique(y).tolist()):
        members = y == label
        clusters = cluster(features[members], n_sources, rng)
        n_found = len(np.unique(clusters))
        if n_found != n_sources:
            raise DataError(
                f"{n_sources} sources cannot be found in class {_name(label, class_names)}: its samples make {n_found} "
                f"cluster{'s' * (n_found != 1)} this way. Ask for another number of sources, or find them another way."
            )
        sources[members] = position * n_sources + clusters
    return sources


def by_estimator(estimator: str, *, number: str | None = "n_clusters", **options: Any) -> Clusterer:
    """Any clusterer of scikit-learn's kind ("module:Class" with ``fit_predict``), for the features of one class.

    ``number`` is its parameter of how many clusters, None where it has none: then a class that makes another number is
    refused by ``cluster_classes``. What it calls noise joins the cluster of the nearest sample that is none.

    Examples
    --------
    >>> ward = by_estimator("sklearn.cluster:AgglomerativeClustering")
    >>> clusters = ward(np.array([[0.0], [0.1], [5.0]]), 2, np.random.default_rng(0))
    >>> bool(clusters[0] == clusters[1] != clusters[2])
    True
    >>> dense = by_estimator("sklearn.cluster:DBSCAN", number=None, eps=1.0, min_samples=2)
    >>> dense(np.array([[0.0], [0.1], [5.0], [5.1], [7.0]]), 2, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1, 1]
    """

    def cluster(features: Features, n_sources: int, rng: np.random.Generator) -> Codes:
        made = named(estimator)(**options, **({} if number is None else {number: n_sources}))
        if "random_state" in made.get_params():
            made.set_params(random_state=int(rng.integers(2**31)))
        with single_threaded():
            labels = np.asarray(made.fit_predict(features))
            return np.unique(_without_noise(features, labels), return_inverse=True)[1].astype(np.int64)

    return cluster


def _without_noise(features: Features, labels: Integer[np.ndarray, " n_members"]) -> Integer[np.ndarray, " n_members"]:
    """Labels of which none is −1, but where all are."""
    noise = labels < 0
    if not noise.any() or noise.all():
        return labels
    from sklearn.neighbors import KNeighborsClassifier

    labels = labels.copy()
    labels[noise] = KNeighborsClassifier(1).fit(features[~noise], labels[~noise]).predict(features[noise])
    return labels


kmeans = by_estimator("sklearn.cluster:KMeans", init="k-means++", n_init=1)
"""Clusters of one class by k-means with k-means++ starts (Arthur & Vassilvitskii 2007)."""

gaussian_mixture = by_estimator(
    "sklearn.mixture:GaussianMixture", number="n_components", covariance_type="diag", reg_covar=1e-3
)
"""The likeliest component of each sample of one class, in a mixture of normals, each with variances of its own."""


def same_size_kmeans(features: Features, n_sources: int, rng: np.random.Generator) -> Codes:
    """Cluster one class into sources of the same size, give or take one sample.

    Examples
    --------
    >>> clusters = same_size_kmeans(np.array([[0.0], [0.1], [0.2], [5.0]]), 2, np.random.default_rng(0))
    >>> np.bincount(clusters)
    array([2, 2])
    """
    from touchstone.core.cluster.sds import SameSizeKMeans

    return SameSizeKMeans(n_sources, random_state=int(rng.integers(2**31))).fit_predict(features).astype(np.int64)


def _refuse_small_classes(features: Features, y: Codes, n_sources: int, class_names: Sequence[str] | None) -> None:
    n_of = {label: _n_different(features[y == label], enough=n_sources) for label in np.unique(y).tolist()}
    small = [f"{_name(label, class_names)} ({n})" for label, n in n_of.items() if n < n_sources]
    if small:
        raise DataError(
            f"To find {n_sources} sources in a class, it must have {n_sources} different samples or more. "
            f"Too few in: {', '.join(small)}. Ask for fewer sources, or leave these classes out."
        )


def _name(label: int, class_names: Sequence[str] | None) -> str:
    return str(label) if class_names is None else class_names[label]


def _n_different(features: Real[np.ndarray, "n_members n_features"], *, enough: int) -> int:
    """Count the different rows, and stop when there are enough."""
    different = set()
    for row in features:
        different.add((row + 0.0).tobytes())  # + 0.0, for -0.0 is no different from 0.0
        if len(different) == enough:
            break
    return len(different)


@dataclass(frozen=True, eq=False)
class Silhouettes:
    """How well the sources stand apart: 1 is far apart, 0 is touching, below 0 is nearer to another source.

    ``within`` compares a sample with the sources of its own class only, and is averaged over the class (NaN where a
    class has a single source, or nothing but sources of one sample). ``pooled`` compares it with the sources of all
    classes, and is averaged over all samples. The paper's silhouettes (0.0456 for k-means on MNIST) are pooled ones.
    """

    labels: Integer[np.ndarray, " n_classes"]
    within: Float[np.ndarray, " n_classes"]
    pooled: float
    n_used: int
    n_samples: int

    @property
    def mean_within(self) -> float:
        """The mean of ``within`` over the classes that have one; NaN where none has."""
        known = self.within[~np.isnan(self.within)]
        return float(known.mean()) if len(known) else float("nan")

    def table(self) -> pd.DataFrame:
        """Give one row per class: ``label`` (its code) and ``silhouette`` (within the class).

        Examples
        --------
        >>> features = np.array([[0.0], [1.0], [8.0], [9.0]])
        >>> found = silhouettes(features, np.zeros(4, int), np.array([0, 0, 1, 1]), rng=np.random.default_rng(0))
        >>> found.table().round(2)
           label  silhouette
        0      0        0.87
        """
        return pd.DataFrame({"label": self.labels, "silhouette": self.within})


def silhouettes(
    features: Features,
    y: Codes,
    sources: Shaped[np.ndarray, " n_samples"],
    *,
    rng: np.random.Generator,
    max_samples: int = 5000,
) -> Silhouettes:
    """Measure how well sources stand apart (Rousseeuw 1987), on ``max_samples`` random samples where there are more.

    A source of one sample counts as 0, as is usual. A source id that occurs in two classes counts as two sources.

    Examples
    --------
    >>> features = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> found = silhouettes(features, np.zeros(4, int), np.array([0, 0, 1, 1]), rng=np.random.default_rng(0))
    >>> round(found.pooled, 2), round(found.mean_within, 2), found.n_used, found.n_samples
    (0.87, 0.87, 4, 4)
    """
    n_samples = len(y)
    if n_samples > max_samples:
        used = np.sort(rng.choice(n_samples, max_samples, replace=False))
        features, y, sources = features[used], y[used], sources[used]
    labels, source_ids = np.unique(y), pd.factorize(sources)[0]
    within = [_silhouette(features[y == label], source_ids[y == label]) for label in labels]
    pooled = _silhouette(features, y.astype(np.int64) * (source_ids.max() + 1) + source_ids)
    return Silhouettes(labels, np.array(within), pooled, len(y), n_samples)


def _silhouette(
    features: Real[np.ndarray, "n_members n_features"], cluster: Integer[np.ndarray, " n_members"]
) -> float:
    from sklearn.metrics import silhouette_score

    defined = 1 < len(np.unique(cluster)) < len(cluster)
    return float(silhouette_score(features, cluster)) if defined else float("nan")


# What does a search for sources come to? The source of every sample, and what has to be known of how it was found.


OnStep = Callable[[int, int], None]
"""Called with epochs done and epochs in all, at most."""


@dataclass(frozen=True, eq=False)
class FoundSources:
    """The source of each sample: ids from 0 to C * K - 1, class by class, as `find_sources` gives them.

    `options` are those of the training that held, as text, at the `n_tries`-th try; empty where none did and `sources`
    are those of another finder. `note` says in a sentence what somebody who reads results has to know; empty where
    everything went as it should.
    """

    sources: Codes
    options: str = ""
    n_tries: int = 1
    note: str = ""


def unheard(n_done: int, n_steps: int) -> None:
    """What is told of progress where nobody listens."""
