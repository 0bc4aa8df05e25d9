"""How far would scores be off with other samples? The jackknife: what would each be without each sample in turn?

Which classes a macro F1 is a mean over depends on the samples: a class counts in a fold once it is there or was said
there. Where classes have a sample or two in a fold, that is much of what other samples would change, and a bootstrap
gets it wrong: resamples lose classes and never find new ones, so that their scores lie to one side of the score. The
jackknife counts classes as the score itself does, and its variance is on average never too small (Efron & Stein 1981).
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.intervals import UNKNOWN, Interval, share_interval, t_interval, t_p_value, within
from touchstone.core.evaluate.metrics import Counts, guessed
from touchstone.core.evaluate.units import Design, Error

_AT_ONCE = 500_000
"""Numbers held at once, whatever the number of folds and classes."""


def scores_without(
    counts: Counts,
    score: Callable[[Counts], Float[np.ndarray, "*folds"]],
    *,
    fold: Integer[np.ndarray, " n_tested"],
    y: Integer[np.ndarray, " n_tested"],
    y_pred: Integer[np.ndarray, " n_tested"],
) -> Float[np.ndarray, " n_tested"]:
    """What each sample's fold would score without it; NaN where nothing could be said of the fold then.

    `counts` are those of the folds, and `score` says what counts come to.

    Examples
    --------
    >>> from touchstone.core.evaluate.cluster_folds.results import counted
    >>> fold, y, said = np.zeros(3, dtype=int), np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> def accuracy(counts: Counts) -> np.ndarray:
    ...     return counts.right.sum(axis=-1) / counts.true.sum(axis=-1)
    >>> scores_without(counted(y, said, fold, 1, 2), accuracy, fold=fold, y=y, y_pred=said)
    array([0.5, 1. , 0.5])
    """
    n_classes = counts.true.shape[-1]

    def left(cell: np.ndarray) -> Counts:
        at, predicted = np.arange(len(cell)), cell % n_classes
        fold_of_cell, true = np.divmod(cell // n_classes, n_classes)
        rest = Counts(counts.right[fold_of_cell], counts.true[fold_of_cell], counts.predicted[fold_of_cell])
        hit = true == predicted
        rest.right[at[hit], true[hit]] -= 1
        rest.true[at, true] -= 1
        rest.predicted[at, predicted] -= 1
        return rest

    return _scored((fold * n_classes + y) * n_classes + y_pred, left, score, n_classes)


def guesses_without(
    true: Integer[np.ndarray, "n_folds n_classes"],
    shares: Float[np.ndarray, "n_folds n_classes"],
    score: Callable[[Counts], Float[np.ndarray, "*folds"]],
    *,
    fold: Integer[np.ndarray, " n_tested"],
    y: Integer[np.ndarray, " n_tested"],
) -> Float[np.ndarray, " n_tested"]:
    """What guessing by `shares` would score in each sample's fold without it (`true` are the folds' labels)."""
    n_classes = true.shape[-1]

    def left(cell: np.ndarray) -> Counts:
        fold_of_cell, label = np.divmod(cell, n_classes)
        rest = true[fold_of_cell]
        rest[np.arange(len(cell)), label] -= 1
        return guessed(rest, shares[fold_of_cell])

    return _scored(fold * n_classes + y, left, score, n_classes)


def _scored(
    cell_of_row: Integer[np.ndarray, " n_tested"],
    left: Callable[[np.ndarray], Counts],
    score: Callable[[Counts], Float[np.ndarray, "*folds"]],
    n_classes: int,
) -> Float[np.ndarray, " n_tested"]:
    """The score of what is left without a sample, once for all samples that leave the same."""
    cells, which = np.unique(cell_of_row, return_inverse=True)
    step = max(_AT_ONCE // n_classes, 1)
    scores = [score(left(cells[start : start + step])) for start in range(0, len(cells), step)]
    return np.concatenate([*scores, np.empty(0)])[which]


def pulls_on_mean(
    values: Float[np.ndarray, " n_folds"],
    without: Float[np.ndarray, " n_tested"],
    fold: Integer[np.ndarray, " n_tested"],
) -> Float[np.ndarray, " n_tested"]:
    """How far each sample pulls the mean over folds: the mean less what it would be without the sample.

    `values` are the folds' scores (NaN: not defined, and no part of the mean), `without` those without each sample.

    Examples
    --------
    >>> pulls_on_mean(np.array([0.5, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]))
    array([-0.25,  0.25,  0.  ])
    """
    known = ~np.isnan(values)
    n, total, own = int(known.sum()), float(values[known].sum()), values[fold]
    if n == 0:
        return np.zeros(len(fold))
    lost = np.isnan(without) & ~np.isnan(own)  # the fold would be no part of the mean any more
    rest = total - np.where(np.isnan(own), 0.0, own)
    mean = (rest + np.where(np.isnan(without), 0.0, without)) / np.where(lost, max(n - 1, 1), n)
    return total / n - (mean if n > 1 else np.where(lost, total, mean))


def beside_folds(values: Float[np.ndarray, " n_folds"], fold: Integer[np.ndarray, " n_tested"]) -> np.ndarray:
    """What a sample's fold adds to its pull on the mean of folds: its share of how far the fold lies from the others.

    Few units are in a fold, and one alone may be all of it: what units differ by is then between folds, not in them.

    Examples
    --------
    >>> beside_folds(np.array([0.5, 1.0]), np.array([0, 0, 1]))
    array([-0.0625, -0.0625,  0.125 ])
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(len(fold))
    off = np.where(known, values - values[known].mean(), 0.0) / known.sum()
    return (off / np.maximum(np.bincount(fold, minlength=len(values)), 1))[fold]


