"""Which folds differ because similar samples share a fold? K-means, same-size, SDS (Wecker et al. 2020, section 3)

Each cluster is a fold. K-means lets size and labels of the folds fall as they may, same-size k-means holds the size,
SDS k-means the size and the labels, so that only the inputs differ.
"""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.split.scheme import (
    KMEANS_FOLDS,
    SAME_SIZE_FOLDS,
    SDS_FOLDS,
    Folds,
    asks_starts,
    check_folds,
    check_starts,
    count_folds,
    count_rows,
    features_of,
    label_codes_of,
    random_state,
    split_by_fold,
)


@dataclass(frozen=True)
class KMeansFolds:
    """Make each cluster of plain k-means a fold, whatever its size and labels; the best of ``n_init`` starts.

    Examples
    --------
    >>> folds = KMeansFolds(n_folds=2).assign([[0.0], [0.1], [0.2], [9.0]])
    >>> sorted(np.bincount(folds).tolist())
    [1, 3]
    """

    n_folds: int = 5
    seed: int = 0
    n_init: int = asks_starts()

    title: ClassVar[str] = "K-means"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "kmeans"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = False
    same_size: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)
        check_starts(self.n_init)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; only the features are read.

        Raises DataError where fewer different rows than folds leave a fold empty.
        """
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        features = features_of(X)
        count_rows(X, y, groups, n_folds=self.n_folds)
        estimator = KMeans(self.n_folds, n_init=self.n_init, random_state=random_state(self.seed, KMEANS_FOLDS))
        with single_threaded(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told below, with the remedy
            folds = estimator.fit_predict(features).astype(np.int64)
        if (n_found := len(np.unique(folds))) < self.n_folds:
            raise DataError(
                f"K-means finds {n_found} clusters in samples of which many are the same, not {self.n_folds}. "
                f"Ask for {n_found} folds or fewer, or take same-size k-means."
            )
        return folds

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class SameSizeFolds:
    """Make each cluster of same-size k-means a fold; labels fall as they may.

    Examples
    --------
    >>> folds = SameSizeFolds(n_folds=2).assign([[0.0], [0.1], [0.2], [9.0]])
    >>> np.bincount(folds)
    array([2, 2])
    """

    n_folds: int = 5
    seed: int = 0
    n_init: int = asks_starts()

    title: ClassVar[str] = "Same-size k-means"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "same_size_kmeans"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = False
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)
        check_starts(self.n_init)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; only the features are read."""
        from touchstone.core.cluster import SameSizeKMeans

        features = features_of(X)
        count_rows(X, y, groups, n_folds=self.n_folds)
        state = random_state(self.seed, SAME_SIZE_FOLDS)
        return SameSizeKMeans(self.n_folds, n_init=self.n_init, random_state=state).fit(features).labels_.astype(int)

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class SDSFolds:
    """Make each cluster of SDS k-means a fold: folds that differ in their inputs, not in their size or labels.

    A label with fewer rows than folds is fine: some folds then hold none of it. ``labels_by_fold`` says how a label's
    rows are to be shared out instead (section 3.3): rows of (label, weight, ...), a weight for each fold.

    Examples
    --------
    >>> y = np.array(["cat", "dog", "cat", "dog", "cat", "dog"])
    >>> folds = SDSFolds(n_folds=3).assign([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]], y)
    >>> (folds[0::2] == folds[1::2]).all()
    np.True_
    >>> folds = SDSFolds(n_folds=2, labels_by_fold=(("dog", 2, 1),)).assign([[0], [1], [2], [3], [4], [5]], y)
    >>> (folds[1::2] == 0).sum()
    np.int64(2)
    """

    n_folds: int = 5
    seed: int = 0
    n_init: int = asks_starts()
    labels_by_fold: tuple[tuple[Any, ...], ...] = ()

    title: ClassVar[str] = "SDS k-means"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "distribution_sensitive_kmeans"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)
        check_starts(self.n_init)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; features and labels are read."""
        from touchstone.core.cluster import SDSKMeans

        features, (labels, names) = features_of(X), label_codes_of(y)
        count_rows(X, y, groups, n_folds=self.n_folds)
        state, quotas = random_state(self.seed, SDS_FOLDS), None
        if self.labels_by_fold:
            quotas = self._quotas(np.bincount(labels), list(names))
        estimator = SDSKMeans(self.n_folds, n_init=self.n_init, quotas=quotas, random_state=state)
        return estimator.fit(features, labels).labels_.astype(int)

    def _quotas(self, n_label: Integer[np.ndarray, " n_labels"], names: list[Any]) -> Integer[np.ndarray, "_ _"]:
        from touchstone.core.cluster.quotas import weighted_quotas

        weights = {}
        for label, *of_label in self.labels_by_fold:
            if label not in names or len(of_label) != self.n_folds:
                raise DataError(f"Label {label!r} must occur, and have a weight for each of the {self.n_folds} folds.")
            weights[names.index(label)] = [float(weight) for weight in of_label]
        return weighted_quotas(n_label, weights, self.n_folds, rng=np.random.default_rng([self.seed, SDS_FOLDS]))

    split = split_by_fold
    get_n_splits = count_folds
