"""Which error rate of each class can the test set not rule out? The errors seen, and how far above they may be."""

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.test_quality.missed import Missed
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.figures.theme import faded, interval_bars, name_axis, new_figure, theme


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
