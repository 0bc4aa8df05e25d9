"""What does matching read of predictions? The predicted label, its confidence, whether it was right, and the truth."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from scipy import special

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions

Scale = Literal["accuracy", "confidence", "margin", "entropy"]
"""What epsilon is a difference of: of how often the model is right at a confidence, at a margin between the two highest
probabilities or at an entropy of all (see `scale`), or of confidences as they are."""
SCALED: dict[Scale, str] = {
    "accuracy": "recalibrated confidence",
    "confidence": "confidence",
    "margin": "recalibrated margin",
    "entropy": "recalibrated entropy",
}
"""What has to be about equal in a pair."""


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
    score: Float[np.ndarray, " n"] | None = None
    """What is matched on instead of the confidence, on a scale without ends: the surer, the higher."""
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

    @property
    def matched_on(self) -> Float[np.ndarray, " n"]:
        """The score, or the confidence on the logit scale."""
        return self.logit if self.score is None else self.score

    def part(self, index: Integer[np.ndarray, " n_part"]) -> "Outcomes":
        """The predictions at `index`."""
        of_samples = {name: getattr(self, name) for name in _OF_SAMPLES}
        taken = {name: None if values is None else values[index] for name, values in of_samples.items()}
        return replace(self, **taken)


_OF_SAMPLES = ("label", "confidence", "correct", "truth", "unit", "log_odds", "score")


def outcomes_of(*sets: Predictions | Outcomes, scale: Scale = "accuracy") -> tuple[Outcomes, ...]:
    """Several sets with one list of classes, joined by name: code 3 of one file need not be code 3 of another.

    Raises DataError where a margin or an entropy is to be matched on, and a set has no probabilities of all classes.

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
        _read(test_set, np.array([code[name] for name in test_set.class_names], dtype=np.int64), names, scale)
        for test_set in sets
    )


def _read(test_set: Predictions | Outcomes, codes: np.ndarray, names: tuple[str, ...], scale: Scale) -> Outcomes:
    known = test_set.score if isinstance(test_set, Outcomes) else test_set.proba
    if scale in SCORES and known is None:
        raise DataError(
            f"Matching on the {scale} needs the probabilities of all classes in both sets. One of them has the highest "
            "alone, or none: match on the confidence."
        )
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
        score=SCORES[scale](test_set.proba) if scale in SCORES and test_set.proba is not None else None,
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


def margin_of(proba: Float[np.ndarray, "n n_classes"]) -> Float[np.ndarray, " n"]:
    """How far the highest probability is above the next: the logarithm of their ratio, infinite where that is 0.

    Of two classes it is the logit of the confidence.

    >>> margin_of(np.array([[0.5, 0.4, 0.1], [0.25, 0.75, 0.0]])).round(2).tolist()
    [0.22, 1.1]
    """
    two = np.partition(proba, -2, axis=1)[:, -2:]
    with np.errstate(divide="ignore"):
        return np.log(two[:, 1]) - np.log(two[:, 0])


def entropy_of(proba: Float[np.ndarray, "n n_classes"]) -> Float[np.ndarray, " n"]:
    """How far all probabilities are from alike: minus the logit of their entropy as a share of the largest one.

    It is infinite where a single class has all, and its negative where all are alike.

    >>> entropy_of(np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])).round(2).tolist()
    [-inf, 0.12, inf]
    """
    share = special.entr(proba).sum(axis=1) / np.log(proba.shape[1])
    return -special.logit(np.clip(share, 0.0, 1.0))


SCORES = {"margin": margin_of, "entropy": entropy_of}
