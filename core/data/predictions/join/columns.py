"""How do the truth in one file and the predictions in another become one table? Their rows, their columns, their roles.

Which row of one is which row of the other, `matching` says; what a column of the truth is, may take both files to see.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.predictions.guess import complete_roles, guess_roles, keep_names, name_rows
from touchstone.core.data.predictions.join.matching import matching_rows
from touchstone.core.data.predictions.roles import Part, Reading, Roles
from touchstone.core.data.predictions.shapes import ONE_LABEL, first_not_one, fold_columns, is_binary
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.names import ROW_NAMES, compact, stems
from touchstone.core.data.values import listed

_FROM_TRUTH = ("truth", "set", "fold", "source", "task", "trial", "unit")


def join_tables(
    truth: Table, predictions: Table, *, roles: Roles | None, truth_roles: Roles | None, confirmed: bool
) -> tuple[Table, Roles]:
    """The predictions with the columns that the truth has a role for, row by row, and what all of them are.

    Roles of what was joined before are taken for both files. RolesNeeded, and DataError, as `join_predictions` says.

    >>> from touchstone.core.data.tables import make_table
    >>> truth = make_table("truth.tsv", ["id", "label"], [["a", "b"], ["cat", "dog"]], lines=[2, 3])
    >>> predictions = make_table("said.tsv", ["id", "label"], [["b", "a"], ["dog", "dog"]], lines=[2, 3])
    >>> joined, roles = join_tables(truth, predictions, roles=None, truth_roles=None, confirmed=False)
    >>> roles.truth, joined.strings(roles.truth)
    ('label (truth.tsv)', ['dog', 'cat'])
    """
    known, predictions = fold_truth(truth, predictions)
    named = not confirmed or _has_id_of_truth(roles, predictions)
    if roles is not None and truth_roles is None:
        roles, truth_roles = _roles_apart(roles, known, predictions)
    roles, question = _own_roles(predictions, roles)
    truth_roles, roles = find_truth(known, truth_roles, predictions, roles)
    match = matching_rows(known, truth_roles, predictions, roles, confirmed=confirmed)
    met = np.flatnonzero(match.rows >= 0)
    predictions = predictions if len(met) == predictions.n_rows else predictions.take(met)
    known = known.take(match.rows[met])
    joined, roles = _with_columns(known, truth_roles, predictions, match.roles)
    if match.line is not None and roles.id is None and named:
        joined, roles = _with_names(known, truth_roles, joined, roles, match.line)
    if not roles.has_truth:
        raise DataError(
            f"{known.name} and {predictions.name}: neither holds the truth. Give a column such as 'gold' in one of "
            "them."
        )
    if question is not None:
        roles = _answered(question, joined, roles)
    notes, warnings = (*predictions.notes, *known.notes, *match.notes), (*joined.warnings, *match.warnings)
    return replace(joined, notes=notes, warnings=warnings), roles


def _answered(question: RolesNeeded, joined: Table, roles: Roles) -> Roles:
    """The roles of joined files, where the truth answers what the predictions left open; else the question."""
    if roles.says_something:
        return roles
    try:
        return complete_roles(joined, roles)
    except DataError:
        raise question from None


def _has_id_of_truth(roles: Roles | None, predictions: Table) -> bool:
    """Whether ids were said to be in the other file."""
    return roles is not None and roles.id is not None and roles.id not in predictions.columns


def _own_roles(predictions: Table, roles: Roles | None) -> tuple[Roles, RolesNeeded | None]:
    """What the columns of the predictions are, and the question that is left, which the truth may answer."""
    try:
        return complete_roles(predictions, roles, half="predictions"), None
    except RolesNeeded as needed:
        return needed.guess, needed


def in_joined(column: str, predictions: Table, known: Table) -> str:
    """What a column of the truth is called beside the predictions: by its own name, unless these have one like it."""
    return column if column not in predictions.columns else f"{column} ({known.name})"


def _with_columns(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> tuple[Table, Roles]:
    """The predictions with the columns that the truth, its rows in their order, has a role for; and all the roles."""
    columns = {role: column for role in _FROM_TRUTH if (column := getattr(truth_roles, role)) is not None}
    _check_same_in_both(columns, roles, known, predictions)
    why = dict(truth_roles.why)
    new = {role: column for role, column in columns.items() if getattr(roles, role) is None}
    truths = {part.name: part.truth for part in truth_roles.parts if part.truth is not None}
    called = {column: in_joined(column, predictions, known) for column in (*new.values(), *truths.values())}
    roles = replace(roles, **{role: called[column] for role, column in new.items()})
    roles = _with_truths(roles.because(**{role: why.get(role, "as given") for role in new}), truths, called)
    added = {name: known.columns[column] for column, name in called.items()}
    return replace(predictions, columns={**predictions.columns, **added}), roles


def _with_names(known: Table, truth_roles: Roles, joined: Table, roles: Roles, join: str) -> tuple[Table, Roles]:
    """Rows that joined by line with the names that one of the files has for them, and the way that they joined."""
    named = keep_names(Reading(joined, None, roles)).roles
    if named.id is not None:
        return joined, replace(named, join=join)
    own = truth_roles.id if truth_roles.id is not None and known.is_unique(truth_roles.id) else None
    if truth_roles.id is None:
        own = keep_names(Reading(known, None, replace(truth_roles, predicted=truth_roles.truth))).roles.id
    if own is None:
        return joined, roles
    column = in_joined(own, joined, known)
    roles = replace(roles, id=column, join=join).because(id="it names every row of the truth")
    return replace(joined, columns={**joined.columns, column: known.columns[own]}), roles


def _with_truths(roles: Roles, truths: dict[str, str], called: dict[str, str]) -> Roles:
    """A truth for each task that has one; where one truth is there for all that stand side by side, they are models."""
    if truths:
        parts = (replace(p, truth=called[truths[p.name]]) if p.name in truths else p for p in roles.parts)
        return replace(roles, parts=tuple(parts))
    if roles.truth is not None and roles.task is None and any(part.kind == "task" for part in roles.parts):
        return replace(roles, parts=tuple(replace(part, kind="model") for part in roles.parts), model=None)
    return roles


def _roles_apart(roles: Roles, known: Table, predictions: Table) -> tuple[Roles, Roles | None]:
    """Roles of joined files as those of the predictions, and those of the truth, whose ids have to be guessed."""
    columns = {role: getattr(roles, role) for role in ("id", *_FROM_TRUTH)}
    moved = {role: column for role, column in columns.items() if column not in (None, *predictions.columns)}
    truths = {part.name: part.truth for part in roles.parts if part.truth and part.truth not in predictions.columns}
    if not moved and not truths:
        return roles, None
    suffix = f" ({known.name})"
    own = {role: column.removesuffix(suffix) for role, column in moved.items()}
    parts = tuple(Part("task", name, truth=column.removesuffix(suffix)) for name, column in truths.items())
    left = tuple(replace(part, truth=None) if part.name in truths else part for part in roles.parts)
    return replace(roles, **dict.fromkeys(moved), parts=left), Roles(**{"id": guess_roles(known).id} | own, parts=parts)


def _check_same_in_both(columns: dict[str, str], roles: Roles, known: Table, predictions: Table) -> None:
    for role, column in columns.items():
        if (own := getattr(roles, role)) is not None:
            _check_same(role, own, column, known, predictions)


def _check_same(role: str, own: str, column: str, known: Table, predictions: Table) -> None:
    other = known.strings(column)
    differing = [row for row, (a, b) in enumerate(zip(predictions.strings(own), other, strict=True)) if a != b]
    if differing:
        raise DataError(
            f"{predictions.place(differing[0])}: {role} is {predictions.strings(own)[differing[0]]!r} here (column "
            f"{own!r}) but {other[differing[0]]!r} in {known.name} (column {column!r}), and in {len(differing):,} of "
            f"{predictions.n_rows:,} rows in all. Are these the same rows? Leave one of the two columns out."
        )


def find_truth(
    known: Table, roles: Roles | None, predictions: Table, roles_of_predictions: Roles
) -> tuple[Roles, Roles]:
    """The roles of the truth, and those of the predictions, about which the truth may tell more.

    Predictions of several tasks side by side take a column each, known by its name; columns of labels that are called
    alike in both files are tasks too. DataError where only some of the tasks have a truth.

    >>> from touchstone.core.data.tables import make_table
    >>> known = make_table("truth.csv", ["id", "size", "hue"], [["a", "b"], ["S", "L"], ["r", "g"]], lines=[2, 3])
    >>> columns = [["a", "b"], ["S", "S"], ["r", "r"]]
    >>> predictions = make_table("t.csv", ["id", "size_pred", "hue_pred"], columns, lines=[2, 3])
    >>> parts = (Part("task", "size", predicted="size_pred"), Part("task", "hue", predicted="hue_pred"))
    >>> [part.truth for part in find_truth(known, None, predictions, Roles(id="id", parts=parts))[0].parts]
    ['size', 'hue']
    """
    if roles is None:
        if not roles_of_predictions.says_something:
            roles_of_predictions = _shared_names(known, predictions, roles_of_predictions)
        if parts := _by_task(known, roles_of_predictions):
            named = replace(_rows_of(known), parts=parts).because(parts="by the names of the tasks")
            return named, roles_of_predictions
    return complete_roles(known, roles, half="truth"), roles_of_predictions


def fold_truth(known: Table, predictions: Table) -> tuple[Table, Table]:
    """A truth of its own that is a column of 0 and 1 per class, as one column; so also predictions called alike.

    Whatever the columns are called: there must be no other truth, no tasks in the predictions, and a single 1 per row.
    DataError names the line where that fails for the classes that the predictions are about.

    >>> from touchstone.core.data.tables import make_table
    >>> known = make_table("truth.csv", ["id", "cat", "dog"], [["a", "b"], [1, 0], [0, 1]], lines=[2, 3])
    >>> predictions = make_table("said.csv", ["id", "predicted"], [["a", "b"], ["cat", "cat"]], lines=[2, 3])
    >>> fold_truth(known, predictions)[0].strings("truth")
    ['cat', 'dog']
    """
    free = _classes_or_tasks(known)
    if len(free) < 2 or not _are_alone(known, predictions, free):
        return known, predictions
    guess = guess_roles(predictions, half="predictions")
    classes = {name for name, _ in guess.probabilities}
    members = _by_class(free, classes)
    row = first_not_one(known, free)
    alike = set(free) <= set(Reading(predictions, "predictions", guess).free)
    binary = alike and all(is_binary(predictions, column) for column in free)
    if row is None:
        if binary and first_not_one(predictions, free) is None:
            predictions = fold_columns(predictions, members, "predicted")
        return fold_columns(known, members, "truth"), predictions
    if binary or not (alike or classes == set(members)):
        return known, predictions  # labels of several tasks, or anything
    raise DataError(
        f"{known.place(row)}: columns {listed(free)} do not hold a single 1, so that the row has several labels, or "
        f"none. {ONE_LABEL}"
    )


def _classes_or_tasks(known: Table) -> list[str]:
    """The columns of a truth that neither name nor divide its rows."""
    free = _free(Reading(known, "truth", _rows_of(known)))
    return [column for column in free if not _only_names(known, column)]


def _only_names(table: Table, column: str) -> bool:
    """Whether a column of words tells every row apart, so that it holds no class."""
    return table.kind(column) == "words" and table.is_unique(column)


def _are_alone(known: Table, predictions: Table, columns: Sequence[str]) -> bool:
    """Whether columns of 0 and 1 are the only truth there is, and of one task."""
    if not all(is_binary(known, column) for column in columns) or guess_roles(known, half="truth").has_truth:
        return False
    guess = guess_roles(predictions, half="predictions")
    return not guess.has_truth and not any(part.kind == "task" for part in guess.parts)


def _rows_of(table: Table) -> Roles:
    """Id and what divides the rows, by name."""
    return name_rows(Reading(table, "truth")).roles


def _free(reading: Reading) -> list[str]:
    """The columns without a role that name no rows."""
    return [column for column in reading.free if column.lower() not in ROW_NAMES]


def _by_task(known: Table, roles: Roles) -> tuple[Part, ...]:
    """A column of truth for each task; none where there is a column for none of them."""
    tasks = [part.name for part in roles.parts if part.kind == "task" and part.truth is None]
    column_of = _columns_by_task(known)
    truths = {task: column_of[compact(task)] for task in tasks if compact(task) in column_of}
    if not truths:
        return ()
    if absent := [task for task in tasks if task not in truths]:
        raise DataError(
            f"{known.name}: no column holds the truth of {listed(absent)}. The columns are {listed(known.columns)}. "
            f"Add a column such as '{absent[0]}_true', or leave that task out of the predictions."
        )
    return tuple(Part("task", task, truth=column) for task, column in truths.items())


def _columns_by_task(known: Table) -> dict[str, str]:
    """The columns of a truth by the compact name of the task that each may be of: its own, or what stands around it."""
    sides = {name: roles["truth"] for name, roles in stems(known.columns).items() if "truth" in roles}
    return {compact(column): column for column in known.columns} | {compact(name): c for name, c in sides.items()}


def _shared_names(known: Table, predictions: Table, roles: Roles) -> Roles:
    """Columns of labels that are called alike in both files are tasks."""
    truths = Reading(known, "truth", _rows_of(known)).free
    shared = [column for column in _free(Reading(predictions, "predictions", roles)) if column in truths]
    if len(shared) < 2 or not all(predictions.is_label(column) and known.is_label(column) for column in shared):
        return roles
    parts = tuple(Part("task", column, predicted=column) for column in shared)
    return replace(roles, parts=parts).because(parts="called alike in both files")


def _by_class(columns: list[str], classes: set[str]) -> dict[str, str]:
    """The columns by class: what they are called, without what all begin with, unless predictions know whole names."""
    stem = "" if classes == set(columns) else _common_stem(columns)
    return {column.removeprefix(stem): column for column in columns}


def _common_stem(columns: list[str]) -> str:
    """What all names begin with, up to a mark such as "_": "onehot_" of "onehot_0" and "onehot_1"."""
    stem = columns[0]
    while not all(column.startswith(stem) and len(column) > len(stem) for column in columns):
        stem = stem[:-1]
    while stem and stem[-1] not in "_-. :":
        stem = stem[:-1]
    return stem
