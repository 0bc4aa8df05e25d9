"""On which scale are two samples equally sure? On that of accuracy: a confidence as often right as it says.

A network that says .9999 and .99 may be right in 95 and in 80 % of such samples. Within an epsilon of the confidence
they are alike, and a set with more of the second would seem less often right "at equal confidence". So confidences are
put through one monotone map that is fitted on the reference set: logistic regression of right answers on the logit of
the confidence (Platt 1999; by Firth's score, 1993), whose slope is never below 0. Epsilon is then in units of accuracy.
The map need not be true: it keeps the order, and only says how far apart two confidences are.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from scipy import special

from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes

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


def fitted(logit: Float[np.ndarray, " n"], correct: Bool[np.ndarray, " n"]) -> tuple[float, float]:
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
