"""Can a classifier tell a class's training samples from its test samples? A two-sample test beside the divergence.

A linear classifier (ridge regression in the space of the features) is asked of which part each sample is, by the others
alone (leave-one-out): its area under the ROC curve is .5 where both parts are alike. It is held against the same with
the parts drawn again at random, which costs next to nothing: what is inverted does not depend on them. It sees what
moves in many directions a little, which mixtures in ten directions do not.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer
from scipy.linalg import cho_factor, cho_solve

from touchstone.core.data.values import Codes
from touchstone.core.evaluate.intervals import max_t
from touchstone.core.evaluate.units import FEWEST_UNITS, drawn_as_units
from touchstone.core.models.threads import single_threaded

N_SHUFFLES = 199
FEWEST = 10
"""A class with fewer samples in either part is not asked about."""
MOST = 1500
"""Of a class with more samples, so many are taken at random, in proportion to both parts."""
_SIZES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # of planted shifts, in standard deviations
_RIDGE = 1.0  # in units of the mean variance of a direction


UnitsOfParts = tuple[Integer[np.ndarray, " n_train"], Integer[np.ndarray, " n_test"]] | None
LOOKS = 2
"""Each class is looked at, and their mean."""


@dataclass(frozen=True, eq=False)
class PartsTold:
    """How well a classifier tells the parts of each class apart, and of all classes together.

    `auc` has a row for each class: the area under the curve as the parts are, then with them drawn again. NaN where a
    part is too small. `p_value` is corrected for all classes (`max_t`); `p_together` is of their mean. Both are
    doubled, for a difference is said where either finds one.
    """

    class_names: tuple[str, ...]
    auc: Float[np.ndarray, "n_classes n_shuffles"] = field(repr=False)

    @property
    def measured(self) -> Integer[np.ndarray, " n_measured"]:
        """The classes that have samples enough."""
        return np.flatnonzero(~np.isnan(self.auc[:, 0]))

    @property
    def p_value(self) -> Float[np.ndarray, " n_classes"]:
        """How rare so large an area is where the parts are alike, over all classes at once."""
        p = np.full(len(self.auc), np.nan)
        if len(self.measured):
            p[self.measured] = np.minimum(LOOKS * max_t(self.auc[self.measured]), 1.0)
        return p

    @property
    def together(self) -> float:
        """The mean area over the measured classes."""
        return float(self.auc[self.measured, 0].mean()) if len(self.measured) else float("nan")

    @property
    def p_together(self) -> float:
        """How rare so large a mean is where the parts are alike."""
        if not len(self.measured):
            return float("nan")
        means = self.auc[self.measured].mean(axis=0)
        return min(LOOKS * float((means >= means[0]).mean()), 1.0)

    @property
    def named(self) -> tuple[str, ...]:
        """The classes whose parts are told apart significantly, the easiest first."""
        p = self.p_value
        order = np.argsort(-np.nan_to_num(self.auc[:, 0], nan=-1.0), kind="stable")
        return tuple(self.class_names[code] for code in order if p[code] < 0.05)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each class: label, auc, auc_by_chance (mean of the shuffles), p_value."""
        return pd.DataFrame(
            {
                "label": list(self.class_names),
                "auc": self.auc[:, 0],
                "auc_by_chance": self.auc[:, 1:].mean(axis=1),
                "p_value": self.p_value,
            }
        )


