"""Which splits are as unlike as they can be made, with the labels held? Two clusters, balls, or quantiles of a number.

Søgaard et al. 2021 ("We need to talk about random splits") ask for such splits beside random ones, and found that
even these often promise less error than new data bring.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.table import days
from touchstone.core.parameters import asks
from touchstone.core.split.scheme import (
    BALLS,
    MAX_SHIFT,
    NO_FOLD,
    QUANTILES,
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
class MaxShift:
    """Make one test part that lies as far from the training part as k-means can tell, with the labels of the whole.

    Two clusters of SDS k-means, one of which gets ``test_share`` of the samples and is the test part (fold 0); by
    default it is as large as one of ``n_folds`` folds.

    Examples
    --------
    >>> y = np.array(["cat", "dog"] * 5)
    >>> MaxShift().assign([[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [0.6], [0.7], [9.0], [9.1]], y)
    array([-1, -1, -1, -1, -1, -1, -1, -1,  0,  0])
    """

    n_folds: int = 5
    seed: int = 0
    test_share: float | None = asks(
        None,
        label="Test share",
        help="The share of samples used for testing; default: that of one fold.",
        lowest=0.05,
        highest=0.95,
        step=0.05,
        word="usual",
        means=lambda plan, facts: 1 / plan.n_folds,
    )
    n_init: int = asks_starts()

    title: ClassVar[str] = "Largest shift (one split)"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "max_shift"
    single: ClassVar[bool] = True
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)
        check_starts(self.n_init)
        if self.test_share is not None and not 0 < self.test_share < 1:
            raise DataError(f"The test share must lie between 0 and 1 (both excluded), not {self.test_share:g}.")

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give 0 to the rows of the test part and -1 to the others; features and labels are read."""
        from touchstone.core.cluster import SDSKMeans
        from touchstone.core.cluster.quotas import share_out

        features, (labels, _) = features_of(X), label_codes_of(y)
        n_rows = count_rows(X, y, groups, n_folds=2)
        test_share = 1 / self.n_folds if self.test_share is None else self.test_share
        n_test = min(max(round(test_share * n_rows), 1), n_rows - 1)
        n_label = np.bincount(labels)
        rng = np.random.default_rng([self.seed, MAX_SHIFT])
        n_label_test = share_out(n_label.astype(np.float64), n_test, rng=rng)
        quotas = np.column_stack([n_label_test, n_label - n_label_test])
        estimator = SDSKMeans(2, n_init=self.n_init, quotas=quotas, random_state=random_state(self.seed, MAX_SHIFT))
        return np.where(estimator.fit(features, labels).labels_ == 0, 0, NO_FOLD)

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class NearestNeighbourBalls:
    """Fill one fold after another with the rows around a point (after Søgaard et al. 2021); the last takes the rest.

    The point is a row drawn at random from those that remain. Of each label, the fold takes as many of the remaining
    rows as its share is, those nearest to the point.

    Examples
    --------
    >>> folds = NearestNeighbourBalls(n_folds=2).assign([[0.0], [9.0], [0.1], [9.1]], ["cat"] * 4)
    >>> bool(folds[0] == folds[2] != folds[1] == folds[3])
    True
    """

    n_folds: int = 5
    seed: int = 0

    title: ClassVar[str] = "Balls of nearest neighbours"
    needs: ClassVar[str] = "features"
    column: ClassVar[str] = "nearest_neighbour_balls"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; features and labels are read."""
        from touchstone.core.cluster import spread_quotas

        features, (labels, _) = features_of(X), label_codes_of(y)
        n_rows = count_rows(X, y, groups, n_folds=self.n_folds)
        rng = np.random.default_rng([self.seed, BALLS])
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

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class QuantileFolds:
    """Cut each label's rows by a number of theirs, such as length, brightness or date: fold 0 has the lowest.

    Rows with the same number are put in random order.

    Examples
    --------
    >>> QuantileFolds(n_folds=2).assign([12, 3, 7, 40], ["cat", "cat", "dog", "dog"])
    array([1, 0, 0, 1])
    """

    n_folds: int = 5
    seed: int = 0

    title: ClassVar[str] = "Quantiles of a number"
    needs: ClassVar[str] = "values"
    column: ClassVar[str] = "quantile_folds"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; X holds one number (or date) for each, and labels are read."""
        from touchstone.core.cluster import spread_quotas

        values, (labels, _) = values_of(X), label_codes_of(y)
        n_rows = count_rows(X, y, groups, n_folds=self.n_folds)
        rng = np.random.default_rng([self.seed, QUANTILES])
        quotas = spread_quotas(np.bincount(labels), self.n_folds, rng=rng)
        # Sorting is stable: rows of the same number stay in the random order that they are given first.
        order = rng.permutation(n_rows)
        order = order[np.lexsort((values[order], labels[order]))]
        folds = np.empty(n_rows, dtype=np.int64)
        folds[order] = np.repeat(np.tile(np.arange(self.n_folds), len(quotas)), quotas.ravel())
        return folds

    split = split_by_fold
    get_n_splits = count_folds


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
