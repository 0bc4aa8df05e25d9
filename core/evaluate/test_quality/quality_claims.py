"""What may be said of a test set and of its shift? Every sentence rests on one of these (`core.evaluate.claims`)."""

from dataclasses import dataclass
from math import inf, nan

import numpy as np
from scipy import special

from touchstone.core.evaluate.claims import Claim, Group, claim, decided_anew, family
from touchstone.core.evaluate.covariate_shift import ClassShift, CovariateShift
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.test_quality.pairs import PairShares
from touchstone.core.evaluate.test_quality.quality import TestQuality
from touchstone.core.evaluate.test_quality.shares import Shares, Spread

SHARE_KINDS = {"centroid positioning": "centroid_share", "boundary conditioning": "boundary_share"}


GRAPH: dict[str, tuple[float, dict[str, float]]] = {
    "boundary": (0.35, {"centroid": 0.5, "class_shares": 0.25, "pairs": 0.25}),
    "class_shares": (0.25, {"boundary": 0.5, "pairs": 0.25, "differs": 0.25}),
    "centroid": (0.2, {"boundary": 1.0}),
    "pairs": (0.12, {"boundary": 0.5, "differs": 0.5}),
    "differs": (0.08, {"boundary": 0.5, "class_shares": 0.5}),
}
"""What each kind has of the 5 % at first, most of it the advice's, and to whom it passes on what it needs no more."""


@dataclass(frozen=True, eq=False)
class QualityClaims:
    """All that is claimed of a test set, as one family: by class, by pair of classes, and by dimension."""

    class_shares: tuple[Claim, ...]
    centroid: tuple[Claim, ...]
    boundary: tuple[Claim, ...]
    pairs: dict[tuple[int, int], Claim]
    differs: dict[str, Claim]

    @property
    def listed(self) -> tuple[Claim, ...]:
        """Those of a verdict; of pairs the ones that are made."""
        made = (claim for claim in self.pairs.values() if claim.decided)
        return (*self.boundary, *self.class_shares, *self.centroid, *self.differs.values(), *made)


def claims_of(quality: TestQuality) -> QualityClaims:
    """The claims of every kind; any of them is wrong in 5 % at most where nothing is to be found.

    Each kind has its part of that (`GRAPH`), and Holm's rule within it.
    """
    pairs = quality.pairs
    ever = [(int(i), int(j)) for i, j in np.argwhere(~np.isnan(pairs.p_value))]
    kinds = {
        "class_shares": class_shares(quality.equivalence),
        "centroid": shares_beside(quality.centroid),
        "boundary": shares_beside(quality.boundary),
        "pairs": tuple(pair_share(pairs, *pair) for pair in ever),
        "differs": tuple(map(_spread, quality.spreads.values())),
    }
    p_values = family(
        {name: Group(tuple(each.p_value for each in claims), *GRAPH[name]) for name, claims in kinds.items()}
    )
    made = {name: decided_anew(claims, p_values[name]) for name, claims in kinds.items()}
    return QualityClaims(
        made["class_shares"],
        made["centroid"],
        made["boundary"],
        dict(zip(ever, made["pairs"], strict=True)),
        dict(zip(quality.spreads, made["differs"], strict=True)),
    )


def class_shares(shares: Shares) -> tuple[Claim, ...]:
    """How far each class lies above its fair share of 1, each by itself (exact test of a share).

    The p-value counts the samples of the class among all; the interval is that of the share. Of many classes with a few
    samples each the normal test would find one that has more than its share in a third of test sets.
    """
    from scipy.stats import binom

    fair = 1 / len(shares.class_names)
    p = 2 * np.minimum(binom.cdf(shares.n_in, shares.n, fair), binom.sf(shares.n_in - 1, shares.n, fair))
    if shares.worth is not None:  # the score test of as many samples as tell the same
        z = (shares.n_in / np.maximum(shares.n, 1) - fair) / np.sqrt(fair * (1 - fair) / shares.worth)
        p = 2 * special.ndtr(-np.abs(z))
    return tuple(
        claim(
            "test_quality.class_share", float(value - 1), Interval(float(lower - 1), float(upper - 1)),
            min(float(each), 1.0),
        )
        for value, lower, upper, each in zip(shares.value, shares.lower, shares.upper, p, strict=True)
    )  # fmt: skip


def shares_beside(shares: Shares) -> tuple[Claim, ...]:
    """How far the share of each class lies above that of a random split of training and test samples (exact).

    The interval is what is left once 95 % of random splits have been taken off.
    """
    kind = f"test_quality.{SHARE_KINDS[shares.dimension]}"
    cells = zip(shares.value, shares.split, shares.split_lower, shares.split_upper, shares.p_value, strict=True)
    return tuple(
        claim(kind, float(value - split), Interval(float(value - upper), float(value - lower)), float(p))
        for value, split, lower, upper, p in cells
    )


def pair_share(pairs: PairShares, label: int, rival: int) -> Claim:
    """How far the share of a pair lies above that of a random split; the interval is the one its p-value implies."""
    estimate, p = float(pairs.value[label, rival] - pairs.split[label, rival]), float(pairs.p_value[label, rival])
    return claim("test_quality.pair_share", estimate, _implied(estimate, p), p)


def moved(shift: ClassShift) -> Claim:
    """How far the divergence of a class lies above that of its re-splits, which are the null."""
    excess, null = shift.excess, shift.null
    if np.isnan(excess) or not len(null):
        return claim("test_quality.shift", nan, UNKNOWN, nan)
    return claim(
        "test_quality.shift",
        excess,
        _beyond(shift.observed.value, null),
        shift.p_corrected,
        mc_error=shift.observed.error,
    )


def moved_together(shift: CovariateShift) -> Claim:
    """The same of the mean over all measured classes, looked at beside them: few re-splits are enough."""
    known = [shift_of_class for shift_of_class in shift.classes if not np.isnan(shift_of_class.observed.value)]
    n = min((len(shift_of_class.null) for shift_of_class in known), default=0)
    if not n:
        return claim("test_quality.shift_together", nan, UNKNOWN, nan)
    value = float(np.mean([shift_of_class.observed.value for shift_of_class in known]))
    null = np.mean([shift_of_class.null[:n] for shift_of_class in known], axis=0)
    error = float(np.sqrt(np.sum([shift_of_class.observed.error**2 for shift_of_class in known]))) / len(known)
    return claim(
        "test_quality.shift_together",
        value - float(null.mean()),
        _beyond(value, null),
        shift.p_together,
        mc_error=error,
    )


def _spread(spread: Spread) -> Claim:
    """By how much classes differ in a dimension, beyond what they would were all alike."""
    if np.isnan(spread.value):
        return claim("test_quality.differs_between_classes", nan, UNKNOWN, nan)
    return claim("test_quality.differs_between_classes", spread.value, spread.interval, spread.p_value)


def _beyond(value: float, null: np.ndarray) -> Interval:
    low, high = np.quantile(null, [0.025, 0.975])
    return Interval(value - float(high), value - float(low))


def _implied(estimate: float, p: float) -> Interval:
    """The normal interval around an estimate that has this two-sided p-value."""
    if np.isnan(p) or np.isnan(estimate):
        return UNKNOWN
    z = float(special.ndtri(1 - max(p, 1e-15) / 2))
    half = 1.96 * abs(estimate) / z if z > 0 else inf
    return Interval(estimate - half, estimate + half)
