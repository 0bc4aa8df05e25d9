"""What is the Brier score made of? Miscalibration, discrimination, uncertainty (Dimitriadis et al. 2021)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float


@dataclass(frozen=True)
class Brier:
    """`score` = `miscalibration` - `discrimination` + `uncertainty`, exactly; all NaN without a sample."""

    score: float
    miscalibration: float
    """What isotonic recalibration of the very same predictions would save."""
    discrimination: float
    """What the recalibrated predictions save against saying the mean for every sample."""
    uncertainty: float
    """What saying the mean for every sample costs."""


def brier_score(confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"]) -> Brier:
    """Of one event (being right, or being of one class): the CORP decomposition by isotonic regression.

    Examples
    --------
    >>> found = brier_score(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]))
    >>> round(found.score, 3), round(found.miscalibration - found.discrimination + found.uncertainty, 3)
    (0.175, 0.175)
    """
    if not len(confidence):
        return Brier(*[float("nan")] * 4)
    event = correct.astype(np.float64)
    score = float(((confidence - event) ** 2).mean())
    recalibrated = float(((isotonic(confidence, correct) - event) ** 2).mean())
    uncertainty = float(((event.mean() - event) ** 2).mean())
    return Brier(score, score - recalibrated, uncertainty - recalibrated, uncertainty)


def isotonic(confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Confidences recalibrated on the very same samples: the best fit that never falls as confidence grows."""
    from sklearn.isotonic import IsotonicRegression

    # Equal confidences must get one value, also where they differ by less than sklearn's tolerance: ranks do.
    rank = np.unique(confidence, return_inverse=True)[1]
    return IsotonicRegression().fit_transform(rank.astype(np.float64), correct.astype(np.float64))
