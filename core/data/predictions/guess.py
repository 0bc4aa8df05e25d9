"""What is each column of a file of predictions? Steps from names that decide to values that hint; else it is asked."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from core.data.errors import DataError
from core.data.predictions.reading import (
    BY_VALUES,
    LIKELY,
    Half,
    Reading,
    keep_names,
    name_labels,
    name_rows,
    no_prediction,
    no_truth,
    only_one,
    tell_apart,
)
from core.data.predictions.roles import Part, Roles
from core.data.predictions.scores import probabilities
from core.data.tables import Table
from core.data.tables.class_names import agreement_by_chance, common_names
from core.data.tables.table import (
    PREDICTED_LIKELY,
    ROW_NAMES,
    TRUTH_LIKELY,
    UNSURE,
    called,
    compact,
    families,
    model_families,
    ranked,
    stems,
)
from core.data.values import numbers_in

BY_NAMES = "by their names"
_SCORES = ("fraction", "whole")
_PART_KINDS = {"truth": ("words", "whole"), "predicted": ("words", "whole"), "confidence": _SCORES}


def guess_roles(table: Table, *, half: Half | None = None) -> Roles:
    """Say what each column is; `why` of the roles (and their `lines()`) tell how sure that is.

    `half` says that the table holds only the truth, or only the predictions, of two files. What cannot be decided stays
    None; reading the predictions then asks for it (RolesNeeded).

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["id", "label", "prediction"], [["a", "b"], ["x", "y"], ["x", "x"]], lines=[2, 3])
    >>> guess_roles(table).lines()
    ["Truth: column 'label' (likely, by its name and what else is there)",
     "Predicted label: column 'prediction' (likely, by its name and what else is there)",
     "Id: column 'id' (by its name)"]
    """
    return _read(table, half).roles


def complete_roles(table: Table, roles: Roles | None = None, *, half: Half | None = None) -> Roles:
    """The roles to read a table with: guessed, or given and, where they lack truth or predictions, completed.

    `half` says that the table holds only the truth, or only the predictions, of two files. RolesNeeded asks what could
    not be decided; DataError where it can never be, because nothing could be the truth, or what a model said.
    """
    if roles is not None:
        roles.check(table)
        if _is_enough(roles, half):
            return roles
    reading = _read(table, half, roles)
    if half != "predictions" and not reading.roles.has_truth and not _is_divided(reading):
        raise no_truth(reading)
    if half != "truth" and not reading.roles.says_something:
        raise no_prediction(reading)
    return reading.roles


def _is_divided(reading: Reading) -> bool:
    """Whether a file that should hold the truth tells how its rows are divided, which is worth joining too."""
    roles = reading.roles
    return reading.half == "truth" and bool(roles.set or roles.fold or roles.source)


def _is_enough(roles: Roles, half: Half | None) -> bool:
    """Whether nothing needs to be guessed beside roles that were given."""
    if roles.has_truth and roles.says_something:
        return True
    return half is not None and bool(roles.columns) and (roles.has_truth or roles.says_something or half == "truth")


def lacking(table: Table, roles: Roles | None = None) -> tuple[Half, ...]:
    """Which half a second file may hold, by what a table holds; both where its only labels may be either.

    >>> from core.data.tables import make_table
    >>> [lacking(make_table("t.tsv", ["id", name], [["a", "b", "c"], ["x", "y", "x"]], lines=[2, 3, 4]))
    ...  for name in ("gold", "predicted", "label")]
    [('predictions',), ('truth',), ('truth', 'predictions')]
    """
    roles = roles or guess_roles(table)
    either = dict(roles.why).get("truth") == LIKELY and not roles.says_something
    known: dict[Half, bool] = {"truth": roles.has_truth and not either, "predictions": roles.says_something}
    return tuple(half for half, there in known.items() if not there)


def _read(table: Table, half: Half | None, given: Roles | None = None) -> Reading:
    """The roles, one kind of reason after the other."""
    reading = Reading(table, half, given or Roles())
    for step in STEPS if given is None else STEPS[1:]:
        reading = step(reading)
    return reading


def find_scores(reading: Reading) -> Reading:
    """Which columns hold scores? Of all classes in one cell, of each in its own column, or the highest of them only."""
    if reading.half == "truth" or reading.has_scores or reading.roles.parts:
        return reading
    vectors = [c for c in reading.free if reading.table.kind(c) == "scores" and _has_several(reading.table, c)]
    if vectors:
        return reading.take(BY_VALUES, vector=vectors[0])
    reading = _top(reading)
    numeric = list(filter(reading.table.has_numbers, reading.free))
    for find in (_of_families, _of_classes, _of_endings, _of_headless):
        further = find(reading, numeric)
        if further is not reading:
            return further
    return reading


def _of_families(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that are called alike but for a class: "prob_cat"; or but for a rank: "prob_1"."""
    for family, columns in sorted(families(numeric).items(), key=lambda each: -len(each[1])):
        if _is_ranking(reading, columns):
            return _take_ranking(reading, columns)
        if len(columns) > 1 and _are_scores(reading, columns, sure=family not in UNSURE):
            return _take_family(reading, columns, BY_NAMES)
        if len(columns) == 1 and _is_positive(reading, *next(iter(columns.items()))):
            return _take_positive(reading, columns)
    return reading


