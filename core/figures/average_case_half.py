"""How much noise does it take until a prediction is as often another one? Sigma-50 by class."""

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.average_case.verdict import sigma_50
from touchstone.core.evaluate.wording import count
from touchstone.core.figures.average_case import estimator_style, five_numbers
from touchstone.core.figures.theme import as_name, escape, faded, interval_bars, name_axis, new_figure, theme


def half_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """Sigma-50 by class: the samples as a box, the median with its interval; beyond the range they stand at its end.

    Classes stand by their median, the least robust on top; the axis is logarithmic. No single sample is drawn.
    """
    look, names, end = theme(dark), found.class_names, found.furthest
    order = sorted((of.value, code) for code, of in enumerate(found.half_by_class) if of.n)
    codes = [code for _, code in order]
    told = [f"{names[code]} {sigma_50(found.half_by_class[code], end)}" for code in codes]
    title = "Sigma-50 (noise at which half of the copies change class; logarithmic)"
    alt = f"Median sigma-50 by class, n = {count(len(found.half))}: {', '.join(told) or 'not known yet'}."
    figure = new_figure(look, x_title=title, height=90 + 38 * max(len(codes), 3), alt=alt)
    half, style = found.half, estimator_style("monte_carlo", look)
    for place, code in enumerate(codes):
        values = half.loc[half["label"] == code, "sigma_50"].clip(upper=end).to_numpy(dtype=np.float64)
        figure.add_box(
            **five_numbers(values, float(place)),
            orientation="h",
            width=0.4,
            name="samples",
            showlegend=place == 0,
            line={"color": style.colour, "width": 1.2},
            fillcolor=faded(style.colour),
            hoverinfo="skip",
        )
    at_y = np.arange(len(codes), dtype=np.float64)
    ends = [
        np.minimum([getattr(found.half_by_class[code].interval, side) for code in codes], end)
        for side in ("lower", "upper")
    ]
    figure.add_trace(
        interval_bars(at_y, *ends, colour=look.exclusive, width=2.5, name="median, 95 %", showlegend=False)
    )
    figure.add_scatter(
        x=[min(found.half_by_class[code].value, end) for code in codes],
        y=at_y,
        mode="markers",
        name="median with its 95 % interval",
        marker={"symbol": "diamond", "size": 9, "color": look.exclusive, "line": {"width": 1, "color": look.paper}},
        text=[
            f"{escape(as_name(names[code]))}: {sigma_50(found.half_by_class[code], end)}<br>"
            f"n = {count(found.half_by_class[code].n)}"
            for code in codes
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    name_axis(figure, [names[code] for code in codes])
    ticks = sorted({*found.sigmas, end})
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[*(f"{at:g}" for at in ticks[:-1]), f"≥ {ticks[-1]:g}"])
    return figure
