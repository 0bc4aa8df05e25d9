"""What stands in a table that somebody else wrote? Columns that know their lines, whatever the format was."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from core.data.errors import DataError
from core.data.tables.spelling import first_repeat, spell


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, with the line (or row, says `unit`) of every row as a text editor counts them.

    A column is an array of numbers, or of objects: str, or whatever else JSON and Parquet hold, None where missing.

    >>> table = make_table("people.csv", ["id", "size"], [("anna", "bert"), ("3", "four")], lines=[2, 3])
    >>> table.place(1), table.strings("id")
    ('people.csv, line 3', ['anna', 'bert'])
    >>> table.numbers("size")
    Traceback (most recent call last):
    core.data.errors.DataError: people.csv, line 3: column 'size' holds 'four'. It must be a finite number: ...
    """

    name: str
    columns: dict[str, np.ndarray]
    lines: Integer[np.ndarray, " n_rows"]
    unit: str = "line"
    notes: tuple[str, ...] = ()
    _floats: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        """How many rows there are, the header not counted."""
        return len(self.lines)

    def place(self, row: int) -> str:
        """Where a row stands, for messages: file and line."""
        return f"{self.name}, {self.unit} {self.lines[row]}"

    def take(self, rows: Integer[np.ndarray, " n_taken"]) -> "Table":
        """Some of the rows, which keep their lines.

        >>> make_table("t.csv", ["a"], [[5, 6, 7]], lines=[2, 3, 4]).take(np.array([2])).place(0)
        't.csv, line 4'
        """
        columns = {column: values[rows] for column, values in self.columns.items()}
        return Table(self.name, columns, self.lines[rows], self.unit, self.notes)

    def strings(self, column: str) -> list[str]:
        """A column of ids, labels or sources as strings; DataError at the first cell that is empty."""
        strings = [spell(value) for value in self.columns[column].tolist()]
        if None in strings:
            row = strings.index(None)
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(self.columns[column][row])}. "
                "Each row needs a name or a number there: fill it in, or leave the row out."
            )
        return strings

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
        """A column as numbers, NaN where there is none; read-only, since it is made once."""
        if column not in self._floats:
            self._floats[column] = as_numbers(self.columns[column])
            self._floats[column].flags.writeable = False
        return self._floats[column]

    def numbers(self, column: str) -> Float[np.ndarray, " n_rows"]:
        """A column of features; DataError at the first cell that is no finite number."""
        numbers = self.floats(column)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(self.columns[column][row])}. "
                "It must be a finite number: fill it in (decimals with a point), or leave the row or column out."
            )
        return numbers


def make_table(
    name: str,
    header: Sequence[str],
    columns: Iterable[Any],
    *,
    lines: Any,
    unit: str = "line",
    notes: tuple[str, ...] = (),
) -> Table:
    """Put a table together; DataError where there are no rows, or two columns of one name.

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
    if len(lines) == 0:
        raise DataError(f"{name}: there are no rows, only the names of columns. Is this the whole file?")
    arrays = [values if isinstance(values, np.ndarray) else objects(values) for values in columns]
    return Table(name, dict(zip(names, arrays, strict=True)), np.asarray(lines, dtype=np.int64), unit, notes)


def objects(values: Sequence[Any]) -> np.ndarray:
    """The values as a one-dimensional object array, also where they are lists.

    >>> objects([[1, 2], [3, 4]]).shape
    (2,)
    """
    return np.fromiter(values, dtype=object, count=len(values))


def as_numbers(values: np.ndarray) -> Float[np.ndarray, " n_rows"]:
    """The values as numbers, NaN where they are none.

    >>> as_numbers(objects(["1.5", "", None, 2]))
    array([1.5, nan, nan, 2. ])
    """
    try:
        return values.astype(np.float64)  # a copy, also of floats
    except (TypeError, ValueError, OverflowError):
        return np.array([_number(value) for value in values.tolist()])


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def quoted(value: Any) -> str:
    """A cell as a message shows it: short, and in words where there is nothing in it.

    >>> quoted(""), quoted("x" * 99)
    ('nothing', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    if value is None or value == "":
        return "nothing"
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
