"""By how much is one recipe right more often than another, tried on the same folds?

A fold is tested by one trained model, so that what was luck in its training is shared by all samples of the fold. How
much this adds is seen in folds that differ by more than their samples explain (variance components, one way).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from core.evaluate.intervals import smoothed_mean


@dataclass(frozen=True)
class RecipeDifference:
    """How much more often the first recipe is right: `mean` with its `se` over samples and trainings, and its `df`.

    `mean` is drawn a little towards 0 (`smoothed_mean`); `shares` are how often each is right, as counted, on `n`
    samples. `df` is 0 where a single fold was tested: nobody can say then what another training would do.
    """

    mean: float
    se: float
    df: float
    shares: tuple[float, float]
    n: int


def recipe_difference(rows: pd.DataFrame) -> RecipeDifference:
    """Compare two recipes on the folds that both were tested on.

    `rows` has seed, fold, row, first and second: a line for each seed and sample, with whether each recipe was right.

    Examples
    --------
    >>> rows = pd.DataFrame({"seed": 0, "fold": np.arange(40) % 5, "row": range(40), "first": 1.0, "second": 1.0})
    >>> rows.loc[::4, "second"] = 0.0
    >>> difference = recipe_difference(rows)
    >>> difference.shares, round(difference.mean, 3), difference.n
    ((1.0, 0.75), 0.238, 40)
    """
    by_row = rows.groupby("row")
    first, second = (np.asarray(by_row[name].mean(), dtype=np.float64) for name in ("first", "second"))
    n, shares = len(first), (float(first.mean()), float(second.mean()))
    mean, of_samples = smoothed_mean(first - second)
    training = _of_training(rows.assign(apart=rows["first"] - rows["second"]))
    if training.df == 0:
        return RecipeDifference(mean, of_samples, 0.0, shares, n)
    variance = of_samples**2 + training.beyond
    # `beyond` is the difference of two variances; its error is that of the larger one (Satterthwaite).
    df = variance**2 / (training.whole**2 / training.df + of_samples**4 / (n - 1))
    return RecipeDifference(mean, float(np.sqrt(variance)), min(float(df), n - 1.0), shares, n)


class _Training(NamedTuple):
    """The variance that a mean owes to which models were trained: beyond chance, chance included, and its `df`."""

    beyond: float
    whole: float
    df: float


def _of_training(apart: pd.DataFrame) -> _Training:
    """Of all seeds. Where folds are much the same for another seed, they train the same models, and count as fewer."""
    folds = apart.groupby(["seed", "fold"])["apart"].agg(["size", "mean", "var"]).fillna({"var": 0.0})
    parts = np.array([_of_seed(*folds.loc[seed].to_numpy(dtype=np.float64).T) for seed in folds.index.unique("seed")])
    n_seeds = _distinct_seeds(apart.pivot(index="row", columns="seed", values="fold").dropna().to_numpy(dtype=np.int64))
    beyond, whole, df = parts.mean(axis=0)
    return _Training(float(max(beyond, 0.0) / n_seeds), float(whole / n_seeds), float(df * n_seeds))


def _of_seed(
    n: Float[np.ndarray, " n_folds"], mean: Float[np.ndarray, " n_folds"], variance: Float[np.ndarray, " n_folds"]
) -> _Training:
    """Of one seed, with folds of `n` samples. Where each fold has one, each sample has its training: nothing to add."""
    total, n_folds = n.sum(), len(n)
    if n_folds == 1 or total == n_folds:
        return _Training(0.0, 0.0, n_folds - 1.0)
    between = float((n * (mean - (n * mean).sum() / total) ** 2).sum()) / (n_folds - 1)
    within = float(((n - 1) * variance).sum()) / (total - n_folds)
    usual = (total - (n**2).sum() / total) / (n_folds - 1)
    share = float((n**2).sum()) / total**2 / usual
    return _Training((between - within) * share, between * share, n_folds - 1.0)


def _distinct_seeds(folds: np.ndarray) -> float:
    """How many seeds these are worth: as many as there are where folds have nothing in common, one where all are alike.

    >>> two = np.arange(8) % 2
    >>> _distinct_seeds(np.column_stack([two, two])), _distinct_seeds(np.column_stack([two, np.arange(8) // 4]))
    (1.0, 2.0)
    """
    from sklearn.metrics import adjusted_rand_score

    n_seeds = folds.shape[1]
    if n_seeds == 1:
        return 1.0
    alike = [max(float(adjusted_rand_score(a, b)), 0.0) for at, a in enumerate(folds.T) for b in folds.T[:at]]
    return n_seeds**2 / (n_seeds + 2 * sum(alike))
