"""What is in a file of predictions? Models, sets, folds and tasks, each selection of which is one `Predictions`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Integer

from core.data.classes import common_names, drop_points, renaming, several_in_one
from core.data.errors import DataError, RolesNeeded
from core.data.prediction_guess import complete_roles
from core.data.prediction_roles import Part, Roles
from core.data.predictions import Predictions
from core.data.roles import listed
from core.data.scores import cell_scores, probabilities
from core.data.spelling import check_few, class_order, codes_of
from core.data.suspicion import suspicions
from core.data.tables import Table, quoted

GROUPS = ("fold", "source", "trial")
_SLACK = 1e-6
_MOST_GUESSED = 50  # classes up to which a mapping between names is guessed


@dataclass(frozen=True, eq=False)
class _Block:
    """What one model, or one column per model, said in one task: `rows` of the table, all else in their order."""

    model: str | None
    task: str | None
    rows: Integer[np.ndarray, " n_rows"]
    class_names: tuple[str, ...]
    y_true: Integer[np.ndarray, " n_rows"]
    y_pred: Integer[np.ndarray, " n_rows"]
    proba: Float[np.ndarray, "n_rows n_classes"] | None
    confidence: Float[np.ndarray, " n_rows"] | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PredictionTable:
    """A file of predictions, read: `models`, `sets`, `folds` and `tasks` are empty where the file does not tell.

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["gold", "resnet", "vit"], [["a", "b"], ["a", "b"], ["a", "a"]], lines=[2, 3])
    >>> table = prediction_table(table, roles=Roles(truth="gold", parts=(
    ...     Part("model", "resnet", predicted="resnet"), Part("model", "vit", predicted="vit"))))
    >>> [(model, table.select(model=model).accuracy) for model in table.models]
    [('resnet', 1.0), ('vit', 0.5)]
    """

    name: str
    roles: Roles
    notes: tuple[str, ...]
    _ids: np.ndarray = field(repr=False)
    _groups: dict[str, np.ndarray] = field(repr=False)
    _blocks: tuple[_Block, ...] = field(repr=False)

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
        chosen = {"model": model, "set": set, "fold": fold}
        mask = np.ones(len(block.rows), dtype=bool)
        for group, name in chosen.items():
            if name is not None and group in self._groups:
                mask &= self._groups[group][block.rows] == name
        told = [name for name in (model, set, fold, task) if name is not None]
        if not mask.any():
            raise DataError(f"{self.name}: there is not a single row of {', '.join(told)}. Choose others.")
        rows = block.rows[mask]
        y_true, y_pred = block.y_true[mask], block.y_pred[mask]
        proba = None if block.proba is None else block.proba[mask]
        found = suspicions(y_true, y_pred, n_classes=len(block.class_names), proba=proba)
        return Predictions(
            ids=self._ids[rows],
            y_true=y_true,
            y_pred=y_pred,
            class_names=block.class_names,
            proba=proba,
            confidence=None if block.confidence is None else block.confidence[mask],
            groups={group: self._groups[group][rows] for group in GROUPS if group in self._groups},
            warnings=(*block.warnings, *found),
            notes=(*self.notes, *block.notes),
            name=" · ".join((self.name, *told)),
        )

    def _one(self, what: str, names: tuple[str, ...], name: str | None) -> str | None:
        if name is None and len(names) > 1:
            raise DataError(f"{self.name}: there are {len(names)} {what}s: {listed(names)}. Choose one of them.")
        if name is not None and name not in names:
            told = f"The {what}s are {listed(names)}" if names else f"The file does not tell {what}s apart"
            raise DataError(f"{self.name}: there is no {what} {name!r}. {told}.")
        return name if name is not None or not names else names[0]


def prediction_table(table: Table, *, roles: Roles | None = None, name: str | None = None) -> PredictionTable:
    """Make sense of a table of predictions: `roles` say what its columns are, or are guessed (`guess_roles`).

    All of it is checked here, so that every refusal comes before anything is computed. RolesNeeded asks what could not
    be decided, and carries the guess: answer with corrected roles.
    """
    roles = complete_roles(table, roles)
    roles.check(table)
    groups = {
        role: np.array(table.strings(column), dtype=object)
        for role in ("model", "set", "task", *GROUPS)
        if (column := getattr(roles, role)) is not None
    }
    ids = table.strings(roles.id) if roles.id else [str(row) for row in range(table.n_rows)]
    _check_ids(table, ids, groups)
    parts = roles.parts or (Part("model", "", roles.truth, roles.predicted, roles.confidence),)
    tasks = groups.get("task")
    blocks = []
    for part in parts:
        for task in [None] if tasks is None else dict.fromkeys(tasks):
            rows = np.arange(table.n_rows) if tasks is None else np.flatnonzero(tasks == task)
            blocks.append(_Reader(table, roles, part, rows).block(task))
    return PredictionTable(
        name=name or table.name.split(".")[0] or table.name,
        roles=roles,
        notes=(*table.notes, *_notes(table, roles)),
        _ids=np.array(ids, dtype=object),
        _groups=groups,
        _blocks=_same_classes(blocks),
    )


def _check_ids(table: Table, ids: list[str], groups: dict[str, np.ndarray]) -> None:
    """Each id once per model, set, task and trial."""
    if len(set(ids)) == len(ids):
        return
    apart = [groups[role] for role in ("model", "set", "task", "trial") if role in groups]
    seen: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(zip(ids, *apart, strict=True)):
        if key in seen:
            within = " for the same model, set, task or trial" if apart else ""
            raise DataError(
                f"{table.place(row)}: id {ids[row]!r} stands in {table.unit} {table.lines[seen[key]]} too{within}. "
                "Each must stand once: leave a row out, choose another id column, or say which column tells models, "
                "sets, tasks or trials apart."
            )
        seen[key] = row


def _notes(table: Table, roles: Roles) -> list[str]:
    notes = [f"{line}." for line in roles.lines()]
    if roles.id is None:
        notes.append("Ids: positions of the rows, counted from 0.")
    unused = [column for column in table.columns if column not in roles.columns]
    return [*notes, f"Not used: {listed(unused)}."] if unused else notes


def _same_classes(blocks: list[_Block]) -> tuple[_Block, ...]:
    """Blocks of models in one task share class names, so that they can be compared."""
    if all(block.task is not None for block in blocks) or len({block.class_names for block in blocks}) == 1:
        return tuple(blocks)
    names = class_order({name for block in blocks for name in block.class_names})
    shared = []
    for block in blocks:
        places = codes_of(block.class_names, names)
        proba = block.proba
        if proba is not None:
            proba = np.zeros((len(block.rows), len(names)))
            proba[:, places] = block.proba
        y_true, y_pred = places[block.y_true], places[block.y_pred]
        shared.append(replace(block, class_names=names, y_true=y_true, y_pred=y_pred, proba=proba))
    return tuple(shared)


class _Reader:
    """One model or task of a table, on its way to codes and probabilities."""

    def __init__(self, table: Table, roles: Roles, part: Part, rows: np.ndarray):
        self.table, self.roles, self.part, self.rows = table, roles, part, rows
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.truth_column = part.truth or roles.truth or ""
        self.truth = self.labels(self.truth_column)
        self.predicted = self.labels(part.predicted) if part.predicted else None

    def place(self, row: int) -> str:
        """Where a row of these stands."""
        return self.table.place(int(self.rows[row]))

    def labels(self, column: str) -> list[str]:
        """The labels of a column; DataError where a row has several."""
        cells = self.table.columns[column][self.rows]
        lists = (row for row, cell in enumerate(cells) if isinstance(cell, (list, dict, np.ndarray)))
        row = next(lists, None) if cells.dtype == object else None
        strings = self.table.strings(column) if row is None else []
        labels = [strings[row] for row in self.rows.tolist()] if strings else []
        row = several_in_one(labels) if row is None else row
        if row is not None:
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(cells[row])}, several labels in one row. "
                "Touchstone tests classifiers that give one label: give one column of labels per task."
            )
        return labels

    def block(self, task: str | None) -> _Block:
        """All that this model said, in codes."""
        proba_names, proba = self.scores()
        known, said = self.renamed(proba_names, proba)
        truth = [known[label] for label in self.truth]
        predicted = None if self.predicted is None else [said[label] for label in self.predicted]
        proba_names = [said[name] for name in proba_names]
        names = class_order({*truth, *(predicted or ()), *proba_names})
        place = f"{self.table.name}: column {self.truth_column!r}"
        if len(names) < 2:
            raise DataError(
                f"{place}: {listed(names)!r} is the only class. A classifier needs two or more; is this the truth?"
            )
        check_few(names, len(self.rows), place)
        if proba is not None:
            proba = self.ordered(proba, proba_names, names)
            if predicted is None:
                predicted = [names[code] for code in proba.argmax(axis=1)]
            confidence = proba.max(axis=1)
        else:
            predicted, proba, confidence = self.single(names, truth, predicted)
        return _Block(
            model=self.part.name if self.roles.parts and self.part.kind == "model" else None,
            task=self.part.name if self.roles.parts and self.part.kind == "task" else task,
            rows=self.rows,
            class_names=names,
            y_true=codes_of(truth, names),
            y_pred=codes_of(predicted, names),
            proba=proba,
            confidence=confidence,
            notes=tuple(self.notes),
            warnings=tuple(self.warnings),
        )

    def scores(self) -> tuple[list[str], np.ndarray | None]:
        """The names and probabilities of all classes; none where the file does not hold them."""
        roles = self.roles
        if roles.vector is not None:
            names, scores = cell_scores(self.table, roles.vector)
            scores = scores[self.rows]
        elif roles.probabilities:
            names = tuple(name for name, _ in roles.probabilities)
            scores = np.column_stack([self.table.numbers(column)[self.rows] for _, column in roles.probabilities])
        else:
            return [], None
        if len(names) < 2:
            raise DataError(f"{self.table.name}: scores of one class only, {listed(names)}. Give those of all classes.")
        kind = roles.scores or ("logits" if self._called_logits() else None)
        proba, note = probabilities(scores, place=self.place, kind=kind)
        self.notes.append(note)
        return list(names), proba

    def _called_logits(self) -> bool:
        columns = [column for _, column in self.roles.probabilities] or [self.roles.vector or ""]
        return all("logit" in column.lower() for column in columns)

    def renamed(self, proba_names: list[str], proba: np.ndarray | None) -> tuple[dict[str, str], dict[str, str]]:
        """A class name for each true and each predicted name: the same where nothing else could be meant."""
        given = dict(self.roles.classes)
        known = set(self.truth)
        said = {*(self.predicted or ()), *proba_names}
        if not said:
            return drop_points({name: name for name in known}), {}
        mapped = {name: given.get(name, name) for name in said}
        if self.predicted is not None and proba is not None:
            mapped |= self._columns_as_labels(proba_names, proba, given)
        common = common_names(known, set(mapped.values()))
        if common is None or not (given or self._fits(common[0], [mapped[name] for name in proba_names])):
            raise self._ask_classes(known, sorted(set(mapped.values())), proba_names, proba)
        names, how = common
        if how:
            self.notes.append(f"Class names of truth and predictions were matched {how}.")
        return {name: names[name] for name in known}, {name: names[mapped[name]] for name in said}

    def _columns_as_labels(self, names: list[str], proba: np.ndarray, given: dict[str, str]) -> dict[str, str]:
        """Columns that carry other names than the predicted labels, by which label each column's maximum goes with."""
        labels = [given.get(label, label) for label in self.predicted or ()]
        columns = [given.get(name, name) for name in names]
        if common_names(set(labels), set(columns)) is not None:
            return {}
        mapping = renaming([columns[code] for code in proba.argmax(axis=1)], labels)
        if mapping is None or len(mapping) < len(columns):
            return {}
        self.notes.append("Columns of scores were matched with the predicted labels by their highest score.")
        return {name: mapping[column] for name, column in zip(names, columns, strict=True)}

    def _fits(self, common: dict[str, str], proba_names: list[str]) -> bool:
        """Whether columns that are numbered from 0, perhaps by position only, can be meant by the true labels."""
        if not proba_names or proba_names != [str(position) for position in range(len(proba_names))]:
            return True
        known = {common[name] for name in self.truth}
        return "0" in known or known <= {common[name] for name in proba_names}

    def _ask_classes(
        self, known: set[str], said: list[str], proba_names: list[str], proba: np.ndarray | None
    ) -> RolesNeeded:
        true_names = class_order(known)
        guess = self._likely_classes(true_names, proba_names, proba)
        return RolesNeeded(
            f"{self.table.name}: the truth (column {self.truth_column!r}) says {listed(true_names)}, the predictions "
            f"say {listed(class_order(said))}. Which predicted name stands for which class?",
            replace(self.roles, classes=guess),
            true_names,
            "classes",
        )

    def _likely_classes(
        self, true_names: Sequence[str], proba_names: list[str], proba: np.ndarray | None
    ) -> tuple[tuple[str, str], ...]:
        """The one-to-one mapping under which most rows would be correct: a guess to confirm."""
        from scipy.optimize import linear_sum_assignment

        labels = self.predicted
        if labels is None and proba is not None:
            labels = [proba_names[code] for code in proba.argmax(axis=1)]
        said = class_order({*(labels or ()), *proba_names})
        if labels is None or max(len(said), len(true_names)) > _MOST_GUESSED:
            return ()
        counts = np.zeros((len(said), len(true_names)))
        np.add.at(counts, (codes_of(labels, said), codes_of(self.truth, true_names)), 1)
        return tuple((said[a], true_names[b]) for a, b in zip(*linear_sum_assignment(-counts), strict=True))

    def ordered(self, proba: np.ndarray, proba_names: list[str], names: Sequence[str]) -> np.ndarray:
        """Probabilities in the order of the class names; 0 where a class has no column."""
        if len(set(proba_names)) < len(proba_names):
            raise DataError(f"{self.table.name}: two columns of scores stand for one class. Leave one of them out.")
        absent = [name for name in names if name not in set(proba_names)]
        if absent:
            self.warnings.append(f"No scores of {listed(absent)}: the probability is taken as 0.")
        full = np.zeros((len(proba), len(names)))
        full[:, codes_of(proba_names, names)] = proba
        return full

    def single(
        self, names: Sequence[str], truth: list[str], predicted: list[str] | None
    ) -> tuple[list[str], np.ndarray | None, np.ndarray | None]:
        """Prediction, probabilities and confidence where at most one number is known of each row."""
        if self.part.confidence is None:
            return predicted or [], None, None
        scores = self._one_score(self.part.confidence)
        if len(names) != 2:
            if predicted is None:
                raise DataError(
                    f"{self.table.name}: one score per row (column {self.part.confidence!r}) tells nothing about which "
                    f"of {len(names)} classes was predicted. Add a column with the predicted label."
                )
            return predicted, None, scores
        positive = self._positive(names, truth, predicted, scores)
        if positive is None:
            predicted = predicted or []
            if (scores < 0.5 - _SLACK).any():  # a score, but no probability: nothing follows for the other class
                return predicted, None, scores
            return predicted, _two(scores, codes_of(predicted, names)), scores
        code = names.index(positive)
        proba = _two(scores, np.full(len(scores), code))
        if predicted is None:
            predicted = [names[code] if score >= 0.5 else names[1 - code] for score in scores]
        return predicted, proba, proba.max(axis=1)

    def _one_score(self, column: str) -> np.ndarray:
        scores = self.table.numbers(column)[self.rows]
        outside = (scores < -_SLACK) | (scores > 1 + _SLACK)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {scores[row]:.6g}. A confidence must lie in [0, 1]: "
                "divide percent by 100, or leave scores out that are no probabilities."
            )
        return np.clip(scores, 0.0, 1.0)

    def _positive(
        self, names: Sequence[str], truth: list[str], predicted: list[str] | None, scores: np.ndarray
    ) -> str | None:
        """The class whose probability a single score is, None meaning that of the predicted one."""
        if self.roles.positive is not None:
            if self.roles.positive == "predicted" and "predicted" not in names:
                if predicted is not None:
                    return None
            else:
                common = common_names(set(names), {self.roles.positive})
                if common is not None and common[0][self.roles.positive] in names:
                    return common[0][self.roles.positive]
            raise DataError(
                f"{self.table.name}: the score is said to be that of {self.roles.positive!r}. "
                f"The classes are {listed(names)}."
            )
        if predicted is not None:
            if (scores >= 0.5 - _SLACK).all():
                self.notes.append(f"Column {self.part.confidence!r} is the probability of the predicted class.")
                return None
            said = np.array([label == names[1] for label in predicted])
            for code in (0, 1):
                inside, outside = scores[said == bool(code)], scores[said != bool(code)]
                if len(inside) and len(outside) and inside.min() >= outside.max():
                    self.notes.append(f"Column {self.part.confidence!r} is the probability of {names[code]}.")
                    return names[code]
        column = self.part.confidence
        of_predicted = ("predicted",) if predicted is not None else ()
        means = [scores[[label == name for label in truth]].mean() if name in truth else 0.0 for name in names]
        raise RolesNeeded(
            f"{self.table.name}: column {column!r} holds one probability per row, and there are two classes. "
            f"Is it that of {names[0]} or of {names[1]}{', or of the predicted one' if of_predicted else ''}?",
            replace(self.roles, positive=names[int(np.argmax(means))]),
            (*names, *of_predicted),
            "positive",
        )


def _two(scores: np.ndarray, codes: np.ndarray) -> Float[np.ndarray, "n_rows 2"]:
    """Probabilities of both classes, from that of one class per row."""
    proba = np.empty((len(scores), 2))
    rows = np.arange(len(scores))
    proba[rows, codes] = scores
    proba[rows, 1 - codes] = 1 - scores
    return proba
