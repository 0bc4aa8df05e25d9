"""Which folds need no clustering? At random, in proportion, along the sources that data came with, or by a number.

Random folds are what the paper compares its clusters with (Wecker et al. 2020, section 3).
"""

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.table import days
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
        from touchstone.core.cluster import spread_quotas

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
