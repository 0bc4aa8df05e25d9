"""What did models say about test sets? `Predictions` of one on one, and the `PredictionTable` of all in a file.

Truth, prediction and how sure it was, checked once and never changed.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from numpy.typing import ArrayLike

from touchstone.core.data.errors import DataError
from touchstone.core.data.identity import hash_of, key
from touchstone.core.data.predictions.blocks import Block
from touchstone.core.data.predictions.roles import ROUNDED, Roles
from touchstone.core.data.tables.names import MOST_STRATA, OF_ITS_OWN, agreement_by_chance, compact, word_for
from touchstone.core.data.values import check_unique, codes, listed, read_only, texts

GROUPS = ("fold", "source", "trial")
KEPT = (*GROUPS, "unit")
"""What divides the rows, and what belongs together: units are none of the parts that one chooses."""
_FEWEST = 20  # samples below which chance explains nearly everything
_SAME = 0.999  # the share of rows from which on two columns say the same
_BELOW, _NEAR = 3.0, 2.0  # standard deviations: so far below chance, so near to it


@dataclass(frozen=True, eq=False, init=False)
class Predictions:
    """The predictions of one model on one test set; its arrays are read-only.

    `y_true` and `y_pred` are codes into `class_names`, and `proba`, where known, has a column per class name.
    `confidence` is the highest predicted probability; of a model that gave one number only, the probability of the
    predicted class. `groups` name, per row, the fold, source, trial or whatever else divides the test set.
    The group "unit" names what was sampled independently (an author of many texts), and `unit_name` what one is called.
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
    unit_name: str
    ensemble: tuple["Predictions", ...] = field(repr=False)
    """What several models said of these samples, this one among them; none where the file holds no other."""

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
        unit_name: str = "",
        ensemble: Iterable["Predictions"] = (),
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
            unit_name=unit_name,
            ensemble=tuple(ensemble),
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

    @property
    def units(self) -> Shaped[np.ndarray, " n_samples"] | None:
        """What was sampled independently, by name: the named unit, else sources from ten on; None: each sample.

        >>> groups = {"source": [f"site {i % 12}" for i in range(24)]}
        >>> Predictions([str(i) for i in range(24)], [0] * 24, [1] * 24, ["a", "b"], groups=groups).units[:2].tolist()
        ['site 0', 'site 1']
        """
        named = self.groups.get("unit")
        if named is not None:
            return named
        sources = self.groups.get("source")
        return sources if sources is not None and not self.n_strata and len(np.unique(sources)) > 1 else None

    @property
    def n_strata(self) -> int:
        """Of how many sources the samples are, where these are no units; 0 where there is one, or none is known."""
        n = len(np.unique(self.groups["source"])) if "source" in self.groups else 0
        return n if 1 < n <= MOST_STRATA and "unit" not in self.groups else 0

    @property
    def unit_word(self) -> str:
        """What one of these is called, by the name of its column.

        >>> Predictions(["a"], [0], [1], ["x", "y"], groups={"unit": ["1"]}, unit_name="Author_ID").unit_word
        'author'
        """
        return word_for(self.unit_name) or ("unit" if "unit" in self.groups else "source")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all that a result can depend on; computed once."""
        header = key("touchstone predictions 1", tuple(self.groups), self.proba is None, self.confidence is None)
        numbers = [array for array in (self.proba, self.confidence) if array is not None]
        return hash_of(header, self.ids, self.y_true, self.y_pred, self.class_names, *numbers, *self.groups.values())

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "Predictions":
        """The predictions of some rows, given by their positions or by one truth value each; class names stay."""
        scores = {"proba": self.proba, "confidence": self.confidence}
        return replace(
            self,
            ids=self.ids[rows],
            y_true=self.y_true[rows],
            y_pred=self.y_pred[rows],
            groups={group: values[rows] for group, values in self.groups.items()},
            **{what: None if values is None else values[rows] for what, values in scores.items()},
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
        if not np.allclose(sums, 1, rtol=0, atol=ROUNDED + 1e-9):
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


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """A file of predictions, read: `models`, `sets`, `folds` and `tasks` are empty where the file does not tell.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables import make_table
    >>> columns = ["gold", "resnet_pred", "vit_pred"]
    >>> table = make_table("t.tsv", columns, [["a", "b"], ["a", "b"], ["a", "a"]], lines=[2, 3])
    >>> table = prediction_table(table)
    >>> [(model, table.select(model=model).accuracy) for model in table.models]
    [('resnet', 1.0), ('vit', 0.5)]
    """

    name: str
    roles: Roles
    _of_file: tuple[str, ...] = field(repr=False)
    _odd: tuple[str, ...] = field(repr=False)
    _ids: np.ndarray = field(repr=False)
    _groups: dict[str, np.ndarray] = field(repr=False)
    _blocks: tuple[Block, ...] = field(repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided in reading, in sentences: of the file, then of each model and task."""
        return tuple(dict.fromkeys((*self._of_file, *(note for block in self._blocks for note in block.notes))))

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the file."""
        return self._of_blocks("model")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of the file."""
        return self._of_blocks("task")

    @property
    def sets(self) -> tuple[str, ...]:
        """The test sets, in the order of the file."""
        return tuple(dict.fromkeys(self._groups.get("set", ())))

    @property
    def folds(self) -> tuple[str, ...]:
        """The folds, in the order of the file."""
        return tuple(dict.fromkeys(self._groups.get("fold", ())))

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, which all models share; none where there are tasks of different classes."""
        names = {block.class_names for block in self._blocks}
        return names.pop() if len(names) == 1 else ()

    @property
    def matched(self) -> tuple[tuple[str, str], ...]:
        """Predicted names and the classes that they were taken for, where these are spelled otherwise."""
        return tuple(dict.fromkeys(pair for block in self._blocks for pair in block.matched))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is suspicious about any model, set or task, told by its name where there are several."""
        kinds = [self.models, self.sets, self.tasks]
        sentences: dict[str, None] = dict.fromkeys(self._odd)
        for names in product(*(each or (None,) for each in kinds)):
            model, set, task = names
            with suppress(DataError):  # not every model has rows of every set
                named = [name for name, each in zip(names, kinds, strict=True) if name is not None and len(each) > 1]
                warnings = [w for w in self.select(model=model, set=set, task=task).warnings if w not in self._odd]
                sentences |= dict.fromkeys(": ".join([*[" · ".join(named)] * bool(named), text]) for text in warnings)
        return tuple(sentences)

    def _of_blocks(self, role: str) -> tuple[str, ...]:
        if role in self._groups:
            return tuple(dict.fromkeys(self._groups[role]))
        return tuple(dict.fromkeys(name for block in self._blocks if (name := getattr(block, role)) is not None))

    def select(
        self, model: str | None = None, set: str | None = None, fold: str | None = None, task: str | None = None
    ) -> Predictions:
        """The predictions of one model on one test set, all folds together unless one is named.

        A model, set or task need not be named where there is only one. DataError where there are several, or none of
        that name, or not a single row of this combination.
        """
        model, set, task = (
            self._one("model", self.models, model),
            self._one("set", self.sets, set),
            self._one("task", self.tasks, task),
        )
        if fold is not None:
            self._one("fold", self.folds, fold)
        block = next(each for each in self._blocks if each.model in (model, None) and each.task in (task, None))
        mask = self._mask(block, {"model": model, "set": set, "fold": fold})
        chosen = list(filter(None, (model, set, fold, task)))
        if not mask.any():
            raise DataError(f"{self.name}: there is not a single row of {', '.join(chosen)}. Choose others.")
        rows = block.rows[mask]
        y_true, y_pred = block.y_true[mask], block.y_pred[mask]
        proba = None if block.proba is None else _taken(block.proba, mask)
        odd = suspicions(y_true, y_pred, n_classes=len(block.class_names), proba=proba)
        return Predictions(
            ids=self._ids[rows],
            y_true=y_true,
            y_pred=y_pred,
            class_names=block.class_names,
            proba=proba,
            confidence=None if block.confidence is None else block.confidence[mask],
            groups={group: values[rows] for group, values in self._with_units.items()},
            unit_name=self.roles.unit or self.roles.source or "",
            warnings=(*self._odd, *block.warnings, *odd),
            notes=(*self._of_file, *block.notes),
            name=" · ".join((self.name, *chosen)),
        )

    @property
    def _with_units(self) -> dict[str, np.ndarray]:
        """What divides the rows, and their units: persons and documents that are called sources are units, too."""
        known = {group: self._groups[group] for group in KEPT if group in self._groups}
        if "unit" not in known and compact(self.roles.source or "") in OF_ITS_OWN:
            known["unit"] = known["source"]
        return known

    def _mask(self, block: Block, chosen: dict[str, str | None]) -> Bool[np.ndarray, " n_rows"]:
        """Which rows of a block are those of the chosen groups."""
        mask = np.ones(len(block.rows), dtype=bool)
        for group, name in chosen.items():
            if name is not None and group in self._groups:
                mask &= self._groups[group][block.rows] == name
        return mask

    def _one(self, what: str, names: tuple[str, ...], name: str | None) -> str | None:
        if name is None and len(names) > 1:
            raise DataError(f"{self.name}: there are {len(names)} {what}s: {listed(names)}. Choose one of them.")
        if name is not None and name not in names:
            known = f"The {what}s are {listed(names)}" if names else f"The file does not tell {what}s apart"
            raise DataError(f"{self.name}: there is no {what} {name!r}. {known}.")
        return name if name is not None or not names else names[0]


