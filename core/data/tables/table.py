"""What stands in a table that somebody else wrote?

Columns know their lines, whatever the format was, and what kind of thing their cells hold.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.columnar import TextColumns, release, side_by_side
from touchstone.core.data.values import as_numbers, first_repeat, listed, numbers_in, objects, quoted, sample, spell

Kind = Literal["scores", "several", "fraction", "number", "whole", "words"]
"""What the cells of a column hold: scores of all classes, several values, or one number or word each."""
_MOST_CLASSES = 1000
_WORDS_OF_TEXT = 3  # words per cell, on average, from which on a column is text rather than names
_SHORT = 2_000  # rows: up to here all numbers of a column are made as soon as a sample of them
_ODD_NUMBER = re.compile(r"\s*\d*(?:,\d+|[.,]?\d*\s*%)\s*", re.ASCII)


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, with the line (or row, says `unit`) of every row as a text editor counts them.

    `class_names` are what numbers in a column stand for, where the file itself says so. Of a table in an archive,
    `archive` is what that is called and `image_of` the image of a row with its name, where the rows name images in it.
    A column is an array of numbers, or of objects: str, or whatever else JSON and Parquet hold, None where missing.

    >>> table = make_table("people.csv", ["id", "size"], [("anna", "bert"), ("3", "four")], lines=[2, 3])
    >>> table.place(1), table.strings("id")
    ('people.csv, line 3', ['anna', 'bert'])
    >>> table.numbers("size")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: people.csv, line 3: column 'size' holds 'four'. It must be a finite ...
    """

    name: str
    columns: Mapping[str, np.ndarray]
    lines: Integer[np.ndarray, " n_rows"]
    unit: str = "line"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    class_names: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    archive: str | None = None
    image_of: Callable[[int], tuple[bytes, str]] | None = field(default=None, repr=False)
    _floats: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False)
    _kinds: dict[str, Kind] = field(default_factory=dict, init=False, repr=False)
    _spelled: dict[str, list[str | None]] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        """How many rows there are, the header not counted."""
        return len(self.lines)

    def place(self, row: int) -> str:
        """Where a row stands, for messages: file and line."""
        return f"{self.name}, {self.unit} {self.lines[row]}"

    def twice(self, places: tuple[int, int], what: str) -> str:
        """Where something stands again, and where it did first, for messages; `places` are rows (`first_repeat`)."""
        first, again = places
        return f"{self.place(again)}: {what} stands in {self.unit} {self.lines[first]} too"

    def check_once(self, ids: Sequence[str], remedy: str) -> None:
        """DataError, which ends in the remedy, at the first row whose id another row has.

        >>> make_table("t.csv", ["id"], [["a", "a"]], lines=[2, 3]).check_once(["a", "a"], "Leave one out.")
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: t.csv, line 3: id 'a' stands in line 2 too. Leave one out.
        """
        if repeat := first_repeat(ids):
            raise DataError(f"{self.twice(repeat, f'id {ids[repeat[1]]!r}')}. {remedy}")

    def check_roles(self, columns: Sequence[str]) -> None:
        """DataError where the table lacks one of the columns that have a role, or one of them has two.

        >>> make_table("t.csv", ["a"], [["x"]], lines=[2]).check_roles(["a", "b"])
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: t.csv: there is no column 'b'. The columns are a.
        """
        missing = next((column for column in columns if column not in self.columns), None)
        if missing is not None:
            raise DataError(f"{self.name}: there is no column {missing!r}. The columns are {listed(self.columns)}.")
        if repeat := first_repeat(columns):
            raise DataError(f"{self.name}: column {columns[repeat[1]]!r} has two roles. Each column can have one.")

    def take(self, rows: Integer[np.ndarray, " n_taken"]) -> "Table":
        """Some of the rows, which keep their lines.

        >>> make_table("t.csv", ["a"], [[5, 6, 7]], lines=[2, 3, 4]).take(np.array([2])).place(0)
        't.csv, line 4'
        """
        columns = {column: values[rows] for column, values in self.columns.items()}
        return replace(self, columns=columns, lines=self.lines[rows])

    def strings(self, column: str) -> list[str]:
        """A column of ids, labels or sources as strings; DataError at the first cell that is empty."""
        strings = self.spelled(column)
        if None in strings:
            row = strings.index(None)
            cell = self.columns[column][row]
            remedy = "write one, and nothing around it" if isinstance(cell, (list, dict, np.ndarray)) else "fill it in"
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(cell)}. "
                f"Each row needs a name or a number there: {remedy}, or leave the row out."
            )
        return list(strings)

    def texts(self, column: str) -> list[str]:
        """A column of texts, which may be empty; DataError at the first cell that holds something else."""
        texts = self.columns[column].tolist()
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(
                    f"{self.place(row)}: column {column!r} holds {quoted(text)}. "
                    "It must be a text: write it as a string, or leave the row out."
                )
        return texts

    def floats(self, column: str) -> Float[np.ndarray, " n_rows"]:
        """A column as numbers, NaN where there is none; read-only, since what takes long is made once."""
        if column in self._floats:
            return self._floats[column]
        is_text = isinstance(self.columns, TextColumns)
        numbers = self.columns.numbers(column) if is_text else as_numbers(self.columns[column])
        numbers.flags.writeable = False
        if is_text or self.columns[column].dtype == object:  # numbers that are there as such would be there twice
            self._floats[column] = numbers
        return numbers

    def numbers(self, column: str) -> Float[np.ndarray, " n_rows"]:
        """A column of features; DataError at the first cell that is no finite number."""
        numbers = self.floats(column)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise self._no_number(column, row, self.columns[column][row])
        return numbers

    def _no_number(self, column: str, row: int, cell: Any) -> DataError:
        return DataError(
            f"{self.place(row)}: column {column!r} holds {quoted(cell)}. "
            "It must be a finite number: fill it in (decimals with a point), or leave the row or column out."
        )

    def sample(self, column: str) -> Shaped[np.ndarray, " n_sampled"]:
        """A thousand of a column's cells or a few more, evenly spread: enough to see what it holds."""
        if isinstance(self.columns, TextColumns):
            return self.columns.sample(column)
        return sample(self.columns[column])

    def n_different(self, column: str) -> int:
        """How many different cells a column has, as they are written."""
        if isinstance(self.columns, TextColumns):
            return self.columns.n_different(column)
        return len(set(self.spelled(column)))

    def features(self, columns: Sequence[str], *, for_good: bool = False) -> Float[np.ndarray, "n_rows n_columns"]:
        """Columns of features side by side, read-only; DataError at the first cell that is no finite number.

        `for_good` says that the table is not asked about these columns again, so that what they hold can be forgotten.
        """
        if isinstance(self.columns, TextColumns):
            features = self._by_blocks(self.columns, columns, for_good)
        else:
            features = side_by_side(self._handed_over(columns), self.n_rows, len(columns))
        features.flags.writeable = False
        return features

    def _handed_over(self, columns: Sequence[str]) -> Iterator[np.ndarray]:
        """The numbers of each column, which are not kept here: all would be there twice."""
        for column in columns:
            yield self.numbers(column)
            self._floats.pop(column, None)

    def _by_blocks(self, texts: TextColumns, columns: Sequence[str], for_good: bool) -> np.ndarray:
        """The numbers of text, some rows after the others, so that there is never much of both."""
        for column in columns:
            self._floats.pop(column, None)
        features, start = np.empty((self.n_rows, len(columns))), 0
        for cells, numbers in texts.blocks(columns, for_good=for_good):
            if not np.isfinite(numbers).all():
                place, row = map(int, np.argwhere(~np.isfinite(numbers))[0])
                raise self._no_number(columns[place], start + row, cells[place][row].as_py())
            features[start : start + numbers.shape[1]] = numbers.T
            start += numbers.shape[1]
        release()
        return features

    def kind(self, column: str) -> Kind:
        """What is in the cells of a column, by a sample of them."""
        if column not in self._kinds:
            is_short = isinstance(self.columns, TextColumns) and self.n_rows <= _SHORT
            numbers = self.columns.plain_numbers(column) if is_short else None
            if numbers is None:
                self._kinds[column] = _kind_of(self.sample(column))
            else:
                self._floats.setdefault(column, numbers).flags.writeable = False
                self._kinds[column] = _kind_of_numbers(sample(numbers))
        return self._kinds[column]

    def spelled(self, column: str) -> list[str | None]:
        """The cells as strings, None where there is none."""
        if column not in self._spelled:
            cells = self.columns[column].tolist()
            is_named = isinstance(self.columns, TextColumns) and all(map(str.strip, cells))
            self._spelled[column] = cells if is_named else list(map(spell, cells))
        return self._spelled[column]

    def has_numbers(self, column: str) -> bool:
        """Whether there is any number: then whatever is none shall be an error, not a column that goes unnoticed.

        So shall numbers that are written in a way that cannot be read, such as 0,93 or 93 %.
        """
        seen = self.sample(column)
        odd = any(isinstance(cell, str) and _ODD_NUMBER.fullmatch(cell) for cell in seen.tolist())
        return odd or bool(np.isfinite(as_numbers(seen)).any())

    def is_label(self, column: str) -> bool:
        """Whether a column could hold labels: words or whole numbers, of which there are few different ones."""
        if self.kind(column) not in ("words", "whole"):
            return False
        return len(set(self.spelled(column))) <= max(2, min(_MOST_CLASSES, self.n_rows / 2))

    def is_text(self, column: str) -> bool:
        """Whether a column holds texts rather than names: three words or more per cell, on average.

        >>> table = make_table("t.tsv", ["a", "b"], [["it is fine", "it was not"], ["Ann", "Bo B."]], lines=[2, 3])
        >>> table.is_text("a"), table.is_text("b")
        (True, False)
        """
        texts = [cell for cell in self.sample(column).tolist() if isinstance(cell, str)]
        return len(texts) > 0 and sum(len(text.split()) for text in texts) >= _WORDS_OF_TEXT * len(texts)

    def is_unique(self, column: str) -> bool:
        """Whether no value occurs twice."""
        return self.n_different(column) == self.n_rows

    def scores(self, column: str) -> tuple[tuple[str, ...], Float[np.ndarray, "n_rows n_classes"]]:
        """The names and numbers of a column of vectors (named by position, from 0) or mappings (0 where a name lacks).

        >>> make_table("t.tsv", ["p"], [["[1, 0]", "[0.5, 0.5]"]], lines=[2, 3]).scores("p")
        (('0', '1'), array([[1. , 0. ], [0.5, 0.5]]))
        """
        cells = [numbers_in(cell) for cell in self.columns[column].tolist()]
        first = cells[0] or ()
        row = next((row for row, cell in enumerate(cells) if not _is_alike(cell, first)), None)
        if row is not None:
            expected = f"one of {len(first)} numbers, as in the first row" if row else "such as [0.1, 0.9]"
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(self.columns[column][row])}. "
                f"It must be a whole vector of scores, {expected}."
            )
        if isinstance(first, dict):
            return _mapped([cell for cell in cells if isinstance(cell, dict)])
        return tuple(str(position) for position in range(len(first))), np.array(cells, dtype=np.float64)

    def matrix(self, columns: Iterable[str]) -> Float[np.ndarray, "n_rows n_columns"]:
        """Columns side by side as numbers, NaN where there is none."""
        columns = list(columns)
        return side_by_side(map(self.floats, columns), self.n_rows, len(columns))


