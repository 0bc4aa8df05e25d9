"""What did a scheme do to the data? Sizes and labels of every fold, wanted and got, and how far train and test lie
apart, each figure beside what folds of the same sizes give when they are drawn at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer, Real

from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent.duplicates import NearDuplicates

# How far do the training and the test part of a split lie apart, in their features? Four answers, none from a model.
#
# MMD (Gretton et al. 2012, lemma 6), energy distance (Székely & Rizzo 2013), a classifier that tells the parts apart
# (Lopez-Paz & Oquab 2017), and the way to the nearest neighbour. On samples drawn at random, so that 20,000 rows take
# no longer than a page can wait.


MOST_ROWS = 750
"""Rows of each part that distances are taken between."""
MOST_REFERENCES = 3000
"""Training rows among which the nearest neighbour is sought."""
N_AUC_FOLDS = 5
Z = 1.959963984540054  # 97.5 % of a normal distribution lies below

Features = Real[np.ndarray, "_ n_features"]


@dataclass(frozen=True)
class PartDistances:
    """How far two parts of a data set lie apart; NaN where a part is too small to tell (fewer than two rows).

    ``mmd``: squared maximum mean discrepancy with a Gaussian kernel as wide as the median distance. 0 is alike; the
    estimate is unbiased, so that alike parts also come out below 0.
    ``energy``: energy distance as a share of its largest value, from 0 (alike) to 1; unbiased in the same way.
    ``auc``: area under the curve of a logistic regression that tells test from training rows it was not fitted on; .5
    is alike, 1 is apart. ``auc_lower`` and ``auc_upper``: a 95 % interval over rows (`auc_interval`).
    ``nearest``: how much farther a test row is from the nearest training row than a training row is, as a ratio of
    mean distances; 1 is alike. NaN where training rows have twins, so that theirs is 0.
    ``n_train`` and ``n_test`` rows of each part were looked at.
    """

    mmd: float
    energy: float
    auc: float
    auc_lower: float
    auc_upper: float
    nearest: float
    n_train: int
    n_test: int


def part_distances(
    train_features: Features, test_features: Features, *, rng: np.random.Generator, max_rows: int = MOST_ROWS
) -> PartDistances:
    """Measure how far a test part lies from its training part, on at most `max_rows` random rows of each.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> near = part_distances(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)), rng=rng)
    >>> far = part_distances(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 3.0, rng=rng)
    >>> near.mmd < 0.02 < far.mmd, near.energy < 0.02 < far.energy, near.auc < 0.6 < far.auc, near.nearest < far.nearest
    (True, True, True, True)
    """
    train_features = rng.permutation(train_features.astype(np.float64))
    test = rng.permutation(test_features.astype(np.float64))[:max_rows]
    train = train_features[:max_rows]
    n_queries = min(max_rows, len(train_features) // 2)
    queries, references = train_features[:n_queries], train_features[n_queries : n_queries + MOST_REFERENCES]
    with single_threaded():
        mmd, energy = _kernel_distances(train, test)
        auc, lower, upper = _told_apart(train, test, rng)
        nearest = _nearest(queries, test, references)
    return PartDistances(mmd, energy, auc, lower, upper, nearest, len(train), len(test))


def _kernel_distances(train: Features, test: Features) -> tuple[float, float]:
    """MMD and energy distance from one matrix of distances between all rows of both parts."""
    from sklearn.metrics import euclidean_distances

    n = len(train)
    if min(n, len(test)) < 2:
        return float("nan"), float("nan")
    pooled = np.concatenate([train, test])
    distance = euclidean_distances(pooled - pooled.mean(axis=0))
    within = (_mean_of_pairs(distance[:n, :n]), _mean_of_pairs(distance[n:, n:]))
    between = float(distance[:n, n:].mean())
    # 2 E|X - Y| - E|X - X'| - E|Y - Y'|, over its first term: 0 for equal distributions, at most 1 (Székely & Rizzo).
    energy = (2 * between - sum(within)) / (2 * between) if between > 0 else 0.0

    # The median heuristic: with the width of a typical distance the kernel neither sees all rows alike nor all apart.
    width = float(np.median(distance[np.triu_indices(len(pooled), 1)])) or float(distance.max()) or 1.0
    kernel = np.exp(-(distance**2) / (2 * width**2))
    mmd = _mean_of_pairs(kernel[:n, :n]) + _mean_of_pairs(kernel[n:, n:]) - 2 * float(kernel[:n, n:].mean())
    return mmd, energy


def _mean_of_pairs(matrix: Float[np.ndarray, "n n"]) -> float:
    """Take the mean over pairs of different rows: what makes an estimate unbiased."""
    n = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (n * (n - 1)))


def _told_apart(train: Features, test: Features, rng: np.random.Generator) -> tuple[float, float, float]:
    """AUC of a cross-validated logistic regression, the mean over its folds, with its interval."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    n_folds = min(N_AUC_FOLDS, len(train), len(test))
    if n_folds < 2:
        return float("nan"), float("nan"), float("nan")
    x = np.concatenate([train, test])
    in_test = np.arange(len(x)) >= len(train)
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    each = []
    for fitted, scored in folds.split(x, in_test):
        score = model.fit(x[fitted], in_test[fitted]).decision_function(x[scored])
        each.append(roc_auc_score(in_test[scored], score))
    auc = float(np.mean(each))
    return auc, *auc_interval(auc, len(train), len(test), n_folds=n_folds)


