"""What did one model say in one task? Labels as codes, scores as probabilities, all in the order of the class names.

Which predicted name stands for which class is told by name, never by position, and asked where nothing is sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Integer

from core.data.errors import DataError, RolesNeeded
from core.data.predictions.agreement import percent
from core.data.predictions.roles import Part, Roles, Scores
from core.data.predictions.scores import Output, of_all_classes, probabilities, read_single
from core.data.tables.names import (
    check_few,
    class_order,
    codes_of,
    common_names,
    counted_apart,
    drop_points,
    renaming,
    several_in_one,
)
from core.data.tables.table import Table
from core.data.values import listed, quoted

_MOST_GUESSED = 50  # classes up to which a mapping between names is guessed


@dataclass(frozen=True, eq=False)
class Block:
    """What one model, or one column per model, said in one task: `rows` of the table, all else in their order."""

    model: str | None
    task: str | None
    rows: Integer[np.ndarray, " n_rows"]
    class_names: tuple[str, ...]
    y_true: Integer[np.ndarray, " n_rows"]
    y_pred: Integer[np.ndarray, " n_rows"]
    proba: Float[np.ndarray, "n_rows n_classes"] | None
    confidence: Float[np.ndarray, " n_rows"] | None
    matched: tuple[tuple[str, str], ...]
    """Predicted names and the classes that they were taken for, where these are spelled otherwise."""
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def read_block(
    table: Table,
    roles: Roles,
    part: Part,
    rows: Integer[np.ndarray, " n_rows"] | None = None,
    *,
    task: str | None = None,
) -> Block:
    """Read the rows of one task, or all, as what the part's columns say; DataError names the first line that is wrong.

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["gold", "said"], [["cat", "dog"], ["cat", "cat"]], lines=[2, 3])
    >>> block = read_block(table, Roles("gold", "said"), Part("model", "", predicted="said"))
    >>> block.class_names, block.y_true, block.y_pred
    (('cat', 'dog'), array([0, 1]), array([0, 0]))
    """
    if rows is not None:
        table = table.take(rows)
    truth_column = part.truth or roles.truth or ""
    truth = _labels(table, truth_column)
    predicted = _labels(table, part.predicted) if part.predicted else None
    proba_names, proba, notes = _scores(table, roles.vector, part.probabilities or roles.probabilities, roles.scores)
    place = f"{table.name}: the truth (column {truth_column!r})"
    known, answers, more = matched_names(truth, predicted, proba_names, proba, roles=roles, truth_place=place)
    truth = [known[label] for label in truth]
    predicted = None if predicted is None else [answers[label] for label in predicted]
    proba_names = [answers[name] for name in proba_names]
    names = class_order({*truth, *(predicted or ()), *proba_names})
    _check_classes(names, table.n_rows, place=f"{table.name}: column {truth_column!r}")
    warnings, output = [], Output(predicted or [], None, None)
    if proba is not None:
        proba, warnings = in_class_order(proba, proba_names, names, place=table.name)
        output = of_all_classes(proba, names, predicted)
    elif part.confidence is not None:
        output = read_single(table, part.confidence, names, truth, predicted, roles=roles)
    return Block(
        **_named(part, roles, task),
        rows=np.arange(table.n_rows) if rows is None else rows,
        class_names=names,
        y_true=codes_of(truth, names),
        y_pred=codes_of(output.predicted, names),
        proba=output.proba,
        confidence=output.confidence,
        matched=tuple(pair for pair in sorted(answers.items()) if len(set(pair)) > 1),
        notes=(*notes, *more, *output.notes),
        warnings=tuple(warnings),
    )


def _named(part: Part, roles: Roles, task: str | None) -> dict[str, str | None]:
    """The model or the task that a part is about."""
    model = part.name if roles.parts and part.kind == "model" else None
    return {"model": model, "task": part.name if roles.parts and part.kind == "task" else task}


def _labels(table: Table, column: str) -> list[str]:
    """The labels of a column; DataError where a row has several."""
    cells = table.columns[column]
    lists = (row for row, cell in enumerate(cells) if isinstance(cell, (list, dict, np.ndarray)))
    row = next(lists, None) if cells.dtype == object else None
    labels = table.strings(column) if row is None else []
    row = several_in_one(labels) if row is None else row
    if row is not None:
        raise DataError(
            f"{table.place(row)}: column {column!r} holds {quoted(cells[row])}, several labels in one row. "
            "Touchstone tests classifiers that give one label: give one column of labels per task."
        )
    return labels


def _scores(
    table: Table, vector: str | None, by_class: tuple[tuple[str, str], ...], kind: Scores | None
) -> tuple[list[str], np.ndarray | None, list[str]]:
    """The names and probabilities of all classes, none where the file does not hold them; and what the scores were."""
    if vector is not None:
        names, scores = table.scores(vector)
    elif by_class:
        names = tuple(name for name, _ in by_class)
        scores = np.column_stack([table.numbers(column) for _, column in by_class])
    else:
        return [], None, []
    if len(names) < 2:
        raise DataError(f"{table.name}: scores of one class only, {listed(names)}. Give those of all classes.")
    columns = [vector] if vector is not None else dict(by_class).values()
    called_logits = all("logit" in column.lower() for column in columns)
    proba, note = probabilities(scores, place=table.place, kind=kind or ("logits" if called_logits else None))
    return list(names), proba, [note]


def _check_classes(names: tuple[str, ...], n_rows: int, *, place: str) -> None:
    if len(names) < 2:
        raise DataError(
            f"{place}: {listed(names)!r} is the only class. A classifier needs two or more; is this the truth?"
        )
    check_few(names, n_rows, place)


def with_same_classes(blocks: list[Block]) -> tuple[Block, ...]:
    """Blocks of models in one task share class names, so that they can be compared; those of tasks keep their own.

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["gold", "a", "b"], [["x", "y"], ["x", "x"], ["z", "y"]], lines=[2, 3])
    >>> parts = [Part("model", name, predicted=name) for name in "ab"]
    >>> blocks = [read_block(table, Roles("gold"), part) for part in parts]
    >>> [block.class_names for block in with_same_classes(blocks)]
    [('x', 'y', 'z'), ('x', 'y', 'z')]
    """
    if all(block.task is not None for block in blocks) or len({block.class_names for block in blocks}) == 1:
        return tuple(blocks)
    names = class_order({name for block in blocks for name in block.class_names})
    return tuple(_recoded(block, names) for block in blocks)


def _recoded(block: Block, names: tuple[str, ...]) -> Block:
    places = codes_of(block.class_names, names)
    proba = block.proba
    if proba is not None:
        proba = np.zeros((len(block.rows), len(names)))
        proba[:, places] = block.proba
    return replace(block, class_names=names, y_true=places[block.y_true], y_pred=places[block.y_pred], proba=proba)


def matched_names(
    truth: Sequence[str],
    predicted: Sequence[str] | None,
    proba_names: Sequence[str],
    proba: Float[np.ndarray, "n_rows n_scores"] | None,
    *,
    roles: Roles,
    truth_place: str,
) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """A class name for each true and for each predicted name, the same where nothing else can be meant; and notes.

    RolesNeeded asks where the names have nothing in common; it carries the likeliest mapping. `truth_place` tells the
    file and the column of the truth.

    >>> matched_names(["0", "1"], ["LABEL_1", "LABEL_1"], [], None, roles=Roles("gold"), truth_place="t.tsv: gold")
    ({'0': '0', '1': '1'}, {'LABEL_1': '1'}, ['Class names of truth and predictions were matched by their numbers.'])
    """
    given = dict(roles.classes)
    known, answers = set(truth), {*(predicted or ()), *proba_names}
    if not answers:
        return drop_points({name: name for name in known}), {}, []
    notes = []
    mapped = {name: given.get(name, name) for name in answers}
    if by_label := _columns_as_labels(proba_names, proba, predicted, given):
        mapped |= by_label
        notes.append("Columns of scores were matched with the predicted labels by their highest score.")
    if not given and counted_apart(known, set(mapped.values())):
        said_codes = [mapped[label] for label in predicted or ()]
        raise _counted_question(truth, said_codes, class_order(mapped.values()), roles, truth_place)
    common = common_names(known, set(mapped.values()))
    if common is None or not (given or _fits(known, common[0], [mapped[name] for name in proba_names])):
        guess = _likeliest(truth, predicted, proba_names, proba)
        raise _open_question(known, class_order(mapped.values()), replace(roles, classes=guess), truth_place)
    names, how = common
    if how:
        notes.append(f"Class names of truth and predictions were matched {how}.")
    return {name: names[name] for name in sorted(known)}, {name: names[mapped[name]] for name in answers}, notes


def _open_question(known: set[str], predicted: Sequence[str], guess: Roles, truth_place: str) -> RolesNeeded:
    names = class_order(known)
    return RolesNeeded(
        f"{truth_place} says {listed(names)}, the predictions say {listed(predicted)}. "
        "Which predicted name stands for which class?",
        guess,
        names,
        "classes",
    )


def _counted_question(
    truth: Sequence[str], labels: Sequence[str], predicted: Sequence[str], roles: Roles, truth_place: str
) -> RolesNeeded:
    """Whether codes stand for the same codes, or for those that are one higher or lower; the latter is likelier."""
    known = set(truth)
    step = min(map(int, known)) - min(map(int, predicted))
    return RolesNeeded(
        f"{truth_place} says {listed(class_order(known))}, the predictions say {listed(predicted)}, as if one of them "
        f"counted from 1. {_as_counted(truth, labels, step)}Which predicted name stands for which class?",
        replace(roles, classes=tuple((name, str(int(name) + step)) for name in predicted)),
        class_order({*known, *predicted, *(str(int(name) + step) for name in predicted)}),
        "classes",
    )


def _as_counted(truth: Sequence[str], labels: Sequence[str], step: int) -> str:
    """In how many rows codes agree if they are moved, and as they stand."""
    if not labels:
        return ""
    pairs = list(zip(truth, labels, strict=True))
    as_they_stand, moved = (np.mean([int(a) == int(b) + by for a, b in pairs]) for by in (0, step))
    return f"Moved by one, {percent(moved)} of {len(pairs):,} rows agree; as they stand, {percent(as_they_stand)}. "


def _columns_as_labels(
    names: Sequence[str], proba: np.ndarray | None, predicted: Sequence[str] | None, given: dict[str, str]
) -> dict[str, str]:
    """Columns that carry other names than the predicted labels, by which label each column's maximum goes with."""
    if proba is None or predicted is None:
        return {}
    labels = [given.get(label, label) for label in predicted]
    columns = [given.get(name, name) for name in names]
    common = common_names(set(labels), set(columns))
    if common is not None:  # "1" for "Class1": as the labels are spelled
        spelled = {common[0][label]: label for label in labels}
        return {name: spelled[common[0][c]] for name, c in zip(names, columns, strict=True) if common[0][c] in spelled}
    mapping = renaming([columns[code] for code in proba.argmax(axis=1)], labels)
    if mapping is None or len(mapping) < len(columns):
        return {}
    return {name: mapping[column] for name, column in zip(names, columns, strict=True)}


