"""How do folds lie, what is in them, and how do models fare on each? (Wecker et al. 2020, figures 3-5, tables 1, 3)

Folds are numbered from 1, as in the notebooks' files. Random schemes are grey and dashed, the others take the first
colours in their order, so that a scheme looks the same in every figure that is given the same schemes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float, Integer

from core.evaluate.cluster_folds import BASELINES, FoldPerformance, RunScore, SchemeScore, scheme_title
from core.evaluate.wording import THIN_SPACE, count, percent, plural
from core.figures.maps import map_chart
from core.figures.theme import Theme, escape, faded, interval_bars, name_axis, new_figure, padded, percent_axis, theme

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


def fold_map(
    points: Float[np.ndarray, "n_samples 2"],
    folds: Integer[np.ndarray, " n_samples"],
    scheme: str,
    *,
    names: Sequence[str] | None = None,
    selected: Sequence[int] = (),
    axes: tuple[str, str] = ("PC 1", "PC 2"),
    height: int = 420,
    dark: bool = False,
) -> go.Figure:
    """Samples in two dimensions, coloured by fold; beside the map of another scheme it is figure 3 or 5 of the paper.

    `folds` count from 0, and samples with -1 (in no test part) are grey. Fold 1 has the same colour in both maps, but
    that means nothing: folds of different schemes are not the same folds.
    """
    named = [f"fold {name}" for name in _fold_names(folds, names)]
    first = list(range(min(len(named), 10)))
    figure = map_chart(points, folds, named, coloured=first, selected=selected, axes=axes, height=height, dark=dark)
    what = f"the {plural(len(named), 'fold')} of {scheme_title(scheme)}"
    return figure.update_layout(meta={"alt": f"Map of {plural(len(points), 'sample')}, coloured by {what}."})


def fold_sizes(folds: Mapping[str, Integer[np.ndarray, " n_samples"]], *, dark: bool = False) -> go.Figure:
    """Bars with the number of samples in each fold, scheme beside scheme."""
    look, sizes = theme(dark), {scheme: np.bincount(of[of >= 0]) for scheme, of in folds.items()}
    told = [
        f"{scheme_title(name)}: {plural(len(of), 'fold')} of {count(int(of.min()))} to {count(int(of.max()))} samples."
        for name, of in sizes.items()
    ]
    figure = new_figure(look, x_title="Fold", y_title="Samples", height=260, alt=" ".join(["Sizes of folds.", *told]))
    styles, width = scheme_styles(list(folds), look), 0.8 / max(len(folds), 1)
    for place, (scheme, of) in enumerate(sizes.items()):
        style = styles[scheme]
        hatch = "" if style.dash == "solid" else "/"
        figure.add_bar(
            x=np.arange(1, len(of) + 1) + (place - (len(sizes) - 1) / 2) * width,
            y=of,
            width=width * 0.92,
            name=escape(scheme_title(scheme)),
            marker={"color": style.colour, "line": {"width": 0}, "pattern": {"shape": hatch}},
            customdata=np.arange(1, len(of) + 1),
            hovertemplate="fold %{customdata}: %{y:,d} samples<extra></extra>",
        )
    _fold_axis(figure, max(map(len, sizes.values()), default=0))
    figure.update_yaxes(rangemode="tozero", tickformat=",d")
    return figure.update_layout(separators=f".{THIN_SPACE}", showlegend=True)


def label_shares(
    folds: Integer[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    class_names: Sequence[str],
    *,
    dark: bool = False,
) -> go.Figure:
    """The share of each class in every fold, one mark a fold; the line across a class is its share of all samples."""
    look, n_folds = theme(dark), int(folds.max(initial=-1)) + 1
    n_label = np.array([np.bincount(y[folds == fold], minlength=len(class_names)) for fold in range(n_folds)])
    share = 100 * n_label / np.maximum(n_label.sum(axis=1, keepdims=True), 1)
    whole = 100 * np.bincount(y, minlength=len(class_names)) / len(y)
    widest = int(np.ptp(share, axis=0).argmax())
    alt = (
        f"Label shares in {plural(n_folds, 'fold')}. They differ most for {class_names[widest]}: "
        f"{percent(share[:, widest].min() / 100)} to {percent(share[:, widest].max() / 100)}, "
        f"{percent(whole[widest] / 100)} of all samples."
    )
    row = 34 if len(class_names) <= 12 else 18
    figure = new_figure(look, x_title="Share of the fold (%)", height=90 + row * max(len(class_names), 3), alt=alt)
    at = np.arange(len(class_names), dtype=np.float64)
    gap = np.full(len(at), np.nan)
    figure.add_scatter(
        x=np.column_stack([whole, whole, gap]).ravel(),
        y=np.column_stack([at - 0.42, at + 0.42, gap]).ravel(),
        mode="lines",
        name="all samples",
        line={"color": look.grey, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )
    for fold in range(n_folds):
        offset = (fold - (n_folds - 1) / 2) * 0.6 / max(n_folds, 1)
        figure.add_scatter(
            x=share[fold],
            y=at + offset,
            mode="markers",
            name=f"fold {fold + 1}",
            marker={"color": look.colours[fold % 10], "symbol": SYMBOLS[fold % 10], "size": 7},
            customdata=n_label[fold],
            hovertemplate=f"fold {fold + 1}: %{{x:.1f}} %, n = %{{customdata:,d}}<extra></extra>",
            showlegend=n_folds <= 10,
        )
    name_axis(figure, class_names)
    figure.update_xaxes(rangemode="tozero", tickformat=".1f")
    return figure


def fold_means(means: Mapping[str, pd.DataFrame], title: str, *, whole: float, dark: bool = False) -> go.Figure:
    """The mean of a number, such as the length of texts, in each fold with its interval; the line is the mean of all.

    `means` has, by scheme, the frame of `core.evaluate.cluster_folds.mean_by_fold`; `title` names the axis.
    """
    look = theme(dark)
    told = [f"{scheme_title(name)}: {of['mean'].min():.3g} to {of['mean'].max():.3g}." for name, of in means.items()]
    alt = " ".join([f"{title}, mean by fold; {whole:.3g} over all samples.", *told])
    figure = new_figure(look, x_title="Fold", y_title=f"{title}, mean", height=260, alt=alt)
    figure.add_hline(y=whole, line={"color": look.grey, "width": 1, "dash": "dot"})
    styles = scheme_styles(list(means), look)
    for place, (scheme, of) in enumerate(means.items()):
        at = of["fold"].to_numpy(dtype=np.float64) + 1 + (place - (len(means) - 1) / 2) * 0.16
        ends = [of[name].to_numpy(dtype=np.float64) for name in ("lower", "upper")]
        _upright(figure, at, *ends, styles[scheme].colour)
        hover = [
            f"fold {fold + 1}: {mean:.4g}, n = {count(n)}"
            for fold, n, mean in of[["fold", "n", "mean"]].itertuples(index=False)
        ]
        _marks(figure, at, of["mean"].to_numpy(dtype=np.float64), styles[scheme], scheme_title(scheme), hover)
    _fold_axis(figure, max((len(of) for of in means.values()), default=0))
    return figure


def performance_chart(performance: FoldPerformance, runs: Sequence[RunScore], *, dark: bool = False) -> go.Figure:
    """The score of every fold with its interval, run beside run; line and band are a run's mean over folds.

    Folds stand in groups, since those of different schemes or seeds cannot be compared one by one.
    """
    look = theme(dark)
    names = run_names(runs)
    told = []
    for run, name in zip(runs, names, strict=True):
        scores = [fold.score.value for fold in run.folds_defined]
        by_fold = f"by fold {percent(min(scores))} to {percent(max(scores))}" if scores else "defined on no fold"
        told.append(f"{name}: {percent(run.mean.value, run.mean.interval)} on average, {by_fold}.")
    metric = performance.metric.title
    figure = new_figure(
        look, x_title="Fold", y_title=f"{metric[0].upper()}{metric[1:]} (%)", height=360,
        alt=" ".join([f"{metric} of every fold.", *told]),
    )  # fmt: skip
    styles = scheme_styles(list(dict.fromkeys(run.scheme for run in runs)), look)
    start, ticks, texts = 0, [], []
    for run, name in zip(runs, names, strict=True):
        style, n = styles[run.scheme], run.n_folds_wanted
        at = np.array([start + fold.fold for fold in run.folds], dtype=np.float64)
        ends = [start - 0.45, start + n - 0.55]
        _mean_line(figure, ends, run, style)
        values = [fold.score for fold in run.folds]
        bounds = [100 * np.array([getattr(of.interval, end) for of in values]) for end in ("lower", "upper")]
        _upright(figure, at, *bounds, style.colour)
        hover = [
            f"{escape(name)}, fold {fold.fold + 1}<br>{percent(fold.score.value, fold.score.interval)}<br>"
            f"n = {count(fold.n)}, accuracy {percent(fold.accuracy.value)}"
            for fold in run.folds
        ]
        _marks(figure, at, 100 * np.array([of.value for of in values]), style, name, hover)
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
    told = [
        f"{name}: {percent(row.mean.value, row.mean.interval)} over {plural(len(row.seeds), 'seed')}."
        for name, row in zip(names, rows, strict=True)
    ]
    metric = performance.metric.title
    figure = new_figure(
        look, x_title="", y_title=f"Mean {metric} (%)", height=320, alt=" ".join(["Seeds side by side.", *told])
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
        bounds = [100 * np.array([getattr(run.mean.interval, end) for run in runs]) for end in ("lower", "upper")]
        _upright(figure, at, *bounds, style.colour)
        hover = [
            f"{escape(name)}, seed {run.seed}<br>{percent(run.mean.value, run.mean.interval)}<br>"
            f"standard deviation over folds {percent(run.std)}"
            for run in runs
        ]
        _marks(figure, at, 100 * np.array([run.mean.value for run in runs]), style, name, hover)
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
    y_title = f"{metric[0].upper()}{metric[1:]} (%)"
    figure = new_figure(look, x_title=f"{name[0].upper()}{name[1:]}", y_title=y_title, height=300, alt=alt)
    schemes = list(dict.fromkeys(run.scheme for run in runs))
    styles = scheme_styles(schemes, look)
    for scheme in schemes:
        folds = [fold for run in runs if run.scheme == scheme for fold in run.folds]
        places = [(fold.scheme, fold.seed, fold.fold) for fold in folds]
        at = known.reindex(places).to_numpy(dtype=np.float64)
        bounds = [100 * np.array([getattr(fold.score.interval, end) for fold in folds]) for end in ("lower", "upper")]
        _upright(figure, at, *bounds, styles[scheme].colour)
        hover = [
            f"seed {fold.seed}, fold {fold.fold + 1}: {percent(fold.score.value, fold.score.interval)}<br>"
            f"{escape(name)} {value:.4g}"
            for fold, value in zip(folds, at, strict=True)
        ]
        values = 100 * np.array([fold.score.value for fold in folds])
        _marks(figure, at, values, styles[scheme], scheme_title(scheme), hover)
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
        lower, upper = (100 * np.array([getattr(of.interval, end) for of in f1]) for end in ("lower", "upper"))
        style = styles[run.scheme]
        bars = interval_bars(where, lower, upper, colour=style.colour, width=1.4, name=name, showlegend=False)
        figure.add_trace(bars)
        figure.add_scatter(
            x=100 * np.array([of.value for of in f1]),
            y=where,
            mode="markers",
            name=escape(name),
            marker=_marker(style),
            text=[f"{percent(of.value, of.interval)}<br>n = {count(of.n)}" for of in f1],
            hovertemplate="%{text}<extra></extra>",
        )
    name_axis(figure, [names[code] for code in order.tolist()])
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


def _fold_names(folds: np.ndarray, names: Sequence[str] | None) -> Sequence[str]:
    return names or [str(fold + 1) for fold in range(int(folds.max(initial=-1)) + 1)]


def _fold_axis(figure: go.Figure, n_folds: int) -> None:
    step = max(n_folds // 25, 1)
    figure.update_xaxes(tickmode="linear", tick0=1, dtick=step, range=[0.4, n_folds + 0.6], showgrid=False, ticks="")


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


def _upright(figure: go.Figure, at: np.ndarray, lower: np.ndarray, upper: np.ndarray, colour: str) -> None:
    """An interval as an upright line at each place; unknown ones are left out."""
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


def _marks(
    figure: go.Figure, at: np.ndarray, values: np.ndarray, style: Style, name: str, hover: Sequence[str]
) -> None:
    figure.add_scatter(
        x=at,
        y=values,
        mode="markers",
        name=escape(name),
        marker=_marker(style),
        text=list(hover),
        hovertemplate="%{text}<extra></extra>",
    )


def _marker(style: Style) -> dict[str, object]:
    return {"symbol": style.symbol, "color": style.colour, "size": 9, "line": {"width": 1.5, "color": style.colour}}
