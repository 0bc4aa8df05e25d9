"""Which samples of a pool should be labelled so that few labels tell its accuracy, and what do these labels tell?

Samples are drawn at random within strata of confidence, more of them where errors are expected (Neyman's rule), and
each stratum counts by its size. So the estimate is unbiased whatever the model; that confidence ranks the errors only
makes its interval shorter. Where it is not expected to, the pool is one stratum: labels are then drawn at random.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer
from scipy import special

from core.data import DataError
from core.evaluate.intervals import Interval, wilson

FEWEST_LABELS = 20
N_STRATA = 5
IN_PROPORTION = 2 / 3
"""This part of the labels goes to each stratum by its size: it insures against errors where none are expected.

Half of them was as good where confidence ranks errors, and lost .04 more of the labels where it does not (semeion
after MNIST: .93 of random labelling's worth, here .97).
"""
WORTH_IT = 1.05
"""Strata are used where they are expected to save at least this share of the labels."""
_PSEUDO = 2.0  # samples with the overall rate of errors, added to each step of the calibration
_EACH = 2  # labels a stratum gets at least


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """Which samples of a pool to label, and what that is expected to bring.

    `stratum` is that of each sample of the pool, of which `n_in` samples are in each and `n_drawn` are to be labelled.
    `expected_errors` is the rate of errors that confidences foretell, by stratum: a guess, on which no interval rests.
    """

    stratum: Integer[np.ndarray, " n_pool"]
    n_in: Integer[np.ndarray, " n_strata"]
    n_drawn: Integer[np.ndarray, " n_strata"]
    expected_errors: Float[np.ndarray, " n_strata"]

    @property
    def n_labels(self) -> int:
        """How many samples are to be labelled."""
        return int(self.n_drawn.sum())

    @property
    def stratified(self) -> bool:
        """Whether labels are drawn by confidence, and not simply at random."""
        return len(self.n_in) > 1

    @property
    def predicted_accuracy(self) -> float:
        """What the accuracy would be if confidences were as reliable here as where they were calibrated."""
        return 1 - float(self.n_in @ self.expected_errors / self.n_in.sum())

    @property
    def half_width(self) -> float:
        """Half the length of the interval that the labels are expected to give."""
        return _half_width(self.expected_errors, self.n_drawn, self.n_in)

    @property
    def n_at_random(self) -> int:
        """How many labels drawn at random would be expected to give an interval as short."""
        rate, all_of = np.array([1 - self.predicted_accuracy]), np.array([self.n_in.sum()])
        low, high = 1, 1
        while _half_width(rate, np.array([high]), all_of) > self.half_width:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            shorter = _half_width(rate, np.array([middle]), all_of) <= self.half_width
            low, high = (low, middle) if shorter else (middle, high)
        return high

    def draw(self, rng: np.random.Generator) -> Integer[np.ndarray, " n_labels"]:
        """The positions of the samples to label, strata mixed in proportion, so that one may stop early."""
        drawn, turns = [], []
        for stratum, n in enumerate(self.n_drawn):
            drawn.append(rng.choice(np.flatnonzero(self.stratum == stratum), size=n, replace=False))
            turns.append((np.arange(n) + rng.random()) / n)
        return np.concatenate(drawn)[np.argsort(np.concatenate(turns), kind="stable")]


@dataclass(frozen=True)
class LabelledAccuracy:
    """The accuracy of a whole pool, its 95 % interval, and from how many labels of how many samples."""

    accuracy: float
    interval: Interval
    n_labels: int
    n_pool: int


def expected_errors(
    confidence: Float[np.ndarray, " n_pool"],
    known_confidence: Float[np.ndarray, " n_known"],
    known_wrong: Bool[np.ndarray, " n_known"],
) -> Float[np.ndarray, " n_pool"]:
    """How probably each sample is wrong, by how often samples of its confidence were wrong where labels are known.

    Isotonic: a higher confidence never means more errors, but for a pull of each step towards the overall rate.

    Examples
    --------
    >>> expected_errors(np.array([0.5, 0.99]), np.array([0.4, 0.6, 0.9, 0.95]), np.array([True, True, False, False]))
    array([0.75, 0.25])
    """
    from sklearn.isotonic import IsotonicRegression

    ranked = IsotonicRegression(increasing=False, out_of_bounds="clip").fit(known_confidence, known_wrong)
    steps, n = np.unique(ranked.predict(known_confidence), return_counts=True)
    pulled = (steps * n + _PSEUDO * known_wrong.mean()) / (n + _PSEUDO)
    return np.interp(ranked.predict(confidence), steps, pulled)


def design_labels(
    confidence: Float[np.ndarray, " n_pool"], expected: Float[np.ndarray, " n_pool"], *, n_labels: int
) -> LabelDesign:
    """Decide how many samples of which confidence to label; at random where strata are not expected to help.

    Raises DataError for fewer than `FEWEST_LABELS` labels, or more than there are samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> confidence = 1 - 0.5 * rng.random(5000) ** 4
    >>> design = design_labels(confidence, 1 - confidence, n_labels=300)
    >>> design.n_drawn.tolist(), round(100 * design.half_width, 1), design.n_at_random
    ([133, 50, 42, 38, 37], 2.8, 461)
    """
    if not FEWEST_LABELS <= n_labels <= len(confidence):
        raise DataError(
            f"{n_labels} labels cannot be drawn: of the {len(confidence)} samples, label at least {FEWEST_LABELS} and "
            "at most all."
        )
    simple = LabelDesign(
        np.zeros(len(confidence), dtype=np.int64),
        np.array([len(confidence)]),
        np.array([n_labels]),
        np.array([expected.mean()]),
    )
    deviations = np.sqrt(np.clip(expected * (1 - expected), 0, None))
    if not deviations.any():
        return simple
    stratum = _strata(confidence, deviations)
    n_in = np.bincount(stratum)
    by_stratum = np.bincount(stratum, deviations) / n_in
    n_drawn = _allocated(n_in, by_stratum, n_labels)
    design = LabelDesign(stratum, n_in, n_drawn, np.bincount(stratum, expected) / n_in)
    return design if design.n_at_random >= WORTH_IT * n_labels else simple


def labelled_accuracy(
    n_wrong: Integer[np.ndarray, " n_strata"],
    n_labelled: Integer[np.ndarray, " n_strata"],
    n_in: Integer[np.ndarray, " n_strata"],
) -> LabelledAccuracy:
    """Give the accuracy of a pool from the labels drawn in each stratum.

    The lower end is Wilson's at the number of random labels that would vary as much, each stratum with one more label
    of the overall rate; it leaves room for as many errors in the stratum that hides most as its labels may have missed.
    The upper end is Clopper and Pearson's. Raises DataError where a stratum has no label.

    Examples
    --------
    >>> found = labelled_accuracy(np.array([1, 12]), np.array([100, 100]), np.array([4000, 1000]))
    >>> round(found.accuracy, 3), round(found.interval.lower, 3), round(found.interval.upper, 3)
    (0.968, 0.939, 0.985)
    """
    if not n_labelled.all():
        empty = int(np.flatnonzero(n_labelled == 0)[0]) + 1
        raise DataError(f"Stratum {empty} has no label yet. Label at least one sample of each stratum.")
    errors, interval = _error_rate(n_wrong.astype(np.float64), n_labelled, n_in)
    kept = Interval(1 - interval.upper, 1 - interval.lower)
    return LabelledAccuracy(1 - errors, kept, int(n_labelled.sum()), int(n_in.sum()))


def _error_rate(n_wrong: np.ndarray, n_labelled: np.ndarray, n_in: np.ndarray) -> tuple[float, Interval]:
    """The rate of errors and its interval; counts of errors need not be whole."""
    weights = n_in / n_in.sum()
    rate = float(weights @ (n_wrong / n_labelled))
    smooth = (n_wrong + rate) / (n_labelled + 1)
    overall = float(weights @ smooth)
    variance = float(weights**2 @ (smooth * (1 - smooth) / n_labelled))
    n = overall * (1 - overall) / variance if variance > 0 else float(n_labelled.sum())
    unseen = float((weights * (1 - 0.025 ** (1 / n_labelled))).max())
    upper = min(max(wilson(rate * n, n).upper, rate + unseen), 1.0)
    lower = float(special.betaincinv(rate * n, n - rate * n + 1, 0.025)) if rate > 0 else 0.0
    return rate, Interval(lower, upper)


def _half_width(rates: np.ndarray, n_labelled: np.ndarray, n_in: np.ndarray) -> float:
    return _error_rate(rates * n_labelled, n_labelled, n_in)[1].width / 2


def _strata(confidence: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """The stratum of each sample, from the most confident: in each the deviations sum to the same."""
    order = np.argsort(-confidence, kind="stable")
    reached = np.cumsum(deviations[order])
    strata = np.empty(len(order), dtype=np.int64)
    strata[order] = np.minimum(N_STRATA * reached / reached[-1] - 1e-9, N_STRATA - 1).astype(np.int64)
    return np.unique(strata, return_inverse=True)[1]


def _allocated(n_in: np.ndarray, deviations: np.ndarray, n_labels: int) -> np.ndarray:
    """How many labels each stratum gets: whole numbers that sum to `n_labels`, a few each, and no more than it has."""
    size, spread = n_in / n_in.sum(), n_in * deviations
    wanted = n_labels * (IN_PROPORTION * size + (1 - IN_PROPORTION) * spread / spread.sum())
    least = np.minimum(_EACH, n_in)
    n = np.clip(wanted.astype(np.int64), least, n_in)
    while n.sum() != n_labels:
        step = 1 if n.sum() < n_labels else -1
        room = n < n_in if step > 0 else n > least
        n[np.argmax(np.where(room, step * (wanted - n), -np.inf))] += step
    return n
