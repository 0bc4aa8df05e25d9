"""What if a label is spread over columns, or packed with its score into a cell? Brought to one column for each thing.

A label may be a 0 or 1 per class: rows with exactly one 1 are one label, others are several. A cell may hold the best
labels only: the first is the prediction, its score the confidence.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import File, Limits
from touchstone.core.data.predictions.roles import BY_NAMES, ROUNDED, Part, Reading
from touchstone.core.data.tables import names as naming
from touchstone.core.data.tables.files import ARRAYS, TABLES, read_table
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import as_numbers, listed, numbers_in, objects, spell, vectors_in

PREDICTION_ENDINGS = (*TABLES, *ARRAYS, ".gz", ".zip")  # what an uploader may offer
ONE_LABEL = (
    "Touchstone tests classifiers that give one label: give one column of labels per task, or leave such rows out."
)
_SEPARATOR = re.compile(r"[\s_.:\-]+(?=\S)|(?<=[^\W\d_])(?=\d+$)")
_TRUTHS = {*naming.NAMES["truth"], *naming.TRUTH_LIKELY}
_SAID = {*naming.NAMES["predicted"], *naming.PREDICTED_LIKELY}
_LABELS = _TRUTHS | _SAID
_KNOWN = {name for role in ("truth", "predicted", "confidence") for name in naming.NAMES[role]}
_LABEL, _SCORE = "top 1 label", "top 1 confidence"


def read_prediction_table(file: File, *, limits: Limits | None = None) -> Table:
    """The columns of a file of predictions, whatever they mean: what `guess_roles` and `prediction_table` take.

    A truth that is written as a 0 or 1 per class is one column of labels already (`fold_one_hot`), and cells with
    the best labels only are a column of the label and one of the confidence (`unfold_top`).

    >>> from touchstone.core.data.limits import opened
    >>> list(read_prediction_table(opened(b"cat,cat\\ndog,cat\\ncat,cat\\n", "bare.csv")).columns)
    ['column 1', 'column 2']
    """
    return fold_one_hot(unfold_top(unwrap_labels(read_table(file, limits=limits, header_needed=False))))


def unwrap_labels(table: Table) -> Table:
    """The table with objects that hold a label among other things as that label, and their confidence in a column.

    >>> from touchstone.core.data.tables.table import make_table
    >>> cells = [{"_cls": "Classification", "label": "cat", "confidence": 0.9}]
    >>> list(unwrap_labels(make_table("t.json", ["predictions"], [cells], lines=[1])).columns)
    ['predictions', 'predictions confidence']
    """
    columns: dict[str, np.ndarray] = {}
    for column, cells in table.columns.items():
        if naming.compact(column) not in _LABELS or not _hold_labels(cells):
            columns[column] = cells
            continue
        columns[column] = objects([cell["label"] for cell in cells.tolist()])
        if all("confidence" in cell for cell in cells.tolist()):
            columns[_unused(f"{column} confidence", table)] = objects([cell["confidence"] for cell in cells.tolist()])
    return replace(table, columns=columns)


def _unused(name: str, table: Table) -> str:
    """The name, numbered where a column of the file is called so already."""
    names = (name, *(f"{name} {number}" for number in range(2, 2 + len(table.columns))))
    return next(each for each in names if each not in table.columns)


def _hold_labels(cells: np.ndarray) -> bool:
    """Whether each cell is an object with a label, and with more than a score for it."""
    if cells.dtype != object or not isinstance(cells[0], dict):
        return False
    return all(
        isinstance(cell, dict) and isinstance(cell.get("label"), (str, int)) and numbers_in(cell) is None
        for cell in cells.tolist()
    )


def fold_one_hot(table: Table) -> Table:
    """The table with labels that are a column per class, or a list of 0 and 1 per cell, as one column.

    Columns are taken together where their names begin with that of a truth (`true_cat`, `label_0`), or are the classes
    that predictions name beside them, where there is no other truth, and every row has exactly one 1. The others stay.
    So do predictions (`pred_0`), where their classes are numbered or those of such a truth.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.csv", ["true_cat", "true_dog", "pred"], [[1, 0], [0, 1], ["cat", "cat"]], lines=[2, 3])
    >>> fold_one_hot(table).strings("true")
    ['cat', 'dog']
    """
    table = _fold_lists(table)
    folded = [{str(position) for position in range(len(table.columns))}]
    for name, members in _truths(table):
        if first_not_one(table, list(members.values())) is None:
            table = fold_columns(table, members, name)
            folded.append(set(members))
            break
    for name, members in _families(table, _SAID).items():
        if any(set(members) <= known for known in folded) and _are_one_hot(table, name, members):
            table = fold_columns(table, members, name)
    return table


def _fold_lists(table: Table) -> Table:
    """Cells that are lists of one value as that value, and lists of a single 1 as its position."""
    for column, cells in table.columns.items():
        if _are_alone(cells):
            cells = objects([cell[0] for cell in cells.tolist()])
            table = replace(table, columns={**table.columns, column: cells})
        positions = _positions(cells)
        if positions is not None:
            note = f"Each list in column {column!r} holds a single 1: it is read as the number of a class, from 0."
            table = replace(table, columns={**table.columns, column: positions}, notes=(*table.notes, note))
    return table


def _are_one_hot(table: Table, name: str, members: dict[str, str]) -> bool:
    columns = list(members.values())
    free = naming.compact(name) not in {naming.compact(column) for column in table.columns}
    return len(columns) > 1 and free and _all_binary(table, columns) and first_not_one(table, columns) is None


def fold_columns(table: Table, members: dict[str, str], name: str) -> Table:
    """The table with columns, given by class, that hold a single 1 per row, as one column of the classes' names."""
    codes = _ones(table, list(members.values())).argmax(axis=1)
    labels = objects([list(members)[code] for code in codes])
    folded = set(members.values())
    columns = dict((name, labels) if c in folded else (c, cells) for c, cells in table.columns.items())
    note = f"Columns {listed(members.values())} hold a single 1 per row: they are read as one column, {name!r}."
    return replace(table, columns=columns, notes=(*table.notes, note))


