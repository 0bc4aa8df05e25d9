"""How does a file that somebody else wrote become a table? By its ending: lines of text here, all else elsewhere.

There are tabs, commas or semicolons between the cells. All lines are read at once where they are plain; else one by
one, whatever the encoding and the quotes. Where the first line names no columns, its cells are data: a sentence
must not become the name of one. `npz` and `records` read what is no such text.
"""

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from itertools import dropwhile
from pathlib import PurePath, PurePosixPath
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError, refusing
from touchstone.core.data.limits import Archive, File, Limits, file_name, opened, read_bytes, unpack_gzip
from touchstone.core.data.tables.names import NAMES, NUMBER, PREDICTED_LIKELY, TRUTH_LIKELY, compact, is_called_source
from touchstone.core.data.tables.npz import parse_arrays
from touchstone.core.data.tables.records import parse_json, parse_jsonl, parse_parquet
from touchstone.core.data.tables.table import Table, TextColumns, make_table, read_columns, rows_alike, without
from touchstone.core.data.values import listed, objects, quoted
from touchstone.core.installed import command

# Which letters do the bytes of a file stand for? UTF-8 or UTF-16, else what Windows writes in the West.


_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MOST_BEYOND_ASCII = 0.3  # of the letters: French has a tenth, and what is more is Greek, Russian or Japanese
_NOTE = "The file is not UTF-8. It was read as Windows-1252 (Latin-1): look at words with accents."


