"""What is each class predicted as? A confusion matrix whose cells can be clicked."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.confusion_matrix import Cell, ConfusionMatrix
from touchstone.core.evaluate.wording import count, percent, quoted
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import as_name, escape, new_figure, theme

MOST_CLASSES = 30
"""A matrix of more classes cannot be read: the largest confusions are listed instead."""
MOST_NUMBERS = 12


def confusion_chart(
    matrix: ConfusionMatrix,
    of: str,
    *,
    rows: Mapping[tuple[int, int], Sequence[int]] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Which share of each class, a row each, was predicted as which; `of` says whose matrix it is.

    A click tells both classes of a cell, or the `rows` that are in it.
    """
    look, names, n, cells = theme(dark), matrix.class_names, len(matrix.class_names), matrix.cells
    share = np.array([[100 * cells[i, j].share if (i, j) in cells else 0.0 for j in range(n)] for i in range(n)])
    alt = [f"Confusion matrix of {of}."]
    if matrix.mistakes:
        most = max(matrix.mistakes, key=lambda at: cells[at].share)
        wrongly = f"{quoted(names[most[0]])} predicted as {quoted(names[most[1]])}"
        alt.append(f"Largest: {percent(cells[most].share)} of {wrongly}.")
    few = n <= MOST_NUMBERS
    figure = new_figure(look, "Predicted", "True class", height=max(260, 130 + (46 if few else 22) * n), alt=alt)
    shown = [escape(as_name(name)) for name in names]
    hover = [[_hover(shown[i], shown[j], cells.get((i, j))) for j in range(n)] for i in range(n)]
    written = [[f"{value:.1f}" if few and value > 0 else "" for value in row] for row in share]
    bar = draw.colour_bar(look, "of the class (%)", figure, 200)
    draw.heat(figure, share, look.rising, hover, written, zmin=0.0, zmax=100.0, xgap=1, ygap=1, colorbar=bar)
    places = [(i, j) for i, j in np.ndindex(n, n) if rows is None or (i, j) in rows]
    tells = [(names[i], names[j]) if rows is None else rows[i, j] for i, j in places]
    at = np.array(places, dtype=np.int64).reshape(-1, 2)[:, ::-1]
    draw.clickable(figure, at, tells, [hover[i][j] for i, j in places])
    draw.name_axis(figure, names)
    draw.name_axis(figure, names, axis="x")
    return figure


def _hover(truth: str, predicted: str, cell: Cell | None) -> str:
    """How many of the class, and which share with its interval; of a cell without a sample that alone."""
    if cell is None:
        return f"{truth} predicted as {predicted}: none"
    numbers = f"{truth} predicted as {predicted}: {count(cell.n_predicted)} of {count(cell.n)}"
    return f"{numbers}<br>{percent(cell.share, cell.interval)}" if cell.n else numbers
