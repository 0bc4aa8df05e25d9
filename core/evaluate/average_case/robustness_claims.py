"""What may be said of robustness under noise? Every sentence rests on one of these (`core.evaluate.claims`)."""

from math import nan

from touchstone.core.evaluate.average_case.class_means import ClassGap, Measured
from touchstone.core.evaluate.average_case.robustness import Fifths
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import UNKNOWN, p_of_interval


def classes_differ(gap: ClassGap | None) -> Claim:
    """How far the most robust class lies above the least robust one; its p-value is from labels that were shuffled."""
    if gap is None:
        return claim("average_case.classes_differ", nan, UNKNOWN, nan)
    return claim("average_case.classes_differ", gap.value, gap.interval, gap.p_value)


def wrong_more_often(fifths: Fifths | None) -> Claim:
    """How much more accurate the most robust 20 % of samples are than the least robust 20 %."""
    return _of_interval("average_case.least_robust_wrong_more", None if fifths is None else fifths.difference)


def biased(bias: Measured) -> Claim:
    """By how much an estimator lies above Monte-Carlo."""
    return _of_interval("average_case.biased", bias)


def farther_off(less: Measured, p_flipped: float) -> Claim:
    """By how much the mean absolute error of plain MMSE with N = 5 lies above that of Taylor, on the same samples.

    Where next to no sample is fragile, a handful of differences makes the interval: signs that are drawn
    (`p_flipped`) have to find it, too.
    """
    made = _of_interval("average_case.mmse_farther_off", less)
    return claim(made.kind, made.estimate, made.interval, max(made.p_value, p_flipped))


def _of_interval(kind: str, measured: Measured | None) -> Claim:
    if measured is None or not measured.interval.known:
        return claim(kind, nan, UNKNOWN, nan)
    value, interval = measured.value, measured.interval
    return claim(kind, value, interval, p_of_interval(value, interval))
