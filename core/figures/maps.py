"""Where do samples lie? A map of two dimensions, coloured by class, source or fold; made for 100,000 points."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Integer

from touchstone.core.evaluate.wording import count, listed, plural
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import as_name, escape, new_figure, theme

MOST_COLOURS = 10
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x", "triangle-down", "pentagon", "star", "hexagon")
OTHERS = "others"
MOST_IN_ONE_LAYER = 2000
N_LAYERS = 4
"""Of more points, each group is drawn in so many parts that take turns, so that no group covers all others."""


def map_chart(
    points: Float[np.ndarray, "n_samples 2"],
    groups: Integer[np.ndarray, " n_samples"],
    names: Sequence[str],
    *,
    coloured: Sequence[int] | None = None,
    selected: Sequence[int] = (),
    axes: tuple[str, str] = ("", ""),
    height: int = 400,
    dark: bool = False,
) -> go.Figure:
    """Every sample as a dot in the colour and shape of its group; a lasso drawn over them selects.

    `groups` are codes into `names`, −1 for a sample of no group. Ten groups have a colour: those in `coloured`, by
    default the largest; the rest is grey. `customdata` holds the position of each sample in the data set, as do the
    points of a selection; those `selected` stand out from the start. `axes` name the axes; maps without meaning along
    them (UMAP) have none.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
    >>> figure = map_chart(points, np.array([1, 0, 1]), ("plum", "melon"))
    >>> [(trace.name, trace.customdata.tolist()) for trace in figure.data]
    [('plum', [1]), ('melon', [0, 2])]
    """
    look = theme(dark)
    largest = _coloured(groups, len(names), coloured)
    alt = f"Map of {plural(len(points), 'sample')}, coloured by {listed([names[code] for code in largest])}."
    figure = new_figure(look, axes[0], axes[1] or None, height=height, alt=alt)
    size = 7 if len(points) <= 2000 else 5 if len(points) <= 20_000 else 3
    rest = np.flatnonzero(~np.isin(groups, largest))
    parts = [(OTHERS, rest, look.faint, "circle")] if len(rest) else []
    for place, code in enumerate(largest):
        parts.append((names[code], np.flatnonzero(groups == code), look.colours[place], SYMBOLS[place]))
    n_layers = 1 if len(points) <= MOST_IN_ONE_LAYER else N_LAYERS
    layered = [(layer, part) for layer in range(n_layers) for part in parts]
    for layer, (name, every, colour, symbol) in layered:
        rows = every[layer::n_layers]
        marker = {"size": size, "color": colour, "symbol": symbol, "opacity": 0.75, "line": {"width": 0}}
        shown, group = escape(as_name(name)), {"legendgroup": escape(as_name(name)), "showlegend": layer == 0}
        hover = f"{shown}, n = {count(len(every))}"
        draw.cloud(figure, points[rows], rows, marker, shown, hover, selected=selected, **group)
    return draw.as_map(figure)


def _coloured(groups: np.ndarray, n_names: int, coloured: Sequence[int] | None) -> list[int]:
    if coloured:
        return list(coloured[:MOST_COLOURS])
    sizes = np.bincount(groups[groups >= 0], minlength=n_names)
    largest = np.argsort(-sizes, kind="stable")[:MOST_COLOURS]
    return sorted(int(code) for code in largest)
