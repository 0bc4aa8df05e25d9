"""How often would the model be right on a sample, by what it reaches on others of the same confidence?

Of a loss the same is asked: how much would it lose? There the mean of the neighbours is expected.

Expected is the level of the sample (its confidence on the scale that is matched on) and the mean error of that level
on the samples within epsilon, and on no fewer than the `NEIGHBOURS` nearest. The error is carried over, not the share
of right answers: at the end of a scale all neighbours lie on one side. They are of the same predicted label where it
has samples enough that the nearest are near, and of any label where it has not.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from touchstone.core.data.values import Floats, Ints
from touchstone.core.evaluate.matched_subsets.matching import By, Candidates, candidates_among
from touchstone.core.evaluate.matched_subsets.outcomes import Levels, Outcomes

NEIGHBOURS = 50
OF_LABEL = 0.4
"""No more than this share of a label are its nearest: others would be far, where the model errs otherwise."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Of every target, in its own order, which references stand for it: a range of the references in their order."""

    pairable: Candidates

    @cached_property
    def of_any_label(self) -> Bool[np.ndarray, " n_target"]:
        """Whether a target's predicted label has too few references."""
        n_of = np.bincount(self.pairable.reference.label, minlength=len(self.pairable.reference.class_names))
        return n_of[self.pairable.target.label] * OF_LABEL < NEIGHBOURS

    @cached_property
    def ranges(self) -> tuple[tuple[Candidates, Ints, Ints], ...]:
        """The references in both orders, by label and of any, and of each target the first and one after the last."""
        return tuple((each, *_nearest(each)) for each in (self.pairable, self.pairable.of_any_label))

    @cached_property
    def expected(self) -> Float[np.ndarray, " n_target"]:
        """How often the model would be right on each target, by its neighbours."""
        reference, levels = self.pairable.reference, self.pairable.levels
        by_level = reference.worth is None
        error = reference.compared - levels.reference if by_level else reference.compared
        means = [_mean(error[each.reference_order], low, high) for each, low, high in self.ranges]
        near = np.where(self.of_any_label, means[1], means[0])
        near = levels.target + near if by_level else near
        return np.where(levels.target_rounded, float(reference.compared[self.of_rounded].mean()), near)

    @cached_property
    def of_rounded(self) -> Ints:
        """The references that stand for targets rounded to 1: rounded ones, too, or where these are few the surest."""
        rounded, level = self.pairable.levels.rounded, self.pairable.levels.reference
        if rounded.sum() >= NEIGHBOURS:
            return np.flatnonzero(rounded)
        return np.argsort(np.where(rounded, np.inf, level), kind="stable")[-NEIGHBOURS:]

    def shares(self, of_targets: Float[np.ndarray, " n_target"]) -> Float[np.ndarray, " n_reference"]:
        """How much of the targets, each counted as often as `of_targets` says, each reference stands for."""
        apart = self.pairable.levels.target_rounded
        total = np.zeros(len(self.pairable.reference))
        total[self.of_rounded] = of_targets[apart].sum() / len(self.of_rounded)
        of_targets = np.where(apart, 0.0, of_targets)
        for (each, low, high), mine in zip(self.ranges, (~self.of_any_label, self.of_any_label), strict=True):
            amount = np.where(mine, of_targets, 0.0) / np.maximum(high - low, 1)
            steps = np.zeros(len(total) + 1)
            np.add.at(steps, low, amount)
            np.subtract.at(steps, high, amount)
            total[each.reference_order] += np.cumsum(steps)[:-1]
        return total


def expected_among(outcomes: Outcomes, levels: Levels, *, epsilon: float, by: By) -> Floats:
    """How often the model is right on samples like each, itself among them; `levels` are those of references."""
    expected = Neighbours(candidates_among(outcomes, levels, epsilon=epsilon, by=by)).expected
    return np.clip(expected, 0.0, 1.0) if outcomes.worth is None else expected


def _nearest(pairable: Candidates) -> tuple[Ints, Ints]:
    """By target, in its own order: the references within epsilon, and no fewer than the nearest of the same label.

    Of equal levels none is nearer: all that are within epsilon count.
    """
    start, stop, first, last = pairable.start, pairable.stop, pairable.first, pairable.last
    if pairable.by == "label":
        n_near = np.minimum(NEIGHBOURS, np.ceil(OF_LABEL * (stop - start)).astype(np.int64))
    else:
        n_near = np.minimum(NEIGHBOURS, stop - start)
    low = np.clip((first + last) // 2 - n_near // 2, start, stop - n_near)
    high = np.maximum(low + n_near, np.minimum(last, stop))
    low = np.minimum(low, np.maximum(first, start))
    ends = np.empty((2, len(low)), dtype=np.int64)
    ends[:, pairable.target_order] = low, high
    return ends[0], ends[1]


def _mean(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    total = np.concatenate([[0.0], np.cumsum(values)])
    return (total[high] - total[low]) / np.maximum(high - low, 1)
