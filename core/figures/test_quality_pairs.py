"""Which boundaries are tested, and how do two classes lie to one another? (Mani et al. 2019, (4) and figure 1)"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Integer

from touchstone.core.evaluate.test_quality import Finding, PairMap, PairShares
from touchstone.core.evaluate.test_quality.missed import Missed
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.figures.theme import (
    Theme,
    as_name,
    escape,
    faded,
    interval_bars,
    name_axis,
    new_figure,
    scale,
    theme,
)

MOST_NUMBERS = 12
"""Of more classes, cells hold no numbers: hovering tells them, and the table beside."""
_SIGNS = {"over": "+", "under": "−"}


def pair_chart(pairs: PairShares, findings: Sequence[Finding] = (), *, dark: bool = False) -> go.Figure:
    """PBC as a heat map, a row for each class, a column for each rival; the confused stand side by side.

    A cell without a sample is empty. By `findings`, + and − mark pairs with more or fewer samples than a random split
    that has as many of the class at its boundary.
    """
    look, order, n = theme(dark), pairs.order(), pairs.n_classes
    names = [pairs.class_names[code] for code in order]
    top = pairs.table(most=1).iloc[0]
    alt = (
        f"{count(pairs.n_met)} of {count(n * (n - 1))} ordered pairs of classes have a test sample at their boundary; "
        f"most often {top['label']} with {top['rival']}, {percent(float(top['value']))} of the class."
    )
    size = 44 if n <= MOST_NUMBERS else 22 if n <= 40 else 9
    figure = new_figure(look, x_title="Rival", y_title="Class", height=max(300, 130 + size * n), alt=alt)
    share = 100 * pairs.value[np.ix_(order, order)]
    n_in = pairs.n_in[np.ix_(order, order)]
    sign = _signs(pairs, order, findings)
    figure.add_heatmap(
        z=np.where(n_in > 0, share, np.nan),
        zmin=0.0,
        zmax=float(np.nanmax(share, initial=1.0)),
        colorscale=scale(look.sequential if dark else look.sequential[::-1]),
        text=_cells(share, n_in, sign, n),
        texttemplate="%{text}",
        textfont={"size": 12 if n <= MOST_NUMBERS else 10},
        customdata=_hover(pairs, order),
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=True,
        xgap=1 if n <= 40 else 0.3,
        ygap=1 if n <= 40 else 0.3,
        colorbar={
            "title": {"text": "of the class (%)", "font": {"size": 12, "color": look.grey}},
            "tickfont": {"size": 12},
            "thickness": 10,
            "len": min(1.0, 300 / figure.layout.height),
            "y": 1,
            "yanchor": "top",
            "outlinewidth": 0,
        },
    )
    name_axis(figure, names)
    name_axis(figure, names, axis="x")
    font = {"size": 12 if n <= 40 else 8}
    straight = {"tickangle": -90, "ticktext": [escape(as_name(name)) for name in names]} if n > MOST_NUMBERS else {}
    figure.update_layout(xaxis={"tickfont": font, **straight}, yaxis={"tickfont": font})
    return figure


def _signs(pairs: PairShares, order: Integer[np.ndarray, " n"], findings: Sequence[Finding]) -> np.ndarray:
    marked = {(finding.label, finding.rival): _SIGNS[finding.direction] for finding in findings if finding.rival}
    names = pairs.class_names
    return np.array([[marked.get((names[i], names[j]), "") for j in order] for i in order], dtype=object)


def _cells(share: np.ndarray, n_in: np.ndarray, sign: np.ndarray, n: int) -> list[list[str]]:
    """What stands in each cell: its share where there is room, and its sign."""
    if n > MOST_NUMBERS:
        return sign.tolist()
    return [
        [f"{value:.1f}{mark}" if k else mark for value, k, mark in zip(*row, strict=True)]
        for row in zip(share, n_in, sign, strict=True)
    ]


def _hover(pairs: PairShares, order: Integer[np.ndarray, " n"]) -> list[list[str]]:
    names = [escape(as_name(name)) for name in pairs.class_names]
    return [
        [
            "the class itself"
            if i == j
            else f"{names[i]} with {names[j]}: {count(int(pairs.n_in[i, j]))} of {plural(int(pairs.n[i]), 'sample')}"
            + (
                f"<br>a random split with as many at the boundary: {percent(float(pairs.split[i, j]))}"
                if not np.isnan(pairs.split[i, j])
                else ""
            )
            for j in order
        ]
        for i in order
    ]


def pair_map_chart(
    pair_map: PairMap, positions: Integer[np.ndarray, " n"], *, selected: Sequence[int] = (), dark: bool = False
) -> go.Figure:
    """Two classes in a plane (figure 1): samples, centroids, centroid regions as circles, the boundary as a line.

    Filled marks lie in their centroid region, ringed ones at a boundary. `customdata` holds each sample's position in
    its data set, which `positions` gives in the order of the map's points; those `selected` stand out.
    """
    look = theme(dark)
    n_centre, n_edge = int(pair_map.in_centroid.sum()), int(pair_map.in_boundary.sum())
    alt = (
        f"{pair_map.labels[0]} and {pair_map.labels[1]} in a plane: {plural(len(pair_map.rows), 'test sample')}, "
        f"{count(n_centre)} in a centroid region, {count(n_edge)} at a boundary; "
        f"the plane keeps {percent(pair_map.kept_variance)} of the variance."
    )
    title = f"Along the line from {escape(pair_map.labels[0])} (0) to {escape(pair_map.labels[1])} (1)"
    figure = new_figure(look, x_title=title, y_title="Across", height=540, alt=alt)
    colours = (look.inclusive, look.exclusive)
    _sides(figure, pair_map, look, colours)
    for code, symbol in enumerate(("circle", "diamond")):
        _samples(figure, pair_map, positions, code, symbol, colours[code], selected)
    edge = pair_map.points[pair_map.in_boundary]
    figure.add_scatter(
        x=edge[:, 0],
        y=edge[:, 1],
        mode="markers",
        name=f"at a boundary, n = {count(n_edge)}",
        marker={"symbol": "circle-open", "size": 13, "color": look.ink, "line": {"width": 1.3}},
        hoverinfo="skip",
    )
    for (x, y), radius, colour in zip(pair_map.centroids, pair_map.radii, colours, strict=True):
        ends = {"x0": x - radius, "x1": x + radius, "y0": y - radius, "y1": y + radius}
        figure.add_shape(type="circle", line={"color": colour, "width": 1.6, "dash": "dash"}, **ends)
    figure.add_scatter(
        x=pair_map.centroids[:, 0],
        y=pair_map.centroids[:, 1],
        mode="markers",
        name="centroids (training set)",
        marker={"symbol": "cross", "size": 13, "color": colours, "line": {"width": 1.5, "color": look.paper}},
        text=[f"centroid of {escape(as_name(name))}" for name in pair_map.labels],
        hovertemplate="%{text}<extra></extra>",
    )
    bare = {"showgrid": False}
    span = [[float(grid[0]), float(grid[-1])] for grid in (pair_map.grid_x, pair_map.grid_y)]
    figure.update_layout(
        dragmode="lasso",
        xaxis={**bare, "range": span[0]},
        yaxis={**bare, "range": span[1], "scaleanchor": "x"},
        legend={"y": 1.02, "yref": "paper", "yanchor": "bottom"},
    )
    return figure


def _sides(figure: go.Figure, pair_map: PairMap, look: Theme, colours: tuple[str, str]) -> None:
    """What the head says within the plane: either class's side in its colour, and the line where both are alike."""
    if pair_map.grid is None:
        return
    tints = [[0.0, faded(colours[0], 0.16)], [0.5, faded(look.paper, 0.0)], [1.0, faded(colours[1], 0.16)]]
    at = {"x": pair_map.grid_x, "y": pair_map.grid_y, "z": pair_map.grid, "hoverinfo": "skip", "showscale": False}
    figure.add_heatmap(**at, zmin=0.0, zmax=1.0, colorscale=tints, zsmooth="best")
    if pair_map.grid.min() < 0.5 < pair_map.grid.max():
        figure.add_contour(
            **at,
            contours={"start": 0.5, "end": 0.5, "size": 1, "coloring": "none"},
            line={"color": look.ink, "width": 1.6},
            name="boundary in this plane",
            showlegend=True,
        )


