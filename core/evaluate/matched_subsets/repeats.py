"""What do several matchings of the same two sets come to, on average?"""

from dataclasses import dataclass

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
from touchstone.core.evaluate.matched_subsets.matching import Candidates, MatchedSubsets, match, totals_near
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes
from touchstone.core.evaluate.matched_subsets.tally import COUNTED, Tally, by_label, statistics

MOST_PAIRS_KEPT = 4_000_000
"""So many pairs are kept to know by which labels references were paired, where any label may be."""


@dataclass(frozen=True)
class Share:
    """A subset in numbers: samples, right ones, their total confidence, and samples of each true class (if known)."""

    n: float
    n_correct: float
    confidence: float
    truth: Float[np.ndarray, " n_labels"] | None


class Repeats:
    """Matchings are added one by one; the first is kept, of the others nothing but what they count."""

    def __init__(self, pairable: Candidates):
        self.pairable, self.tally = pairable, Tally(pairable)
        self._counts: list[np.ndarray] = []
        self._pairs: list[np.ndarray] = []
        self.first: MatchedSubsets | None = None

    def add(self, matched: MatchedSubsets) -> None:
        """Count one more matching."""
        self.first = self.first or matched
        partner = np.full(len(matched.target), -1)
        partner[matched.target_index] = matched.reference_index
        self._counts.append(self.tally.count(partner))
        if self.pairable.by == "probability" and (len(self._pairs) + 1) * matched.n_pairs <= MOST_PAIRS_KEPT:
            n_labels = len(matched.reference.class_names)
            self._pairs.append(matched.reference_index * n_labels + matched.target.label[matched.target_index])

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def counts(self) -> Float[np.ndarray, " width"]:
        """The mean counts, as in `tally`."""
        return np.mean(self._counts, axis=0)

    @property
    def n_pairs(self) -> float:
        """The mean number of pairs."""
        return float(self.counts[COUNTED.index("n_pairs")])

    @property
    def values(self) -> Float[np.ndarray, " n_statistics"]:
        """The `statistics` of the mean counts."""
        return statistics(self.counts, self.tally.whole)

    @property
    def luck(self) -> Float[np.ndarray, " n_statistics"]:
        """Variance of each of `statistics` over the matchings: what the luck of one of them comes to."""
        values = statistics(np.stack(self._counts), self.tally.whole)
        return values.var(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)

    @property
    def by_label(self) -> Float[np.ndarray, "3 n_labels"]:
        """Of each predicted label the pairs, and how many references and how many targets of these were right."""
        return np.stack(by_label(self.counts)[:3])

    @property
    def discordant(self) -> Float[np.ndarray, " n_labels"]:
        """Of each predicted label the pairs of which just one was right."""
        return by_label(self.counts)[3]

    def references_of(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """Which references were paired with targets of a predicted label, and in which share of the matchings."""
        times, _ = self.tally.paired
        if self.pairable.by == "label":
            rows = np.flatnonzero((self.pairable.reference.label == label) & (times > 0))
            return rows, times[rows]
        n_labels = len(self.pairable.reference.class_names)
        keys, counts = np.unique(np.concatenate(self._pairs), return_counts=True)
        mine = keys % n_labels == label
        return keys[mine] // n_labels, counts[mine] / len(self._pairs)

    @property
    def shortage(self) -> tuple[Float[np.ndarray, " n_reference"], Float[np.ndarray, " n_target"]]:
        """Of each sample, how likely one more target like it would stay unmatched, and one more reference would help.

        By the targets and the references within epsilon of it that were left, of its label where labels count.
        """
        pairable, levels = self.pairable, self.pairable.levels
        sides = (
            (pairable.reference, levels.reference, levels.rounded),
            (pairable.target, levels.target, levels.target_rounded),
        )
        left = [1 - paired for paired in self.tally.paired]
        shares = []
        for at in sides:
            free, without = (
                totals_near(side, at, values, epsilon=pairable.epsilon, by=pairable.by)
                for side, values in zip(sides, left, strict=True)
            )
            shares.append(np.where(free + without > 0, without / np.maximum(free + without, 1e-12), 0.5))
        return shares[0], shares[1]

    @property
    def confidence_difference(self) -> float:
        """Mean level of matched references less that of matched targets; NaN without a pair."""
        levels, n = self.pairable.levels, self.n_pairs
        own, other = self.tally.paired
        return float((own @ levels.reference - other @ levels.target) / n) if n else float("nan")

    @property
    def shares(self) -> dict[str, Share]:
        """The paper's five subsets, the references that were left and, where there are, targets rounded to 1."""
        reference, target = (whole(side) for side in (self.pairable.reference, self.pairable.target))
        paired, target_paired = self.tally.paired
        apart = self.pairable.levels.target_rounded
        matched, matched_target = _part(self.pairable.reference, paired), _part(self.pairable.target, target_paired)
        left = _part(self.pairable.target, np.where(apart, 0.0, 1 - target_paired))
        shares = {
            "reference": reference,
            "target": target,
            "matched reference": matched,
            "matched target": matched_target,
            "unmatched target": left,
            "unmatched reference": _part(
                self.pairable.reference, np.where(self.pairable.levels.rounded, 0.0, 1 - paired)
            ),
        }
        return shares | ({"rounded target": _part(self.pairable.target, apart.astype(float))} if apart.any() else {})


def whole(outcomes: Outcomes) -> Share:
    """A set as one share."""
    return _part(outcomes, np.ones(len(outcomes)))


def _part(outcomes: Outcomes, weight: Float[np.ndarray, " n"]) -> Share:
    truth = outcomes.truth
    n_labels = len(outcomes.class_names)
    classes = None if truth is None else np.bincount(truth, weights=weight, minlength=n_labels)
    confidence = float(weight @ outcomes.confidence)
    return Share(float(weight.sum()), float(weight @ outcomes.correct), confidence, classes)


# What is there to say of each subset alone? Its calibration, its confidences, its accuracy by coverage.


SUBSETS = ("reference", "target", "matched reference", "matched target", "unmatched target")
"""The five of figures 5 and 8."""


def calibrations(
    matched: MatchedSubsets, *, binning: Binning = "mass", n_bins: int = N_BINS, rng: np.random.Generator
) -> dict[str, Calibration]:
    """Calibration of each of the five subsets that has a sample; `rng` draws the perfectly calibrated models."""
    subsets = {name: matched.subsets[name] for name in SUBSETS if len(matched.subsets[name])}
    return {
        name: calibration(
            outcomes.confidence, outcomes.correct, binning=binning, n_bins=n_bins, rng=rng, design=outcomes.design
        )
        for name, outcomes in subsets.items()
    }


def densities(matched: MatchedSubsets) -> dict[str, tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]]:
    """Places and densities of the confidences of each of the five subsets that has a sample (figures 5b and 8b)."""
    return {name: density(matched.subsets[name].confidence) for name in SUBSETS if len(matched.subsets[name])}


def coverages(matched: MatchedSubsets) -> dict[str, tuple[CoveragePoint, ...]]:
    """Accuracy by coverage of both sets as wholes."""
    wholes = {name: matched.subsets[name] for name in ("reference", "target")}
    return {
        name: accuracy_by_coverage(whole.confidence, whole.correct, design=whole.design)
        for name, whole in wholes.items()
    }


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
