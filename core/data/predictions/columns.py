"""What is in the columns of a file of predictions, and which roles were they given so far?"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float

from core.data.errors import DataError
from core.data.predictions.roles import Roles
from core.data.tables.column_names import PREDICTED_LIKELY, TRUTH_LIKELY, called, compact
from core.data.tables.roles import sample
from core.data.tables.scores import numbers_in, probabilities
from core.data.tables.spelling import spell
from core.data.tables.table import Table, as_numbers

Kind = Literal["scores", "several", "fraction", "number", "whole", "words"]
Half = Literal["truth", "predictions"]
BY_NAME = "by its name"
BY_VALUES = "by its values"
LIKELY = "likely, by its name and what else is there"
_MOST_CLASSES = 1000
_ODD_NUMBER = re.compile(r"\s*\d*(?:,\d+|[.,]?\d*\s*%)\s*", re.ASCII)


class Draft:
    """The columns of a table, and the roles that they were given so far; `half` says what one of two files holds.

    >>> from core.data.tables import make_table
    >>> draft = Draft(make_table("t.tsv", ["id", "gold"], [["a", "b", "c"], ["x", "y", "x"]], lines=[2, 3, 4]))
    >>> draft.is_unique("id"), draft.is_label("gold"), draft.free
    (True, True, ['id', 'gold'])
    >>> draft.take(BY_NAME, truth="gold")
    >>> draft.roles.truth, draft.free
    ('gold', ['id'])
    """

    def __init__(self, table: Table, half: Half | None = None, roles: Roles | None = None):
        self.table, self.half = table, half
        self.roles = roles or Roles()
        self.names_prediction = ""  # the column that could be the truth, but says what the prediction says
        self._kinds: dict[str, Kind] = {}
        self._spelled: dict[str, list[str | None]] = {}

    def kind(self, column: str) -> Kind:
        """What is in the cells of a column."""
        if column not in self._kinds:
            self._kinds[column] = self._kind_of(self.table.columns[column])
        return self._kinds[column]

    def _kind_of(self, values: np.ndarray) -> Kind:
        seen = sample(values)
        if values.dtype == object:
            cells = [cell for cell in seen.tolist() if cell is not None and cell != ""]
            parsed = [numbers_in(cell) for cell in cells]
            if cells and sum(cell is not None for cell in parsed) > len(cells) / 2:
                flat = [number for cell in parsed if isinstance(cell, list) for number in cell]
                return "several" if flat and all(number in (0, 1) for number in flat) else "scores"
            if any(isinstance(cell, (list, dict, np.ndarray)) for cell in cells) or _bracketed(cells):
                return "several"
        numbers = as_numbers(seen)
        finite = numbers[np.isfinite(numbers)]
        if len(finite) <= len(numbers) / 2:
            return "words"
        if (finite == np.round(finite)).all():
            return "whole"
        return "fraction" if ((finite >= 0) & (finite <= 1)).mean() > 0.5 else "number"

    def has_numbers(self, column: str) -> bool:
        """Whether there is any number: then whatever is none shall be an error, not a column that goes unnoticed.

        So shall numbers that are written in a way that cannot be read, such as 0,93 or 93 %.
        """
        seen = sample(self.table.columns[column])
        odd = any(isinstance(cell, str) and _ODD_NUMBER.fullmatch(cell) for cell in seen.tolist())
        return odd or bool(np.isfinite(as_numbers(seen)).any())

    def spelled(self, column: str) -> list[str | None]:
        """The cells as strings, None where there is none."""
        if column not in self._spelled:
            self._spelled[column] = [spell(value) for value in self.table.columns[column].tolist()]
        return self._spelled[column]

    def is_label(self, column: str) -> bool:
        """Whether a column could hold labels: words or whole numbers, of which there are few different ones."""
        if self.kind(column) not in ("words", "whole"):
            return False
        n_different = len(set(self.spelled(column)))
        return n_different <= max(2, min(_MOST_CLASSES, self.table.n_rows / 2))

    def is_unique(self, column: str) -> bool:
        """Whether no value occurs twice."""
        return len(set(self.spelled(column))) == self.table.n_rows

    @property
    def free(self) -> list[str]:
        """The columns that have no role yet."""
        taken = set(self.roles.columns)
        return [column for column in self.table.columns if column not in taken]

    def take(self, why: str, **roles: str | None) -> None:
        """Give roles, for one reason."""
        self.roles = replace(self.roles, **roles).because(**dict.fromkeys(roles, why))

    @cached_property
    def labels(self) -> set[str]:
        """The labels in the columns that could hold some."""
        known = [column for column in (self.roles.truth, self.roles.predicted) if column is not None]
        likely = [column for column in called(self.free, (*TRUTH_LIKELY, *PREDICTED_LIKELY)) if self.is_label(column)]
        return {value for column in (*known, *likely) for value in self.spelled(column) if value is not None}

    @property
    def folded_labels(self) -> set[str]:
        """The labels, compact."""
        return {compact(label) for label in self.labels}

    def matrix(self, columns: Iterable[str]) -> Float[np.ndarray, "n_rows n_columns"]:
        """Columns side by side as numbers, NaN where there is none."""
        return np.column_stack([self.table.floats(column) for column in columns])

    def sum_to_one(self, columns: Sequence[str]) -> bool:
        """Whether the columns hold probabilities, which sum to 1 in every row."""
        matrix = self.matrix(columns)
        with suppress(DataError):
            probabilities(matrix, place=str, kind="probabilities")
            return True
        return False


def _bracketed(cells: list) -> bool:
    """Whether most cells are printed lists."""
    return len(cells) > 0 and sum(isinstance(c, str) and c[:1] == "[" and c[-1:] == "]" for c in cells) > len(cells) / 2
