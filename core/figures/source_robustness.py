"""How far does accuracy fall on held-out sources? (Kilinc & Uysal 2017, figures 3-5, and by class and source)"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.source_robustness import (
    AccuracyIntervals,
    Baseline,
    ExpectedInterval,
    ExpectedValue,
)
from touchstone.core.evaluate.wording import count, listed, percent, plural, ratio
from touchstone.core.figures.theme import (
    Theme,
    faded,
    interval_bars,
    name_axis,
    new_figure,
    padded,
    percent_axis,
    theme,
    traces_of,
)

MOST_ROWS = 40
ROW = 26
SCHEMES = {"source_inclusive": "seen in training", "source_exclusive": "held out", "random": "random split"}
FAR = 0.25
"""A baseline so far left of all accuracies is not drawn: it would squeeze them. Captions have its number."""
SYMBOLS = {"source_inclusive": "circle", "source_exclusive": "diamond", "random": "x-thin-open"}


def accuracy_boxes(
    intervals: AccuracyIntervals, *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """Box plots of the accuracy on every split, by model and scheme, with the draws beside them (figure 3)."""
    look, rows = theme(dark), intervals.overall
    colours = dict(zip(SCHEMES, (look.inclusive, look.exclusive, look.random), strict=True))
    figure = new_figure(look, x_title="", y_title="Accuracy on one split (%)", height=380, alt=_boxes_alt(rows, names))
    draws = intervals.accuracies
    shown = [scheme for scheme in SCHEMES if scheme in set(draws["scheme"])]
    for place, scheme in enumerate(shown):
        offset = 0.25 * (place - (len(shown) - 1) / 2)
        of_scheme = draws.loc[(draws["scheme"] == scheme).to_numpy()]
        at, repeats, accuracy = [], [], []
        for position, row in enumerate(rows):
            mine = (of_scheme["model"] == row.model) & (of_scheme["source_finder"] == row.source_finder)
            part = of_scheme.loc[(mine & (of_scheme["n_train"] == row.n_train)).to_numpy()]
            at.append(np.full(len(part), position + offset))
            repeats.append(part["repeat"].to_numpy())
            accuracy.append(100 * part["accuracy"].to_numpy())
        figure.add_box(
            x=np.concatenate(at),
            y=np.concatenate(accuracy),
            customdata=np.concatenate(repeats),
            name=SCHEMES[scheme],
            width=0.2,
            line={"color": colours[scheme], "width": 1.2},
            fillcolor=faded(colours[scheme]),
            marker={
                "symbol": SYMBOLS[scheme],
                "size": 4,
                "opacity": 0.6,
                "color": colours[scheme],
                "line": {"width": 1, "color": colours[scheme]},
            },
            boxpoints="all",
            jitter=0.5,
            pointpos=0,
            hoveron="points",
            hovertemplate="%{y:.1f} % in repeat %{customdata}<extra></extra>",
        )
    _baseline_lines(figure, look, intervals.baselines, axis="y")
    name_axis(figure, row_names(rows, names), axis="x")
    percent_axis(figure, axis="y")
    return figure


def interval_chart(
    rows: Sequence[ExpectedInterval],
    *,
    baselines: Sequence[Baseline] = (),
    names: Mapping[str, str] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Expected accuracy intervals: a band from E[AccX] to E[AccI] (figure 4), each end with both its intervals.

    The bar at an end is its interval over draws, the hairline the one over sources and samples; the caption says so,
    for a legend of all would not fit a phone. Grey lines are the majority class and chance.
    """
    look = theme(dark)
    sentences = [_interval_alt(row, name) for row, name in zip(rows, row_names(rows, names), strict=True)]
    alt = " ".join(["Expected accuracy intervals.", *sentences])
    figure = new_figure(look, x_title="Expected accuracy (%)", height=height_of(len(rows), 52), alt=alt)
    at = np.arange(len(rows), dtype=np.float64)
    ends = {"exclusive": (look.exclusive, "source_exclusive"), "inclusive": (look.inclusive, "source_inclusive")}
    values = {end: _values([getattr(row, end) for row in rows]) for end in (*ends, "usual")}
    figure.add_trace(
        interval_bars(
            at,
            100 * values["exclusive"],
            100 * values["inclusive"],
            colour=faded(look.grey),
            width=14.0,
            name="expected interval",
            showlegend=False,
        )
    )
    for end, (colour, scheme) in ends.items():
        _error_bars(figure, at, [getattr(row, end) for row in rows], colour, factor=100.0)
        _markers(figure, at, values[end], rows, end, colour, scheme)
    if not np.isnan(values["usual"]).all():
        _markers(figure, at, values["usual"], rows, "usual", look.random, "random")
    _baseline_lines(figure, look, baselines)
    name_axis(figure, row_names(rows, names))
    percent_axis(figure)
    return figure