def _taken(proba: Float[np.ndarray, "n c"], mask: Bool[np.ndarray, " n"]) -> Float[np.ndarray, "taken c"]:
    """Some of the rows, or all of them as they are; read-only, so that nobody has to copy them once more."""
    taken = proba if mask.all() else proba[mask]
    taken.flags.writeable = False
    return taken


def suspicions(
    y_true: Integer[np.ndarray, " n_samples"],
    y_pred: Integer[np.ndarray, " n_samples"],
    *,
    n_classes: int,
    proba: Float[np.ndarray, "n_samples n_classes"] | None = None,
) -> tuple[str, ...]:
    """Sentences on what is suspicious about predictions; none where nothing is.

    >>> suspicions(np.array([0, 1] * 20), np.array([1, 0] * 20), n_classes=2)
    ('Accuracy is 0.0 %, below the 50.0 % that chance would give: are labels turned around or rows in another order?',)
    """
    n_samples = len(y_true)
    mean, spread = agreement_by_chance(y_true.tolist(), y_pred.tolist())
    n_correct = int((y_true == y_pred).sum())
    sentences = []
    if n_samples >= _FEWEST and spread > 0:
        chance = max(mean / n_samples, 1 / n_classes)
        accuracy = f"Accuracy is {100 * n_correct / n_samples:.1f} %"
        error = _BELOW * np.sqrt(chance * (1 - chance) / n_samples)
        if n_correct < mean - _BELOW * spread or n_correct / n_samples < chance - error:
            sentences.append(
                f"{accuracy}, below the {100 * chance:.1f} % that chance would give: are labels turned around or rows "
                "in another order?"
            )
        elif abs(n_correct - mean) <= _NEAR * spread:
            sentences.append(
                f"{accuracy}, as if truth and predictions were shuffled against each other (then about "
                f"{100 * mean / n_samples:.1f} %): do the rows belong together?"
            )
    if n_samples >= _FEWEST and n_correct > _SAME * n_samples:
        sentences.append("Truth and prediction agree in more than 99.9 % of rows: is one column a copy of the other?")
    if proba is not None:
        other = int((proba[np.arange(n_samples), y_pred] < proba.max(axis=1)).sum())
        if other:
            sentences.append(
                f"In {other:,} of {n_samples:,} rows the predicted label is not the most probable one; the label was "
                "kept, and confidence is the highest probability."
            )
    return tuple(sentences)
