"""What is in the columns of a table? How many values, how spread, and which value is the most frequent."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import nan

import numpy as np
import pandas as pd
from jaxtyping import Float

from touchstone.core.evaluate.data_sets.numbers import summarise


@dataclass(frozen=True)
class ColumnSummary:
    """A column: `n` values are there, `n_missing` are not (NaN); the rest is NaN where none is there.

    `std` divides by n − 1. `most_frequent` is the smallest of the values that occur most often, `n_most_frequent` how
    often; `constant` says that there is at most one value, so that the column tells nothing apart.
    """

    name: str
    n: int
    n_missing: int
    n_distinct: int
    mean: float
    std: float
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    most_frequent: float
    n_most_frequent: int

    @property
    def constant(self) -> bool:
        """Whether there is at most one value."""
        return self.n_distinct <= 1


@dataclass(frozen=True)
class ColumnSummaries:
    """All columns of a table in their order."""

    rows: tuple[ColumnSummary, ...]

    @property
    def constant(self) -> tuple[str, ...]:
        """The names of the columns that tell nothing apart."""
        return tuple(row.name for row in self.rows if row.constant)

    def table(self) -> pd.DataFrame:
        """One row per column: the fields of `ColumnSummary`."""
        return pd.DataFrame([asdict(row) for row in self.rows])


def column_summaries(x: Float[np.ndarray, "n_samples n_features"], names: Sequence[str]) -> ColumnSummaries:
    """Summarise every column of a table of numbers.

    Examples
    --------
    >>> [row] = column_summaries(np.array([[1.0], [2.0], [2.0], [np.nan]]), ["size"]).rows
    >>> row.n, row.n_missing, row.most_frequent, row.n_most_frequent, row.constant
    (3, 1, 2.0, 2, False)
    """
    return ColumnSummaries(tuple(_summary(x[:, at], name) for at, name in enumerate(names)))


def _summary(column: np.ndarray, name: str) -> ColumnSummary:
    there = column[~np.isnan(column)]
    n_missing = len(column) - len(there)
    if len(there) == 0:
        return ColumnSummary(name, 0, n_missing, 0, nan, nan, nan, nan, nan, nan, nan, nan, 0)
    values, counts = np.unique(there, return_counts=True)
    whole, mode = summarise(there), int(counts.argmax())
    return ColumnSummary(
        name, len(there), n_missing, len(values),
        whole.mean, whole.std, whole.minimum, whole.lower_quartile, whole.median, whole.upper_quartile, whole.maximum,
        float(values[mode]), int(counts[mode]),
    )  # fmt: skip
