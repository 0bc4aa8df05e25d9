"""Which folds are there? Those that need no clustering come first, then those in which similar samples share a fold.

Random folds are what the paper compares its clusters with (Wecker et al. 2020, section 3).
"""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.table import days
from touchstone.core.models.threads import single_threaded
from touchstone.core.parameters import asks
from touchstone.core.registry import Registry
from touchstone.core.split import scheme


@dataclass(frozen=True)
class RandomFolds(scheme.KFolds):
    """Deal the rows out at random, with no regard to anything (the paper's randomised folds).

    Examples
    --------
    >>> RandomFolds(n_folds=3).assign(np.zeros((7, 2)))
    array([1, 2, 0, 2, 1, 2, 0])
    """

    title: ClassVar[str] = "Random"
    needs: ClassVar[str] = "nothing"
    column: ClassVar[str] = "randomized"

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; only the number of rows is read."""
        n_rows = scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        rng = np.random.default_rng([self.seed, scheme.RANDOM_FOLDS])
        return scheme.deal(np.zeros(n_rows, dtype=np.int64), self.n_folds, rng=rng)


@dataclass(frozen=True)
class StratifiedFolds(scheme.KFolds):
    """Deal the rows out at random, label by label, so that every fold has the labels of the whole.

    The folds are as even as scikit-learn's StratifiedKFold makes them, but a label with fewer rows than folds, or all
    of them, is fine: some folds then hold none of it.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog"], [6, 3])
    >>> [sorted(y[split.test].tolist()) for split in StratifiedFolds(n_folds=3).split(None, y)]
    [['cat', 'cat', 'dog'], ['cat', 'cat', 'dog'], ['cat', 'cat', 'dog']]
    """

    title: ClassVar[str] = "Random, labels in proportion"
    needs: ClassVar[str] = "labels"
    column: ClassVar[str] = "stratified_folds"
    label_exact: ClassVar[bool] = True

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; only the labels are read."""
        labels, _ = scheme.label_codes_of(y)
        scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        return scheme.deal(labels, self.n_folds, rng=np.random.default_rng([self.seed, scheme.STRATIFIED_FOLDS]))