def auc_interval(auc: float, n_negative: int, n_positive: int, *, n_folds: int) -> tuple[float, float]:
    """Give a 95 % interval of an AUC that is the mean over folds of a cross-validation.

    All AUCs that are no more than 1.96 standard errors away from the one that was found, where each has its own error
    (method 5 of Newcombe 2006): so that 0 and 1 get intervals, too. The folds share training rows, and what one fold
    lacks another has too much of: their variance is multiplied as Nadeau & Bengio (2003, section 3) do. Without that,
    parts that are alike would be called different in 17 of 100 cases.

    Examples
    --------
    >>> [round(end, 2) for end in auc_interval(0.5, 400, 20, n_folds=5)]
    [0.32, 0.68]
    >>> [round(end, 2) for end in auc_interval(1.0, 400, 20, n_folds=5)]
    [0.88, 1.0]
    """
    from scipy.optimize import brentq

    # Nadeau & Bengio: 1/K + n_test/n_train for 1/K, which is 1 + K/(K - 1) times as much.
    shared = 1 + n_folds / (n_folds - 1)
    n_beyond = (n_negative + n_positive) / 2 - 1

    def error(at: float) -> float:
        spread = 1 + n_beyond * ((1 - at) / (2 - at) + at / (1 + at))
        return float(np.sqrt(shared * at * (1 - at) * spread / (n_negative * n_positive)))

    def lower_end(estimate: float) -> float:
        """Where the line meets the error; at 0 and 1 they meet a second time, which says nothing."""
        if estimate <= _TINY:
            return 0.0
        return float(brentq(lambda at: estimate - at - Z * error(at), 0.0, estimate - _TINY))

    return lower_end(auc), 1 - lower_end(1 - auc)


_TINY = 1e-12


def _nearest(queries: Features, test: Features, references: Features) -> float:
    """Mean way from test rows to the nearest reference, over that from training rows to the very same references."""
    from sklearn.neighbors import NearestNeighbors

    if len(queries) == 0 or len(test) == 0:
        return float("nan")
    # The same references for both: the nearest of many is nearer than that of few, wherever the rows lie.
    neighbours = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(references)
    ways = [float(neighbours.kneighbors(rows)[0].mean()) for rows in (test, queries)]
    return ways[0] / ways[1] if ways[1] > 0 else float("nan")


def total_variation(counts: Integer[np.ndarray, " n_classes"], others: Integer[np.ndarray, " n_classes"]) -> float:
    """Half the sum of differences between two label distributions, each given by its counts; none may be empty.

    Examples
    --------
    >>> total_variation(np.array([1, 1]), np.array([3, 1]))
    0.25
    """
    return float(np.abs(counts / counts.sum() - others / others.sum()).sum() / 2)


# What did a scheme do to the data? Every split is measured, beside random ones of the same sizes.


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
