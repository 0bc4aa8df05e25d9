"""Which classes moved from training to test, and could one be told at all? A comparison in words."""

from dataclasses import dataclass

import numpy as np

from core.evaluate.covariate_shift import CovariateShift
from core.evaluate.wording import Verdict, bare, count, listed, p_value, percent, plural

LEVEL = 0.05


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
    >>> from core.evaluate.covariate_shift import Divergence, class_shift, corrected
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


def enough_resplits(n_classes: int) -> int:
    """Say how many re-splits it takes for the smallest p-value there can be to stay below 5 % after Holm's correction.

    >>> enough_resplits(10), 10 / (1 + enough_resplits(10)) < 0.05
    (200, True)
    """
    return round(n_classes / LEVEL)


def shift_verdict(shift: CovariateShift) -> Verdict:
    """The card of a comparison, as far as it has come.

    Examples
    --------
    >>> from core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 0.9, 1, 1) for value in (0.30, *[0.1] * 39)]
    >>> print(shift_verdict(corrected([class_shift("a", 100, 50, pieces)])).headline)
    1 of 1 class has moved from training to test by more than chance: a.
    """
    moved = [class_shift.label for class_shift in shift.classes if class_shift.shifted]
    all_of = together(shift)
    if not all_of.n_classes:
        return Verdict("No class has samples enough to be measured.", "", "", tuple(_notes(shift)))
    kept = [
        class_shift.observed.kept_variance
        for class_shift in shift.classes
        if not np.isnan(class_shift.observed.kept_variance)
    ]
    used = (
        f"{plural(all_of.n_resplits, 're-split')} of each class; the directions used keep {percent(min(kept))} to "
        f"{percent(max(kept))} of the variance."
    )
    findings = (_together(all_of), *_power(all_of), *_notes(shift))
    return Verdict(_headline(moved, all_of), used, _advice(moved, all_of), findings)


def _headline(moved: list[str], all_of: Together) -> str:
    classes = f"{count(len(moved))} of {plural(all_of.n_classes, 'class', 'classes')}"
    if moved:
        verb = "has" if len(moved) == 1 else "have"
        return f"{classes} {verb} moved from training to test by more than chance: {listed(moved)}."
    if all_of.n_resplits >= enough_resplits(all_of.n_classes):
        return f"No class of {count(all_of.n_classes)} has moved from training to test by more than chance."
    moved_together = "have moved from training to test" if all_of.p_value < LEVEL else "cannot be told from chance"
    return (
        f"All classes together {moved_together} ({p_value(all_of.p_value)}); re-splits are too few to name single ones."
    )


def _advice(moved: list[str], all_of: Together) -> str:
    if moved:
        return f"Find out how the test samples of {listed(moved)} were collected; report accuracy on them apart."
    if all_of.p_value < LEVEL:
        return "Something moved, though no single class can be named: take more re-splits, or more test samples."
    return "The test set looks like more of the training set; it says nothing about inputs that differ from both."


def _together(all_of: Together) -> str:
    return (
        f"All classes together: mean divergence {bare(all_of.value, 3)}, of re-splits "
        f"{bare(all_of.by_chance, 3)}, {p_value(all_of.p_value)}."
    )


def _power(all_of: Together) -> list[str]:
    """A sentence where no class could ever be named, however far it moved."""
    needed = enough_resplits(all_of.n_classes)
    if all_of.n_resplits >= needed:
        return []
    return [
        f"{plural(all_of.n_resplits, 're-split')} cannot name a single class of {count(all_of.n_classes)}: after "
        f"correction p is at least {bare(all_of.n_classes / (1 + all_of.n_resplits), 2)}. It takes {count(needed)}."
    ]


def _notes(shift: CovariateShift) -> list[str]:
    """What was changed or left out, and for which classes: one sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for class_shift in shift.classes:
        if class_shift.note:
            reasons.setdefault(class_shift.note, []).append(class_shift.label)
    return [f"{listed(labels)}: {note}." for note, labels in reasons.items()]
