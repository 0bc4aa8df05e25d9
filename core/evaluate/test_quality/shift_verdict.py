"""Which classes moved from training to test, and could one be told at all? A comparison in words."""

from dataclasses import dataclass

import numpy as np

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.test_quality.quality_claims import moved, moved_together
from touchstone.core.evaluate.wording import Verdict, bare, count, listed, p_value, percent, plural, quoted

FEWEST_RESPLITS = 20
"""With fewer no p-value is below 5 %, however far a class has moved."""


@dataclass(frozen=True)
class Together:
    """All classes at once: the mean of their divergences, that of their re-splits, and how rare the first is."""

    value: float
    by_chance: float
    p_value: float
    n_classes: int
    n_resplits: int


def together(shift: CovariateShift) -> Together:
    """Hold the mean divergence of all classes against that of their re-splits, which are made within classes.

    One test needs no correction for the number of classes, so that 99 re-splits are enough however many there are.

    Examples
    --------
    >>> from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 1.0, 1, 1) for value in (0.30, 0.10, 0.12, 0.11)]
    >>> together(corrected([class_shift("a", 100, 50, pieces)])).p_value
    0.25
    """
    known = [class_shift for class_shift in shift.classes if not np.isnan(class_shift.observed.value)]
    n = min((len(class_shift.null) for class_shift in known), default=0)
    value = float(np.mean([class_shift.observed.value for class_shift in known])) if known else float("nan")
    if n == 0:
        return Together(value, float("nan"), float("nan"), len(known), 0)
    null = np.mean([class_shift.null[:n] for class_shift in known], axis=0)
    return Together(value, float(null.mean()), (1 + int((null >= value).sum())) / (1 + n), len(known), n)


def shift_verdict(shift: CovariateShift) -> Verdict:
    """The card of a comparison, as far as it has come.

    Examples
    --------
    >>> from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 0.9, 1, 1) for value in (0.30, *[0.1] * 39)]
    >>> print(shift_verdict(corrected([class_shift("a", 100, 50, pieces)])).headline)
    1 of 1 class has shifted significantly from training to test: “a”.
    """
    claims, all_of, overall = list(map(moved, shift.classes)), together(shift), moved_together(shift)
    named = [
        quoted(class_shift.label)
        for class_shift, claim in zip(shift.classes, claims, strict=True)
        if claim.decision == "above"
    ]
    if not all_of.n_classes:
        return Verdict("No class has enough samples for this test.", "", "", tuple(_notes(shift)))
    kept = [
        class_shift.observed.kept_variance
        for class_shift in shift.classes
        if not np.isnan(class_shift.observed.kept_variance)
    ]
    n_test, n_train = sum(each.n_test for each in shift.classes), sum(each.n_train for each in shift.classes)
    used = (
        f"n = {count(n_test)} test samples against {count(n_train)} training samples, "
        f"{plural(all_of.n_resplits, 're-split')} of each class; the directions used keep {percent(min(kept))} to "
        f"{percent(max(kept))} of the variance."
    )
    findings = (_together(all_of), *_notes(shift))
    return Verdict(_headline(named, all_of, overall), used, _advice(named, overall), findings, (*claims, overall))


def _headline(named: list[str], all_of: Together, overall: Claim) -> str:
    classes = f"{count(len(named))} of {plural(all_of.n_classes, 'class', 'classes')}"
    if named:
        verb = "has" if len(named) == 1 else "have"
        return f"{classes} {verb} shifted significantly from training to test: {listed(named)}."
    if all_of.n_resplits < FEWEST_RESPLITS:
        too_few = f"{plural(all_of.n_resplits, 're-split')} are too few to decide whether a class has shifted"
        return f"{too_few}; at least {FEWEST_RESPLITS} are needed."
    if overall.decision == "above":
        return (
            f"All classes together have shifted significantly from training to test ({p_value(all_of.p_value)}), but "
            f"no single class significantly."
        )
    return f"No class of {count(all_of.n_classes)} has shifted significantly from training to test."


def _advice(named: list[str], overall: Claim) -> str:
    if named:
        return f"Next: find out how the test samples of {listed(named)} were collected."
    if overall.decision == "above":
        return "Next: find out how training and test samples were collected."
    return ""


def _together(all_of: Together) -> str:
    return (
        f"All classes together: mean divergence {bare(all_of.value, 3)}, of re-splits "
        f"{bare(all_of.by_chance, 3)}, {p_value(all_of.p_value)}."
    )


def _notes(shift: CovariateShift) -> list[str]:
    """What was changed or left out, and for which classes: one sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for class_shift in shift.classes:
        if class_shift.note:
            reasons.setdefault(class_shift.note, []).append(class_shift.label)
    return [f"{listed([quoted(label) for label in labels])}: {note}." for note, labels in reasons.items()]
