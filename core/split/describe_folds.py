"""What did a scheme do to the data? Sizes and labels of every fold, wanted and got, and how far train and test lie
apart, each figure beside what folds of the same sizes give when they are drawn at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer, Real

from touchstone.core.data.errors import DataError
from touchstone.core.represent.duplicates import NearDuplicates
from touchstone.core.split.describe import total_variation
from touchstone.core.split.distance import part_distances

MEASURES = {
    "label_tv": "Total variation between the labels of training and test part (0 alike, 1 disjoint)",
    "variance": "Mean squared distance of the test rows from their mean",
    "mmd": "Maximum mean discrepancy, squared (0 alike)",
    "energy": "Energy distance, relative (0 alike, 1 largest)",
    "auc": "AUC of a classifier that separates test and training rows (.5 alike, 1 fully different)",
    "nearest": "Distance to the nearest training row, against that of training rows (1 alike)",
    "near_duplicates": "Pairs of copies or near-duplicates with one row in the training and one in the test part",
}
"""What is measured of every split, and how to read it."""
_TOO_MANY = (
    "Only exact copies and the {n:,} most similar near-duplicate pairs were counted. The numbers of "
    "near-duplicates are lower bounds."
)


@dataclass(frozen=True, eq=False)
class FoldDescription:
    """Counts and distances of every split of some folds; a row of each array is a split, in the order of the folds.

    ``values`` holds a column for each name in ``measures`` (of ``MEASURES``), ``random`` the same for ``n_random``
    draws of folds with the same sizes. ``n_rows_used``: the rows of either part that distances were measured on.
    ``most_pairs``: how many near-duplicate pairs were kept, if there are more (else None).
    """

    class_names: tuple[str, ...]
    n_train: Integer[np.ndarray, " n_splits"]
    n_label: Integer[np.ndarray, "n_splits n_classes"]
    n_label_wanted: Float[np.ndarray, "n_splits n_classes"]
    measures: tuple[str, ...]
    values: Float[np.ndarray, "n_splits n_measures"]
    random: Float[np.ndarray, "n_random n_splits n_measures"]
    auc_interval: Float[np.ndarray, "n_splits 2"]
    n_rows_used: Integer[np.ndarray, "n_splits 2"]
    most_pairs: int | None = None

    @property
    def n_test(self) -> Integer[np.ndarray, " n_splits"]:
        """How many samples each split tests on."""
        return self.n_label.sum(axis=1)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Whether near-duplicates were too many to count, and which labels are too rare to be in all folds."""
        n_splits = len(self.n_label)
        too_many = () if self.most_pairs is None else (_TOO_MANY.format(n=self.most_pairs),)
        return too_many + tuple(
            f"{name} has fewer samples ({n}) than there are folds ({n_splits}): it is missing from {missing} of them."
            for name, n, missing in zip(
                self.class_names, self.n_label.sum(axis=0), (self.n_label == 0).sum(axis=0), strict=True
            )
            if 0 < n < n_splits
        )

    def table(self) -> pd.DataFrame:
        """Give one row per split.

        Columns: ``fold`` (from 0), ``n_train``, ``n_test``, ``n_wanted`` (samples that the test part should have), then
        each measure and, as ``<measure>_random``, its mean over random folds of the same sizes (where any were drawn).

        Examples
        --------
        >>> folds, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        >>> description = describe_folds(folds, y, None, class_names=["cat", "dog"], rng=np.random.default_rng(0))
        >>> description.table()[["fold", "n_train", "n_test", "n_wanted", "label_tv"]]
           fold  n_train  n_test  n_wanted  label_tv
        0     0        2       2       2.0       0.0
        1     1        2       2       2.0       0.0
        """
        columns = {
            "fold": np.arange(len(self.n_train)),
            "n_train": self.n_train,
            "n_test": self.n_test,
            "n_wanted": self.n_label_wanted.sum(axis=1),
        }
        for position, measure in enumerate(self.measures):
            columns[measure] = self.values[:, position]
            if len(self.random):
                columns[f"{measure}_random"] = self.random[:, :, position].mean(axis=0)
        return pd.DataFrame(columns)

    def label_counts(self) -> pd.DataFrame:
        """Give a row per label and a column per split (from 0): how many samples of it the test part holds, as text.

        Behind it stands, in brackets, what was wanted, where that is a sample or more away.

        Examples
        --------
        >>> folds, y = np.array([0, 1, 1, 1]), np.array([0, 0, 0, 1])
        >>> wanted = np.array([[2.0, 0.5], [1.0, 0.5]])
        >>> rng = np.random.default_rng(0)
        >>> describe_folds(folds, y, None, class_names=["cat", "dog"], wanted=wanted, rng=rng).label_counts()
                   0        1
        cat  1 (2.0)  2 (1.0)
        dog        0        1
        """
        cells = [
            [
                f"{n}" if abs(n - wanted) < 1 else f"{n} ({wanted:.1f})"
                for n, wanted in zip(of_label, wanted_of_label, strict=True)
            ]
            for of_label, wanted_of_label in zip(self.n_label.T, self.n_label_wanted.T, strict=True)
        ]
        return pd.DataFrame(cells, index=list(self.class_names))

    def measures_table(self) -> pd.DataFrame:
        """Give one row per split and measure.

        Columns: ``fold``, ``measure``, ``title``, ``value``, ``lower`` and ``upper`` (95 %; of the AUC only), then
        ``random``, ``random_lowest`` and ``random_highest``: mean and range over all random folds of the same sizes.
        """
        rows = []
        for split, position in np.ndindex(self.values.shape):
            measure = self.measures[position]
            drawn = self.random[:, :, position] if len(self.random) else np.array([np.nan])
            lower, upper = self.auc_interval[split] if measure == "auc" else (np.nan, np.nan)
            rows.append(
                {
                    "fold": split,
                    "measure": measure,
                    "title": MEASURES[measure],
                    "value": self.values[split, position],
                    "lower": lower,
                    "upper": upper,
                    "random": drawn.mean(),
                    "random_lowest": drawn.min(),
                    "random_highest": drawn.max(),
                }
            )
        return pd.DataFrame(rows)

    def labels_table(self) -> pd.DataFrame:
        """Give one row per split and label: ``fold``, ``label``, ``n`` in the test part, ``n_wanted``, ``share``.

        Examples
        --------
        >>> folds, y = np.array([0, 1, 1]), np.array([0, 0, 1])
        >>> describe_folds(folds, y, None, class_names=["cat", "dog"], rng=np.random.default_rng(0)).labels_table()
           fold label  n  n_wanted  share
        0     0   cat  1       1.0    1.0
        1     0   dog  0       0.5    0.0
        2     1   cat  1       1.0    0.5
        3     1   dog  1       0.5    0.5
        """
        n_splits, n_classes = self.n_label.shape
        return pd.DataFrame(
            {
                "fold": np.repeat(np.arange(n_splits), n_classes),
                "label": list(self.class_names) * n_splits,
                "n": self.n_label.ravel(),
                "n_wanted": self.n_label_wanted.ravel(),
                "share": (self.n_label / self.n_test[:, None]).ravel(),
            }
        )


