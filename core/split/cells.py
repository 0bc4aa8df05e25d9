"""Which rows belong together when sources are held out? The cells: one per class and source that occur together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Integer, Shaped

from touchstone.core.data.errors import DataError

Codes = Integer[np.ndarray, " n_samples"]
"""A whole number for each sample: its class, source, unit or fold."""
Ids = Shaped[np.ndarray, " n_samples"]
"""What a class, a source or a unit is called, for each sample."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows by class and source. Classes, sources and cells are numbered in sorted order.

    Examples
    --------
    >>> cells = read_cells(np.array(["cat", "cat", "dog"]), np.array(["ann", "bob", "bob"]))
    >>> cells.of_row, cells.y, cells.source
    (array([0, 1, 2]), array([0, 0, 1]), array([0, 1, 1]))
    """

    of_row: Codes
    y: Integer[np.ndarray, " n_cells"]
    source: Integer[np.ndarray, " n_cells"]
    labels: Shaped[np.ndarray, " n_classes"]
    source_ids: Shaped[np.ndarray, " n_sources"]

    @property
    def sizes(self) -> Integer[np.ndarray, " n_cells"]:
        """Count the rows of each cell.

        Examples
        --------
        >>> read_cells(np.array([0, 0, 1]), np.array([5, 5, 7])).sizes
        array([2, 1])
        """
        return np.bincount(self.of_row, minlength=len(self.y))

    @property
    def shared(self) -> bool:
        """Say whether any source occurs in more than one class.

        Examples
        --------
        >>> read_cells(np.array([0, 1]), np.array(["ann", "ann"])).shared
        True
        """
        return len(self.y) > len(self.source_ids)

    def table(self) -> Integer[np.ndarray, "n_sources n_classes"]:
        """Count the rows of each source (row) in each class (column).

        Examples
        --------
        >>> read_cells(np.array([0, 1, 1]), np.array(["ann", "ann", "bob"])).table()
        array([[1, 1],
               [0, 1]])
        """
        table = np.zeros((len(self.source_ids), len(self.labels)), dtype=np.int64)
        table[self.source, self.y] = self.sizes
        return table


def read_cells(y: Shaped[np.ndarray, " n_labels"], groups: Shaped[np.ndarray, " n_groups"] | None) -> Cells:
    """Number the classes, sources and cells of the rows; labels and source ids may be numbers or strings.

    Raises
    ------
    DataError
        Without sources, where the lengths differ, or where a label or source is missing.
    """
    if groups is None:
        raise DataError("This scheme needs the source of every sample (groups=...), and there are none.")
    if len(y) != len(groups):
        raise DataError(f"There are {len(y)} labels and {len(groups)} sources: every sample needs one of each.")
    y_code, labels = number(y, "label")
    source_code, source_ids = number(groups, "source")
    cells, of_row = np.unique(y_code * len(source_ids) + source_code, return_inverse=True)
    return Cells(of_row, cells // len(source_ids), cells % len(source_ids), labels, source_ids)


def number(values: Ids, what: str) -> tuple[Codes, Shaped[np.ndarray, " n_distinct"]]:
    """Number the distinct values in sorted order; missing ones are refused.

    Examples
    --------
    >>> number(np.array(["b", "a", "b"]), "label")
    (array([1, 0, 1]), array(['a', 'b'], dtype='<U1'))
    """
    if len(values) == 0:
        raise DataError(f"There is not a single {what}: a split needs samples.")
    codes, distinct = pd.factorize(values, sort=True)
    if (codes < 0).any():
        raise DataError(f"The {what} of sample {int(np.argmin(codes))} (counted from 0) is missing.")
    return codes, np.asarray(distinct)
