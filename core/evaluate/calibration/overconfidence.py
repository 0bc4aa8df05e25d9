"""Is a model as often right as it says? Mean confidence less accuracy, with an interval that holds near 0 and 1, too.

Where a model is nearly always right, its few errors decide, and there may be none among the samples: a mean of
differences with Student's interval then leaves the truth out in a third of all data sets. So the accuracy is taken as
a share of as many independent samples as would make it as sure as the difference is, by Clopper and Pearson's exact
interval, of units by the effective number of samples (Korn and Graubard 1998).
"""

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
from jaxtyping import Bool, Float
from scipy import special

from touchstone.core.evaluate.intervals import UNKNOWN, Interval, p_of_interval, within
from touchstone.core.evaluate.units import Units

PSEUDO = 4.0
"""So many wrong samples, as sure as confidences say, are counted in where the variance of the difference is taken."""

Z = float(special.ndtri(0.975))


@dataclass(frozen=True)
class Overconfidence:
    """Mean confidence less accuracy: positive is overconfident. `p_value` is of "calibrated on average"."""

    value: float
    interval: Interval
    p_value: float
    confidence: float
    accuracy: float
    n: int


def overconfidence(
    confidence: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"], units: Units, *, place: int = 0
) -> Overconfidence:
    """Of samples whose units are those of set `place` of `units`; unknown with fewer than five of these.

    Examples
    --------
    >>> from touchstone.core.evaluate.units import samples_as_units
    >>> sure = overconfidence(np.full(200, 0.99), np.arange(200) >= 15, samples_as_units(200))
    >>> round(sure.value, 3), round(sure.interval.lower, 3), round(sure.interval.upper, 3)
    (0.065, 0.032, 0.111)
    """
    n, mean, accuracy = len(correct), float(confidence.mean()), float(correct.mean())
    if n < 2 or units.n[place] < min(5, n):
        return Overconfidence(mean - accuracy, UNKNOWN, float("nan"), mean, accuracy, n)
    off = confidence - correct - (mean - accuracy)
    as_confident = (
        float((confidence * (1 - confidence)).mean()) / max(mean * (1 - mean), 1e-12) if 0 < mean < 1 else 1.0
    )
    varies = (float((off**2).sum()) + PSEUDO * min(as_confident, 1.0)) / (n * accuracy * (1 - accuracy) + PSEUDO)
    alike, wider = _alike(off / n, units, place)
    size = n / max(min(varies, 1.0), 1e-9) / (alike * wider**2)
    lower, upper = _exact(accuracy * size, size)
    if varies > 1:  # what confidences add to the variance of right answers is no share's, and a sum's by hypotenuse
        extra = (varies - 1) * (accuracy * (1 - accuracy) + PSEUDO / n)
        kurtosis = float((off**4).mean()) / max(float((off**2).mean()) ** 2, 1e-300)
        known = 2 * n / max(kurtosis - 1, 2.0)  # a variance of rare large values is known as from fewer samples
        more = max(float(special.stdtrit(known, 0.975)), Z * wider) * sqrt(extra * alike / n)
        interval = Interval(
            mean - accuracy - hypot(more, upper - accuracy), mean - accuracy + hypot(more, accuracy - lower)
        )
        p = p_of_interval(mean - accuracy, interval)
        return Overconfidence(mean - accuracy, within(interval, -1.0, 1.0), p, mean, accuracy, n)
    right, wrong = accuracy * size, (1 - accuracy) * size
    below = float(special.betainc(wrong, right + 1, 1 - mean)) if wrong > 0 else 1.0  # so few right, or fewer
    above = float(special.betainc(right, wrong + 1, mean)) if right > 0 else 1.0
    p = min(2 * min(above, below), 1.0)
    return Overconfidence(mean - accuracy, Interval(mean - upper, mean - lower), p, mean, accuracy, n)


def _alike(influence: Float[np.ndarray, " n"], units: Units, place: int) -> tuple[float, float]:
    """How much more a mean varies because samples of a unit are alike, and Student's quantile to the normal one's."""
    n = len(influence)
    if units.n[place] == n:
        return 1.0, float(special.stdtrit(n - 1.0, 0.975)) / Z
    empty = [np.zeros(each) for each in units.n_samples]
    empty[place] = influence
    error, independent = units.error(*empty), float((influence**2).sum())
    alike = error.se**2 / independent if independent > 0 and error.df > 0 else n / units.n[place]
    df = max(units.n[place] - 1.0, 1.0)
    return max(alike, 1.0), float(special.stdtrit(df, 0.975)) / Z


def _exact(right: float, size: float) -> tuple[float, float]:
    wrong = size - right
    lower = float(special.betaincinv(right, wrong + 1, 0.025)) if right > 0 else 0.0
    upper = float(special.betaincinv(right + 1, wrong, 0.975)) if wrong > 0 else 1.0
    return lower, upper
