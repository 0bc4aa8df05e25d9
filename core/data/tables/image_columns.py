"""Which column of a table holds images? Packed ones, as bytes or with their path, as Parquet files have them."""

from collections.abc import Callable

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
