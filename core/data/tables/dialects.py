"""How do spreadsheets, R and NumPy write tables as text? Brought to what everybody else writes, cell by cell."""

import csv
import re
from collections.abc import Sequence

_SEPARATOR = re.compile(r"\"?sep=.\"?[ \t]*(?=[\r\n])", re.IGNORECASE)  # Excel's own first line
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|-?inf", re.ASCII)
_OF_NUMPY = re.compile(r"[+-]?\d\.\d{18}e[+-]\d{2,3}", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*", re.ASCII)
_QUOTED_NAMES = re.compile(r'"[^"]*"(?: "[^"]*")+')
_SEEN = 100  # lines that are looked at


def without_separator_line(text: str) -> str:
    """The text without the line by which Excel says what stands between the cells; lines keep their numbers.

    >>> without_separator_line("sep=;\\ngold;predicted\\n")
    '\\ngold;predicted\\n'
    """
    match = _SEPARATOR.match(text)
    return text[match.end() :] if match else text


def of_numpy(content: bytes) -> bool:
    """Whether NumPy's savetxt seems to have written a text, with 18 decimals to every number.

    >>> of_numpy(b"1.000000000000000000e+00,0.25\\n"), of_numpy(b"1.0,0.25\\n")
    (True, False)
    """
    return _OF_NUMPY.search(content[: content.find(b"\n") + 1 or None].decode("utf-8", errors="replace")) is not None


def tabs_for_spaces(text: str) -> str:
    """The text with tabs, where NumPy's savetxt or R's write.table put spaces between cells; else the same text.

    NumPy writes whole numbers as 1.000000000000000000e+00: they are whole numbers again. R names no column for its
    rows' names.

    >>> tabs_for_spaces("1.000000000000000000e+00 0.25\\n0.000000000000000000e+00 0.75\\n")
    '1\\t0.25\\n0\\t0.75\\n'
    >>> tabs_for_spaces('"gold" "said"\\n"1" "a b" "c"\\n')
    '\\tgold\\tsaid\\n1\\ta b\\tc\\n'
    """
    text = _OF_NUMPY.sub(lambda match: _whole(match[0]), text)
    if "\t" in text:
        return text
    lines = text.split("\n")
    if _are_rows_of_numbers([line.split() for line in lines[:_SEEN] if line.strip()]):
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