def _fits(truth: set[str], common: dict[str, str], proba_names: Sequence[str]) -> bool:
    """Whether columns that are numbered from 0, perhaps by position only, can be meant by the true labels."""
    if not proba_names or list(proba_names) != [str(position) for position in range(len(proba_names))]:
        return True
    known = {common[name] for name in truth}
    return "0" in known or known <= {common[name] for name in proba_names}


def _likeliest(
    truth: Sequence[str],
    predicted: Sequence[str] | None,
    proba_names: Sequence[str],
    proba: np.ndarray | None,
) -> tuple[tuple[str, str], ...]:
    """The one-to-one mapping under which most rows would be correct: a guess to confirm."""
    from scipy.optimize import linear_sum_assignment

    labels = predicted
    if labels is None and proba is not None:
        labels = [proba_names[code] for code in proba.argmax(axis=1)]
    true_names = class_order(truth)
    answers = class_order({*(labels or ()), *proba_names})
    if labels is None or max(len(answers), len(true_names)) > _MOST_GUESSED:
        return ()
    counts = np.zeros((len(answers), len(true_names)))
    np.add.at(counts, (codes_of(labels, answers), codes_of(truth, true_names)), 1)
    return tuple((answers[a], true_names[b]) for a, b in zip(*linear_sum_assignment(-counts), strict=True))


def in_class_order(
    proba: Float[np.ndarray, "n_rows n_scores"], proba_names: Sequence[str], names: Sequence[str], *, place: str
) -> tuple[Float[np.ndarray, "n_rows n_classes"], list[str]]:
    """Probabilities in the order of the class names, 0 where a class has no column; and a warning of that.

    >>> in_class_order(np.array([[0.75, 0.25]]), ["dog", "cat"], ["cat", "dog"], place="t.tsv")
    (array([[0.25, 0.75]]), [])
    """
    if len(set(proba_names)) < len(proba_names):
        raise DataError(f"{place}: two columns of scores stand for one class. Leave one of them out.")
    absent = [name for name in names if name not in set(proba_names)]
    full = np.zeros((len(proba), len(names)))
    full[:, codes_of(proba_names, names)] = proba
    return full, [f"No scores of {listed(absent)}: the probability is taken as 0."] if absent else []
