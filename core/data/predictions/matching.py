"""Which row of one file is which row of another? By what names every row in both, or else by line."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from core.data.errors import DataError, RolesNeeded
from core.data.predictions.reading import NAMING
from core.data.predictions.roles import LINE, Roles
from core.data.tables import Table
from core.data.tables.column_names import ROW_NAMES, compact
from core.data.values import first_repeat

_APART = ("set", "task", "trial")  # what tells rows of one id apart, where both files know it
Key = tuple[str, str]  # the column of the truth and that of the predictions by which rows join


def matching_rows(
    known: Table, truth_roles: Roles, said: Table, roles: Roles, *, confirmed: bool = False
) -> tuple[np.ndarray, Roles, str]:
    """For each row of predictions the row of the truth; the roles, with the ids that joined; and how that was found.

    RolesNeeded asks which column joins where columns of both files contradict one another or the order of the lines.
    Nothing is asked where somebody has `confirmed` the roles: lines then stay joined, and the note tells what speaks
    against it. DataError where ids do not join, with the counts both ways.

    >>> from core.data.tables import make_table
    >>> known = make_table("truth.tsv", ["image", "label"], [["a", "b"], ["cat", "dog"]], lines=[2, 3])
    >>> said = make_table("said.tsv", ["image", "said"], [["b", "a"], ["dog", "dog"]], lines=[2, 3])
    >>> rows, roles, note = matching_rows(known, Roles("label"), said, Roles(predicted="said"))
    >>> rows, roles.id
    (array([1, 0]), 'image')
    """
    key, against = _key(known, truth_roles, said, roles, confirmed=confirmed)
    if key is None:
        return _by_line(known, truth_roles, said, roles, against)
    rows = _by_id(known, replace(truth_roles, id=key[0]), said, replace(roles, id=key[1]))
    if roles.id != key[1]:
        roles = replace(roles, id=key[1]).because(id="it names every row in both files")
    return rows, roles, f"Joined with {known.name} by id (columns {key[0]!r} and {key[1]!r})."


def _key(
    known: Table, truth_roles: Roles, said: Table, roles: Roles, *, confirmed: bool
) -> tuple[Key | None, Sequence[str]]:
    """The columns that join, None where only the lines do; and the columns that speak against the lines."""
    if roles.join is not None:
        return _given_key(roles.join, known, said), ()
    ids = _ids(known, truth_roles, said, roles)
    if ids is not None and (confirmed or not _only_counts(known, said, ids)):
        return ids, ()
    names = [key for key in _shared_names(known, truth_roles, said, roles) if key != ids]
    orders = {key: order for key in names if (order := _order(known, said, key)) is not None}
    certain = _certain(ids, orders)
    if certain is not None and not confirmed:
        return certain, ()
    against = [key for key, order in orders.items() if not _in_order(order)]
    if ids is None and not against:
        against = _other_values(known, said, names, orders)
    if against and not confirmed:
        raise _question(known, said, roles, [*([ids] if ids else []), *(orders or against)])
    return ids, [column for _, column in against]


def _other_values(known: Table, said: Table, names: Sequence[Key], orders: Collection[Key]) -> list[Key]:
    """The columns of names, of one name in both files of as many rows, that hold other values in each."""
    if known.n_rows != said.n_rows:
        return []
    kinds = ((key, known.kind(key[0]), said.kind(key[1])) for key in names if key not in orders)
    return [key for key, first, second in kinds if first in NAMING and second in NAMING]


def _certain(ids: Key | None, orders: dict[Key, np.ndarray]) -> Key | None:
    """What joins rows without a doubt, where columns of the same values all say one order; None where they do not."""
    if not orders:
        return None
    first, *others = orders.values()
    if not all(np.array_equal(first, order) for order in others):
        return None
    only_index = ids is None or ids[1].lower() in ROW_NAMES
    return next(iter(orders)) if only_index else ids if _in_order(first) else None


def _given_key(column: str, known: Table, said: Table) -> Key | None:
    """The columns that somebody said join the files; None for the lines."""
    if column == LINE:
        return None
    columns = {compact(name): name for name in known.columns}
    if column not in said.columns or compact(column) not in columns:
        raise DataError(f"To join {known.name} and {said.name}, both need a column {column!r}. Choose another one.")
    return (column if column in known.columns else columns[compact(column)]), column


def _ids(known: Table, truth_roles: Roles, said: Table, roles: Roles) -> Key | None:
    """The columns of ids where both files have them; of one name, if ids under two names have nothing in common."""
    own, other = roles.id, truth_roles.id
    if own in known.columns and own != other and not _same_values(known, other, said, own):
        return own, own
    return (other, own) if own is not None and other is not None else None


def _same_values(known: Table, other: str | None, said: Table, own: str) -> bool:
    return other is not None and set(known.strings(other)) == set(said.strings(own))


def _only_counts(known: Table, said: Table, ids: Key) -> bool:
    """Whether ids count the rows of both files as they come, and so say no more than the lines do."""
    first, other = (table.columns[column].tolist() for table, column in ((known, ids[0]), (said, ids[1])))
    counted = (list(map(str, range(start, start + known.n_rows))) for start in (0, 1))
    return len(first) == len(other) and list(map(str, first)) == list(map(str, other)) in counted


def _shared_names(known: Table, truth_roles: Roles, said: Table, roles: Roles) -> list[Key]:
    """The columns of one name in both files that no role but the id's explains, and that tell all rows apart."""
    by_name = {compact(column): column for column in _candidates(known, truth_roles)}
    return [(by_name[compact(column)], column) for column in _candidates(said, roles) if compact(column) in by_name]


