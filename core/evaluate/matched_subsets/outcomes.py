"""What does matching read of predictions? The predicted label, its confidence, whether it was right, and the truth."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from scipy import special

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.units import Design, design_of_units

Scale = Literal["accuracy", "confidence", "margin", "entropy", "variance"]
"""What epsilon is a difference of: of how often the model is right at a confidence, at a margin between the two highest
probabilities, at an entropy of all or at a variance over the models of a file (see below), or of confidences as they
are."""
SCALED: dict[Scale, str] = {
    "accuracy": "recalibrated confidence",
    "confidence": "confidence",
    "margin": "recalibrated margin",
    "entropy": "recalibrated entropy",
    "variance": "recalibrated ensemble variance",
}
"""What has to be about equal in a pair."""
ALIKE_IN: dict[Scale, str] = {
    "accuracy": "confidence",
    "confidence": "confidence",
    "margin": "margin",
    "entropy": "entropy",
    "variance": "ensemble variance",
}
"""The same in one word, without how it was put on its scale: pairs are "at equal confidence"."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One model's predictions on one set. Two sets that are compared count their labels alike (`outcomes_of`).

    Without confidences (NaN throughout) nothing can be matched, but the sets can still be compared as wholes.
    """

    label: Ints
    confidence: Floats
    correct: Bools
    class_names: tuple[str, ...]
    truth: Ints | None = None
    """The true labels, for what a model that learned nothing would reach; None where only `correct` is known."""
    unit: Shaped[np.ndarray, " n"] | None = None
    """What was sampled independently, by name (see `core.evaluate.units`); None: each sample."""
    unit_word: str = "unit"
    """What one of these is called."""
    log_odds: Floats | None = None
    """The confidence on the logit scale where more is known of it than fits into a number near 1."""
    score: Floats | None = None
    """What is matched on instead of the confidence, from minus to plus infinity; more is more confident."""
    n_strata: int = 0
    """Of how many sources the samples are, where these are too few to stand for others."""
    worth: Floats | None = None
    """What each sample is worth to the metric that is compared, more is better; None: 1 where it is right, else 0."""
    span: float = 1.0
    """By how much two samples may differ in that."""

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def design(self) -> Design:
        """How the samples came about."""
        return design_of_units(self.unit, self.unit_word)

    @cached_property
    def accuracy(self) -> float:
        """Share of right predictions; NaN in an empty set."""
        return float(self.correct.mean()) if len(self) else float("nan")

    @cached_property
    def compared(self) -> Floats:
        """What each sample is worth."""
        return self.correct.astype(np.float64) if self.worth is None else self.worth

    @cached_property
    def has_confidence(self) -> bool:
        """Whether every prediction comes with its confidence."""
        return not np.isnan(self.confidence).any()

    @cached_property
    def logit(self) -> Floats:
        """The confidence on the logit scale; infinite where it is 0 or 1."""
        return special.logit(self.confidence) if self.log_odds is None else self.log_odds

    @property
    def matched_on(self) -> Floats:
        """The score, or the confidence on the logit scale."""
        return self.logit if self.score is None else self.score

    def part(self, index: Integer[np.ndarray, " n_part"]) -> "Outcomes":
        """The predictions at `index`."""
        of_samples = {name: getattr(self, name) for name in _OF_SAMPLES}
        taken = {name: None if values is None else values[index] for name, values in of_samples.items()}
        return replace(self, **taken)


_OF_SAMPLES = ("label", "confidence", "correct", "truth", "unit", "log_odds", "score", "worth")


def outcomes_of(*sets: Predictions | Outcomes, scale: Scale = "accuracy") -> tuple[Outcomes, ...]:
    """Several sets with one list of classes, joined by name: code 3 of one file need not be code 3 of another.

    Raises DataError where a margin or an entropy is to be matched on, and a set has no probabilities of all classes, or
    a variance, and a set has those of one model alone.

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
    score = test_set.score if isinstance(test_set, Outcomes) else _score(test_set, scale)
    if score is None and scale in (*SCORES, "variance"):
        what = "all classes" if scale in SCORES else "all classes, of several models on the same samples,"
        raise DataError(
            f"Matching on the {scale} needs the probabilities of {what} in both sets. One of them has less: match on "
            "the confidence."
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
        score=score,
    )


def _score(test_set: Predictions, scale: Scale) -> Floats | None:
    """What is matched on instead of the confidence; None where that is meant, or where it is not told."""
    if scale == "variance":
        return agreement_of(test_set)
    return SCORES[scale](test_set.proba) if scale in SCORES and test_set.proba is not None else None