def decode(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a file, and a sentence where its encoding had to be guessed; DataError where it cannot be.

    >>> decode("Zoë".encode(), "t.tsv")
    ('Zoë', ())
    >>> decode("Zoë went".encode("latin-1"), "t.tsv")[0]
    'Zoë went'
    >>> decode(b"a\\x81", "t.tsv")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: t.tsv, line 1: byte 0x81 is not UTF-8. Save the file as UTF-8.
    """
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding), ()
    except UnicodeDecodeError as error:
        western = _western(content) if encoding != "utf-16" else None
        if western is not None:
            return western, (_NOTE,)
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: byte 0x{content[error.start]:02X} is not {error.encoding.upper()}. "
            "Save the file as UTF-8."
        ) from error


def _western(content: bytes) -> str | None:
    """The text in Windows-1252, where it can be nothing else that is usual: no damaged UTF-8, no other script."""
    if any(not letter.isascii() and letter != "\ufffd" for letter in set(content.decode("utf-8", errors="replace"))):
        return None
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    n_ascii = sum(map(content.count, (bytes([byte]) for byte in (*range(65, 91), *range(97, 123)))))
    n_beyond = len(re.findall(rb"[\x80-\xff]", content))
    return None if _CONTROLS.search(text) or n_beyond > _MOST_BEYOND_ASCII * (n_ascii + n_beyond) else text


# What stands in lines of text, one after the other, whatever their encoding, dialect and quotes?
#
# How spreadsheets, R and NumPy write is brought to what everybody else writes, and the lines are cut into cells.


DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
QUOTED = re.compile(r'"[^"]*"')
Row = tuple[int, list[str]]  # the line it starts on, its cells
_SEPARATOR = re.compile(r"\A\"?sep=.\"?[ \t]*(?=[\r\n])", re.IGNORECASE)  # Excel's own first line
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|-?inf", re.ASCII)
OF_NUMPY = re.compile(r"[+-]?\d\.\d{18}e[+-]\d{2,3}", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)
_QUOTED_NAMES = re.compile(r'"[^"]*"(?: "[^"]*")+')
_SEEN_LINES = 100  # lines that are looked at


class _QuoteError(DataError):
    """Quotation marks that are not used as CSV uses them."""


def usual_text(content: bytes, name: str, *, headed: bool, of_spaces: bool) -> tuple[str, tuple[str, ...]]:
    """The text as most people write it, and notes on how it was written: no line of Excel's, no "# " before names.

    `headed` text has no comments above its names, and only what is `of_spaces` has spaces between its cells.

    >>> usual_text(b"sep=;\\ngold;predicted\\n", "said.csv", headed=True, of_spaces=False)
    ('\\ngold;predicted\\n', ())
    """
    text, notes = decode(content, name)
    text = _SEPARATOR.sub("", text)  # the line by which Excel says what stands between the cells
    if not headed:
        text = _uncommented(text)
    return tabs_for_spaces(text) if of_spaces or not headed else text, notes


def rows_of(text: str, delimiter: str, name: str, limits: Limits) -> tuple[list[Row], tuple[str, ...]]:
    """The rows that hold anything, at least one, and a note on their quotes."""
    if delimiter == "\t" and '"' in text:
        rows, notes = _rows_between_tabs(text, name, limits)
    else:
        rows, notes = list(_rows(text, delimiter, name, limits, csv.QUOTE_MINIMAL)), ()
    rows = [row for row in rows if len(row[1]) == 1 or any(map(str.strip, row[1]))]  # spreadsheets add rows of nothing
    if not rows:
        raise DataError(f"{name}: there is nothing but white space in the file.")
    return rows, notes


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
                f"a cell with {DELIMITERS[delimiter]} or line breaks in it must be enclosed in quotation marks."
            )
        n_rows += 1
        limits.check_rows(name, n_rows - 1)  # the first names the columns
        yield line, cells


def with_points(header: list[str], columns: Sequence[Sequence[str]]) -> tuple[list[Sequence[str]], tuple[str, ...]]:
    """The columns with decimal points for decimal commas, and a note of that."""
    pointed = {place: points for place, cells in enumerate(columns) if (points := decimal_points(cells)) is not None}
    names = listed(header[place] for place in pointed)
    notes = (f"Decimal commas were read as points: {names}.",) if pointed else ()
    return [pointed.get(place, cells) for place, cells in enumerate(columns)], notes


def _uncommented(text: str) -> str:
    """The text with "# " before the header taken off, and comments above it emptied; lines keep their numbers."""
    lines = text.split("\n")
    n_comments = next((row for row, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if n_comments == 0 or n_comments == len(lines):
        return text
    names, first = lines[n_comments - 1].lstrip("# "), lines[n_comments]
    n_cells = [max(QUOTED.sub("", line).count(delimiter) for delimiter in DELIMITERS) for line in (names, first)]
    header = [names] if n_cells[0] == n_cells[1] and n_cells[0] > 0 else [""]
    return "\n".join([""] * (n_comments - 1) + header + lines[n_comments:])


def tabs_for_spaces(text: str) -> str:
    """The text with tabs, where NumPy's savetxt or R's write.table put spaces between cells; else the same text.

    NumPy writes whole numbers as 1.000000000000000000e+00: they are whole numbers again. R names no column for its
    rows' names.

    >>> tabs_for_spaces("1.000000000000000000e+00 0.25\\n0.000000000000000000e+00 0.75\\n")
    '1\\t0.25\\n0\\t0.75\\n'
    >>> tabs_for_spaces('"gold" "said"\\n"1" "a b" "c"\\n')
    '\\tgold\\tsaid\\n1\\ta b\\tc\\n'
    """
    text = OF_NUMPY.sub(lambda match: _whole(match[0]), text)
    if "\t" in text:
        return text
    lines = text.split("\n")
    seen = [line.split() for line in lines[:_SEEN_LINES] if line.strip()]
    as_long = len({len(cells) for cells in seen}) == 1 and len(seen[0]) > 1
    if as_long and all(_NUMBER.fullmatch(cell) for cells in seen for cell in cells):
        return "\n".join("\t".join(line.split()) for line in lines)
    if not _QUOTED_NAMES.fullmatch(lines[0].strip()):
        return text
    rows = list(csv.reader(lines, delimiter=" "))
    if len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1:  # write.table names no column for the rows' own names
        rows[0] = ["", *rows[0]]
    return "\n".join(map("\t".join, rows))


def _whole(number: str) -> str:
    value = float(number)
    return str(int(value)) if value.is_integer() else number


def decimal_points(cells: Sequence[str]) -> Sequence[str] | None:
    """Numbers with a point where most of them have a decimal comma and none has anything else; None elsewhere.

    Where all commas could stand for thousands, as in 1,250, nothing is sure, and None is given.

    >>> decimal_points(["0,25", "1", "-3,5"]), decimal_points(["1", "2", "1,2"]), decimal_points(["1,250", "2,500"])
    (['0.25', '1', '-3.5'], None, None)
    """
    filled = [cell for cell in cells if cell]
    commas = [cell for cell in filled if "," in cell]
    if len(commas) <= len(filled) / 2 or all(map(_THOUSANDS.fullmatch, commas)):
        return None
    if not all(map(_WITH_COMMA.fullmatch, filled)):
        return None
    return [cell.replace(",", ".") for cell in cells]


# What if labels stand in front of the texts, as fastText has them? Brought to columns of a label and a text.


MARK = "__label__"


def parse_fasttext(content: bytes, name: str, limits: Limits) -> Table:
    """Read lines such as "__label__good A fine film."; DataError at a line with several labels, or with none.

    >>> table = parse_fasttext(b"__label__good A fine film.\\n__label__bad A dull one.\\n", "films.txt", Limits())
    >>> table.strings("label"), table.texts("text")
    (['good', 'bad'], ['A fine film.', 'A dull one.'])
    """
    text, notes = decode(content, name)
    lines, labels, texts = [], [], []
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        marked, _, rest = written.strip().partition(" ")
        if not marked.startswith(MARK) or rest.lstrip().startswith(MARK):
            raise DataError(
                f"{name}, line {line}: {'several labels' if marked.startswith(MARK) else 'no label'} in front of the "
                f"text. Each line must begin with one, such as {MARK}good, and a space."
            )
        lines.append(line)
        labels.append(marked.removeprefix(MARK))
        texts.append(rest.strip())
        limits.check_rows(name, len(lines))
    return make_table(name, ["label", "text"], [labels, texts], lines=lines, notes=tuple(notes))


# What if a table comes in a zip archive, or as a workbook? One table is taken out of it; several are asked apart.


SheetRow = tuple[int, tuple[Any, ...]]  # its number, its cells
_BESIDE = {
    *("__MACOSX", "Thumbs.db", "desktop.ini"),  # what systems add to archives
    *("state.json", "dataset_info.json"),  # what Hugging Face's save_to_disk writes beside the rows
}


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
    given = [path for path in map(PurePosixPath, archive.paths) if not _lies_beside(path)]
    tables = [path for path in given if path.suffix.lower() in endings]
    tables = [path for path in tables if path.suffix.lower() != ".txt"] or tables  # a README lies beside many
    if len(tables) > 1:
        raise DataError(f"{name}: there are {len(tables)} tables in it, {listed(map(str, tables))}. Give one of them.")
    if not tables:
        raise DataError(f"{name}: no table is in it. A zip archive must hold one, ending in {', '.join(endings)}.")
    return tables[0].name, archive.read(str(tables[0]))


def _lies_beside(path: PurePosixPath) -> bool:
    """Whether a file of an archive is none that somebody put there."""
    return path.name.startswith(".") or bool(_BESIDE.intersection(path.parts))


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
    # The first row names the columns, as far to the right as there is a name.
    (_, header), *body = filled[title]
    header = _to_the_last_name(header)
    names = ["" if cell is None else str(cell) for cell in header]
    columns = [objects([_cell(cells[place]) for _, cells in body]) for place in range(len(names))]
    return make_table(name, names, columns, lines=[line for line, _ in body], unit="row", notes=notes)


def _to_the_last_name(header: Sequence[Any]) -> list[Any]:
    """The cells of a row without those that are empty at its end."""
    return list(reversed([*dropwhile(lambda cell: cell is None, reversed(header))]))


def _sheets(content: bytes, name: str, limits: Limits) -> dict[str, list[SheetRow]]:
    """The rows of all sheets of a workbook, by their titles."""
    archive = Archive(content, name, limits)
    for path in archive.paths:  # all of it, so that nothing unpacks beyond the limit unseen
        archive.read(path)
    lacking = "workbooks are read by openpyxl, which is not installed. Save the sheet as CSV (UTF-8), or install it: "
    with refusing(f"{name}: {lacking}{command('openpyxl')}", ImportError):
        import openpyxl  # pyright: ignore[reportMissingModuleSource, reportMissingImports]
    # By whatever error: a file from somebody else can make the library raise nearly anything.
    with refusing(f"{name}: this is no Excel workbook, or a damaged one. Save the sheet as CSV (UTF-8)."):
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        return {sheet.title: _rows_of(sheet, name, limits) for sheet in book.worksheets}


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


# Which of these is a file, and what are its columns called? Its ending tells, and its first line.


_FIRST_LINE = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*([^\n]*)")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NO_NAMES = "There is no line of column names."
_SEEN_ROWS, _SEEN_CELLS = 1001, 100_000  # that are looked at to see whether the first line names columns
_SOMETHING = re.compile(r'[^",;\s]')
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOTHING_IN_ROW = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?[,;\t ]+\r?$")
_KNOWN = {*(name for names in NAMES.values() for name in names), *TRUTH_LIKELY, *PREDICTED_LIKELY, "text", "sentence"}
_WORDS_OF_PROSE = 4  # in a cell: more than names of columns have, on average
_SEEN_BELOW = 1000  # rows that are looked at
_OF_LINES = (".tsv", ".tab", ".csv", ".txt")
_PARSED = {
    ".json": parse_json,
    ".jsonl": parse_jsonl,
    ".ndjson": parse_jsonl,
    ".parquet": parse_parquet,
    ".arrow": parse_parquet,
    ".xlsx": parse_workbook,
}
TABLES = (*_OF_LINES, *_PARSED)
"""How names of tables end."""
ARRAYS = (".npz", ".npy")


def read_table(file: File, *, limits: Limits | None = None, header_needed: bool = True) -> Table:
    """Read a TSV, CSV, JSON or Parquet file as columns, whatever they mean; these may be packed with gzip.

    Unless a header is needed, TSV and CSV may lack one, the arrays of NPZ and NPY are columns too, and a zip archive
    may hold one of all these.

    >>> read_table(opened(b"size;class\\n1;x\\n2;y\\n", "sizes.csv")).strings("class")
    ['x', 'y']
    """
    limits = limits or Limits()
    name = file_name(file)
    packed = name.lower().endswith(".gz")
    ending = PurePath(name[:-3] if packed else name).suffix.lower()
    is_array = ending in ARRAYS and not header_needed
    is_zip = ending == ".zip" and not packed and not header_needed
    known = (*TABLES, *(() if header_needed else ARRAYS))
    if ending not in TABLES and not is_array and not is_zip:
        raise DataError(f"{name}: this is no table. Tables end in {', '.join(known)}, or in these and .gz.")
    content = read_bytes(file, limits)
    if is_zip:
        inner, unpacked = only_table(Archive(content, name, limits), known)
        return read_table(opened(unpacked, inner), limits=limits, header_needed=header_needed)
    if packed:
        content = unpack_gzip(content, name, limits)
    if is_array:
        return parse_arrays(content, name.removesuffix(".gz"), limits)
    if ending in _OF_LINES:
        return parse_delimited(content, name, limits, header_needed=header_needed)
    return _PARSED[ending](content, name, limits)


def parse_delimited(content: bytes, name: str, limits: Limits, *, header_needed: bool = True) -> Table:
    """Read TSV or CSV: what separates the cells is seen from the header line, quotes enclose cells as in CSV.

    Where the first line can only be data, columns are called by their position. Unless a header is needed, they are
    where the line need not be a header; one may stand behind "# ", and one column is enough. Between tabs, quotes are
    often plain characters. There they are kept where each line makes a row by itself, and taking them for CSV's would
    be wrong or would join lines. Texts behind labels as fastText marks them are a table of both.

    >>> table = parse_delimited(b'text\\tlabel\\n"Stop" he said\\tno\\n', "said.tsv", Limits())
    >>> table.strings("text"), table.notes
    (['"Stop" he said'], ('Quotation marks were kept as they stand, since they do not enclose whole cells.',))
    """
    if header_needed and _first_line(content).startswith(MARK.encode()):
        return parse_fasttext(content, name, limits)
    table = None if _takes_care(content, header_needed) else _at_once(content, name, limits, header_needed)
    if table is not None:
        return table
    return _line_by_line(content, name, limits, header_needed)


def _line_by_line(content: bytes, name: str, limits: Limits, header_needed: bool) -> Table:
    """The table, whatever the encoding, the dialect and the quotes."""
    first = _first_line(content)
    of_spaces = _is_of_numpy(first) or not any(delimiter.encode() in first for delimiter in DELIMITERS)
    text, notes = usual_text(content, name, headed=header_needed, of_spaces=of_spaces)
    delimiter = _delimiter(text, name, lone=not header_needed)
    rows, of_quotes = rows_of(text, delimiter, name, limits)
    header, body, of_header = _without_header(rows, header_needed)
    columns = list(zip(*(cells for _, cells in body), strict=True)) if body else [[] for _ in header]
    columns, of_points = with_points(header, columns) if delimiter == ";" else (columns, ())
    notes = (*notes, *of_quotes, *of_header, *of_points)
    return make_table(name, header, map(list, columns), lines=[line for line, _ in body], notes=notes)


def _without_header(rows: list[Row], header_needed: bool) -> tuple[list[str], list[Row], tuple[str, ...]]:
    """Names of the columns, the rows below them, and a note: of names that are counted, or stand below once more."""
    if not _has_header(rows, header_needed):
        return _counted(len(rows[0][1])), rows, (_NO_NAMES,)
    (_, header), *body = rows
    others = [row for row in body if row[1] != header]
    if not others:  # one row that says the same as the names is a row
        return header, body, ()
    return header, others, _about_repeats([line for line, cells in body if cells == header])


def _takes_care(content: bytes, header_needed: bool) -> bool:
    """Whether lines cannot be read all at once: another encoding or dialect, or rows of nothing."""
    start = _first_line(content)
    if start.startswith(_UTF_16) or start.lstrip(b'"')[:4].lower() == b"sep=" or _is_of_numpy(start):
        return True
    return not header_needed and (start.startswith(b"#") or _NOTHING_IN_ROW.search(content) is not None)


def _is_of_numpy(first: bytes) -> bool:
    """Whether NumPy's savetxt seems to have written a first line, with 18 decimals to every number."""
    return OF_NUMPY.search(first.decode("utf-8", errors="replace")) is not None


def _about_repeats(lines: Sequence[int]) -> tuple[str, ...]:
    """A note on lines that are the header once more, as where files were put together; none where there are none."""
    if not lines:
        return ()
    noun = "Line" if len(lines) == 1 else "Lines"
    return (f"{noun} {listed(map(str, lines))}: the header once more, left out.",)


def _first_line(content: bytes) -> bytes:
    """The first line of a file that holds anything, without a mark of its encoding or line ends."""
    match = _FIRST_LINE.match(content)
    return match[1] if match else b""


def _has_header(rows: list[Row], header_needed: bool) -> bool:
    return not is_surely_data(rows) if header_needed else is_header(rows)


def _counted(n_columns: int) -> list[str]:
    return [f"column {position + 1}" for position in range(n_columns)]


def _at_once(content: bytes, name: str, limits: Limits, header_needed: bool) -> Table | None:
    """The table, read as columns; None where its lines need more care, or words for what is wrong with them."""
    first = _first_line(content).decode("utf-8", errors="replace")
    if not _SOMETHING.search(first) or not set(first).intersection(DELIMITERS):
        return None
    delimiter = _delimiter(first, name)
    if delimiter == ";" and b"," in content:  # perhaps of decimals
        return None
    limits.check_columns(name, QUOTED.sub("", first).count(delimiter) + 1)
    columns_and_lines = read_columns(content, delimiter)
    if columns_and_lines is None:
        return None
    columns, lines = columns_and_lines
    nothing = rows_alike(columns, [""] * len(columns))
    columns, lines = without(columns, nothing), np.delete(lines, nothing)
    limits.check_rows(name, len(lines) - 1)  # the first names the columns
    n_seen = min(len(lines), max(20, _SEEN_CELLS // len(columns)), _SEEN_ROWS)
    cells = map(list, zip(*(column.slice(0, n_seen).to_pylist() for column in columns), strict=True))
    rows = list(zip(lines[:n_seen].tolist(), cells, strict=True))
    notes: tuple[str, ...] = ()
    if _has_header(rows, header_needed):
        header, columns, lines = rows[0][1], [column.slice(1) for column in columns], lines[1:]
        repeats = rows_alike(columns, header)
        if len(repeats) < len(lines):
            notes = _about_repeats(lines[repeats].tolist())
            columns, lines = without(columns, repeats), np.delete(lines, repeats)
    else:
        header, notes = _counted(len(columns)), (_NO_NAMES,)
    table = make_table(name, header, [objects([])] * len(header), lines=lines, notes=notes)
    return replace(table, columns=TextColumns(dict(zip(table.columns, columns, strict=True))))


def _delimiter(text: str, name: str, *, lone: bool = False) -> str:
    """The delimiter of the header line: tabs in a file called so, else the most frequent."""
    header = _LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    unquoted = QUOTED.sub("", header)
    counts = {delimiter: unquoted.count(delimiter) for delimiter in DELIMITERS}
    if counts["\t"] and name.lower().endswith((".tsv", ".tab")):
        return "\t"
    delimiter = max(counts, key=lambda each: counts[each])
    if counts[delimiter] == 0 and lone:
        return "\t"
    if counts[delimiter] == 0:
        raise DataError(
            f"{name}, line 1: one column only, {quoted(header)}. The first line must name the columns, with "
            "tabs, commas or semicolons between them: one for the label, others for the inputs."
        )
    return delimiter


def is_header(rows: list[Row]) -> bool:
    """Whether the first row names columns: numbers there can only be class names, and names do not recur below."""
    top = _Top.of(rows)
    if not top.may_number_classes or (top.is_of_numbers and not top.has_fractions):
        return False
    if top.has_lists:
        return False
    if top.stands_below_again:
        return True
    recurring = [(cell, below) for cell, below in top.columns if len(set(below)) < len(below)]
    return not recurring or any(cell not in below for cell, below in recurring)


def is_surely_data(rows: list[Row]) -> bool:
    """Whether the first row can only be data: nothing in it is a usual name, and it is like the rows below.

    Either a word in it stands below in a column whose values recur, or it holds a whole sentence as that column does,
    or it holds nothing but numbers that count no columns.

    >>> films = [(1, ["A fine film from start to end.", "good"]), (2, ["A dull one from start to end.", "bad"])]
    >>> is_surely_data([*films, (3, ["One more of the same kind.", "good"]), (4, ["And again the same.", "bad"])])
    True
    >>> is_surely_data([(1, ["what they wrote", "label"]), *films])
    False
    """
    top = _Top.of(rows)
    if len(top.body) < 2 or top.stands_below_again:
        return False
    if top.is_row_of_numbers:
        return True
    if (len(top.numbers) > 1 and top.may_number_classes) or top.has_usual_name or top.names_numbers:
        return False
    return not all(map(_is_number, top.recurring)) or top.has_prose


@dataclass(frozen=True)
class _Top:
    """The first row of a file, and the rows below it that are looked at."""

    first: list[str]
    body: list[list[str]]

    @classmethod
    def of(cls, rows: list[Row]) -> "_Top":
        return cls(rows[0][1], [cells for _, cells in rows[1 : _SEEN_BELOW + 1]])

    @cached_property
    def columns(self) -> list[tuple[str, list[str]]]:
        """Each cell of the first row with the cells below it."""
        return [(cell, [cells[place] for cells in self.body]) for place, cell in enumerate(self.first)]

    @cached_property
    def numbers(self) -> list[str]:
        return [cell for cell in self.first if _is_number(cell)]

    @property
    def is_of_numbers(self) -> bool:
        return len(self.numbers) == len(self.first)

    @property
    def has_lists(self) -> bool:
        """Whether any of its cells is a list, as data hold them."""
        return any(cell.startswith(("[", "{")) for cell in self.first)

    @property
    def has_fractions(self) -> bool:
        """Whether any of the cells below may be a number with decimals."""
        return any("." in cell for cells in self.body[:100] for cell in cells)

    @property
    def may_number_classes(self) -> bool:
        """Whether all numbers in it could be names of classes, which are counted from 0 or 1; or there is none."""
        whole = sorted(int(cell) for cell in self.numbers if cell.strip().isdecimal())
        counts = (list(range(len(self.numbers))), list(range(1, len(self.numbers) + 1)))
        return not self.numbers or whole in counts

    @property
    def is_row_of_numbers(self) -> bool:
        """Whether it is a row of numbers, which count no classes, among such rows; cells below may be empty."""
        if len(self.first) < 2 or not self.is_of_numbers or self.may_number_classes:
            return False
        return all(not cell.strip() or _is_number(cell) for cells in self.body[:100] for cell in cells)

    @cached_property
    def recurring(self) -> list[str]:
        """The cells that are one more of those below, where there are few different ones, but more than one."""
        few = [(cell, below) for cell, below in self.columns if 1 < len(set(below)) <= len(below) / 2]
        return [cell for cell, below in few if cell.strip() and cell in below]

    @property
    def has_usual_name(self) -> bool:
        """Whether a column is called as usual, or not at all between others: at the ends columns may lack a name."""
        return any(map(_is_usual_name, {*_named(self.first)} - {*self.recurring}))

    @property
    def names_numbers(self) -> bool:
        """Whether a word stands over numbers alone."""
        return any(not _is_number(cell) and all(map(_is_number, below)) for cell, below in self.columns)

    @property
    def has_prose(self) -> bool:
        """Whether a sentence stands in it that ends like one, or beside a cell that recurs."""
        prose = [cell for cell, below in self.columns if _is_prose(cell, below)]
        return any(self.recurring or cell.strip().endswith((".", "!", "…")) for cell in prose)

    @cached_property
    def stands_below_again(self) -> bool:
        """Whether the row stands below once more, as where files were put together: its usual names only in whole."""
        others = [cells for cells in self.body if cells != self.first]
        names = [place for place, cell in enumerate(self.first) if cell.strip() and _is_usual_name(cell)]
        in_whole = (all(cells[place] != self.first[place] for cells in others) for place in names)
        return len(others) < len(self.body) and any(in_whole)


def _named(first: list[str]) -> list[str]:
    """The cells of a first row, nothing between others left out: only at its ends may columns lack a name."""
    ends = [next((at for at, cell in enumerate(cells) if cell.strip()), 0) for cells in (first, first[::-1])]
    return [cell for at, cell in enumerate(first) if cell.strip() or at < ends[0] or at >= len(first) - ends[1]]


def _is_usual_name(cell: str) -> bool:
    return not cell.strip() or compact(cell) in _KNOWN or is_called_source(cell)


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


def _is_prose(cell: str, below: list[str]) -> bool:
    """Whether a cell is a sentence among sentences, rather than the name of a column, or a question of a survey."""
    n_words = sum(len(other.split()) for other in below) / len(below)
    return min(len(cell.split()), n_words) >= _WORDS_OF_PROSE and not cell.strip().endswith("?")
