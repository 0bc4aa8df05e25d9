"""What is there to say of each subset alone? Its calibration, its confidences, its accuracy by coverage."""

import numpy as np
from jaxtyping import Float

from touchstone.core.evaluate.calibration import (
    N_BINS,
    Binning,
    Calibration,
    CoveragePoint,
    accuracy_by_coverage,
    calibration,
    density,
)
from touchstone.core.evaluate.matched_subsets.matching import MatchedSubsets, match
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes

SUBSETS = ("reference", "target", "matched reference", "matched target", "unmatched target")
"""The five of figures 5 and 8."""


def calibrations(
    matched: MatchedSubsets, *, binning: Binning = "mass", n_bins: int = N_BINS, rng: np.random.Generator
) -> dict[str, Calibration]:
    """Calibration of each of the five subsets that has a sample; `rng` draws the perfectly calibrated models."""
    subsets = {name: matched.subsets[name] for name in SUBSETS if len(matched.subsets[name])}
    return {
        name: calibration(outcomes.confidence, outcomes.correct, binning=binning, n_bins=n_bins, rng=rng)
        for name, outcomes in subsets.items()
    }


def densities(matched: MatchedSubsets) -> dict[str, tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]]:
    """Places and densities of the confidences of each of the five subsets that has a sample (figures 5b and 8b)."""
    return {name: density(matched.subsets[name].confidence) for name in SUBSETS if len(matched.subsets[name])}


def coverages(matched: MatchedSubsets) -> dict[str, tuple[CoveragePoint, ...]]:
    """Accuracy by coverage of both sets as wholes."""
    wholes = {name: matched.subsets[name] for name in ("reference", "target")}
    return {name: accuracy_by_coverage(whole.confidence, whole.correct) for name, whole in wholes.items()}


def worked_example() -> MatchedSubsets:
    """Eleven references and seven targets of two labels, for a picture of how matching works (figure 2).

    Examples
    --------
    >>> worked_example().n_pairs
    5
    """
    names = ("cat", "dog")
    reference = Outcomes(
        np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
        np.array([0.97, 0.955, 0.93, 0.92, 0.84, 0.71, 0.99, 0.94, 0.93, 0.80, 0.65]),
        np.array([True, True, True, True, False, True, True, True, False, True, False]),
        names,
    )
    target = Outcomes(
        np.array([0, 0, 0, 0, 1, 1, 1]),
        np.array([0.96, 0.925, 0.85, 0.60, 0.935, 0.805, 0.72]),
        np.array([True, False, True, False, True, False, False]),
        names,
    )
    return match(reference, target, epsilon=0.02, order="given", rng=np.random.default_rng(2))
