"""Does the test set cover the feature space, and has it moved? Classes, models, thresholds, pairs (Mani et al. 2019)

Figures 1, 3, 4 and 5, (4) and section 5.2. The test set is orange, the training set blue, and what a random split of
both gives is grey.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Integer

from touchstone.core.evaluate.covariate_shift import ClassShift, CovariateShift
from touchstone.core.evaluate.test_quality.missed import Missed, PairMap, PairShares
from touchstone.core.evaluate.test_quality.quality import Curve, TestQuality
from touchstone.core.evaluate.test_quality.regions import Regions, Shares
from touchstone.core.evaluate.test_quality.verdict import Finding
from touchstone.core.evaluate.wording import bare, count, fixed, listed, p_value, percent, plural
from touchstone.core.figures import marks as draw
from touchstone.core.figures.marks import Style
from touchstone.core.figures.theme import Theme, as_name, escape, faded, new_figure, theme

TITLES = {
    "equivalence partitioning": "Times the fair share",
    "centroid positioning": "Near the centroid (%)",
    "boundary conditioning": "At the boundary (%)",
}
_SPACE = 0.05  # between panels, of the width
_MOST_DOTS = 25  # classes of which each is drawn as a dot upon a box


class Subject(NamedTuple):
    """One row of box plots: a model by its name, what else is said of it (a line each), its test set's quality."""

    name: str
    about: tuple[str, ...]
    quality: TestQuality


def class_chart(quality: TestQuality, *, dark: bool = False) -> go.Figure:
    """Every class in three panels: its fair share, its centroid region, its boundary.

    The test set's value is a dot with its 95 % interval, filled where it differs from random splits after correction;
    the training set's is a diamond, and the grey bar holds 95 % of random splits.
    """
    look, names = theme(dark), quality.class_names
    differ = {
        name: None
        for shares in quality.dimensions
        for name, p in zip(shares.class_names, shares.p_holm, strict=True)
        if p < 0.05
    }
    alt = f"The three dimensions of {plural(len(names), 'class', 'classes')}, test set beside training set. " + (
        f"Different from a random split: {listed(list(differ))}."
        if differ
        else "No class differs significantly from a random split."
    )
    figure = _panels(look, height=96 + _row(len(names)) * max(len(names), 3), alt=alt)
    for column, shares in enumerate(quality.dimensions, start=1):
        _class_panel(figure, shares, look, column)
    draw.name_axis(figure, names)
    draw.axis_in_sight(figure, len(names), 104)
    return figure


def _class_panel(figure: go.Figure, shares: Shares, look: Theme, column: int) -> None:
    unit, digits = _unit(shares)
    at, first = np.arange(len(shares.class_names), dtype=np.float64), column == 1
    place = {"row": 1, "col": column}
    shown = {**place, "showlegend": first, "cliponaxis": False}
    ends, grey = (unit * shares.split_lower, unit * shares.split_upper), faded(look.random, 0.35)
    draw.bars(figure, at, ends, grey, "random splits, 95 %", width=11.0, legendgroup="split", showlegend=first, **place)
    ends = unit * shares.lower, unit * shares.upper
    draw.bars(figure, at, ends, look.exclusive, "95 % over samples", width=1.6, showlegend=False, **place)
    train, hover = Style(look.inclusive, "diamond-open"), f"training set: %{{x:.{digits}f}}"
    draw.dots(figure, unit * shares.train, at, train, "training set", hover, outline=1.6, legendgroup="train", **shown)
    differs = shares.p_holm < 0.05
    for mask, name, symbol in (
        (differs, "test set, differs from a random split (Holm)", "circle"),
        (~differs, "test set, no significant difference", "circle-open"),
    ):
        style, hover = Style(look.exclusive, symbol), [_in_words(shares, int(code)) for code in np.flatnonzero(mask)]
        draw.dots(
            figure, unit * shares.value[mask], at[mask], style, name, hover, outline=1.8, legendgroup=name, **shown
        )
    absent = np.flatnonzero(np.isnan(shares.value))  # no test sample, so that this panel can say nothing
    if len(absent):
        hover = [f"{escape(as_name(shares.class_names[code]))}: no test sample" for code in absent]
        cross, shown = Style(look.colours[6], "x-thin-open"), {**shown, "showlegend": column == 2}
        group = {"size": 10, "outline": 2, "legendgroup": "absent"}
        draw.dots(figure, np.zeros(len(absent)), absent, cross, "no test sample", hover, **group, **shown)
    if shares.scale != 1:
        draw.rule(figure, look.grey, x=1, place=place)
    figure.update_xaxes(tickformat=f".{digits - 1}f", rangemode="tozero", **place)


