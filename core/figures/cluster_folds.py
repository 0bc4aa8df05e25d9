"""How do models fare on each fold, and how do folds lie? (Wecker et al. 2020, tables 1 and 3, figures 3-5)

Folds are numbered from 1, as in the notebooks' files. Random schemes are grey and dashed, the others take the first
colours in their order, so that a scheme looks the same in every figure that is given the same schemes.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float, Integer

from touchstone.core.evaluate.cluster_folds.performance import BASELINES
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, RunScore, SchemeScore
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.wording import THIN_SPACE, count, percent, plural
from touchstone.core.figures import marks as draw
from touchstone.core.figures.marks import Style, map_chart
from touchstone.core.figures.theme import LONGEST_TITLE, Theme, escape, new_figure, theme


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
        else Style(look.colours[made.index(scheme) % len(look.colours)], draw.MARKS[made.index(scheme) % 10])
        for scheme in schemes
    }


def _marks(
    figure: go.Figure, at: np.ndarray, values: np.ndarray, ends: draw.Ends, style: Style, name: str, hover: list[str]
) -> None:
    """The marks of a scheme with upright intervals."""
    draw.bars(figure, at, ends, style.colour, upright=True)
    draw.dots(figure, at, values, style, escape(name), hover, outline=(1.5, style.colour))


def _drawn(estimates: Sequence, unit: int = 100) -> tuple[np.ndarray, draw.Ends]:
    return draw.values_of(estimates, unit), draw.ends_of(estimates, unit)


def performance_chart(performance: FoldPerformance, runs: Sequence[RunScore], *, dark: bool = False) -> go.Figure:
    """The score of every fold with its interval, run beside run; line and band are a run's mean over folds.

    Folds stand in groups, since those of different schemes or seeds cannot be compared one by one.
    """
    look, names, words = theme(dark), run_names(runs), performance.metric.words
    sentences, value = [], words.value
    for run, name in zip(runs, names, strict=True):
        scores = [fold.score.value for fold in run.folds_defined]
        by_fold = f"by fold {value(min(scores))} to {value(max(scores))}" if scores else "defined on no fold"
        baseline = f"; majority class {value(run.majority)}" if not np.isnan(run.majority) else ""
        sentences.append(f"{name}: {value(run.mean.value, run.mean.interval)} on average, {by_fold}{baseline}.")
    alt = [f"{performance.metric.title} of every fold.", *sentences]
    figure = new_figure(look, "Fold", _score_title(performance), height=360, alt=alt)
    styles = scheme_styles(list(dict.fromkeys(run.scheme for run in runs)), look)
    start, ticks, texts = 0, [], []
    for run, name in zip(runs, names, strict=True):
        style, n, mean = styles[run.scheme], run.n_folds_wanted, run.mean
        span = np.array([start - 0.45, start + n - 0.55])
        if mean.interval.known:
            draw.band(figure, span, [np.repeat(end, 2) for end in draw.ends_of([mean], words.factor)], style.colour)
        draw.line(figure, span, np.full(2, words.factor * mean.value), style)
        hover = [
            f"{escape(name)}, fold {fold.fold + 1}<br>{value(fold.score.value, fold.score.interval)}<br>"
            f"n = {count(fold.n)}, accuracy {percent(fold.accuracy.value)}, "
            f"majority class {percent(fold.majority_accuracy)}"
            for fold in run.folds
        ]
        at = np.array([start + fold.fold for fold in run.folds], dtype=np.float64)
        _marks(figure, at, *_drawn([fold.score for fold in run.folds], words.factor), style, name, hover)
        values = words.factor * np.array([fold.majority for fold in run.folds])
        hover, mark = [f"majority class {value(fold.majority)}" for fold in run.folds], Style(look.grey, "line-ew-open")
        shown = {"legendgroup": "majority", "showlegend": start == 0}
        draw.dots(figure, at, values, mark, "Majority class", hover, size=14, outline=2, **shown)
        ticks += [start + fold for fold in range(n)]
        texts += [str(fold + 1) for fold in range(n)]
        start += n + 1
    axis = {"tickmode": "array", "tickvals": ticks, "ticktext": texts, "range": [-0.8, max(start - 1.2, 0.5)]}
    figure.update_xaxes(showgrid=False, ticks="", **axis)
    figure.update_yaxes(tickformat=words.ticks, range=draw.padded(figure, "y"))
    return figure


def seeds_chart(performance: FoldPerformance, rows: Sequence[SchemeScore], *, dark: bool = False) -> go.Figure:
    """The mean of every seed with its interval over samples, scheme beside scheme; the line is the mean over seeds."""
    look, names, words = theme(dark), scheme_names(rows), performance.metric.words
    sentences = [
        f"{name}: {words.value(row.mean.value, row.mean.interval)} over {plural(len(row.seeds), 'seed')}."
        for name, row in zip(names, rows, strict=True)
    ]
    y_title = f"Mean {escape(performance.metric.title, longest=LONGEST_TITLE)}{words.unit}"
    figure = new_figure(look, "", y_title, height=320, alt=["Seeds side by side.", *sentences])
    styles = scheme_styles(list(dict.fromkeys(row.scheme for row in rows)), look)
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        style, span = styles[row.scheme], np.array([place - 0.42, place + 0.42])
        runs = [run for run in performance.runs_of(row.scheme, row.model) if run.whole]
        at = place + (np.arange(len(runs)) - (len(runs) - 1) / 2) * 0.7 / max(len(runs), 2)
        draw.line(figure, span, np.full(2, words.factor * row.mean.value), style)
        hover = [
            f"{escape(name)}, seed {run.seed}<br>{words.value(run.mean.value, run.mean.interval)}<br>"
            f"standard deviation over folds {words.value(run.std)}"
            for run in runs
        ]
        _marks(figure, at, *_drawn([run.mean for run in runs], words.factor), style, name, hover)
    draw.name_axis(figure, names, axis="x")
    figure.update_yaxes(tickformat=words.ticks, range=draw.padded(figure, "y"))
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
    look, words = theme(dark), performance.metric.words
    known = characteristics.set_index(["scheme", "seed", "fold"])[name]
    alt = f"{performance.metric.title} against {name}, for {plural(sum(len(run.folds) for run in runs), 'fold')}."
    x_title = escape(f"{name[0].upper()}{name[1:]}", longest=LONGEST_TITLE)
    figure = new_figure(look, x_title, _score_title(performance), height=300, alt=alt)
    schemes = list(dict.fromkeys(run.scheme for run in runs))
    for scheme, style in scheme_styles(schemes, look).items():
        folds = [fold for run in runs if run.scheme == scheme for fold in run.folds]
        at = known.reindex([(fold.scheme, fold.seed, fold.fold) for fold in folds]).to_numpy(dtype=np.float64)
        hover = [
            f"seed {fold.seed}, fold {fold.fold + 1}: {words.value(fold.score.value, fold.score.interval)}<br>"
            f"{escape(name)} {value:.4g}"
            for fold, value in zip(folds, at, strict=True)
        ]
        _marks(figure, at, *_drawn([fold.score for fold in folds], words.factor), style, scheme_title(scheme), hover)
    figure.update_yaxes(tickformat=words.ticks, range=draw.padded(figure, "y"))
    figure.update_xaxes(range=draw.padded(figure))
    return figure


def class_scores(performance: FoldPerformance, runs: Sequence[RunScore], *, dark: bool = False) -> go.Figure:
    """F1 of each class, all folds together, with its interval; the class that is lowest in the first run on top."""
    look, names = theme(dark), performance.class_names
    first = np.array([f1.value for f1 in runs[0].classes]) if runs else np.zeros(len(names))
    order = np.argsort(np.where(np.isnan(first), np.inf, first), kind="stable").tolist()
    alt = f"F1 of {plural(len(names), 'class', 'classes')}, the lowest {names[order[0]]}."
    row = 30 if len(names) <= 30 else 16
    figure = new_figure(look, "F1 (%)", height=90 + row * max(len(names), 3), alt=alt)
    styles = scheme_styles([run.scheme for run in runs], look)
    for place, (run, name) in enumerate(zip(runs, map(escape, run_names(runs)), strict=True)):
        f1, style = [run.classes[code] for code in order], styles[run.scheme]
        at, (values, ends) = np.arange(len(names)) + (place - (len(runs) - 1) / 2) * 0.24, _drawn(f1)
        draw.bars(figure, at, ends, style.colour, name, showlegend=False)
        hover = [f"{percent(score.value, score.interval)}<br>n = {count(score.n)}" for score in f1]
        draw.dots(figure, values, at, style, name, hover, outline=(1.5, style.colour))
    draw.name_axis(figure, [names[code] for code in order])
    draw.percent_axis(figure)
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


def _score_title(performance: FoldPerformance) -> str:
    title = performance.metric.title
    return escape(f"{title[0].upper()}{title[1:]}{performance.metric.words.unit}", longest=LONGEST_TITLE)


# How do folds lie, how large are they, and which labels and lengths do they hold? (figures 3-5)


def _fold_axis(figure: go.Figure, n_folds: int) -> None:
    """Number the folds from 1 along the figure; of many, not every one."""
    step = max(n_folds // 25, 1)
    figure.update_xaxes(tickmode="linear", tick0=1, dtick=step, range=[0.4, n_folds + 0.6], showgrid=False, ticks="")


def fold_map(
    points: Float[np.ndarray, "n_samples 2"],
    folds: Integer[np.ndarray, " n_samples"],
    scheme: str,
    *,
    names: Sequence[str] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Samples in two dimensions, coloured by fold; beside the map of another scheme it is figure 3 or 5 of the paper.

    `folds` count from 0, and samples with -1 (in no test part) are grey. Fold 1 has the same colour in both maps, but
    that means nothing: folds of different schemes are not the same folds.
    """
    named = [f"fold {name}" for name in names or range(1, int(folds.max(initial=-1)) + 2)]
    first = list(range(min(len(named), 10)))
    figure = map_chart(points, folds, named, coloured=first, axes=("PC 1", "PC 2"), height=420, dark=dark)
    what = f"the {plural(len(named), 'fold')} of {scheme_title(scheme)}"
    return figure.update_layout(meta={"alt": f"Map of {plural(len(points), 'sample')}, coloured by {what}."})