def _of_classes(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that are called like classes."""
    bare = {name: name for name in numeric if _is_label_of(reading, name)}
    if len(bare) > 1 and _are_scores(reading, bare, sure=False):
        return _take_family(reading, bare, "by their names, which are classes'")
    return reading


def _of_endings(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that end in a word for scores: "cat_logit", or "cat_prob" where they sum to 1."""
    sides = stems(numeric)
    logits = {name: columns["logit"] for name, columns in sides.items() if "logit" in columns}
    if len(logits) > 1:
        return _take_family(reading, logits, BY_NAMES)
    ends = {name: columns["confidence"] for name, columns in sides.items() if "confidence" in columns}
    if len(ends) > 1 and _sum_to_one(reading.table, list(ends.values())):
        return _take_family(reading, ends, "by their names and values")
    if len(ends) == 1 and _is_positive(reading, *next(iter(ends.items()))):
        return _take_positive(reading, ends)
    return reading


def _of_headless(reading: Reading, numeric: list[str]) -> Reading:
    """Columns without names that sum to 1."""
    fractions = [column for column in numeric if reading.table.kind(column) == "fraction"]
    rest = [column for column in fractions if column.startswith(("column ", "unnamed column "))]
    if len(rest) > 1 and _sum_to_one(reading.table, rest):
        return _take_family(reading, {str(position): column for position, column in enumerate(rest)}, BY_VALUES)
    return reading


def _take_family(reading: Reading, columns: dict[str, str], why: str) -> Reading:
    return reading.take(why, probabilities=tuple(columns.items()))


def _take_positive(reading: Reading, columns: dict[str, str]) -> Reading:
    """The only score as that of a class, since it is called so: "spam_prob"."""
    name, column = next(iter(columns.items()))
    return reading.take("by its name, which is a class's", confidence=column, positive=name)


def _is_positive(reading: Reading, name: str, column: str) -> bool:
    """Whether the only score is called like one of two classes."""
    if reading.roles.confidence is not None or reading.table.kind(column) not in _SCORES:
        return False
    common = common_names(reading.labels, {name})
    n_labels = len(reading.labels)
    return n_labels <= 2 and common is not None and len(set(common[0].values())) == n_labels


def _has_several(table: Table, column: str) -> bool:
    """Whether the first vector of a column has scores of two classes or more, or is broken."""
    first = numbers_in(table.columns[column][0])
    return first is None or len(first) > 1


def _top(reading: Reading) -> Reading:
    """The first of the ranks of a top-k file."""
    for column in reading.free:
        if (ranked(column) or (0,))[0] != 1:
            continue
        if reading.roles.predicted is None and reading.table.is_label(column):
            reading = reading.take("the first of several ranks", predicted=column)
        elif reading.roles.confidence is None and reading.table.kind(column) == "fraction":
            reading = reading.take("the highest of several ranks", confidence=column)
    return reading


def _take_ranking(reading: Reading, columns: dict[str, str]) -> Reading:
    """The highest score as the confidence, and the label that is numbered like it: `pred_1` beside `prob_1`."""
    rank, column = next(iter(columns.items()))
    reading = reading.take("the highest of several ranks", confidence=column)
    names = {f"{stem}{rank}" for stem in ("pred", "prediction", "predicted", "label", "class", "rank")}
    label = next((c for c in reading.free if compact(c) in names and reading.table.is_label(c)), None)
    known = reading.roles.predicted is not None or label is None
    return reading if known else reading.take("the first of several ranks", predicted=label)


def _is_ranking(reading: Reading, columns: dict[str, str]) -> bool:
    """Whether numbered columns hold the highest score, the second highest, ... whichever classes these are of."""
    numbers = [int(name) if name.isdecimal() else -1 for name in columns]
    if len(columns) < 2 or numbers not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        return False
    matrix = reading.table.matrix(columns.values())
    if reading.table.n_rows < 2 or not (np.diff(matrix, axis=1) <= 0).all():
        return False
    label = _likeliest_label(reading)
    return label is not None and len(set(reading.table.spelled(label))) > 1


def _likeliest_label(reading: Reading) -> str | None:
    """The column of what was predicted, or else of the truth, as far as that is seen."""
    roles, free = reading.roles, reading.free
    said = [roles.predicted, *called(free, PREDICTED_LIKELY), roles.truth, *called(free, TRUTH_LIKELY)]
    return next((column for column in said if column), None)


def _are_scores(reading: Reading, columns: dict[str, str], *, sure: bool) -> bool:
    """Whether columns hold scores of classes: by their names, if that is sure, or else also by their values."""
    if _belong_to_parts(reading.table, columns.values()):
        return False
    if sure:
        return True
    are_classes = all(name.isdecimal() or _is_label_of(reading, name) for name in columns)
    if any(reading.table.kind(column) in ("fraction", "number") for column in columns.values()):
        return are_classes or _sum_to_one(reading.table, list(columns.values()))
    # 0 and 1 may also be what several models said
    return are_classes and _sum_to_one(reading.table, list(columns.values()))


def _sum_to_one(table: Table, columns: Sequence[str]) -> bool:
    """Whether the columns hold probabilities, which sum to 1 in every row."""
    with suppress(DataError):
        probabilities(table.matrix(columns), place=str, kind="probabilities")
        return True
    return False


def _is_label_of(reading: Reading, name: str) -> bool:
    return name in reading.labels or compact(name) in reading.folded_labels


def _belong_to_parts(table: Table, columns: Collection[str]) -> bool:
    """Whether the columns' models or tasks have labels of their own beside them."""
    sides = (roles for roles in stems(table.columns).values() if "predicted" in roles or "truth" in roles)
    return any(roles.get("confidence") in columns for roles in sides)


def parts_by_name(reading: Reading) -> Reading:
    """Which columns belong to one of several models or tasks, told by what their names begin or end with?"""
    if reading.roles.says_something or reading.half == "truth":
        return reading
    sides = _sides(reading)
    if by_class := _scores_by_model(reading):
        labels = {name: sides.get(name, {}).get("predicted") for name in by_class}
        parts = (Part("model", name, None, labels[name], probabilities=pairs) for name, pairs in by_class.items())
        return _take_parts(reading, parts, BY_NAMES)
    if reading.roles.truth is None and reading.half is None:
        sides = {name: roles for name, roles in sides.items() if "truth" in roles} or sides
    if len(sides) == 1:
        return reading.take("by its name", **next(iter(sides.values())))
    kind = "task" if reading.roles.truth is None else "model"
    return _take_parts(reading, (Part(kind, name, **roles) for name, roles in sides.items()), BY_NAMES)


def _sides(reading: Reading) -> dict[str, dict[str, str]]:
    """The columns of each model or task that said something, by its name and by role."""
    sides = {}
    for name, roles in stems(reading.free).items():
        fitting = {role: c for role, c in roles.items() if reading.table.kind(c) in _PART_KINDS.get(role, ())}
        if "predicted" in fitting or "confidence" in fitting:
            sides[name] = fitting
    return sides


def _scores_by_model(reading: Reading) -> dict[str, tuple[tuple[str, str], ...]]:
    """The scores of every class, of two models or more that have the same classes: "resnet_prob_cat"."""
    by_model = model_families(filter(reading.table.has_numbers, reading.free))
    classes = {frozenset(columns) for columns in by_model.values()}
    if len(by_model) < 2 or len(classes) != 1 or len(next(iter(classes))) < 2:
        return {}
    return {model: tuple(columns.items()) for model, columns in by_model.items()}


def parts_by_value(reading: Reading) -> Reading:
    """Which columns are predictions? Those that hold the classes of the truth and agree with it more than by chance."""
    if reading.roles.says_something or not reading.roles.has_truth or reading.half is not None:
        return reading
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
    columns = [c for c in reading.free if c.lower() not in ROW_NAMES and reading.table.is_label(c)]
    agree = {column: _agrees(truth, reading.strings(column)) for column in columns}
    return {column: more for column, more in agree.items() if more is not None}


def _agrees(truth: Sequence[str], labels: Sequence[str]) -> bool | None:
    """Whether labels agree with the truth more often than by chance; None where they are of other classes."""
    classes = set(truth)
    common = common_names(classes, set(labels))
    if common is None or np.mean([common[0][label] in classes for label in labels]) < 0.9:
        return None
    known, said = ([common[0][label] for label in column] for column in (truth, labels))
    n_same = sum(a == b for a, b in zip(known, said, strict=True))
    mean, spread = agreement_by_chance(known, said)
    return n_same > mean + 2 * spread


def _take_parts(reading: Reading, parts: Iterable[Part], why: str) -> Reading:
    """Columns of models or tasks side by side, if any; a column that named them all is none then."""
    parts = tuple(parts)
    if not parts:
        return reading
    roles = replace(reading.roles, **{parts[0].kind: None})
    return replace(reading, roles=replace(roles, parts=parts).because(parts=why))


STEPS: tuple[Callable[[Reading], Reading], ...] = (
    name_rows,
    name_labels,
    find_scores,
    tell_apart,
    parts_by_name,
    parts_by_value,
    only_one,
    keep_names,
)
"""The order in which columns are understood; roles that were given replace the first."""