def box_chart(subjects: Sequence[Subject], *, dark: bool = False) -> go.Figure:
    """The classes of each model as boxes (figures 4 and 5): test set, training set, and random splits in grey."""
    sentences = [f"{subject.name} ({', '.join(subject.about)}): {_spreads(subject.quality)}" for subject in subjects]
    alt = f"Box plots over classes of {plural(len(subjects), 'model')}. {'. '.join(sentences)}."
    figure = _panels(theme(dark), height=110 + 96 * len(subjects), alt=alt)
    for row, subject in enumerate(subjects):
        for column, shares in enumerate(subject.quality.dimensions, start=1):
            _boxes(figure, shares, theme(dark), row, column)
    draw.name_axis(figure, [subject.name for subject in subjects])
    ticks = ["<br>".join(map(escape, (subject.name, *subject.about))) for subject in subjects]
    figure.update_layout(yaxis={"ticktext": ticks})
    for column, shares in enumerate(subjects[0].quality.dimensions, start=1):
        figure.update_xaxes(rangemode="tozero", tickformat=f".{_unit(shares)[1] - 1}f", row=1, col=column)
    return figure.update_layout(boxmode="overlay")


def _boxes(figure: go.Figure, shares: Shares, look: Theme, row: int, column: int) -> None:
    (unit, digits), place = _unit(shares), {"row": 1, "col": column, "showlegend": row == 0 and column == 1}
    known = ~np.isnan(shares.split_lower)
    if known.any():
        span = [unit * shares.split_lower[known].min(), unit * shares.split_upper[known].max()]
        name, ends = "random splits, 95 % of each class", ([row - 0.42] * 2, [row + 0.42] * 2)
        draw.band(figure, span, ends, look.random, name, opacity=0.22, legendgroup="split", **place)
    for values, name, style, side in (
        (shares.value, "test set", Style(look.exclusive), -0.2),
        (shares.train, "training set", Style(look.inclusive, "diamond"), 0.2),
    ):
        there = np.flatnonzero(~np.isnan(values))
        upon = draw.dots_upon(style, size=4.5, jitter=0, opacity=0.7, every=len(there) <= _MOST_DOTS)
        data = {"x": unit * values[there], "y0": row + side, "orientation": "h", "legendgroup": name, **upon}
        text = [f"{escape(as_name(shares.class_names[code]))}, {name}" for code in there]
        draw.boxes(
            figure, style, name, f"%{{text}}: %{{x:.{digits}f}}", width=0.3, line_width=1.3, text=text, **data, **place
        )