def _baseline_lines(figure: go.Figure, look: Theme, baselines: Sequence[Baseline], *, axis: str = "x") -> None:
    """The majority class and chance, each a grey line across all rows, where they are near what is drawn."""
    drawn = np.concatenate([[np.nan], *(np.asarray(trace[axis], dtype=np.float64) for trace in traces_of(figure))])
    known = [baseline for baseline in baselines if not np.isnan(baseline.exclusive)]
    if np.isnan(drawn).all() or not known:
        return
    ends = np.array([-0.5, len(baselines) - 0.5])
    for name, dash, values in (
        ("majority class", "dash", [baseline.exclusive for baseline in known]),
        ("chance", "dot", [baseline.chance for baseline in known]),
    ):
        at = np.full(2, 100 * np.mean(values))
        if at[0] + 100 * FAR > np.nanmin(drawn):
            x, y = (at, ends) if axis == "x" else (ends, at)
            figure.add_scatter(x=x, y=y, mode="lines", line={"color": look.grey, "dash": dash, "width": 1.2}, name=name)


def rho_chart(
    rows: Sequence[ExpectedInterval], *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """Rho of each model with both its intervals (figure 5); 1 is no loss at all."""
    look = theme(dark)
    labels = row_names(rows, names)
    sentences = [
        f"{name}: rho {ratio(row.rho.value, row.rho.over_sources)}." for row, name in zip(rows, labels, strict=True)
    ]
    figure = new_figure(
        look,
        x_title="Robustness rho = E[AccX] / E[AccI]",
        height=height_of(len(rows), 52),
        alt=" ".join(["Rho, the share of the accuracy that is kept on held-out sources.", *sentences]),
    )
    at = np.arange(len(rows), dtype=np.float64)
    _error_bars(figure, at, [row.rho for row in rows], look.ink, named=True)
    _rho_markers(figure, at, rows, look.ink, "circle", "rho")
    _rho_axis(figure, look)
    name_axis(figure, labels)
    return figure


def class_chart(overall: ExpectedInterval, classes: Sequence[ExpectedInterval], *, dark: bool = False) -> go.Figure:
    """Rho by class, the worst on top; the line and band behind are all classes together.

    Filled diamonds are classes that drop significantly more than the others, corrected for the number of classes.
    """
    look = theme(dark)
    rows = sorted((row for row in classes if not np.isnan(row.rho.value)), key=lambda row: row.rho.value)
    figure = new_figure(
        look,
        x_title="Robustness rho of the class",
        height=height_of(len(rows), 22 if len(rows) > MOST_ROWS else ROW),
        alt=_class_alt(overall, rows),
    )
    if overall.rho.over_sources.known:
        figure.add_vrect(
            x0=overall.rho.over_sources.lower,
            x1=overall.rho.over_sources.upper,
            fillcolor=faded(look.grey, 0.12),
            line_width=0,
        )
    figure.add_vline(x=overall.rho.value, line={"color": look.grey, "width": 1})
    at = np.arange(len(rows), dtype=np.float64)
    _error_bars(figure, at, [row.rho for row in rows], look.exclusive, named=True)
    for name, symbol, chosen in (
        ("drops significantly more than the others", "diamond", True),
        ("no significant difference", "circle-open", False),
    ):
        part = np.array([row.falls_further == chosen for row in rows], dtype=bool)
        if part.any():
            _rho_markers(
                figure, at[part], [r for r, p in zip(rows, part, strict=True) if p], look.exclusive, symbol, name
            )
    _rho_axis(figure, look)
    name_axis(figure, [str(row.label) for row in rows])
    return figure


def row_names(rows: Sequence[ExpectedInterval], names: Mapping[str, str] | None = None) -> list[str]:
    """What to call each row: the model and, where they differ, the source finder and the training-set size."""
    several_finders = len({row.source_finder for row in rows}) > 1
    several_sizes = len({(row.n_train, row.source_finder) for row in rows}) > len({row.source_finder for row in rows})
    names = names or {}
    return [
        names.get(row.model, row.model)
        + (f", {names.get(row.source_finder, row.source_finder)}" if several_finders else "")
        + (f", {count(row.n_train)} samples" if several_sizes else "")
        for row in rows
    ]


def _values(estimates: Sequence[ExpectedValue]) -> np.ndarray:
    return np.array([estimate.value for estimate in estimates], dtype=np.float64)


def _error_bars(
    figure: go.Figure,
    at: np.ndarray,
    estimates: Sequence[ExpectedValue],
    colour: str,
    *,
    factor: float = 1.0,
    named: bool = False,
) -> None:
    """Over sources and samples: a hairline. Over draws: a short broad bar on it, so that both can be seen."""
    for name, kind, width, shade in _bars(colour):
        ends = [getattr(estimate, kind) for estimate in estimates]
        lower, upper = (factor * np.array([getattr(end, side) for end in ends]) for side in ("lower", "upper"))
        figure.add_trace(interval_bars(at, lower, upper, colour=shade, width=width, name=name, showlegend=named))


def _bars(colour: str) -> tuple[tuple[str, str, float, str], ...]:
    """Of both kinds of interval: name in the legend, field, width and shade of the bar."""
    return (
        ("95 % CI for new data", "over_sources", 1.4, colour),
        ("Monte-Carlo error, 95 %", "over_draws", 7.0, faded(colour, 0.35)),
    )


def _markers(
    figure: go.Figure,
    at: np.ndarray,
    values: np.ndarray,
    rows: Sequence[ExpectedInterval],
    end: str,
    colour: str,
    scheme: str,
) -> None:
    figure.add_scatter(
        x=100 * values,
        y=at,
        mode="markers",
        name=SCHEMES[scheme],
        marker={"symbol": SYMBOLS[scheme], "color": colour, "size": 10, "line": {"width": 1.5, "color": colour}},
        text=[_hover(getattr(row, end)) for row in rows],
        hovertemplate="%{text}<extra></extra>",
    )


def _rho_markers(
    figure: go.Figure, at: np.ndarray, rows: Sequence[ExpectedInterval], colour: str, symbol: str, name: str
) -> None:
    figure.add_scatter(
        x=_values([row.rho for row in rows]),
        y=at,
        mode="markers",
        name=name,
        marker={"symbol": symbol, "color": colour, "size": 9},
        text=[f"rho {ratio(row.rho.value, row.rho.over_sources)}<br>n = {count(row.n_samples)}" for row in rows],
        hovertemplate="%{text}<extra></extra>",
    )


def _rho_axis(figure: go.Figure, look: Theme) -> None:
    figure.update_xaxes(tickformat=".3f", range=padded(figure, include=1.0))
    figure.add_vline(x=1, line={"color": look.grey, "width": 1, "dash": "dot"})


def _hover(estimate: ExpectedValue) -> str:
    return f"{percent(estimate.value, estimate.over_sources)}<br>{plural(estimate.n_draws, 'draw')}"


def height_of(n_rows: int, row: int) -> int:
    """How high a figure of so many rows is, each so high."""
    return 90 + row * max(n_rows, 2)


def _boxes_alt(rows: Sequence[ExpectedInterval], names: Mapping[str, str] | None) -> str:
    sentences = [
        f"{name}: {percent(row.inclusive.value)} on average with sources seen in training (standard "
        f"deviation {percent(row.inclusive.sd)}), {percent(row.exclusive.value)} on held-out ones "
        f"({percent(row.exclusive.sd)})."
        for row, name in zip(rows, row_names(rows, names), strict=True)
    ]
    return " ".join(["Box plots of the accuracy on every split.", *sentences])


def _interval_alt(row: ExpectedInterval, name: str) -> str:
    return (
        f"{name}: {percent(row.exclusive.value, row.exclusive.over_sources)} expected on held-out sources, "
        f"{percent(row.inclusive.value, row.inclusive.over_sources)} seen in training."
    )


def _class_alt(overall: ExpectedInterval, rows: Sequence[ExpectedInterval]) -> str:
    if not rows:
        return "Rho by class: nothing is known yet."
    further = [str(row.label) for row in rows if row.falls_further]
    return (
        f"Rho by class, from {ratio(rows[0].rho.value)} ({rows[0].label}) to {ratio(rows[-1].rho.value)} "
        f"({rows[-1].label}); {ratio(overall.rho.value, overall.rho.over_sources)} over all classes. "
        + (
            f"{listed(further)}: significantly more than the others."
            if further
            else "No class drops significantly more."
        )
    )
