"""Does accuracy follow a power law in the size of the training set, and which one? Fitted only where it can be told.

accuracy(n) = ceiling - scale * (n / n_max) ** -exponent, by least squares, each size weighted by the variance of its
mean over draws. The ceiling is at most 1. The test of fit asks whether what is left over is more than the draws
explain; it knows that all sizes are tested on the same draws (Hotelling's T squared on the residuals).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer
from scipy import special

LEVEL = 0.05
FEWEST_SIZES = 4
EXPONENTS = (0.25, 2.0)
"""Learning curves of classifiers lie between these. A fit at an end of them is none: it would be drawn by noise."""
LEAST_KNOWN = 0.75
"""The largest standard error of the logarithm of the exponent at which a curve is still shown."""
NO_VARIANCE = 1e-16
"""What rounding leaves of a variance of nothing."""


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """A fitted learning curve, and how it moves with the accuracies that it was fitted to."""

    ceiling: float
    scale: float
    exponent: float
    n_max: float
    p_fit: float
    """Of the test of fit: how often accuracies that do follow a power law would lie as far from the curve."""
    sensitivity: Float[np.ndarray, "3 n_sizes"]
    """Derivatives of ceiling, scale and exponent by the mean accuracy at each size."""

    def at(self, n: float) -> float:
        """The accuracy with n training samples."""
        return self.ceiling - self.scale * float((n / self.n_max) ** -self.exponent)

    def weights(self, n: float) -> Float[np.ndarray, " n_sizes"]:
        """Derivatives of `at(n)` by the mean accuracy at each size: its error is that of their weighted sum."""
        return _gradient(np.array([n / self.n_max]), self.scale, self.exponent)[0] @ self.sensitivity


def fit_power_law(
    n: Float[np.ndarray, " n_sizes"],
    accuracy: Float[np.ndarray, "n_draws n_sizes"],
    clustering: Integer[np.ndarray, " n_draws"],
    name: str = "accuracy",
) -> PowerLaw | str:
    """The curve through the mean accuracies, or the reason why there is none, in words; `name` is what they are of.

    Examples
    --------
    >>> n = np.array([100.0, 300.0, 1000.0, 3000.0])
    >>> noise = 0.002 * np.random.default_rng(0).standard_normal((20, 4))
    >>> curve = fit_power_law(n, 0.9 - 3 * n**-0.5 + noise, np.zeros(20, dtype=int))
    >>> round(curve.ceiling, 2), round(curve.exponent, 1)
    (0.9, 0.5)
    >>> fit_power_law(n[:3], 0.9 + noise[:, :3], np.zeros(20, dtype=int))
    'a curve needs at least 4 sizes; there are 3'
    """
    n_sizes = len(n)
    if n_sizes < FEWEST_SIZES:
        return f"a curve needs at least {FEWEST_SIZES} sizes; there are {n_sizes}"
    means = accuracy.mean(axis=0)
    covariance, df = _covariance_of_means(accuracy, clustering)
    if df < n_sizes:
        return f"a curve through {n_sizes} sizes needs more than {len(accuracy)} repeats"
    variance = np.diag(covariance)
    if not (variance > NO_VARIANCE).any():
        return f"{name} is the same on every split"
    rise = means[-1] - means[0]
    contrast = np.zeros(n_sizes)
    contrast[[0, -1]] = -1, 1
    error = float(np.sqrt(contrast @ covariance @ contrast))
    if rise <= float(special.stdtrit(df, 1 - LEVEL / 2)) * error:
        return f"{name} does not rise significantly with size"
    weight = 1 / np.maximum(variance, 0.01 * variance.mean())
    at = n / n[-1]
    exponent = _best_exponent(at, means, weight)
    ceiling, scale = _linear(at, means, weight, exponent)
    if exponent <= EXPONENTS[0] * 1.05:
        return f"{name} rises with the logarithm of the size; no ceiling is in sight"
    if scale <= 0 or exponent >= EXPONENTS[1] * 0.95:
        return f"{name} levels off at once, which is no power law"
    return _tested(at, means, covariance, df, weight, n_max=float(n[-1]), law=(ceiling, scale, exponent), name=name)


def _tested(
    at: np.ndarray,
    means: np.ndarray,
    covariance: np.ndarray,
    df: int,
    weight: np.ndarray,
    *,
    n_max: float,
    law: tuple[float, float, float],
    name: str,
) -> PowerLaw | str:
    ceiling, scale, exponent = law
    free = slice(1, 3) if ceiling == 1.0 else slice(0, 3)
    root = np.sqrt(weight)[:, None]
    slopes = root * _gradient(at, scale, exponent)[:, free]
    sensitivity = np.zeros((3, len(at)))
    sensitivity[free] = np.linalg.pinv(slopes) * root.T
    error = float(np.sqrt(sensitivity[2] @ covariance @ sensitivity[2])) / exponent
    if not error < LEAST_KNOWN:
        return f"these sizes do not show how soon {name} levels off"
    over = np.linalg.svd(slopes)[0][:, slopes.shape[1] :]
    left = over.T @ (root[:, 0] * (means - ceiling + scale * at**-exponent))
    spread = over.T @ (root * covariance * root.T) @ over
    n_left = len(left)
    t_squared = float(left @ np.linalg.pinv(spread) @ left)
    p_fit = float(special.fdtrc(n_left, df - n_left + 1, t_squared * (df - n_left + 1) / (df * n_left)))
    if p_fit < LEVEL:
        shown = "p < .001" if p_fit < 0.001 else f"p = {p_fit:.3f}".replace("0.", ".")
        return f"{name} does not follow a power law ({shown})"
    return PowerLaw(ceiling, scale, exponent, n_max, p_fit, sensitivity)


def _covariance_of_means(accuracy: np.ndarray, clustering: np.ndarray) -> tuple[np.ndarray, int]:
    """Of the mean accuracy at all sizes, over draws within their clustering; and its degrees of freedom."""
    _, clustering_of = np.unique(clustering, return_inverse=True)
    n_of = np.bincount(clustering_of)
    centre = np.stack([np.bincount(clustering_of, weights=column) / n_of for column in accuracy.T], axis=1)
    away = accuracy - centre[clustering_of]
    df = len(accuracy) - len(n_of)
    return away.T @ away / max(df, 1) / len(accuracy), df


def _best_exponent(at: np.ndarray, means: np.ndarray, weight: np.ndarray) -> float:
    from scipy import optimize

    def left(log_exponent: float) -> float:
        exponent = float(np.exp(log_exponent))
        ceiling, scale = _linear(at, means, weight, exponent)
        return float(weight @ (means - ceiling + scale * at**-exponent) ** 2)

    grid = np.linspace(*np.log(EXPONENTS), num=60)
    place = int(np.argmin([left(exponent) for exponent in grid]))
    bounds = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    return float(np.exp(optimize.minimize_scalar(left, bounds=bounds, method="bounded").x))


def _linear(at: np.ndarray, means: np.ndarray, weight: np.ndarray, exponent: float) -> tuple[float, float]:
    """With its exponent given, the best ceiling (at most 1) and scale."""
    x = at**-exponent
    total, mean_x, mean_y = weight.sum(), weight @ x / weight.sum(), weight @ means / weight.sum()
    scale = -float(weight @ ((x - mean_x) * (means - mean_y)) / (weight @ (x - mean_x) ** 2))
    ceiling = float(mean_y + scale * mean_x)
    if ceiling <= 1 or total == 0:
        return ceiling, scale
    return 1.0, float(weight @ (x * (1 - means)) / (weight @ x**2))


def _gradient(at: np.ndarray, scale: float, exponent: float) -> Float[np.ndarray, "n 3"]:
    """Of the accuracy by ceiling, scale and exponent."""
    x = at**-exponent
    return np.stack([np.ones_like(at), -x, scale * x * np.log(at)], axis=1)