def curve_chart(curve: Curve, regions: Regions, label: int, *, dark: bool = False) -> go.Figure:
    """One dimension over its threshold: the class `label` with its interval beside training; the others thin.

    The dotted line is the value in use: for the radius that of this class, in its unit of distance.
    """
    look, name = theme(dark), curve.class_names[label]
    radius = curve.dimension == "centroid positioning"
    chosen = float(regions.radii[label]) if radius else regions.theta2
    x_title = "Radius r (in the unit of distance)" if radius else "Theta 2 (highest confidence at the boundary)"
    y_title = TITLES[curve.dimension]
    near = int(np.abs(curve.threshold - chosen).argmin())
    alt = (
        f"{y_title} over the threshold for {name}: test {percent(float(curve.value[label, near]))}, training "
        f"{percent(float(curve.train[label, near]))} near {chosen:.2f}, the value in use."
    )
    figure = new_figure(look, x_title, y_title, height=340, alt=alt)
    others = [code for code in range(len(curve.class_names)) if code != label and curve.n[code] > 0]
    x = np.tile(np.r_[curve.threshold, np.nan], len(others))
    y = np.concatenate([np.r_[100 * curve.value[code], np.nan] for code in others]) if others else []
    thin = Style(faded(look.exclusive, 0.35 if len(others) <= 20 else 0.15))
    draw.line(figure, x, y, thin, "other classes, test set", width=1)
    if curve.n[label] > 0:
        ends = 100 * curve.lower[label], 100 * curve.upper[label]
        draw.band(figure, curve.threshold, ends, look.exclusive)
    for values, title, style in (
        (curve.train[label], "training set", Style(look.inclusive, dash="dash")),
        (curve.value[label], "test set", Style(look.exclusive)),
    ):
        mine, hover = f"{escape(as_name(name))}, {title}", f"{title}: %{{y:.1f}} % at %{{x:.3f}}"
        draw.line(figure, curve.threshold, 100 * values, style, mine, hover, width=2)
    draw.rule(figure, look.ink, x=chosen, width=1.2, text=fixed(chosen, 2))
    figure.update_yaxes(range=[-3, 103], tickformat=".0f")
    return figure.update_layout(legend={"y": 1.07, "yref": "paper", "yanchor": "bottom"})


def _panels(look: Theme, *, height: int, alt: str) -> go.Figure:
    """An empty figure of three panels that share their rows."""
    figure = new_figure(look, "", height=height, alt=alt)
    figure.set_subplots(1, 3, shared_yaxes=True, horizontal_spacing=_SPACE)
    for column, title in enumerate(TITLES.values(), start=1):
        figure.update_xaxes(title_text=title, row=1, col=column)
    figure.update_yaxes(showgrid=False, ticks="")
    return figure


def _in_words(shares: Shares, code: int) -> str:
    """A class's value, as hovering says it."""
    unit, digits = _unit(shares)
    value, lower, upper = (
        fixed(unit * float(each[code]), digits) for each in (shares.value, shares.lower, shares.upper)
    )
    name = escape(as_name(shares.class_names[code]))
    return f"{name}: {value} [{lower}, {upper}]<br>{count(int(shares.n_in[code]))} of {count(int(shares.n[code]))}"


def _spreads(quality: TestQuality) -> str:
    return ", ".join(f"{name} spread {fixed(spread.value, 3)}" for name, spread in quality.spreads.items())


def _unit(shares: Shares) -> tuple[float, int]:
    """Shares are shown in percent, the fair share as it is; and the digits of either."""
    return (1.0, 2) if shares.scale != 1 else (100.0, 1)


def _row(n_rows: int) -> int:
    return 30 if n_rows <= 12 else 22 if n_rows <= 40 else 16


# Which boundaries are tested, and how do two classes lie to one another? ((4) and figure 1)


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
    figure = new_figure(look, "Rival", "Class", height=max(300, 130 + size * n), alt=alt)
    share, n_in = (values[np.ix_(order, order)] for values in (100 * pairs.value, pairs.n_in))
    marked = {(finding.label, finding.rival): _SIGNS[finding.direction] for finding in findings if finding.rival}
    sign = np.array([[marked.get((name, rival), "") for rival in names] for name in names], dtype=object)
    hover = [[_pair_in_words(pairs, i, j) for j in order.tolist()] for i in order.tolist()]
    gap, font = 1 if n <= 40 else 0.3, {"size": 12 if n <= MOST_NUMBERS else 10}
    bar, most = draw.colour_bar(look, "of the class (%)", figure), float(np.nanmax(share, initial=1.0))
    drawn = {"xgap": gap, "ygap": gap, "textfont": font, "hoverongaps": True, "colorbar": bar}
    z, cells = np.where(n_in > 0, share, np.nan), _cells(share, n_in, sign, n)
    draw.heat(figure, z, look.rising, hover, cells, zmin=0.0, zmax=most, **drawn)
    draw.name_axis(figure, names)
    draw.name_axis(figure, names, axis="x")
    font = {"size": 12 if n <= 40 else 8}
    straight = {"tickangle": -90, "ticktext": [escape(as_name(name)) for name in names]} if n > MOST_NUMBERS else {}
    figure.update_layout(xaxis={"tickfont": font, **straight}, yaxis={"tickfont": font})
    return figure


