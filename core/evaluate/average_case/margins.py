"""By how much does the predicted class lead each other one, and how do these margins vary together?

All analytic estimators meet here: the mean and covariance of C logits become those of C - 1 margins (Han et al. 2024,
lemma 1), and these a probability, by the normal distribution function or by the multivariate sigmoid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer

ROUNDING = 16.0
"""Differences below so many units in the last place are rounding: two logits that are one."""


@dataclass(frozen=True, eq=False)
class Margins:
    """Mean `limits` and covariances `cov` of the predicted class's lead over each other class.

    `fixed` margins do not vary: their variance and covariances are 0, and a limit that is rounding is 0 too. `left` is
    a bound of the chance that some class overtakes that is not among the `k`; None where all are.
    """

    limits: Float[np.ndarray, "n k"]
    cov: Float[np.ndarray, "n k k"]
    fixed: Bool[np.ndarray, "n k"]
    left: Float[np.ndarray, " n"] | None = None

    @property
    def scaled(self) -> Float[np.ndarray, "n k"]:
        """Limits in standard deviations: z of proposition 2. Infinite where a margin does not vary."""
        deviation = np.sqrt(np.diagonal(self.cov, axis1=1, axis2=2))
        kept = np.where(self.limits < 0, -np.inf, np.inf)
        return np.where(self.fixed, kept, self.limits / np.where(self.fixed, 1.0, deviation))


def margins(
    mean: Float[np.ndarray, "n c"],
    cov: Float[np.ndarray, "n c c"],
    predicted: Integer[np.ndarray, " n"],
    *,
    precision: float,
    noise_of_logits: bool = False,
) -> Margins:
    """Turn mean and covariance of logits into those of margins; `precision` is the machine's for the model's numbers.

    A variance |g_t - g_j|² below the rounding of |g_t|² + |g_j|² counts as none. Where covariances were taken from
    logits (`noise_of_logits`) and not from gradients, so does one below the rounding of the logits themselves.

    Examples
    --------
    >>> found = margins(np.array([[1.0, 3.0]]), np.eye(2)[None], np.array([1]), precision=1e-16)
    >>> found.limits.tolist(), found.cov.tolist()
    ([[2.0]], [[[2.0]]])
    """
    n, c = mean.shape
    rows = np.arange(n)[:, None]
    others = np.arange(c - 1) + (np.arange(c - 1) >= predicted[:, None])
    own = predicted[:, None]
    limits = mean[rows, own] - mean[rows, others]
    tt = cov[rows, own, own]
    tj = cov[rows, own, others]
    jk = cov[rows[:, :, None], others[:, :, None], others[:, None, :]]
    # Cov(z_t - z_j, z_t - z_k) = V_tt - V_tj - V_tk + V_jk (lemma 1).
    between = tt[:, :, None] - tj[:, :, None] - tj[:, None, :] + jk
    variance = np.diagonal(between, axis1=1, axis2=2)
    size = tt + np.diagonal(jk, axis1=1, axis2=2)
    unit = ROUNDING * precision * (np.abs(mean[rows, own]) + np.abs(mean[rows, others]))
    rounding = max((ROUNDING * precision) ** 2, 64 * float(np.finfo(np.float64).eps)) * size
    if noise_of_logits:
        rounding = np.maximum(rounding, unit**2)
    fixed = variance <= rounding
    limits = np.where(fixed & (np.abs(limits) <= unit), 0.0, limits)
    between = np.where(fixed[:, :, None] | fixed[:, None, :], 0.0, between)
    return Margins(limits, between, fixed)


def joined(parts: Sequence[Margins], places: Sequence[Integer[np.ndarray, " _"]]) -> Margins:
    """Put the margins of groups of samples back in the samples' order; those of fewer classes get some without limit.

    Examples
    --------
    >>> one = margins(np.array([[1.0, 3.0]]), np.eye(2)[None], np.array([1]), precision=1e-16)
    >>> two = margins(np.array([[1.0, 3.0, 4.0]]), np.eye(3)[None], np.array([2]), precision=1e-16)
    >>> joined([two, one], [np.array([1]), np.array([0])]).limits.tolist()
    [[2.0, inf], [3.0, 1.0]]
    """
    n, k = sum(map(len, places)), max(part.limits.shape[1] for part in parts)
    limits, fixed = np.full((n, k), np.inf), np.zeros((n, k), dtype=bool)
    cov = np.tile(np.eye(k), (n, 1, 1))
    for part, rows in zip(parts, places, strict=True):
        width = part.limits.shape[1]
        limits[rows, :width], fixed[rows, :width], cov[rows, :width, :width] = part.limits, part.fixed, part.cov
    return Margins(limits, cov, fixed)


def mv_sigmoid(z: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
    """The multivariate sigmoid 1 / (1 + sum exp(-z)) of section 3.2.3, a stand-in for the normal distribution function.

    Examples
    --------
    >>> mv_sigmoid(np.array([[0.0], [np.inf]])).tolist()
    [0.5, 1.0]
    """
    from scipy.special import logsumexp

    z = np.asarray(z, dtype=np.float64)
    impossible = (z == -np.inf).any(axis=1)
    finite = np.where(impossible[:, None], 0.0, z)
    p = np.exp(-logsumexp(np.concatenate([np.zeros((len(z), 1)), -finite], axis=1), axis=1))
    return np.where(impossible, 0.0, p)