def several_labels(table: Table) -> DataError | None:
    """The refusal where the columns of a truth, 0 or 1 per class, do not hold a single 1: it names the first line."""
    for _, members in _truths(table):
        columns = list(members.values())
        row = first_not_one(table, columns)
        if row is not None:
            n_ones = int(_ones(table, columns)[row].sum())
            what = "several labels in one row" if n_ones else "no label at all"
            return DataError(
                f"{table.place(row)}: columns {listed(columns)} hold {n_ones} times 1, {what}. {ONE_LABEL}"
            )
    return None


def first_not_one(table: Table, columns: Sequence[str]) -> int | None:
    """The first row in which not exactly one of the columns is 1; None where each has one."""
    wrong = np.flatnonzero(_ones(table, columns).sum(axis=1) != 1)
    return int(wrong[0]) if len(wrong) else None


def is_binary(table: Table, column: str) -> bool:
    """Whether a column holds nothing but 0 and 1, or truth values."""
    return bool(np.isin(_bits(table, column), (0, 1)).all())


def _ones(table: Table, columns: Sequence[str]) -> np.ndarray:
    return np.column_stack([_bits(table, column) for column in columns])


def _bits(table: Table, column: str) -> np.ndarray:
    cells = table.columns[column]
    if cells.dtype != object:
        return as_numbers(cells)
    spelled = [spell(cell) for cell in cells[:1].tolist()]
    if spelled[0] is None or spelled[0].lower() not in ("true", "false"):
        return table.floats(column)
    known = {"true": 1.0, "false": 0.0}
    return np.array([known.get((spell(cell) or "").lower(), np.nan) for cell in cells.tolist()])


def _are_alone(cells: np.ndarray) -> bool:
    """Whether each cell is a list of one value."""
    return isinstance(cells[0], list) and all(isinstance(cell, list) and len(cell) == 1 for cell in cells.tolist())


def _positions(cells: np.ndarray) -> np.ndarray | None:
    """Where the 1 stands in each list of a column; None where a cell is no such list."""
    first = numbers_in(cells[0]) if cells.dtype == object else None
    if not isinstance(first, list) or sorted(first) != [*[0.0] * (len(first) - 1), 1.0] or len(first) < 2:
        return None
    vectors = vectors_in(cells)
    if vectors is None or not (np.isin(vectors, (0, 1)).all() and (vectors.sum(axis=1) == 1).all()):
        return None
    return objects([str(position) for position in vectors.argmax(axis=1)])


def _truths(table: Table) -> Iterator[tuple[str, dict[str, str]]]:
    """Names of truths, and the columns, by class, that could make them: all of 0 and 1, whatever their sum."""
    if naming.called(table.columns, naming.NAMES["truth"]):
        return
    taken = {naming.compact(column) for column in table.columns}
    families_of = {
        name: members for name, members in _truth_families(table).items() if naming.compact(name) not in taken
    }
    for name, members in (*families_of.items(), *(("truth", names) for names in _whole_classes(table))):
        if len(members) > 1 and _all_binary(table, members.values()):
            yield name, members
            return


