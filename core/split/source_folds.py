"""What if the sources within each class are kept whole, or all spread out? (Kilinc & Uysal 2017, section 3, as folds)

Both schemes see the same sources: of each class as many of equal size as there are folds. Kept whole and paired at
random, no fold has seen the like of its test samples; spread out, every fold has.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.split.scheme import (
    INCLUSIVE_FOLDS,
    PAIRED_SOURCES,
    Folds,
    asks_for_groups,
    asks_starts,
    check_folds,
    check_starts,
    count_folds,
    count_rows,
    deal,
    features_of,
    group_codes_of,
    label_codes_of,
    random_state,
    split_by_fold,
)


def same_size_sources(
    features: Float[np.ndarray, "n_samples n_features"],
    labels: Integer[np.ndarray, " n_samples"],
    *,
    n_sources: int,
    n_init: int,
    seed: int,
) -> Folds:
    """Cluster each class into sources of equal size, give or take one; their ids count within the class.

    A class of fewer rows than sources has one source per row.

    Examples
    --------
    >>> features, labels = np.array([[0.0], [9.0], [0.1], [9.1], [5.0]]), np.array([0, 0, 0, 0, 1])
    >>> sources = same_size_sources(features, labels, n_sources=2, n_init=8, seed=0)
    >>> bool(sources[0] == sources[2] != sources[1] == sources[3]), sources[4]
    (True, np.int64(0))
    """
    from touchstone.core.cluster import SameSizeKMeans

    sources = np.zeros(len(labels), dtype=np.int64)
    for label in np.unique(labels).tolist():
        members = np.flatnonzero(labels == label)
        estimator = SameSizeKMeans(
            min(n_sources, len(members)), n_init=n_init, random_state=random_state(seed, PAIRED_SOURCES, label)
        )
        sources[members] = estimator.fit(features[members]).labels_
    return sources


@dataclass(frozen=True)
class PairedSourceFolds:
    """Find as many same-size sources in each class as there are folds, and pair them at random: one of each in a fold.

    What the sources of one class have in common with those of another, such as a pen or a camera, is cut through by
    the pairing, and no model can lean on it.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog"], 4)
    >>> folds = PairedSourceFolds(n_folds=2).assign([[0.0], [0.1], [9.0], [9.1], [2.0], [2.1], [7.0], [7.1]], y)
    >>> (folds[0::2] == folds[1::2]).all(), np.bincount(folds)
    (np.True_, array([4, 4]))
    """

    n_folds: int = 5
    seed: int = 0
    n_init: int = asks_starts()

    title: ClassVar[str] = "Sources found per class, paired at random"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "paired_source_folds"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)
        check_starts(self.n_init)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; features and labels are read."""
        from touchstone.core.cluster import spread_quotas

        features, (labels, names) = features_of(X), label_codes_of(y)
        count_rows(X, y, groups, n_folds=self.n_folds)
        sources = same_size_sources(features, labels, n_sources=self.n_folds, n_init=self.n_init, seed=self.seed)
        rng = np.random.default_rng([self.seed, PAIRED_SOURCES])
        quotas = spread_quotas(np.bincount(labels), self.n_folds, rng=rng)
        folds = np.empty(len(labels), dtype=np.int64)
        for label in range(len(names)):
            members = labels == label
            sizes = np.bincount(sources[members], minlength=self.n_folds)
            # The larger sources (by one sample) go to the folds that are owed one more of this label.
            of_source = np.empty(self.n_folds, dtype=np.int64)
            of_source[_by_size(sizes, rng)] = _by_size(quotas[label], rng)
            folds[members] = of_source[sources[members]]
        return folds

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class SourceInclusiveFolds:
    """Spread every source over all folds, so that each fold has seen the like of its test samples.

    Sources are those that the data came with (``groups``), within each class; without them, the same-size sources that
    ``PairedSourceFolds`` of the same seed keeps whole.

    Examples
    --------
    >>> y, writers = np.zeros(6, dtype=int), np.repeat(["ann", "bob"], 3)
    >>> [writers[split.test].tolist() for split in SourceInclusiveFolds(n_folds=3).split(None, y, writers)]
    [['ann', 'bob'], ['ann', 'bob'], ['ann', 'bob']]
    """

    n_folds: int = 5
    seed: int = 0
    n_init: int = asks_starts()

    title: ClassVar[str] = "Every source in every fold"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "source_inclusive_folds"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)
        check_starts(self.n_init)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; labels are read, and known sources or else features."""
        labels, _ = label_codes_of(y)
        if groups is not None:
            sources, _ = group_codes_of(groups)
            count_rows(X, y, groups, n_folds=self.n_folds)
        else:
            features = features_of(X)
            count_rows(X, y, groups, n_folds=self.n_folds)
            sources = same_size_sources(features, labels, n_sources=self.n_folds, n_init=self.n_init, seed=self.seed)
        piles = labels * (sources.max() + 1) + sources
        return deal(piles, self.n_folds, rng=np.random.default_rng([self.seed, INCLUSIVE_FOLDS]))

    split = split_by_fold
    get_n_splits = count_folds
    get_metadata_routing = asks_for_groups


def _by_size(sizes: Integer[np.ndarray, " n"], rng: np.random.Generator) -> Integer[np.ndarray, " n"]:
    """Order positions by size, and equal sizes at random."""
    order = rng.permutation(len(sizes))
    return order[np.argsort(sizes[order], kind="stable")]
