"""What changes with the size of the training set? (Kilinc & Uysal 2017, figures 6-10)

Sizes stand on a logarithmic axis; seen in training is blue circles and held out orange diamonds, as on the page
of source robustness.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, AtSize, Curve
from touchstone.core.evaluate.source_robustness import ExpectedValue
from touchstone.core.evaluate.wording import count, percent, plural, ratio
from touchstone.core.figures import marks as draw
from touchstone.core.figures.source_robustness import SCHEMES, scheme_styles, split_boxes
from touchstone.core.figures.theme import Theme, escape, new_figure, theme

ENDS = {"inclusive": "source_inclusive", "exclusive": "source_exclusive"}
MOST_CLASSES = 24
COLUMNS = 5
PANEL = 170
MODEL_MARKS = ("circle", "square", "triangle-up", "star", "hexagon", "cross", "pentagon", "x")


def interval_curve(curve: Curve, *, baseline: float | None = None, dark: bool = False) -> go.Figure:
    """The expected accuracy interval over the size of the training set (figure 7), with fitted curves where they fit.

    Bars are intervals over draws, hairlines over sources and samples. A fitted curve goes on to twice the data. What
    the baseline reaches is a dashed line where it lies within view. Of another metric all is that metric's.
    """
    look, points, words = theme(dark), curve.points, curve.words
    sentences = [
        f"At {count(round(point.n))} samples {words.value(point.about.exclusive.value)} held out and "
        f"{words.value(point.about.inclusive.value)} seen in training."
        for point in points
    ]
    alt = [f"Expected {words.name} interval over the size of the training set.", *sentences]
    figure = new_figure(look, "Training samples", escape(words.expected), height=400, alt=alt)
    _band(figure, points, look.grey)
    for end, style in _styles(look).items():
        _fitted(figure, curve, end, style.colour)
        draw.both_bars(figure, _sizes(points), _ends(points, end), style.colour, unit=words.factor, upright=True)
        _line(figure, points, end, style, SCHEMES[ENDS[end]])
    size_axis(figure, _sizes(points))
    figure.update_yaxes(tickformat=words.ticks, range=draw.padded(figure, "y"))
    if baseline is not None and not np.isnan(baseline):
        draw.rule(figure, look.grey, y=words.factor * baseline, dash="dash")
    return figure


def model_curves(curves: Sequence[Curve], *, names: Mapping[str, str] | None = None, dark: bool = False) -> go.Figure:
    """The expected intervals of several models over the size of the training set, one upon the other (figure 7).

    A model has a colour and a mark: a solid line for what was seen in training, a dashed one for what is held out.
    """
    look, titles, words = theme(dark), curve_names(curves, names), curves[0].words
    last = [(curve.points[-1].about, title) for curve, title in zip(curves, titles, strict=True)]
    sentences = [
        f"{title} at the largest size: {words.value(at.exclusive.value)} held out and "
        f"{words.value(at.inclusive.value)} seen in training."
        for at, title in last
    ]
    alt = [f"Expected {words.name} interval of each model over the size of the training set.", *sentences]
    figure = new_figure(look, "Training samples", escape(words.expected), height=400, alt=alt)
    for place, (curve, title) in enumerate(zip(curves, titles, strict=True)):
        style = _of_model(place, look)
        _band(figure, curve.points, style.colour, escape(title), opacity=0.1)
        for end, of_end in (("inclusive", style), ("exclusive", replace(style, dash="dash"))):
            shown = {"legendgroup": escape(title), "showlegend": end == "inclusive"}
            _line(figure, curve.points, end, of_end, escape(title), size=7, **shown)
    size_axis(figure, np.array([point.n for curve in curves for point in curve.points]))
    return figure.update_yaxes(tickformat=words.ticks, range=draw.padded(figure, "y"))


def size_boxes(adequacy: Adequacy, curve: Curve, *, dark: bool = False) -> go.Figure:
    """Box plots of the accuracy on every split, by size and scheme, with the draws beside them (figure 6)."""
    look, first, last = theme(dark), curve.points[0], curve.points[-1]
    alt = (
        f"Box plots of the accuracy on every split by size. Standard deviation, held out, "
        f"{percent(first.expected.exclusive.sd)} at {count(round(first.n))} samples and "
        f"{percent(last.expected.exclusive.sd)} at {count(round(last.n))}."
    )
    figure = new_figure(look, "Training samples", "Accuracy on one split (%)", height=360, alt=alt)
    draws = adequacy.intervals.accuracies
    mine = draws.loc[((draws["model"] == curve.model) & (draws["source_finder"] == curve.source_finder)).to_numpy()]
    places = {point.size: place for place, point in enumerate(curve.points)}
    for offset, scheme in ((-0.14, "source_inclusive"), (0.14, "source_exclusive")):
        part, style = mine.loc[(mine["scheme"] == scheme).to_numpy()], scheme_styles(look)[scheme]
        x = np.array([places[int(size)] for size in part["size"]], dtype=np.float64) + offset
        split_boxes(figure, x, part, style, SCHEMES[scheme], 0.22)
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(places.values()),
        ticktext=[count(round(point.n)) for point in curve.points],
        range=[-0.5, len(places) - 0.5],
        showgrid=False,
        ticks="",
    )
    figure.update_yaxes(tickformat=".2~f")
    return figure


def rho_curves(curves: Sequence[Curve], *, names: Mapping[str, str] | None = None, dark: bool = False) -> go.Figure:
    """Rho over the size of the training set, a line for each model (figure 8), with intervals over sources."""
    look, titles = theme(dark), curve_names(curves, names)
    sentences = [
        f"{title}: rho {_change([point.expected.rho for point in curve.points])}."
        for curve, title in zip(curves, titles, strict=True)
    ]
    alt = ["Rho over the size of the training set.", *sentences]
    figure = new_figure(look, "Training samples", "Robustness rho", height=360, alt=alt)
    for place, (curve, title) in enumerate(zip(curves, titles, strict=True)):
        # Beside each other and not on top of each other: 1.5 % apart on the logarithmic axis.
        n = _sizes(curve.points) * 1.015 ** (2 * place - len(curves) + 1)
        _rho_line(figure, n, curve.points, _of_model(place, look), escape(title), size=8)
    size_axis(figure, np.array([point.n for curve in curves for point in curve.points]))
    figure.update_yaxes(tickformat=".3f", range=draw.padded(figure, "y", include=1.0))
    draw.rule(figure, look.grey, y=1)
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
    height, alt = 70 + PANEL * n_rows, _panels_alt(shown, len(curves), quantity)
    figure.update_layout(template=look.template, height=height, meta={"alt": alt})
    for place, curve in enumerate(shown):
        _panel(figure, curve, quantity, look, row=place // COLUMNS + 1, col=place % COLUMNS + 1, first=place == 0)
    for title in figure.layout.annotations:
        title.update(font={"size": 12, "color": look.ink}, yshift=-2)
    size_axis(figure, np.array([point.n for curve in shown for point in curve.points]), every=4.0)
    figure.update_xaxes(title_text="Training samples of the class", title_standoff=4, row=n_rows)
    figure.update_yaxes(tickformat=".3~f" if quantity == "rho" else ".2~f", range=draw.padded(figure, "y"))
    figure.update_yaxes(title_text="Rho" if quantity == "rho" else "Accuracy (%)", col=1)
    above = {"y": 1 + 24 / height, "yref": "paper", "yanchor": "bottom"}
    return figure.update_layout(legend=above, margin={"t": 52})


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
    drawn = np.concatenate([n, draw.values_along(figure, "x")])
    figure.update_xaxes(
        type="log",
        range=[np.log10(0.93 * n.min()), np.log10(1.08 * np.nanmax(drawn))] if len(n) else None,
        tickmode="array",
        tickvals=ticks,
        ticktext=[count(round(tick)) for tick in ticks],
        minor={"ticks": ""},
    )


def _panel(figure: go.Figure, curve: Curve, quantity: str, look: Theme, *, row: int, col: int, first: bool) -> None:
    points, part = curve.points, go.Figure()
    if quantity == "rho":
        _rho_line(part, _sizes(points), points, draw.Style(look.ink), "rho", size=6)
    else:
        _band(part, points, look.grey)
        for end, style in _styles(look).items():
            kinds = {"only": "over_sources", "unit": 100, "upright": True}
            draw.both_bars(part, _sizes(points), _ends(points, end), style.colour, **kinds)
            _line(part, points, end, style, SCHEMES[ENDS[end]], size=6)
    for trace in draw.traces_of(part):
        trace.update(legendgroup=trace.name, showlegend=first and trace.showlegend is not False)
        figure.add_trace(trace, row=row, col=col)


def _of_model(place: int, look: Theme) -> draw.Style:
    return draw.Style(look.colours[2 + place % (len(look.colours) - 2)], MODEL_MARKS[place % len(MODEL_MARKS)])


def _band(figure: go.Figure, points: Sequence[AtSize], colour: str, name: str = "", *, opacity: float = 0.16) -> None:
    """The expected interval; that of one model of several hides with its lines, and has no place in the legend."""
    unit = points[-1].about.words.factor
    ends = [draw.values_of(_ends(points, end), unit) for end in ("exclusive", "inclusive")]
    shown = {"showlegend": False, "legendgroup": name} if name else {}
    draw.band(figure, _sizes(points), ends, colour, name or "expected interval", opacity=opacity, **shown)


def _line(
    figure: go.Figure, points: Sequence[AtSize], end: str, style: draw.Style, name: str, *, size: int = 9, **more: Any
) -> None:
    estimates, words = _ends(points, end), points[-1].about.words
    hover = [
        f"{count(round(point.n))} samples: {words.value(estimate.value, estimate.over_sources)}<br>"
        f"sd {words.value(estimate.sd)}, {plural(estimate.n_draws, 'draw')}"
        for point, estimate in zip(points, estimates, strict=True)
    ]
    y = draw.values_of(estimates, words.factor)
    draw.dots(figure, _sizes(points), y, style, name, hover, size=size, joined=1.5, **more)


def _rho_line(
    figure: go.Figure, n: np.ndarray, points: Sequence[AtSize], style: draw.Style, name: str, *, size: int
) -> None:
    estimates = _ends(points, "rho")
    draw.both_bars(figure, n, estimates, style.colour, only="over_sources", upright=True)
    hover = [f"rho {ratio(estimate.value, estimate.over_sources)}" for estimate in estimates]
    draw.dots(figure, n, draw.values_of(estimates), style, name, hover, size=size, joined=1.5)


def _fitted(figure: go.Figure, curve: Curve, end: str, colour: str) -> None:
    points, words = curve.learning[end].points, curve.words
    if not points:
        return
    n, values = np.array([point.n for point in points]), words.factor * np.array([point.value for point in points])
    name = f"fitted, {SCHEMES[ENDS[end]]}"
    hidden = {"opacity": 0.12, "showlegend": False, "legendgroup": name}
    draw.band(figure, n, draw.ends_of(points, words.factor), colour, name, **hidden)
    text = [f"{count(round(point.n))} samples: {words.value(point.value, point.interval)}" for point in points]
    hover = "by the fitted curve, %{text}"
    draw.line(figure, n, values, draw.Style(colour, dash="dash"), name, hover, text=text, legendgroup=name)


def _styles(look: Theme) -> dict[str, draw.Style]:
    return {end: scheme_styles(look)[scheme] for end, scheme in ENDS.items()}


def _sizes(points: Sequence[AtSize]) -> np.ndarray:
    return np.array([point.n for point in points])


def _ends(points: Sequence[AtSize], end: str) -> list[ExpectedValue]:
    return [getattr(point.about, end) for point in points]


def _change(estimates: Sequence[ExpectedValue]) -> str:
    first, last = estimates[0], estimates[-1]
    return f"from {ratio(first.value)} at the smallest size to {ratio(last.value, last.over_sources)} at the largest"


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
