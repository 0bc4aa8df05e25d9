"""How much does a result on folds owe to which models were trained?

A fold is tested by one trained model, so that what was luck in its training is shared by all samples of the fold. How
much this adds is seen in folds that differ by more than their samples explain (variance components, one way).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.intervals import moderated_variances


@dataclass(frozen=True)
class TrainingError:
    """The variance of a mean as folds have it: `whole` with its `df`, and what chance among samples alone would bring.

    `df` is 0 where a single fold was tested, which says nothing of other trainings.
    """

    whole: float
    chance: float
    df: float

    def added_to(self, se: float, n: int) -> tuple[float, float]:
        """Give a standard error over `n` samples with that over trainings added, and its degrees of freedom.

        Examples
        --------
        >>> TrainingError(whole=0.001, chance=0.0001, df=4.0).added_to(0.04, 100)
        (0.05, 22.6...)
        """
        if self.df == 0:
            return se, 0.0
        variance = se**2 + max(self.whole - self.chance, 0.0)
        if variance == 0:
            return 0.0, n - 1.0
        # What is added is the difference of two variances; its error is that of the larger one (Satterthwaite).
        df = variance**2 / (self.whole**2 / self.df + se**4 / (n - 1))
        return float(np.sqrt(variance)), min(float(df), n - 1.0)


UNTRIED = TrainingError(0.0, 0.0, 0.0)
"""Of what a single model was tested on."""


def moderated(errors: Sequence[TrainingError]) -> list[TrainingError]:
    """Errors of several means on the same folds, drawn together as far as they agree: by how many times chance's.

    Examples
    --------
    >>> errors = [TrainingError(times * chance, chance, 4.0) for times, chance in ((1.0, 0.2), (0.8, 0.1), (1.2, 0.4))]
    >>> [(round(each.whole / each.chance, 2), each.df) for each in moderated(errors)]
    [(1.29, 12.0), (1.29, 12.0), (1.29, 12.0)]
    """
    chance = np.array([each.chance or np.nan for each in errors])
    times, dfs = moderated_variances(
        np.array([each.whole for each in errors]) / chance, np.array([each.df for each in errors])
    )
    return [
        each if np.isnan(many) else replace(each, whole=float(many) * each.chance, df=float(df))
        for each, many, df in zip(errors, times, dfs, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class TrainedFolds:
    """Which predictions share a trained model: `fold` counts the folds of all seeds, `seed` is that of each fold.

    `seeds` are those that say something of trainings: a seed with a single tested fold only where there is no other.
    `n_seeds` is how many they are worth: as many as there are where folds have nothing in common, and one where all
    are alike, which train the same models. They tell by how much trainings differ. That they make it no less is
    because all train on samples of the same data: what those share no other seed would show.
    """

    fold: Integer[np.ndarray, " n_tested"]
    seed: Integer[np.ndarray, " n_folds"]
    seeds: Integer[np.ndarray, " n_usable"]
    n_seeds: float

    @classmethod
    def of(cls, tested: pd.DataFrame) -> "TrainedFolds":
        """The folds of `tested`, which has seed, fold and row, a line for each prediction.

        Examples
        --------
        >>> def seeds(*folds):
        ...     tables = (pd.DataFrame({"seed": seed, "fold": of, "row": range(8)}) for seed, of in enumerate(folds))
        ...     return TrainedFolds.of(pd.concat(tables)).n_seeds
        >>> seeds(np.arange(8) % 2, np.arange(8) % 2), seeds(np.arange(8) % 2, np.arange(8) // 4)
        (1.0, 2.0)
        """
        cells, fold = np.unique(tested[["seed", "fold"]].to_numpy(dtype=np.int64), axis=0, return_inverse=True)
        seeds, n_folds = np.unique(cells[:, 0], return_counts=True)
        usable = seeds[n_folds > 1] if (n_folds > 1).any() else seeds
        return cls(fold.ravel(), cells[:, 0], usable, _distinct_seeds(tested[tested["seed"].isin(usable)]))

    def error_of(self, values: Float[np.ndarray, " n_tested"]) -> TrainingError:
        """What the mean of `values`, one of each prediction, owes to the trainings of a seed."""
        n, total, squares = (np.bincount(self.fold, weights) for weights in (None, values, values**2))
        within = np.maximum(squares - total**2 / n, 0.0)
        of_seeds = [
            _of_seed(n[self.seed == seed], (total / n)[self.seed == seed], float(within[self.seed == seed].sum()))
            for seed in self.seeds
        ]
        whole, chance, df = np.mean(of_seeds, axis=0)
        return TrainingError(float(whole), float(chance), float(df * self.n_seeds))

    def is_spread(self, part: Bool[np.ndarray, " n_tested"]) -> bool:
        """Whether the samples of a part lie in more than half as many folds as all do, for every seed.

        Folds count by the squared shares of samples in them (Kish), so that one which has nearly all counts as one.

        Examples
        --------
        >>> folds = TrainedFolds.of(pd.DataFrame({"seed": 0, "fold": np.arange(20) % 4, "row": range(20)}))
        >>> folds.is_spread(np.arange(20) < 8), folds.is_spread(np.arange(20) % 4 == 1)
        (True, False)
        """
        n, own = (np.bincount(self.fold[rows], minlength=len(self.seed)) for rows in (slice(None), part))
        return all(
            _n_folds(own[self.seed == seed]) > _n_folds(n[self.seed == seed]) / 2
            for seed in self.seeds
            if own[self.seed == seed].any()
        )


def _n_folds(n: Integer[np.ndarray, " n_folds"]) -> float:
    return float(n.sum() ** 2 / (n.astype(np.float64) ** 2).sum())


def _of_seed(
    n: Integer[np.ndarray, " n_folds"], mean: Float[np.ndarray, " n_folds"], within: float
) -> tuple[float, float, float]:
    """Of one seed, with folds of `n` samples. Where each fold has one, each sample has its training: nothing to add."""
    total, n_folds = n.sum(), len(n)
    if n_folds == 1 or total == n_folds:
        return 0.0, 0.0, n_folds - 1.0
    between = float((n * (mean - (n * mean).sum() / total) ** 2).sum()) / (n_folds - 1)
    usual = (total - (n**2).sum() / total) / (n_folds - 1)
    share = float((n**2).sum()) / total**2 / usual
    return between * share, within / (total - n_folds) * share, n_folds - 1.0


def _distinct_seeds(tested: pd.DataFrame) -> float:
    from sklearn.metrics import adjusted_rand_score

    folds = tested.pivot(index="row", columns="seed", values="fold").dropna().to_numpy(dtype=np.int64)
    n_seeds = folds.shape[1]
    if n_seeds == 1:
        return 1.0
    alike = [max(float(adjusted_rand_score(a, b)), 0.0) for at, a in enumerate(folds.T) for b in folds.T[:at]]
    return n_seeds**2 / (n_seeds + 2 * sum(alike))
