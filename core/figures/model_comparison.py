"""Is the new model better? Differences with their intervals, and the ladder of all models."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.model_comparison import Difference, ModelComparison, Ranked
from touchstone.core.evaluate.wording import count, plural, points
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import escape, new_figure, theme

ROW, TOP = 34, 110


def forest(found: ModelComparison, *, dark: bool = False) -> go.Figure:
    """How much better each model is than the reference, best first, with its interval; 0 is no difference.

    With a margin, a dotted line stands where a model would be worse by as much.
    """
    look, words, reference = theme(dark), found.words, found.models.names[0]
    rows = sorted(found.against_reference, key=lambda each: -each.value)
    colours = {"above": look.inclusive, "below": look.exclusive}

    def hover(each: Difference) -> str:
        return f"{words.difference(each.value, each.interval)}<br>{plural(each.n_gained, 'gain')}, {each.n_lost} lost"

    sentences = [f"{each.model}: {words.difference(each.value, each.interval)}." for each in rows]
    alt = [f"How much better models are than {reference} by {words.name}.", *sentences]
    title = escape(words.axis_of(f"Better than {reference} by"), longest=60)
    figure = new_figure(look, title, height=TOP + ROW * len(rows), alt=alt)
    styles = [draw.Style(colours.get(each.claim.decision, look.ink)) for each in rows]
    _rows(figure, rows, styles, [each.model for each in rows], hover, words.factor)
    least = 0.0 if found.margin is None else -words.factor * found.margin
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, "x", include=least))
    draw.rule(figure, look.grey, x=0, dash="solid")
    if found.margin is not None:
        draw.rule(figure, look.grey, x=-words.factor * found.margin, text="margin", xanchor="right")
    return figure


def ladder(found: ModelComparison, *, dark: bool = False) -> go.Figure:
    """Every model by its metric, best first, with its own interval; those that may be the best are filled."""
    look, words = theme(dark), found.words

    def hover(each: Ranked) -> str:
        return f"{words.value(each.value, each.interval)}<br>rank {each.ranks}"

    sentences = [f"{each.model}: {words.value(each.value, each.interval)}, rank {each.ranks}." for each in found.ranked]
    alt = [f"Models by {words.name}.", *sentences]
    figure = new_figure(look, escape(words.axis), height=TOP + ROW * len(found.ranked), alt=alt)
    styles = [draw.Style(look.ink, "circle" if each.best_rank == 1 else "circle-open") for each in found.ranked]
    _rows(figure, found.ranked, styles, [each.model for each in found.ranked], hover, words.factor)
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, "x"))
    return figure


def _rows(
    figure: go.Figure,
    rows: Sequence[Any],
    styles: Sequence[draw.Style],
    names: Sequence[str],
    hover: Callable[[Any], str],
    unit: int,
) -> None:
    """A mark and its interval for each row, from top to bottom."""
    for place, (each, style, name) in enumerate(zip(rows, styles, names, strict=True)):
        at, told = np.array([float(place)]), [f"{escape(name)}: {hover(each)}"]
        draw.bars(figure, at, draw.ends_of([each], unit), style.colour, name, showlegend=False)
        draw.dots(figure, draw.values_of([each], unit), at, style, name, told, size=10, showlegend=False)
    draw.name_axis(figure, list(names))


def sizes(curve: Sequence[tuple[int, float]], difference: float, *, dark: bool = False) -> go.Figure:
    """The smallest difference that so many samples show, on logarithmic axes; a rule where the asked one is."""
    look = theme(dark)
    n, smallest = np.array([each for each, _ in curve], float), 100 * np.array([each for _, each in curve], float)
    told = [f"{count(at)} samples show {points(each)}" for at, each in curve]
    ends = [f"From {told[0]} to {told[-1]}."] if told else []
    title = "Samples for both models (logarithmic)"
    figure = new_figure(
        look, title, "Smallest difference (points)", alt=["Smallest difference shown by samples.", *ends]
    )
    draw.line(figure, n, smallest, draw.Style(look.ink), "shown in 4 of 5 test sets", told, showlegend=False)
    draw.rule(figure, look.grey, y=100 * difference)
    figure.update_layout(separators=".\N{NARROW NO-BREAK SPACE}")
    figure.update_xaxes(type="log", dtick=1, tickformat=",d")
    figure.update_yaxes(type="log", dtick="D2", tickformat="~g")
    return figure