def _kind_of(seen: np.ndarray) -> Kind:
    numbers = as_numbers(seen)
    if seen.dtype == object and not np.isfinite(numbers).all():
        lists = _kind_of_lists([cell for cell in seen.tolist() if cell is not None and cell != ""])
        if lists is not None:
            return lists
    return _kind_of_numbers(numbers)


def _kind_of_numbers(numbers: np.ndarray) -> Kind:
    finite = numbers[np.isfinite(numbers)]
    if len(finite) <= len(numbers) / 2:
        return "words"
    if (finite == np.round(finite)).all():
        return "whole"
    return "fraction" if ((finite >= 0) & (finite <= 1)).mean() > 0.5 else "number"


def _kind_of_lists(cells: list[Any]) -> Kind | None:
    """What cells hold that are not empty, where most of them are vectors, or any is a list; else None."""
    vectors = [cell for cell in map(numbers_in, cells) if cell is not None]
    if len(vectors) > len(cells) / 2:
        numbers = set().union(*(vector for vector in vectors if isinstance(vector, list)))
        return "several" if numbers and numbers <= {0, 1} else "scores"
    is_list = any(isinstance(cell, (list, dict, np.ndarray)) for cell in cells)
    return "several" if is_list or sum(map(_is_printed_list, cells)) > len(cells) / 2 else None


