"""What would a table make, read the likeliest way, and what would another choice of columns make?

Guessing stops where names and contents decide nothing, and asks (`core.data.tables.roles`). Here stands what to offer
then: the likeliest answer to every question, and what each column would come to. How a file was read then is written
down as JSON, and as options of a command.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.tables.roles import NO_UNIT, DatasetRoles, free_columns, guess_dataset_roles, role_reasons
from touchstone.core.data.tables.table import Table, days
from touchstone.core.data.values import sample, spell

SINGLE = tuple(each.name for each in fields(DatasetRoles) if each.name != "features")
"""The roles that one column has."""
INPUTS = ("text", "image")
"""Those of them that hold the inputs, each by itself."""
_MOST_WORDS = 2  # of a name, on average: more are a text


@dataclass(frozen=True)
class Proposal:
    """The likeliest roles of a table's columns; `why` says, by role, what they rest on (`role_reasons`).

    A role is None only where no column is likely. `question` is what reading the table would ask, None where nothing.
    """

    roles: DatasetRoles
    question: str | None = None
    why: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Values:
    """What stands in a column: how many rows of each value, the most frequent first, and how many rows hold none."""

    counts: tuple[tuple[str, int], ...]
    n_missing: int

    @property
    def n_different(self) -> int:
        """How many different values there are."""
        return len(self.counts)


def values_of(table: Table, column: str) -> Values:
    """The values of a column as labels, ids or sources would be spelled.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.csv", ["status"], [["1", "0", "1", ""]], lines=range(2, 6))
    >>> values_of(table, "status")
    Values(counts=(('1', 2), ('0', 1)), n_missing=1)
    """
    import pandas as pd

    cells = table.columns[column]
    try:
        by_cell = pd.Series(cells).value_counts(dropna=False, sort=False).items()
    except TypeError:  # cells that hold lists
        by_cell = ((cell, 1) for cell in cells.tolist())
    counts: Counter[str | None] = Counter()
    for cell, n in by_cell:
        counts[spell(cell)] += n
    n_missing = counts.pop(None, 0)
    return Values(tuple((str(value), n) for value, n in counts.most_common()), n_missing)


def propose_roles(table: Table) -> Proposal:
    """The likeliest roles, for somebody to confirm; DataError where the table can make no data set.

    >>> from touchstone.core.data.tables import make_table
    >>> rows = [["r1", "r2", "r3", "r4"], ["0", "1", "1", "1"], [".5", ".25", ".1", ".7"]]
    >>> proposal = propose_roles(make_table("t.csv", ["name", "status", "pitch"], rows, lines=range(2, 6)))
    >>> proposal.roles
    DatasetRoles(label='status', text=None, features=('pitch',), id='name', source=None, ...)
    >>> proposal.why["id"]
    'no value of it occurs twice'
    """
    try:
        roles, question = guess_dataset_roles(table), None
    except RolesNeeded as needed:
        roles, question = needed.guess or DatasetRoles(), needed.question
    if question is not None and roles.label is None:
        roles = replace(roles, label=_likeliest_label(table, roles))
    roles = _with_likeliest_inputs(table, roles)
    if roles.id is None:
        roles = replace(roles, id=_likeliest_id(table, roles))
    return Proposal(roles, question, MappingProxyType(role_reasons(table, roles)))


def said_roles(table: Table, columns: Mapping[str, str | None]) -> DatasetRoles:
    """What somebody said of a table's columns, by role, and what is guessed of its ids and sources beside that.

    None says that no column has the role. A label, a text or features that nobody named are left to reading.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.csv", ["id", "site", "status"], [["a", "b"], ["x", "x"], ["0", "1"]], lines=[2, 3])
    >>> said_roles(table, {"label": "status"})
    DatasetRoles(label='status', text=None, features=(), id='id', source='site', ...)
    >>> said_roles(table, {"label": "site", "id": None})
    DatasetRoles(label='site', text=None, features=(), id=None, source=None, ...)
    """
    guess = DatasetRoles()
    try:
        guess = guess_dataset_roles(table)
    except RolesNeeded as needed:
        guess = needed.guess or guess
    except DataError:  # the label that was said may leave more
        pass
    kept = {role: getattr(guess, role) for role in SINGLE if role not in ("label", "text")}
    kept = {role: column for role, column in kept.items() if column not in columns.values()}
    no_unit = {"unit": NO_UNIT} if not columns.get("unit", "left to reading") else {}
    return DatasetRoles(**{**kept, **columns, **no_unit})


def features_of(table: Table, roles: DatasetRoles) -> tuple[str, ...]:
    """The columns of numbers that have no other role; DataError where there are none.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.csv", ["size", "code", "class"], [["1", "2"], ["7", "8"], ["x", "y"]], lines=[2, 3])
    >>> features_of(table, DatasetRoles(label="class", id="code"))
    ('size',)
    """
    try:
        return guess_dataset_roles(table, kind="tabular", roles=replace(roles, text=None, features=())).features
    except RolesNeeded:
        raise DataError(f"{table.name}: no column that is left holds numbers. Choose a column of text.") from None


def _likeliest_label(table: Table, roles: DatasetRoles) -> str | None:
    """The column of the fewest different values, two or more, that recur; of several such columns the last."""
    best: tuple[int, str] | None = None
    for column in free_columns(table, roles):
        if table.kind(column) not in ("words", "whole") or _is_long(table.columns[column]):
            continue
        n_different = _n_different(table, column)
        if 2 <= n_different <= table.n_rows / 2 and (best is None or n_different <= best[0]):
            best = (n_different, column)
    return best and best[1]


def _likeliest_id(table: Table, roles: DatasetRoles) -> str | None:
    """The first column of names, all different: neither numbers, nor texts, nor dates."""
    for column in free_columns(table, roles):
        cells = table.columns[column]
        if table.kind(column) != "words" or _is_long(cells) or np.isfinite(days(sample(cells))).any():
            continue
        if _n_different(table, column) == table.n_rows and None not in table.spelled(column):
            return column
    return None


def _n_different(table: Table, column: str) -> int:
    """How many different cells a column has; 0 where they are lists."""
    try:
        return len(set(table.columns[column].tolist()))
    except TypeError:
        return 0


def _is_long(cells: np.ndarray) -> bool:
    """Whether cells hold more words than a name has, on average."""
    texts = [cell for cell in sample(cells).tolist() if isinstance(cell, str)]
    return sum(len(text.split()) for text in texts) > _MOST_WORDS * len(texts)


def _with_likeliest_inputs(table: Table, roles: DatasetRoles) -> DatasetRoles:
    """The roles with the likeliest text or features added, where a label is known."""
    if roles.label is None or roles.features or any(getattr(roles, role) for role in INPUTS):
        return roles
    try:
        return guess_dataset_roles(table, roles=roles)
    except RolesNeeded as needed:
        return needed.guess or roles
    except DataError:
        return roles


# What were a file's columns said to be? As JSON that can be given again, and as options of a command.


_WHAT = "data set roles"
_NOT_OURS = (
    'These are no roles of a data set. Give JSON such as {"touchstone": "data set roles", "label": "status"}, with '
    "the name of a column for each of " + ", ".join(SINGLE) + "; features is a list of them."
)


def roles_to_json(roles: DatasetRoles) -> str:
    """The roles as JSON; features that are left to reading do not stand in it.

    >>> roles_to_json(DatasetRoles(label="status", id="name"))
    '{"touchstone": "data set roles", "label": "status", "id": "name"}'
    """
    columns = {role: value for role, value in asdict(roles).items() if value not in (None, ())}
    return json.dumps({"touchstone": _WHAT, **columns}, ensure_ascii=False)


def roles_from_json(text: str | bytes) -> DatasetRoles:
    """Read what `roles_to_json` wrote, or somebody by hand; DataError where it is something else.

    >>> roles_from_json('{"touchstone": "data set roles", "label": "status", "features": ["a", "b"]}')
    DatasetRoles(label='status', text=None, features=('a', 'b'), id=None, source=None, ...)
    """
    try:
        columns = json.loads(text)
        if columns.pop("touchstone") != _WHAT or not _are_roles(columns):
            raise ValueError
        return DatasetRoles(**{**columns, "features": tuple(columns.get("features", ()))})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(_NOT_OURS) from None


def _are_roles(columns: Mapping[str, Any]) -> bool:
    features = columns.get("features", [])
    names = [*features, *(columns[role] for role in columns if role != "features" and columns[role] is not None)]
    known = set(columns) <= {*SINGLE, "features"}
    return known and isinstance(features, list) and all(isinstance(name, str) for name in names)


@dataclass(frozen=True)
class FileReading:
    """How a file's table became a data set: the name of the file and the roles, features only where they were named.

    `image_size` is the height and width to which images were brought, None where they are as they were.

    >>> reading = FileReading("voices.tsv", DatasetRoles(label="status", source="subject"))
    >>> reading.arguments()
    ['--data=voices.tsv', '--kind=tabular', '--label=status', '--id=', '--source=subject', '--part=']
    >>> FileReading.from_json(reading.to_json()) == reading
    True
    """

    file: str
    roles: DatasetRoles
    image_size: tuple[int, int] | None = None

    def to_json(self) -> str:
        """It as JSON; `from_json` reads it back."""
        content = {"file": self.file, "roles": roles_to_json(self.roles), "image_size": self.image_size, "version": 2}
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "FileReading":
        """Read what `to_json` wrote, also before data sets had units: then each row was one."""
        content = json.loads(text)
        size, roles = content.get("image_size"), roles_from_json(content["roles"])
        if "version" not in content:
            roles = replace(roles, unit=NO_UNIT)
        return cls(content["file"], roles, tuple(size) if size else None)

    def arguments(self) -> list[str]:
        """What names the file and its columns on the command line; with nothing behind "=" no column has the role."""
        size = ["--image-size", *map(str, self.image_size)] if self.image_size else []
        kind = [f"--data={self.file}", f"--kind={self.roles.kind}", *size]  # a name may begin with a dash
        if self.roles.features:
            return [*kind, f"--roles={roles_to_json(self.roles)}"]
        columns = {role: getattr(self.roles, role) for role in SINGLE}
        columns = {role: column for role, column in columns.items() if column or role not in (*INPUTS, "unit")}
        if self.roles.unit == NO_UNIT:
            columns["unit"] = NO_UNIT
        return [*kind, *(f"--{role}={column or ''}" for role, column in columns.items())]
