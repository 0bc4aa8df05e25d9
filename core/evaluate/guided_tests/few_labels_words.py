"""What do few labels bring, before and after somebody gives them? In sentences."""

from touchstone.core.evaluate.guided_tests.few_labels import WORTH_IT, LabelDesign, LabelledAccuracy
from touchstone.core.evaluate.wording import count, percent, plural


def promise(design: LabelDesign) -> str:
    """How short the interval is expected to be, and what it would take at random.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.guided_tests.few_labels import design_labels
    >>> errors = 0.5 * np.random.default_rng(0).random(5000) ** 4
    >>> print(promise(design_labels(1 - errors, errors, n_labels=300)))
    300 labels bring the accuracy of all 5 000 samples to about ±2.7 points; drawn at random it would take 453.
    >>> print(promise(design_labels(1 - errors, np.full(5000, 0.1), n_labels=300)))
    300 labels bring the accuracy of all 5 000 samples to about ±3.4 points. Confidence is not expected to save labels
    here, so they are drawn at random.
    """
    brings = (
        f"{plural(design.n_labels, 'label')} bring the accuracy of all {count(len(design.stratum))} samples to about "
        f"±{100 * design.half_width:.1f} points"
    )
    if not design.stratified:
        return f"{brings}. Confidence is not expected to save labels here, so they are drawn at random."
    if design.n_at_random < WORTH_IT * design.n_labels:
        return f"{brings}. Drawn at random it would take as many."
    return f"{brings}; drawn at random it would take {count(design.n_at_random)}."


def guess(design: LabelDesign) -> str:
    """What matched confidences would predict before any label, with the assumption that it rests on.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.guided_tests.few_labels import design_labels
    >>> print(guess(design_labels(np.full(100, 0.9), np.full(100, 0.1), n_labels=50)))
    This assumes that confidence is as reliable here as on the test samples: accuracy would then be 90.0 %. The
    accuracy from the labels does not need this assumption.
    >>> print(guess(design_labels(np.full(100, 0.9), np.full(100, 0.1), n_labels=50, doubt=0.4)))
    At least 40.0 % of the samples are unlike the test samples: their confidence is lower. This assumes half of these
    wrong. Were confidence as reliable as on the test samples, accuracy would be 90.0 %. The accuracy from the labels
    does not need these assumptions.
    """
    accuracy = percent(design.predicted_accuracy)
    if design.doubt:
        return (
            f"At least {percent(design.doubt)} of the samples are unlike the test samples: their confidence is lower. "
            "This assumes half of these wrong. Were confidence as reliable as on the test samples, accuracy would be "
            f"{accuracy}. The accuracy from the labels does not need these assumptions."
        )
    return (
        f"This assumes that confidence is as reliable here as on the test samples: accuracy would then be {accuracy}. "
        "The accuracy from the labels does not need this assumption."
    )


def accuracy_in_words(labelled: LabelledAccuracy, *, n_skipped: int = 0) -> str:
    """The accuracy that labels tell, and a warning where rows above the last one have none.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.guided_tests.few_labels import labelled_accuracy
    >>> print(accuracy_in_words(labelled_accuracy(np.array([1, 12]), np.full(2, 100), np.array([4000, 1000]))))
    Accuracy is 96.8 % [93.9, 98.4] on all 5 000 samples, by 200 labels.
    """
    accuracy = (
        f"Accuracy is {percent(labelled.accuracy, labelled.interval)} on all {count(labelled.n_pool)} samples, "
        f"by {plural(labelled.n_labels, 'label')}."
    )
    if not n_skipped:
        return accuracy
    rows = plural(n_skipped, "row")
    return f"{accuracy} {rows} above the last label have none: if these were hard to label, it is too high."
