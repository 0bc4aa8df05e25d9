"""How far does accuracy range, over all that was asked? Every accuracy of a sheet on one axis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.wording import count
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import Theme, escape, new_figure, theme

ROW, ROW_ON_PAPER = 20, 19
"""How high a row is, in pixels."""
TOP = 8
"""Room above the rows; more where the majority class is written there."""
LONGEST = 48
"""Letters of a name beside the axis."""


@dataclass(frozen=True)
class Mark:
    """An accuracy on the axis.

    `role` says what it is of: "random", "inclusive" and "exclusive" (sources), "folds", "reference", "target" or
    "labels". It is of a recipe that is trained anew, or else of one model. `over` is what its interval is over, and
    `baseline` that of its own set.
    """

    label: str
    value: float
    interval: Interval
    n: int
    role: str
    is_recipe: bool
    over: str = "samples"
    baseline: float | None = None


def accuracy_axis(
    marks: Sequence[Mark],
    baseline: float | None,
    *,
    words: InWords = OF_ACCURACY,
    row: int = ROW,
    dark: bool = False,
) -> go.Figure:
    """Accuracies with their intervals, a row each in the order given; a dashed line at the majority class, if near.

    Of another metric `words` speak, and the line is its baseline. Without one, marks have ticks at their own, if near.

    Those whose intervals are over the same stand together, under a row that says over what, if there are several sorts.
    """
    look, rows, unit, shown = theme(dark), _rows(marks), words.factor, {"showlegend": False}
    sentences = [f"{mark.label}: {words.value(mark.value, mark.interval)}." for mark in marks]
    height, alt = TOP + 46 + row * max(len(rows), 1), " ".join([f"{words.title} on one axis.", *sentences])
    figure = new_figure(look, escape(words.axis), height=height, alt=alt)
    for place, mark in enumerate(rows):
        if isinstance(mark, str):
            continue
        style = draw.Style(_colour(look, mark.role), "circle" if mark.is_recipe else "diamond-open")
        hover = [f"{escape(mark.label)}<br>{words.value(mark.value, mark.interval)}<br>n = {count(mark.n)}"]
        if mark.interval.known:
            draw.bars(figure, [place], draw.ends_of([mark], unit), style.colour, mark.label, width=1.6, **shown)
        x = draw.values_of([mark], unit)
        draw.dots(figure, x, np.array([float(place)]), style, mark.label, hover, size=10, **shown)
    figure.update_layout(margin_t=TOP, minreducedheight=ROW)  # else the title of few rows is drawn over the ticks
    low, high = draw.padded(figure) or (0.0, 1.0)
    figure.update_xaxes(tickformat=words.ticks, range=[low, high])
    line = "majority class" if words.metric.name == ACCURACY else "baseline"
    if baseline is not None and low < unit * baseline < high:
        figure.update_layout(margin_t=TOP + 16, height=height + 16)
        text = f"{line} {words.value(baseline)}"
        draw.rule(figure, look.grey, x=unit * baseline, dash="dash", text=text, xanchor="left")
    for place, mark in enumerate(rows) if baseline is None else ():
        if isinstance(mark, Mark) and mark.baseline is not None and low < unit * mark.baseline < high:
            at, tick = [unit * mark.baseline], draw.Style(look.grey, "line-ns-open")
            draw.dots(figure, at, [place], tick, line, [f"{line} {words.value(mark.baseline)}"], size=14, **shown)
    draw.name_axis(figure, [mark if isinstance(mark, str) else mark.label for mark in rows], longest=LONGEST)
    return figure


def _rows(marks: Sequence[Mark]) -> list[Mark | str]:
    """The marks by what their intervals are over, in the order of the first of each; a heading before each sort."""
    sorts = dict.fromkeys(mark.over for mark in marks)
    by_sort = {over: [mark for mark in marks if mark.over == over] for over in sorts}
    if len(by_sort) < 2:
        return list(marks)
    return [row for over, same in by_sort.items() for row in (f"95 % CIs over {over}:", *same)]


def _colour(look: Theme, role: str) -> str:
    inclusive, exclusive = ("inclusive", "reference"), ("exclusive", "target", "labels")
    colours = dict.fromkeys(inclusive, look.inclusive) | dict.fromkeys(exclusive, look.exclusive)
    return (colours | {"random": look.random}).get(role, look.ink)