def fold_sizes(folds: Mapping[str, Integer[np.ndarray, " n_samples"]], *, dark: bool = False) -> go.Figure:
    """Bars with the number of samples in each fold, scheme beside scheme."""
    look, sizes = theme(dark), {scheme: np.bincount(fold[fold >= 0]) for scheme, fold in folds.items()}
    sentences = [
        f"{scheme_title(name)}: {plural(len(n_by_fold), 'fold')} of {count(int(n_by_fold.min()))} to "
        f"{count(int(n_by_fold.max()))} samples."
        for name, n_by_fold in sizes.items()
    ]
    figure = new_figure(look, "Fold", "Samples", height=260, alt=["Sizes of folds.", *sentences])
    styles, width = scheme_styles(list(folds), look), 0.8 / max(len(folds), 1)
    for place, (scheme, n_by_fold) in enumerate(sizes.items()):
        style, title, number = styles[scheme], escape(scheme_title(scheme)), np.arange(1, len(n_by_fold) + 1)
        x, hover = number + (place - (len(sizes) - 1) / 2) * width, "fold %{customdata}: %{y:,d} samples"
        hatch = "" if style.dash == "solid" else "/"
        drawn = {"width": width * 0.92, "marker_pattern": {"shape": hatch}, "customdata": number}
        draw.columns(figure, x, n_by_fold, style.colour, title, hover, **drawn)
    _fold_axis(figure, max(map(len, sizes.values()), default=0))
    figure.update_yaxes(rangemode="tozero", tickformat=",d")
    return figure.update_layout(separators=f".{THIN_SPACE}", showlegend=True)


