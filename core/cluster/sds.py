"""Which folds differ most in their inputs, though not in their labels? (Wecker et al. 2020, section 3.3)

SDS k-means is k-means under quotas: so many samples of each label in each cluster. Every step assigns the samples
exactly (quota_assignment.py), so that the within-cluster sum of squares falls until nothing more can be gained. That is
in single precision, which takes half the time and memory, and at the end in double precision.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import no_type_check

import numpy as np
from jaxtyping import Float, Integer
from numba import njit
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from touchstone.core.cluster.quota_assignment import assign_labels
from touchstone.core.cluster.quotas import checked_quotas, first_of_each, label_codes, share_out, spread_quotas
from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded

MOST_IN_A_START = 3_000
"""Samples that the starts are tried on, drawn label by label; the best start goes on with all."""
MOST_STEPS = 300
ENOUGH_IN_A_START = 1e-4
ENOUGH = 1e-5
"""A step that lowers the sum of squares by less than this fraction of it is the last one."""
LARGEST = 1e300
AT_ONCE = 4_096
"""About so many samples are centred at a time, and more only where one label has more."""

Features = Float[np.ndarray, "n_samples n_features"]
Centers = Float[np.ndarray, "n_clusters n_features"]
Quotas = Integer[np.ndarray, "n_labels n_clusters"]


class SDSKMeans(ClusterMixin, BaseEstimator):
    """K-means whose clusters get a given number of samples of each label (Size and Distribution Sensitive).

    Parameters
    ----------
    n_clusters : int
    n_init : int
        How many k-means++ starts to make; the best goes on.
    quotas : None or (n_labels, n_clusters) counts
        How many samples of each label (sorted) each cluster gets. None spreads each label evenly: every count is
        rounded down or up, and the clusters' sizes differ by at most 1.
    random_state : None, int or RandomState
        Equal seeds give equal labels.

    Attributes
    ----------
    labels_ : (n_samples,) the cluster of each sample
    cluster_centers_ : (n_clusters, n_features)
    inertia_ : the within-cluster sum of squares
    n_iter_ : steps made with all samples
    quotas_ : (n_labels, n_clusters) the counts that were met

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [8.0], [9.0], [0.5], [8.5]])
    >>> model = SDSKMeans(2, random_state=0).fit(x, ["ham", "ham", "ham", "ham", "spam", "spam"])
    >>> model.labels_[[0, 1, 4]] == model.labels_[0], model.quotas_.tolist(), model.inertia_
    (array([ True,  True,  True]), [[2, 2], [1, 1]], 1.0)
    """

    def __init__(self, n_clusters=5, *, n_init=8, quotas=None, random_state=None):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.quotas = quotas
        self.random_state = random_state

    def fit(self, X, y=None):
        """Cluster the rows of `X` under quotas for the labels `y`; without `y` all samples count as of one label.

        Raises
        ------
        DataError
            Where there are fewer samples than clusters, or `quotas` do not fit the labels; the label is named.
        """
        X = validate_data(self, X, dtype=np.float64, order="C")
        if y is not None:
            y = column_or_1d(y)
            check_consistent_length(X, y)
        self._cluster(X, y)
        return self

    def fit_predict(self, X, y=None):
        """Cluster the rows of `X` and give the cluster of each."""
        return self.fit(X, y).labels_

    def predict(self, X):
        """Give the cluster whose centre is nearest to each row of `X`.

        Quotas are about the samples of `fit`: there, a sample may be in another cluster than the nearest, since that
        one was full (`labels_` says which), and of new samples a cluster may get any number.

        Examples
        --------
        >>> model = SDSKMeans(2, random_state=0).fit(np.array([[0.0], [1.0], [8.0], [9.0]]))
        >>> bool((model.predict([[0.4], [8.4]]) == model.labels_[[0, 3]]).all())
        True
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        middle = self.cluster_centers_.mean(axis=0)  # far from the origin, squared distances would cancel
        return pairwise_distances_argmin(X - middle, self.cluster_centers_ - middle).astype(np.int32)

    def _check_numbers(self, n_samples):
        for name in ("n_clusters", "n_init"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
                raise DataError(f"{name} is {value!r}; it must be a whole number, 1 or more.")
        if n_samples < self.n_clusters:
            raise DataError(
                f"{self.n_clusters} clusters need {self.n_clusters} samples or more, but n_samples={n_samples}. "
                "Ask for fewer clusters."
            )

    def _cluster(self, x, y):
        self._check_numbers(len(x))
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)
        names, codes, counts = label_codes(np.zeros(len(x), dtype=np.int64) if y is None else y)
        if self.quotas is None:
            self.quotas_ = spread_quotas(counts, self.n_clusters, rng=rng)
        else:
            self.quotas_ = checked_quotas(self.quotas, counts, self.n_clusters, names=None if y is None else names)
        order = np.argsort(codes, kind="stable")
        # Centred, since squared distances are taken as |x|^2 - 2 x.c + |c|^2, which cancels far from the origin.
        middle = x.mean(axis=0)
        squares = _squares(x, middle)
        if not squares < LARGEST:
            raise DataError("The features are too large for their squares to be numbers. Standardise them first.")
        scale = (squares / x.size) ** 0.5 or 1.0
        # In units of `scale` nothing is too large or too small for single precision.
        narrow = np.empty(x.shape, dtype=np.float32)
        for start in range(0, len(x), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            narrow[rows] = (x[order[rows]] - middle) / scale
        exact = _Samples(lambda: _by_label(x, order, middle, counts), self.quotas_, squares)
        with single_threaded():
            near = _best_of(narrow, self.quotas_, self.n_init, rng)
            start = replace(
                near, centers=near.centers * scale, prices=near.prices * scale**2, inertia=near.inertia * scale**2
            )
            best = _steps(exact, start, ENOUGH)
        self.labels_ = np.empty(len(x), dtype=np.int32)
        self.labels_[order] = best.cluster
        self.cluster_centers_ = best.centers + middle
        self.inertia_ = _squares(x, self.cluster_centers_, self.labels_)
        self.n_iter_ = best.n_steps


class SameSizeKMeans(SDSKMeans):
    """K-means whose clusters all have the same size, give or take one; labels are ignored.

    As `SDSKMeans` without labels; `quotas` are the sizes that are wanted, (n_clusters,).

    Examples
    --------
    >>> SameSizeKMeans(2, quotas=[1, 3], random_state=0).fit_predict(np.array([[0.0], [5.0], [6.0], [7.0]]))
    array([0, 1, 1, 1], dtype=int32)
    """

    def fit(self, X, y=None):
        """Cluster the rows of `X` into clusters of the same size."""
        self._cluster(validate_data(self, X, dtype=np.float64, order="C"), None)
        return self


@dataclass(frozen=True, eq=False)
class _Samples:
    """What is to be clustered."""

    parts: Callable[[], Iterable[tuple[slice, Features]]]
    """Centred features in the order of their labels: some labels, and all rows of these."""
    quotas: Quotas
    squares: float
    """The sum of all their squares."""


@dataclass(frozen=True, eq=False)
class _Clustering:
    """Where Lloyd's steps have got to; the rows are sorted by label."""

    centers: Centers
    prices: Float[np.ndarray, "n_labels n_clusters"]
    cluster: Integer[np.ndarray, " n_samples"]
    inertia: float
    n_steps: int


def _squares(x: Features, centers: np.ndarray, cluster: Integer[np.ndarray, " n_samples"] | None = None) -> float:
    """Add up the squared distances to the centre, or each to that of its cluster; without a second copy of all."""
    total = 0.0
    for start in range(0, len(x), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        off = x[rows] - (centers if cluster is None else centers[cluster[rows]])
        total += float(np.einsum("ij,ij->", off, off))
    return total


def _by_label(
    x: Features,
    order: Integer[np.ndarray, " n_samples"],
    middle: Float[np.ndarray, " n_features"],
    counts: Integer[np.ndarray, " n_labels"],
) -> Iterator[tuple[slice, Features]]:
    """Sort and centre some labels at a time: no second copy of all, unless there is one label only."""
    first = first_of_each(counts)
    starts = np.flatnonzero(np.diff(first[:-1] // AT_ONCE, prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(counts)], strict=True):
        part = x[order[first[start] : first[stop]]]
        part -= middle
        yield slice(start, stop), part


def _best_of(x: Features, quotas: Quotas, n_init: int, rng: np.random.Generator) -> _Clustering:
    """Try `n_init` starts on a sample of each label, and go on from the best of them with all samples."""
    drawn, few = x, quotas
    if len(x) > MOST_IN_A_START:
        rows, few = _stratified(quotas, rng)
        drawn = x[rows]
    sampled, in_double, tried = _whole(drawn, few), drawn.astype(np.float64), []
    for _ in range(n_init):
        centers = kmeans_plusplus(in_double, quotas.shape[1], random_state=int(rng.integers(2**31)))[0]
        start = _Clustering(centers, np.zeros(quotas.shape), np.empty(0, dtype=np.int32), np.inf, 0)
        tried.append(_steps(sampled, start, ENOUGH_IN_A_START))
    best = min(tried, key=lambda clustering: clustering.inertia)
    return _steps(_whole(x, quotas), replace(best, inertia=np.inf, n_steps=0), ENOUGH)


def _whole(x: Features, quotas: Quotas) -> _Samples:
    """Samples of which all are at hand, sorted by label."""
    return _Samples(lambda: [(slice(0, len(quotas)), x)], quotas, float(np.einsum("ij,ij->", x, x, dtype=np.float64)))


def _stratified(quotas: Quotas, rng: np.random.Generator) -> tuple[Integer[np.ndarray, " n_rows"], Quotas]:
    """Draw `MOST_IN_A_START` rows in proportion to the labels, and scale their quotas down, row by row."""
    counts = quotas.sum(axis=1)
    sizes = share_out(counts.astype(np.float64), MOST_IN_A_START, rng=rng)
    rows, few = [], []
    for first, count, size, quota in zip(first_of_each(counts), counts, sizes, quotas, strict=False):
        rows.append(first + np.sort(rng.choice(count, size, replace=False)))
        few.append(share_out(quota.astype(np.float64), int(size), rng=rng))
    return np.concatenate(rows), np.array(few)


def _steps(samples: _Samples, start: _Clustering, enough: float) -> _Clustering:
    """Lloyd's steps: assign exactly, move the centres to the means, until a step lowers the inertia no more.

    Means go on in the direction in which they moved: samples are assigned to centres as far beyond the means as these
    are from the last ones. A step that gains nothing so is made again from the means themselves.
    """
    first = first_of_each(samples.quotas.sum(axis=1))
    n_of_each = samples.quotas.sum(axis=0)
    centers, prices, sums = start.centers, start.prices.copy(), np.zeros(start.centers.shape)
    cluster, added = np.empty(first[-1], dtype=np.int32), np.full(first[-1], -1, dtype=np.int32)
    best, beyond = start, False
    for step in range(start.n_steps + 1, MOST_STEPS + 1):
        for of, x in samples.parts():
            begin, end = first[of.start], first[of.stop]
            within = first[of.start : of.stop + 1] - begin
            assign_labels(x, centers, within, samples.quotas[of], prices[of], cluster[begin:end])
            _add_to_sums(x, cluster[begin:end], added[begin:end], sums)
        # A cluster without samples (too small for the sample of a start) stays where it is.
        means = np.divide(sums, n_of_each[:, None], out=best.centers.copy(), where=n_of_each[:, None] > 0)
        # Koenig and Huygens: around means the squares within are all squares less those of the means.
        inertia = samples.squares - float(n_of_each @ (means**2).sum(axis=1))
        before, gained = best, best.inertia - inertia
        if gained > 0 or best is start:
            best = _Clustering(means, prices.copy(), cluster.copy(), inertia, step)
        if gained > enough * inertia:
            beyond = before is not start
            centers = 2.0 * means - before.centers if beyond else means
        elif beyond:
            beyond, centers = False, best.centers
        else:
            break
    return best


@njit(cache=True, nogil=True)
@no_type_check
def _add_to_sums(x, cluster, added, sums):
    """Move each row from the sum of the cluster that it was added to, none where that is -1, to that of its cluster."""
    for i in range(len(x)):
        now, before = cluster[i], added[i]
        if now != before:
            for j in range(x.shape[1]):
                sums[now, j] += x[i, j]
            if before >= 0:
                for j in range(x.shape[1]):
                    sums[before, j] -= x[i, j]
            added[i] = now