@dataclass(frozen=True)
class GroupFolds(scheme.KFolds):
    """Keep every source in one fold, and spread labels as evenly as whole sources allow (StratifiedGroupKFold).

    Examples
    --------
    >>> y = np.tile([0, 1], 6)
    >>> writers = np.repeat(["ann", "bob", "cem"], 4)
    >>> [set(writers[split.test].tolist()) for split in GroupFolds(n_folds=3).split(None, y, writers)]
    [{'bob'}, {'cem'}, {'ann'}]
    """

    title: ClassVar[str] = "Known sources, several to a fold"
    needs: ClassVar[str] = "groups"
    column: ClassVar[str] = "group_folds"
    same_size: ClassVar[bool] = False

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; labels and sources are read.

        Raises DataError where there are fewer sources than folds, or every label is rarer than there are folds.
        """
        from sklearn.model_selection import StratifiedGroupKFold

        (sources, ids), (labels, _) = scheme.group_codes_of(groups), scheme.label_codes_of(y)
        scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        if len(ids) < self.n_folds:
            raise DataError(
                f"{self.n_folds} folds cannot be made of {len(ids)} sources, each of them whole. "
                + (f"Ask for {len(ids)} folds or fewer." if len(ids) > 1 else "Take folds that need no sources.")
            )
        if (most := np.bincount(labels).max()) < self.n_folds:
            raise DataError(
                f"The most frequent label has {most} samples, fewer than the {self.n_folds} folds: labels cannot be "
                "spread over them. "
                + (f"Ask for {most} folds or fewer, or leave" if most > 1 else "Leave")
                + " one source out at a time."
            )
        folds = np.empty(len(labels), dtype=np.int64)
        splitter = StratifiedGroupKFold(
            self.n_folds, shuffle=True, random_state=scheme.random_state(self.seed, scheme.GROUP_FOLDS)
        )
        with warnings.catch_warnings():
            # A label rarer than the number of folds is missing from some of them: the description of the folds says so.
            warnings.simplefilter("ignore", UserWarning)
            for fold, (_, test) in enumerate(splitter.split(labels, labels, sources)):
                folds[test] = fold
        if (np.bincount(folds, minlength=self.n_folds) == 0).any():
            raise DataError(
                f"The sources are too unequal for {self.n_folds} folds: one stays empty. "
                "Ask for fewer, or take another seed."
            )
        return folds

    get_metadata_routing = scheme.asks_for_groups


@dataclass(frozen=True)
class LeaveOneGroupOut(scheme.KFolds):
    """Test on each source in turn, in sorted order, after training on all others (scikit-learn's LeaveOneGroupOut).

    There are as many folds as sources and nothing is drawn: ``n_folds`` and ``seed`` are there only so that all
    schemes are made in the same way.

    Examples
    --------
    >>> LeaveOneGroupOut().assign(None, None, ["cem", "ann", "cem", "bob"])
    array([2, 0, 2, 1])
    """

    title: ClassVar[str] = "Known sources, one at a time"
    needs: ClassVar[str] = "groups"
    column: ClassVar[str] = "leave_one_group_out"
    same_size: ClassVar[bool] = False

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row, which is its source; DataError where there is one source only."""
        sources, ids = scheme.group_codes_of(groups)
        scheme.count_rows(X, y, groups, n_folds=1)
        if len(ids) < 2:
            raise DataError(
                f"All samples come from one source ({ids[0]}): left out, it would leave nothing to train on."
            )
        return sources

    get_metadata_routing = scheme.asks_for_groups

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits, which are as many as sources.

        Examples
        --------
        >>> LeaveOneGroupOut().get_n_splits(None, None, ["cem", "ann", "cem", "bob"])
        3
        """
        return len(scheme.group_codes_of(groups)[1])


@dataclass(frozen=True)
class QuantileFolds(scheme.KFolds):
    """Cut each label's rows by a number of theirs, such as length, brightness or date: fold 0 has the lowest.

    Rows with the same number are put in random order.

    Examples
    --------
    >>> QuantileFolds(n_folds=2).assign([12, 3, 7, 40], ["cat", "cat", "dog", "dog"])
    array([1, 0, 0, 1])
    """

    title: ClassVar[str] = "Quantiles of a number"
    needs: ClassVar[str] = "values"
    column: ClassVar[str] = "quantile_folds"
    label_exact: ClassVar[bool] = True

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; X holds one number (or date) for each, and labels are read."""
        from touchstone.core.cluster.quotas import spread_quotas

        values, (labels, _) = values_of(X), scheme.label_codes_of(y)
        n_rows = scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        rng = np.random.default_rng([self.seed, scheme.QUANTILES])
        quotas = spread_quotas(np.bincount(labels), self.n_folds, rng=rng)
        # Sorting is stable: rows of the same number stay in the random order that they are given first.
        order = rng.permutation(n_rows)
        order = order[np.lexsort((values[order], labels[order]))]
        folds = np.empty(n_rows, dtype=np.int64)
        folds[order] = np.repeat(np.tile(np.arange(self.n_folds), len(quotas)), quotas.ravel())
        return folds


def values_of(X: Any) -> Float[np.ndarray, " n_samples"]:
    """Read X as one number per row; dates, also written out (ISO 8601), count in days. Refused: missing, all the same.

    Examples
    --------
    >>> values_of([[1, 2], [3, 4]])
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: This scheme needs one number for every sample (X=...), not 2. Choose a ...
    """
    values = np.asarray(X)
    if values.ndim == 0 or values.size != len(values):
        n_given = "none" if values.ndim == 0 else values.size // max(len(values), 1)
        raise DataError(
            f"This scheme needs one number for every sample (X=...), not {n_given}. Choose a column, or the length."
        )
    values = _numbers(values.reshape(-1))
    unusable = ~np.isfinite(values)
    if unusable.any():
        raise DataError(
            f"The number is missing or infinite in {int(unusable.sum())} of {len(values)} samples, the first of them "
            f"sample {int(np.argmax(unusable))} (counted from 0). Choose another column, or leave these out."
        )
    if (values == values[:1]).all():
        raise DataError(
            f"The number is {values[0]:g} in all {len(values)} samples: it has no quantiles. Choose another."
        )
    return values


def _numbers(values: Shaped[np.ndarray, " n_samples"]) -> Float[np.ndarray, " n_samples"]:
    """The values as numbers, NaN where there is none."""
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "D"))
    if values.dtype.kind != "M":
        with suppress(TypeError, ValueError):
            return values.astype(np.float64)
    dates = days(values)
    if values.dtype.kind != "M" and np.isnan(dates).all():
        raise DataError("This scheme needs a number or a date (2020-03-01) for every sample (X=...), not text.")
    return dates


