"""What is each class predicted as? A confusion matrix whose cells can be clicked."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.confusion_matrix import Cell, ConfusionMatrix
from touchstone.core.evaluate.wording import count, percent, quoted
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import as_name, escape, inks_on, new_figure, theme

MOST_CLASSES = 30
"""A matrix of more classes cannot be read: the largest confusions are listed instead."""
MOST_NUMBERS = 12
"""Of more classes cells are too small for numbers, and columns for names: they are in the order of the rows."""
FEW = 4
"""Of more classes numbers are whole, and names short, so that both have room on a phone."""
LONGEST = 14
"""Letters of a short name."""


def confusion_chart(
    matrix: ConfusionMatrix,
    of: str,
    *,
    rows: Mapping[tuple[int, int], Sequence[int]] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Which share of each class, a row each, was predicted as which; `of` says whose matrix it is.

    A click tells both classes of a cell, or the `rows` that are in it. Cells without a sample are left blank.
    """
    look, names, n, cells = theme(dark), matrix.class_names, len(matrix.class_names), matrix.cells
    share = np.full((n, n), np.nan)
    for at, cell in cells.items():
        share[at] = 100 * cell.share if cell.n_predicted else np.nan
    alt = [f"Confusion matrix of {of}."]
    if matrix.mistakes:
        most = max(matrix.mistakes, key=lambda at: cells[at].share)
        wrongly = f"{quoted(names[most[0]])} predicted as {quoted(names[most[1]])}"
        alt.append(f"Largest: {percent(cells[most].share)} of {wrongly}.")
    few, row = n <= MOST_NUMBERS, 60 if n <= FEW else 32 if n <= MOST_NUMBERS else 15
    x_title = "Predicted" if few else "Predicted, in the order of the rows"
    figure = new_figure(look, x_title, "True class", height=130 + row * n, alt=alt)
    shown = [escape(as_name(name)) for name in names]
    hover = [[_hover(shown[i], shown[j], cells.get((i, j))) for j in range(n)] for i in range(n)]
    bar = draw.colour_bar(look, "of the class (%)") | {"orientation": "h", "y": 1, "yanchor": "bottom", "thickness": 8}
    draw.heat(figure, share, look.rising, hover, zmin=0.0, zmax=100.0, showscale=not few, colorbar=bar)
    if few:
        places = np.argwhere(~np.isnan(share))
        values = share[places[:, 0], places[:, 1]]
        texts = [f"{value:.1f}" if n <= FEW else _whole(value) for value in values]
        size, inks = 13 if n <= FEW else 11, inks_on(look.rising, values / 100)
        draw.numbers(figure, places[:, ::-1], texts, inks, size=size)
    places = [*np.ndindex(n, n)]
    tells = [(names[i], names[j]) if rows is None else rows.get((i, j), ()) for i, j in places]
    draw.clickable(figure, np.array(places)[:, ::-1], tells, [hover[i][j] for i, j in places])
    short = [name if n <= FEW else _short(name) for name in names]
    draw.name_axis(figure, short)
    draw.name_axis(figure, short, axis="x")
    if not few:
        figure.update_xaxes(ticktext=["&nbsp;"] * n)  # without any the title is drawn over the last row
        figure.update_yaxes(tickfont_size=10)
    return figure.update_layout(hoverdistance=100, plot_bgcolor=look.line)


def _whole(value: float) -> str:
    """A share in whole percent; 0 and 100 are exact.

    >>> _whole(0.2), _whole(12.5), _whole(99.9), _whole(100.0)
    ('<1', '12', '99', '100')
    """
    return "<1" if value < 0.5 else f"{min(round(value), 99) if value < 100 else 100}"


def _short(name: str) -> str:
    """A long name by its beginning and its end, where names like to differ.

    >>> _short("a rather long class name 7"), _short("cat")
    ('a rathe…name 7', 'cat')
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-(LONGEST // 2 - 1) :]}"


def _hover(truth: str, predicted: str, cell: Cell | None) -> str:
    """How many of the class, and which share with its interval; of a cell without a sample that alone."""
    if cell is None:
        return f"{truth} predicted as {predicted}: none"
    numbers = f"{truth} predicted as {predicted}: {count(cell.n_predicted)} of {count(cell.n)}"
    return f"{numbers}<br>{percent(cell.share, cell.interval)}" if cell.n else numbers