def _whole_classes(table: Table) -> Iterator[dict[str, str]]:
    """The columns that are called like the classes which scores or labels name, where each of these is one."""
    whole = (names for names in _named_classes(table) if names <= table.columns.keys())
    return ({column: column for column in table.columns if column in names} for names in whole)


def _truth_families(table: Table) -> dict[str, dict[str, str]]:
    """Columns whose names hold that of a truth, by it and by class; none where they are the truths of several tasks."""
    sides = {name: roles for name, roles in naming.stems(table.columns).items() if "truth" in roles and len(roles) > 1}
    if sides and not _are_sides_of_one(table, sides):
        return {}
    return _families(table, _TRUTHS) or {"truth": {name: roles["truth"] for name, roles in sides.items()}}


def _are_sides_of_one(table: Table, sides: dict[str, dict[str, str]]) -> bool:
    """Whether truths that have scores beside them are the classes of one task: then the scores sum to 1."""
    columns = [roles.get("confidence") or roles["predicted"] for roles in sides.values()]
    sums = np.sum([table.floats(column) for column in columns], axis=0)
    hard = _all_binary(table, columns) and not all(name.isdecimal() for name in sides)
    return len(columns) > 1 and not hard and bool((np.abs(sums - 1) <= ROUNDED).all())


def _all_binary(table: Table, columns: Collection[str]) -> bool:
    return all(is_binary(table, column) for column in columns)


def _families(table: Table, names: Collection[str]) -> dict[str, dict[str, str]]:
    """The columns that are called by one of the names and a class, by both."""
    families_of: dict[str, dict[str, str]] = {}
    for column in table.columns:
        parts = _name_and_class(column)
        if parts is not None and naming.compact(parts[0]) in names:
            families_of.setdefault(parts[0], {})[parts[1]] = column
    return families_of


def _name_and_class(column: str) -> tuple[str, str] | None:
    """A name of labels and that of a class, where a column's name is made of these; the longest such name."""
    if naming.compact(column) in _KNOWN:
        return None
    for mark in reversed(list(_SEPARATOR.finditer(column))):
        name, label = column[: mark.start()], column[mark.end() :].strip("\"'[]() ")
        if naming.compact(name) in _LABELS and label:
            return name, label
    return None


def _named_classes(table: Table) -> Iterator[set[str]]:
    """The classes that scores, or labels that a model gave, name in a table."""
    for members in naming.families(table.columns).values():
        yield set(members)
    for column in naming.called(table.columns, (*naming.NAMES["predicted"], *naming.PREDICTED_LIKELY)):
        yield {label for cell in table.columns[column].tolist() if (label := spell(cell)) is not None}


def unfold_top(table: Table) -> Table:
    """The table with a column of best labels and scores as two columns, of the best label and of its score.

    Such are cells like {"label": "cat", "score": 0.9}, lists of these, or mappings from label to score, where labels
    are left out: the scores of a row sum to less than 1. Cells with the scores of all classes stay as they are.

    >>> from touchstone.core.data.tables.table import make_table
    >>> cells = [[{"label": "cat", "score": 0.9}], [{"label": "dog", "score": 0.6}]]
    >>> unfold_top(make_table("t.jsonl", ["out"], [cells], lines=[1, 2])).strings("top 1 label")
    ['cat', 'dog']
    """
    for column, cells in table.columns.items():
        rankings = _rankings(cells)
        if rankings is None or _LABEL in table.columns or _SCORE in table.columns:
            continue
        best = [max(ranking, key=lambda label: ranking[label]) for ranking in rankings]
        scores = [ranking[label] for ranking, label in zip(rankings, best, strict=True)]
        columns = {name: values for name, values in table.columns.items() if name != column}
        columns |= {_LABEL: objects(best), _SCORE: np.array(scores)}
        note = f"Column {column!r} holds the best labels only: the first is the prediction, its score the confidence."
        return replace(table, columns=columns, notes=(*table.notes, note))
    return table


def _rankings(cells: np.ndarray) -> list[dict[str, float]] | None:
    """Label -> score of each row; None where the cells hold something else, or all classes."""
    if cells.dtype != object or _ranking(cells[0]) is None:
        return None
    rankings = [ranking for cell in cells.tolist() if (ranking := _ranking(cell)) is not None]
    return rankings if len(rankings) == len(cells) and _leave_some_out(rankings) else None


