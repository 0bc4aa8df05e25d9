"""How far would scores be off with other samples? One bootstrap over rows for all runs of a model, so that they pair.

A row that is drawn twice counts twice in every scheme and seed it was tested in.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Integer
from scipy import sparse, special

from core.evaluate.cluster_folds.counts import Counts
from core.evaluate.cluster_folds.tested import FoldedRun
from core.evaluate.intervals import UNKNOWN, Interval, t_p_value

_AT_ONCE = 100


def resampled(
    runs: Sequence[FoldedRun],
    y: Integer[np.ndarray, " n_samples"],
    score: Callable[[Counts], Float[np.ndarray, "n_resamples n_folds"]],
    *,
    n_classes: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[Float[np.ndarray, "n_resamples n_folds"]]:
    """The score of every fold of every run, in each of `n_resamples` resamples of the rows that any run tested.

    All runs see the same resamples. A fold that a resample leaves empty has NaN.
    """
    tested = np.flatnonzero(np.any([run.fold >= 0 for run in runs], axis=0))
    columns = np.stack([y[tested], *(values[tested] for run in runs for values in (run.fold, run.y_pred))])
    cells, cell_of_row = np.unique(columns, axis=1, return_inverse=True)
    n_cells, n_rows = cells.shape[1], len(tested)
    made = [_indicators(cells[0], cells[1 + 2 * i], cells[2 + 2 * i], run.n_folds, n_classes)
            for i, run in enumerate(runs)]  # fmt: skip
    scores: list[list[np.ndarray]] = [[] for _ in runs]
    for start in range(0, n_resamples, _AT_ONCE):
        n_now = min(_AT_ONCE, n_resamples - start)
        drawn = cell_of_row[rng.integers(n_rows, size=(n_now, n_rows))] + n_cells * np.arange(n_now)[:, None]
        times = np.bincount(drawn.ravel(), minlength=n_now * n_cells).reshape(n_now, n_cells)
        weights = np.ascontiguousarray(times.T, dtype=np.float32)  # exact up to 16 million
        for run, indicators, found in zip(runs, made, scores, strict=True):
            counts = np.asarray((indicators @ weights).T, dtype=np.float64)
            right, true, said = counts.reshape(n_now, 3, run.n_folds, n_classes).swapaxes(0, 1)
            found.append(score(Counts(right, true, said)))
    return [np.concatenate(found) for found in scores]


def bias_corrected(drawn: Float[np.ndarray, " n_resamples"], value: float, *, level: float = 0.95) -> Interval:
    """The bias-corrected percentile interval (Efron 1981): percentiles shifted by where `value` lies among the draws.

    A macro F1 with rare classes is lower in resamples than it is, which plain percentiles would count twice.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(0.5, 0.1, size=4000)
    >>> bias_corrected(draws, 0.5)
    Interval(lower=0.31..., upper=0.70...)
    """
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) == 0 or np.isnan(value):
        return UNKNOWN
    below = (np.sum(drawn < value) + np.sum(drawn == value) / 2) / len(drawn)
    shift = special.ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn)))
    tail = special.ndtri(0.5 + level / 2)
    lower, upper = np.quantile(drawn, special.ndtr(2 * shift + np.array([-tail, tail])))
    return Interval(float(lower), float(upper))


def difference_interval(drawn: Float[np.ndarray, " n_resamples"], value: float) -> tuple[Interval, float]:
    """The percentile interval of a difference, and the two-sided p-value of a normal one with the same spread.

    The share of draws beyond zero would have a floor that a correction for many comparisons turns into no evidence.

    Examples
    --------
    >>> interval, p = difference_interval(np.random.default_rng(0).normal(1.0, 0.5, size=4000), 1.0)
    >>> interval.lower > 0, 0.03 < p < 0.06
    (True, True)
    """
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < 2:
        return UNKNOWN, float("nan")
    lower, upper = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(lower), float(upper)), t_p_value(value, float(drawn.std(ddof=1)), np.inf)


def _indicators(y: np.ndarray, fold: np.ndarray, y_pred: np.ndarray, n_folds: int, n_classes: int) -> sparse.csr_matrix:
    """Which cells of rows (columns) each count of a fold and class (rows) sums: right, then true, then said."""
    block = n_folds * n_classes
    tested = np.flatnonzero(fold >= 0)
    hit = tested[y[tested] == y_pred[tested]]
    at = [fold[hit] * n_classes + y[hit], block + fold[tested] * n_classes + y[tested],
          2 * block + fold[tested] * n_classes + y_pred[tested]]  # fmt: skip
    rows, columns = np.concatenate([hit, tested, tested]), np.concatenate(at)
    ones = np.ones(len(rows), dtype=np.float32)
    return sparse.csr_matrix((ones, (columns, rows)), shape=(3 * block, len(y)))
