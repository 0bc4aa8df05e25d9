"""Which column of a table holds images? Packed ones, as bytes or with their path, as Parquet files have them."""

from collections.abc import Callable, Sequence
from typing import Any

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.columnar import TextColumns
from touchstone.core.data.tables.images import ImageStack, Size
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import quoted, sample

FILE_COLUMN = "file in the archive"
"""The column that names an image beside its table in an archive."""
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff")

ImageOf = Callable[[int], tuple[bytes, str]]  # of a row: the packed image, and what messages call it


def image_column(table: Table) -> str | None:
    """The first column whose cells are packed images: bytes of PNG or JPEG, or {"bytes": ..., "path": ...}.

    Of a table whose rows name images beside it in an archive, it is the column of these names.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("p.parquet", ["image", "y"], [[{"bytes": b"\\x89PNG...", "path": None}], [1]], lines=[1])
    >>> image_column(table)
    'image'
    """
    if table.image_of is not None:
        return FILE_COLUMN
    if isinstance(table.columns, TextColumns):
        return None
    for column, values in table.columns.items():
        if values.dtype != object:
            continue
        cells = [cell for cell in sample(values).tolist() if cell is not None]
        if cells and all(_packed(cell) is not None for cell in cells):
            return column
    return None


def images_in(table: Table, column: str) -> ImageOf:
    """The images of a column by row, or those that it names; DataError, when one is taken, where it holds none.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("p.parquet", ["image"], [[{"bytes": b"\\x89PNG...", "path": "a.png"}]], lines=[1])
    >>> images_in(table, "image")(0)
    (b'\\x89PNG...', 'a.png')
    """

    if table.image_of is not None and column == FILE_COLUMN:
        return table.image_of

    def image_of(row: int) -> tuple[bytes, str]:
        cell = table.columns[column][row]
        packed = _packed(cell)
        if packed is None:
            raise DataError(
                f"{table.place(row)}: column {column!r} holds {quoted(cell)} instead of an image. "
                "It must hold the bytes of a PNG or JPEG file: fill it in, or leave the row out."
            )
        path = cell.get("path") if isinstance(cell, dict) else None
        return packed, path or f"{table.unit} {table.lines[row]}"

    return image_of


def paths_in(table: Table, column: str) -> list[str] | None:
    """The paths of images, where every one has its own; they name the rows.

    >>> from touchstone.core.data.tables import make_table
    >>> cells = [{"bytes": b"\\x89PNG", "path": "a.png"}, {"bytes": b"\\x89PNG", "path": None}]
    >>> paths_in(make_table("p.parquet", ["image"], [cells], lines=[1, 2]), "image") is None
    True
    """
    cells = table.columns[column].tolist()
    if table.image_of is not None and column == FILE_COLUMN:
        return cells
    paths = [cell.get("path") if isinstance(cell, dict) else None for cell in cells]
    named = [path for path in paths if isinstance(path, str) and path]
    return named if len(set(named)) == len(cells) else None


def stacked(table: Table, image_of: ImageOf, limits: Limits, size: Size | None) -> ImageStack:
    """All images of a table, in the order of its rows.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("p.parquet", ["image"], [[b"\\x89PNG"]], lines=[1], unit="row")
    >>> stacked(table, images_in(table, "image"), Limits(), None)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: p.parquet: row 1 cannot be read as an image. Save it again, or leave it out.
    """
    stack = ImageStack(table.n_rows, table.name, limits, size)
    for row in range(table.n_rows):
        stack.add(*image_of(row))
    return stack


def _packed(cell: object) -> bytes | None:
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    return content if isinstance(content, bytes) and content.startswith(_MAGIC) else None


# How may a table stand in a JSON value? As rows, as columns, or as names and rows apart, as pandas writes them.


Rows = list[dict[str, Any]]
Columns = dict[str, list[Any]]
_NAMES = ("columns", "data")
WITHOUT_NAMES = "There are no names of columns."


def in_order(value: Any) -> tuple[Rows | Columns, tuple[str, ...]] | None:
    """The rows or columns that a JSON value holds, and notes on what was passed over; None where it holds no table.

    Rows are a list of objects, as they stand. Known are the orientations of pandas, "split" (also of tables that were
    logged for a run), "table", "index", "columns" and "values", one list of objects in an object, and lists of one
    length beside values that are no lists.

    >>> in_order({"columns": ["id", "gold"], "data": [[1, "a"], [2, "b"]]})
    ({'id': [1, 2], 'gold': ['a', 'b']}, ())
    >>> in_order({"predictions": [0, 1], "label_ids": [0, 0], "metrics": {"loss": 0.5}})
    ({'predictions': [0, 1], 'label_ids': [0, 0]}, ('Not used: metrics.',))
    """
    if isinstance(value, list):
        return _of_lists(value)
    if not isinstance(value, dict):
        return None
    for read in (_of_split, _of_table, _of_objects, _of_nested, _of_columns):
        if (table := read(value)) is not None:
            return table
    return [value], ()


