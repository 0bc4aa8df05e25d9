"""Where is the model weak? Slices against the rest of the samples."""

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.weak_slices import WeakSlices
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import escape, new_figure, theme

ROW, TOP = 34, 110


def slices(found: WeakSlices, *, dark: bool = False) -> go.Figure:
    """By how much each slice is weaker than its rest, with its interval; filled marks are significantly weaker."""
    look, words = theme(dark), found.words
    sentences = [f"{each.name}: {words.difference(each.worse, each.interval)}." for each in found.slices]
    alt = [f"How much weaker slices are than their rest by {words.name}.", *sentences]
    title = escape(words.axis_of("Weaker than the rest by"), longest=60)
    figure = new_figure(look, title, height=TOP + ROW * len(found.slices), alt=alt)
    for place, each in enumerate(found.slices):
        style = draw.Style(look.exclusive) if each.is_weak else draw.Style(look.grey, "circle-open")
        at, x = np.array([float(place)]), np.array([words.factor * each.worse])
        hover = [f"{escape(each.name)}: {words.difference(each.worse, each.interval)}, {each.n} samples"]
        draw.bars(figure, at, draw.ends_of([each], words.factor), style.colour, each.name, showlegend=False)
        draw.dots(figure, x, at, style, each.name, hover, size=10, showlegend=False)
    draw.name_axis(figure, [each.name for each in found.slices])
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, "x", include=0.0))
    draw.rule(figure, look.grey, x=0, dash="solid")
    return figure
