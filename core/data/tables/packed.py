"""What if a table comes in a zip archive, or as a workbook? One table is taken out of it; several are asked apart."""

import io
from collections.abc import Collection
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Archive, Limits
from touchstone.core.data.tables.table import Table, make_table
from touchstone.core.data.values import listed, objects

SheetRow = tuple[int, tuple[Any, ...]]  # its number, its cells
_BESIDE = ("__MACOSX", "Thumbs.db", "desktop.ini")


def only_table(archive: Archive, endings: Collection[str]) -> tuple[str, bytes]:
    """The name and content of the only table in a zip archive; DataError where there is none, or several.

    >>> import zipfile
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("out/pets.csv", "gold,predicted")
    >>> only_table(Archive(stream.getvalue(), "out.zip", Limits()), [".csv"])
    ('pets.csv', b'gold,predicted')
    """
    name = archive.name
    paths = [PurePosixPath(path) for path in archive.paths]
    tables = [path for path in paths if path.suffix.lower() in endings and not _is_beside(path)]
    tables = [path for path in tables if path.suffix.lower() != ".txt"] or tables  # a README lies beside many
    if len(tables) > 1:
        raise DataError(f"{name}: there are {len(tables)} tables in it, {listed(map(str, tables))}. Give one of them.")
    if not tables:
        raise DataError(f"{name}: no table is in it. A zip archive must hold one, ending in {', '.join(endings)}.")
    return tables[0].name, archive.read(str(tables[0]))


def _is_beside(path: PurePosixPath) -> bool:
    """Whether a file is what systems add to archives."""
    return path.name.startswith(".") or any(part in _BESIDE for part in path.parts)


def parse_workbook(content: bytes, name: str, limits: Limits) -> Table:
    """Read the first sheet with cells of an Excel workbook; formulas count as what was last computed from them.

    It takes openpyxl; DataError says so where that is absent, and where this is no workbook.

    >>> parse_workbook(b"no workbook", "book.xlsx", Limits())
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: book.xlsx: this is no zip archive, or a damaged one. Make it again, or ...
    """
    filled = {title: rows for title, rows in _sheets(content, name, limits).items() if rows}
    if not filled:
        raise DataError(f"{name}: there is nothing in any sheet.")
    title, *others = filled
    notes = (f"Sheet {title!r} was read, and not {listed(map(repr, others))}.",) if others else ()
    return _table_of(filled[title], name, notes)


def _table_of(rows: list[SheetRow], name: str, notes: tuple[str, ...]) -> Table:
    """A sheet as a table: its first row names the columns, as far to the right as there is a name."""
    (_, header), *body = rows
    width = max((place + 1 for place, cell in enumerate(header) if cell is not None), default=0)
    names = ["" if cell is None else str(cell) for cell in header[:width]]
    columns = [objects([_cell(cells[place]) for _, cells in body]) for place in range(width)]
    return make_table(name, names, columns, lines=[line for line, _ in body], unit="row", notes=notes)


def _sheets(content: bytes, name: str, limits: Limits) -> dict[str, list[SheetRow]]:
    """The rows of all sheets of a workbook, by their titles."""
    archive = Archive(content, name, limits)
    for path in archive.paths:  # all of it, so that nothing unpacks beyond the limit unseen
        archive.read(path)
    try:
        import openpyxl  # pyright: ignore[reportMissingModuleSource, reportMissingImports]
    except ImportError as error:
        raise DataError(
            f"{name}: workbooks are read by openpyxl, which is not installed. Save the sheet as CSV (UTF-8), or "
            "install it: pip install openpyxl"
        ) from error
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        return {sheet.title: _rows_of(sheet, name, limits) for sheet in book.worksheets}
    except DataError:
        raise
    except Exception as error:  # a file from somebody else can make the library raise nearly anything
        raise DataError(
            f"{name}: this is no Excel workbook, or a damaged one. Save the sheet as CSV (UTF-8)."
        ) from error


def _rows_of(sheet: Any, name: str, limits: Limits) -> list[SheetRow]:
    """The rows of a sheet that hold anything, with their numbers."""
    rows = []
    for line, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        if any(cell is not None and cell != "" for cell in cells):
            rows.append((line, cells))
        limits.check_rows(name, len(rows) - 1)  # the first names the columns
    return rows


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, (date, datetime)) else value