def agreement_of(test_set: Predictions) -> Floats | None:
    """How much the models of a file agree on each sample: minus the logarithm of the variance of what they say of it.

    That is the variance over models of the probability of each class, summed over classes. Infinite where all say the
    same; None where fewer than two models have probabilities of all of these samples.

    >>> one, two = (Predictions(["a"], [0], [0], ["cat", "dog"], [[p, 1 - p]]) for p in (0.6, 0.8))
    >>> agreement_of(replace(one, ensemble=(one, two))).round(2)
    array([3.91])
    """
    own, known = test_set.ids.tolist(), []
    if len(set(own)) < len(own):
        return None
    for member in test_set.ensemble:
        place = {name: row for row, name in enumerate(member.ids.tolist())}
        if member.proba is not None and member.class_names == test_set.class_names and place.keys() >= set(own):
            known.append((member.proba, [place[name] for name in own]))
    if len(known) < 2:
        return None
    total = squares = np.zeros((len(own), test_set.n_classes))
    for proba, at in known:
        of_model = np.asarray(proba, dtype=np.float64)[at]
        total, squares = total + of_model, squares + of_model**2
    variance = (squares - total**2 / len(known)).clip(0).sum(axis=1) / len(known)
    with np.errstate(divide="ignore"):
        return -np.log(np.where(variance > np.finfo(float).eps, variance, 0.0))


def log_odds_of(proba: Float[np.ndarray, "n n_classes"]) -> Floats:
    """The logit of the highest probability, from what the other classes sum to: 1 less it may have been rounded to 0.

    >>> log_odds_of(np.array([[1.0, 1e-12], [0.25, 0.75]])).round(2).tolist()
    [27.63, 1.1]
    """
    highest = proba.max(axis=1)
    others = np.partition(proba, -1, axis=1)[:, :-1].sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.log(highest) - np.log(others)


def margin_of(proba: Float[np.ndarray, "n n_classes"]) -> Floats:
    """How far the highest probability is above the next: the logarithm of their ratio, infinite where that is 0.

    Of two classes it is the logit of the confidence.

    >>> margin_of(np.array([[0.5, 0.4, 0.1], [0.25, 0.75, 0.0]])).round(2).tolist()
    [0.22, 1.1]
    """
    two = np.partition(proba, -2, axis=1)[:, -2:]
    with np.errstate(divide="ignore"):
        return np.log(two[:, 1]) - np.log(two[:, 0])


def entropy_of(proba: Float[np.ndarray, "n n_classes"]) -> Floats:
    """How far all probabilities are from alike: minus the logit of their entropy as a share of the largest one.

    It is infinite where a single class has all, and its negative where all are alike.

    >>> entropy_of(np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])).round(2).tolist()
    [-inf, 0.12, inf]
    """
    share = special.entr(proba).sum(axis=1) / np.log(proba.shape[1])
    return -special.logit(np.clip(share, 0.0, 1.0))


SCORES = {"margin": margin_of, "entropy": entropy_of}


# On which scale are two samples equally sure? On that of accuracy: a confidence as often right as it says.
#
# A network that says .9999 and .99 may be right in 95 and in 80 % of such samples. Within an epsilon of the confidence
# they are alike, and a set with more of the second would seem less often right "at equal confidence". So confidences
# are put through one monotone map that is fitted on the reference set: logistic regression of right answers on the
# logit of the confidence (Platt 1999; by Firth's score, 1993), whose slope is never below 0. Epsilon is then in units
# of accuracy. The map need not be true: it keeps the order, and only says how far apart two confidences are.


ROUNDED_FROM = 0.999
"""Of confidences of 1 it is asked what they were before they were rounded where another one lies between this and 1;
where the next one is lower, there are few steps, as of a forest's votes, and 1 is one of them."""
FEWEST_FITTED = 50
"""On fewer references no map is fitted: confidences are taken at their word."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Of both sets how often the model is expected to be right at each confidence, and which cannot be compared.

    `slope` and `intercept` are those of the map on the logit; 1 and 0 take confidences at their word. Where a map was
    fitted, `fit` says how: what another sample would make of it counts, too.
    """

    reference: Float[np.ndarray, " n_reference"]
    target: Float[np.ndarray, " n_target"]
    rounded: Bool[np.ndarray, " n_reference"]
    target_rounded: Bool[np.ndarray, " n_target"]
    slope: float = 1.0
    intercept: float = 0.0
    fit: "Fit | None" = None

    def with_map(self, slope: float, intercept: float) -> "Levels":
        """The same confidences by another map; as they are where none was fitted."""
        if self.fit is None:
            return self
        logits = (self.fit.logit, self.fit.target_logit)
        level, target_level = (special.expit(slope * each + intercept) for each in logits)
        return replace(self, reference=level, target=target_level, slope=slope, intercept=intercept)

    def moved_by(self, correct: Float[np.ndarray, " n_reference"]) -> Float[np.ndarray, "n_reference 2"]:
        """By how much each reference moves slope and intercept: the influences of a logistic regression."""
        moved = np.zeros((len(correct), 2))
        if self.fit is not None:
            seen = self.fit.seen
            x = np.column_stack([self.fit.logit[seen], np.ones(int(seen.sum()))])
            level = self.reference[seen]
            information = x.T @ ((level * (1 - level))[:, None] * x)
            moved[seen] = (x * (correct[seen] - level)[:, None]) @ np.linalg.pinv(information)
        return moved


