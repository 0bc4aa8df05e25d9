"""Does the first line of a file name its columns? If it does not, a sentence must not become the name of one."""

from core.data.tables.class_names import NUMBER
from core.data.tables.column_names import NAMES, PREDICTED_LIKELY, TRUTH_LIKELY, compact
from core.data.tables.sources import is_called_source

Row = tuple[int, list[str]]  # the line it starts on, its cells
_KNOWN = {*(name for names in NAMES.values() for name in names), *TRUTH_LIKELY, *PREDICTED_LIKELY, "text", "sentence"}
_WORDS_OF_PROSE = 4  # in a cell: more than names of columns have, on average
_SEEN = 1000  # rows that are looked at


def is_header(rows: list[Row]) -> bool:
    """Whether the first row names columns: numbers there can only be class names, and names do not recur below."""
    first, body = rows[0][1], [cells for _, cells in rows[1 : _SEEN + 1]]
    numbers = [cell for cell in first if NUMBER.fullmatch(cell.strip())]
    if not _count_classes(numbers) or any(cell[:1] in "[{" for cell in first if cell):
        return False
    if len(numbers) == len(first) and not any("." in cell for cells in body[:100] for cell in cells):
        return False
    if _is_repeated_header(first, body):
        return True
    columns = [{cells[position] for cells in body} for position in range(len(first))]
    repeating = [position for position, column in enumerate(columns) if len(column) < len(body)]
    return not repeating or any(first[position] not in columns[position] for position in repeating)


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
    first, body = rows[0][1], [cells for _, cells in rows[1 : _SEEN + 1]]
    if len(body) < 2 or _is_repeated_header(first, body):
        return False
    columns = [[cells[position] for cells in body] for position in range(len(first))]
    numbers = [cell for cell in first if NUMBER.fullmatch(cell.strip())]
    if 1 < len(numbers) == len(first) and not _count_classes(numbers) and _are_numbers(body):
        return True
    recurring = [cell for cell, below in zip(first, columns, strict=True) if _recurs(cell, below)]
    if any(_is_usual_name(cell) for cell in {*_named(first)} - {*recurring}):
        return False
    if len(numbers) > 1 and _count_classes(numbers):
        return False
    if any(map(_names_numbers, first, columns)):
        return False
    prose = [cell for cell, below in zip(first, columns, strict=True) if _is_prose(cell, below)]
    is_word = any(not NUMBER.fullmatch(cell.strip()) for cell in recurring)
    return is_word or any(recurring or cell.strip().endswith((".", "!", "…")) for cell in prose)


def _is_repeated_header(first: list[str], body: list[list[str]]) -> bool:
    """Whether the row stands below once more, as where files were put together: its usual names only in whole."""
    others = [cells for cells in body if cells != first]
    names = [place for place, cell in enumerate(first) if cell.strip() and _is_usual_name(cell)]
    return len(others) < len(body) and any(all(cells[place] != first[place] for cells in others) for place in names)


def _named(first: list[str]) -> list[str]:
    """The cells of a first row, nothing between others left out: only at its ends may columns lack a name."""
    ends = [next((at for at, cell in enumerate(cells) if cell.strip()), 0) for cells in (first, first[::-1])]
    return [cell for at, cell in enumerate(first) if cell.strip() or at < ends[0] or at >= len(first) - ends[1]]


def _is_usual_name(cell: str) -> bool:
    return not cell.strip() or compact(cell) in _KNOWN or is_called_source(cell)


def _are_numbers(body: list[list[str]]) -> bool:
    """Whether there is nothing but numbers below, or nothing at all in a cell."""
    return all(not cell.strip() or NUMBER.fullmatch(cell.strip()) for cells in body[:100] for cell in cells)


def _names_numbers(cell: str, below: list[str]) -> bool:
    """Whether a word stands over numbers alone."""
    is_number = NUMBER.fullmatch(cell.strip()) is not None
    return not is_number and all(NUMBER.fullmatch(other.strip()) for other in below)


def _recurs(cell: str, below: list[str]) -> bool:
    """Whether a cell is one more of those below, where there are few different ones, but more than one."""
    return bool(cell.strip()) and 1 < len(set(below)) <= len(below) / 2 and cell in below


def _is_prose(cell: str, below: list[str]) -> bool:
    """Whether a cell is a sentence among sentences, rather than the name of a column, or a question of a survey."""
    n_words = sum(len(other.split()) for other in below) / len(below)
    return min(len(cell.split()), n_words) >= _WORDS_OF_PROSE and not cell.strip().endswith("?")


def _count_classes(numbers: list[str]) -> bool:
    """Whether all numbers in a row could be names of classes, which are counted from 0 or 1; or there is none."""
    whole = sorted(int(cell) for cell in numbers if cell.strip().isdecimal())
    return not numbers or whole in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))
