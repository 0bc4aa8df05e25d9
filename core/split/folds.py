"""Which folds need no clustering? At random, in proportion, or along the sources that the data came with.

Random folds are what the paper compares its clusters with (Wecker et al. 2020, section 3).
"""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from touchstone.core.data.errors import DataError
from touchstone.core.split.scheme import (
    GROUP_FOLDS,
    RANDOM_FOLDS,
    STRATIFIED_FOLDS,
    Folds,
    asks_for_groups,
    check_folds,
    count_folds,
    count_rows,
    deal,
    group_codes_of,
    label_codes_of,
    random_state,
    split_by_fold,
)


@dataclass(frozen=True)
class RandomFolds:
    """Deal the rows out at random, with no regard to anything (the paper's randomised folds).

    Examples
    --------
    >>> RandomFolds(n_folds=3).assign(np.zeros((7, 2)))
    array([1, 2, 0, 2, 1, 2, 0])
    """

    n_folds: int = 5
    seed: int = 0

    title: ClassVar[str] = "Random"
    needs: ClassVar[str] = "nothing"
    column: ClassVar[str] = "randomized"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = False
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; only the number of rows is read."""
        n_rows = count_rows(X, y, groups, n_folds=self.n_folds)
        rng = np.random.default_rng([self.seed, RANDOM_FOLDS])
        return deal(np.zeros(n_rows, dtype=np.int64), self.n_folds, rng=rng)

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class StratifiedFolds:
    """Deal the rows out at random, label by label, so that every fold has the labels of the whole.

    The folds are as even as scikit-learn's StratifiedKFold makes them, but a label with fewer rows than folds, or all
    of them, is fine: some folds then hold none of it.

    Examples
    --------
    >>> y = np.repeat(["cat", "dog"], [6, 3])
    >>> [sorted(y[split.test].tolist()) for split in StratifiedFolds(n_folds=3).split(None, y)]
    [['cat', 'cat', 'dog'], ['cat', 'cat', 'dog'], ['cat', 'cat', 'dog']]
    """

    n_folds: int = 5
    seed: int = 0

    title: ClassVar[str] = "Random, labels in proportion"
    needs: ClassVar[str] = "labels"
    column: ClassVar[str] = "stratified_folds"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = True
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; only the labels are read."""
        labels, _ = label_codes_of(y)
        count_rows(X, y, groups, n_folds=self.n_folds)
        return deal(labels, self.n_folds, rng=np.random.default_rng([self.seed, STRATIFIED_FOLDS]))

    split = split_by_fold
    get_n_splits = count_folds


@dataclass(frozen=True)
class GroupFolds:
    """Keep every source in one fold, and spread labels as evenly as whole sources allow (StratifiedGroupKFold).

    Examples
    --------
    >>> y = np.tile([0, 1], 6)
    >>> writers = np.repeat(["ann", "bob", "cem"], 4)
    >>> [set(writers[split.test].tolist()) for split in GroupFolds(n_folds=3).split(None, y, writers)]
    [{'bob'}, {'cem'}, {'ann'}]
    """

    n_folds: int = 5
    seed: int = 0

    title: ClassVar[str] = "Known sources, several to a fold"
    needs: ClassVar[str] = "groups"
    column: ClassVar[str] = "group_folds"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = False
    same_size: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row; labels and sources are read.

        Raises DataError where there are fewer sources than folds, or every label is rarer than there are folds.
        """
        from sklearn.model_selection import StratifiedGroupKFold

        (sources, ids), (labels, _) = group_codes_of(groups), label_codes_of(y)
        count_rows(X, y, groups, n_folds=self.n_folds)
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
        splitter = StratifiedGroupKFold(self.n_folds, shuffle=True, random_state=random_state(self.seed, GROUP_FOLDS))
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

    split = split_by_fold
    get_n_splits = count_folds
    get_metadata_routing = asks_for_groups


@dataclass(frozen=True)
class LeaveOneGroupOut:
    """Test on each source in turn, in sorted order, after training on all others (scikit-learn's LeaveOneGroupOut).

    There are as many folds as sources and nothing is drawn: ``n_folds`` and ``seed`` are there only so that all
    schemes are made in the same way.

    Examples
    --------
    >>> LeaveOneGroupOut().assign(None, None, ["cem", "ann", "cem", "bob"])
    array([2, 0, 2, 1])
    """

    n_folds: int = 5
    seed: int = 0

    title: ClassVar[str] = "Known sources, one at a time"
    needs: ClassVar[str] = "groups"
    column: ClassVar[str] = "leave_one_group_out"
    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = False
    same_size: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold of every row, which is its source; DataError where there is one source only."""
        sources, ids = group_codes_of(groups)
        count_rows(X, y, groups, n_folds=1)
        if len(ids) < 2:
            raise DataError(
                f"All samples come from one source ({ids[0]}): left out, it would leave nothing to train on."
            )
        return sources

    split = split_by_fold
    get_metadata_routing = asks_for_groups

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits, which are as many as sources.

        Examples
        --------
        >>> LeaveOneGroupOut().get_n_splits(None, None, ["cem", "ann", "cem", "bob"])
        3
        """
        return len(group_codes_of(groups)[1])
