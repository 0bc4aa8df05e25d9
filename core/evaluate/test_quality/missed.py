"""What could a test set have missed? For each class and pair, the largest error rate that it cannot rule out.

Thirty-six samples without an error say that the error rate is at most 8 %, not that it is 0: the bounds of Clopper and
Pearson, one-sided, exact whatever the model. They stay meaningful for a good one, and say of whom to collect more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from scipy import special

from touchstone.core.evaluate.test_quality.regions import Regions, rivals
from touchstone.core.evaluate.test_quality.shares import CountsByUnit
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.evaluate.wording import count, percent, plural, quoted
from touchstone.core.models.layers import LayerSamples

LEVEL = 0.95
WITHIN = 0.05
"""A bound this far above the errors seen is near enough: `n_more` says what that takes."""


@dataclass(frozen=True, eq=False)
class ErrorBounds:
    """Of classes, or of pairs of them, how many of `n` samples are wrong, and how many may be.

    `alone` is the one-sided 95 % upper bound of each error rate, `together` bounds all of them at once (Bonferroni):
    only these may be read off after looking for the largest. 1 where there is no sample, NaN where nothing is asked.

    Examples
    --------
    >>> bounds = ErrorBounds(np.array([0, 2]), np.array([36, 40]))
    >>> bounds.alone.round(3), bounds.together.round(3), bounds.n_more
    (array([0.08 , 0.149]), array([0.097, 0.169]), array([ 36, 102]))
    """

    n_wrong: Integer[np.ndarray, "*cells"]
    n: Integer[np.ndarray, "*cells"]
    asked: np.ndarray | None = field(default=None, repr=False)
    fewer: Float[np.ndarray, "*cells"] | None = field(default=None, repr=False)
    """As how many independent samples each counts, where they came in units; NaN of too few, which bound nothing."""

    @property
    def n_asked(self) -> int:
        """How many error rates are bounded at once."""
        return int(self.n.size if self.asked is None else self.asked.sum())

    @property
    def alone(self) -> Float[np.ndarray, "*cells"]:
        """The bound of each rate, were it the only one that is looked at."""
        return self._bound(1 - LEVEL)

    @property
    def together(self) -> Float[np.ndarray, "*cells"]:
        """The bounds of all rates at once."""
        return self._bound((1 - LEVEL) / max(self.n_asked, 1))

    @property
    def rate(self) -> Float[np.ndarray, "*cells"]:
        """The share that is wrong; 0 without a sample."""
        return self.n_wrong / np.maximum(self.n, 1)

    @property
    def unseen(self) -> Float[np.ndarray, "*cells"]:
        """How far each rate may lie above what was seen, all of them at once."""
        return self.together - self.rate

    @property
    def n_more(self) -> Integer[np.ndarray, "*cells"]:
        """How many more samples bring `unseen` to `WITHIN`, if errors stay as frequent; 0 where it is there already."""
        level = (1 - LEVEL) / max(self.n_asked, 1)
        times = np.nan_to_num(self._fewer, nan=1.0)
        enough = smallest(lambda n: _upper(self.rate * n * times, n * times, level) - self.rate <= WITHIN, like=self.n)
        return np.maximum(enough - self.n, 0)

    @property
    def _fewer(self) -> Float[np.ndarray, "*cells"]:
        return np.ones(self.n.shape) if self.fewer is None else self.fewer

    def _bound(self, level: float) -> np.ndarray:
        times = self._fewer
        bound = np.where(np.isnan(times), 1.0, _upper(self.n_wrong * times, self.n * times, level))
        return bound if self.asked is None else np.where(self.asked, bound, np.nan)


@dataclass(frozen=True, eq=False)
class Missed:
    """The error rates that a test set cannot rule out: of each class and of each ordered pair (label, taken for).

    Those at the boundary count the samples that lie there; a pair's are those whose rival is the other class.
    """

    class_names: tuple[str, ...]
    classes: ErrorBounds
    classes_at_boundary: ErrorBounds
    pairs: ErrorBounds
    pairs_at_boundary: ErrorBounds

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each class, the least known first: label, n_more, then n, n_wrong, rate, bound (alone),
        bound_together, and these at the boundary with `boundary_` before them.
        """
        order = np.argsort(-self.classes.unseen, kind="stable")
        columns = _columns(self.classes) | _columns(self.classes_at_boundary, "boundary_")
        names = np.array(self.class_names, dtype=object)
        table = pd.DataFrame({"label": names, "n_more": self.classes.n_more} | columns)
        return table.iloc[order].reset_index(drop=True)

    def pairs_table(self) -> pd.DataFrame:
        """Tidy rows, one for each ordered pair, the least known first: label, taken_for, then as in `table`."""
        i, j = np.nonzero(~np.eye(len(self.class_names), dtype=bool))
        names = np.array(self.class_names, dtype=object)
        columns = _columns(self.pairs) | _columns(self.pairs_at_boundary, "boundary_")
        cells = {name: values[i, j] for name, values in columns.items()}
        table = pd.DataFrame({"label": names[i], "taken_for": names[j]} | cells)
        order = np.argsort(-(table["bound_together"] - table["rate"]).to_numpy(), kind="stable")
        return table.iloc[order].reset_index(drop=True)


