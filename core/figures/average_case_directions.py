"""Which kind of change breaks which class? Classes by named directions, all of the same strength."""

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.wording import count, percent, quoted
from touchstone.core.figures.theme import as_name, escape, name_axis, new_figure, scale, theme

MOST_DIRECTIONS = 12
"""Of more directions (columns of a table) those that break predictions most."""
MOST_NUMBERS = 20


def direction_chart(found: Robustness, sigma: float, *, dark: bool = False) -> go.Figure:
    """The share that keeps its prediction along each direction, by class: a heat map, the least robust at the top left.

    Directions stand by their mean over classes, and so do classes over directions.
    """
    look, names = theme(dark), found.class_names
    means = found.directions_at(sigma)
    codes = [code for code in range(len(names)) if any(of[code].n for of in means.values())]
    shares = np.array([[of[code].value for of in means.values()] for code in codes])
    across = np.argsort(shares.mean(axis=0), kind="stable")[:MOST_DIRECTIONS]
    down = np.argsort(shares.mean(axis=1), kind="stable")
    titles = [list(means)[place] for place in across]
    rows = [codes[place] for place in down]
    cells = [[means[title][code] for title in titles] for code in rows]
    n = sum(of.n for of in next(iter(means.values())))
    least = min(((of.value, title, code) for title, all_ in means.items() for code, of in enumerate(all_) if of.n))
    alt = (
        f"Share that keeps the prediction by class and direction at sigma {sigma:g}, n = {count(n)}. Lowest: "
        f"{quoted(names[least[2]])}, {least[1]}, {percent(least[0])}."
    )
    figure = new_figure(look, x_title="Direction", y_title="Class", height=max(220, 130 + 34 * len(rows)), alt=alt)
    shown = np.array([[100 * of.value for of in row] for row in cells])
    figure.add_heatmap(
        z=shown,
        zmin=float(shown.min()),
        zmax=100.0,
        colorscale=scale(look.sequential if dark else look.sequential[::-1]),
        text=[[f"{value:.0f}" if len(rows) <= MOST_NUMBERS else "" for value in row] for row in shown],
        texttemplate="%{text}",
        customdata=[
            [
                f"{escape(as_name(names[code]))}, {escape(title)}: {percent(of.value, of.interval)}, n = {count(of.n)}"
                for title, of in zip(titles, row, strict=True)
            ]
            for code, row in zip(rows, cells, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": "unchanged (%)", "font": {"size": 12, "color": look.grey}},
            "tickfont": {"size": 12},
            "thickness": 10,
            "outlinewidth": 0,
        },
    )
    name_axis(figure, [names[code] for code in rows])
    name_axis(figure, titles, axis="x")
    return figure
