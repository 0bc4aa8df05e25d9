"""What do several matchings of the same two sets come to, on average?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from touchstone.core.evaluate.matched_subsets.matching import Candidates, MatchedSubsets
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes
from touchstone.core.evaluate.matched_subsets.tally import COUNTED, Counts, by_label, statistics, tally


@dataclass(frozen=True)
class Share:
    """A subset in numbers: samples, right ones, their total confidence, and samples of each true class (if known)."""

    n: float
    n_correct: float
    confidence: float
    truth: Float[np.ndarray, " n_labels"] | None


class Repeats:
    """Matchings are added one by one; the first is kept, of the others nothing but their counts."""

    def __init__(self, pairable: Candidates):
        self._pairable = pairable
        self._copies = np.ones(len(pairable.reference), dtype=np.int32)
        self._turn = np.arange(len(pairable.target))
        self._place, self._target_place = (_inverse(o) for o in (pairable.reference_order, pairable.target_order))
        self._counts: list[Counts] = []
        self._more: list[Float[np.ndarray, " n_more"]] = []
        self.first: MatchedSubsets | None = None

    def add(self, matched: MatchedSubsets) -> None:
        """Count one more matching."""
        self.first = self.first or matched
        partner = np.full(len(self._turn), -1)
        partner[self._target_place[matched.target_index]] = self._place[matched.reference_index]
        self._counts.append(tally(self._pairable, partner, self._turn, self._copies))
        self._more.append(_besides(matched))

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def counts(self) -> Counts:
        """The mean counts, as in `tally`."""
        return np.mean(self._counts, axis=0)

    @property
    def n_pairs(self) -> float:
        """The mean number of pairs."""
        return float(self.counts[COUNTED.index("n_pairs")])

    @property
    def luck(self) -> Float[np.ndarray, " n_statistics"]:
        """Variance of each of `statistics` over the matchings: what the luck of one of them comes to."""
        values = statistics(np.stack(self._counts))
        return values.var(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)

    @property
    def by_label(self) -> Float[np.ndarray, "3 n_labels"]:
        """Of each predicted label the pairs, and how many references and how many targets of these were right."""
        return np.stack(by_label(self.counts)[:3])

    @property
    def discordant(self) -> Float[np.ndarray, " n_labels"]:
        """Of each predicted label the pairs of which just one was right."""
        return self._split(2, 1)[0]

    @property
    def confidence_difference(self) -> float:
        """Mean confidence of matched references less that of matched targets; NaN without a pair."""
        own, other = np.mean(self._more, axis=0)[:2]
        n = self.n_pairs
        return float((own - other) / n) if n else float("nan")

    @property
    def shares(self) -> dict[str, Share]:
        """The paper's five subsets and, sixth, the references that were left."""
        reference, target = whole(self._pairable.reference), whole(self._pairable.target)
        n, right, other = self.counts[3:6].tolist()
        confidence, target_confidence = np.mean(self._more, axis=0)[:2].tolist()
        truth, target_truth = self._split(2 + len(self.discordant), 2)
        matched = Share(n, right, confidence, None if reference.truth is None else truth)
        matched_target = Share(n, other, target_confidence, None if target.truth is None else target_truth)
        return {
            "reference": reference,
            "target": target,
            "matched reference": matched,
            "matched target": matched_target,
            "unmatched target": _rest(target, matched_target),
            "unmatched reference": _rest(reference, matched),
        }

    def _split(self, begin: int, n: int) -> Float[np.ndarray, "n n_labels"]:
        n_labels = len(self._pairable.reference.class_names)
        return np.mean(self._more, axis=0)[begin : begin + n * n_labels].reshape(n, n_labels)


def whole(outcomes: Outcomes) -> Share:
    """A set as one share."""
    truth = None if outcomes.truth is None else np.bincount(outcomes.truth, minlength=len(outcomes.class_names))
    counts = None if truth is None else truth.astype(np.float64)
    return Share(float(len(outcomes)), float(outcomes.correct.sum()), float(outcomes.confidence.sum()), counts)


def _besides(matched: MatchedSubsets) -> Float[np.ndarray, " n_more"]:
    """Total confidences of a matching's pairs; by label the discordant pairs, and the true classes of either side."""
    reference, target = matched.reference, matched.target
    rows, target_rows = matched.reference_index, matched.target_index
    n_labels = len(reference.class_names)
    unlike = reference.correct[rows] != target.correct[target_rows]
    parts: Sequence[np.ndarray] = (
        np.array([reference.confidence[rows].sum(), target.confidence[target_rows].sum()]),
        np.bincount(target.label[target_rows], weights=unlike, minlength=n_labels),
        *(
            np.zeros(n_labels) if side.truth is None else np.bincount(side.truth[index], minlength=n_labels)
            for side, index in ((reference, rows), (target, target_rows))
        ),
    )
    return np.concatenate(parts)


def _rest(whole: Share, part: Share) -> Share:
    truth = None if whole.truth is None or part.truth is None else whole.truth - part.truth
    return Share(whole.n - part.n, whole.n_correct - part.n_correct, whole.confidence - part.confidence, truth)


def _inverse(order: np.ndarray) -> np.ndarray:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place
