"""How far do the training and the test part of a split lie apart, in their features? Four answers, none from a model.

MMD (Gretton et al. 2012, lemma 6), energy distance (Székely & Rizzo 2013), a classifier that tells the parts apart
(Lopez-Paz & Oquab 2017), and the way to the nearest neighbour. On samples drawn at random, so that 20,000 rows take
no longer than a page can wait.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real

from touchstone.core.models.threads import single_threaded

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
