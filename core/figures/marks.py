"""What are all figures made of? A few marks; each takes the figure, data, a style, a name and what hovering says.

`hover` is a text for each mark, or a template of plotly's for all of them; None: hovering says nothing. Whatever else
plotly's trace takes (`legendgroup`, `row` and `col`, `customdata`) goes through.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, Integer

from touchstone.core.evaluate.calibration import LOGIT_END, logit
from touchstone.core.evaluate.wording import count, listed, plural
from touchstone.core.figures.theme import LONGEST_NAME, Theme, as_name, escape, faded, new_figure, scale, theme

Number = float | int
Values = np.ndarray | Sequence[Any]
Hover = Sequence[str] | str | None
Ends = Sequence[Values]
Name = str | None
Cells = Sequence[Sequence[str]]
MARKS = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "pentagon", "star", "hexagon", "x")


@dataclass(frozen=True)
class Style:
    """How a thing is drawn wherever it stands: its colour, its mark and the dash of its line."""

    colour: str
    symbol: str = "circle"
    dash: str = "solid"


def values_of(estimates: Sequence[Any], unit: Number = 1.0, *, kind: str = "value") -> np.ndarray:
    """The values of estimates, which are their field `kind`; with a `unit` of 100 in percent.

    >>> from touchstone.core.figures.overview import Mark
    >>> from touchstone.core.evaluate.intervals import Interval
    >>> marks = [Mark("a", 0.5, Interval(0.25, 0.75), 8, "random", True)]
    >>> values_of(marks, 100), ends_of(marks)
    (array([50.]), (array([0.25]), array([0.75])))
    """
    return unit * np.array([getattr(estimate, kind) for estimate in estimates], dtype=np.float64)


def ends_of(estimates: Sequence[Any], unit: Number = 1.0, *, kind: str = "interval") -> Ends:
    """The lower and the upper ends of the intervals of estimates, which are their field `kind`."""
    intervals = [getattr(estimate, kind) for estimate in estimates]
    lower, upper = (np.array([getattr(each, end) for each in intervals], np.float64) for end in ("lower", "upper"))
    return unit * lower, unit * upper


def error(values: np.ndarray, ends: Ends, colour: str, *, thickness: Number = 1.2, cap: Number = 0) -> dict[str, Any]:
    """The intervals of dots, drawn with them: plotly's `error_y` or `error_x`."""
    over, under = ends[1] - values, values - ends[0]
    line = {"color": colour, "thickness": thickness, "width": cap}
    return {"type": "data", "symmetric": False, "array": over, "arrayminus": under, **line}


def dots(
    figure: go.Figure,
    x: Values,
    y: Values,
    style: Style,
    name: Name = None,
    hover: Hover = None,
    *,
    size: Number | np.ndarray = 9,
    outline: Number | tuple[Number, Any] | None = None,
    opacity: Number | None = None,
    joined: Number | None = None,
    **more: Any,
) -> None:
    """A mark at each place; `outline` is a width, or a width and a colour, `joined` the width of a line through all."""
    marker = {"symbol": style.symbol, "size": size, "color": style.colour, "opacity": opacity}
    if outline is not None:
        width, colour = outline if isinstance(outline, tuple) else (outline, None)
        marker["line"] = {"width": width, "color": colour}
    if joined is not None:
        more["line"] = _line(style, joined)
    mode = more.pop("mode", "markers" if joined is None else "lines+markers")
    figure.add_scatter(x=x, y=y, mode=mode, name=name, marker=marker, **_said(hover), **more)


def line(
    figure: go.Figure,
    x: Values,
    y: Values,
    style: Style,
    name: Name = None,
    hover: Hover = None,
    *,
    width: Number = 1.5,
    **more: Any,
) -> None:
    """A line through all places; one without a name has no place in the legend."""
    figure.add_scatter(x=x, y=y, mode="lines", line=_line(style, width), **_named(name, more), **_said(hover), **more)


def band(
    figure: go.Figure, x: Values, ends: Ends, colour: str, name: Name = None, *, opacity: Number = 0.2, **more: Any
) -> None:
    """The area between two curves, in a faded colour; places where an end is unknown are left out."""
    x, lower, upper = (np.asarray(values, dtype=np.float64) for values in (x, *ends))
    known = ~(np.isnan(lower) | np.isnan(upper))
    around = np.r_[x[known], x[known][::-1]], np.r_[upper[known], lower[known][::-1]]
    area(figure, *around, faded(colour, opacity), name, **more)


def area(figure: go.Figure, x: Values, y: Values, fill: str, name: Name = None, **more: Any) -> None:
    """The inside of an outline, or of several with a gap (NaN) after each."""
    outline = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": fill, "hoverinfo": "skip"}
    figure.add_scatter(x=x, y=y, **outline, **_named(name, more), **more)