# Which folds differ because similar samples share a fold? Clusters, sources in pairs or spread, the largest shift.
#
# Each cluster is a fold (Wecker et al. 2020, section 3): k-means lets size and labels of the folds fall as they may,
# same-size k-means holds the size, SDS k-means the size and the labels, so that only the inputs differ.
#
# Or each class has as many sources of equal size as there are folds (Kilinc & Uysal 2017, section 3, as folds). Kept
# whole and paired at random, no fold has seen the like of its test samples; spread out, every fold has.
#
# Or splits are as unlike as they can be made, with the labels held. Søgaard et al. 2021 ("We need to talk about random
# splits") ask for such splits beside random ones, and found that even these often promise less error than new data
# bring.


@dataclass(frozen=True)
class KMeansFolds(scheme.StartedFolds):
    """Make each cluster of plain k-means a fold, whatever its size and labels; the best of ``n_init`` starts.

    Examples
    --------
    >>> folds = KMeansFolds(n_folds=2).assign([[0.0], [0.1], [0.2], [9.0]])
    >>> sorted(np.bincount(folds).tolist())
    [1, 3]
    """

    title: ClassVar[str] = "K-means"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "kmeans"
    same_size: ClassVar[bool] = False

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; only the features are read.

        Raises DataError where fewer different rows than folds leave a fold empty.
        """
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        features = scheme.features_of(X)
        scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        estimator = KMeans(
            self.n_folds, n_init=self.n_init, random_state=scheme.random_state(self.seed, scheme.KMEANS_FOLDS)
        )
        with single_threaded(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told below, with the remedy
            folds = estimator.fit_predict(features).astype(np.int64)
        if (n_found := len(np.unique(folds))) < self.n_folds:
            raise DataError(
                f"K-means finds {n_found} clusters in samples of which many are the same, not {self.n_folds}. "
                f"Ask for {n_found} folds or fewer, or take same-size k-means."
            )
        return folds


@dataclass(frozen=True)
class SameSizeFolds(scheme.StartedFolds):
    """Make each cluster of same-size k-means a fold; labels fall as they may.

    Examples
    --------
    >>> folds = SameSizeFolds(n_folds=2).assign([[0.0], [0.1], [0.2], [9.0]])
    >>> np.bincount(folds)
    array([2, 2])
    """

    title: ClassVar[str] = "Same-size k-means"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "same_size_kmeans"

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; only the features are read."""
        from touchstone.core.cluster.sds import SameSizeKMeans

        features = scheme.features_of(X)
        scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        state = scheme.random_state(self.seed, scheme.SAME_SIZE_FOLDS)
        return SameSizeKMeans(self.n_folds, n_init=self.n_init, random_state=state).fit(features).labels_.astype(int)