def classifier_two_sample_test(
    train: Float[np.ndarray, "n_train d"],
    y_train: Integer[np.ndarray, " n_train"],
    test: Float[np.ndarray, "n_test d"],
    y_test: Integer[np.ndarray, " n_test"],
    *,
    class_names: tuple[str, ...],
    seed: int,
    n_shuffles: int = N_SHUFFLES,
    units: UnitsOfParts = None,
    on_step: Callable[[], None] = lambda: None,
) -> PartsTold:
    """Ask a classifier of every class which part each sample is of; `on_step` is called once a class.

    `units` are those of the samples of both parts, where they came in units: each is asked about by the others alone,
    and drawn as a whole. Of fewer than five units in a part nothing is said.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, moved = np.arange(120) % 2, np.array([0.0, 1.0])
    >>> train, test = rng.normal(size=(120, 2)), rng.normal(size=(120, 2)) + moved[y][:, None]
    >>> found = classifier_two_sample_test(train, y, test, y, class_names=("stays", "moves"), seed=0)
    >>> found.named, found.auc[:, 0].round(2)
    (('moves',), array([0.4 , 0.82]))
    """
    rows = []
    for code in range(len(class_names)):
        rng = np.random.default_rng([seed, code])
        own, other, of_units = _fewer(train, y_train == code, test, y_test == code, units, rng)
        rows.append(areas(own, other, n_shuffles=n_shuffles, rng=rng, units=of_units, units_seed=seed))
        on_step()
    return PartsTold(class_names, np.array(rows).reshape(len(class_names), 1 + n_shuffles))


@dataclass(frozen=True)
class SeenShift:
    """The smallest shift that is seen in 80 % of cases, in standard deviations; `n_first` and `n_second` samples.

    It moves one class's second part in the direction in which the class varies most. NaN where not even the largest
    that was tried is.
    """

    label: str
    n_first: int
    n_second: int
    size: float


