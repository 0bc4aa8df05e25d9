"""What did one model say about one test set? Truth, prediction and how sure it was, checked once and never changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from numpy.typing import ArrayLike

from core.data.errors import DataError
from core.data.identity import hash_of, key
from core.data.values import check_unique, codes, read_only, texts

_SLACK = 0.01  # by how much the probabilities of a row may miss 1: files round them


@dataclass(frozen=True, eq=False, init=False)
class Predictions:
    """The predictions of one model on one test set; its arrays are read-only.

    `y_true` and `y_pred` are codes into `class_names`, and `proba`, where known, has a column per class name.
    `confidence` is the highest predicted probability; of a model that gave one number only, the probability of the
    predicted class. `groups` name, per row, the fold, source, trial or whatever else divides the test set.
    `warnings` say what is suspicious and `notes` what was decided in reading; neither they nor the name are part of
    the `fingerprint`. Ids are unique, within each trial where `groups` tell trials apart.

    >>> predictions = Predictions(["a", "b", "c"], [0, 1, 1], [0, 1, 0], ["plum", "melon"],
    ...                           proba=[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], groups={"fold": ["1", "1", "2"]})
    >>> predictions.correct, predictions.confidence
    (array([ True,  True, False]), array([0.9, 0.8, 0.6]))
    >>> predictions.take(predictions.groups["fold"] == "1").accuracy
    1.0
    """

    ids: Shaped[np.ndarray, " n_samples"] = field(repr=False)
    y_true: Integer[np.ndarray, " n_samples"] = field(repr=False)
    y_pred: Integer[np.ndarray, " n_samples"] = field(repr=False)
    class_names: tuple[str, ...]
    proba: Float[np.ndarray, "n_samples n_classes"] | None = field(repr=False)
    confidence: Float[np.ndarray, " n_samples"] | None = field(repr=False)
    groups: dict[str, np.ndarray] = field(repr=False)
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = field(repr=False)
    name: str

    def __init__(
        self,
        ids: Iterable[str],
        y_true: ArrayLike,
        y_pred: ArrayLike,
        class_names: Iterable[str],
        proba: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        warnings: Iterable[str] = (),
        notes: Iterable[str] = (),
        name: str = "predictions",
    ):
        proba = None if proba is None else _numbers(proba, "proba", name)
        if confidence is not None:
            confidence = _numbers(confidence, "confidence", name)
        elif proba is not None and proba.ndim == 2 and proba.size:
            confidence = read_only(proba.max(axis=1), np.float64)
        self.__dict__.update(
            ids=texts(ids, "id", name),
            y_true=codes(y_true, name, what="y_true"),
            y_pred=codes(y_pred, name, what="y_pred"),
            class_names=tuple(texts(class_names, "class name", name)),
            proba=proba,
            confidence=confidence,
            groups={group: texts(values, group, name) for group, values in (groups or {}).items()},
            warnings=tuple(warnings),
            notes=tuple(notes),
            name=name,
        )
        _check_sizes(self)
        _check_classes(self)
        _check_values(self)
        _check_ids(self)

    @property
    def n_samples(self) -> int:
        """How many samples there are; at least one."""
        return len(self.ids)

    @property
    def n_classes(self) -> int:
        """How many classes there are, those included that have no sample here."""
        return len(self.class_names)

    @cached_property
    def correct(self) -> Bool[np.ndarray, " n_samples"]:
        """Which samples were predicted as what they are."""
        return read_only(self.y_true == self.y_pred, bool)

    @property
    def accuracy(self) -> float:
        """The fraction of samples that were predicted correctly."""
        return float(self.correct.mean())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all that a result can depend on; computed once."""
        header = key("touchstone predictions 1", tuple(self.groups), self.proba is None, self.confidence is None)
        numbers = [array for array in (self.proba, self.confidence) if array is not None]
        return hash_of(header, self.ids, self.y_true, self.y_pred, self.class_names, *numbers, *self.groups.values())

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "Predictions":
        """The predictions of some rows, given by their positions or by one truth value each; class names stay."""
        return Predictions(
            self.ids[rows],
            self.y_true[rows],
            self.y_pred[rows],
            self.class_names,
            None if self.proba is None else self.proba[rows],
            None if self.confidence is None else self.confidence[rows],
            {group: values[rows] for group, values in self.groups.items()},
            self.warnings,
            self.notes,
            self.name,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"fingerprint": self.fingerprint}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in (*state.values(), *state["groups"].values()):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # unpickling forgets it
        self.__dict__.update(state)


def _numbers(values: Any, what: str, name: str) -> np.ndarray:
    try:
        return read_only(values, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: {what} does not hold numbers only, or not in one shape ({error}).") from error


def _check_sizes(predictions: Predictions) -> None:
    name, n_samples = predictions.name, predictions.n_samples
    if n_samples == 0:
        raise DataError(f"{name}: there is not a single sample. Give predictions for at least one.")
    arrays = {"y_true": predictions.y_true, "y_pred": predictions.y_pred, "confidence": predictions.confidence}
    for what, values in {**arrays, **predictions.groups}.items():
        if values is not None and values.shape != (n_samples,):
            raise DataError(f"{name}: {n_samples} ids, but {what} has shape {values.shape}. There must be as many.")
    shape = (n_samples, predictions.n_classes)
    if predictions.proba is not None and predictions.proba.shape != shape:
        raise DataError(
            f"{name}: proba has shape {predictions.proba.shape}. It must be {shape}: a row per sample, a column per "
            "class name."
        )


def _check_classes(predictions: Predictions) -> None:
    name, n_classes = predictions.name, predictions.n_classes
    check_unique(predictions.class_names, "class name", name)
    if n_classes < 2:
        raise DataError(
            f"{name}: {', '.join(predictions.class_names) or 'nothing'!r} is the only class. A classifier needs two "
            "classes or more; are these the right columns?"
        )
    for what, values in (("y_true", predictions.y_true), ("y_pred", predictions.y_pred)):
        if values.min() < 0 or values.max() >= n_classes:
            raise DataError(
                f"{name}: {what} runs from {values.min()} to {values.max()}. "
                f"With {n_classes} class names it must lie in 0 to {n_classes - 1}."
            )


def _check_values(predictions: Predictions) -> None:
    for what, values in (("proba", predictions.proba), ("confidence", predictions.confidence)):
        if values is not None and not ((values >= 0) & (values <= 1)).all():
            row = int(np.argwhere(~((values >= 0) & (values <= 1)))[0][0])
            raise DataError(
                f"{predictions.name}: {what} of sample {predictions.ids[row]!r} holds {values[row]}. "
                "Probabilities must lie in [0, 1]."
            )
    if predictions.proba is not None:
        sums = predictions.proba.sum(axis=1)
        if not np.allclose(sums, 1, rtol=0, atol=_SLACK + 1e-9):
            row = int(np.abs(sums - 1).argmax())
            raise DataError(
                f"{predictions.name}: the probabilities of sample {predictions.ids[row]!r} sum to {sums[row]:.4g}. "
                "Each row must sum to 1."
            )


def _check_ids(predictions: Predictions) -> None:
    trials = predictions.groups.get("trial")
    if trials is None:
        check_unique(predictions.ids, "id", predictions.name)
    else:
        check_unique(list(zip(predictions.ids, trials, strict=True)), "pair of id and trial", predictions.name)
