"""What is in a file of predictions? Models, sets, folds and tasks, each selection of which is one `Predictions`."""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Integer

from core.data.errors import DataError
from core.data.predictions.blocks import Block, read_block, with_same_classes
from core.data.predictions.guess import complete_roles
from core.data.predictions.record import Predictions
from core.data.predictions.roles import Part, Roles
from core.data.tables import Table
from core.data.tables.names import agreement_by_chance
from core.data.values import listed

GROUPS = ("fold", "source", "trial")
_FEWEST = 20  # samples below which chance explains nearly everything
_SAME = 0.999  # the share of rows from which on two columns say the same
_BELOW, _NEAR = 3.0, 2.0  # standard deviations: so far below chance, so near to it


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
            groups={group: self._groups[group][rows] for group in GROUPS if group in self._groups},
            warnings=(*self._odd, *block.warnings, *odd),
            notes=(*self._of_file, *block.notes),
            name=" · ".join((self.name, *chosen)),
        )

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


def prediction_table(table: Table, *, roles: Roles | None = None, name: str | None = None) -> PredictionTable:
    """Make sense of a table of predictions: `roles` say what its columns are, or are guessed (`guess_roles`).

    All of it is checked here, so that every refusal comes before anything is computed. RolesNeeded asks what could not
    be decided, and carries the guess: answer with corrected roles.
    """
    roles = complete_roles(table, roles)
    roles.check(table)
    groups = _groups_of(table, roles)
    ids = table.strings(roles.id) if roles.id else [str(row) for row in range(table.n_rows)]
    _check_ids(table, ids, groups)
    parts = roles.parts or (Part("model", "", roles.truth, roles.predicted, roles.confidence),)
    rows_of = _rows_of(groups["task"]) if "task" in groups else {None: None}
    blocks = [read_block(table, roles, part, rows, task=task) for part in parts for task, rows in rows_of.items()]
    return PredictionTable(
        name=name or table.name.split(".")[0] or table.name,
        roles=roles,
        _of_file=(*table.notes, *_notes(table, roles)),
        _odd=table.warnings,
        _ids=np.array(ids, dtype=object),
        _groups=groups,
        _blocks=with_same_classes(blocks),
    )


def _groups_of(table: Table, roles: Roles) -> dict[str, np.ndarray]:
    """What divides the rows, by role."""
    columns = {role: getattr(roles, role) for role in ("model", "set", "task", *GROUPS)}
    return {role: np.array(table.strings(c), dtype=object) for role, c in columns.items() if c is not None}


def _rows_of(values: np.ndarray) -> dict[str, np.ndarray]:
    """The rows of each value, in the order in which the values come."""
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values.tolist()):
        rows.setdefault(value, []).append(row)
    return {value: np.array(each, dtype=np.int64) for value, each in rows.items()}


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
                "Each must stand once: delete one of the two rows, choose another id column, or say which column tells "
                "models, sets, tasks or trials apart."
            )
        seen[key] = row


def _notes(table: Table, roles: Roles) -> list[str]:
    notes = [f"{line}." for line in roles.lines()]
    if roles.id is None:
        notes.append("Ids: positions of the rows, counted from 0.")
    unused = [column for column in table.columns if column not in roles.columns]
    fractions = [column for column in unused if table.kind(column) == "fraction"]
    if fractions and not _tells_confidence(roles):
        notes.append(_unread_confidence(fractions))
    return [*notes, f"Not used: {listed(unused)}."] if unused else notes


def _unread_confidence(columns: list[str]) -> str:
    """A sentence on columns that may hold the confidence that was not found."""
    if len(columns) == 1:
        return f"No confidence was found. If column {columns[0]!r} holds it, choose that column as the confidence."
    return f"No confidence was found. If one of {listed(columns)} holds it, choose that column as the confidence."


def _tells_confidence(roles: Roles) -> bool:
    """Whether any column tells how sure a model was."""
    of_parts = any(part.confidence or part.probabilities for part in roles.parts)
    return bool(roles.confidence or roles.probabilities or roles.vector or of_parts)


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
