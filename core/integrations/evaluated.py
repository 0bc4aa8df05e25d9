"""What did a model come to that is being trained? Its predictions of one test set, their accuracy, and their file."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.predictions.roles import Scores, probabilities
from touchstone.core.data.predictions.upload import write_predictions
from touchstone.core.evaluate.metric_estimates import estimate, scored_as
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.units import design_of_units
from touchstone.core.installed import command

MOST_SCORES = 5_000_000
"""Of more samples times classes, a file has the confidence alone: one is written after each evaluation."""
_WHAT = "Give scores of shape (samples, classes), or predicted codes, and the true code of each sample."


def needed(module: str, package: str) -> Any:
    """A package that Touchstone does without until it is asked for. Raises ImportError that says how to install it.

    Examples
    --------
    >>> needed("no_such_package", "no-such-package")
    Traceback (most recent call last):
    ImportError: This needs no-such-package, which is not installed here: ...install... no-such-package.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != module.partition(".")[0]:
            raise  # something that this package needs itself
        raise ImportError(
            f"This needs {package}, which is not installed here: {command(package)}.", name=module
        ) from None


def evaluated(
    scores: ArrayLike,
    y_true: ArrayLike,
    *,
    class_names: Sequence[str] | None = None,
    ids: Iterable[object] | None = None,
    unit: Iterable[object] | None = None,
    kind: Scores | None = None,
    name: str = "evaluation",
) -> Predictions:
    """Predictions of one test set, of the scores of a model (samples, classes) or the codes that it predicts.

    `kind` says whether scores are logits; by default values in [0, 1] that sum to 1 are probabilities, as in a file.
    Without `ids` samples are numbered from 0. Raises DataError for what is no classification into single classes.

    Examples
    --------
    >>> made = evaluated([[2.0, -1.0], [0.0, 3.0]], [0, 0], class_names=["cat", "dog"])
    >>> made.y_pred, made.accuracy, made.confidence.round(3)
    (array([0, 1]), 0.5, array([0.953, 0.953]))
    """
    values, labels = np.asarray(scores), np.asarray(y_true)
    are_codes = values.ndim == 1 and values.dtype.kind in "iu"
    if labels.dtype.kind not in "iu" or labels.shape != values.shape[:1] or not len(labels):
        raise DataError(f"{name}: labels of shape {labels.shape}, scores of shape {values.shape}. {_WHAT}")
    if not are_codes and (values.ndim != 2 or values.shape[1] < 2):
        raise DataError(f"{name}: scores of shape {values.shape} are no scores of two classes or more. {_WHAT}")
    if labels.min() < 0:
        raise DataError(f"{name}: sample {int(labels.argmin())} has the label {labels.min()}. Leave it out.")
    proba = None
    if not are_codes:
        proba, _ = probabilities(values.astype(np.float64), place=lambda row: f"{name}, sample {row}", kind=kind)
    predicted = values if are_codes else values.argmax(axis=1)
    n_classes = max(int(labels.max()), int(predicted.max())) + 1 if are_codes else values.shape[1]
    names = [str(code) for code in range(max(n_classes, 2))] if class_names is None else [*map(str, class_names)]
    words = {"id": range(len(labels)) if ids is None else ids, "unit": () if unit is None else unit}
    named = {role: [str(_plain(each)) for each in given] for role, given in words.items()}
    for role, given in named.items():
        if given and len(given) != len(labels):
            raise DataError(
                f"{name}: {role} is given for {len(given)} samples, and {len(labels)} were evaluated. "
                "Give those of this set, in its order."
            )
    return Predictions(
        named["id"],
        labels,
        predicted,
        names,
        proba=proba,
        groups={"unit": named["unit"]} if named["unit"] else {},
        name=name,
    )


def _plain(value: Any) -> object:
    """A number or a word, also of a tensor that holds one."""
    return value.item() if hasattr(value, "item") else value


def numbers(predictions: Predictions) -> dict[str, float]:
    """Accuracy, both ends of its 95 % interval and n. The ends are left out where too few units can tell.

    Examples
    --------
    >>> made = evaluated(np.eye(2)[np.arange(100) % 2], np.arange(100) % 2)
    >>> {name: round(value, 3) for name, value in numbers(made).items()}
    {'accuracy': 1.0, 'accuracy_low': 0.963, 'accuracy_high': 1.0, 'n': 100}
    """
    design = design_of_units(predictions.units, predictions.unit_word)
    made = estimate(METRICS[ACCURACY], scored_as(predictions, predictions.class_names), design)
    ends = {"accuracy_low": made.interval.lower, "accuracy_high": made.interval.upper} if made.interval.known else {}
    return {"accuracy": made.value, **ends, "n": made.n}


def save(predictions: Predictions, folder: Path, called: str) -> Path:
    """Write `called`.tsv into a folder, which is made; where there are very many scores, with the confidence alone.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     print(save(evaluated([[0.8, 0.2]], [0]), Path(folder), "predictions_val_3").read_text())
    id	y_true	y_pred	prob_0	prob_1
    0	0	0	0.8	0.2
    <BLANKLINE>
    """
    if predictions.proba is not None and predictions.proba.size > MOST_SCORES:
        predictions = Predictions(
            predictions.ids,
            predictions.y_true,
            predictions.y_pred,
            predictions.class_names,
            confidence=predictions.confidence,
            groups=predictions.groups,
        )
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{called}.tsv"
    file.write_bytes(write_predictions(predictions))
    return file
