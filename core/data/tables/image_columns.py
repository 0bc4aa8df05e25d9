"""Which column of a table holds images? Packed ones, as bytes or with their path, as Parquet files have them."""

from collections.abc import Callable

from core.data.errors import DataError
from core.data.limits import Limits
from core.data.tables.columnar import TextColumns
from core.data.tables.images import ImageStack, Size
from core.data.tables.table import Table
from core.data.values import quoted, sample

_MAGIC = (b"\x89PNG", b"\xff\xd8\xff")

ImageOf = Callable[[int], tuple[bytes, str]]  # of a row: the packed image, and what messages call it


def image_column(table: Table) -> str | None:
    """The first column whose cells are packed images: bytes of PNG or JPEG, or {"bytes": ..., "path": ...}.

    >>> from core.data.tables import make_table
    >>> table = make_table("p.parquet", ["image", "y"], [[{"bytes": b"\\x89PNG...", "path": None}], [1]], lines=[1])
    >>> image_column(table)
    'image'
    """
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
    """The images of a column by row; DataError, when one is taken, where it holds none.

    >>> from core.data.tables import make_table
    >>> table = make_table("p.parquet", ["image"], [[{"bytes": b"\\x89PNG...", "path": "a.png"}]], lines=[1])
    >>> images_in(table, "image")(0)
    (b'\\x89PNG...', 'a.png')
    """

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
    """The paths that stand beside images, where every one has its own; they name the rows.

    >>> from core.data.tables import make_table
    >>> cells = [{"bytes": b"\\x89PNG", "path": "a.png"}, {"bytes": b"\\x89PNG", "path": None}]
    >>> paths_in(make_table("p.parquet", ["image"], [cells], lines=[1, 2]), "image") is None
    True
    """
    cells = table.columns[column].tolist()
    paths = [cell.get("path") if isinstance(cell, dict) else None for cell in cells]
    named = [path for path in paths if isinstance(path, str) and path]
    return named if len(set(named)) == len(cells) else None


def stacked(table: Table, image_of: ImageOf, limits: Limits, size: Size | None) -> ImageStack:
    """All images of a table, in the order of its rows.

    >>> from core.data.tables import make_table
    >>> table = make_table("p.parquet", ["image"], [[b"\\x89PNG"]], lines=[1], unit="row")
    >>> stacked(table, images_in(table, "image"), Limits(), None)
    Traceback (most recent call last):
    core.data.errors.DataError: p.parquet: row 1 cannot be read as an image. Save it again, or leave it out.
    """
    stack = ImageStack(table.n_rows, table.name, limits, size)
    for row in range(table.n_rows):
        stack.add(*image_of(row))
    return stack


def _packed(cell: object) -> bytes | None:
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    return content if isinstance(content, bytes) and content.startswith(_MAGIC) else None