def smallest_seen(
    parts: PartsTold,
    train: Float[np.ndarray, "n_train d"],
    y_train: Integer[np.ndarray, " n_train"],
    test: Float[np.ndarray, "n_test d"],
    y_test: Integer[np.ndarray, " n_test"],
    *,
    seed: int,
    n_trials: int = 40,
    power: float = 0.8,
    units: UnitsOfParts = None,
) -> SeenShift | None:
    """Plant shifts into the class of median size, whose parts are drawn again at random, and see which are found.

    A shift is found where it stands out of all classes at once, as in `classifier_two_sample_test`. None where no
    class is measured.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    >>> told = classifier_two_sample_test(x, y, x[:100], y[:100], class_names=("a", "b"), seed=0)
    >>> 0.3 < smallest_seen(told, x, y, x[:100], y[:100], seed=0).size < 1.2
    True
    """
    if not len(parts.measured):
        return None
    sizes = [int((y_test == code).sum()) for code in parts.measured]
    code = int(parts.measured[np.argsort(sizes, kind="stable")[len(sizes) // 2]])
    rng = np.random.default_rng([seed, code])
    own, other, of_units = _fewer(train, y_train == code, test, y_test == code, units, rng)
    both = np.concatenate([own, other]).astype(np.float64)
    main = np.linalg.svd(both - both.mean(axis=0), full_matrices=False)[2][0]
    step = main * float(np.std(both @ main))
    null = parts.auc[parts.measured][:, 1:]
    scaled = (null - null.mean(axis=1, keepdims=True)) / np.maximum(null.std(axis=1, keepdims=True), 1e-12)
    row = parts.auc[code, 1:]
    least = float(row.mean() + row.std() * np.quantile(scaled.max(axis=0), 1 - 0.05 / LOOKS))
    orders = [_drawn_again(len(own), len(both), of_units, rng, rng) for _ in range(n_trials)]

    def seen(size: float) -> float:
        n_seen = 0
        for of_second in orders:
            first, second = both[~of_second], both[of_second] + size * step
            there = None if of_units is None else np.concatenate([of_units[~of_second], of_units[of_second]])
            n_seen += bool(areas(first, second, n_shuffles=0, rng=rng, units=there)[0] > least)
        return n_seen / n_trials

    high = next((size for size in _SIZES if seen(size) >= power), float("nan"))
    low = max((size for size in _SIZES if size < high), default=0.0)
    for _ in range(2 if high in _SIZES else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) >= power else (middle, high)
    return SeenShift(parts.class_names[code], len(own), len(other), high)


def areas(
    first: Float[np.ndarray, "n_first d"],
    second: Float[np.ndarray, "n_second d"],
    *,
    n_shuffles: int,
    rng: np.random.Generator,
    units: Integer[np.ndarray, " n_both"] | None = None,
    units_seed: int = 0,
) -> Float[np.ndarray, " n_shuffles"]:
    """The leave-one-out area under the ROC curve as the parts are, then with them drawn again `n_shuffles` times.

    `units` are those of the first part's samples, then of the second's: they are left out and drawn as wholes. Classes
    that share units are given one `units_seed`: a unit that is in several is then in the same part in all of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> areas(rng.normal(size=(50, 3)), rng.normal(2, 1, size=(50, 3)), n_shuffles=2, rng=rng).round(1)
    array([1. , 0.5, 0.5])
    """
    from scipy.stats import rankdata

    if min(len(first), len(second)) < FEWEST:
        return np.full(1 + n_shuffles, np.nan)
    n = len(first) + len(second)
    if units is not None:
        n_units = [len(np.unique(part)) for part in (units[: len(first)], units[len(first) :])]
        if min(n_units) < FEWEST_UNITS:
            return np.full(1 + n_shuffles, np.nan)
    parts = np.zeros((n, 1 + n_shuffles))
    parts[len(first) :, 0] = 1
    for column in range(1, 1 + n_shuffles):
        parts[_drawn_again(len(first), n, units, rng, np.random.default_rng([units_seed, column])), column] = 1
    with single_threaded():
        scores = _left_out(np.concatenate([first, second]).astype(np.float64), parts, units)
    ranks, n_second = np.asarray(rankdata(scores, axis=0)), parts.sum(axis=0)
    of_second = (ranks * parts).sum(axis=0) - n_second * (n_second + 1) / 2
    return of_second / (n_second * (n - n_second))


def _drawn_again(
    n_first: int, n: int, units: Codes | None, rng: np.random.Generator, of_units: np.random.Generator
) -> Bool[np.ndarray, " n_both"]:
    """Which samples are of the second part, drawn at random: as many as there are, or as many units (`of_units`)."""
    second = np.zeros(n, dtype=bool)
    if units is not None:
        return drawn_as_units(units, np.arange(n) >= n_first, of_units)
    second[rng.permutation(n)[: n - n_first]] = True
    return second


def _left_out(x: np.ndarray, parts: np.ndarray, units: np.ndarray | None = None) -> np.ndarray:
    """What ridge regression on the other samples (of other units) says of each, for every column of parts at once."""
    spread = x.std(axis=0)
    varies = spread > 1e-9 * max(spread.max(), 1e-300)
    if not varies.any():
        return np.zeros(parts.shape)
    x = (x[:, varies] - x[:, varies].mean(axis=0)) / spread[varies]
    inner = x @ x.T / x.shape[1]
    n, ridge = len(x), _RIDGE * np.trace(inner) / len(x)
    # The hat matrix is 1 - ridge (inner + ridge)^-1: what each sample says of itself is taken out of it.
    keep = ridge * cho_solve(cho_factor(inner + ridge * np.eye(n), lower=True), np.eye(n))
    centred = parts - parts.mean(axis=0)
    if units is not None:
        left = keep @ centred
        for unit in np.unique(units):
            rows = np.flatnonzero(units == unit)
            left[rows] = centred[rows] - np.linalg.solve(keep[np.ix_(rows, rows)], left[rows])
        return left
    own = 1 - np.diag(keep)[:, None]
    return (centred - keep @ centred - own * centred) / (1 - own)


def _fewer(
    train: np.ndarray,
    is_own: np.ndarray,
    test: np.ndarray,
    is_other: np.ndarray,
    units: UnitsOfParts,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """At most `MOST` samples of a class in both parts, in proportion, at random, and their units."""
    rows, n = [np.flatnonzero(part) for part in (is_own, is_other)], int(is_own.sum() + is_other.sum())
    if n > MOST:
        rows = [part[rng.permutation(len(part))[: max(FEWEST, len(part) * MOST // n)]] for part in rows]
    own, other = rows
    of_units = None if units is None else np.concatenate([units[0][own], units[1][other]])
    return train[own], test[other], of_units
