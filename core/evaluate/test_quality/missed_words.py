"""Which error rates can a test set not rule out, and of whom should more be collected? In sentences."""

import numpy as np

from touchstone.core.evaluate.test_quality.missed import WITHIN, Missed
from touchstone.core.evaluate.wording import count, percent, plural, quoted


def headline(missed: Missed) -> str:
    """The class that the test set knows least.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.missed import ErrorBounds
    >>> bounds = ErrorBounds(np.array([0, 2]), np.array([36, 400]))
    >>> missed = Missed(("cat", "dog"), bounds, bounds, bounds, bounds)
    >>> print(headline(missed))
    For “cat”, an error rate up to 9.7 % cannot be ruled out: 0 of its 36 test samples are wrong.
    """
    bounds = missed.classes
    label = int(bounds.unseen.argmax())
    name, n = quoted(missed.class_names[label]), int(bounds.n[label])
    if n == 0:
        return f"{name} has no test sample, so its error rate is unknown."
    return (
        f"For {name}, an error rate up to {percent(float(bounds.together[label]))} cannot be ruled out: "
        f"{_wrong(int(bounds.n_wrong[label]), n)}."
    )


def at_boundaries(missed: Missed) -> str:
    """What is known where the model is unsure, all classes together."""
    bounds = missed.classes_at_boundary
    n, n_wrong = int(bounds.n.sum()), int(bounds.n_wrong.sum())
    if n == 0:
        return "No test sample lies at a boundary, so the error rate there is unknown."
    upper = percent(float(type(bounds)(np.array([n_wrong]), np.array([n])).alone[0]))
    return (
        f"At the boundaries {count(n_wrong)} of {plural(n, 'test sample')} {_is(n_wrong)} wrong: an error rate up to "
        f"{upper} cannot be ruled out there."
    )


def least_known_pair(missed: Missed) -> str:
    """The pair of class and prediction of which least is known; empty with fewer than two classes."""
    bounds = missed.pairs
    unseen = bounds.unseen
    known = np.where((bounds.n > 0) & ~np.isnan(unseen), unseen, -np.inf)
    if not np.isfinite(known).any():
        return ""
    i, j = np.unravel_index(int(known.argmax()), known.shape)
    name, other = (quoted(missed.class_names[label]) for label in (i, j))
    return (
        f"{name} predicted as {other} in {count(int(bounds.n_wrong[i, j]))} of "
        f"{plural(int(bounds.n[i, j]), 'sample')}: "
        f"up to {percent(float(bounds.alone[i, j]))} cannot be ruled out, {percent(float(bounds.together[i, j]))} over "
        f"all {count(bounds.n_asked)} pairs at once."
    )


def collect(missed: Missed) -> str:
    """What to collect next; empty where every bound is near enough to what was seen.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.missed import ErrorBounds
    >>> bounds = ErrorBounds(np.array([0, 2]), np.array([36, 400]))
    >>> print(collect(Missed(("cat", "dog"), bounds, bounds, bounds, bounds)))
    Next: label 36 more samples of “cat”. Without more errors, its bound falls to 5.0 %.
    """
    bounds = missed.classes
    label = int(bounds.unseen.argmax())
    n_more, rate = int(bounds.n_more[label]), float(bounds.rate[label])
    if not n_more:
        return ""
    more = plural(n_more, "more sample")
    errors = "Without more errors" if rate == 0 else "With errors as frequent as now"
    return (
        f"Next: label {more} of {quoted(missed.class_names[label])}. {errors}, its bound falls "
        f"to {percent(rate + WITHIN)}."
    )


def _wrong(n_wrong: int, n: int) -> str:
    if n == 1:
        return f"its only test sample is {'wrong' if n_wrong else 'right'}"
    return f"{count(n_wrong)} of its {count(n)} test samples {_is(n_wrong)} wrong"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"