def _samples(
    figure: go.Figure,
    pair_map: PairMap,
    positions: np.ndarray,
    code: int,
    symbol: str,
    colour: str,
    selected: Sequence[int],
) -> None:
    """The samples of one class: filled in its centroid region, hollow elsewhere."""
    many = len(pair_map.rows) > 1500
    for inside, where in ((True, "in its centroid region"), (False, "outside")):
        mine = np.flatnonzero((pair_map.y == code) & (pair_map.in_centroid == inside))
        rows = positions[mine].astype(np.int32)
        name = f"{escape(pair_map.labels[code])}, {where}, n = {count(len(mine))}"
        kind = go.Scattergl if many else go.Scatter
        figure.add_trace(
            kind(
                x=pair_map.points[mine, 0].astype(np.float32),
                y=pair_map.points[mine, 1].astype(np.float32),
                customdata=rows,
                mode="markers",
                name=name,
                marker={
                    "symbol": symbol if inside else f"{symbol}-open",
                    "size": 6,
                    "color": colour,
                    "opacity": 0.75,
                    "line": {"width": 1.2},
                },
                selectedpoints=np.flatnonzero(np.isin(rows, selected)) if len(selected) else None,
                unselected={"marker": {"opacity": 0.12}},
                hovertemplate=f"{name}<extra></extra>",
            )
        )


# Which error rate of each class can the test set not rule out? The errors seen, and how far above they may be.


def missed_chart(missed: Missed, *, dark: bool = False) -> go.Figure:
    """Every class, the least known on top: the share that is wrong, and a bar up to what cannot be ruled out."""
    look, bounds = theme(dark), missed.classes
    order = np.argsort(-bounds.unseen, kind="stable")
    names = [missed.class_names[code] for code in order]
    rate, upper = bounds.rate[order], bounds.together[order]
    alt = (
        f"Error rates of {plural(len(names), 'class', 'classes')} that the test set cannot rule out. Least known: "
        f"{names[0]}, up to {percent(float(upper[0]))}."
    )
    height = 90 + 24 * max(len(names), 3)
    figure = new_figure(look, x_title="Error rate (%)", height=height, alt=alt)
    at = np.arange(len(order), dtype=np.float64)
    bar = faded(look.exclusive, 0.35)
    figure.add_trace(interval_bars(at, 100 * rate, 100 * upper, colour=bar, width=12.0, name="cannot be ruled out"))
    figure.add_scatter(
        x=100 * rate,
        y=at,
        mode="markers",
        name="test samples that are wrong",
        marker={"symbol": "circle", "size": 8, "color": look.exclusive},
        text=[
            f"{count(int(bounds.n_wrong[code]))} of {count(int(bounds.n[code]))} wrong; up to {percent(float(end))} "
            "cannot be ruled out"
            for code, end in zip(order, upper, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
    )
    name_axis(figure, names)
    figure.update_xaxes(rangemode="tozero", tickformat=".0f")
    return figure