def bars(
    figure: go.Figure, at: Values, ends: Ends, style: Style | str, name: Name = None, upright: bool = False, **more: Any
) -> None:
    """An interval at each place, as a line between its ends: lying, or `upright`. Unknown ones are left out.

    All are one trace, broken by gaps, so that a hundred are as quick as one.

    >>> figure = go.Figure()
    >>> bars(figure, [0, 1], ([0.25, np.nan], [0.75, 1.0]), "#1B5FAA", "95 %")
    >>> figure.data[0].x, figure.data[0].y
    (array([0.25, 0.75,  nan]), array([ 0.,  0., nan]))
    """
    at, lower, upper = (np.asarray(values, dtype=np.float64) for values in (at, *ends))
    known = ~(np.isnan(lower) | np.isnan(upper))
    gap = np.full(int(known.sum()), np.nan)
    across = np.column_stack([at[known], at[known], gap]).ravel()
    along = np.column_stack([lower[known], upper[known], gap]).ravel()
    x, y = (across, along) if upright else (along, across)
    line(figure, x, y, Style(style) if isinstance(style, str) else style, name, **{"width": 1.4, **more})


BARS = {"over_sources": ("95 % CI for new data", 1.4, 1.0), "over_draws": ("Monte-Carlo error, 95 %", 7.0, 0.35)}
"""The two kinds of interval of an expected value: name, width and opacity of the bar."""


def both_bars(
    figure: go.Figure, at: Values, estimates: Sequence[Any], colour: str, unit: Number = 1, only: str = "", **more: Any
) -> None:
    """Over sources and samples: a hairline. Over draws: a short broad bar on it, so that both can be seen."""
    for kind in [only] if only else BARS:
        name, width, opacity = BARS[kind]
        shade, ends = colour if opacity == 1 else faded(colour, opacity), ends_of(estimates, unit, kind=kind)
        bars(figure, at, ends, shade, name, **{"width": width, "showlegend": False, **more})


def boxes(figure: go.Figure, style: Style, name: Name, hover: Hover = None, **data: Any) -> None:
    """Box plots of `data`: the values and their places, or the five numbers, as plotly calls them."""
    drawn = {"line_color": style.colour, "line_width": 1.2, "fillcolor": faded(style.colour), **_said(hover)}
    figure.add_box(name=name, **{**drawn, **data})


def dots_upon(style: Style, *, jitter: Number = 0.5, every: bool = True, **marker: Any) -> dict[str, Any]:
    """The values of a box (or outliers only) as dots upon it, of which hovering speaks: what `boxes` takes with it."""
    marker = {"symbol": style.symbol, "size": 4, "opacity": 0.6, "color": style.colour, **marker}
    points = "all" if every else "outliers"
    return {"boxpoints": points, "jitter": jitter, "pointpos": 0, "hoveron": "points", "marker": marker}


def columns(
    figure: go.Figure, x: Values, y: Values, colour: str, name: Name = None, hover: Hover = None, **more: Any
) -> None:
    """Bars of numbers, upright unless `orientation` is "h"; they have no outline unless `marker_line` says so."""
    figure.add_bar(x=x, y=y, name=name, marker_color=colour, **{"marker_line": {"width": 0}, **_said(hover), **more})


def at_the_end(texts: Sequence[str], look: Theme, size: int = 12) -> dict[str, Any]:
    """What stands beside the end of each bar: what `columns` takes with it."""
    font = {"size": size, "color": look.ink}
    return {"text": texts, "textposition": "outside", "textfont": font, "cliponaxis": False}


def heat(
    figure: go.Figure, z: np.ndarray, colours: Sequence[str], hover: Cells, cells: Cells | None = None, **more: Any
) -> None:
    """A matrix in colours from `zmin` to `zmax`; `cells` is what stands in each cell."""
    if cells is not None:
        more |= {"text": cells, "texttemplate": "%{text}"}
    drawn = {"customdata": hover, "hovertemplate": "%{customdata}<extra></extra>", "xgap": 1, "ygap": 1, **more}
    figure.add_heatmap(z=z, colorscale=scale(colours), **drawn)


def numbers(figure: go.Figure, at: np.ndarray, texts: Sequence[str], inks: Sequence[str], *, size: Number = 12) -> None:
    """A text at each place (x and y, a row each) in its own ink, which stays when a place is clicked."""
    for ink in dict.fromkeys(inks):
        own = [i for i, each in enumerate(inks) if each == ink]
        look = {"mode": "text", "hoverinfo": "skip", "showlegend": False, "textfont": {"size": size, "color": ink}}
        stays = {"unselected": {"textfont": {"color": ink}}}
        figure.add_scatter(x=at[own, 0], y=at[own, 1], text=[texts[i] for i in own], **look, **stays)


