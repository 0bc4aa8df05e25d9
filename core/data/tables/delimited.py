"""What stands in lines of text with tabs, commas or semicolons between the cells? Read as they are found."""

import csv
import io
import re
from collections.abc import Iterator

from core.data.errors import DataError
from core.data.limits import Limits
from core.data.tables.encodings import decode
from core.data.tables.headers import Row, is_header, is_surely_data
from core.data.tables.table import Table, make_table
from core.data.values import quoted

_DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
_LONGEST_CELL = 2**31 - 1  # the file's size is limited already; csv's own limit of 131,072 is too small for documents
_QUOTED = re.compile(r'"[^"]*"')
_LINE_END = re.compile(r"\r\n|\r|\n")


class _QuoteError(DataError):
    """Quotation marks that are not used as CSV uses them."""


def parse_delimited(content: bytes, name: str, limits: Limits, *, header_needed: bool = True) -> Table:
    """Read TSV or CSV: what separates the cells is seen from the header line, quotes enclose cells as in CSV.

    Where the first line can only be data, columns are called by their position. Unless a header is needed, they are
    where the line need not be a header; one may stand behind "# ", and one column is enough. Between tabs, quotes are
    often plain characters. There they are kept where each line makes a row by itself, and taking them for CSV's would
    be wrong or would join lines.

    >>> table = parse_delimited(b'text\\tlabel\\n"Stop" he said\\tno\\n', "said.tsv", Limits())
    >>> table.strings("text"), table.notes
    (['"Stop" he said'], ('Quotation marks were kept as they stand, since they do not enclose whole cells.',))
    """
    text, said = decode(content, name)
    if not header_needed:
        text = _uncommented(text)
    delimiter = _delimiter(text, name, lone=not header_needed)
    notes: tuple[str, ...] = ()
    if delimiter == "\t" and '"' in text:
        rows, notes = _rows_between_tabs(text, name, limits)
    else:
        rows = list(_rows(text, delimiter, name, limits, csv.QUOTE_MINIMAL))
    if not rows:
        raise DataError(f"{name}: there is nothing but white space in the file.")
    if is_surely_data(rows) if header_needed else not is_header(rows):
        rows = [(0, [f"column {position + 1}" for position in range(len(rows[0][1]))]), *rows]
        notes = (*notes, "There is no line of column names.")
    notes = (*said, *notes)
    header, *body = rows
    columns = zip(*(cells for _, cells in body), strict=True) if body else [[] for _ in header[1]]
    return make_table(name, header[1], map(list, columns), lines=[line for line, _ in body], notes=notes)


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
