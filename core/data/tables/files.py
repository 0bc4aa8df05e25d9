"""How do bytes that somebody else wrote become a table? Read up to a limit, unpacked, and parsed by their ending.

Lines of text with tabs, commas or semicolons between the cells are read here, as they are found; `npz` and `records`
read what is no such text.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Protocol, runtime_checkable

from core.data.errors import DataError
from core.data.limits import MIB, Limits
from core.data.tables.class_names import NUMBER
from core.data.tables.npz import parse_arrays
from core.data.tables.records import parse_json, parse_jsonl, parse_parquet
from core.data.tables.table import Table, make_table
from core.data.values import quoted

_DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
_LONGEST_CELL = 2**31 - 1  # the file's size is limited already; csv's own limit of 131,072 is too small for documents
_QUOTED = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"\r\n|\r|\n")

Row = tuple[int, list[str]]  # the line it starts on, its cells


class _QuoteError(DataError):
    """Quotation marks that are not used as CSV uses them."""


def parse_delimited(content: bytes, name: str, limits: Limits, *, header_needed: bool = True) -> Table:
    """Read TSV or CSV: what separates the cells is seen from the header line, quotes enclose cells as in CSV.

    Unless a header is needed, there may be none, or one behind "# ", and one column is enough. Columns without names
    are called by their position. Between tabs, quotes are often plain characters. There they are kept where each line
    makes a row by itself, and taking them for CSV's would be wrong or would join lines.

    >>> table = parse_delimited(b'text\\tlabel\\n"Stop" he said\\tno\\n', "said.tsv", Limits())
    >>> table.strings("text"), table.notes
    (['"Stop" he said'], ('Quotation marks were kept as they stand, since they do not enclose whole cells.',))
    """
    text = _decode(content, name)
    if not header_needed:
        text = _uncommented(text)
    delimiter = _delimiter(text, name, lone=not header_needed)
    notes = ()
    if delimiter == "\t" and '"' in text:
        rows, notes = _rows_between_tabs(text, name, limits)
    else:
        rows = list(_rows(text, delimiter, name, limits, csv.QUOTE_MINIMAL))
    if not rows:
        raise DataError(f"{name}: there is nothing but white space in the file.")
    if not header_needed and not _is_header(rows):
        rows = [(0, [f"column {position + 1}" for position in range(len(rows[0][1]))]), *rows]
        notes = (*notes, "There is no line of column names.")
    header, *body = rows
    columns = zip(*(cells for _, cells in body), strict=True) if body else [[] for _ in header[1]]
    return make_table(name, header[1], map(list, columns), lines=[line for line, _ in body], notes=notes)


def _decode(content: bytes, name: str) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: byte 0x{content[error.start]:02X} is not {error.encoding.upper()}. "
            "Save the file as UTF-8."
        ) from error


def _uncommented(text: str) -> str:
    """The text with "# " before the header taken off, and comments above it emptied; lines keep their numbers."""
    lines = text.split("\n")
    n_comments = next((row for row, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if n_comments == 0 or n_comments == len(lines):
        return text
    said, first = lines[n_comments - 1].lstrip("# "), lines[n_comments]
    n_cells = [max(_QUOTED.sub("", line).count(delimiter) for delimiter in _DELIMITERS) for line in (said, first)]
    header = [said] if n_cells[0] == n_cells[1] and n_cells[0] > 0 else [""]
    return "\n".join([""] * (n_comments - 1) + header + lines[n_comments:])


def _is_header(rows: list[Row]) -> bool:
    """Whether the first row names columns: numbers there can only be class names, and names do not recur below."""
    first, body = rows[0][1], [cells for _, cells in rows[1:1001]]
    numbers = [cell for cell in first if NUMBER.fullmatch(cell.strip())]
    if not _count_classes(numbers) or any(cell[:1] in "[{" for cell in first if cell):
        return False
    if len(numbers) == len(first) and not any("." in cell for cells in body[:100] for cell in cells):
        return False
    columns = [{cells[position] for cells in body} for position in range(len(first))]
    repeating = [position for position, column in enumerate(columns) if len(column) < len(body)]
    return not repeating or any(first[position] not in columns[position] for position in repeating)


def _count_classes(numbers: list[str]) -> bool:
    """Whether all numbers in a row could be names of classes, which are counted from 0 or 1; or there is none."""
    whole = sorted(int(cell) for cell in numbers if cell.strip().isdecimal())
    return not numbers or whole in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def _delimiter(text: str, name: str, *, lone: bool = False) -> str:
    """The delimiter of the header line: tabs in a file called so, else the most frequent."""
    header = _LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    unquoted = _QUOTED.sub("", header)
    counts = {delimiter: unquoted.count(delimiter) for delimiter in _DELIMITERS}
    if counts["\t"] and name.lower().endswith((".tsv", ".tab")):
        return "\t"
    delimiter = max(counts, key=lambda each: counts[each])
    if counts[delimiter] == 0 and lone:
        return "\t"
    if counts[delimiter] == 0:
        raise DataError(
            f"{name}, line 1: one column only, {quoted(header)}. The first line must name the columns, with "
            "tabs, commas or semicolons between them: one for the label, others for what it is to be told from."
        )
    return delimiter


def _rows_between_tabs(text: str, name: str, limits: Limits) -> tuple[list[Row], tuple[str, ...]]:
    by_quotes = _attempt(text, name, limits, csv.QUOTE_MINIMAL)
    by_lines = _attempt(text, name, limits, csv.QUOTE_NONE)
    if isinstance(by_quotes, list) and (isinstance(by_lines, DataError) or len(by_lines) == len(by_quotes)):
        return by_quotes, ()
    if isinstance(by_lines, list):
        return by_lines, ("Quotation marks were kept as they stand, since they do not enclose whole cells.",)
    if isinstance(by_quotes, DataError) and not isinstance(by_quotes, _QuoteError):
        raise by_quotes
    raise by_lines


def _attempt(text: str, name: str, limits: Limits, quoting: int) -> list[Row] | DataError:
    try:
        return list(_rows(text, "\t", name, limits, quoting))
    except DataError as error:
        return error


def _rows(text: str, delimiter: str, name: str, limits: Limits, quoting: int) -> Iterator[Row]:
    """The rows, the header first; blank lines are passed over."""
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    n_rows = width = 0
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _QuoteError(
                f"{name}, line {line}: the quotation marks do not close ({error}). A cell that holds one must be "
                'enclosed in them, with each one inside written twice: "She said ""no""."'
            ) from error
        if cells is None:
            return
        if not cells:
            continue
        if not width:
            width = len(cells)
            limits.check_columns(name, width)
        if len(cells) != width:
            raise DataError(
                f"{name}, line {line}: {len(cells)} cells, but the header has {width}. Each row must have as many; "
                f"a cell with {_DELIMITERS[delimiter]} or line breaks in it must be enclosed in quotation marks."
            )
        n_rows += 1
        if n_rows > limits.samples + 1:
            raise DataError(f"{name}: more than {limits.samples:,} rows. Give a smaller sample.")
        yield line, cells


TABLES = {
    ".tsv": parse_delimited,
    ".tab": parse_delimited,
    ".csv": parse_delimited,
    ".txt": parse_delimited,
    ".json": parse_json,
    ".jsonl": parse_jsonl,
    ".ndjson": parse_jsonl,
    ".parquet": parse_parquet,
}
_DELIMITED = tuple(ending for ending, parse in TABLES.items() if parse is parse_delimited)
ARRAYS = (".npz", ".npy")


@runtime_checkable
class BinaryFile(Protocol):
    """A file that is open for reading bytes, such as an upload; that it has a name is checked when it is read."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes."""
        ...

    def seek(self, offset: int, /) -> int:
        """Go to a position."""
        ...


