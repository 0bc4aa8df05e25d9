"""What changes with the size of the training set? (Kilinc & Uysal 2017, figures 6-10)

Sizes stand on a logarithmic axis; seen in training is blue circles and held out orange diamonds, as on the page
of source robustness.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, AtSize, Curve
from touchstone.core.evaluate.source_robustness import ExpectedValue
from touchstone.core.evaluate.wording import count, percent, plural, ratio
from touchstone.core.figures.source_robustness import SCHEMES, SYMBOLS
from touchstone.core.figures.theme import Theme, escape, faded, interval_bars, new_figure, padded, theme, traces_of

ENDS = {"inclusive": "source_inclusive", "exclusive": "source_exclusive"}
MOST_CLASSES = 24
COLUMNS = 5
PANEL = 170
MODEL_MARKS = ("circle", "square", "triangle-up", "star", "hexagon", "cross", "pentagon", "x")


def interval_curve(curve: Curve, *, majority: float | None = None, dark: bool = False) -> go.Figure:
    """The expected accuracy interval over the size of the training set (figure 7), with fitted curves where they fit.

    Bars are intervals over draws, hairlines over sources and samples. A fitted curve goes on to twice the data. The
    accuracy of the majority-class baseline is a dashed line where it lies within view.
    """
    look = theme(dark)
    figure = new_figure(
        look, x_title="Training samples", y_title="Expected accuracy (%)", height=400, alt=_curve_alt(curve)
    )
    n = np.array([point.n for point in curve.points])
    ends = {end: [getattr(point.expected, end) for point in curve.points] for end in ENDS}
    _band(figure, n, _values(ends["exclusive"]), _values(ends["inclusive"]), look)
    for end, scheme in ENDS.items():
        colour = _colours(look)[scheme]
        _fitted(figure, curve, end, colour)
        _bars(figure, n, ends[end], colour, factor=100.0)
        _line(figure, curve.points, end, look)
    size_axis(figure, n)
    figure.update_yaxes(tickformat=".1f", range=padded(figure, "y"))
    if majority is not None:
        figure.add_hline(y=100 * majority, line={"color": look.grey, "width": 1, "dash": "dash"})
    return figure


def size_boxes(adequacy: Adequacy, curve: Curve, *, dark: bool = False) -> go.Figure:
    """Box plots of the accuracy on every split, by size and scheme, with the draws beside them (figure 6)."""
    look = theme(dark)
    last, first = curve.points[-1].expected, curve.points[0].expected
    alt = (
        f"Box plots of the accuracy on every split by size. Standard deviation, held out, "
        f"{percent(first.exclusive.sd)} at {count(round(curve.points[0].n))} samples and {percent(last.exclusive.sd)} "
        f"at {count(round(curve.points[-1].n))}."
    )
    figure = new_figure(look, x_title="Training samples", y_title="Accuracy on one split (%)", height=360, alt=alt)
    draws = adequacy.intervals.accuracies
    mine = draws.loc[((draws["model"] == curve.model) & (draws["source_finder"] == curve.source_finder)).to_numpy()]
    places = {point.size: place for place, point in enumerate(curve.points)}
    for offset, scheme in ((-0.14, "source_inclusive"), (0.14, "source_exclusive")):
        part = mine.loc[(mine["scheme"] == scheme).to_numpy()]
        figure.add_box(
            x=np.array([places[int(size)] for size in part["size"]], dtype=np.float64) + offset,
            y=100 * part["accuracy"].to_numpy(dtype=np.float64),
            customdata=part["repeat"].to_numpy(dtype=np.int64),
            name=SCHEMES[scheme],
            width=0.22,
            line={"color": _colours(look)[scheme], "width": 1.2},
            fillcolor=faded(_colours(look)[scheme]),
            marker={"symbol": SYMBOLS[scheme], "size": 4, "opacity": 0.6, "color": _colours(look)[scheme]},
            boxpoints="all",
            jitter=0.5,
            pointpos=0,
            hoveron="points",
            hovertemplate="%{y:.1f} % in repeat %{customdata}<extra></extra>",
        )
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(places.values()),
        ticktext=[count(round(point.n)) for point in curve.points],
        range=[-0.5, len(places) - 0.5],
        showgrid=False,
        ticks="",
    )
    figure.update_yaxes(tickformat=".1f")
    return figure


def rho_curves(curves: Sequence[Curve], *, names: Mapping[str, str] | None = None, dark: bool = False) -> go.Figure:
    """Rho over the size of the training set, a line for each model (figure 8), with intervals over sources."""
    look, titles = theme(dark), curve_names(curves, names)
    sentences = [
        f"{title}: rho {_change([point.expected.rho for point in curve.points])}."
        for curve, title in zip(curves, titles, strict=True)
    ]
    figure = new_figure(
        look,
        x_title="Training samples",
        y_title="Robustness rho",
        height=360,
        alt=" ".join(["Rho over the size of the training set.", *sentences]),
    )
    every = np.array([point.n for curve in curves for point in curve.points])
    for place, (curve, title) in enumerate(zip(curves, titles, strict=True)):
        # Beside each other and not on top of each other: 1.5 % apart on the logarithmic axis.
        n = np.array([point.n for point in curve.points]) * 1.015 ** (2 * place - len(curves) + 1)
        colour = look.colours[2 + place % (len(look.colours) - 2)]
        estimates = [point.expected.rho for point in curve.points]
        _bars(figure, n, estimates, colour, kinds=("over_sources",))
        figure.add_scatter(
            x=n,
            y=_values(estimates),
            mode="lines+markers",
            name=escape(title),
            line={"color": colour, "width": 1.5},
            marker={"symbol": MODEL_MARKS[place % len(MODEL_MARKS)], "size": 8, "color": colour},
            text=[f"rho {ratio(estimate.value, estimate.over_sources)}" for estimate in estimates],
            hovertemplate="%{text}<extra></extra>",
        )
    size_axis(figure, every)
    figure.update_yaxes(tickformat=".3f", range=padded(figure, "y", include=1.0))
    figure.add_hline(y=1, line={"color": look.grey, "width": 1, "dash": "dot"})
    return figure


def class_panels(curves: Sequence[Curve], *, quantity: str = "accuracy", dark: bool = False) -> go.Figure:
    """A small panel for each class: its expected interval (figure 9) or, with "rho", its rho (figure 10) over size.

    All on the same axes, the class with the widest gap at its largest size first; at most MOST_CLASSES of them.
    """
    look, shown = theme(dark), widest_first(curves)[:MOST_CLASSES]
    n_rows = max(-(-len(shown) // COLUMNS), 1)
    figure = make_subplots(
        rows=n_rows,
        cols=COLUMNS,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.02,
        vertical_spacing=min(0.32 / n_rows, 0.2),
        subplot_titles=[escape(str(curve.label), longest=24) for curve in shown],
    )
    base = new_figure(look, x_title="", height=70 + PANEL * n_rows, alt=_panels_alt(shown, len(curves), quantity))
    figure.layout.template = look.template
    figure.update_layout(height=base.layout.height, meta=base.layout.meta)
    for place, curve in enumerate(shown):
        _panel(figure, curve, quantity, look, row=place // COLUMNS + 1, col=place % COLUMNS + 1, first=place == 0)
    for title in figure.layout.annotations:
        title.update(font={"size": 12, "color": look.ink}, yshift=-2)
    n = np.array([point.n for curve in shown for point in curve.points])
    size_axis(figure, n, every=4.0)
    figure.update_xaxes(title_text="Training samples of the class", title_standoff=4, row=n_rows)
    figure.update_yaxes(tickformat=".2f" if quantity == "rho" else ".0f", range=padded(figure, "y"))
    figure.update_yaxes(title_text="Rho" if quantity == "rho" else "Accuracy (%)", col=1)
    above = {"y": 1 + 24 / (70 + PANEL * n_rows), "yref": "paper", "yanchor": "bottom"}
    figure.update_layout(legend=above, margin={"t": 52})
    return figure


def widest_first(curves: Sequence[Curve]) -> list[Curve]:
    """Classes by the gap between seen in training and held out at their largest size; unknown ones last."""

    def width(curve: Curve) -> float:
        interval = curve.points[-1].expected.interval
        return -1.0 if np.isnan(interval.width) else interval.width

    return sorted(curves, key=width, reverse=True)


def curve_names(curves: Sequence[Curve], names: Mapping[str, str] | None = None) -> list[str]:
    """What to call each curve: its model and, where they differ, its source finder."""
    several = len({curve.source_finder for curve in curves}) > 1
    return [
        (names or {}).get(curve.model, curve.model) + (f", {curve.source_finder}" if several else "")
        for curve in curves
    ]


def size_axis(figure: go.Figure, n: np.ndarray, *, every: float = 1.15) -> None:
    """A logarithmic axis with a tick at each size, as long as it is `every` times the one before."""
    ticks: list[float] = []
    for value in np.unique(np.round(n)):
        if not ticks or value >= every * ticks[-1]:
            ticks.append(float(value))
    drawn = np.concatenate([n, *(np.asarray(trace.x, dtype=np.float64) for trace in traces_of(figure))])
    figure.update_xaxes(
        type="log",
        range=[np.log10(0.93 * n.min()), np.log10(1.08 * np.nanmax(drawn))] if len(n) else None,
        tickmode="array",
        tickvals=ticks,
        ticktext=[count(round(tick)) for tick in ticks],
        minor={"ticks": ""},
    )


def _panel(figure: go.Figure, curve: Curve, quantity: str, look: Theme, *, row: int, col: int, first: bool) -> None:
    n = np.array([point.n for point in curve.points])
    part = go.Figure()
    if quantity == "rho":
        estimates = [point.expected.rho for point in curve.points]
        _bars(part, n, estimates, look.ink, kinds=("over_sources",))
        part.add_scatter(
            x=n,
            y=_values(estimates),
            mode="lines+markers",
            name="rho",
            line={"color": look.ink, "width": 1.5},
            marker={"symbol": "circle", "size": 6, "color": look.ink},
            text=[f"rho {ratio(estimate.value, estimate.over_sources)}" for estimate in estimates],
            hovertemplate="%{text}<extra></extra>",
        )
    else:
        ends = {end: [getattr(point.expected, end) for point in curve.points] for end in ENDS}
        _band(part, n, _values(ends["exclusive"]), _values(ends["inclusive"]), look)
        for end, scheme in ENDS.items():
            _bars(part, n, ends[end], _colours(look)[scheme], factor=100.0, kinds=("over_sources",))
            _line(part, curve.points, end, look, size=6)
    for trace in traces_of(part):
        trace.update(legendgroup=trace.name, showlegend=first and trace.showlegend is not False)
        figure.add_trace(trace, row=row, col=col)


def _band(figure: go.Figure, n: np.ndarray, lower: np.ndarray, upper: np.ndarray, look: Theme) -> None:
    known = ~(np.isnan(lower) | np.isnan(upper))
    figure.add_scatter(
        x=np.concatenate([n[known], n[known][::-1]]),
        y=100 * np.concatenate([upper[known], lower[known][::-1]]),
        mode="lines",
        fill="toself",
        line={"width": 0},
        fillcolor=faded(look.grey, 0.16),
        name="expected interval",
        hoverinfo="skip",
    )


def _line(figure: go.Figure, points: Sequence[AtSize], end: str, look: Theme, *, size: int = 9) -> None:
    scheme, estimates = ENDS[end], [getattr(point.expected, end) for point in points]
    colour = _colours(look)[scheme]
    figure.add_scatter(
        x=np.array([point.n for point in points]),
        y=100 * _values(estimates),
        mode="lines+markers",
        name=SCHEMES[scheme],
        line={"color": colour, "width": 1.5},
        marker={"symbol": SYMBOLS[scheme], "size": size, "color": colour},
        text=[
            f"{count(round(point.n))} samples: {percent(estimate.value, estimate.over_sources)}<br>"
            f"sd {percent(estimate.sd)}, {plural(estimate.n_draws, 'draw')}"
            for point, estimate in zip(points, estimates, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _fitted(figure: go.Figure, curve: Curve, end: str, colour: str) -> None:
    points = curve.learning[end].points
    if not points:
        return
    n = np.array([point.n for point in points])
    lower, upper = (100 * np.array([getattr(point.interval, side) for point in points]) for side in ("lower", "upper"))
    name = f"fitted, {SCHEMES[ENDS[end]]}"
    figure.add_scatter(
        x=np.concatenate([n, n[::-1]]),
        y=np.concatenate([upper, lower[::-1]]),
        mode="lines",
        fill="toself",
        line={"width": 0},
        fillcolor=faded(colour, 0.12),
        name=name,
        showlegend=False,
        legendgroup=name,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=n,
        y=100 * np.array([point.accuracy for point in points]),
        mode="lines",
        line={"color": colour, "width": 1.5, "dash": "dash"},
        name=name,
        legendgroup=name,
        text=[f"{count(round(point.n))} samples: {percent(point.accuracy, point.interval)}" for point in points],
        hovertemplate="by the fitted curve, %{text}<extra></extra>",
    )


BARS = {"over_sources": ("95 % CI for new data", 1.4, 1.0), "over_draws": ("Monte-Carlo error", 7.0, 0.35)}


def _bars(
    figure: go.Figure,
    n: np.ndarray,
    estimates: Sequence[ExpectedValue],
    colour: str,
    *,
    factor: float = 1.0,
    kinds: Sequence[str] = tuple(BARS),
) -> None:
    for kind in kinds:
        name, width, opacity = BARS[kind]
        ends = [getattr(estimate, kind) for estimate in estimates]
        lower, upper = (factor * np.array([getattr(end, side) for end in ends]) for side in ("lower", "upper"))
        shade = colour if opacity == 1 else faded(colour, opacity)
        lying = interval_bars(n, lower, upper, colour=shade, width=width, name=name, showlegend=False)
        figure.add_trace(lying.update(x=lying.y, y=lying.x))


def _colours(look: Theme) -> dict[str, str]:
    return {"source_inclusive": look.inclusive, "source_exclusive": look.exclusive}


def _values(estimates: Sequence[ExpectedValue]) -> np.ndarray:
    return np.array([estimate.value for estimate in estimates], dtype=np.float64)


def _change(estimates: Sequence[ExpectedValue]) -> str:
    first, last = estimates[0], estimates[-1]
    return f"from {ratio(first.value)} at the smallest size to {ratio(last.value, last.over_sources)} at the largest"


def _curve_alt(curve: Curve) -> str:
    sentences = [
        f"At {count(round(point.n))} samples {percent(point.expected.exclusive.value)} held out and "
        f"{percent(point.expected.inclusive.value)} seen in training."
        for point in curve.points
    ]
    return " ".join(["Expected accuracy interval over the size of the training set.", *sentences])


def _panels_alt(shown: Sequence[Curve], n_classes: int, quantity: str) -> str:
    what = "Rho" if quantity == "rho" else "Expected accuracy interval"
    if not shown:
        return f"{what} by class: nothing is known yet."
    widest = shown[0]
    last = widest.points[-1].expected
    part = f", {len(shown)} of {n_classes} classes" if len(shown) < n_classes else ""
    return (
        f"{what} by class over the size of the training set{part}. The widest gap is that of class {widest.label}: "
        f"{percent(last.inclusive.value)} seen in training, {percent(last.exclusive.value)} held out."
    )