def _leave_some_out(rankings: list[dict[str, float]]) -> bool:
    """Whether rows name different labels, with probabilities that sum to less than 1."""
    sums = np.array([sum(ranking.values()) for ranking in rankings])
    inside = all(0 <= score <= 1 for ranking in rankings for score in ranking.values())
    differ = len({frozenset(ranking) for ranking in rankings}) > 1
    return inside and differ and bool((sums <= 1 + ROUNDED).all() and (sums < 1 - ROUNDED).any())


def _ranking(cell: Any) -> dict[str, float] | None:
    numbers = numbers_in(cell)
    return numbers if isinstance(numbers, dict) else None


# Which columns are those of models or tasks side by side? Told by their names, or by the classes that they hold.


_PART_KINDS = {"truth": ("words", "whole"), "predicted": ("words", "whole"), "confidence": ("fraction", "whole")}


def parts_by_name(reading: Reading) -> Reading:
    """Which columns belong to one of several models or tasks, told by what their names begin or end with?"""
    sides = _sides(reading)
    if models := _models_by_class(reading, sides):
        return _take_parts(reading, models, BY_NAMES)
    if reading.roles.truth is None and reading.half is None:
        sides = {name: roles for name, roles in sides.items() if "truth" in roles} or sides
    if len(sides) == 1:
        return reading.take("by its name", **next(iter(sides.values())))
    kind = "task" if reading.roles.truth is None else "model"
    return _take_parts(reading, (Part(kind, name, **roles) for name, roles in sides.items()), BY_NAMES)


def _sides(reading: Reading) -> dict[str, dict[str, str]]:
    """The columns of each model or task that said something, by its name and by role."""
    sides = {}
    for name, roles in naming.stems(reading.free).items():
        fitting = {role: c for role, c in roles.items() if reading.table.kind(c) in _PART_KINDS.get(role, ())}
        if "predicted" in fitting or "confidence" in fitting:
            sides[name] = fitting
    return sides


def _models_by_class(reading: Reading, sides: dict[str, dict[str, str]]) -> list[Part]:
    """Two models or more with the scores of every class, where these are the same: "resnet_prob_cat"."""
    by_model = naming.model_families(filter(reading.table.has_numbers, reading.free))
    classes = {frozenset(columns) for columns in by_model.values()}
    if len(by_model) < 2 or len(classes) != 1 or len(next(iter(classes))) < 2:
        return []
    labels = {model: sides.get(model, {}).get("predicted") for model in by_model}
    return [Part("model", m, None, labels[m], None, tuple(columns.items())) for m, columns in by_model.items()]


def parts_by_value(reading: Reading) -> Reading:
    """Which columns are predictions? Those that hold the classes of the truth and agree with it more than by chance."""
    likely = _labels_like_truth(reading)
    if not any(likely.values()):
        return reading
    why, columns = "the classes of the truth", list(likely)
    if len(columns) == 1:
        return reading.take(f"it holds {why}", predicted=columns[0])
    return _take_parts(reading, (Part("model", column, predicted=column) for column in columns), f"they hold {why}")


def _labels_like_truth(reading: Reading) -> dict[str, bool]:
    """The columns of the truth's classes, and whether they agree with it more often than by chance."""
    truth = reading.strings(reading.roles.truth)
    columns = [c for c in reading.free if c.lower() not in naming.ROW_NAMES and reading.table.is_label(c)]
    agree = {column: _agrees(truth, reading.strings(column)) for column in columns}
    return {column: more for column, more in agree.items() if more is not None}


def _agrees(truth: Sequence[str], labels: Sequence[str]) -> bool | None:
    """Whether labels agree with the truth more often than by chance; None where they are of other classes."""
    classes = set(truth)
    common = naming.common_names(classes, set(labels))
    if common is None or np.mean([common[0][label] in classes for label in labels]) < 0.9:
        return None
    known, answers = ([common[0][label] for label in column] for column in (truth, labels))
    n_same = sum(a == b for a, b in zip(known, answers, strict=True))
    mean, spread = naming.agreement_by_chance(known, answers)
    return n_same > mean + 2 * spread


def _take_parts(reading: Reading, parts: Iterable[Part], why: str) -> Reading:
    """Columns of models or tasks side by side, if any; a column that named them all is none then."""
    parts = tuple(parts)
    if not parts:
        return reading
    roles = replace(reading.roles, **{parts[0].kind: None})
    return replace(reading, roles=replace(roles, parts=parts).because(parts=why))
