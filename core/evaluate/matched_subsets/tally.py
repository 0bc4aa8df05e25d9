"""What does a matching come to? Its counts, and the numbers that follow from counts: the gap and its parts.

With accuracy A of a set, a of its matched samples, b of unmatched targets, e what is expected of these, u the unmatched
share of the targets, and the same of targets whose confidence was rounded to 1 (b', e', u'), the budget is exact:

    A_reference - A_target = mix + (a_reference - a_target) + unmatched + rounded
    mix                    = A_reference - ((1 - u - u') a_reference + u e + u' e')
    unmatched              = u (e - b - (a_reference - a_target))
    rounded                = u' (e' - b' - (a_reference - a_target))

The mix is what the reference would lose with the target's confidences. The matched gap is the residual at equal
confidence, taken to hold of all targets. What unmatched targets lose beyond both is the third part; what those lose
that cannot be compared is no claim's. Each is 0 on average where the sets do not differ, which the plain difference of
matched and all samples is not: matching leaves out the hard samples of either set. What is expected is of `expected`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.evaluate.matched_subsets.expected import Neighbours
from touchstone.core.evaluate.matched_subsets.matching import Candidates

STATISTICS = ("gap", "matched_gap", "mix", "unmatched", "unmatched_target", "unmatched_reference", "rounded")
COUNTED = ("n_pairs", "right", "other", "expected")
"""Pairs, right references and right targets of these, and right answers expected of the unmatched targets. By label
follow pairs, right references, right targets, and the pairs of which just one is right."""
BY_LABEL = 4
"""So many counts of each label."""

Counts = Float[np.ndarray, "*repeats width"]


@dataclass(frozen=True)
class Whole:
    """What no matching changes: samples and right ones of both sets; of targets that cannot be compared how many there
    are, how many right, and how many expected to be."""

    n_reference: int
    n_target: int
    correct: int
    target_correct: int
    n_rounded: int = 0
    rounded_correct: int = 0
    rounded_expected: float = 0.0


class Tally:
    """Counts matchings of two sets, and how often each sample was paired."""

    def __init__(self, pairable: Candidates):
        self.pairable, self.neighbours = pairable, Neighbours(pairable)
        reference, target, apart = pairable.reference, pairable.target, pairable.levels.target_rounded
        expected = self.neighbours.expected
        self.whole = Whole(
            len(reference),
            len(target),
            int(reference.correct.sum()),
            int(target.correct.sum()),
            int(apart.sum()),
            int(target.correct[apart].sum()),
            float(expected[apart].sum()),
        )
        self._of_reference = reference.correct.astype(np.float64)
        self._of_target = (target.correct.astype(np.float64), expected, apart, target.label)
        self._times, self._target_times = np.zeros(len(reference)), np.zeros(len(target))
        self.n_counted = 0

    def count(self, partner: Integer[np.ndarray, " n_target"]) -> Float[np.ndarray, " width"]:
        """The counts of one matching: each target's reference, -1 where it has none."""
        from touchstone.core.evaluate.matched_subsets.kernels import count_matching

        n_labels = len(self.pairable.reference.class_names)
        self.n_counted += 1
        times = self._times, self._target_times
        return count_matching(partner, self._of_reference, *self._of_target, n_labels, *times)

    @property
    def paired(self) -> tuple[Float[np.ndarray, " n_reference"], Float[np.ndarray, " n_target"]]:
        """In which share of the matchings each sample was paired."""
        n = max(self.n_counted, 1)
        return self._times / n, self._target_times / n


def statistics(counts: Counts, whole: Whole) -> Float[np.ndarray, "*repeats n_statistics"]:
    """`STATISTICS`, then the matched gap of every predicted label; NaN where nothing matched. Of counts or their means.

    Examples
    --------
    >>> counts = np.array([4.0, 4.0, 3.0, 0.5, 4.0, 4.0, 3.0, 1.0])
    >>> gap, residual, mix, unmatched, *_ = statistics(counts, Whole(10, 5, 9, 3)).tolist()
    >>> round(gap, 3), round(residual, 3), round(mix, 3), round(unmatched, 3)
    (0.3, 0.25, 0.0, 0.05)
    """
    n, right, other, expected = (counts[..., i] for i in range(len(COUNTED)))
    n_label, right_label, other_label, _ = by_label(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual, of_labels = (right - other) / n, (right_label - other_label) / n_label
    n_target, apart = whole.n_target, whole.n_rounded
    accuracy, left = whole.correct / whole.n_reference, n_target - n - apart
    gap = np.broadcast_to(accuracy - whole.target_correct / n_target, n.shape)
    mix = accuracy - (right + expected + whole.rounded_expected) / n_target
    left_correct = whole.target_correct - whole.rounded_correct - other
    unmatched = (expected - left_correct - left * residual) / n_target
    rounded = (whole.rounded_expected - whole.rounded_correct - (apart * residual if apart else 0.0)) / n_target
    shares = (left / n_target, 1 - n / whole.n_reference)
    parts = [gap, residual, mix, unmatched, *shares, np.broadcast_to(rounded, n.shape)]
    return np.concatenate([np.stack(parts, axis=-1), of_labels], axis=-1)


def by_label(counts: Counts) -> list[Float[np.ndarray, "*repeats n_labels"]]:
    """The counts that are there of each label, as in `COUNTED`."""
    return np.split(counts[..., len(COUNTED) :], BY_LABEL, axis=-1)
