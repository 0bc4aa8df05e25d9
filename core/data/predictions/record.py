"""What did models say about test sets? `Predictions` of one on one, and the `PredictionTable` of all in a file.

Truth, prediction and how sure it was, checked once and never changed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from numpy.typing import ArrayLike

from touchstone.core.data.dataset import hash_of, key
from touchstone.core.data.errors import DataError, Oddity
from touchstone.core.data.predictions.blocks import Block
from touchstone.core.data.predictions.roles import ROUNDED, Roles
from touchstone.core.data.tables import names as naming
from touchstone.core.data.values import check_unique, codes, listed, numbers, read_only, texts

GROUPS = ("fold", "source", "trial")
KEPT = (*GROUPS, "unit")
"""What divides the rows, and what belongs together: units are none of the parts that one chooses."""
IN_TRIAL = "row {}"
"""What samples without ids are called by their place in each trial, where these are the same."""
_FEWEST = 20  # samples below which chance explains nearly everything
_SAME = 0.999  # the share of rows from which on two columns say the same
_MOST_EXCHANGED, _CLEARLY = 50, 4.0  # classes whose names are tried in another order; standard deviations above chance
_BELOW = _NEAR = 2.5  # standard deviations: so far below chance, so near to it


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
    warnings: tuple[Oddity, ...]
    notes: tuple[str, ...] = field(repr=False)
    name: str
    unit_name: str
    ensemble: tuple["Predictions", ...] = field(repr=False)
    """What several models said of these samples, this one among them; none where the file holds no other."""
    inputs: dict[str, np.ndarray] = field(repr=False)
    """What the file says of the samples themselves, by column: they are met again by it. No result rests on it."""

    def __init__(
        self,
        ids: Iterable[str],
        y_true: ArrayLike,
        y_pred: ArrayLike,
        class_names: Iterable[str],
        proba: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        groups: Mapping[str, Iterable[str]] | None = None,
        warnings: Iterable[Oddity] = (),
        notes: Iterable[str] = (),
        name: str = "predictions",
        unit_name: str = "",
        ensemble: Iterable["Predictions"] = (),
        inputs: Mapping[str, np.ndarray] = MappingProxyType({}),
    ):
        proba = None if proba is None else numbers(proba, "proba", name)
        if confidence is not None:
            confidence = numbers(confidence, "confidence", name)
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
            inputs=dict(inputs),
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
        return n if 1 < n <= naming.MOST_STRATA and "unit" not in self.groups else 0

    @property
    def unit_word(self) -> str:
        """What one of these is called, by the name of its column.

        >>> Predictions(["a"], [0], [1], ["x", "y"], groups={"unit": ["1"]}, unit_name="Author_ID").unit_word
        'author'
        """
        return naming.word_for(self.unit_name) or ("unit" if "unit" in self.groups else "source")

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
            inputs={column: values[rows] for column, values in self.inputs.items()},
            **{what: None if values is None else values[rows] for what, values in scores.items()},
        )

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"fingerprint": self.fingerprint}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in (*state.values(), *state["groups"].values()):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # unpickling forgets it
        self.__dict__.update(state)


def _check_sizes(predictions: Predictions) -> None:
    name, n_samples = predictions.name, predictions.n_samples
    if n_samples == 0:
        raise DataError(f"{name}: there is not a single sample. Give predictions for at least one.")
    arrays = {"y_true": predictions.y_true, "y_pred": predictions.y_pred, "confidence": predictions.confidence}
    for what, values in {**arrays, **predictions.groups, **predictions.inputs}.items():
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
    >>> from touchstone.core.data.tables.table import make_table
    >>> columns = ["gold", "resnet_pred", "vit_pred"]
    >>> table = make_table("t.tsv", columns, [["a", "b"], ["a", "b"], ["a", "a"]], lines=[2, 3])
    >>> table = prediction_table(table)
    >>> [(model, table.select(model=model).accuracy) for model in table.models]
    [('resnet', 1.0), ('vit', 0.5)]
    """

    name: str
    roles: Roles
    _of_file: tuple[str, ...] = field(repr=False)
    _odd: tuple[Oddity, ...] = field(repr=False)
    _ids: np.ndarray = field(repr=False)
    _groups: dict[str, np.ndarray] = field(repr=False)
    _inputs: dict[str, np.ndarray] = field(repr=False)
    _blocks: tuple[Block, ...] = field(repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided in reading, in sentences: of the file, then of each model and task."""
        return tuple(dict.fromkeys((*self._of_file, *(note for block in self._blocks for note in block.notes))))

    @property
    def n_rows(self) -> int:
        """How many rows there are, used or not."""
        return len(self._ids)

    @property
    def n_used(self) -> int:
        """How many rows of the file any model's predictions are of."""
        rows = [block.rows for block in self._blocks]
        return len(rows[0] if len(rows) == 1 else np.unique(np.concatenate(rows)))

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
    def warnings(self) -> tuple[Oddity, ...]:
        """What is suspicious about any model, set or task, told by its name where there are several."""
        kinds = [self.models, self.sets, self.tasks]
        sentences: dict[Oddity, None] = dict.fromkeys(self._odd)
        for names in product(*(each or (None,) for each in kinds)):
            model, set, task = names
            with suppress(DataError):  # not every model has rows of every set
                named = [str(name) for name, each in zip(names, kinds, strict=True) if len(each) > 1]
                warnings = [w for w in self.select(model=model, set=set, task=task).warnings if w not in self._odd]
                sentences |= dict.fromkeys(odd.of(" · ".join(named)) if named else odd for odd in warnings)
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
        model = self._one("model", self.models, model)
        set, task = self._one("set", self.sets, set), self._one("task", self.tasks, task)
        if fold is not None:
            self._one("fold", self.folds, fold)
        block = next(each for each in self._blocks if each.model in (model, None) and each.task in (task, None))
        block = block.take(self._are_of(block.rows, {"model": model, "set": set, "fold": fold}))
        chosen = list(filter(None, (model, set, fold, task)))
        if not len(block.rows):
            raise DataError(f"{self.name}: there is not a single row of {', '.join(chosen)}. Choose others.")
        names = block.class_names
        odd = suspicions(block.y_true, block.y_pred, n_classes=len(names), proba=block.proba, names=names)
        return Predictions(
            ids=self._ids[block.rows],
            y_true=block.y_true,
            y_pred=block.y_pred,
            class_names=names,
            proba=block.proba,
            confidence=block.confidence,
            groups={group: values[block.rows] for group, values in self._with_units.items()},
            unit_name=self.roles.unit or self.roles.source or "",
            inputs={column: values[block.rows] for column, values in self._inputs.items()},
            warnings=(*self._odd, *block.warnings, *odd),
            notes=(*self._of_file, *block.notes),
            name=" · ".join((self.name, *chosen)),
        )

    def _are_of(self, rows: np.ndarray, groups: Mapping[str, str | None]) -> Bool[np.ndarray, " n_rows"]:
        """Which of the rows are of these groups, as far as the file tells groups apart."""
        chosen = np.ones(len(rows), dtype=bool)
        for group, name in groups.items():
            if name is not None and group in self._groups:
                chosen &= self._groups[group][rows] == name
        return chosen

    @property
    def _with_units(self) -> dict[str, np.ndarray]:
        """What divides the rows, and their units: persons and documents that are called sources are units, too."""
        known = {group: self._groups[group] for group in KEPT if group in self._groups}
        if "unit" not in known and naming.compact(self.roles.source or "") in naming.OF_ITS_OWN:
            known["unit"] = known["source"]
        return known

    def _one(self, what: str, names: tuple[str, ...], name: str | None) -> str | None:
        if name is None and len(names) > 1:
            raise DataError(f"{self.name}: there are {len(names)} {what}s: {listed(names)}. Choose one of them.")
        if name is not None and name not in names:
            known = f"The {what}s are {listed(names)}" if names else f"The file does not tell {what}s apart"
            raise DataError(f"{self.name}: there is no {what} {name!r}. {known}.")
        return name if name is not None or not names else names[0]


def suspicions(
    y_true: Integer[np.ndarray, " n_samples"],
    y_pred: Integer[np.ndarray, " n_samples"],
    *,
    n_classes: int,
    proba: Float[np.ndarray, "n_samples n_classes"] | None = None,
    names: Sequence[str] = (),
) -> tuple[Oddity, ...]:
    """What is suspicious about predictions; nothing where nothing is. `names` are those of the classes, to be said.

    >>> suspicions(np.array([0, 1] * 20), np.array([1, 0] * 20), n_classes=2)
    ('Accuracy is 0.0 %, below the 50.0 % that chance would give: are labels turned around or rows in another order?',)
    """
    n_samples = len(y_true)
    mean, spread = naming.agreement_by_chance(y_true.tolist(), y_pred.tolist())
    n_correct = int((y_true == y_pred).sum())
    sentences = []
    if n_samples >= _FEWEST and spread > 0:
        chance = max(mean / n_samples, 1 / n_classes)
        accuracy = f"Accuracy is {100 * n_correct / n_samples:.1f} %"
        error = _BELOW * np.sqrt(chance * (1 - chance) / n_samples)
        if n_correct < mean - _BELOW * spread or n_correct / n_samples < chance - error:
            text = (
                f"{accuracy}, below the {100 * chance:.1f} % that chance would give: are labels turned around or rows "
            )
            exchanged = _exchanged(y_true, y_pred, n_classes, names)
            sentences.append(Oddity(f"{text}in another order?{exchanged}", "below_chance"))
        elif abs(n_correct - mean) <= _NEAR * spread:
            sentences.append(
                Oddity(
                    f"{accuracy}, as if truth and predictions were shuffled against each other (then about "
                    f"{100 * mean / n_samples:.1f} %): do the rows belong together?",
                    "as_if_shuffled",
                )
            )
    if n_samples >= _FEWEST and n_correct > _SAME * n_samples:
        copied = "Truth and prediction agree in more than 99.9 % of rows: is one column a copy of the other?"
        sentences.append(Oddity(copied, "copy_of_truth", n_correct, n_samples))
    if proba is not None:
        other = int((proba[np.arange(n_samples), y_pred] < proba.max(axis=1)).sum())
        if other:
            sentences.append(
                Oddity(
                    f"In {other:,} of {n_samples:,} rows the predicted label is not the most probable one; the label "
                    "was kept, and confidence is the highest probability.",
                    "not_most_probable",
                    other,
                    n_samples,
                )
            )
    return tuple(sentences)


def _exchanged(
    y_true: Integer[np.ndarray, " n_samples"],
    y_pred: Integer[np.ndarray, " n_samples"],
    n_classes: int,
    names: Sequence[str],
) -> str:
    """What accuracy would be if predicted names stood for others, where that is clearly above chance."""
    from scipy.optimize import linear_sum_assignment

    if n_classes > _MOST_EXCHANGED or len(names) != n_classes:
        return ""
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (y_pred, y_true), 1)
    to = linear_sum_assignment(-counts)[1]
    mean, spread = naming.agreement_by_chance(y_true.tolist(), to[y_pred].tolist())
    n_correct = int((to[y_pred] == y_true).sum())
    if n_correct <= mean + _CLEARLY * spread:
        return ""
    which = listed([f"{names[code]!r} for {names[other]!r}" for code, other in enumerate(to) if code != other])
    return f" If predicted names stand for others ({which}), it is {100 * n_correct / len(y_true):.1f} %."