def _cells(share: np.ndarray, n_in: np.ndarray, sign: np.ndarray, n: int) -> list[list[str]]:
    """What stands in each cell: its share where there is room, and its sign."""
    if n > MOST_NUMBERS:
        return sign.tolist()
    return [
        [f"{value:.1f}{mark}" if k else mark for value, k, mark in zip(*row, strict=True)]
        for row in zip(share, n_in, sign, strict=True)
    ]


def _pair_in_words(pairs: PairShares, i: int, j: int) -> str:
    if i == j:
        return "the class itself"
    name, rival = (escape(as_name(pairs.class_names[code])) for code in (i, j))
    chance = float(pairs.split[i, j])
    beside = "" if np.isnan(chance) else f"<br>a random split with as many at the boundary: {percent(chance)}"
    return f"{name} with {rival}: {count(int(pairs.n_in[i, j]))} of {plural(int(pairs.n[i]), 'sample')}{beside}"


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
    figure = new_figure(look, title, "Across", height=540, alt=alt)
    colours = (look.inclusive, look.exclusive)
    _sides(figure, pair_map, look, colours)
    for code, symbol in enumerate(("circle", "diamond")):
        for inside, where in ((True, "in its centroid region"), (False, "outside")):
            mine = np.flatnonzero((pair_map.y == code) & (pair_map.in_centroid == inside))
            name = f"{escape(pair_map.labels[code])}, {where}, n = {count(len(mine))}"
            drawn = {"symbol": symbol if inside else f"{symbol}-open", "color": colours[code]}
            marker, many = {**drawn, "size": 6, "opacity": 0.75, "line": {"width": 1.2}}, len(pair_map.rows) > 1500
            samples = pair_map.points[mine], positions[mine]
            draw.cloud(figure, *samples, marker, name, name, selected=selected, many=many)
    edge, ring = pair_map.points[pair_map.in_boundary], Style(look.ink, "circle-open")
    draw.dots(figure, edge[:, 0], edge[:, 1], ring, f"at a boundary, n = {count(n_edge)}", size=13, outline=1.3)
    for (x, y), radius, colour in zip(pair_map.centroids, pair_map.radii, colours, strict=True):
        ends = {"x0": x - radius, "x1": x + radius, "y0": y - radius, "y1": y + radius}
        figure.add_shape(type="circle", line={"color": colour, "width": 1.6, "dash": "dash"}, **ends)
    hover = [f"centroid of {escape(as_name(name))}" for name in pair_map.labels]
    cross, drawn = Style(look.ink, "cross"), {"size": 13, "outline": (1.5, look.paper), "marker_color": colours}
    draw.dots(figure, *pair_map.centroids.T, cross, "centroids (training set)", hover, **drawn)
    span = [[float(grid[0]), float(grid[-1])] for grid in (pair_map.grid_x, pair_map.grid_y)]
    return figure.update_layout(
        dragmode="lasso",
        xaxis={"showgrid": False, "range": span[0]},
        yaxis={"showgrid": False, "range": span[1], "scaleanchor": "x"},
        legend={"y": 1.02, "yref": "paper", "yanchor": "bottom"},
    )


def _sides(figure: go.Figure, pair_map: PairMap, look: Theme, colours: tuple[str, str]) -> None:
    """What the head says within the plane: either class's side in its colour, and the line where both are alike."""
    if pair_map.grid is None:
        return
    tints = [[0.0, faded(colours[0], 0.16)], [0.5, faded(look.paper, 0.0)], [1.0, faded(colours[1], 0.16)]]
    at = {"x": pair_map.grid_x, "y": pair_map.grid_y, "z": pair_map.grid, "hoverinfo": "skip", "showscale": False}
    figure.add_heatmap(**at, zmin=0.0, zmax=1.0, colorscale=tints, zsmooth="best")
    if pair_map.grid.min() < 0.5 < pair_map.grid.max():
        contours = {"start": 0.5, "end": 0.5, "size": 1, "coloring": "none"}
        line = {"color": look.ink, "width": 1.6}
        figure.add_contour(**at, contours=contours, line=line, name="boundary in this plane", showlegend=True)