def describe_folds(
    folds: Integer[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    features: Real[np.ndarray, "n_samples n_features"] | None,
    *,
    class_names: Sequence[str],
    test_share: float | None = None,
    wanted: Float[np.ndarray, "n_splits n_classes"] | None = None,
    duplicates: NearDuplicates | None = None,
    n_random: int = 2,
    rng: np.random.Generator,
) -> FoldDescription:
    """Count labels ``y`` (codes into ``class_names``) in every fold, and measure how unlike train and test are.

    ``folds`` is what a fold scheme assigns: -1 is in no test part. Wanted is an equal part of every label in each fold;
    for a single split, ``test_share`` of every label (or what the test part has, if it is None); ``wanted`` says
    otherwise, where labels were specified. Without ``features``
    only labels are compared; ``duplicates`` are counted across the cut where they are given. Every figure is
    measured on ``n_random`` shuffles of ``folds`` too (0: none): what is no more unlike than they is as good as
    random.

    Raises DataError where a fold below the highest is empty, or leaves nothing to train on.
    """
    n_splits = int(folds.max(initial=-1)) + 1
    n_fold = np.bincount(folds[folds >= 0], minlength=n_splits)
    if n_splits == 0 or (n_fold == 0).any() or (n_fold == len(folds)).any():
        raise DataError(
            f"The folds hold {', '.join(map(str, n_fold)) or 'no'} of {len(folds)} samples: each must hold one or "
            "more, and leave one to train on."
        )
    n_label = np.array([np.bincount(y[folds == fold], minlength=len(class_names)) for fold in range(n_splits)])
    n_whole = np.bincount(y, minlength=len(class_names))
    if n_splits > 1:
        share = 1 / n_splits
    else:
        share = n_fold[0] / len(folds) if test_share is None else test_share

    measured = _measures(folds, y, features, duplicates, rng)
    shuffled = [_measures(rng.permutation(folds), y, features, duplicates, rng).values for _ in range(n_random)]
    return FoldDescription(
        class_names=tuple(class_names),
        n_train=len(folds) - n_fold,
        n_label=n_label,
        n_label_wanted=np.tile(n_whole * share, (n_splits, 1)) if wanted is None else wanted,
        measures=measured.names,
        values=measured.values,
        random=np.array(shuffled).reshape(n_random, *measured.values.shape),
        auc_interval=measured.auc_interval,
        n_rows_used=measured.n_rows_used,
        most_pairs=len(duplicates.pairs) if duplicates is not None and duplicates.full else None,
    )


@dataclass(frozen=True, eq=False)
class _Measured:
    names: tuple[str, ...]
    values: Float[np.ndarray, "n_splits n_measures"]
    auc_interval: Float[np.ndarray, "n_splits 2"]
    n_rows_used: Integer[np.ndarray, "n_splits 2"]


def _measures(
    folds: Integer[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    features: Real[np.ndarray, "n_samples n_features"] | None,
    duplicates: NearDuplicates | None,
    rng: np.random.Generator,
) -> _Measured:
    """Measure every split of some folds."""
    rows, intervals, n_used = [], [], []
    n_classes = int(y.max()) + 1
    for fold in range(int(folds.max()) + 1):
        in_test = folds == fold
        n_train, n_test = (np.bincount(y[part], minlength=n_classes) for part in (~in_test, in_test))
        row = {"label_tv": total_variation(n_train, n_test)}
        interval, used = (np.nan, np.nan), (0, 0)
        if features is not None:
            test = features[in_test]
            row["variance"] = float(((test - test.mean(axis=0)) ** 2).sum(axis=1).mean())
            apart = part_distances(features[~in_test], test, rng=rng)
            row |= {"mmd": apart.mmd, "energy": apart.energy, "auc": apart.auc, "nearest": apart.nearest}
            interval, used = (apart.auc_lower, apart.auc_upper), (apart.n_train, apart.n_test)
        if duplicates is not None:
            row["near_duplicates"] = float(duplicates.n_across(in_test))
        rows.append(row)
        intervals.append(interval)
        n_used.append(used)
    values = np.array([list(row.values()) for row in rows])
    return _Measured(tuple(rows[0]), values, np.array(intervals), np.array(n_used))
