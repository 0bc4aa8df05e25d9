"""What may be said of generated tests? Every sentence rests on one of these (`core.evaluate.claims`)."""

from math import nan

from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.guided_tests.accuracy import SharedAccuracy
from touchstone.core.evaluate.guided_tests.images import Reconstruction
from touchstone.core.evaluate.guided_tests.judged_suite import SuiteDifference
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, apart, p_of_interval


def worse_near_centroids(near: SharedAccuracy, accuracy: float, interval: Interval) -> Claim:
    """By how much the accuracy near the centroids lies below that on the original test samples."""
    if not near.n or not interval.known:
        return claim("guided_tests.worse_near_centroids", nan, UNKNOWN, nan)
    value = accuracy - near.accuracy
    gap = apart(accuracy, interval, near.accuracy, near.interval)
    return claim("guided_tests.worse_near_centroids", value, gap, p_of_interval(value, gap))


def decoder_helps(reconstruction: Reconstruction) -> Claim:
    """By how much decoded images lie nearer to the real ones than the mean image does."""
    ends, baseline = reconstruction.interval, reconstruction.baseline
    if not ends.known:
        return claim("guided_tests.decoder_helps", nan, UNKNOWN, nan)
    value, interval = baseline - reconstruction.error, Interval(baseline - ends.upper, baseline - ends.lower)
    return claim("guided_tests.decoder_helps", value, interval, p_of_interval(value, interval))


def second_model(difference: SuiteDifference) -> Claim:
    """By how much the second of two models is more accurate than the first on pictures that both met."""
    p_value = p_of_interval(difference.difference, difference.interval) if difference.interval.known else nan
    return claim("guided_tests.second_model", difference.difference, difference.interval, p_value)