def label_shares(
    folds: Integer[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    class_names: Sequence[str],
    *,
    beside: Sequence[Integer[np.ndarray, " n_samples"]] = (),
    dark: bool = False,
) -> go.Figure:
    """The share of each class in every fold, one mark a fold; the line across a class is its share of all samples.

    `beside` are the folds of the figures that stand beside this one: all of them get the same range.
    """
    look, n_folds = theme(dark), int(folds.max(initial=-1)) + 1
    n_label = _count_labels(folds, y, len(class_names))
    share = _shares(n_label)
    whole = 100 * np.bincount(y, minlength=len(class_names)) / len(y)
    widest = int(np.ptp(share, axis=0).argmax())
    alt = (
        f"Label shares in {plural(n_folds, 'fold')}. They differ most for {class_names[widest]}: "
        f"{percent(share[:, widest].min() / 100)} to {percent(share[:, widest].max() / 100)}, "
        f"{percent(whole[widest] / 100)} of all samples."
    )
    row = 34 if len(class_names) <= 12 else 18
    figure = new_figure(look, "Share of the fold (%)", height=90 + row * max(len(class_names), 3), alt=alt)
    at = np.arange(len(class_names), dtype=np.float64)
    dotted = Style(look.grey, dash="dot")
    draw.bars(figure, whole, (at - 0.42, at + 0.42), dotted, "all samples", width=1.5, upright=True)
    for fold in range(n_folds):
        style, name = Style(look.colours[fold % 10], draw.MARKS[fold % 10]), f"fold {fold + 1}"
        hover, shown = f"{name}: %{{x:.1f}} %, n = %{{customdata:,d}}", {"showlegend": n_folds <= 10}
        places = at + (fold - (n_folds - 1) / 2) * 0.6 / max(n_folds, 1)
        draw.dots(figure, share[fold], places, style, name, hover, size=7, customdata=n_label[fold], **shown)
    draw.name_axis(figure, class_names)
    others = [_shares(_count_labels(other, y, len(class_names))).max(initial=0.0) for other in beside]
    most = max([share.max(initial=0.0), whole.max(), *others])
    figure.update_xaxes(range=[0.0, 1.04 * most], tickformat=".1f")
    return figure


def fold_means(means: Mapping[str, pd.DataFrame], title: str, *, whole: float, dark: bool = False) -> go.Figure:
    """The mean of a number, such as the length of texts, in each fold with its interval; the line is the mean of all.

    `means` has, by scheme, the frame of `core.evaluate.cluster_folds.performance.mean_by_fold`; `title` names the axis.
    """
    look = theme(dark)
    sentences = [
        f"{scheme_title(name)}: {table['mean'].min():.3g} to {table['mean'].max():.3g}."
        for name, table in means.items()
    ]
    alt = [f"{title}, mean by fold; {whole:.3g} over all samples.", *sentences]
    figure = new_figure(look, "Fold", f"{escape(title, longest=LONGEST_TITLE)}, mean", height=260, alt=alt)
    draw.rule(figure, look.grey, y=whole)
    styles = scheme_styles(list(means), look)
    for place, (scheme, table) in enumerate(means.items()):
        fold, mean, lower, upper = table[["fold", "mean", "lower", "upper"]].to_numpy(dtype=np.float64).T
        hover = [
            f"fold {int(number) + 1}: {value:.4g}, n = {count(n)}"
            for number, n, value in table[["fold", "n", "mean"]].itertuples(index=False)
        ]
        at = fold + 1 + (place - (len(means) - 1) / 2) * 0.16
        _marks(figure, at, mean, (lower, upper), styles[scheme], scheme_title(scheme), hover)
    _fold_axis(figure, max((len(table) for table in means.values()), default=0))
    return figure


def _count_labels(folds: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """The samples of each label (column) in each fold (row)."""
    n_folds = int(folds.max(initial=-1)) + 1
    return np.array([np.bincount(y[folds == fold], minlength=n_classes) for fold in range(n_folds)])


def _shares(n_label: np.ndarray) -> np.ndarray:
    """The share, in percent, of each label in each fold."""
    return 100 * n_label / np.maximum(n_label.sum(axis=1, keepdims=True), 1)
