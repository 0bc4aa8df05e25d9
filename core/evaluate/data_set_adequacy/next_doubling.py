"""What would the next doubling of the data bring? The curve through all sizes, continued as learning curves go on.

With its exponent given, accuracy(n) = ceiling - scale * n ** -exponent is a straight line in n ** -exponent, and what
twice the data would add is a weighted sum of the accuracies measured: its error over sources and samples is known as
that of any such sum. The exponent is hardly ever known. So the sum is taken at each of EXPONENTS, but for those that
promise, from the first step, another rise than came. The interval is the shortest that holds the intervals at all that
are left: the claim holds whichever of them is true.

Known sources are held out, since inputs may come from others. Found clusters stand for nothing that further samples
would lack, so that the doubling is judged on clusters seen in training.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from touchstone.core.evaluate.data_set_adequacy.results import Learning, Outlook, Told
from touchstone.core.evaluate.intervals import Interval, joined
from touchstone.core.trials.plan_sources import KNOWN_SOURCES

EXPONENTS = (0.5, 1.0, 2.0)
"""The slow and the fast rate of statistical learning, and a curve that has levelled off already."""
FURTHEST = 8.5
"""Sizes that are smaller than the largest by more than this say little of what comes after it."""


def judged(source_finder: str) -> str:
    """Which end of the accuracy interval the next doubling is judged on.

    >>> judged("known"), judged("kmeans")
    ('exclusive', 'inclusive')
    """
    return "exclusive" if source_finder == KNOWN_SOURCES else "inclusive"


def reaches_back(n: float, largest: float) -> bool:
    """Whether a size is near enough to the largest."""
    return n * FURTHEST >= largest


def weights(n: Float[np.ndarray, " n_sizes"], exponent: float) -> Float[np.ndarray, " n_sizes"]:
    """By what each accuracy counts in the gain of the next doubling, the curve fitted by least squares.

    Examples
    --------
    >>> n = np.array([100.0, 200.0, 400.0])
    >>> float((weights(n, 0.5) @ (0.9 - n**-0.5)).round(4)) == round(400**-0.5 - 800**-0.5, 4)
    True
    """
    x = (n / n[-1]) ** -exponent
    away = x - x.mean()
    return -away / (away @ away) * (1 - 2.0**-exponent)


def misfit(n: Float[np.ndarray, " n_sizes"], exponent: float) -> Float[np.ndarray, " n_sizes"]:
    """By what each accuracy counts in the rise after the first step, less what that step promises at this exponent.

    Examples
    --------
    >>> n = np.array([100.0, 200.0, 400.0])
    >>> bool(np.isclose(misfit(n, 0.5) @ (0.9 - n**-0.5), 0))
    True
    """
    x = (n / n[-1]) ** -exponent
    promised = (x[1] - x[-1]) / (x[0] - x[1])
    counts = np.zeros(len(n))
    counts[-1] += 1
    counts[[0, 1]] += promised, -1 - promised
    return counts


def together(
    at: Sequence[Told],
    misfits: Sequence[Told],
    n: Float[np.ndarray, " n_sizes"],
    accuracy: Float[np.ndarray, " n_sizes"],
) -> Told:
    """One claim of those at each of EXPONENTS: the value of the best fit, the interval that holds those that fit.

    All are kept where none fits, and where there are two sizes, which any exponent goes through.
    """
    contradicted = [len(n) > 2 and misfit.interval.known and not misfit.interval.holds(0.0) for misfit in misfits]
    kept = [place for place in range(len(at)) if not contradicted[place]] or list(range(len(at)))
    # Two sizes leave nothing over at any exponent but rounding, which must not choose: the middle one is taken.
    best = at[min(kept, key=lambda place: (round(_left_over(n, accuracy, EXPONENTS[place]), 12), abs(place - 1)))]
    interval = best.interval
    for place in kept:
        interval = joined(interval, at[place].interval) if at[place].interval.known else at[place].interval
    return replace(best, interval=interval, p_value=float(np.max([at[place].p_value for place in kept])))


def along(outlook: Outlook, learning: Learning) -> Outlook:
    """The outlook with the next doubling as the fitted curve has it, where there is one: page and figure say the same.

    The interval holds that of the curve, too: where a slower one than EXPONENTS fits, it is among what may be true.
    """
    gain = outlook.next_gain
    if learning.law is None or not gain.interval.known:
        return outlook
    value = learning.next_gain.value
    return replace(
        outlook, next_gain=replace(gain, value=value, interval=joined(gain.interval, Interval(value, value)))
    )


def _left_over(n: np.ndarray, accuracy: np.ndarray, exponent: float) -> float:
    x = (n / n[-1]) ** -exponent
    away, rise = x - x.mean(), accuracy - accuracy.mean()
    slope = (away @ rise) / (away @ away)
    return float(((rise - slope * away) ** 2).sum())
