"""What would another threshold cost? Every one of them, for a decision between two classes.

A sample is called positive where its probability of the positive class is at least the threshold. Each threshold gives
a sensitivity, a specificity and a precision: together they are the ROC and the precision-recall curve. Bands are
Wilson's intervals of these shares, over units, at each threshold by itself.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.metric_estimates import scored_sets
from touchstone.core.evaluate.units import Design, design_of_units

MOST_DRAWN = 120
"""So many thresholds are drawn of a curve, with bands; its area is that of all of them."""


@dataclass(frozen=True)
class Outcome:
    """What a threshold comes to on a set: samples of both classes by what they are called."""

    threshold: float
    hits: int
    missed: int
    false_alarms: int
    left_alone: int
    sensitivity: Interval
    specificity: Interval
    precision: Interval

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Samples of both classes by what they are called."""
        return self.hits, self.missed, self.false_alarms, self.left_alone

    def share(self, name: str) -> float:
        """Sensitivity, specificity or precision; NaN where it is of nothing."""
        part, rest = {
            "sensitivity": (self.hits, self.missed),
            "specificity": (self.left_alone, self.false_alarms),
            "precision": (self.hits, self.false_alarms),
        }[name]
        return part / (part + rest) if part + rest else float("nan")


@dataclass(frozen=True, eq=False)
class Decision:
    """A model's decisions between two classes on one set: which samples are positive, and how probable it said so."""

    positive: Bools
    score: Floats
    called: Bools
    """What the file predicts, by whichever threshold."""
    design: Design

    @cached_property
    def threshold(self) -> float:
        """The threshold that gives what the file predicts, a half where that is one; NaN where none does.

        >>> score = np.array([0.1, 0.4, 0.8])
        >>> Decision(score > 0.3, score, score > 0.3, Design()).threshold.__round__(2)
        0.4
        """
        lowest = float(self.score[self.called].min(initial=np.inf))
        highest = float(self.score[~self.called].max(initial=-np.inf))
        if highest >= lowest:
            return float("nan")
        return 0.5 if highest < 0.5 <= lowest else min(lowest, 1.0)

    def at(self, threshold: float) -> Outcome:
        """What a threshold comes to; NaN is what the file predicts.

        >>> score = np.linspace(0, 1, 40)
        >>> outcome = Decision(score > 0.5, score, score > 0.5, Design()).at(0.7)
        >>> outcome.hits, outcome.missed, outcome.false_alarms, round(outcome.sensitivity.lower, 2)
        (12, 8, 0, 0.39)
        """
        called = self.called if np.isnan(threshold) else self.score >= threshold
        own, rest = self.positive, ~self.positive
        counts = [int(part.sum()) for part in (own & called, own & ~called, rest & called, rest & ~called)]
        shares = ((own, called), (rest, ~called), (called, own))
        return Outcome(threshold, *counts, *(self.design.of(rows).wilson(counted[rows]) for rows, counted in shares))

    @cached_property
    def thresholds(self) -> Float[np.ndarray, " n_drawn"]:
        """The thresholds that are drawn: scores of the samples by rank, as many of either class."""
        by_class = [np.sort(self.score[rows]) for rows in (self.positive, ~self.positive)]
        ranks = [np.linspace(0, len(each) - 1, min(len(each), MOST_DRAWN // 2)).astype(int) for each in by_class]
        drawn = [each[rank] for each, rank in zip(by_class, ranks, strict=True)]
        return np.unique(np.concatenate([*drawn, [np.inf]]))[::-1]

    @cached_property
    def curve(self) -> tuple[Outcome, ...]:
        """What these thresholds come to, the highest first."""
        return tuple(self.at(float(threshold)) for threshold in self.thresholds)


@dataclass(frozen=True, eq=False)
class Decisions:
    """One model's decisions on two test sets, of which class they are, and whether that is sure (`positive_class`)."""

    reference: Decision
    target: Decision
    positive: str
    sure: bool

    def cost(self, threshold: float) -> tuple[int, int]:
        """On the new set: how many more positives a threshold finds than the file does, and false alarms it raises."""
        other, own = self.target.at(threshold), self.target.at(float("nan"))
        return other.hits - own.hits, other.false_alarms - own.false_alarms


def decisions(reference: Predictions, target: Predictions, positive: str | None = None) -> Decisions | None:
    """A model's decisions on two sets; None of more than two classes, without probabilities, or of one class alone.

    Raises DataError where there is no class called as the `positive` one.

    Examples
    --------
    >>> truth, score = np.tile([0, 1], 20), np.linspace(0.2, 0.8, 40)
    >>> proba = np.column_stack([1 - score, score])
    >>> one = Predictions(map(str, range(40)), truth, proba.argmax(axis=1), ["ham", "spam"], proba)
    >>> made = decisions(one, one)
    >>> made.positive, made.target.threshold, made.cost(0.3)
    ('spam', 0.5, (7, 6))
    """
    sets = scored_sets(reference, target, positive)
    if len(sets.class_names) != 2 or sets.positive is None:
        return None
    made = []
    for side, predictions in zip(sets.sides, (reference, target), strict=True):
        own: Bools = side.y_true == side.positive
        if side.proba is None or own.all() or not own.any():
            return None
        label: Ints = side.y_pred
        design = design_of_units(predictions.units, predictions.unit_word)
        made.append(Decision(own, side.proba[:, side.positive], label == side.positive, design))
    return Decisions(*made, sets.positive, sets.sure)
