"""How does the model fare on generated tests, and what lies on the way between classes? (Mani et al. 2019, table 2)

Generated tests are orange, the original test set is blue, as target and reference are everywhere; the two regions have
the third and the fourth colour.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from touchstone.core.evaluate.guided_tests.generate import Walk
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.results import AccuracyGrid
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite
from touchstone.core.evaluate.guided_tests.verdict import mix_title
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import Theme, as_name, escape, faded, new_figure, theme

MOST_CLASSES = 4
"""So many classes have a line of their own on a walk; the others are one, their sum."""
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_DASHES = ("dot", "dash", "dashdot", "solid")
_STRIP = 5.0  # per cent of the height, for each region's strip below the axis


def walk_chart(walk: Walk, *, at: int, towards: int, dark: bool = False) -> go.Figure:
    """What every class is worth on the way, with the place `at` marked, and below it where the regions lie."""
    look, names = theme(dark), walk.class_names
    own, there = names[walk.label], names[towards]
    here = walk.proba[at]
    goal = "its own centroid" if towards == walk.label else f"the centroid of {there}"
    alt = (
        f"From a sample of {own} to {goal}, {walk.t[at]:.0%} of the way: {own} {percent(float(here[walk.label]))}, "
        f"most probable {names[int(here.argmax())]}; {region_title(walk, at)}."
    )
    figure = new_figure(look, f"Of the way to {escape(goal)} (%)", "Probability (%)", alt=alt)
    for code, name, share, style in _lines(walk, towards, look):
        title, width = escape(as_name(name)), 2.4 if code in (walk.label, towards) else 1.4
        draw.line(figure, 100 * walk.t, 100 * share, style, title, f"{title}: %{{y:.1f}} %", width=width)
    _strips(figure, walk, look)
    draw.rule(figure, look.ink, x=100 * float(walk.t[at]), dash="solid", width=1.5)
    place, drawn = ([100 * walk.t[at]], [100 * here[walk.label]]), {"size": 11, "outline": (2, look.paper)}
    draw.dots(figure, *place, draw.Style(look.ink), showlegend=False, **drawn)
    figure.update_xaxes(range=[-2, 102], tickformat=".0f")
    figure.update_yaxes(range=[-3.2 * _STRIP, 104], tickformat=".0f", tickvals=[0, 25, 50, 75, 100])
    return figure.update_layout(hovermode="x unified")


def region_title(walk: Walk, at: int) -> str:
    """Where a step of a walk lies, in words.

    Examples
    --------
    >>> step = np.array([0.0]), np.zeros((1, 2)), np.array([[0.9, 0.1]]), np.array([0.2])
    >>> region_title(Walk(0, *step, np.array([True]), np.array([False]), ("a", "b")), 0)
    'in the centroid region of a'
    """
    own = walk.class_names[walk.label]
    near, edge = bool(walk.in_centroid[at]), bool(walk.in_boundary[at])
    if near and edge:
        return f"in the centroid region of {own} and at the boundary"
    return f"in the centroid region of {own}" if near else "at the boundary" if edge else "in neither region"


def _lines(walk: Walk, towards: int, look: Theme) -> list[tuple[int, str, np.ndarray, draw.Style]]:
    """The class itself, the goal and the most probable others, each in its style; the rest as one."""
    highest = walk.proba.max(axis=0)
    first = list(dict.fromkeys([walk.label, towards]))
    order = [int(code) for code in np.argsort(-highest, kind="stable") if code not in first and highest[code] >= 0.01]
    chosen = first + order[: MOST_CLASSES - len(first)]
    styles = [draw.Style(look.inclusive), draw.Style(look.exclusive)][: len(first)]
    styles += [draw.Style(look.colours[i], dash=dash) for i, dash in ((9, "dash"), (8, "dot"), (6, "dashdot"))]
    lines = [
        (code, walk.class_names[code], walk.proba[:, code], style) for code, style in zip(chosen, styles, strict=False)
    ]
    rest = np.setdiff1d(np.arange(len(walk.class_names)), chosen)
    if len(rest):
        named = "the other class" if len(rest) == 1 else f"{len(rest)} other classes"
        lines.append((-1, named, walk.proba[:, rest].sum(axis=1), draw.Style(look.grey, dash="dash")))
    return lines


def _strips(figure: go.Figure, walk: Walk, look: Theme) -> None:
    """Two strips below the axis: where on the way the centroid region lies, and where the boundary."""
    for name, inside, colour, hatch, place in (
        ("centroid region", walk.in_centroid, look.colours[2], "", -1.1),
        ("boundary region", walk.in_boundary, look.colours[3], "/", -2.3),
    ):
        height, base = (np.full(int(inside.sum()), part * _STRIP) for part in (1, place))
        drawn = {
            "width": 100 * (walk.t[1] - walk.t[0]),
            "marker_pattern": {"shape": hatch, "fgcolor": colour, "size": 5},
        }
        draw.columns(figure, 100 * walk.t[inside], height, faded(colour, 0.45), name, base=base, **drawn)
    figure.update_layout(barmode="overlay", bargap=0)


def grid_chart(grid: AccuracyGrid, *, dark: bool = False) -> go.Figure:
    """Table 2: accuracy over mixes, a line for each size, beside that on the original test set."""
    look = theme(dark)
    sizes = list(dict.fromkeys(cell.n_per_class for cell in grid.cells))
    largest = [cell for cell in grid.cells if cell.n_per_class == sizes[-1]]
    accuracies = [
        f"{percent(cell.overall.accuracy, cell.overall.interval)} at {mix_title(cell.centroid_share)}"
        for cell in largest
    ]
    alt = (
        f"Accuracy over mixes with {plural(sizes[-1], 'test')} for each class: {', '.join(accuracies)}; "
        f"on the original test set {percent(grid.accuracy, grid.interval)}."
    )
    figure = new_figure(look, "Mix (centroid-boundary)", "Accuracy (%)", height=360, alt=alt)
    mixes = [mix_title(cell.centroid_share) for cell in largest]
    ends = [-0.5, len(mixes) - 0.5]
    low, high = 100 * grid.interval.lower, 100 * grid.interval.upper
    draw.band(figure, ends, ([low] * 2, [high] * 2), look.inclusive)
    name, original = "original test set", [100 * grid.accuracy] * 2
    hover = f"{name}: {percent(grid.accuracy, grid.interval)}"
    draw.line(figure, ends, original, draw.Style(look.inclusive), name, hover, width=2)
    for row, size in enumerate(sizes):
        cells = [cell.overall for cell in grid.cells if cell.n_per_class == size]
        hover = [
            f"{percent(cell.accuracy, cell.interval)}<br>n = {count(cell.n)} from {cell.parents}" for cell in cells
        ]
        x = np.arange(len(mixes)) + 0.07 * (row - (len(sizes) - 1) / 2)
        y = 100 * np.array([cell.accuracy for cell in cells])
        style = draw.Style(look.exclusive, _SYMBOLS[row % len(_SYMBOLS)], _DASHES[row % len(_DASHES)])
        error = draw.error(y, draw.ends_of(cells, 100), look.exclusive, cap=3)
        drawn = {"size": 8, "joined": 1 + 0.4 * row, "error_y": error}
        draw.dots(figure, x, y, style, f"{count(size)} for each class", hover, **drawn)
    figure.update_xaxes(tickvals=np.arange(len(mixes)), ticktext=mixes, range=ends)
    lowest = [100 * cell.overall.interval.lower for cell in grid.cells if cell.overall.interval.known]
    range_of = go.Figure(go.Scatter(y=[100.0, *lowest]))
    figure.update_yaxes(tickformat=".2~f", range=draw.padded(range_of, "y"))
    return figure


def suite_chart(judged: JudgedSuite, *, dark: bool = False) -> go.Figure:
    """The accuracy of the whole model on the pictures of every class, near its centroid and at its boundary."""
    titles = {"centroid": "near the centroid", "boundary": "at the boundary"}
    x_title = "Accuracy on generated pictures (%)"
    return _by_class(judged.class_table(), judged.suite.class_names, titles, x_title, theme(dark))


def class_chart(guided: Guided, *, dark: bool = False) -> go.Figure:
    """The accuracy of every class on its generated features, near its centroid and at its boundary, with intervals."""
    titles = {"centroid": "near the centroid", "boundary": "at the boundary: share on the right side"}
    look, x_title = theme(dark), "Accuracy on generated features (%)"
    figure = _by_class(guided.class_table(), guided.class_names, titles, x_title, look)
    draw.rule(figure, look.random, x=50, dash="dash")
    return figure


def _by_class(
    table: pd.DataFrame, names: tuple[str, ...], titles: Mapping[str, str], x_title: str, look: Theme
) -> go.Figure:
    accuracies = [
        f"{region} from {percent(min(part))} to {percent(max(part))}"
        for region, part in table.dropna(subset=["accuracy"]).groupby("region")["accuracy"]
    ]
    alt = f"Accuracy on generated tests by class: {'; '.join(accuracies) or 'not known yet'}."
    figure = new_figure(look, x_title, height=80 + 21 * max(len(names), 4), alt=alt)
    for region, style, off in (
        ("centroid", draw.Style(look.colours[2]), -0.14),
        ("boundary", draw.Style(look.colours[3], "diamond"), 0.14),
    ):
        part, title = table.loc[table["region"] == region], titles[region]
        lower, upper, value = 100 * part[["lower", "upper", "accuracy"]].to_numpy(dtype=np.float64).T
        at = np.arange(len(names)) + off
        draw.bars(figure, at, (lower, upper), style.colour, title, width=2.0, showlegend=False)
        hover = [
            f"{escape(row['label'])}, {title}: {row['accuracy']:.1%}<br>n = {count(row['placed'])} from "
            f"{plural(row['n_parents'], 'sample')}"
            for row in part.to_dict("records")
        ]
        draw.dots(figure, value, at, style, title, hover, outline=(1, look.paper))
    draw.name_axis(figure, names)
    figure.update_xaxes(tickformat=".0f", range=[-2, 102])
    draw.axis_in_sight(figure, len(names), 84)
    return figure
