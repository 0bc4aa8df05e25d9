"""Why is a figure at once there again? What it was drawn from is the same, so that it need not be drawn anew.

Results are kept by `ui.cache` and never changed, so a figure of the very same objects is the very same figure. Its
entry holds on to these objects: nothing else can take their place in memory, and their name, while it is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go

from core.data.identity import key
from ui import cache


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A function of core.figures with what it is to draw."""

    draw: Callable[..., go.Figure]
    dark: bool

    @property
    def identity(self) -> str:
        """Function, objects and theme."""
        return key(_name(self.draw), self.dark)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A figure, and what it was drawn from."""

    figure: go.Figure
    drawing: _Drawing


def drawn(draw: Callable[..., go.Figure], *, dark: bool) -> go.Figure:
    """The figure that `draw(dark=...)` draws: the one that is kept, else a new one. It must not be changed.

    `draw` is a function, or a `partial` of one with results, names and numbers.
    """
    return _drawn(_Drawing(draw, dark)).figure


@cache.result(max_entries=64)
def _drawn(drawing: _Drawing) -> _Drawn:
    return _Drawn(drawing.draw(dark=drawing.dark), drawing)


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
