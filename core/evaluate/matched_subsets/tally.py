"""What does a matching come to? Its counts, and the numbers that follow from counts: the gap and its three parts.

With accuracy A of a set, a of its matched samples, b of unmatched targets, e what is expected of these, and u the
unmatched share of the targets, the budget of a fall is exact:

    A_reference - A_target = mix + (a_reference - a_target) + unmatched
    mix                    = A_reference - ((1 - u) a_reference + u e)
    unmatched              = u (e - b - (a_reference - a_target))

The mix is what the reference would lose with the target's confidences. The matched gap is the residual at equal
confidence, taken to hold of all targets. What unmatched targets lose beyond both is the third part. Each is 0 on
average where the sets do not differ, which the plain difference of matched and all samples is not: matching leaves out
the hard samples of either set.

Expected of an unmatched target is its confidence and the calibration error of the references within epsilon (by label:
of its predicted label), and of no fewer than the 50 of the nearest confidence or, where that is less, two fifths of
these references. The error is carried over, not the accuracy: at the end of a scale all neighbours lie on one side.
"""

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.evaluate.matched_subsets.matching import NEIGHBOURS, OF_LABEL, Candidates

STATISTICS = ("gap", "matched_gap", "mix", "unmatched", "unmatched_target", "unmatched_reference")
COUNTED = ("n_reference", "n_target", "correct", "n_pairs", "right", "other", "target_correct", "expected")
"""Samples of both sets, right references; pairs, right references and right targets of these; right targets, and right
answers expected of the unmatched ones. By label follow pairs, right references and right targets, and by how much more
references than targets of the pairs are right where right answers are drawn as `tally` is told."""
BY_LABEL = 4
"""So many counts of each label."""

Counts = Float[np.ndarray, " width"]


def tally(
    pairable: Candidates,
    partner: Integer[np.ndarray, " n_target"],
    turn: Integer[np.ndarray, " n_target"],
    copies: Integer[np.ndarray, " n_reference"],
    drawn: tuple[Float[np.ndarray, " n_reference"], Float[np.ndarray, " n_target"]] | None = None,
) -> Counts:
    """The counts of one matching: the target at position `turn[i]` took the reference at `partner[i]` (-1: none).

    `drawn` are right answers on references and targets as they might have been; None: as they were.
    """
    from touchstone.core.evaluate.matched_subsets.kernels import count_matching, running_totals

    correct, target_correct = pairable.sorted_correct, pairable.sorted_target_correct
    rank, total = running_totals(copies, pairable.sorted_error)
    counts = count_matching(
        partner,
        turn,
        correct,
        target_correct,
        *(drawn or (correct, target_correct)),
        pairable.sorted_target_label,
        len(pairable.reference.class_names),
        pairable.target_confidence,
        pairable.first,
        pairable.last,
        pairable.start,
        pairable.stop,
        rank,
        total,
        NEIGHBOURS,
        OF_LABEL,
    )
    return np.concatenate([[len(correct), len(turn), float(copies @ correct)], counts])


def statistics(counts: Float[np.ndarray, "*draws width"]) -> Float[np.ndarray, "*draws n_statistics"]:
    """`STATISTICS`, then the matched gap of every predicted label; NaN where nothing matched. Of counts or their means.

    Examples
    --------
    >>> counts = np.array([10.0, 5.0, 9.0, 4.0, 4.0, 3.0, 3.0, 0.5, 4.0, 4.0, 3.0, 1.0])
    >>> gap, residual, mix, unmatched, *_ = statistics(counts).tolist()
    >>> round(gap, 3), round(residual, 3), round(mix, 3), round(unmatched, 3)
    (0.3, 0.25, 0.0, 0.05)
    """
    n_reference, n_target, correct, n, right, other, target_correct, expected = (
        counts[..., i] for i in range(len(COUNTED))
    )
    n_label, right_label, other_label, _ = by_label(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual, of_labels = (right - other) / n, (right_label - other_label) / n_label
    share = 1 - n / n_target
    gap = correct / n_reference - target_correct / n_target
    mix = correct / n_reference - (right + expected) / n_target
    unmatched = (expected - (target_correct - other)) / n_target - share * residual
    whole = np.stack([gap, residual, mix, unmatched, share, 1 - n / n_reference], axis=-1)
    return np.concatenate([whole, of_labels], axis=-1)


def gaps_drawn(counts: Float[np.ndarray, "*draws width"]) -> Float[np.ndarray, "*draws n_gaps"]:
    """The matched gap and that of every label, with right answers as they were drawn.

    Examples
    --------
    >>> gaps_drawn(np.array([10.0, 5.0, 9.0, 4.0, 4.0, 3.0, 3.0, 0.5, 4.0, 4.0, 3.0, -2.0])).tolist()
    [-0.5, -0.5]
    """
    n, _, _, more = by_label(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.concatenate([more.sum(-1, keepdims=True) / n.sum(-1, keepdims=True), more / n], axis=-1)


def by_label(counts: Float[np.ndarray, "*draws width"]) -> list[Float[np.ndarray, "*draws n_labels"]]:
    """The counts that are there of each label, as in `COUNTED`."""
    return np.split(counts[..., len(COUNTED) :], BY_LABEL, axis=-1)
