"""What does matching read of predictions? The predicted label, its confidence, whether it was right, and the truth."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from scipy import special

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
    unit: Shaped[np.ndarray, " n"] | None = None
    """What was sampled independently, by name (see `core.evaluate.units`); None: each sample."""
    unit_word: str = "unit"
    """What one of these is called."""
    log_odds: Float[np.ndarray, " n"] | None = None
    """The confidence on the logit scale where more is known of it than fits into a number near 1."""
    n_strata: int = 0
    """Of how many sources the samples are, where these are too few to stand for others."""

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

    @cached_property
    def logit(self) -> Float[np.ndarray, " n"]:
        """The confidence on the logit scale; infinite where it is 0 or 1."""
        return special.logit(self.confidence) if self.log_odds is None else self.log_odds

    def part(self, index: Integer[np.ndarray, " n_part"]) -> "Outcomes":
        """The predictions at `index`."""
        of_samples = {name: getattr(self, name) for name in _OF_SAMPLES}
        taken = {name: None if values is None else values[index] for name, values in of_samples.items()}
        return replace(self, **taken)


_OF_SAMPLES = ("label", "confidence", "correct", "truth", "unit", "log_odds")


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
        return replace(test_set, label=codes[test_set.label], class_names=names, truth=truth)
    confidence = (
        np.full(len(test_set.y_pred), np.nan) if test_set.confidence is None else test_set.confidence.astype(np.float64)
    )
    return Outcomes(
        codes[test_set.y_pred],
        confidence,
        test_set.y_true == test_set.y_pred,
        names,
        codes[test_set.y_true],
        unit=test_set.units,
        unit_word=test_set.unit_word,
        n_strata=test_set.n_strata,
        log_odds=None if test_set.proba is None else log_odds_of(test_set.proba),
    )


def log_odds_of(proba: Float[np.ndarray, "n n_classes"]) -> Float[np.ndarray, " n"]:
    """The logit of the highest probability, from what the other classes sum to: 1 less it may have been rounded to 0.

    >>> log_odds_of(np.array([[1.0, 1e-12], [0.25, 0.75]])).round(2).tolist()
    [27.63, 1.1]
    """
    highest = proba.max(axis=1)
    others = np.partition(proba, -1, axis=1)[:, :-1].sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.log(highest) - np.log(others)
