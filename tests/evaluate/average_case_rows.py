"""Rows of an average-case run as a plan would write them, from made-up robustness whose truth is known."""

import numpy as np
import pandas as pd

from touchstone.core.evaluate.average_case.plan import COLUMNS


def rows_of(p, y, *, sigma=0.1, estimator="mmse", part="samples", predicted=None, **columns):
    """One estimator's rows at one sigma; all predictions right unless given."""
    n = len(p)
    cells = {
        "part": part,
        "row": np.arange(n),
        "label": y,
        "sigma": sigma,
        "estimator": estimator,
        "predicted": y if predicted is None else predicted,
        "p_robust": p,
        "error": 1e-4,
        "lower": np.nan,
        "upper": np.nan,
        "n_draws": 6,
        "converged": True,
        "degenerate": False,
        "seconds": 0.01,
        "status": "ok",
    }
    return pd.DataFrame({name: np.broadcast_to((cells | columns)[name], n) for name in COLUMNS}).astype(COLUMNS)


def skewed(n, mean, rng):
    """Shares near 1 with a tail below, as p_robust is."""
    return rng.beta(4.0, 4.0 * (1 - mean) / mean, size=n)


def counted(p, y, *, n_draws=1000, sigma=0.1, rng):
    """Monte-Carlo's rows for samples whose p_robust is truly `p`."""
    share = rng.binomial(n_draws, p) / n_draws
    half = 2 * np.sqrt(share * (1 - share) / n_draws) + 1e-3
    ends = {"lower": np.maximum(share - half, 0.0), "upper": np.minimum(share + half, 1.0)}
    return rows_of(
        share, y, sigma=sigma, estimator="monte_carlo", part="audit", n_draws=n_draws, seconds=0.2, error=np.nan, **ends
    )
