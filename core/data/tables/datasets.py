"""What data set is in a file? NPZ arrays, a zip of image folders, or a table of texts or numbers."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from core.data.dataset import Dataset, Kind
from core.data.errors import DataError
from core.data.limits import Limits
from core.data.tables import Table
from core.data.tables.class_names import encode
from core.data.tables.dates import days
from core.data.tables.files import TABLES, File, file_name, read_bytes, read_table
from core.data.tables.image_folders import parse_image_folders
from core.data.tables.npz import parse_npz
from core.data.tables.roles import NAMES, DatasetRoles, guess_dataset_roles
from core.data.tables.roles_file import FileReading
from core.data.tables.table import ROW_NAMES
from core.data.values import first_repeat, listed, sample

_DAYS = " (days since 1970)"
ENDINGS = (*TABLES, ".npz", ".zip")  # what an uploader may offer


def read_dataset(
    file: File,
    *,
    name: str | None = None,
    kind: Kind | None = None,
    roles: DatasetRoles | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read a user's file, given by its path or open for reading bytes; its ending says what is in it.

    `name` is the data set's name, else the file's name without its ending. `kind` and, for tables, `roles` decide what
    is guessed otherwise; `notes` of the data set say what was decided. DataError says what is wrong with the file,
    RolesNeeded asks what its columns are. docs/file-formats.md describes the formats.

    >>> import io
    >>> file = io.BytesIO("text\\tlabel\\nA fine film.\\t01\\nA dull one.\\tNA\\n".encode())
    >>> file.name = "films.tsv"
    >>> dataset = read_dataset(file)
    >>> dataset.class_names, dataset.ids
    (('01', 'NA'), array(['0', '1'], dtype=object))
    """
    limits = limits or Limits()
    full_name = file_name(file)
    ending = _ending(full_name)
    dataset_name = name or full_name[: -len(ending)] or full_name
    if ending in TABLES:
        return table_dataset(read_table(file, limits=limits), name=dataset_name, kind=kind, roles=roles)
    if roles is not None:
        raise DataError(f"{full_name}: roles were given, but only tables have columns.")
    content = read_bytes(file, limits)
    if ending == ".npz":
        return parse_npz(content, full_name, limits, dataset_name=dataset_name, kind=kind)
    if kind not in (None, "image"):
        raise DataError(f"{full_name}: a zip archive holds images, but {kind} data was asked for.")
    return parse_image_folders(content, full_name, limits, dataset_name=dataset_name)


def _ending(name: str) -> str:
    ending = PurePath(name).suffix.lower()
    if ending not in ENDINGS:
        raise DataError(
            f"{name}: a file that ends in {ending or 'nothing at all'} cannot be read. "
            f"Give one that ends in {', '.join(ENDINGS)}."
        )
    return ending


def table_dataset(table: Table, *, name: str, kind: Kind | None = None, roles: DatasetRoles | None = None) -> Dataset:
    """Make a data set of a table: what its columns are is given by `roles`, or guessed (`guess_dataset_roles`).

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["size", "class"], [["1", "2"], ["x", "y"]], lines=[2, 3])
    >>> table_dataset(table, name="sizes").x
    array([[1.],
           [2.]])
    """
    named = () if roles is None else roles.features
    roles = guess_dataset_roles(table, kind=kind, roles=roles)
    codes, class_names = encode(table.strings(roles.label), place=f"{table.name}: column {roles.label!r}")
    numbers = _numbers(table, roles)
    x = table.texts(roles.text) if roles.text else np.column_stack([table.numbers(name) for name in roles.features])
    return Dataset(
        name=name,
        kind=roles.kind,
        x=x,
        y=codes,
        class_names=class_names,
        ids=_ids(table, roles),
        sources=table.strings(roles.source) if roles.source else None,
        feature_names=roles.features,
        notes=(*table.notes, *_notes(table, roles, numbers)),
        numbers=np.column_stack(list(numbers.values())) if numbers else None,
        number_names=numbers,
        read_as=FileReading(table.name, replace(roles, features=named)).to_json(),
    )


def _ids(table: Table, roles: DatasetRoles) -> list[str]:
    if roles.id is None:
        return [str(row) for row in range(table.n_rows)]
    ids = table.strings(roles.id)
    if repeat := first_repeat(ids):
        raise DataError(
            f"{table.place(repeat[1])}: id {ids[repeat[1]]!r} stands in {table.unit} {table.lines[repeat[0]]} too. "
            "Each id must be unique: leave a row out, or choose another id column."
        )
    return ids


def _numbers(table: Table, roles: DatasetRoles) -> dict[str, np.ndarray]:
    """Columns without a role that hold a number or a date in every row, by what they are called then."""
    numbers = {}
    for column, values in table.columns.items():
        if column in roles.columns or column.lower() in {*ROW_NAMES, *NAMES["id"], *NAMES["source"]}:
            continue
        if np.isfinite(table.floats(column)).all():
            numbers[column] = table.floats(column)
        elif np.isfinite(days(sample(values))).all() and np.isfinite(found := days(values)).all():
            numbers[column + _DAYS] = found
    return numbers


def _notes(table: Table, roles: DatasetRoles, numbers: Collection[str]) -> list[str]:
    """Which column was taken for what, in sentences."""
    notes = [f"Label: column {roles.label!r}."]
    notes += [f"Features: {listed(roles.features)}."] if roles.text is None else _about_texts(table, roles.text)
    notes.append("Ids: positions of the rows, counted from 0." if roles.id is None else f"Ids: column {roles.id!r}.")
    if roles.source is not None:
        notes.append(f"Sources: column {roles.source!r}.")
    if numbers:
        notes.append(f"Numbers of the samples, which are no inputs: {listed(numbers)}.")
    kept = {name.removesuffix(_DAYS) for name in numbers}
    unused = [column for column in table.columns if column not in roles.columns and column not in kept]
    if unused:
        notes.append(f"Not used: {listed(unused)}.")
    return notes


def _about_texts(table: Table, column: str) -> list[str]:
    n_empty = sum(not text.strip() for text in table.columns[column])
    empty = [f"{n_empty} of {table.n_rows} texts are empty."] if n_empty else []
    return [f"Text: column {column!r}.", *empty]
