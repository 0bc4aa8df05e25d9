"""What stands in lines of text, one after the other, whatever their encoding, dialect and quotes?

How spreadsheets, R and NumPy write is brought to what everybody else writes, and the lines are cut into cells.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.table import Table, make_table
from touchstone.core.data.values import listed

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


DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
QUOTED = re.compile(r'"[^"]*"')
Row = tuple[int, list[str]]  # the line it starts on, its cells
_SEPARATOR = re.compile(r"\"?sep=.\"?[ \t]*(?=[\r\n])", re.IGNORECASE)  # Excel's own first line
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
    text = without_separator_line(text)
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


def without_separator_line(text: str) -> str:
    """The text without the line by which Excel says what stands between the cells; lines keep their numbers.

    >>> without_separator_line("sep=;\\ngold;predicted\\n")
    '\\ngold;predicted\\n'
    """
    match = _SEPARATOR.match(text)
    return text[match.end() :] if match else text


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
    if _are_rows_of_numbers([line.split() for line in lines[:_SEEN_LINES] if line.strip()]):
        return "\n".join("\t".join(line.split()) for line in lines)
    if _QUOTED_NAMES.fullmatch(lines[0].strip()):
        return "\n".join(map("\t".join, _rows_of_r(lines)))
    return text


def _are_rows_of_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether there are rows, and all hold as many numbers, two or more."""
    widths = {len(cells) for cells in rows}
    return len(widths) == 1 and min(widths) > 1 and all(_NUMBER.fullmatch(cell) for cells in rows for cell in cells)


def _rows_of_r(lines: Sequence[str]) -> list[list[str]]:
    """The cells of write.table, which names no column for the rows' own names."""
    rows = list(csv.reader(lines, delimiter=" "))
    if len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1:
        rows[0] = ["", *rows[0]]
    return rows


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
