"""How do folds lie, how large are they, and which labels and lengths do they hold? (Wecker et al. 2020, figures 3-5)

Folds are numbered from 1, as in the notebooks' files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float, Integer

from touchstone.core.evaluate.cluster_folds import BASELINES, scheme_title
from touchstone.core.evaluate.wording import THIN_SPACE, count, percent, plural
from touchstone.core.figures.maps import map_chart
from touchstone.core.figures.theme import LONGEST_TITLE, Theme, escape, name_axis, new_figure, theme

# How is a scheme of folds drawn? In one colour, with one mark, wherever it stands; random ones grey and dashed.


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
    look, sizes = theme(dark), {scheme: np.bincount(fold[fold >= 0]) for scheme, fold in folds.items()}
    sentences = [
        f"{scheme_title(name)}: {plural(len(n_by_fold), 'fold')} of {count(int(n_by_fold.min()))} to "
        f"{count(int(n_by_fold.max()))} samples."
        for name, n_by_fold in sizes.items()
    ]
    figure = new_figure(
        look, x_title="Fold", y_title="Samples", height=260, alt=" ".join(["Sizes of folds.", *sentences])
    )
    styles, width = scheme_styles(list(folds), look), 0.8 / max(len(folds), 1)
    for place, (scheme, n_by_fold) in enumerate(sizes.items()):
        style = styles[scheme]
        hatch = "" if style.dash == "solid" else "/"
        figure.add_bar(
            x=np.arange(1, len(n_by_fold) + 1) + (place - (len(sizes) - 1) / 2) * width,
            y=n_by_fold,
            width=width * 0.92,
            name=escape(scheme_title(scheme)),
            marker={"color": style.colour, "line": {"width": 0}, "pattern": {"shape": hatch}},
            customdata=np.arange(1, len(n_by_fold) + 1),
            hovertemplate="fold %{customdata}: %{y:,d} samples<extra></extra>",
        )
    fold_axis(figure, max(map(len, sizes.values()), default=0))
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
    others = [_shares(_count_labels(other, y, len(class_names))).max(initial=0.0) for other in beside]
    most = max([share.max(initial=0.0), whole.max(), *others])
    figure.update_xaxes(range=[0.0, 1.04 * most], tickformat=".1f")
    return figure


def fold_means(means: Mapping[str, pd.DataFrame], title: str, *, whole: float, dark: bool = False) -> go.Figure:
    """The mean of a number, such as the length of texts, in each fold with its interval; the line is the mean of all.

    `means` has, by scheme, the frame of `core.evaluate.cluster_folds.mean_by_fold`; `title` names the axis.
    """
    look = theme(dark)
    sentences = [
        f"{scheme_title(name)}: {table['mean'].min():.3g} to {table['mean'].max():.3g}."
        for name, table in means.items()
    ]
    alt = " ".join([f"{title}, mean by fold; {whole:.3g} over all samples.", *sentences])
    figure = new_figure(
        look, x_title="Fold", y_title=f"{escape(title, longest=LONGEST_TITLE)}, mean", height=260, alt=alt
    )
    figure.add_hline(y=whole, line={"color": look.grey, "width": 1, "dash": "dot"})
    styles = scheme_styles(list(means), look)
    for place, (scheme, table) in enumerate(means.items()):
        at = table["fold"].to_numpy(dtype=np.float64) + 1 + (place - (len(means) - 1) / 2) * 0.16
        lower, upper = (table[name].to_numpy(dtype=np.float64) for name in ("lower", "upper"))
        upright(figure, at, lower, upper, styles[scheme].colour)
        hover = [
            f"fold {fold + 1}: {mean:.4g}, n = {count(n)}"
            for fold, n, mean in table[["fold", "n", "mean"]].itertuples(index=False)
        ]
        marks(figure, at, table["mean"].to_numpy(dtype=np.float64), styles[scheme], scheme_title(scheme), hover)
    fold_axis(figure, max((len(table) for table in means.values()), default=0))
    return figure


def _count_labels(folds: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """The samples of each label (column) in each fold (row)."""
    n_folds = int(folds.max(initial=-1)) + 1
    return np.array([np.bincount(y[folds == fold], minlength=n_classes) for fold in range(n_folds)])


def _shares(n_label: np.ndarray) -> np.ndarray:
    """The share, in percent, of each label in each fold."""
    return 100 * n_label / np.maximum(n_label.sum(axis=1, keepdims=True), 1)


def _fold_names(folds: np.ndarray, names: Sequence[str] | None) -> Sequence[str]:
    return names or [str(fold + 1) for fold in range(int(folds.max(initial=-1)) + 1)]