def _candidates(table: Table, roles: Roles) -> list[str]:
    taken = {*roles.columns} - {roles.id} | ROW_NAMES
    return [column for column in table.columns if column not in taken and _tells_apart(table, column)]


def _tells_apart(table: Table, column: str) -> bool:
    return table.n_rows > 1 and table.is_unique(column) and None not in table.spelled(column)


def _order(known: Table, said: Table, key: Key) -> np.ndarray | None:
    """For each row of predictions the row of the truth of the same value; None where these are not the same values."""
    row_of = {value: row for row, value in enumerate(known.strings(key[0]))}
    wanted = said.strings(key[1])
    return np.array([row_of[value] for value in wanted]) if row_of.keys() == set(wanted) else None


def _in_order(rows: np.ndarray) -> bool:
    return bool((rows == np.arange(len(rows))).all())


def _question(known: Table, said: Table, roles: Roles, keys: Sequence[Key]) -> RolesNeeded:
    columns = [column for _, column in keys]
    several = "Columns" if len(columns) > 1 else "Column"
    return RolesNeeded(
        f"Which rows belong together? {several} {', '.join(map(repr, columns))} of {known.name} and {said.name} would "
        f"join {'them' if len(columns) > 1 else 'rows'} otherwise than line by line does, or hold other values. Say "
        "which column joins them, or that their order does.",
        replace(roles, join=columns[0]),
        (*columns, LINE),
        "join",
    )


def _by_line(
    known: Table, truth_roles: Roles, said: Table, roles: Roles, against: Sequence[str]
) -> tuple[np.ndarray, Roles, str]:
    if roles.join is None and (truth_roles.id is None) != (roles.id is None):
        with_ids, without = (said, known) if truth_roles.id is None else (known, said)
        raise DataError(
            f"{with_ids.name} has ids (column {roles.id or truth_roles.id!r}), {without.name} has none, so that rows "
            "cannot be joined. Add a column 'id' there, or leave the ids out of both to join by line."
        )
    if known.n_rows != said.n_rows:
        raise DataError(
            f"{known.name} has {known.n_rows:,} rows, {said.name} has {said.n_rows:,}, and neither has ids. "
            "Give both a column 'id', or as many rows in the same order."
        )
    how = "as was said" if roles.join == LINE else "since neither file has ids"
    if against:
        how = f"although both have a column {against[0]!r} that says otherwise"
    return np.arange(said.n_rows), roles, f"Joined with {known.name} by line, {how}."


def _by_id(known: Table, truth_roles: Roles, said: Table, roles: Roles) -> np.ndarray:
    apart = [role for role in _APART if getattr(truth_roles, role) and getattr(roles, role)]
    ids, wanted = _values(known, truth_roles, apart), _values(said, roles, apart)
    if repeat := first_repeat(ids):
        within = f" for the same {' and '.join(apart)}" if apart else ""
        name, *_ = ids[repeat[1]]
        raise DataError(
            f"{known.place(repeat[1])}: id {name!r} stands in {known.unit} {known.lines[repeat[0]]} too{within}. "
            "In the file that others are joined with each id must stand once."
        )
    row_of = {value: row for row, value in enumerate(ids)}
    _check_both_ways(known, ids, said, wanted)
    return np.array([row_of[value] for value in wanted], dtype=np.int64)


def _check_both_ways(
    known: Table, ids: Sequence[tuple[str, ...]], said: Table, wanted: Sequence[tuple[str, ...]]
) -> None:
    """DataError where an id of one file is none of the other."""
    there, asked_for = set(ids), set(wanted)
    lost = list(dict.fromkeys(value for value in wanted if value not in there))
    left = [value for value in ids if value not in asked_for]
    if lost or left:
        counts = (
            f"{len(lost):,} of {len(asked_for):,} ids of {said.name} are not in {known.name}{_such(lost)}; "
            f"{len(left):,} of {len(ids):,} ids of {known.name} are not in {said.name}{_such(left)}"
        )
        raise DataError(f"{counts}. Give files about the same rows, with ids spelled alike.")


def _values(table: Table, roles: Roles, apart: list[str]) -> list[tuple[str, ...]]:
    """What names a row: its id and, where both files tell sets, tasks and such apart, these."""
    columns = (roles.id or "", *(getattr(roles, role) for role in apart))
    return list(zip(*(table.strings(column) for column in columns), strict=True))


def _such(keys: Sequence[tuple[str, ...]]) -> str:
    return f" (such as {', '.join(map(repr, keys[0]))})" if keys else ""
