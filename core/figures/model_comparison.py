"""Is the new model better? Differences with their intervals, and the ladder of all models."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.model_comparison import Difference, ModelComparison, Ranked
from touchstone.core.evaluate.wording import count, fixed, plural, points
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import escape, new_figure, theme

ROW, TOP = 34, 110
MOST_NUMBERS = 12
"""Of more models cells have no room for numbers."""


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
    draw.rows(figure, rows, styles, [each.model for each in rows], hover, words.factor)
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
    draw.rows(figure, found.ranked, styles, [each.model for each in found.ranked], hover, words.factor)
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, "x"))
    return figure


def square(found: ModelComparison, *, dark: bool = False) -> go.Figure:
    """Who beats whom: by how much each row's model is better than each column's, best first; only what is decided."""
    look, words, names = theme(dark), found.words, [each.model for each in found.ranked]
    n, place = len(names), {name: at for at, name in enumerate(names)}
    shown, hover = np.full((n, n), np.nan), [[escape(name) for name in names] for _ in names]
    for each in found.differences:
        own, other = place[each.model], place[each.other]
        for at, sign in (((own, other), 1), ((other, own), -1)):
            better, than = escape(names[at[0]]), escape(names[at[1]])
            hover[at[0]][at[1]] = f"{better} better than {than} by {words.difference(sign * each.value)}"
            if each.better:
                shown[at] = sign * words.factor * each.value
    n_decided = sum(each.better is not None for each in found.differences)
    alt = f"Who beats whom: {n_decided} of {plural(len(found.differences), 'pair')} are decided."
    figure = new_figure(look, "Against", "Model", height=max(240, 130 + (36 if n <= MOST_NUMBERS else 16) * n), alt=alt)
    few = n <= MOST_NUMBERS
    cells = [["" if np.isnan(at) or not few else fixed(at, 0 if abs(at) >= 10 else 1) for at in row] for row in shown]
    most = float(np.nanmax(np.abs(shown), initial=1e-9))
    bar = draw.colour_bar(look, words.axis_of("Better by"), figure, 200)
    draw.heat(figure, shown, look.diverging[::-1], hover, cells, zmin=-most, zmax=most, hoverongaps=True, colorbar=bar)
    draw.name_axis(figure, names)
    draw.name_axis(figure, names, axis="x")
    return figure


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
