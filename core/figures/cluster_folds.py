"""How do models fare on each fold, and what goes with it? (Wecker et al. 2020, tables 1 and 3)

Folds are numbered from 1, as in the notebooks' files. Random schemes are grey and dashed, the others take the first
colours in their order, so that a scheme looks the same in every figure that is given the same schemes.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from touchstone.core.evaluate.cluster_folds import FoldPerformance, RunScore, SchemeScore, scheme_title
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.figures.cluster_folds_look import Style, marker, marks, scheme_styles, upright
from touchstone.core.figures.theme import (
    LONGEST_TITLE,
    Theme,
    escape,
    faded,
    interval_bars,
    name_axis,
    new_figure,
    padded,
    percent_axis,
    theme,
)


def performance_chart(performance: FoldPerformance, runs: Sequence[RunScore], *, dark: bool = False) -> go.Figure:
    """The score of every fold with its interval, run beside run; line and band are a run's mean over folds.

    Folds stand in groups, since those of different schemes or seeds cannot be compared one by one.
    """
    look = theme(dark)
    names = run_names(runs)
    sentences = []
    for run, name in zip(runs, names, strict=True):
        scores = [fold.score.value for fold in run.folds_defined]
        by_fold = f"by fold {percent(min(scores))} to {percent(max(scores))}" if scores else "defined on no fold"
        baseline = f"; majority class {percent(run.majority)}" if not np.isnan(run.majority) else ""
        sentences.append(f"{name}: {percent(run.mean.value, run.mean.interval)} on average, {by_fold}{baseline}.")
    metric = performance.metric.title
    figure = new_figure(
        look, x_title="Fold", y_title=_score_title(metric), height=360,
        alt=" ".join([f"{metric} of every fold.", *sentences]),
    )  # fmt: skip
    styles = scheme_styles(list(dict.fromkeys(run.scheme for run in runs)), look)
    start, ticks, texts = 0, [], []
    for run, name in zip(runs, names, strict=True):
        style, n = styles[run.scheme], run.n_folds_wanted
        at = np.array([start + fold.fold for fold in run.folds], dtype=np.float64)
        ends = [start - 0.45, start + n - 0.55]
        _mean_line(figure, ends, run, style)
        values = [fold.score for fold in run.folds]
        lower, upper = (
            100 * np.array([getattr(score.interval, end) for score in values]) for end in ("lower", "upper")
        )
        upright(figure, at, lower, upper, style.colour)
        hover = [
            f"{escape(name)}, fold {fold.fold + 1}<br>{percent(fold.score.value, fold.score.interval)}<br>"
            f"n = {count(fold.n)}, accuracy {percent(fold.accuracy.value)}, "
            f"majority class {percent(fold.majority_accuracy)}"
            for fold in run.folds
        ]
        marks(figure, at, 100 * np.array([score.value for score in values]), style, name, hover)
        _baseline(figure, at, 100 * np.array([fold.majority for fold in run.folds]), look, first=start == 0)
        ticks += [start + fold for fold in range(n)]
        texts += [str(fold + 1) for fold in range(n)]
        start += n + 1
    axis = {"tickmode": "array", "tickvals": ticks, "ticktext": texts, "range": [-0.8, max(start - 1.2, 0.5)]}
    figure.update_xaxes(showgrid=False, ticks="", **axis)
    percent_axis(figure, axis="y")
    return figure


def seeds_chart(performance: FoldPerformance, rows: Sequence[SchemeScore], *, dark: bool = False) -> go.Figure:
    """The mean of every seed with its interval over samples, scheme beside scheme; the line is the mean over seeds."""
    look = theme(dark)
    names = scheme_names(rows)
    sentences = [
        f"{name}: {percent(row.mean.value, row.mean.interval)} over {plural(len(row.seeds), 'seed')}."
        for name, row in zip(names, rows, strict=True)
    ]
    metric = performance.metric.title
    figure = new_figure(
        look,
        x_title="",
        y_title=f"Mean {escape(metric, longest=LONGEST_TITLE)} (%)",
        height=320,
        alt=" ".join(["Seeds side by side.", *sentences]),
    )
    styles = scheme_styles(list(dict.fromkeys(row.scheme for row in rows)), look)
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        style = styles[row.scheme]
        runs = [run for run in performance.runs_of(row.scheme, row.model) if run.whole]
        at = place + (np.arange(len(runs)) - (len(runs) - 1) / 2) * 0.7 / max(len(runs), 2)
        line = {"color": style.colour, "width": 1.5, "dash": style.dash}
        figure.add_scatter(
            x=np.array([place - 0.42, place + 0.42]), y=np.full(2, 100 * row.mean.value), mode="lines", line=line,
            showlegend=False, hoverinfo="skip",
        )  # fmt: skip
        lower, upper = (100 * np.array([getattr(run.mean.interval, end) for run in runs]) for end in ("lower", "upper"))
        upright(figure, at, lower, upper, style.colour)
        hover = [
            f"{escape(name)}, seed {run.seed}<br>{percent(run.mean.value, run.mean.interval)}<br>"
            f"standard deviation over folds {percent(run.std)}"
            for run in runs
        ]
        marks(figure, at, 100 * np.array([run.mean.value for run in runs]), style, name, hover)
    name_axis(figure, names, axis="x")
    percent_axis(figure, axis="y")
    return figure.update_layout(showlegend=False)


def relation_chart(
    performance: FoldPerformance,
    runs: Sequence[RunScore],
    characteristics: pd.DataFrame,
    name: str,
    *,
    dark: bool = False,
) -> go.Figure:
    """The score of each fold against one of its characteristics; folds of all seeds, a mark and colour a scheme."""
    look, metric = theme(dark), performance.metric.title
    known = characteristics.set_index(["scheme", "seed", "fold"])[name]
    alt = f"{metric} against {name}, for {plural(sum(len(run.folds) for run in runs), 'fold')}."
    x_title = escape(f"{name[0].upper()}{name[1:]}", longest=LONGEST_TITLE)
    figure = new_figure(look, x_title=x_title, y_title=_score_title(metric), height=300, alt=alt)
    schemes = list(dict.fromkeys(run.scheme for run in runs))
    styles = scheme_styles(schemes, look)
    for scheme in schemes:
        folds = [fold for run in runs if run.scheme == scheme for fold in run.folds]
        places = [(fold.scheme, fold.seed, fold.fold) for fold in folds]
        at = known.reindex(places).to_numpy(dtype=np.float64)
        scores = [fold.score for fold in folds]
        lower, upper = (
            100 * np.array([getattr(score.interval, end) for score in scores]) for end in ("lower", "upper")
        )
        upright(figure, at, lower, upper, styles[scheme].colour)
        hover = [
            f"seed {fold.seed}, fold {fold.fold + 1}: {percent(fold.score.value, fold.score.interval)}<br>"
            f"{escape(name)} {value:.4g}"
            for fold, value in zip(folds, at, strict=True)
        ]
        values = 100 * np.array([fold.score.value for fold in folds])
        marks(figure, at, values, styles[scheme], scheme_title(scheme), hover)
    percent_axis(figure, axis="y")
    figure.update_xaxes(range=padded(figure))
    return figure


def class_scores(performance: FoldPerformance, runs: Sequence[RunScore], *, dark: bool = False) -> go.Figure:
    """F1 of each class, all folds together, with its interval; the class that is lowest in the first run on top."""
    look, names = theme(dark), performance.class_names
    first = np.array([f1.value for f1 in runs[0].classes]) if runs else np.zeros(len(names))
    order = np.argsort(np.where(np.isnan(first), np.inf, first), kind="stable")
    low = names[int(order[0])]
    alt = f"F1 of {plural(len(names), 'class', 'classes')}, the lowest {low}."
    row = 30 if len(names) <= 30 else 16
    figure = new_figure(look, x_title="F1 (%)", height=90 + row * max(len(names), 3), alt=alt)
    styles, at = scheme_styles([run.scheme for run in runs], look), np.arange(len(names), dtype=np.float64)
    for place, (run, name) in enumerate(zip(runs, run_names(runs), strict=True)):
        f1, where = [run.classes[code] for code in order.tolist()], at + (place - (len(runs) - 1) / 2) * 0.24
        lower, upper = (100 * np.array([getattr(score.interval, end) for score in f1]) for end in ("lower", "upper"))
        style = styles[run.scheme]
        bars = interval_bars(where, lower, upper, colour=style.colour, width=1.4, name=escape(name), showlegend=False)
        figure.add_trace(bars)
        figure.add_scatter(
            x=100 * np.array([score.value for score in f1]),
            y=where,
            mode="markers",
            name=escape(name),
            marker=marker(style),
            text=[f"{percent(score.value, score.interval)}<br>n = {count(score.n)}" for score in f1],
            hovertemplate="%{text}<extra></extra>",
        )
    name_axis(figure, [names[int(code)] for code in order])
    percent_axis(figure)
    return figure


def run_names(runs: Sequence[RunScore]) -> list[str]:
    """What to call each run: its scheme and, where they differ, model and seed."""
    several = [len({getattr(run, part) for run in runs}) > 1 for part in ("model", "seed")]
    return [
        scheme_title(run.scheme)
        + (f", {run.model}" if several[0] else "")
        + (f", seed {run.seed}" if several[1] else "")
        for run in runs
    ]


def scheme_names(rows: Sequence[SchemeScore]) -> list[str]:
    """What to call each row: its scheme and, where they differ, its model."""
    several = len({row.model for row in rows}) > 1
    return [scheme_title(row.scheme) + (f", {row.model}" if several else "") for row in rows]


def _score_title(metric: str) -> str:
    return escape(f"{metric[0].upper()}{metric[1:]} (%)", longest=LONGEST_TITLE)


def _baseline(figure: go.Figure, at: np.ndarray, values: np.ndarray, look: Theme, *, first: bool) -> None:
    """What always predicting the majority class would score on each fold."""
    figure.add_scatter(
        x=at,
        y=values,
        mode="markers",
        name="Majority class",
        marker={"symbol": "line-ew-open", "size": 14, "color": look.grey, "line": {"width": 2}},
        text=[f"majority class {percent(value / 100)}" for value in values],
        hovertemplate="%{text}<extra></extra>",
        legendgroup="majority",
        showlegend=first,
    )


def _mean_line(figure: go.Figure, ends: list[float], run: RunScore, style: Style) -> None:
    mean, interval = 100 * run.mean.value, run.mean.interval
    if interval.known:
        figure.add_scatter(
            x=np.array([*ends, *ends[::-1]]),
            y=100 * np.array([interval.lower] * 2 + [interval.upper] * 2),
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=faded(style.colour),
            hoverinfo="skip",
            showlegend=False,
        )
    figure.add_scatter(
        x=np.array(ends),
        y=np.array([mean, mean]),
        mode="lines",
        line={"color": style.colour, "width": 1.5, "dash": style.dash},
        hoverinfo="skip",
        showlegend=False,
    )