@dataclass(frozen=True, eq=False)
class Fit:
    """What a map was fitted to: logits of both sets (as the map saw them), and which references it saw."""

    logit: Float[np.ndarray, " n_reference"]
    target_logit: Float[np.ndarray, " n_target"]
    seen: Bool[np.ndarray, " n_reference"]


def levels_as_said(reference: Outcomes, target: Outcomes) -> Levels:
    """The confidences themselves, as the paper matches them."""
    none = np.zeros(len(reference), dtype=bool), np.zeros(len(target), dtype=bool)
    return Levels(reference.confidence, target.confidence, *none)


def levels_of_accuracy(reference: Outcomes, target: Outcomes, *, epsilon: float) -> Levels:
    """Confidences by the map that the reference gives.

    Confidences of exactly 1 are kept apart where the map says that what was rounded to 1 may differ by more than
    `epsilon` in accuracy.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> logit = rng.normal(size=4000) * 2
    >>> def made(logit):  # ten times too sure: right as a softmax says at a tenth of these logits
    ...     sure = special.expit(10 * np.abs(logit))
    ...     right = rng.random(len(logit)) < special.expit(np.abs(logit))
    ...     return Outcomes(np.zeros(len(logit), int), sure, right, ("a",))
    >>> levels = levels_of_accuracy(made(logit), made(logit[:500]), epsilon=0.005)
    >>> 0.08 < levels.slope < 0.12, bool(np.abs(levels.target - special.expit(np.abs(logit[:500]))).max() < 0.05)
    (True, True)
    """
    logits = [side.matched_on for side in (reference, target)]
    finite = np.concatenate([each[np.isfinite(each)] for each in logits])
    if not len(finite):
        return levels_as_said(reference, target)
    highest, lowest = float(finite.max()), float(finite.min())
    edge = highest + float(np.log(2.0))  # 1 less this is half of what the highest that is not 1 lacks
    rounds = highest >= special.logit(ROUNDED_FROM)
    for_map = np.isfinite(logits[0]) if rounds else np.ones(len(reference), dtype=bool)
    clipped, target_clipped = (np.clip(each, lowest, edge) for each in logits)
    slope, intercept, fit = 1.0, 0.0, None
    if for_map.sum() >= FEWEST_FITTED:
        slope, intercept = fitted(clipped[for_map], reference.correct[for_map])
        fit = Fit(clipped, target_clipped, for_map)
    level, target_level = (special.expit(slope * each + intercept) for each in (clipped, target_clipped))
    apart = rounds and 1 - special.expit(slope * edge + intercept) > epsilon
    rounded, target_rounded = (np.isposinf(each) & apart for each in logits)
    return Levels(level, target_level, rounded, target_rounded, slope, intercept, fit)


def fitted(logit: Floats, correct: Bools) -> tuple[float, float]:
    """Slope and intercept of a logistic regression, by Firth's score; the slope is never below 0.

    Plain likelihood has no finite answer where right and wrong answers do not overlap, and goes too far where few are
    wrong; Platt's smoothed targets err to the other side, and hard samples then seem easier than they are.

    Examples
    --------
    >>> x = np.repeat([-1.0, 1.0], 1000)
    >>> slope, intercept = fitted(x, np.tile([True, False, False, False], 500) ^ (x > 0))
    >>> round(slope, 2), abs(round(intercept, 2))
    (1.1, 0.0)
    """
    share = (correct.sum() + 0.5) / (len(correct) + 1)
    flat = 0.0, float(special.logit(share))
    centre, scale = float(logit.mean()), float(logit.std())
    if not scale > 0:
        return flat
    x = np.column_stack([(logit - centre) / scale, np.ones(len(logit))])
    beta = np.array([0.0, flat[1]])
    for _ in range(200):
        p = special.expit(x @ beta)
        weight = p * (1 - p)
        inverse = np.linalg.inv(x.T @ (weight[:, None] * x) + 1e-12 * np.eye(2))
        hat = weight * np.einsum("ij,jk,ik->i", x, inverse, x)
        step = inverse @ (x.T @ (correct - p + hat * (0.5 - p)))
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        beta = beta + step
        if float(np.abs(step).max()) < 1e-9:
            break
    slope, intercept = beta.tolist()
    return flat if slope <= 0 else (slope / scale, intercept - slope * centre / scale)
