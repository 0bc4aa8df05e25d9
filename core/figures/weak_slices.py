"""Where is the model weak? Slices against the rest of the samples."""

import plotly.graph_objects as go

from touchstone.core.evaluate.weak_slices import WeakSlice, WeakSlices
from touchstone.core.evaluate.wording import plural
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import escape, new_figure, theme

ROW, TOP = 34, 110


def slices(found: WeakSlices, *, dark: bool = False) -> go.Figure:
    """By how much each slice is weaker than its rest, with its interval; filled marks are significantly weaker."""
    look, words = theme(dark), found.words
    sentences = [f"{each.name}: {words.difference(each.worse, each.interval)}." for each in found.slices]
    alt = [f"How much weaker slices are than their rest by {words.name}.", *sentences]

    def hover(each: WeakSlice) -> str:
        return f"{words.difference(each.worse, each.interval)}<br>{plural(each.n, 'sample')}"

    title = escape(words.axis_of("Weaker than the rest by"), longest=60)
    figure = new_figure(look, title, height=TOP + ROW * len(found.slices), alt=alt)
    weak, other = draw.Style(look.exclusive), draw.Style(look.grey, "circle-open")
    styles, names = [weak if each.is_weak else other for each in found.slices], [each.name for each in found.slices]
    draw.rows(figure, found.slices, styles, names, hover, words.factor, kind="worse")
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, "x", include=0.0))
    draw.rule(figure, look.grey, x=0, dash="solid")
    return figure
