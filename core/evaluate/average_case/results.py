"""What is known of each sample? Its robustness, how far off the number may be, and what was strange about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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


# What is known of an estimator beside how it computes? One record on each entry, which all that shows it reads.


@dataclass(frozen=True)
class Mark:
    """How figures draw an estimator: a place in the theme's colours (or ink, or grey), plotly's symbol and dash."""

    colour: int | Literal["ink", "grey"]
    symbol: str
    dash: str = "solid"


@dataclass(frozen=True)
class Facts:
    """What pickers, plan, audit, verdict, figures and report have to know of an estimator.

    Parameters
    ----------
    title, short
        What the screen calls it, and a legend, where there is little room.
    mark
        How figures draw it, the same on every page.
    needs_gradients
        Whether it takes a model with gradients.
    offered
        Whether the page offers it as what a verdict rests on; in the order of the registry, the first as the usual one.
    audited
        Whether audits hold it against Monte-Carlo. Those of new runs only: old runs keep what was computed.
    recommended
        Whether a verdict may name it as closer: not the approximations that are right by luck where they are.
    sigmoid_of
        The estimator whose margins it takes, for one that puts the multivariate sigmoid in place of the normal
        distribution function.
    copies, drawn
        The numbers of noisy copies (its option `n_samples`) whose convergence an audit follows, and how they are drawn,
        in words.
    from_plan
        Which of its options take which field of an AverageCasePlan; others stay as they are.
    """

    title: str
    mark: Mark
    short: str = ""
    needs_gradients: bool = False
    offered: bool = False
    audited: bool = True
    recommended: bool = False
    sigmoid_of: str | None = None
    copies: tuple[int, ...] = ()
    drawn: str = ""
    from_plan: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "short", self.short or self.title)