def _is_printed_list(cell: Any) -> bool:
    return isinstance(cell, str) and cell[:1] == "[" and cell[-1:] == "]"


def _is_alike(cell: Any, first: Any) -> bool:
    """Whether a cell holds a mapping, or a vector of as many numbers, as the first one does."""
    return cell is not None and type(cell) is type(first) and (isinstance(cell, dict) or len(cell) == len(first))


def _mapped(mappings: Sequence[dict[str, float]]) -> tuple[tuple[str, ...], Float[np.ndarray, "n_rows n_names"]]:
    names = tuple(dict.fromkeys(name for mapping in mappings for name in mapping))
    return names, np.array([[mapping.get(name, 0.0) for name in names] for mapping in mappings], dtype=np.float64)


def make_table(
    name: str,
    header: Sequence[str],
    columns: Iterable[Any],
    *,
    lines: Any,
    unit: str = "line",
    notes: tuple[str, ...] = (),
) -> Table:
    """Put a table together; DataError where there are no columns or rows, or two columns of one name.

    Spaces around a column's name are dropped, and a column without a name is called by its position.

    >>> list(make_table("t.csv", [" a ", ""], [[1], [2]], lines=[2]).columns)
    ['a', 'unnamed column 2']
    """
    names = [column.strip() or f"unnamed column {position + 1}" for position, column in enumerate(header)]
    if repeat := first_repeat(names):
        raise DataError(
            f"{name}: columns {repeat[0] + 1} and {repeat[1] + 1} are both called {names[repeat[1]]!r}. "
            "Each column needs a name of its own; if there is no line of names, add one."
        )
    missing = "columns" if not names else "rows, only the names of columns" if len(lines) == 0 else ""
    if missing:
        raise DataError(f"{name}: there are no {missing}. Is this the whole file?")
    arrays = [values if isinstance(values, np.ndarray) else objects(values) for values in columns]
    return Table(name, dict(zip(names, arrays, strict=True)), np.asarray(lines, dtype=np.int64), unit, notes)


# When was it? Dates as numbers that can be put in order, averaged and cut.


def days(values: Shaped[np.ndarray, " n_rows"]) -> Float[np.ndarray, " n_rows"]:
    """Dates as days since the beginning of 1970 (UTC), with a fraction for the time of day; NaN where there is none.

    Dates are numpy's, Python's and pandas's, and texts as ISO 8601 writes them, such as 2020-03-01 or
    2020-03-01T12:00+02:00. Without a time zone a date counts as UTC.

    >>> days(np.array(["1970-01-03", "1970-01-01T12:00Z", "soon"]))
    array([2. , 0.5, nan])
    """
    import pandas as pd

    if values.dtype.kind == "M":
        micros = values.astype("datetime64[us]")
    else:
        cells = [value if isinstance(value, _DATES) else None for value in values.tolist()]
        read: Any = pd.to_datetime(pd.Series(cells, dtype=object), format="ISO8601", utc=True, errors="coerce")
        micros = read.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(micros), np.nan, micros.astype(np.float64) / _MICROSECONDS)


_DATES = (str, date, np.datetime64)
_MICROSECONDS = 86_400e6