def clickable(figure: go.Figure, at: np.ndarray, tells: Sequence[Sequence[object]], hover: Sequence[str]) -> None:
    """Places (x and y, a row each) that can be clicked without being seen; `tells` is what a click says of each."""
    unseen = {"size": 24, "symbol": "square", "opacity": 0}
    customdata, template = [list(each) for each in tells], "%{hovertext}<extra></extra>"
    look = {"mode": "markers", "marker": unseen, "showlegend": False, "hovertext": list(hover)}
    faded_ones = {"selected": {"marker": {"opacity": 0}}, "unselected": {"marker": {"opacity": 0}}}
    figure.add_scatter(x=at[:, 0], y=at[:, 1], customdata=customdata, hovertemplate=template, **look, **faded_ones)


def colour_bar(look: Theme, title: str | None, beside: go.Figure | None = None, pixels: Number = 300) -> dict[str, Any]:
    """The legend of colours; beside a figure it stands at the top and is at most so many pixels long."""
    bar: dict[str, Any] = {"thickness": 10, "outlinewidth": 0}
    if title is not None:
        bar |= {"title": {"text": title, "font": {"size": 12, "color": look.grey}}, "tickfont": {"size": 12}}
    if beside is not None:
        bar |= {"len": min(1.0, pixels / beside.layout.height), "y": 1, "yanchor": "top"}
    return bar


def cloud(
    figure: go.Figure,
    points: np.ndarray,
    rows: np.ndarray,
    marker: dict[str, Any],
    name: Name,
    hover: str,
    *,
    selected: Sequence[int] = (),
    many: bool = True,
    **more: Any,
) -> None:
    """Samples in a plane, one a row of `points`; `customdata` holds their `rows`, and those `selected` stand out.

    Few points are drawn as shapes, which every browser does at once; `many` take the graphics card.
    """
    rows = rows.astype(np.int32)
    if len(selected):
        more["selectedpoints"] = np.flatnonzero(np.isin(rows, selected))
    more |= {"mode": "markers", "marker": marker, "unselected": {"marker": {"opacity": 0.12}}, **_said(hover)}
    x, y = points.T.astype(np.float32)
    figure.add_trace((go.Scattergl if many else go.Scatter)(x=x, y=y, customdata=rows, name=name, **more))


def rule(
    figure: go.Figure,
    colour: str,
    *,
    x: Number | None = None,
    y: Number | None = None,
    dash: str = "dot",
    width: Number = 1,
    text: str = "",
    place: dict[str, int] | None = None,
    **written: Any,
) -> None:
    """A straight line across the figure (or its panel `place`): upright at `x`, or lying at `y`; a text at its end."""
    line = {"color": colour, "width": width, "dash": dash}
    if x is not None:
        figure.add_vline(x=x, line=line, **(place or {}))
        end = {"x": x, "y": 1, "yref": "paper"}
    else:
        figure.add_hline(y=y, line=line, **(place or {}))
        end = {"x": 1, "xref": "paper", "xanchor": "right", "y": y}
    if text:
        font = {"size": 12, "color": colour}
        figure.add_annotation(text=text, showarrow=False, yanchor="bottom", font=font, **end, **written)


def name_axis(figure: go.Figure, names: Sequence[str], *, axis: str = "y", longest: int = LONGEST_NAME) -> None:
    """Names from the data along an axis, the first on top (or leftmost); positions are 0, 1, 2, ...

    Positions and not categories, so that "01" stays "01" and two names that look the same stay two.
    """
    n, upright = len(names), axis == "y"
    texts = [escape(name, longest=longest) if upright else _wrapped(name) for name in map(as_name, names)]
    ticks = {"tickmode": "array", "tickvals": np.arange(n), "ticktext": texts, "ticklabelstandoff": 6, "ticks": ""}
    ends = [n - 0.5, -0.5] if upright else [-0.5, n - 0.5]
    figure.update_layout({f"{axis}axis": {**ticks, "range": ends, "showgrid": False}})


def rows(
    figure: go.Figure,
    estimates: Sequence[Any],
    styles: Sequence[Style],
    names: Sequence[str],
    hover: Callable[[Any], str],
    unit: Number = 1.0,
    *,
    kind: str = "value",
) -> None:
    """A mark and its interval for each estimate, from top to bottom; values are their field `kind`."""
    for place, (each, style, name) in enumerate(zip(estimates, styles, names, strict=True)):
        at, told = np.array([float(place)]), [f"{escape(name)}: {hover(each)}"]
        bars(figure, at, ends_of([each], unit), style.colour, name, showlegend=False)
        dots(figure, values_of([each], unit, kind=kind), at, style, name, told, size=10, showlegend=False)
    name_axis(figure, list(names))


