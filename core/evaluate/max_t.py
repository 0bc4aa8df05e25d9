"""Which of many cells stand out, when all of them were shuffled at once? Westfall and Young's step-down maxima.

Holm's correction needs p-values of 5 % divided by the number of cells, and so twenty shuffles a cell; the maximum over
cells of the shuffles themselves needs twenty in all.
"""

import numpy as np
from jaxtyping import Float


def max_t(statistics: Float[np.ndarray, "n_cells n_shuffles"]) -> Float[np.ndarray, " n_cells"]:
    """P-values of the cells, corrected for looking at all of them; the first column is what was observed.

    Each cell is brought to the same scale by mean and spread of its whole row, the observed value included: columns are
    then as exchangeable as before, and p errs as seldom as it says however few there are (Westfall and Young 1993,
    algorithm 2.8).

    Examples
    --------
    >>> shuffles = np.random.default_rng(0).normal(size=(10, 99))
    >>> observed = np.r_[6.0, np.zeros(9)]
    >>> max_t(np.column_stack([observed, shuffles]))[:2].round(2)
    array([0.01, 0.99])
    """
    spread = statistics.std(axis=1, keepdims=True)
    scaled = (statistics - statistics.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    order = np.argsort(scaled[:, 0], kind="stable")  # the smallest first: each maximum is over those that are left
    largest = np.maximum.accumulate(scaled[order], axis=0)
    p = (largest >= scaled[order, :1]).mean(axis=1)
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[::-1])[::-1]
    return corrected
