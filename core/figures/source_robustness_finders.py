"""Do source finders find the same sources, and does what they say hold? (Kilinc & Uysal 2017, sections 2 and 4)"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.source_robustness.agreement import SourceAgreement
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources
from touchstone.core.evaluate.wording import bare, listed, percent
from touchstone.core.figures.theme import (
    escape,
    faded,
    interval_bars,
    name_axis,
    new_figure,
    percent_axis,
    scale,
    theme,
)

MOST_NUMBERS = 14


def agreement_map(
    agreement: SourceAgreement, *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """The adjusted Rand index of every pair of clusterings; the clusterings of a finder stand side by side."""
    look, n = theme(dark), len(agreement.clusterings)
    labels = [_clustering(agreement, finder, number, names) for finder, number in agreement.clusterings]
    sentences = [finders.sentence(names) for finders in agreement.finders]
    size = 40 if n <= MOST_NUMBERS else 18
    figure = new_figure(
        look,
        x_title="",
        height=max(220, 110 + size * n),
        alt=" ".join(["Adjusted Rand index within classes.", *sentences]),
    )
    shown = np.where(np.eye(n, dtype=bool), np.nan, agreement.matrix())
    figure.add_heatmap(
        z=shown,
        zmin=0.0,
        zmax=1.0,
        colorscale=scale(look.sequential if dark else look.sequential[::-1]),
        text=[["" if np.isnan(index) or n > MOST_NUMBERS else bare(float(index), 2) for index in row] for row in shown],
        texttemplate="%{text}",
        customdata=[
            [f"{escape(label)} with {escape(other)}: {_index(index)}" for other, index in zip(labels, row, strict=True)]
            for label, row in zip(labels, shown, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": "agreement", "font": {"size": 12, "color": look.grey}},
            "tickfont": {"size": 12},
            "thickness": 10,
            "len": min(1.0, 200 / figure.layout.height),
            "y": 1,
            "yanchor": "top",
            "outlinewidth": 0,
        },
    )
    name_axis(figure, labels)
    name_axis(figure, labels, axis="x")
    return figure


def true_sources_chart(
    rows: Sequence[TrueSources], *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """The interval that each finder gives each model, and in it (or beside it) the accuracy on truly unseen sources.

    The hairline is its 95 % interval over sources and samples.
    """
    look, names = theme(dark), names or {}
    labels = [f"{_name(row.model, names)}, {_name(row.source_finder, names)}" for row in rows]
    alt = " ".join(["Accuracy on truly unseen sources, and the intervals from found ones.", *_alts(rows, labels)])
    figure = new_figure(look, x_title="Expected accuracy (%)", height=90 + 44 * max(len(rows), 2), alt=alt)
    at = np.arange(len(rows), dtype=np.float64)
    ends = {
        "found, held out": (look.exclusive, "diamond", [row.clustered.exclusive.value for row in rows]),
        "found, seen in training": (look.inclusive, "circle", [row.clustered.inclusive.value for row in rows]),
    }
    lower, upper = (100 * np.array(values) for _, _, values in ends.values())
    figure.add_trace(
        interval_bars(at, lower, upper, colour=faded(look.grey), width=14.0, name="interval from found sources")
    )
    unseen = [row.known.exclusive for row in rows]
    sides = [
        100 * np.array([getattr(estimate.over_sources, side) for estimate in unseen]) for side in ("lower", "upper")
    ]
    figure.add_trace(
        interval_bars(at, *sides, colour=look.ink, width=1.4, name="95 % CI for new data", showlegend=False)
    )
    marks = {**ends, "truly unseen, 95 %": (look.ink, "square", [estimate.value for estimate in unseen])}
    for name, (colour, symbol, values) in marks.items():
        figure.add_scatter(
            x=100 * np.array(values),
            y=at,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "color": colour, "size": 9},
            text=[percent(value) for value in values],
            hovertemplate="%{text}<extra></extra>",
        )
    name_axis(figure, labels)
    percent_axis(figure)
    return figure


def _name(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


def _clustering(agreement: SourceAgreement, finder: str, number: int, names: Mapping[str, str] | None) -> str:
    alone = sum(name == finder for name, _ in agreement.clusterings) == 1
    return _name(finder, names or {}) + ("" if alone else f" {number + 1}")


def _index(index: float) -> str:
    return "the same clustering" if np.isnan(index) else bare(float(index), 3)


def _alts(comparisons: Sequence[TrueSources], labels: Sequence[str]) -> list[str]:
    answers: dict[str, list[str]] = {}
    for comparison, label in zip(comparisons, labels, strict=True):
        answers.setdefault(comparison.answer, []).append(label)
    return [f"{answer[0].upper()}{answer[1:]}: {listed(which, most=6)}." for answer, which in answers.items()]