@dataclass(frozen=True)
class SDSFolds(scheme.StartedFolds):
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

    labels_by_fold: tuple[tuple[Any, ...], ...] = ()

    title: ClassVar[str] = "SDS k-means"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "distribution_sensitive_kmeans"
    label_exact: ClassVar[bool] = True

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; features and labels are read."""
        from touchstone.core.cluster.sds import SDSKMeans

        features, (labels, names) = scheme.features_of(X), scheme.label_codes_of(y)
        scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        state, quotas = scheme.random_state(self.seed, scheme.SDS_FOLDS), None
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
        return weighted_quotas(n_label, weights, self.n_folds, rng=np.random.default_rng([self.seed, scheme.SDS_FOLDS]))


def same_size_sources(
    features: scheme.Features, labels: scheme.Folds, *, n_sources: int, n_init: int, seed: int
) -> scheme.Folds:
    """Cluster each class into sources of equal size, give or take one; their ids count within the class.

    A class of fewer rows than sources has one source per row.

    Examples
    --------
    >>> features, labels = np.array([[0.0], [9.0], [0.1], [9.1], [5.0]]), np.array([0, 0, 0, 0, 1])
    >>> sources = same_size_sources(features, labels, n_sources=2, n_init=8, seed=0)
    >>> bool(sources[0] == sources[2] != sources[1] == sources[3]), sources[4]
    (True, np.int64(0))
    """
    from touchstone.core.cluster.sds import SameSizeKMeans

    sources = np.zeros(len(labels), dtype=np.int64)
    for label in np.unique(labels).tolist():
        members = np.flatnonzero(labels == label)
        estimator = SameSizeKMeans(
            min(n_sources, len(members)),
            n_init=n_init,
            random_state=scheme.random_state(seed, scheme.PAIRED_SOURCES, label),
        )
        sources[members] = estimator.fit(features[members]).labels_
    return sources


@dataclass(frozen=True)
class PairedSourceFolds(scheme.StartedFolds):
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

    title: ClassVar[str] = "Sources found per class, paired at random"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "paired_source_folds"
    label_exact: ClassVar[bool] = True

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; features and labels are read."""
        from touchstone.core.cluster.quotas import spread_quotas

        features, (labels, names) = scheme.features_of(X), scheme.label_codes_of(y)
        scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        sources = same_size_sources(features, labels, n_sources=self.n_folds, n_init=self.n_init, seed=self.seed)
        rng = np.random.default_rng([self.seed, scheme.PAIRED_SOURCES])
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


