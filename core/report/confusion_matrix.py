"""What is each class predicted as? The matrix as a figure; of many classes its largest confusions as a table."""

from functools import partial

from touchstone.core.evaluate.confusion_matrix import Cell, ConfusionMatrix
from touchstone.core.evaluate.wording import count, percent
from touchstone.core.figures.confusion_matrix import MOST_CLASSES, confusion_chart
from touchstone.core.report.parts import Column, Figure, Table

MOST_CONFUSIONS = 20


def matrix_part(matrix: ConfusionMatrix, of: str) -> Figure | Table:
    """The matrix of `of`, such as "the test set"."""
    n = f"{of}, n = {count(matrix.n)}"
    if len(matrix.class_names) <= MOST_CLASSES:
        draw = partial(confusion_chart, matrix, of)
        return Figure("confusion", draw, f"What each true class was predicted as (%), {n}.")
    shown = matrix.mistakes[:MOST_CONFUSIONS]
    columns = (
        Column("Class", lambda at: matrix.class_names[at[0]]),
        Column("Predicted as", lambda at: matrix.class_names[at[1]]),
        Column("Samples", lambda at: matrix.cells[at].n_predicted, decimals=0),
        Column("In class", lambda at: matrix.cells[at].n, "Samples of the class", 0),
        Column("Share (%)", lambda at: share_of(matrix.cells[at]), "Of the class, with its 95 % CI"),
    )
    caption = f"The {count(len(shown))} largest of {count(len(matrix.mistakes))} confusions of {n}."
    return Table.of("Largest confusions", shown, columns, caption)


def share_of(cell: Cell) -> str:
    """In percent, with its interval; nothing of no samples."""
    return percent(cell.share, cell.interval).replace(" %", "") if cell.n else ""
