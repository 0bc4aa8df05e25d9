"""What does matching read of predictions? The predicted label, its confidence, whether it was right, and the truth."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.data.predictions.record import Predictions


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One model's predictions on one set. Two sets that are compared count their labels alike (`outcomes_of`).

    Without confidences (NaN throughout) nothing can be matched, but the sets can still be compared as wholes.
    """

    label: Integer[np.ndarray, " n"]
    confidence: Float[np.ndarray, " n"]
    correct: Bool[np.ndarray, " n"]
    class_names: tuple[str, ...]
    truth: Integer[np.ndarray, " n"] | None = None
    """The true labels, for what a model that learned nothing would reach; None where only `correct` is known."""

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def accuracy(self) -> float:
        """Share of right predictions; NaN in an empty set."""
        return float(self.correct.mean()) if len(self) else float("nan")

    @cached_property
    def has_confidence(self) -> bool:
        """Whether every prediction comes with its confidence."""
        return not np.isnan(self.confidence).any()

    def part(self, index: Integer[np.ndarray, " n_part"]) -> "Outcomes":
        """The predictions at `index`."""
        truth = None if self.truth is None else self.truth[index]
        return Outcomes(self.label[index], self.confidence[index], self.correct[index], self.class_names, truth)


def outcomes_of(*sets: Predictions | Outcomes) -> tuple[Outcomes, ...]:
    """Several sets with one list of classes, joined by name: code 3 of one file need not be code 3 of another.

    Examples
    --------
    >>> one = Predictions(["a", "b"], [0, 1], [0, 0], ["cat", "dog"], confidence=[0.9, 0.6])
    >>> other = Predictions(["c"], [0], [1], ["dog", "cat"])
    >>> a, b = outcomes_of(one, other)
    >>> a.label.tolist(), b.label.tolist(), b.has_confidence
    ([0, 0], [0], False)
    """
    names = tuple(dict.fromkeys(name for test_set in sets for name in test_set.class_names))
    code = {name: i for i, name in enumerate(names)}
    return tuple(
        _read(test_set, np.array([code[name] for name in test_set.class_names], dtype=np.int64), names)
        for test_set in sets
    )


def _read(test_set: Predictions | Outcomes, codes: np.ndarray, names: tuple[str, ...]) -> Outcomes:
    if isinstance(test_set, Outcomes):
        truth = None if test_set.truth is None else codes[test_set.truth]
        return Outcomes(codes[test_set.label], test_set.confidence, test_set.correct, names, truth)
    confidence = (
        np.full(len(test_set.y_pred), np.nan) if test_set.confidence is None else test_set.confidence.astype(np.float64)
    )
    correct = test_set.y_true == test_set.y_pred
    return Outcomes(codes[test_set.y_pred], confidence, correct, names, codes[test_set.y_true])