@dataclass(frozen=True)
class SourceInclusiveFolds(scheme.StartedFolds):
    """Spread every source over all folds, so that each fold has seen the like of its test samples.

    Sources are those that the data came with (``groups``), within each class; without them, the same-size sources that
    ``PairedSourceFolds`` of the same seed keeps whole.

    Examples
    --------
    >>> y, writers = np.zeros(6, dtype=int), np.repeat(["ann", "bob"], 3)
    >>> [writers[split.test].tolist() for split in SourceInclusiveFolds(n_folds=3).split(None, y, writers)]
    [['ann', 'bob'], ['ann', 'bob'], ['ann', 'bob']]
    """

    title: ClassVar[str] = "Every source in every fold"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "source_inclusive_folds"
    label_exact: ClassVar[bool] = True

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; labels are read, and known sources or else features."""
        labels, _ = scheme.label_codes_of(y)
        if groups is not None:
            sources, _ = scheme.group_codes_of(groups)
            scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        else:
            features = scheme.features_of(X)
            scheme.count_rows(X, y, groups, n_folds=self.n_folds)
            sources = same_size_sources(features, labels, n_sources=self.n_folds, n_init=self.n_init, seed=self.seed)
        piles = labels * (sources.max() + 1) + sources
        return scheme.deal(piles, self.n_folds, rng=np.random.default_rng([self.seed, scheme.INCLUSIVE_FOLDS]))

    get_metadata_routing = scheme.asks_for_groups


def _by_size(sizes: Integer[np.ndarray, " n"], rng: np.random.Generator) -> Integer[np.ndarray, " n"]:
    """Order positions by size, and equal sizes at random."""
    order = rng.permutation(len(sizes))
    return order[np.argsort(sizes[order], kind="stable")]


@dataclass(frozen=True)
class MaxShift(scheme.KFolds):
    """Make one test part that lies as far from the training part as k-means can tell, with the labels of the whole.

    Two clusters of SDS k-means, one of which gets ``test_share`` of the samples and is the test part (fold 0); by
    default it is as large as one of ``n_folds`` folds.

    Examples
    --------
    >>> y = np.array(["cat", "dog"] * 5)
    >>> MaxShift().assign([[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [0.6], [0.7], [9.0], [9.1]], y)
    array([-1, -1, -1, -1, -1, -1, -1, -1,  0,  0])
    """

    test_share: float | None = asks(
        None,
        "Test share",
        "The share of samples used for testing; default: that of one fold.",
        within=(0.05, 0.95, 0.05),
        word="usual",
        means=lambda plan, facts: 1 / plan.n_folds,
    )
    n_init: int = scheme.asks_starts()

    title: ClassVar[str] = "Largest shift (one split)"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "max_shift"
    single: ClassVar[bool] = True
    label_exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        scheme.check_starts(self.n_init)
        if self.test_share is not None and not 0 < self.test_share < 1:
            raise DataError(f"The test share must lie between 0 and 1 (both excluded), not {self.test_share:g}.")

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give 0 to the rows of the test part and -1 to the others; features and labels are read."""
        from touchstone.core.cluster.quotas import share_out
        from touchstone.core.cluster.sds import SDSKMeans

        features, (labels, _) = scheme.features_of(X), scheme.label_codes_of(y)
        n_rows = scheme.count_rows(X, y, groups, n_folds=2)
        test_share = 1 / self.n_folds if self.test_share is None else self.test_share
        n_test = min(max(round(test_share * n_rows), 1), n_rows - 1)
        n_label = np.bincount(labels)
        rng = np.random.default_rng([self.seed, scheme.MAX_SHIFT])
        n_label_test = share_out(n_label.astype(np.float64), n_test, rng=rng)
        quotas = np.column_stack([n_label_test, n_label - n_label_test])
        estimator = SDSKMeans(
            2, n_init=self.n_init, quotas=quotas, random_state=scheme.random_state(self.seed, scheme.MAX_SHIFT)
        )
        return np.where(estimator.fit(features, labels).labels_ == 0, 0, scheme.NO_FOLD)


@dataclass(frozen=True)
class NearestNeighbourBalls(scheme.KFolds):
    """Fill one fold after another with the rows around a point (after Søgaard et al. 2021); the last takes the rest.

    The point is a row drawn at random from those that remain. Of each label, the fold takes as many of the remaining
    rows as its share is, those nearest to the point.

    Examples
    --------
    >>> folds = NearestNeighbourBalls(n_folds=2).assign([[0.0], [9.0], [0.1], [9.1]], ["cat"] * 4)
    >>> bool(folds[0] == folds[2] != folds[1] == folds[3])
    True
    """

    title: ClassVar[str] = "Balls of nearest neighbours"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "nearest_neighbour_balls"
    label_exact: ClassVar[bool] = True

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> scheme.Folds:
        """Give the fold of every row; features and labels are read."""
        from touchstone.core.cluster.quotas import spread_quotas

        features, (labels, _) = scheme.features_of(X), scheme.label_codes_of(y)
        n_rows = scheme.count_rows(X, y, groups, n_folds=self.n_folds)
        rng = np.random.default_rng([self.seed, scheme.BALLS])
        quotas = spread_quotas(np.bincount(labels), self.n_folds, rng=rng)
        folds = np.full(n_rows, self.n_folds - 1)
        left = np.arange(n_rows)
        for fold in range(self.n_folds - 1):
            distance = ((features[left] - features[rng.choice(left)]) ** 2).sum(axis=1)
            by_label = np.lexsort((distance, labels[left]))
            n_left = np.bincount(labels[left], minlength=len(quotas))
            # The place of each row among those of its label, nearest first.
            rank = np.arange(len(left)) - np.repeat(np.cumsum(n_left) - n_left, n_left)
            in_ball = by_label[rank < np.repeat(quotas[:, fold], n_left)]
            folds[left[in_ball]] = fold
            left = np.delete(left, in_ball)
        return folds


_BUILT_IN: dict[str, type[scheme.FoldScheme]] = {
    "random_folds": RandomFolds,
    "stratified_folds": StratifiedFolds,
    "kmeans_folds": KMeansFolds,
    "same_size_folds": SameSizeFolds,
    "sds_folds": SDSFolds,
    "paired_source_folds": PairedSourceFolds,
    "max_shift": MaxShift,
    "nearest_neighbour_balls": NearestNeighbourBalls,
    "quantile_folds": QuantileFolds,
    "group_folds": GroupFolds,
    "leave_one_group_out": LeaveOneGroupOut,
    "source_inclusive_folds": SourceInclusiveFolds,
}
FOLD_SCHEMES: Registry[type[scheme.FoldScheme]] = Registry(
    "touchstone.splitters", scheme.FoldScheme, _BUILT_IN, taken=scheme.DRAW_SCHEMES
)
"""Every scheme that cuts all samples into folds, by its name."""
