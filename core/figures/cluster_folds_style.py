"""How is a scheme of folds drawn? In one colour, with one mark, wherever it stands; random ones grey and dashed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.cluster_folds import BASELINES
from touchstone.core.figures.theme import Theme, escape

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "pentagon", "star", "hexagon", "x")


@dataclass(frozen=True)
class Style:
    """How a scheme is drawn."""

    colour: str
    symbol: str
    dash: str


def scheme_styles(schemes: Sequence[str], look: Theme) -> dict[str, Style]:
    """Colour, mark and line of each scheme: random ones grey and dashed, the others in the order of the colours.

    Examples
    --------
    >>> from touchstone.core.figures.theme import theme
    >>> styles = scheme_styles(["random_folds", "sds_folds"], theme(dark=False))
    >>> styles["random_folds"].dash, styles["sds_folds"].colour
    ('dash', '#1B5FAA')
    """
    made = [scheme for scheme in schemes if scheme not in BASELINES]
    return {
        scheme: Style(look.random, "x-thin-open", "dash")
        if scheme in BASELINES
        else Style(look.colours[made.index(scheme) % len(look.colours)], SYMBOLS[made.index(scheme) % 10], "solid")
        for scheme in schemes
    }


def upright(figure: go.Figure, at: np.ndarray, lower: np.ndarray, upper: np.ndarray, colour: str) -> None:
    """Draw an interval as an upright line at each place; unknown ones are left out."""
    known = ~(np.isnan(lower) | np.isnan(upper))
    gap = np.full(int(known.sum()), np.nan)
    figure.add_scatter(
        x=np.column_stack([at[known], at[known], gap]).ravel(),
        y=np.column_stack([lower[known], upper[known], gap]).ravel(),
        mode="lines",
        line={"color": colour, "width": 1.4},
        hoverinfo="skip",
        showlegend=False,
    )


def marks(figure: go.Figure, at: np.ndarray, values: np.ndarray, style: Style, name: str, hover: Sequence[str]) -> None:
    """Draw the marks of a scheme, what they say beside each."""
    figure.add_scatter(
        x=at,
        y=values,
        mode="markers",
        name=escape(name),
        marker=marker(style),
        text=list(hover),
        hovertemplate="%{text}<extra></extra>",
    )


def marker(style: Style) -> dict[str, object]:
    """Give plotly's marker of a scheme."""
    return {"symbol": style.symbol, "color": style.colour, "size": 9, "line": {"width": 1.5, "color": style.colour}}


def fold_axis(figure: go.Figure, n_folds: int) -> None:
    """Number the folds from 1 along the figure; of many, not every one."""
    step = max(n_folds // 25, 1)
    figure.update_xaxes(tickmode="linear", tick0=1, dtick=step, range=[0.4, n_folds + 0.6], showgrid=False, ticks="")