def _of_lists(rows: list[Any]) -> tuple[Rows | Columns, tuple[str, ...]] | None:
    """Rows without names: values in one order, or the classes and scores of a row each."""
    if _are_objects(rows):
        return rows, ()
    if not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    if all(map(_are_objects, rows)):
        return {"output": rows}, (WITHOUT_NAMES,)
    if all(len(row) == len(rows[0]) and all(map(_is_scalar, row)) for row in rows):
        columns = {f"column {place}": list(cells) for place, cells in enumerate(zip(*rows, strict=True), start=1)}
        return columns, (WITHOUT_NAMES,)
    return None


def _of_split(value: dict[str, Any]) -> tuple[Columns, tuple[str, ...]] | None:
    """Names under "columns", rows under "data", perhaps an index; what else is there is about the table."""
    names, rows = (value.get(key) for key in _NAMES)
    if not (isinstance(names, list) and isinstance(rows, list) and names and rows):
        return None
    if len({*map(str, names)}) < len(names) or not all(
        isinstance(row, list) and len(row) == len(names) for row in rows
    ):
        return None
    columns = {str(name): list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    index = value.get("index")
    return ({"index": index, **columns} if _names_rows(index, rows, columns) else columns), ()


def _names_rows(index: Any, rows: Sequence[Any], columns: Columns) -> bool:
    """Whether an index says more than the rows' positions."""
    is_one = isinstance(index, list) and len(index) == len(rows) and "index" not in columns
    return is_one and index != list(range(len(rows))) and all(map(_is_scalar, index))


def _of_table(value: dict[str, Any]) -> tuple[Rows, tuple[str, ...]] | None:
    """Rows under "data", described by a "schema"."""
    rows = value.get("data")
    return (rows, ()) if isinstance(value.get("schema"), dict) and _are_objects(rows) else None


def _of_objects(value: dict[str, Any]) -> tuple[Rows, tuple[str, ...]] | None:
    """The only list of objects in an object, whatever it is called; it holds no other list."""
    lists = [key for key, each in value.items() if isinstance(each, list) and each]
    if len(lists) != 1 or not _are_objects(value[lists[0]]):
        return None
    return value[lists[0]], _passed_over(value, lists)


def _of_nested(value: dict[str, Any]) -> tuple[Rows | Columns, tuple[str, ...]] | None:
    """Objects with the same keys: of columns by row, or of rows by column, of which there are more than columns."""
    inner = list(value.values())
    if not _have_same_keys(inner):
        return None
    if len(inner) > len(inner[0]) or all(key.isdecimal() for key in value):
        rows, columns = value, {key: [each[key] for each in inner] for key in inner[0]}
    else:
        rows, columns = inner[0], {key: list(each.values()) for key, each in value.items()}
    index = {} if "index" in columns or _count(rows) else {"index": list(rows)}
    return {**index, **columns}, ()


def _have_same_keys(values: list[Any]) -> bool:
    """Whether these are objects, two or more, of cells under the same names, at least one."""
    if len(values) < 2 or not all(
        isinstance(each, dict) and each and each.keys() == values[0].keys() for each in values
    ):
        return False
    return all(_is_scalar(cell) or isinstance(cell, list) for each in values for cell in each.values())


def _count(names: dict[str, Any]) -> bool:
    """Whether names only count the rows."""
    return list(names) == [str(place) for place in range(len(names))]


def _of_columns(value: dict[str, Any]) -> tuple[Columns, tuple[str, ...]] | None:
    """Lists, which should be of one length, beside values that are none."""
    lists = [key for key, each in value.items() if isinstance(each, list)]
    if value and (not lists or (len(lists) == 1 and len(value) > 1)):
        return None
    return {key: value[key] for key in lists}, _passed_over(value, lists)


def _passed_over(value: dict[str, Any], taken: list[str]) -> tuple[str, ...]:
    left = [key for key in value if key not in taken]
    return (f"Not used: {', '.join(left[:12])}.",) if left else ()


def _is_scalar(cell: Any) -> bool:
    return cell is None or isinstance(cell, (str, int, float))


def _are_objects(rows: Any) -> bool:
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)
