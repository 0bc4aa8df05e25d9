"""What is known of each sample? Its robustness, how far off the number may be, and what was strange about it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer


@dataclass(frozen=True, eq=False)
class Estimate:
    """The average-case robustness `p_robust` of each sample: how often noise leaves its prediction as it is.

    `error` bounds what the integral of an analytic estimator may be off, not what the model's curvature adds to that;
    `lower` and `upper` are the ends of Monte-Carlo's exact interval, which speaks about the model itself. What an
    estimator cannot say is NaN. `predicted` is the class without noise, `n_draws` how many noisy copies were used.
    Not `converged`: error or interval are wider than was asked for. `degenerate`: a margin does not change with the
    input (no gradient, or two logits alike), one margin determines another, or the model gave no number.
    `caveat` says what the numbers rest on.

    Examples
    --------
    >>> one = np.ones(1)
    >>> made = Estimate("softmax", 0.1, one, np.nan * one, np.nan * one, np.nan * one, np.zeros(1, dtype=np.int64),
    ...     np.zeros(1, dtype=np.int64), one > 0, one < 0, caveat="")
    >>> made.table()[["sample", "p_robust", "predicted"]].values.tolist()
    [[0.0, 1.0, 0.0]]
    """

    estimator: str
    sigma: float
    p_robust: Float[np.ndarray, " n"]
    error: Float[np.ndarray, " n"]
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    predicted: Integer[np.ndarray, " n"]
    n_draws: Integer[np.ndarray, " n"]
    converged: Bool[np.ndarray, " n"]
    degenerate: Bool[np.ndarray, " n"]
    caveat: str

    def __len__(self) -> int:
        return len(self.p_robust)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each sample (its position): the columns are the fields."""
        return pd.DataFrame(
            {
                "sample": np.arange(len(self)),
                "estimator": self.estimator,
                "sigma": self.sigma,
                "predicted": self.predicted,
                "p_robust": self.p_robust,
                "error": self.error,
                "lower": self.lower,
                "upper": self.upper,
                "n_draws": self.n_draws,
                "converged": self.converged,
                "degenerate": self.degenerate,
            }
        )