# Which predictions on one test set belong to which on another? Parts, tasks, models and classes of two files.

ONLY_MODEL = "the model"
ALL = "(all)"
OTHERS = "(all others)"
MOST_PARTS = 1000
"""Of so many folds, sources or trials one can be chosen; a column of more is something else."""


@dataclass(frozen=True)
class Part:
    """Which rows of a file: a set (None: its only one), and in it a fold, source and trial (None or ALL: all).

    OTHERS are the rows that are not of the fold or source that the other side names.
    """

    set: str | None = None
    fold: str | None = None
    source: str | None = None
    trial: str | None = None


WHOLE = Part()
"""All rows of a file of one set."""


@dataclass(frozen=True, eq=False)
class PredictionPairs:
    """Predictions of every model, by the model's name, on a reference and a target set.

    A model of both has one name, that of the reference; a model of one set only stands there alone.
    """

    references: dict[str, Predictions]
    targets: dict[str, Predictions]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that both sets know."""
        return tuple(name for name in self.references if name in self.targets)

    @property
    def can_match(self) -> bool:
        """Whether of any model both sets tell how sure it was."""
        both = [(self.references[name], self.targets[name]) for name in self.models]
        return any(reference.confidence is not None and target.confidence is not None for reference, target in both)


def pair_predictions(
    reference: PredictionTable,
    target: PredictionTable,
    *,
    reference_part: Part = WHOLE,
    target_part: Part = WHOLE,
    task: str | None = None,
) -> PredictionPairs:
    """Select the parts and the task, and bring together the models (`pair_models`) and the names of their classes.

    DataError where a set or task has to be named, no model has predictions on both sets, or the files have no class in
    common. Two parts that share rows of one file are refused: a set compared with itself tells nothing.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables.table import make_table
    >>> rows = [["1", "2", "3"], ["a", "b", "a"], ["a", "b", "b"], ["x", "x", "y"]]
    >>> table = prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "fold"], rows, lines=[2, 3, 4]))
    >>> pairs = pair_predictions(table, table, reference_part=Part(fold=OTHERS), target_part=Part(fold="y"))
    >>> [(pairs.references[name].accuracy, pairs.targets[name].accuracy) for name in pairs.models]
    [(1.0, 0.0)]
    """
    named, left = _named_pairs(reference, target)
    if reference is target:
        _check_apart(reference, named[0][0], reference_part, target_part, task)
    references, targets = {}, {}
    for model, target_model in named:
        name = model or target_model or ONLY_MODEL
        references[name], targets[name] = _with_common_classes(
            _select(reference, model, reference_part, target_part, task),
            _select(target, target_model, target_part, reference_part, task),
        )
        if model and target_model and not same_model(model, target_model):
            names = f"{model!r} in {reference.name} and {target_model!r} in {target.name}"
            odd = Oddity(f"The model is called {names}: is it the same?", "model_names")
            targets[name] = _warned(targets[name], odd)
    for name in left:
        if name in reference.models:
            references[name] = _select(reference, name, reference_part, target_part, task)
        else:
            targets[name] = _select(target, name, target_part, reference_part, task)
    return PredictionPairs(_as_ensemble(references), _as_ensemble(targets))


def models_in(table: PredictionTable, part: Part = WHOLE, task: str | None = None) -> dict[str, Predictions]:
    """The predictions of every model of a file on a part of it, by the model's name.

    DataError where a set or task has to be named.
    """
    return {model or ONLY_MODEL: _of_part(table, model, part, part, task) for model in table.models or (None,)}


def _as_ensemble(models: dict[str, Predictions]) -> dict[str, Predictions]:
    """The same, each with all of them beside it, where there are several."""
    if len(models) < 2:
        return models
    return {name: replace(predictions, ensemble=tuple(models.values())) for name, predictions in models.items()}


def _named_pairs(
    reference: PredictionTable, target: PredictionTable
) -> tuple[list[tuple[str | None, str | None]], list[str]]:
    """The models of both files, as each calls them (None: it names none), and those of one file only."""
    if not reference.models and not target.models:
        return [(None, None)], []
    if reference.models and target.models:
        pairs, left = pair_models(reference, target)
        if not pairs:
            raise DataError(
                f"No model has predictions on both sets: {listed(reference.models)} in {reference.name}; "
                f"{listed(target.models)} in {target.name}. Spell the models alike in both."
            )
        return list(pairs), left
    # One file names its only model, the other does not: there is nothing else that could be meant.
    known = reference.models or target.models
    if len(known) > 1:
        raise DataError(
            f"One file tells {len(known)} models apart ({listed(known)}), the other names none. "
            "Give both a column 'model', or files of one model each."
        )
    return [(next(iter(reference.models), None), next(iter(target.models), None))], []


def choices_of(table: PredictionTable) -> dict[str, tuple[str, ...]]:
    """What `Part` can name in a file, where there is more than one: sets (the largest first), folds, sources, trials.

    The largest set makes the best reference. What stands under "set" of a file of one set is nothing.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables.table import make_table
    >>> rows = [["1", "2", "3"], ["a", "b", "a"], ["a", "b", "b"], ["new", "old", "old"], ["1", "2", "1"]]
    >>> table = make_table("t.tsv", ["id", "gold", "predicted", "set", "fold"], rows, lines=[2, 3, 4])
    >>> choices_of(prediction_table(table))
    {'set': ('old', 'new'), 'fold': ('1', '2')}
    """
    model, task = next(iter(table.models), None), next(iter(table.tasks), None)
    sizes = dict.fromkeys(table.sets, 0)
    groups: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for name in table.sets or (None,):
        with suppress(DataError):  # this model says nothing about this set
            chosen = table.select(model=model, set=name, task=task)
            sizes[name or ""] = chosen.n_samples
            for group in chosen.groups.keys() & groups.keys():
                groups[group] |= dict.fromkeys(chosen.groups[group].tolist())
    sets = tuple(sorted(sizes, key=lambda name: -sizes[name]))
    chosen = {group: tuple(names) for group, names in groups.items() if 1 < len(names) <= MOST_PARTS}
    return ({"set": sets} if len(sets) > 1 else {}) | chosen


def pair_models(reference: PredictionTable, target: PredictionTable) -> tuple[list[tuple[str, str]], list[str]]:
    """Which model of one file is which of another, and the models that stand in one of them only.

    Models of the same name are the same; so are those whose paths end alike, where only one does in either file; and
    the only model of one file is paired with the only one of the other, whatever their names (`same_model` tells). A
    file that names no model has none to pair.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables.table import make_table
    >>> def file(*models):
    ...     columns = [[str(row) for row in range(2)], ["a", "b"], ["a", "a"], list(models)]
    ...     return prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "model"], columns, lines=[2, 3]))
    >>> pair_models(file("here/resnet", "vit"), file("/home/me/resnet", "mlp"))
    ([('here/resnet', '/home/me/resnet')], ['vit', 'mlp'])
    """
    left, right = list(reference.models), list(target.models)
    if len(left) == len(right) == 1:
        return [(left[0], right[0])], []
    pairs = {model: model for model in left if model in right}
    pairs |= _same_ends(_without(left, pairs), _without(right, pairs))
    rest = _without(left, pairs) + _without(right, pairs.values())
    return [(model, pairs[model]) for model in left if model in pairs], rest


def _without(models: list[str], others: Collection[str]) -> list[str]:
    """The models that are none of the others."""
    return [model for model in models if model not in others]


def _same_ends(left: list[str], right: list[str]) -> dict[str, str]:
    """The models whose paths end as that of one other does, and of no third."""
    ends = [_last(model) for model in (*left, *right)]
    alike = [(model, other) for model in left for other in right if same_model(model, other)]
    return {model: other for model, other in alike if ends.count(_last(model)) == 2}


def same_model(model: str, other: str) -> bool:
    """Whether two names, or the ends of two paths, are the same.

    >>> same_model("here/resnet", "/home/me/resnet"), same_model("resnet", "vit")
    (True, False)
    """
    return _last(model) == _last(other)


def _last(model: str) -> str:
    return model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _select(table: PredictionTable, model: str | None, part: Part, other: Part, task: str | None) -> Predictions:
    chosen = _of_part(table, model, part, other, task)
    if "trial" not in chosen.groups or len(set(chosen.ids.tolist())) == chosen.n_samples:
        return chosen
    repeated = "Samples occur several times, once per trial, so intervals are too narrow. Choose one trial."
    return _warned(chosen, Oddity(repeated, "repeated_samples"))


def _of_part(table: PredictionTable, model: str | None, part: Part, other: Part, task: str | None) -> Predictions:
    fold = part.fold if part.fold not in (None, ALL, OTHERS) else None
    whole = table.select(model=model, set=part.set, fold=fold, task=_task(table, task))
    rows = _rows(whole, part, other)
    if not rows.any():
        named = [f"{each.name} {value}" for each in fields(part) if (value := getattr(part, each.name)) is not None]
        raise DataError(f"{table.name}: there is not a single row of {', '.join(named)}. Choose others.")
    return whole if rows.all() else whole.take(rows)


def _rows(whole: Predictions, part: Part, other: Part) -> Bool[np.ndarray, " n_samples"]:
    """Which rows of a whole set are of a part of it."""
    rows = np.ones(whole.n_samples, dtype=bool)
    for group in GROUPS:
        name, against = getattr(part, group), getattr(other, group)
        if name in (None, ALL):
            continue
        if group not in whole.groups:
            raise DataError(f"{whole.name}: the file does not tell {group}s apart. Give it a column '{group}'.")
        if name != OTHERS:
            rows &= whole.groups[group] == name
        elif against in (None, ALL, OTHERS):
            raise DataError(f"Which {group} are all others compared with? Choose one {group} on the other side.")
        else:
            rows &= whole.groups[group] != against
    return rows


def _with_common_classes(reference: Predictions, target: Predictions) -> tuple[Predictions, Predictions]:
    """Both with one spelling of each class, as within a file; DataError where they have no class in common."""
    if reference.class_names == target.class_names:
        return reference, target
    common = naming.common_names(reference.class_names, target.class_names)
    if common is None:
        raise DataError(
            f"No class of one file is a class of the other: {listed(reference.class_names)} in {reference.name}; "
            f"{listed(target.class_names)} in {target.name}. Spell the classes alike in both files."
        )
    names, how = common
    note = (f"Class names of {reference.name} and {target.name} were matched {how}.",) if how else ()
    return (
        replace(reference, class_names=tuple(names[name] for name in reference.class_names)),
        replace(target, class_names=tuple(names[name] for name in target.class_names), notes=(*target.notes, *note)),
    )


def _warned(predictions: Predictions, warning: Oddity) -> Predictions:
    return replace(predictions, warnings=(*predictions.warnings, warning))


def _check_apart(table: PredictionTable, model: str | None, part: Part, other: Part, task: str | None) -> None:
    """DataError where two parts of a file share rows."""
    if part.set != other.set:
        return
    whole = table.select(model=model, set=part.set, task=_task(table, task))
    shared = int((_rows(whole, part, other) & _rows(whole, other, part)).sum())
    if part == other:
        raise DataError(
            "Both test sets are the same. Choose another file, or another part of this file, as the new set."
        )
    if shared:
        raise DataError(
            f"{shared:,} rows of {table.name} are in both test sets, so they would be compared with themselves. "
            f"Choose parts that share none, such as {OTHERS!r} as the reference."
        )


def _task(table: PredictionTable, task: str | None) -> str | None:
    """A file that tells no tasks apart is about the one that is asked for."""
    return task if table.tasks else None