# Which error rate of each class can the test set not rule out? The errors seen, and how far above they may be.


def missed_chart(missed: Missed, *, dark: bool = False) -> go.Figure:
    """Every class, the longest bar on top: from the share that is wrong to what cannot be ruled out."""
    look, bounds = theme(dark), missed.classes
    order = np.argsort(bounds.rate - bounds.together, kind="stable")
    names = [missed.class_names[code] for code in order]
    rate, upper = bounds.rate[order], bounds.together[order]
    alt = (
        f"Error rates of {plural(len(names), 'class', 'classes')} that the test set cannot rule out. Least known: "
        f"{names[0]}, up to {percent(float(upper[0]))}."
    )
    figure = new_figure(look, "Error rate (%)", height=90 + 24 * max(len(names), 3), alt=alt)
    at, colour = np.arange(len(order)), faded(look.exclusive, 0.35)
    draw.bars(figure, at, (100 * rate, 100 * upper), colour, "cannot be ruled out", width=12.0)
    hover = [
        f"{count(int(bounds.n_wrong[code]))} of {count(int(bounds.n[code]))} wrong; up to {percent(float(end))} "
        "cannot be ruled out"
        for code, end in zip(order, upper, strict=True)
    ]
    style = Style(look.exclusive)
    draw.dots(figure, 100 * rate, at, style, "test samples that are wrong", hover, size=8, cliponaxis=False)
    draw.name_axis(figure, names)
    figure.update_xaxes(rangemode="tozero", tickformat=".0f")
    return figure


# Have classes moved from training to test by more than chance? (section 5.2 and figure 3)


def shift_chart(shift: CovariateShift, *, dark: bool = False) -> go.Figure:
    """The divergence of every class beside its null: re-splits of the same sizes as a grey box.

    Dots are filled where a class has moved by more than chance, corrected for the number of classes; their bars are
    the Monte-Carlo error of the divergence, at 95 %.
    """
    look, classes = theme(dark), shift.classes
    known = [row for row in classes if not np.isnan(row.observed.value)]
    moved = [row.label for row in classes if row.shifted]
    alt = f"Jensen-Shannon divergence of training and test part of {plural(len(known), 'class', 'classes')}. " + (
        f"Significantly different: {listed(moved)}." if moved else "No class differs significantly."
    )
    title, height = "Jensen-Shannon divergence (bits; 0 alike, 1 apart)", 96 + _row(len(classes)) * max(len(classes), 3)
    figure = new_figure(look, title, height=height, alt=alt)
    for place, row in enumerate(classes):
        drawn = {"orientation": "h", "boxpoints": False, "legendgroup": "null", "showlegend": place == 0}
        name = "re-splits at random"
        draw.boxes(figure, Style(look.random), name, width=0.55, line_width=1.1, x=row.null, y0=place, **drawn)
    for shifted, name, symbol in (
        (True, "test set, significant (Holm)", "circle"),
        (False, "test set, no significant difference", "circle-open"),
    ):
        mine = [place for place, row in enumerate(classes) if row in known and row.shifted == shifted]
        spread = [1.96 * classes[place].observed.error for place in mine]
        error = {"type": "data", "array": spread, "color": look.exclusive, "thickness": 1.3, "width": 3}
        x, hover = (
            [classes[place].observed.value for place in mine],
            [_shift_in_words(classes[place]) for place in mine],
        )
        draw.dots(figure, x, mine, Style(look.exclusive, symbol), name, hover, size=10, outline=1.8, error_x=error)
    draw.name_axis(figure, [row.label for row in classes])
    figure.update_xaxes(range=draw.padded(figure, include=0.0))
    draw.axis_in_sight(figure, len(classes), 104)
    return figure.update_layout(boxmode="overlay")


def _shift_in_words(row: ClassShift) -> str:
    null = f"; re-splits {bare(float(row.null.mean()), 3)}" if len(row.null) else ""
    return (
        f"{escape(row.label)}: {bare(row.observed.value, 3)} ± {bare(1.96 * row.observed.error, 3)}{null}<br>"
        f"{p_value(row.p_corrected)}, {count(row.n_train)} training and {count(row.n_test)} test samples"
    )
