"""What does a classifier that tells training from test samples say, and what does it mean? In sentences."""

from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift
from touchstone.core.evaluate.wording import bare, count, listed, p_value, plural, quoted

MEMORY = (
    "A network fits its training samples, so their features can differ from those of any test sample, even in a "
    "random split. Such a difference is caused by training, not by the inputs."
)


def separation(parts: PartsTold) -> str:
    """Whether a classifier tells the parts apart, of which classes, and how well.

    Examples
    --------
    >>> import numpy as np
    >>> auc = np.column_stack([[0.5, 0.8], np.random.default_rng(0).uniform(0.4, 0.6, (2, 199))])
    >>> print(separation(PartsTold(("cat", "dog"), auc)))
    A classifier separates training and test samples of “dog” (AUC .80, by chance .50; 1 of 2 classes, p = .010).
    """
    if not len(parts.measured):
        return "No class has enough samples to separate training and test samples with a classifier."
    n, named = plural(len(parts.measured), "class", "classes"), parts.named
    if named:
        code = parts.class_names.index(named[0])
        chance, p = bare(float(parts.auc[code, 1:].mean()), 2), p_value(float(parts.p_value[code]))
        return (
            f"A classifier separates training and test samples of {listed(list(map(quoted, named)))} (AUC "
            f"{bare(float(parts.auc[code, 0]), 2)}, by chance {chance}; {count(len(named))} of {n}, {p})."
        )
    chance = bare(float(parts.auc[parts.measured, 1:].mean()), 2)
    means = f"mean AUC {bare(parts.together, 2)}, by chance {chance}, {p_value(parts.p_together)}"
    if parts.p_together < 0.05:
        return (
            f"A classifier separates training and test samples over all {n} together ({means}), "
            "but not within any single class."
        )
    return f"A classifier finds no significant difference between training and test samples ({means}; {n})."


def seen(shift: SeenShift) -> str:
    """How small a shift would have been seen.

    >>> print(seen(SeenShift("cat", 180, 36, 0.35)))
    A shift of “cat” by 0.35 standard deviations would have been seen in 80 % of cases (180 training, 36 test samples).
    """
    parts = f"{count(shift.n_first)} training, {count(shift.n_second)} test samples"
    if shift.size != shift.size:
        return f"Even a shift of {quoted(shift.label)} by 3.2 standard deviations would have been missed ({parts})."
    return (
        f"A shift of {quoted(shift.label)} by {shift.size:.2g} standard deviations would have been seen in 80 "
        f"% of cases ({parts})."
    )


def disagreement(parts: PartsTold, shift: CovariateShift) -> str:
    """Which classes only one of both tests names; empty where they agree.

    >>> import numpy as np
    >>> from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 0.9, 1, 1) for value in (0.30, *[0.1] * 39)]
    >>> nothing = PartsTold(("a",), np.full((1, 40), 0.5))
    >>> print(disagreement(nothing, corrected([class_shift("a", 100, 50, pieces)])))
    The two tests differ. Only the divergence detects “a”: it is sensitive to changes of shape.
    """
    divergence = [shifted.label for shifted in shift.classes if shifted.shifted]
    classifier_only = [quoted(name) for name in parts.named if name not in divergence]
    divergence_only = [quoted(name) for name in divergence if name not in parts.named]
    sentences = []
    if classifier_only:
        sentences.append(
            f"Only the classifier detects {listed(classifier_only)}: it is sensitive to small changes in many "
            f"directions."
        )
    if divergence_only:
        sentences.append(f"Only the divergence detects {listed(divergence_only)}: it is sensitive to changes of shape.")
    return " ".join(["The two tests differ.", *sentences]) if sentences else ""