def standard_error(pulls: Float[np.ndarray, " n_samples"], tested: Bool[np.ndarray, " n_samples"]) -> float:
    """The jackknife's standard error of a number on which every tested sample has such a pull.

    Of the mean it is the usual one, the standard deviation over the root of n:

    >>> values = np.array([1.0, 2.0, 6.0])
    >>> round(standard_error((values - 3.0) / 2, np.ones(3, dtype=bool)), 4), round(float(values.std(ddof=1)), 4)
    (1.5275, 2.6458)
    """
    n = int(tested.sum())
    return float(np.sqrt(n - 1) * pulls[tested].std()) if n > 1 else 0.0


def error_of(
    pulls: Float[np.ndarray, " n_samples"],
    tested: Bool[np.ndarray, " n_samples"],
    design: Design,
    weights: Float[np.ndarray, " n_samples"],
) -> Error:
    """The same over the units of the samples, with its degrees of freedom; normal where each sample is one.

    `weights` are the samples' shares of what the number is a mean of.
    """
    n = int(tested.sum())
    if design.by_sample or n < 2:
        return Error(standard_error(pulls, tested), np.inf)
    return design.of(tested).error(pulls[tested] * (n - 1) / n, weights[tested])


def trained_anew(error: Error, design: Design) -> Error:
    """The error of a score of models that other units would train: a unit counts twice, as a source does.

    It is tested, which its pull shows, and it trains the models that are tested on the others, which it does not. A
    single sample hardly changes a model, so that where each is a unit the error is as it was.

    Examples
    --------
    >>> designs = (Design(np.arange(30) // 2, "author"), Design())
    >>> [round(trained_anew(Error(0.1, 14.0), design).se, 3) for design in designs]
    [0.141, 0.1]
    """
    return error if design.by_sample else replace(error, se=sqrt(2) * error.se)


def difference_interval(value: float, error: Error) -> tuple[Interval, float]:
    """The interval of a difference and its two-sided p-value, which is below .05 just where the interval lacks 0.

    Examples
    --------
    >>> interval, p = difference_interval(1.0, Error(0.5, np.inf))
    >>> round(interval.lower, 2), round(p, 3)
    (0.02, 0.046)
    """
    return within(t_interval(value, error.se, error.df), -1.0, 1.0), t_p_value(value, error.se, error.df)


def scaled_interval(value: float, error: Error) -> Interval:
    """The interval of a score, Wilson's by Student's t, so that it holds the score and stays within 0 and 1.

    Examples
    --------
    >>> scaled_interval(0.97, Error(0.01, np.inf))
    Interval(lower=0.943..., upper=0.984...)
    """
    return UNKNOWN if np.isnan(value) else share_interval(value, error.se, error.df)
