"""Which columns of a second file are the truth of which predictions? One for all, one per task, or one per class."""

from dataclasses import replace

from core.data.errors import DataError
from core.data.predictions.columns import Draft
from core.data.predictions.guess import complete_roles, guess_roles
from core.data.predictions.named import name_rows
from core.data.predictions.one_hot import ONE_LABEL, first_not_one, fold_columns, is_binary
from core.data.predictions.roles import Part, Roles
from core.data.tables import Table
from core.data.tables.column_names import compact, stems
from core.data.tables.roles import ROW_NAMES, listed


def find_truth(known: Table, roles: Roles | None, said: Table, said_roles: Roles) -> tuple[Roles, Roles]:
    """The roles of the truth, and those of the predictions, about which the truth may tell more.

    Predictions of several tasks side by side take a column each, known by its name; columns of labels that are called
    alike in both files are tasks too. DataError where only some of the tasks have a truth.

    >>> from core.data.tables import make_table
    >>> known = make_table("truth.csv", ["id", "size", "hue"], [["a", "b"], ["S", "L"], ["r", "g"]], lines=[2, 3])
    >>> said = make_table("t.csv", ["id", "size_pred", "hue_pred"], [["a", "b"], ["S", "S"], ["r", "r"]], lines=[2, 3])
    >>> parts = (Part("task", "size", predicted="size_pred"), Part("task", "hue", predicted="hue_pred"))
    >>> [part.truth for part in find_truth(known, None, said, Roles(id="id", parts=parts))[0].parts]
    ['size', 'hue']
    """
    if roles is None:
        if not said_roles.says_something:
            said_roles = _shared_names(known, said, said_roles)
        if parts := _by_task(known, said_roles):
            return replace(_rows_of(known), parts=parts).because(parts="by the names of the tasks"), said_roles
    return complete_roles(known, roles, half="truth"), said_roles


def fold_truth(known: Table, said: Table) -> tuple[Table, Table]:
    """A truth of its own that is a column of 0 and 1 per class, as one column; so also predictions called alike.

    Whatever the columns are called: there must be no other truth, no tasks in the predictions, and a single 1 per row.
    DataError names the line where that fails for the classes that the predictions are about.

    >>> from core.data.tables import make_table
    >>> known = make_table("truth.csv", ["id", "cat", "dog"], [["a", "b"], [1, 0], [0, 1]], lines=[2, 3])
    >>> said = make_table("said.csv", ["id", "predicted"], [["a", "b"], ["cat", "cat"]], lines=[2, 3])
    >>> fold_truth(known, said)[0].strings("truth")
    ['cat', 'dog']
    """
    free = _free(Draft(known, "truth", _rows_of(known)))
    if len(free) < 2 or not all(is_binary(known, column) for column in free):
        return known, said
    guess = guess_roles(said, half="predictions")
    if guess_roles(known, half="truth").has_truth or guess.has_truth or any(p.kind == "task" for p in guess.parts):
        return known, said
    classes = {name for name, _ in guess.probabilities}
    stem = "" if classes == set(free) else _common_stem(free)
    members = {column.removeprefix(stem): column for column in free}
    alike = set(free) <= set(Draft(said, "predictions", guess).free)
    row = first_not_one(known, free)
    if row is None:
        if alike and all(is_binary(said, column) for column in free) and first_not_one(said, free) is None:
            said = fold_columns(said, members, "predicted")
        return fold_columns(known, members, "truth"), said
    if not alike and classes != set(members):
        return known, said  # these may be anything
    if alike and all(is_binary(said, column) for column in free):
        return known, said  # labels of several tasks
    raise DataError(
        f"{known.place(row)}: columns {listed(free)} do not hold a single 1, so that the row has several labels, or "
        f"none. {ONE_LABEL}"
    )


def _rows_of(table: Table) -> Roles:
    """Id and what divides the rows, by name."""
    draft = Draft(table, "truth")
    name_rows(draft)
    return draft.roles


def _free(draft: Draft) -> list[str]:
    """The columns without a role that name no rows."""
    return [column for column in draft.free if column.lower() not in ROW_NAMES]


def _by_task(known: Table, roles: Roles) -> tuple[Part, ...]:
    """A column of truth for each task; none where there is a column for none of them."""
    tasks = [part.name for part in roles.parts if part.kind == "task" and part.truth is None]
    columns = {compact(column): column for column in known.columns}
    columns |= {compact(name): each["truth"] for name, each in stems(known.columns).items() if "truth" in each}
    found = {task: columns[compact(task)] for task in tasks if compact(task) in columns}
    absent = [task for task in tasks if task not in found]
    if found and absent:
        raise DataError(
            f"{known.name}: no column holds the truth of {listed(absent)}. The columns are {listed(known.columns)}. "
            f"Add a column such as '{absent[0]}_true', or leave that task out of the predictions."
        )
    return tuple(Part("task", task, truth=column) for task, column in found.items())


def _shared_names(known: Table, said: Table, roles: Roles) -> Roles:
    """Columns of labels that are called alike in both files are tasks."""
    draft, truth = Draft(said, "predictions", roles), Draft(known, "truth", _rows_of(known))
    shared = [column for column in _free(draft) if column in truth.free]
    labels = [column for column in shared if draft.is_label(column) and truth.is_label(column)]
    if len(labels) < 2 or len(labels) < len(shared):
        return roles
    parts = tuple(Part("task", column, predicted=column) for column in labels)
    return replace(roles, parts=parts).because(parts="called alike in both files")


def _common_stem(columns: list[str]) -> str:
    """What all names begin with, up to a mark such as "_": "onehot_" of "onehot_0" and "onehot_1"."""
    stem = columns[0]
    while not all(column.startswith(stem) and len(column) > len(stem) for column in columns):
        stem = stem[:-1]
    while stem and stem[-1] not in "_-. :":
        stem = stem[:-1]
    return stem