File = str | Path | BinaryFile


def read_table(file: File, *, limits: Limits | None = None, header_needed: bool = True) -> Table:
    """Read a TSV, CSV, JSON or Parquet file as columns, whatever they mean; these may be packed with gzip.

    Unless a header is needed, TSV and CSV may lack one, and the arrays of NPZ and NPY are columns too.

    >>> import io
    >>> file = io.BytesIO(b"size;class\\n1;x\\n2;y\\n")
    >>> file.name = "sizes.csv"
    >>> read_table(file).strings("class")
    ['x', 'y']
    """
    limits = limits or Limits()
    name = file_name(file)
    packed = name.lower().endswith(".gz")
    ending = PurePath(name[:-3] if packed else name).suffix.lower()
    is_array = ending in ARRAYS and not header_needed
    if ending not in TABLES and not is_array:
        known = (*TABLES, *(() if header_needed else ARRAYS))
        raise DataError(f"{name}: this is no table. Tables end in {', '.join(known)}, or in these and .gz.")
    content = read_bytes(file, limits)
    if packed:
        content = unpack_gzip(content, name, limits)
    if is_array:
        return parse_arrays(content, name.removesuffix(".gz"), limits)
    if ending in _DELIMITED:
        return parse_delimited(content, name, limits, header_needed=header_needed)
    return TABLES[ending](content, name, limits)


def file_name(file: File) -> str:
    """The name of a file without its folder, whether it is given by its path or open.

    >>> file_name("folder/scores.tsv")
    'scores.tsv'
    """
    name = file if isinstance(file, (str, Path)) else getattr(file, "name", None)
    if not isinstance(name, (str, Path)):
        raise DataError("The file has no name. Its ending says what is in it, such as scores.tsv.")
    return Path(name).name


def read_bytes(file: File, limits: Limits) -> bytes:
    """The whole content of a file given by its path or open for reading bytes; DataError beyond the limit or if empty.

    >>> read_bytes(io.BytesIO(b"id,label"), Limits())
    Traceback (most recent call last):
    core.data.errors.DataError: The file has no name. Its ending says what is in it, such as scores.tsv.
    """
    name = file_name(file)
    if isinstance(file, (str, Path)):
        try:
            with open(file, "rb") as stream:
                content = stream.read(limits.file_bytes + 1)
        except OSError as error:
            raise DataError(f"{name}: the file cannot be read ({error.strerror}).") from error
    else:
        file.seek(0)  # an uploaded file may have been read before
        content = file.read(limits.file_bytes + 1)
    if len(content) > limits.file_bytes:
        raise DataError(
            f"{name}: the file is larger than {limits.file_bytes / MIB:g} MiB. Give a smaller one, such as a sample."
        )
    if not content:
        raise DataError(f"{name}: the file is empty.")
    return content


def unpack_gzip(content: bytes, name: str, limits: Limits) -> bytes:
    """What is in a gzip file; DataError where it is damaged, or beyond the limit.

    >>> unpack_gzip(gzip.compress(b"id,label"), "a.csv.gz", Limits())
    b'id,label'
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unpacked = stream.read(limits.unpacked_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: this is no gzip file, or a damaged one. Pack it again.") from error
    if len(unpacked) > limits.unpacked_bytes:
        raise DataError(
            f"{name}: unpacks beyond the limit of {limits.unpacked_bytes / MIB:g} MiB. Give a smaller sample."
        )
    if not unpacked:
        raise DataError(f"{name}: there is nothing in this gzip file.")
    return unpacked
