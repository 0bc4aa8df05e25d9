"""Does accuracy really drop from one test set to another? Of predictions in arrays, or in files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer
from numpy.typing import ArrayLike

from touchstone.core.data import DataError, Predictions, PredictionTable, guess_roles, read_predictions
from touchstone.core.data.predictions.pairs import PredictionPairs, pair_predictions
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.evaluate.guided_tests import few_labels as labelling
from touchstone.core.public.asking import Result
from touchstone.core.report.quantities import muted_kinds

File = str | PathLike[str]


def compare(
    reference: Predictions | File,
    target: Predictions | File,
    *,
    model: str | None = None,
    unit: str | None = None,
    seed: int = 0,
    mute: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Result:
    """Does accuracy really drop from one test set to another? Of the predictions of a model, or of many, on both.

    Both are `touchstone.predictions`, or both files as the app reads them (docs/file-formats.md). Files of several
    models give the answer about all of them, and `model` names the one that it is about; either way claims are
    corrected for all. `unit` names the column of what was sampled independently (an author of many texts) where no name
    says it; `touchstone.predictions` takes units themselves. `mute` as in `check`. `options` are those of
    `touchstone.core.evaluate.matched_subsets.compare_sets`, such as `epsilon`.

    Examples
    --------
    >>> from touchstone.core.public import predictions
    >>> truth, confidence = np.tile(["cat", "dog"], 30), np.linspace(0.6, 0.9, 60)
    >>> old = predictions(truth, truth, confidence=confidence)
    >>> new = predictions(truth, np.where(np.arange(60) < 30, "cat", truth), confidence=confidence)
    >>> result = compare(old, new)
    >>> result.table()["number"].tolist()[0]
    'matched_subsets.gap[model]'
    >>> print(result.verdict.headline.split("[")[0])
    Accuracy falls by 25.0 points
    """
    from touchstone.core.evaluate.matched_subsets import compare_pairs
    from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
    from touchstone.core.report.matched_subsets import answer

    if isinstance(reference, Predictions) and isinstance(target, Predictions):
        pairs = PredictionPairs({model or "model": reference}, {model or "model": target})
    elif isinstance(reference, Predictions) or isinstance(target, Predictions):
        raise DataError("Give two files of predictions, or both as touchstone.predictions.")
    else:
        pairs = pair_predictions(_read(Path(reference), unit), _read(Path(target), unit))
    if model is not None and model not in pairs.models:
        raise DataError(f"The files have predictions of {', '.join(pairs.models)}. Name one of them with model=.")
    compared = compare_pairs(pairs.references, pairs.targets, rng=np.random.default_rng(seed), **options)
    plan = MatchingPlan(seed=seed)
    plan = replace(plan, **{name: value for name, value in options.items() if name in plan.matching})
    curve, classes = partial(plan.curve, pairs), partial(plan.by_class, pairs)
    known = answer(compared, model=model, curve=curve, reliability=plan.reliability, classes=classes)
    return Result(known.muting(muted_kinds(mute)))


def _read(file: Path, unit: str | None) -> PredictionTable:
    """A file, with the column of its units where one is named. Raises DataError where there is no such column."""
    if unit is None:
        return read_predictions(file)
    table = read_prediction_table(file)
    return prediction_table(table, roles=replace(guess_roles(table), unit=unit))


# How accurate is a model on samples without labels? Which of them to label, and what these labels tell of all.


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

    def accuracy(self, correct: Sequence[bool] | Bool[np.ndarray, " n_labelled"]) -> labelling.LabelledAccuracy:
        """The accuracy of the whole pool with its 95 % interval; `correct` says of the first of `rows` who is right.

        Raises DataError for more answers than rows, or where a stratum has no label yet.
        """
        right = np.asarray(correct, dtype=bool)
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
    if known_confidence is not None:
        wrong, known = ~np.asarray(known_correct, dtype=bool), np.asarray(known_confidence, dtype=np.float64)
        expected, doubt = labelling.expected_errors(pool, known, wrong), labelling.unlike(pool, known)
    design = labelling.design_labels(pool, expected, n_labels=n_labels, doubt=doubt)
    return FewLabels(design, design.draw(np.random.default_rng(seed)))
