"""Does the first line of a file name its columns? If it does not, a sentence must not become the name of one."""

from dataclasses import dataclass
from functools import cached_property

from core.data.tables.class_names import NUMBER
from core.data.tables.column_names import NAMES, PREDICTED_LIKELY, TRUTH_LIKELY, compact
from core.data.tables.sources import is_called_source

Row = tuple[int, list[str]]  # the line it starts on, its cells
_KNOWN = {*(name for names in NAMES.values() for name in names), *TRUTH_LIKELY, *PREDICTED_LIKELY, "text", "sentence"}
_WORDS_OF_PROSE = 4  # in a cell: more than names of columns have, on average
_SEEN = 1000  # rows that are looked at


def is_header(rows: list[Row]) -> bool:
    """Whether the first row names columns: numbers there can only be class names, and names do not recur below."""
    top = _Top.of(rows)
    if not top.may_number_classes or top.holds_lists or (top.is_of_numbers and not top.has_fractions_below):
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
    if top.numbers_classes or top.has_usual_name or top.names_numbers:
        return False
    return not all(map(_is_number, top.recurring)) or top.has_prose


@dataclass(frozen=True)
class _Top:
    """The first row of a file, and the rows below it that are looked at."""

    first: list[str]
    body: list[list[str]]

    @classmethod
    def of(cls, rows: list[Row]) -> "_Top":
        return cls(rows[0][1], [cells for _, cells in rows[1 : _SEEN + 1]])

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
    def may_number_classes(self) -> bool:
        """Whether all numbers in it could be names of classes, which are counted from 0 or 1; or there is none."""
        whole = sorted(int(cell) for cell in self.numbers if cell.strip().isdecimal())
        counts = (list(range(len(self.numbers))), list(range(1, len(self.numbers) + 1)))
        return not self.numbers or whole in counts

    @property
    def holds_lists(self) -> bool:
        return any(cell.startswith(("[", "{")) for cell in self.first)

    @property
    def has_fractions_below(self) -> bool:
        return any("." in cell for cells in self.body[:100] for cell in cells)

    @property
    def is_row_of_numbers(self) -> bool:
        """Whether it is a row of numbers, which count no classes, among such rows; cells below may be empty."""
        if len(self.first) < 2 or not self.is_of_numbers or self.may_number_classes:
            return False
        return all(not cell.strip() or _is_number(cell) for cells in self.body[:100] for cell in cells)

    @property
    def numbers_classes(self) -> bool:
        return len(self.numbers) > 1 and self.may_number_classes

    @cached_property
    def recurring(self) -> list[str]:
        """The cells that are one more of those below, where there are few different ones, but more than one."""
        return [
            cell
            for cell, below in self.columns
            if cell.strip() and 1 < len(set(below)) <= len(below) / 2 and cell in below
        ]

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
