"""What is each class predicted as? The cells of a confusion matrix: shares of a class, with intervals over units."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
from jaxtyping import Integer

from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.units import EACH_SAMPLE, Design


@dataclass(frozen=True)
class Cell:
    """Of `n` samples of a class on one set, how many were predicted as one: their share and its interval over units."""

    n_predicted: int
    n: int
    interval: Interval

    @property
    def share(self) -> float:
        """NaN where the set has no sample of the class."""
        return self.n_predicted / self.n if self.n else nan


@dataclass(frozen=True)
class ConfusionMatrix:
    """Cells by the places of the true and the predicted class; one that is not there holds no sample."""

    class_names: tuple[str, ...]
    cells: Mapping[tuple[int, int], Cell]

    @property
    def n(self) -> int:
        """How many samples it is of."""
        return sum(cell.n_predicted for cell in self.cells.values())

    @property
    def mistakes(self) -> list[tuple[int, int]]:
        """The cells beside the diagonal that hold a sample, the largest first."""
        wrong = [at for at, cell in self.cells.items() if at[0] != at[1] and cell.n_predicted]
        return sorted(wrong, key=lambda at: -self.cells[at].n_predicted)


def confusion_matrix(
    y_true: Integer[np.ndarray, " n"],
    y_pred: Integer[np.ndarray, " n"],
    class_names: tuple[str, ...],
    design: Design = EACH_SAMPLE,
    *,
    also: Collection[tuple[int, int]] = (),
) -> ConfusionMatrix:
    """Every cell that holds a sample, and those of `also`; the labels are codes into `class_names`.

    Examples
    --------
    >>> matrix = confusion_matrix(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ("ham", "spam"))
    >>> matrix.mistakes, matrix.cells[0, 1].n_predicted, matrix.cells[0, 1].n
    ([(0, 1)], 1, 3)
    """
    n = len(class_names)
    there = sorted({divmod(pair, n) for pair in np.unique(y_true * n + y_pred).tolist()} | {*also})
    rows_of = {i: np.flatnonzero(y_true == i) for i, _ in there}
    designs = {i: design.of(rows) for i, rows in rows_of.items()}
    return ConfusionMatrix(class_names, {(i, j): _cell(y_pred[rows_of[i]] == j, designs[i]) for i, j in there})


def _cell(marked: np.ndarray, design: Design) -> Cell:
    known = len(marked) > 0 and design.enough
    return Cell(int(marked.sum()), len(marked), design.wilson(marked) if known else UNKNOWN)
