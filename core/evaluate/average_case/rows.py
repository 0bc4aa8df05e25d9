"""The rows of a run of average-case robustness: their columns, and how they are made of what was estimated."""

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.evaluate.average_case.directions import N_STRENGTHS
from touchstone.core.evaluate.average_case.half_sigma import HalfSigma
from touchstone.core.evaluate.average_case.results import Estimate

COLUMNS = {
    "part": "str",
    "row": "Int64",
    "label": "Int64",
    "sigma": "float64",
    "estimator": "str",
    "predicted": "Int64",
    "p_robust": "float64",
    "error": "float64",
    "lower": "float64",
    "upper": "float64",
    "n_draws": "Int64",
    "converged": "boolean",
    "degenerate": "boolean",
    "seconds": "float64",
    "status": "str",
}
"""The columns of the rows and their types; one row for each sample, sigma and estimator.

`part` says what the row is for: "samples", "counted" (a few fresh draws of each, which class means rest on), "half"
(sigma-50 in place of sigma, with `lower` and `upper` its interval, infinite beyond the range), "audit" (Monte-Carlo and
all estimators on a part of the samples), "convergence" (those with `copies` among their facts, by the number of noisy
copies, there) or "directions" (the name of a direction in place of an estimator). `row` is the position in the data
set; `label` and `predicted` are codes of classes; `seconds` is the time per sample. The others are those of `Estimate`.
A failed trial is one row without figures.
"""

HALF = "sigma_50"
"""What stands in place of an estimator where a row holds the sigma at which half of the copies keep the prediction."""


def estimated(
    part: str,
    rows: Integer[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    name: str,
    estimate: Estimate,
    seconds: float,
) -> pd.DataFrame:
    """The rows of an estimate, by the name that they have."""
    cells = estimate.table().drop(columns="sample")
    cells = cells.assign(part=part, row=rows, label=y, estimator=name, seconds=seconds, status="ok")
    return cells[list(COLUMNS)].astype(COLUMNS)


def halved(
    rows: Integer[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    predicted: Integer[np.ndarray, " n"],
    half: HalfSigma,
    seconds: float,
) -> pd.DataFrame:
    """The rows of sigma-50: `converged` where it lies within the range that was drawn from.

    >>> half = HalfSigma(np.array([0.2]), np.array([0.1]), np.array([0.3]), 384)
    >>> halved(np.array([7]), np.array([0]), np.array([1]), half, 0.1)[["part", "row", "sigma"]].values.tolist()
    [['half', 7, 0.2]]
    """
    cells = {
        **dict.fromkeys(COLUMNS),
        "part": "half",
        "row": rows,
        "label": y,
        "sigma": half.value,
        "estimator": HALF,
        "predicted": predicted,
        "p_robust": 0.5,
        "lower": half.lower,
        "upper": half.upper,
        "n_draws": half.n_draws,
        "converged": np.isfinite(half.value),
        "degenerate": False,
        "seconds": seconds,
        "status": "ok",
    }
    return pd.DataFrame(cells, index=range(len(rows))).astype(COLUMNS)


def along_directions(
    rows: Integer[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    predicted: Integer[np.ndarray, " n"],
    sigma: float,
    names: tuple[str, ...],
    kept: Float[np.ndarray, "n k"],
    seconds: float,
) -> pd.DataFrame:
    """The rows of noise along named directions, a row for each sample and direction.

    >>> found = along_directions(np.array([7]), np.array([0]), np.array([1]), 0.1, ("blur",), np.array([[0.5]]), 0.1)
    >>> found[["part", "row", "estimator", "p_robust"]].values.tolist()
    [['directions', 7, 'blur', 0.5]]
    """
    n, k = kept.shape
    cells = {
        **dict.fromkeys(COLUMNS),
        "part": "directions",
        "row": np.repeat(rows, k),
        "label": np.repeat(y, k),
        "sigma": sigma,
        "estimator": np.tile(np.array(names, dtype=object), n),
        "predicted": np.repeat(predicted, k),
        "p_robust": kept.ravel(),
        "n_draws": N_STRENGTHS,
        "converged": True,
        "degenerate": False,
        "seconds": seconds,
        "status": "ok",
    }
    return pd.DataFrame(cells, index=range(n * k)).astype(COLUMNS)


def failed(part: str, sigma: float) -> pd.DataFrame:
    """The row of a trial that failed: no figures."""
    cells = {**dict.fromkeys(COLUMNS), "part": part, "sigma": sigma, "status": "failed"}
    return pd.DataFrame({name: pd.Series([cells[name]]).astype(kind) for name, kind in COLUMNS.items()})


def no_rows() -> pd.DataFrame:
    """The columns without any row."""
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