def percent_axis(figure: go.Figure, *, axis: str = "x") -> None:
    """Percent, and room beyond the outermost end of any bar."""
    figure.update_layout({f"{axis}axis": {"tickformat": ".2~f", "range": padded(figure, axis)}})


NINES = (1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999)


@dataclass(frozen=True)
class ConfidenceScale:
    """How confidences are laid along x: in percent, or on a logit scale where most of them are close to 100 %."""

    logit: bool = False

    def title(self, name: str = "Confidence") -> str:
        """The title of the axis, which names a scale that is not linear."""
        return f"{name} (%, logit scale)" if self.logit else f"{name} (%)"

    def at(self, confidence: Values) -> np.ndarray:
        """Where confidences stand.

        >>> ConfidenceScale().at([0.5]).tolist(), ConfidenceScale(logit=True).at([0.5]).tolist()
        ([50.0], [0.0])
        """
        confidence = np.asarray(confidence, dtype=np.float64)
        return logit(confidence) if self.logit else 100 * confidence

    def axis(self, lowest: Number, tickformat: str = ".0f") -> dict[str, Any]:
        """The layout of an axis from the confidence `lowest`, a fraction, to 1."""
        if not self.logit:
            return {"range": [100 * lowest - 1, 101], "tickformat": tickformat}
        ends = {"range": [float(self.at([max(lowest, 0.01)])[0]) - 0.15, LOGIT_END + 0.15]}
        return ends | {"tickvals": self.at(np.array(NINES) / 100), "ticktext": [f"{tick:g}" for tick in NINES]}


def traces_of(figure: go.Figure) -> tuple[Any, ...]:
    """All that is drawn in a figure. (What plotly declares is the names of a figure's parts, not its traces.)"""
    return tuple(figure.data)


def values_along(figure: go.Figure, axis: str) -> np.ndarray:
    """All places along an axis at which something is drawn; nothing is NaN."""
    return np.concatenate([[np.nan], *(np.asarray(trace[axis], dtype=np.float64) for trace in traces_of(figure))])


def padded(figure: go.Figure, axis: str = "x", *, include: Number = float("nan")) -> list[float] | None:
    """The range of all that is drawn along an axis (and of `include`), with 4 % to spare on either side.

    Examples
    --------
    >>> padded(go.Figure(go.Scatter(x=[0.0, 50.0])), include=100.0)
    [-4.0, 104.0]
    """
    values = np.append(values_along(figure, axis), include)
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return None
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.04 * abs(high) or 1.0
    return [low - room, high + room]


MOST_IN_SIGHT = 20
"""With more rows than that, a figure is taller than what stands beside it."""


def axis_in_sight(figure: go.Figure, n_rows: int, top: int) -> None:
    """Where rows are so many that a reader scrolls, their axis stands on top, in so many pixels."""
    if n_rows > MOST_IN_SIGHT:
        figure.update_xaxes(side="top")
        figure.update_layout(margin_t=top)


def as_map(figure: go.Figure) -> go.Figure:
    """Axes without meaning, of one unit, and a lasso to select with."""
    bare = {"showgrid": False, "ticks": "", "showticklabels": False}
    return figure.update_layout(dragmode="lasso", xaxis=bare, yaxis={**bare, "scaleanchor": "x"})


def _wrapped(name: str) -> str:
    """Under a column: words below each other rather than overlapping the neighbour's."""
    lines = [""]
    for word in escape(name).split(" "):
        if lines[-1] and len(lines[-1]) + len(word) > 14:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)


def _line(style: Style, width: Number) -> dict[str, Any]:
    return {"color": style.colour, "width": width, "dash": style.dash}


def _named(name: Name, more: dict[str, Any]) -> dict[str, Any]:
    return {"name": name} if name is not None else {} if "showlegend" in more else {"showlegend": False}


def _said(hover: Hover) -> dict[str, Any]:
    if hover is None:
        return {"hoverinfo": "skip"}
    if isinstance(hover, str):
        return {"hovertemplate": f"{hover}<extra></extra>"}
    return {"text": list(hover), "hovertemplate": "%{text}<extra></extra>"}


# Where do samples lie? A map of two dimensions, coloured by class, source or fold; made for 100,000 points.


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
        cloud(figure, points[rows], rows, marker, shown, hover, selected=selected, **group)
    return as_map(figure)


def _coloured(groups: np.ndarray, n_names: int, coloured: Sequence[int] | None) -> list[int]:
    if coloured:
        return list(coloured[:MOST_COLOURS])
    sizes = np.bincount(groups[groups >= 0], minlength=n_names)
    largest = np.argsort(-sizes, kind="stable")[:MOST_COLOURS]
    return sorted(int(code) for code in largest)
