"""Does the test set cover the feature space? Classes, models and thresholds (Mani et al. 2019, figures 4 and 5)

The test set is orange, the training set blue, and what a random split of both gives is grey.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.test_quality import Curve, Regions, Shares, TestQuality
from touchstone.core.evaluate.wording import count, fixed, listed, percent, plural
from touchstone.core.figures.data_sets import MOST_IN_SIGHT
from touchstone.core.figures.theme import Theme, as_name, escape, faded, interval_bars, name_axis, new_figure, theme

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
    differ = [name for name, _ in _differing(quality)]
    alt = f"The three dimensions of {plural(len(names), 'class', 'classes')}, test set beside training set. " + (
        f"Different from a random split: {listed(list(dict.fromkeys(differ)))}."
        if differ
        else "No class differs significantly from a random split."
    )
    height = 96 + _row(len(names)) * max(len(names), 3)
    figure = _panels(look, height=height, alt=alt)
    for column, shares in enumerate(quality.dimensions, start=1):
        _class_panel(figure, shares, look, column)
    name_axis(figure, names)
    if len(names) > MOST_IN_SIGHT:
        figure.update_xaxes(side="top")
        figure.update_layout(margin_t=104)
    return figure


def _differing(quality: TestQuality) -> list[tuple[str, str]]:
    return [
        (name, shares.dimension)
        for shares in quality.dimensions
        for name, p in zip(shares.class_names, shares.p_holm, strict=True)
        if p < 0.05
    ]


def _class_panel(figure: go.Figure, shares: Shares, look: Theme, column: int) -> None:
    unit = _unit(shares)
    at, first = np.arange(len(shares.class_names), dtype=np.float64), column == 1
    place = {"row": 1, "col": column}
    band = (unit * shares.split_lower, unit * shares.split_upper)
    grey = interval_bars(at, *band, colour=faded(look.random, 0.35), width=11.0, name="random splits, 95 %")
    figure.add_trace(grey.update(showlegend=first, legendgroup="split"), row=1, col=column)
    ends = (unit * shares.lower, unit * shares.upper)
    bars = interval_bars(at, *ends, colour=look.exclusive, width=1.6, name="95 % over samples")
    figure.add_trace(bars.update(showlegend=False), row=1, col=column)
    figure.add_scatter(
        x=unit * shares.train,
        y=at,
        mode="markers",
        name="training set",
        legendgroup="train",
        showlegend=first,
        marker={"symbol": "diamond-open", "size": 9, "color": look.inclusive, "line": {"width": 1.6}},
        cliponaxis=False,
        hovertemplate=f"training set: %{{x:.{_digits(shares)}f}}<extra></extra>",
        **place,
    )
    differs = shares.p_holm < 0.05
    for mask, name, symbol in (
        (differs, "test set, differs from a random split (Holm)", "circle"),
        (~differs, "test set, no significant difference", "circle-open"),
    ):
        figure.add_scatter(
            x=unit * shares.value[mask],
            y=at[mask],
            mode="markers",
            name=name,
            legendgroup=name,
            showlegend=first,
            marker={"symbol": symbol, "size": 9, "color": look.exclusive, "line": {"width": 1.8}},
            cliponaxis=False,
            text=[_told(shares, int(code)) for code in np.flatnonzero(mask)],
            hovertemplate="%{text}<extra></extra>",
            **place,
        )
    _absent(figure, shares, look, place)
    if shares.scale != 1:
        figure.add_vline(x=1, line={"color": look.grey, "width": 1, "dash": "dot"}, row=1, col=column)
    figure.update_xaxes(tickformat=".1f" if shares.scale != 1 else ".0f", rangemode="tozero", row=1, col=column)


def _absent(figure: go.Figure, shares: Shares, look: Theme, place: dict[str, int]) -> None:
    """A cross for each class that has no test sample, of which this panel can say nothing."""
    codes = np.flatnonzero(np.isnan(shares.value))
    if not len(codes):
        return
    figure.add_scatter(
        x=np.zeros(len(codes)),
        y=codes,
        mode="markers",
        name="no test sample",
        legendgroup="absent",
        showlegend=place["col"] == 2,
        marker={"symbol": "x-thin-open", "size": 10, "color": look.colours[6], "line": {"width": 2}},
        text=[f"{escape(as_name(shares.class_names[code]))}: no test sample" for code in codes],
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
        **place,
    )


def box_chart(subjects: Sequence[Subject], *, dark: bool = False) -> go.Figure:
    """The classes of each model as boxes (figures 4 and 5): test set, training set, and random splits in grey."""
    look = theme(dark)
    sentences = [f"{subject.name} ({', '.join(subject.about)}): {_spreads(subject.quality)}" for subject in subjects]
    alt = f"Box plots over classes of {plural(len(subjects), 'model')}. {'. '.join(sentences)}."
    figure = _panels(look, height=110 + 96 * len(subjects), alt=alt)
    for row, subject in enumerate(subjects):
        for column, shares in enumerate(subject.quality.dimensions, start=1):
            _boxes(figure, shares, look, row, column)
    name_axis(figure, [subject.name for subject in subjects])
    ticks = ["<br>".join(map(escape, (subject.name, *subject.about))) for subject in subjects]
    figure.update_layout(yaxis={"ticktext": ticks})
    for column, shares in enumerate(subjects[0].quality.dimensions, start=1):
        figure.update_xaxes(rangemode="tozero", tickformat=".1f" if shares.scale != 1 else ".0f", row=1, col=column)
    return figure.update_layout(boxmode="overlay")


def _boxes(figure: go.Figure, shares: Shares, look: Theme, row: int, column: int) -> None:
    unit, first = _unit(shares), row == 0 and column == 1
    place = {"row": 1, "col": column}
    known = ~np.isnan(shares.split_lower)
    if known.any():
        low, high = unit * shares.split_lower[known].min(), unit * shares.split_upper[known].max()
        figure.add_scatter(
            x=[low, high, high, low],
            y=[row - 0.42, row - 0.42, row + 0.42, row + 0.42],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=faded(look.random, 0.22),
            name="random splits, 95 % of each class",
            legendgroup="split",
            showlegend=first,
            hoverinfo="skip",
            **place,
        )
    for values, name, colour, symbol, side in (
        (shares.value, "test set", look.exclusive, "circle", -0.2),
        (shares.train, "training set", look.inclusive, "diamond", 0.2),
    ):
        there = np.flatnonzero(~np.isnan(values))
        figure.add_box(
            x=unit * values[there],
            y0=row + side,
            orientation="h",
            width=0.3,
            boxpoints="all" if len(there) <= _MOST_DOTS else "outliers",
            jitter=0,
            pointpos=0,
            name=name,
            legendgroup=name,
            showlegend=first,
            line={"color": colour, "width": 1.3},
            fillcolor=faded(colour),
            marker={"size": 4.5, "color": colour, "symbol": symbol, "opacity": 0.7},
            text=[f"{escape(as_name(shares.class_names[code]))}, {name}" for code in there],
            hoveron="points",
            hovertemplate=f"%{{text}}: %{{x:.{_digits(shares)}f}}<extra></extra>",
            **place,
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
    figure = new_figure(look, x_title=x_title, y_title=y_title, height=340, alt=alt)
    others = [code for code in range(len(curve.class_names)) if code != label and curve.n[code] > 0]
    figure.add_scatter(
        x=np.tile(np.r_[curve.threshold, np.nan], len(others)),
        y=np.concatenate([np.r_[100 * curve.value[code], np.nan] for code in others]) if others else [],
        mode="lines",
        name="other classes, test set",
        line={"color": faded(look.exclusive, 0.35 if len(others) <= 20 else 0.15), "width": 1},
        hoverinfo="skip",
        connectgaps=False,
    )
    if curve.n[label] > 0:
        figure.add_scatter(
            x=np.r_[curve.threshold, curve.threshold[::-1]],
            y=100 * np.r_[curve.upper[label], curve.lower[label][::-1]],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=faded(look.exclusive),
            hoverinfo="skip",
            showlegend=False,
        )
    for values, title, colour, dash in (
        (curve.train[label], "training set", look.inclusive, "dash"),
        (curve.value[label], "test set", look.exclusive, "solid"),
    ):
        figure.add_scatter(
            x=curve.threshold,
            y=100 * values,
            mode="lines",
            name=f"{escape(as_name(name))}, {title}",
            line={"color": colour, "width": 2, "dash": dash},
            hovertemplate=f"{title}: %{{y:.1f}} % at %{{x:.3f}}<extra></extra>",
        )
    figure.add_vline(x=chosen, line={"color": look.ink, "width": 1.2, "dash": "dot"})
    figure.add_annotation(
        x=chosen, y=1, yref="paper", yanchor="bottom", text=fixed(chosen, 2), showarrow=False, font={"size": 12}
    )
    figure.update_yaxes(range=[-3, 103], tickformat=".0f")
    return figure.update_layout(legend={"y": 1.07, "yref": "paper", "yanchor": "bottom"})


def _panels(look: Theme, *, height: int, alt: str) -> go.Figure:
    """An empty figure of three panels that share their rows."""
    figure = new_figure(look, x_title="", height=height, alt=alt)
    figure.set_subplots(1, 3, shared_yaxes=True, horizontal_spacing=_SPACE)
    for column, title in enumerate(TITLES.values(), start=1):
        figure.update_xaxes(title_text=title, row=1, col=column)
    figure.update_yaxes(showgrid=False, ticks="")
    return figure


def _told(shares: Shares, code: int) -> str:
    """A class's value in words, as hovering shows it."""
    digits, unit = _digits(shares), _unit(shares)
    value, lower, upper = (
        fixed(unit * float(values[code]), digits) for values in (shares.value, shares.lower, shares.upper)
    )
    name = escape(as_name(shares.class_names[code]))
    return f"{name}: {value} [{lower}, {upper}]<br>{count(int(shares.n_in[code]))} of {count(int(shares.n[code]))}"


def _spreads(quality: TestQuality) -> str:
    return ", ".join(f"{name} spread {fixed(spread.value, 3)}" for name, spread in quality.spreads.items())


def _unit(shares: Shares) -> float:
    """Shares are shown in percent, the fair share as it is."""
    return 1.0 if shares.scale != 1 else 100.0


def _digits(shares: Shares) -> int:
    return 2 if shares.scale != 1 else 1


def _row(n_rows: int) -> int:
    return 30 if n_rows <= 12 else 22 if n_rows <= 40 else 16
