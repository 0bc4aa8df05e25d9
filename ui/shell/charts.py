"""Why is a figure at once there again? What it was drawn from is the same, so that it need not be drawn anew.

Results are kept by `ui.cache` and never changed, so a figure of the very same objects is the very same figure. Its
entry holds on to these objects: nothing else can take their place in memory, and their name, while it is kept.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from touchstone.core.data.dataset import key
from touchstone.core.figures.theme import alt_text
from touchstone.ui import cache


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A function of touchstone.core.figures with what it is to draw."""

    draw: Callable[..., go.Figure]
    dark: bool

    @property
    def identity(self) -> str:
        """Function, objects and theme."""
        return key(_name(self.draw), self.dark)


class Ready(BaseFigure):
    """A figure as it is sent, arrays packed and nothing left to check: each rerun only has to write it down.

    Streamlit has every figure made a dictionary, which copies and packs all of it, before it writes JSON; that is what
    is kept here. It takes only what plotly calls a figure.
    """

    def __init__(self, figure: go.Figure) -> None:  # plotly's own would check and copy it all again
        self._sent = json.loads(figure.to_json(validate=False))
        self._alt = alt_text(figure)

    @property
    def alt(self) -> str:
        """What the figure shows, in words."""
        return self._alt

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; not to be changed."""
        return self._sent


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A figure, and what it was drawn from."""

    figure: Ready
    drawing: _Drawing


def drawn(draw: Callable[..., go.Figure], *, dark: bool) -> Ready:
    """The figure that `draw(dark=...)` draws: the one that is kept, else a new one.

    `draw` is a function, or a `partial` of one with names, numbers and results that are kept themselves: what is made
    anew with every rerun is drawn anew, too.
    """
    return _drawn(_Drawing(draw, dark)).figure


@cache.result(max_entries=64)
def _drawn(drawing: _Drawing) -> _Drawn:
    return _Drawn(Ready(drawing.draw(dark=drawing.dark)), drawing)


def _name(value: Any) -> Any:
    """Numbers and names by what they are, sequences by what they hold, objects by which they are."""
    if value is None or isinstance(value, (str, int, float)):
        return value if value == value else "nan"
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(_name, value)]
    if isinstance(value, Mapping):
        return ["mapping", *([_name(name), _name(held)] for name, held in value.items())]
    if isinstance(value, partial):
        return ["partial", _name(value.func), _name(value.args), _name(value.keywords)]
    return [type(value).__name__, id(value)]
