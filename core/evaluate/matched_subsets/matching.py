"""Which samples of two test sets did the model find alike? (Anzaku et al. 2022, Algorithms 1 and 2)

Every target takes a reference with the same predicted label and about the same confidence, and none is taken twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.matched_subsets.loops import loops_for
from touchstone.core.evaluate.matched_subsets.outcomes import (
    Levels,
    Outcomes,
    Scale,
    levels_as_said,
    levels_of_accuracy,
    outcomes_of,
)

EPSILON = 0.005
SLACK = 1e-9
"""Bounds are inclusive, and .905 - .9 is not .005 in binary."""
MOST_TURNS = 1_000_000
"""Turns of targets that are drawn at once, in several matchings."""
MOST_EXACT = 20_000
"""Samples of one label, both sets together, up to which the least total difference is solved for."""

By = Literal["label", "probability"]
Method = Literal["random", "maximum"]
Order = Literal["shuffled", "given"]


def _none() -> Integer[np.ndarray, " 0"]:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MatchedSubsets:
    """Pairs `reference_index[i], target_index[i]`, in the order of the target set, and all that found no partner.

    `least_difference` (method "maximum" only): whether the total difference of confidence is the least that so many
    pairs can have; False where a label was too large to solve for it.
    """

    reference: Outcomes
    target: Outcomes
    reference_index: Integer[np.ndarray, " n_pairs"]
    target_index: Integer[np.ndarray, " n_pairs"]
    unmatched_reference_index: Integer[np.ndarray, " n_reference_left"]
    unmatched_target_index: Integer[np.ndarray, " n_target_left"]
    epsilon: float
    by: By
    method: Method
    least_difference: bool | None = None
    rounded_reference_index: Integer[np.ndarray, " n_reference_rounded"] = field(default_factory=_none)
    rounded_target_index: Integer[np.ndarray, " n_target_rounded"] = field(default_factory=_none)
    """Those that cannot be compared: their confidence was rounded to 1."""

    @property
    def n_pairs(self) -> int:
        """How many targets have a counterpart."""
        return len(self.target_index)

    @cached_property
    def rows(self) -> dict[str, Integer[np.ndarray, " n_subset"]]:
        """Of each of `subsets` where its samples stand in their set."""
        rows = {
            "reference": np.arange(len(self.reference)),
            "target": np.arange(len(self.target)),
            "matched reference": self.reference_index,
            "matched target": self.target_index,
            "unmatched target": self.unmatched_target_index,
            "unmatched reference": self.unmatched_reference_index,
        }
        rounded = {"rounded target": self.rounded_target_index, "rounded reference": self.rounded_reference_index}
        return rows | {name: index for name, index in rounded.items() if len(index)}

    @cached_property
    def subsets(self) -> dict[str, Outcomes]:
        """The paper's five subsets, the references that were left, and what of either set cannot be compared."""
        return {name: (self.target if "target" in name else self.reference).part(at) for name, at in self.rows.items()}

    def accuracy(self, subset: str) -> float:
        """Accuracy of one of `subsets`; NaN where it is empty."""
        return self.subsets[subset].accuracy

    @property
    def gap(self) -> float:
        """Accuracy on the reference less that on the target: how far it falls."""
        return self.accuracy("reference") - self.accuracy("target")

    @property
    def matched_gap(self) -> float:
        """The same on matched samples; NaN without a pair."""
        return self.accuracy("matched reference") - self.accuracy("matched target")

    @property
    def unmatched_target(self) -> float:
        """Share of the target set without a counterpart ("fraction unmatched")."""
        return len(self.unmatched_target_index) / len(self.target)

    @property
    def confidence_difference(self) -> float:
        """Mean confidence of matched references less that of matched targets: near 0 where the pairs are balanced."""
        if not self.n_pairs:
            return float("nan")
        pairs = self.subsets["matched reference"].confidence - self.subsets["matched target"].confidence
        return float(pairs.mean())

    def table(self) -> pd.DataFrame:
        """One row per sample: `set, row` (from 0), `predicted, confidence, correct, subset, pair` (NA: unmatched)."""
        parts = []
        for name, index in (("reference", self.reference_index), ("target", self.target_index)):
            whole = self.subsets[name]
            pair = pd.array(np.full(len(whole), -1), dtype="Int64")
            pair[index] = np.arange(self.n_pairs)
            pair[pair == -1] = pd.NA
            subset = np.where(pd.isna(pair), f"unmatched {name}", f"matched {name}").astype(object)
            if f"rounded {name}" in self.rows:
                subset[self.rows[f"rounded {name}"]] = f"rounded {name}"
            parts.append(
                pd.DataFrame(
                    {
                        "set": name,
                        "row": np.arange(len(whole)),
                        "predicted": np.array(whole.class_names, dtype=object)[whole.label],
                        "confidence": whole.confidence,
                        "correct": whole.correct,
                        "subset": subset,
                        "pair": pair,
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Two sets in order of (label, level), and of every target the range of references it may be paired with.

    A level is the confidence on the scale that is matched on. By probability there is one label, 0.
    `reference_order[position]` is the sample at a position of the sorted set. What cannot be compared stands at the
    end, behind labels of its own, and its range is empty.
    """

    reference: Outcomes
    target: Outcomes
    by: By
    epsilon: float
    levels: Levels
    reference_order: Integer[np.ndarray, " n_reference"]
    target_order: Integer[np.ndarray, " n_target"]
    reference_level: Float[np.ndarray, " n_reference"]
    target_level: Float[np.ndarray, " n_target"]
    start: Integer[np.ndarray, " n_target"]
    stop: Integer[np.ndarray, " n_target"]
    first: Integer[np.ndarray, " n_target"]
    last: Integer[np.ndarray, " n_target"]

    @cached_property
    def maximum(self) -> tuple[Integer[np.ndarray, " n_target"], bool]:
        """The positions that a maximum matching pairs the sorted targets with; whether their distance is the least."""
        return _maximum(self)

    @property
    def unmatched(self) -> Bool[np.ndarray, " n_target"]:
        """Which of the sorted targets the largest number of pairs leaves alone."""
        return loops_for(len(self.target) // 5).sweep(self.first, self.last) < 0

    @cached_property
    def of_any_label(self) -> "Candidates":
        """The same sets, with ranges of any label."""
        if self.by == "probability":
            return self
        return _candidates(self.reference, self.target, self.levels, epsilon=self.epsilon, by="probability")

    def at(self, levels: Levels) -> "Candidates":
        """The same sets at other levels, sorted by these."""
        return _candidates(self.reference, self.target, levels, epsilon=self.epsilon, by=self.by)

    def within(self, epsilon: float) -> "Candidates":
        """The same sets and levels with another epsilon; nothing is sorted again."""
        ranges = (self.reference_level, self.start, self.stop, self.target_level)
        first, last = _ranges(*ranges, epsilon, self.levels.target_rounded[self.target_order])
        return replace(self, epsilon=epsilon, first=first, last=last)


def candidates(
    reference: Predictions | Outcomes,
    target: Predictions | Outcomes,
    *,
    epsilon: float = EPSILON,
    by: By = "label",
    scale: Scale = "confidence",
) -> Candidates:
    """Sort both sets once; every repeat reads the same ranges."""
    reference, target = outcomes_of(reference, target, scale=scale)
    if not (len(reference) and len(target)):
        raise DataError("Matching needs at least one sample in either set; one of them is empty.")
    if not (reference.has_confidence and target.has_confidence):
        raise DataError(
            "Matching needs a probability or confidence in both sets. With predicted labels alone, only whole sets "
            "can be compared."
        )
    if scale == "confidence":
        levels = levels_as_said(reference, target)
    else:
        levels = levels_of_accuracy(reference, target, epsilon=epsilon)
    return _candidates(reference, target, levels, epsilon=epsilon, by=by)


def candidates_among(outcomes: Outcomes, levels: Levels, *, epsilon: float, by: By) -> Candidates:
    """The references of these levels as candidates for one another, themselves among them."""
    own = replace(levels, target=levels.reference, target_rounded=levels.rounded)
    return _candidates(outcomes, outcomes, own, epsilon=epsilon, by=by)


Side = tuple[Outcomes, Float[np.ndarray, " _"], Bool[np.ndarray, " _"]]
"""A set, its levels, and which of it were rounded."""


def totals_near(
    side: Side, at: Side, values: Float[np.ndarray, " _"], *, epsilon: float, by: By
) -> Float[np.ndarray, " _"]:
    """Of each sample of `at` the total of the `values` of `side` that are within epsilon of it, by label if asked."""
    (outcomes, level, rounded), (others, other_level, other_rounded) = side, at
    near = _candidates(outcomes, others, Levels(level, other_level, rounded, other_rounded), epsilon=epsilon, by=by)
    total = np.concatenate([[0.0], np.cumsum(values[near.reference_order])])
    totals = np.empty(len(others))
    totals[near.target_order] = total[near.last] - total[near.first]
    return totals


def _candidates(reference: Outcomes, target: Outcomes, levels: Levels, *, epsilon: float, by: By) -> Candidates:
    n_labels = len(reference.class_names) if by == "label" else 1
    apart = levels.rounded, levels.target_rounded
    label, wanted = (
        (side.label if by == "label" else np.zeros(len(side), dtype=np.int64)) + n_labels * rounded
        for side, rounded in zip((reference, target), apart, strict=True)
    )
    loops = loops_for((len(reference) + len(target)) // 5)
    order, target_order = loops.in_order(label, levels.reference), loops.in_order(wanted, levels.target)
    level, target_level = levels.reference[order], levels.target[target_order]
    begin_of = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=wanted.max() + 1))])
    start, stop = begin_of[wanted[target_order]], begin_of[wanted[target_order] + 1]
    first, last = _ranges(level, start, stop, target_level, epsilon, levels.target_rounded[target_order])
    return Candidates(
        reference, target, by, epsilon, levels, order, target_order, level, target_level, start, stop, first, last
    )


def match(
    reference: Predictions | Outcomes,
    target: Predictions | Outcomes,
    *,
    epsilon: float = EPSILON,
    by: By = "label",
    scale: Scale = "confidence",
    method: Method = "random",
    order: Order = "shuffled",
    rng: np.random.Generator,
) -> MatchedSubsets:
    """Pair targets with references of about the same confidence (within `epsilon`, both ends included).

    - `by` "label": only with the same predicted label (Algorithm 1); "probability": with any (Algorithm 2).
    - `scale` "confidence": as published; "accuracy": confidences are put through the map of `scale` first.
    - `method` "random": each target in turn takes a uniformly random reference that is still there, as published.
      "maximum": as many pairs as there can be, with the least total difference where a label is small enough to solve
      for it; ties are broken at random. How many could be matched, that is, not how many a random choice will.
    - `order` of the targets, for "random": "given", as published, or "shuffled", which takes the order's share of luck
      into the repeats.

    The larger set should be the reference: what has no partner because the references ran out is "unmatched" too.

    Examples
    --------
    >>> names = ("cat", "dog")
    >>> reference = Outcomes(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.9]), np.array([True, True, False]), names)
    >>> target = Outcomes(np.array([0, 1]), np.array([0.902, 0.7]), np.array([False, True]), names)
    >>> subsets = match(reference, target, rng=np.random.default_rng(0))
    >>> subsets.reference_index.tolist(), subsets.target_index.tolist(), subsets.unmatched_target_index.tolist()
    ([0], [0], [1])
    >>> subsets.matched_gap
    1.0
    """
    pairable = candidates(reference, target, epsilon=epsilon, by=by, scale=scale)
    return next(matchings(pairable, 1, method=method, order=order, rng=rng))


def matchings(
    pairable: Candidates, n: int, *, method: Method = "random", order: Order = "shuffled", rng: np.random.Generator
) -> Iterator[MatchedSubsets]:
    """`match` so many times, of sets that are sorted already."""
    if method == "random":
        for partner in _random_partners(pairable, n, order, rng):
            yield _matched(pairable, partner, pairable.reference_order, pairable.target_order, method)
        return
    levels = pairable.levels
    for _ in range(n):
        partner, least = pairable.maximum
        reference_order = _ties_shuffled(
            pairable.reference_order, pairable.reference, levels.reference, levels.rounded, pairable.by, rng
        )
        target_order = _ties_shuffled(
            pairable.target_order, pairable.target, levels.target, levels.target_rounded, pairable.by, rng
        )
        yield _matched(pairable, partner, reference_order, target_order, method, least)


def _random_partners(
    pairable: Candidates, n: int, order: Order, rng: np.random.Generator
) -> Iterator[Integer[np.ndarray, " n_target"]]:
    """Of so many matchings one after another the position of each sorted target's reference, -1: none."""
    n_reference, n_target = len(pairable.reference), len(pairable.target)
    widest = int((pairable.last - pairable.first).max(initial=0))
    at_once = max(1, min(n, MOST_TURNS // n_target))
    given = None if order == "shuffled" else np.argsort(pairable.target_order)
    for start in range(0, n, at_once):
        drawn = [
            (rng.permutation(n_target) if given is None else given, rng.random(n_target))
            for _ in range(min(at_once, n - start))
        ]
        turns, uniform = (np.stack(each) for each in zip(*drawn, strict=True))
        loops = loops_for(n_target * (20 + len(drawn) * widest // 250))
        # Algorithm 1 goes through the targets in turn, and each takes one of those that are left.
        taken = loops.draw(pairable.first[turns], pairable.last[turns], n_reference, uniform)
        for turn, each in zip(turns, taken, strict=True):
            partner = np.empty(n_target, dtype=np.int64)
            partner[turn] = each
            yield partner


def _matched(
    pairable: Candidates,
    partner: Integer[np.ndarray, " n_target"],
    reference_order: Integer[np.ndarray, " n_reference"],
    target_order: Integer[np.ndarray, " n_target"],
    method: Method,
    least: bool | None = None,
) -> MatchedSubsets:
    taken_by = np.full(len(partner), -1, dtype=np.int64)
    paired = partner >= 0
    taken_by[target_order[paired]] = reference_order[partner[paired]]
    target_index = np.flatnonzero(taken_by >= 0)
    left = ~pairable.levels.rounded
    left[taken_by[target_index]] = False
    return MatchedSubsets(
        reference=pairable.reference,
        target=pairable.target,
        reference_index=taken_by[target_index],
        target_index=target_index,
        unmatched_reference_index=np.flatnonzero(left),
        unmatched_target_index=np.flatnonzero((taken_by < 0) & ~pairable.levels.target_rounded),
        epsilon=pairable.epsilon,
        by=pairable.by,
        method=method,
        least_difference=least,
        rounded_reference_index=np.flatnonzero(pairable.levels.rounded),
        rounded_target_index=np.flatnonzero(pairable.levels.target_rounded),
    )


def _ranges(
    reference_level: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    level: np.ndarray,
    epsilon: float,
    apart: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    if not epsilon >= 0:
        raise DataError(f"Epsilon is the largest difference of confidence within a pair, 0 or more; {epsilon} is not.")
    first, last = np.empty(len(level), dtype=np.int64), np.empty(len(level), dtype=np.int64)
    loops = loops_for((len(reference_level) + len(level)) // 3)
    loops.candidate_ranges(reference_level, start, stop, level, epsilon + SLACK, first, last)
    return first, np.where(apart, first, last)


def _maximum(pairable: Candidates) -> tuple[np.ndarray, bool]:
    """Partners of the sorted targets, and whether the total difference is the least in every label."""
    from touchstone.core.evaluate.matched_subsets.kernels import least_difference, sweep

    partner, least = sweep(pairable.first, pairable.last), True
    # A label that the references lack begins where the next one does, but ends there too.
    ends = np.flatnonzero((np.diff(pairable.start, append=-1) != 0) | (np.diff(pairable.stop, append=-1) != 0)) + 1
    for begin, end in zip(np.concatenate([[0], ends[:-1]]), ends, strict=True):
        n_samples = end - begin + pairable.stop[begin] - pairable.start[begin]
        if n_samples > MOST_EXACT:
            least = False
        elif pairable.stop[begin] > pairable.start[begin]:
            here = slice(begin, end)
            partner[here] = least_difference(
                pairable.reference_level,
                pairable.target_level[here],
                pairable.first[here],
                pairable.last[here],
            )
    return partner, least


def _ties_shuffled(
    order: np.ndarray, outcomes: Outcomes, level: np.ndarray, rounded: np.ndarray, by: By, rng: np.random.Generator
) -> np.ndarray:
    """The same sorted positions, but which of several equal samples stands where is left to chance."""
    keys = [rng.random(len(order)), level[order]]
    if by == "label":
        keys.append(outcomes.label[order])
    return order[np.lexsort([*keys, rounded[order]])]
