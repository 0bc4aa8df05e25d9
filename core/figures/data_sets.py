"""What is in the data? Samples by class, and a number over samples and classes (notebook 1 of paper 004)."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Integer

from touchstone.core.evaluate.data_sets import NumberByClass, NumberSummary, SharesByNumber
from touchstone.core.evaluate.wording import MINUS, THIN_SPACE, count, percent, plural, quoted
from touchstone.core.figures.theme import (
    LONGEST_TITLE,
    Theme,
    as_name,
    escape,
    faded,
    name_axis,
    new_figure,
    scale,
    theme,
)

MOST_STACKED = 10
"""With more classes than there are colours, shares are drawn as a heat map."""
MOST_IN_SIGHT = 20
"""With more classes than that, a figure with a row for each is taller than what stands beside it."""
_MANY = 30
_RATIO = 2.0  # the heat map's colours end at four times and at a quarter of the share in all samples


def label_distribution(
    class_names: Sequence[str], n_per_class: Integer[np.ndarray, " n_classes"], *, dark: bool = False
) -> go.Figure:
    """Bars with the number of samples of each class, in the order of `class_names`.

    Examples
    --------
    >>> figure = label_distribution(["plum", "melon"], np.array([30, 10]))
    >>> figure.layout.meta["alt"]
    '40 samples of 2 classes, from 10 (“melon”) to 30 (“plum”): 25.0 % to 75.0 % of all.'
    """
    look = theme(dark)
    total, fewest, most = int(n_per_class.sum()), int(n_per_class.argmin()), int(n_per_class.argmax())
    low, high = (f"{count(int(n_per_class[code]))} ({quoted(class_names[code])})" for code in (fewest, most))
    alt = (
        f"{plural(total, 'sample')} of {plural(len(class_names), 'class', 'classes')}, from {low} to {high}: "
        f"{percent(n_per_class[fewest] / total)} to {percent(n_per_class[most] / total)} of all."
    )
    row = _row(len(class_names))
    figure = new_figure(look, x_title="Samples", height=80 + row * max(len(class_names), 3), alt=alt)
    figure.add_bar(
        x=n_per_class,
        y=np.arange(len(class_names)),
        orientation="h",
        width=0.7,
        marker={"color": look.inclusive, "line": {"width": 0}},
        text=[f"{count(int(n))} · {percent(n / total)}" for n in n_per_class],
        textposition="outside",
        textfont={"size": 12 if row > 20 else 10, "color": look.ink},
        cliponaxis=False,
        hovertemplate="%{text}<extra></extra>",
    )
    name_axis(figure, class_names)
    figure.update_xaxes(rangemode="tozero", range=[0, 1.35 * float(n_per_class.max())], tickformat=",d")
    _axis_in_sight(figure, len(class_names))
    figure.update_layout(separators=f".{THIN_SPACE}")
    return figure


def number_histogram(number: NumberByClass, *, noun: str, dark: bool = False) -> go.Figure:
    """Histogram of a number over all samples, its median as a line; bins without samples are drawn empty."""
    look, overall, bars = theme(dark), number.overall, number.bars
    alt = f"{number.title} of {plural(overall.n, noun)}: {_spread(overall)}."
    figure = new_figure(
        look, x_title=escape(number.title, longest=LONGEST_TITLE), y_title=f"{noun.capitalize()}s", height=270, alt=alt
    )
    width = np.diff(bars.edges)
    last = bars.edges[1:] - 1 if bars.whole else bars.edges[1:]
    ranges = [
        _number(low) if bars.whole and low == high else f"{_number(low)} to {_number(high)}"
        for low, high in zip(bars.edges[:-1], last, strict=True)
    ]
    figure.add_bar(
        x=bars.edges[:-1] + width / 2 - (0.5 if bars.whole else 0.0),
        y=bars.n,
        width=width * 0.94,
        marker={"color": look.inclusive, "line": {"width": 0}},
        customdata=ranges,
        hovertemplate=f"%{{customdata}}: %{{y:,d}} {noun}s<extra></extra>",
    )
    figure.add_vline(x=overall.median, line={"color": look.grey, "width": 1, "dash": "dot"})
    figure.add_annotation(
        x=overall.median,
        y=1,
        yref="paper",
        yanchor="bottom",
        text=f"median {_number(overall.median)}",
        showarrow=False,
        font={"size": 12, "color": look.grey},
    )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(rangemode="tozero", tickformat=",d")
    figure.update_layout(separators=f".{THIN_SPACE}")
    return figure


def class_boxes(number: NumberByClass, *, dark: bool = False) -> go.Figure:
    """A box for the number within every class: quartiles, Tukey's whiskers and the mean; the line is the median of all.

    Boxes are drawn from their five numbers, so that a hundred thousand samples are as quick as ten.
    """
    look, rows = theme(dark), number.classes
    least, most = (end(rows, key=lambda row: row.median) for end in (min, max))
    low, high = (f"{_number(row.median)} ({quoted(row.name)})" for row in (least, most))
    alt = (
        f"{number.title} by class: medians from {low} to {high}; the median of all is {_number(number.overall.median)}."
    )
    figure = new_figure(
        look,
        x_title=escape(number.title, longest=LONGEST_TITLE),
        height=80 + _row(len(rows)) * max(len(rows), 3),
        alt=alt,
    )
    figure.add_vline(x=number.overall.median, line={"color": look.grey, "width": 1, "dash": "dot"})
    figure.add_box(
        y=np.arange(len(rows)),
        orientation="h",
        q1=[row.lower_quartile for row in rows],
        median=[row.median for row in rows],
        q3=[row.upper_quartile for row in rows],
        lowerfence=[row.whisker_low for row in rows],
        upperfence=[row.whisker_high for row in rows],
        mean=[row.mean for row in rows],
        boxmean=True,
        width=0.6,
        line={"color": look.inclusive, "width": 1.2},
        fillcolor=faded(look.inclusive),
        hoverinfo="x",
        showlegend=False,
    )
    name_axis(figure, [row.name for row in rows])
    _axis_in_sight(figure, len(rows))
    return figure


def shares_by_number(shares: SharesByNumber, *, title: str, dark: bool = False) -> go.Figure:
    """The share of every class along a number: bars up to ten classes, for more a heat map of share against the usual.

    Bins hold about equally many samples each.
    """
    look = theme(dark)
    ends = [(_number(low, 3), _number(high, 3)) for low, high in zip(shares.lower, shares.upper, strict=True)]
    names = [low if low == high else f"{low} to {high}" for low, high in ends]
    ratio = shares.shares / shares.overall
    at, code = np.unravel_index(int(ratio.argmax()), ratio.shape)
    alt = (
        f"Shares of the classes by {title}. Furthest above its usual share: {shares.class_names[code]} at {names[at]}, "
        f"{percent(shares.shares[at, code])} against {percent(shares.overall[code])} overall."
    )
    many = len(shares.class_names) > MOST_STACKED
    height = 100 + _row(len(shares.class_names)) * len(shares.class_names) if many else 320
    y_title = None if many else "Share of the class (%)"
    figure = new_figure(look, x_title=escape(title, longest=LONGEST_TITLE), y_title=y_title, height=height, alt=alt)
    if many:
        _heat(figure, shares, names, look)
    else:
        _stacked(figure, shares, look)
    name_axis(figure, names, axis="x")
    if many:  # columns are too narrow for both ends
        figure.update_xaxes(ticktext=[low for low, _ in ends], title_text=f"{figure.layout.xaxis.title.text}, from")
    else:
        figure.update_xaxes(ticktext=[low if low == high else f"{low}<br>to {high}" for low, high in ends])
    _axis_in_sight(figure, len(shares.class_names))
    return figure


def _stacked(figure: go.Figure, shares: SharesByNumber, look: Theme) -> None:
    for code, name in enumerate(map(as_name, shares.class_names)):
        figure.add_bar(
            x=np.arange(len(shares.n)),
            y=100 * shares.shares[:, code],
            name=escape(name),
            width=0.85,
            marker={"color": look.colours[code], "line": {"width": 0.5, "color": look.paper}},
            customdata=np.column_stack([shares.n[:, code], shares.n.sum(axis=1)]),
            hovertemplate=f"{escape(name)}: %{{y:.1f}} %, %{{customdata[0]}} of %{{customdata[1]}}<extra></extra>",
        )
    figure.update_layout(barmode="stack", yaxis={"range": [0, 100], "tickformat": "d"})


def _heat(figure: go.Figure, table: SharesByNumber, bins: Sequence[str], look: Theme) -> None:
    with np.errstate(divide="ignore"):
        ratio = np.log2(table.shares / table.overall)
    hover = [
        [
            f"{escape(as_name(name))}: {percent(share)} at {place}, {percent(usual)} overall, n = {count(int(n))}"
            for place, share, n in zip(bins, shares, counts, strict=True)
        ]
        for name, shares, counts, usual in zip(table.class_names, table.shares.T, table.n.T, table.overall, strict=True)
    ]
    figure.add_heatmap(
        z=np.clip(ratio.T, -_RATIO, _RATIO),
        zmin=-_RATIO,
        zmax=_RATIO,
        colorscale=scale(look.diverging),
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        xgap=1,
        colorbar={
            "tickvals": [-2, -1, 0, 1, 2],
            "ticktext": ["¼ or less", "half", "as usual", "twice", "4 × or more"],
            "thickness": 10,
            "len": min(1.0, 300 / figure.layout.height),
            "y": 1,
            "yanchor": "top",
            "outlinewidth": 0,
        },
    )
    name_axis(figure, table.class_names)


def _row(n_rows: int) -> int:
    return 24 if n_rows <= _MANY else 16


def _axis_in_sight(figure: go.Figure, n_rows: int) -> None:
    """Where rows are so many that a reader scrolls, their axis stands on top."""
    if n_rows > MOST_IN_SIGHT:
        figure.update_xaxes(side="top")
        figure.update_layout(margin_t=60)


def _spread(summary: NumberSummary) -> str:
    return (
        f"from {_number(summary.minimum)} to {_number(summary.maximum)}, half of them between "
        f"{_number(summary.lower_quartile)} and {_number(summary.upper_quartile)}, median {_number(summary.median)}"
    )


def _number(value: float, n_digits: int = 4) -> str:
    """Whole numbers in full, others with a few digits."""
    whole = value == int(value) and abs(value) < 1e15
    return (count(int(value)) if whole else f"{value:.{n_digits}g}").replace("-", MINUS)