def measure_missed(test: LayerSamples, regions: Regions, design: Design = EACH_SAMPLE) -> Missed:
    """Bound every error rate of a test set, overall and at the boundary; over the units of its samples.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.regions import fit_regions
    >>> x, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    >>> p = 1 / (1 + np.exp(-(x[:, 0] - 18.5)))
    >>> samples = LayerSamples(x, y, np.column_stack([1 - p, p]), ("low", "high"))
    >>> found = measure_missed(samples, fit_regions(samples))
    >>> found.classes.n_wrong, found.classes.together.round(3)
    (array([1, 0]), array([0.249, 0.168]))
    """
    y, predicted = test.labels, test.predicted
    at_edge, rival = regions.in_boundary(test.proba), rivals(test.proba, y)
    counted = _counter(test.n_classes)
    taken, taken_at_edge = counted(y, predicted), counted(y[at_edge], predicted[at_edge])
    of_rival = at_edge & (predicted == rival)
    different = ~np.eye(test.n_classes, dtype=bool)
    n, n_at_edge = taken.sum(axis=1), taken_at_edge.sum(axis=1)
    fewer, fewer_at_edge = _fewer_than(design, y, predicted, test.n_classes), None
    if fewer is not None:
        fewer_at_edge = _fewer_than(design.of(at_edge), y[at_edge], predicted[at_edge], test.n_classes)
    of_pairs, of_pairs_at_edge = (
        None if each is None else np.broadcast_to(each[:, None], taken.shape) for each in (fewer, fewer_at_edge)
    )
    return Missed(
        test.class_names,
        ErrorBounds(n - np.diag(taken), n, fewer=fewer),
        ErrorBounds(n_at_edge - np.diag(taken_at_edge), n_at_edge, fewer=fewer_at_edge),
        ErrorBounds(np.where(different, taken, 0), np.broadcast_to(n[:, None], taken.shape), different, of_pairs),
        ErrorBounds(
            np.where(different, counted(y[of_rival], predicted[of_rival]), 0),
            counted(y[at_edge], rival[at_edge]),
            different,
            of_pairs_at_edge,
        ),
    )


def _fewer_than(
    design: Design, y: np.ndarray, predicted: np.ndarray, n_classes: int
) -> Float[np.ndarray, " n_classes"] | None:
    """As how many independent samples each sample of a class counts; None where each is a unit."""
    by_unit = CountsByUnit.of(design, y, y != predicted, n_classes)
    return None if by_unit is None else by_unit.worth / np.maximum(np.bincount(y, minlength=n_classes), 1)


def smallest(
    holds: Callable[[np.ndarray], np.ndarray], *, like: Integer[np.ndarray, "*cells"]
) -> Integer[np.ndarray, "*cells"]:
    """The least whole number from 1 at which each cell holds, found by doubling and halving; it must stay true.

    Examples
    --------
    >>> smallest(lambda n: n >= np.array([3, 1000]), like=np.zeros(2, dtype=np.int64))
    array([   3, 1000])
    """
    low, high = np.zeros(like.shape, dtype=np.int64), np.ones(like.shape, dtype=np.int64)
    while not (there := holds(high)).all():
        low, high = np.where(there, low, high), np.where(there, high, 2 * high)
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        there = holds(middle)
        low, high = np.where(there, low, middle), np.where(there, np.minimum(middle, high), high)
    return high


def _upper(n_wrong: np.ndarray, n: np.ndarray, level: float) -> np.ndarray:
    """Clopper and Pearson's upper end; the number of errors need not be whole."""
    right = np.maximum(n - n_wrong, 0)
    inside = special.betaincinv(n_wrong + 1, np.where(right > 0, right, 1), 1 - level)
    return np.where(right > 0, inside, 1.0)


def _counter(n_classes: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def counted(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        cells = np.bincount(rows * n_classes + columns, minlength=n_classes**2)
        return cells.reshape(n_classes, n_classes)

    return counted


def _columns(bounds: ErrorBounds, before: str = "") -> dict[str, np.ndarray]:
    columns = {"n": bounds.n, "n_wrong": bounds.n_wrong, "rate": bounds.rate, "bound": bounds.alone}
    return {f"{before}{name}": values for name, values in (columns | {"bound_together": bounds.together}).items()}


# Which error rates can a test set not rule out, and of whom should more be collected? In sentences.


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
