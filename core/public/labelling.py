# pyright: strict, reportMissingTypeStubs=false, reportUnknownMemberType=false
"""How accurate is a model on samples without labels? Which of them to label, and what these labels tell of all."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer
from numpy.typing import ArrayLike

from touchstone.core.data import DataError
from touchstone.core.evaluate.guided_tests import few_labels as labelling


@dataclass(frozen=True, eq=False)
class FewLabels:
    """Which samples of a pool to label: their positions in `rows`, in the order in which to label them.

    Labels can be left out at the end, not in between: `design` draws them so that any beginning is a fair sample.
    """

    design: labelling.LabelDesign
    rows: Integer[np.ndarray, " n_labels"]

    @property
    def promise(self) -> str:
        """What the labels are expected to bring, in a sentence."""
        return labelling.promise(self.design)

    def accuracy(self, correct: ArrayLike) -> labelling.LabelledAccuracy:
        """The accuracy of the whole pool with its 95 % interval; `correct` says of the first of `rows` who is right.

        Raises DataError for more answers than rows, for others than True and False (1 and 0), or where a stratum has
        no label yet.
        """
        right = _right_or_wrong(correct, "correct")
        if right.ndim != 1 or len(right) > len(self.rows):
            raise DataError(
                f"{right.size} answers were given for {len(self.rows)} samples to label. Give one for each."
            )
        stratum, n = self.design.stratum[self.rows[: len(right)]], len(self.design.n_in)
        n_wrong, n_labelled = (np.bincount(each, minlength=n) for each in (stratum[~right], stratum))
        return labelling.labelled_accuracy(n_wrong, n_labelled, self.design.n_in)


def few_labels(
    confidence: ArrayLike,
    *,
    n_labels: int,
    known_confidence: ArrayLike | None = None,
    known_correct: ArrayLike | None = None,
    seed: int = 0,
) -> FewLabels:
    """Which `n_labels` samples of a pool to label, so that few labels tell the accuracy of all.

    `confidence` is the model's on each sample of the pool. Where it is known how confidence and errors go together, on
    a test set with labels, `known_confidence` and `known_correct` say so; else confidence is taken at its word, which
    can make the interval longer and never wrong. Raises DataError for too few labels, or more than samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> confidence = 1 - 0.5 * rng.random(5000) ** 4
    >>> labels = few_labels(confidence, n_labels=300)
    >>> print(labels.promise)
    300 labels bring the accuracy of all 5 000 samples to about ±2.7 points; drawn at random it would take 453.
    >>> correct = rng.random(300) < confidence[labels.rows]  # what the annotators found
    >>> told = labels.accuracy(correct)
    >>> bool(told.interval.lower < confidence.mean() < told.interval.upper), told.n_labels
    (True, 300)
    """
    pool = np.asarray(confidence, dtype=np.float64)
    if pool.ndim != 1 or not ((pool >= 0) & (pool <= 1)).all():
        raise DataError("confidence holds a number from 0 to 1 for each sample of the pool.")
    if (known_confidence is None) != (known_correct is None):
        raise DataError("known_confidence and known_correct belong together: give both, or neither.")
    expected: Float[np.ndarray, " n_pool"] = 1 - pool
    doubt = 0.0
    if known_confidence is not None and known_correct is not None:
        wrong, known = ~_right_or_wrong(known_correct, "known_correct"), np.asarray(known_confidence, dtype=np.float64)
        expected, doubt = labelling.expected_errors(pool, known, wrong), labelling.unlike(pool, known)
    design = labelling.design_labels(pool, expected, n_labels=n_labels, doubt=doubt)
    return FewLabels(design, design.draw(np.random.default_rng(seed)))


def _right_or_wrong(values: ArrayLike, what: str) -> Bool[np.ndarray, " n"]:
    """True and False, or 1 and 0. Raises DataError, naming the first, for anything else: NaN is neither."""
    array = np.asarray(values)
    other = [row for row, each in enumerate(array.ravel().tolist()) if each is None or each not in (0, 1)]
    if other:
        raise DataError(
            f"{what} holds {array.ravel().tolist()[other[0]]!r} at position {other[0]} (counted from 0). Say True or "
            "False of each sample, and leave those without an answer out, at the end."
        )
    return array.astype(bool)
