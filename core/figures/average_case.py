"""How robust are classes and samples? (Han et al. 2024, figures 3 and 4)

Monte-Carlo, which counts, is ink; the analytic estimators have colours of their own (`estimator_style`).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float

from touchstone.core.evaluate.average_case import facts_of
from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.average_case.verdict import estimator_title, sigma_50
from touchstone.core.evaluate.wording import bare, count, percent, plural, points, quoted
from touchstone.core.figures.theme import (
    Theme,
    as_name,
    escape,
    faded,
    interval_bars,
    name_axis,
    new_figure,
    padded,
    scale,
    theme,
)

MOST_SHAPES = 1500
P_ROBUST = "p_robust (share of noisy copies with the same prediction, %)"


@dataclass(frozen=True)
class Style:
    """How an estimator is drawn: its mark in a theme's colours."""

    colour: str
    symbol: str
    dash: str


def estimator_style(name: str, look: Theme) -> Style:
    """Colour, mark and line of an estimator, the same on every page.

    Examples
    --------
    >>> estimator_style("mmse", theme(dark=False)), estimator_style("monte_carlo", theme(dark=False)).colour
    (Style(colour='#0B8F80', symbol='circle', dash='solid'), '#14181E')
    """
    mark = facts_of(name).mark
    named = {"ink": look.ink, "grey": look.grey}
    colour = named[mark.colour] if isinstance(mark.colour, str) else look.colours[mark.colour]
    return Style(colour, mark.symbol, mark.dash)


def class_chart(found: Robustness, sigma: float, *, summarised: bool = False, dark: bool = False) -> go.Figure:
    """The robustness of every class (figure 4): its samples as a box, its mean with the interval, the audit in ink.

    Classes stand by their mean, the least robust on top. A summarised chart holds no single sample: boxes are five
    numbers without outliers, and so is what the audit counted.
    """
    look, at, names = theme(dark), found.at(sigma), found.class_names
    order = sorted((of.value, code) for code, of in enumerate(at.classes) if of.n)
    codes = [code for _, code in order]
    alt = f"p_robust by class at sigma {sigma:g}, n = {count(at.n)}."
    if codes:
        low, high = codes[0], codes[-1]
        alt += (
            f" Least robust {names[low]}, mean {percent(at.classes[low].value, at.classes[low].interval)}; most robust "
            f"{names[high]}, {percent(at.classes[high].value, at.classes[high].interval)}."
        )
    figure = new_figure(look, x_title=P_ROBUST, height=90 + 30 * max(len(codes), 3), alt=alt)
    style, truth = estimator_style(found.estimator, look), estimator_style("monte_carlo", look)
    samples, counted = found.samples_at(sigma), found.audit.counted
    counted = counted[counted["sigma"] == sigma]
    for place, code in enumerate(codes):
        of_class = 100 * samples.loc[samples["label"] == code, "p_robust"].dropna().to_numpy(dtype=np.float64)
        outliers = {"y0": place - 0.12, "boxpoints": "outliers", "jitter": 0.4, "pointpos": 0}
        figure.add_box(
            **five_numbers(of_class, place - 0.12) if summarised else {"x": of_class, **outliers},
            orientation="h",
            width=0.4,
            name=estimator_title(found.estimator),
            legendgroup="samples",
            showlegend=place == 0,
            line={"color": style.colour, "width": 1.2},
            fillcolor=faded(style.colour),
            marker={"size": 3.5, "opacity": 0.6, "color": style.colour},
            hoverinfo="skip",
        )
    (_counted_boxes if summarised else _counted_ticks)(figure, counted, codes, truth)
    at_y = np.arange(len(codes), dtype=np.float64) - 0.12
    ends = [100 * np.array([getattr(at.classes[code].interval, end) for code in codes]) for end in ("lower", "upper")]
    figure.add_trace(interval_bars(at_y, *ends, colour=look.exclusive, width=2.5, name="mean, 95 %", showlegend=False))
    figure.add_scatter(
        x=[100 * at.classes[code].value for code in codes],
        y=at_y,
        mode="markers",
        name="mean with its 95 % interval",
        marker={"symbol": "diamond", "size": 9, "color": look.exclusive, "line": {"width": 1, "color": look.paper}},
        text=[
            f"{escape(as_name(names[code]))}: {percent(at.classes[code].value, at.classes[code].interval)}<br>"
            f"n = {count(at.classes[code].n)}"
            for code in codes
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    name_axis(figure, [names[code] for code in codes])
    figure.update_xaxes(tickformat=".0f", range=padded(_with_fences(figure), include=100.0))
    return figure.update_layout(boxmode="overlay")


def five_numbers(values: Float[np.ndarray, " n"], y: float) -> dict[str, list[float]]:
    """A box as plotly would draw it of the values, without them: quartiles, and the last values within 1.5 boxes.

    >>> five_numbers(np.array([0.0, 10.0, 11.0, 12.0, 13.0]), 2.0)
    {'y': [2.0], 'q1': [7.5], 'median': [11.0], 'q3': [12.25], 'lowerfence': [7.5], 'upperfence': [13.0]}
    """
    q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75), method="hazen").tolist()
    reach = 1.5 * (q3 - q1)
    within = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, high = min(q1, float(within.min(initial=q1))), max(q3, float(within.max(initial=q3)))
    return {"y": [y], "q1": [q1], "median": [median], "q3": [q3], "lowerfence": [low], "upperfence": [high]}


def _with_fences(figure: go.Figure) -> go.Figure:
    """The same places along the axis, where boxes of five numbers have none that `padded` sees."""
    boxes = [one for one in figure.data if one.type == "box" and one.x is None]
    fences = [end for box in boxes for end in (*box.lowerfence, *box.upperfence)]
    return go.Figure([go.Scatter(x=fences), *(one for one in figure.data if one.x is not None)])


def _counted_boxes(figure: go.Figure, counted: pd.DataFrame, codes: list[int], truth: Style) -> None:
    """Monte-Carlo's answer for the audited samples of each class, a narrow box below that of all its samples."""
    parts = {code: counted.loc[counted["label"] == code, "p_robust"].to_numpy(dtype=np.float64) for code in codes}
    audited = [code for code in codes if len(parts[code])]
    for code in audited:
        figure.add_box(
            **five_numbers(100 * parts[code], codes.index(code) + 0.24),
            orientation="h",
            width=0.16,
            name="Monte-Carlo (audited samples)",
            legendgroup="audited",
            showlegend=code == audited[0],
            line={"color": truth.colour, "width": 1.2},
            fillcolor="rgba(0,0,0,0)",
            hoverinfo="skip",
        )


def _counted_ticks(figure: go.Figure, counted: pd.DataFrame, codes: list[int], truth: Style) -> None:
    """Monte-Carlo's answer for each audited sample, a tick below the box of its class."""
    places = {code: place for place, code in enumerate(codes)}
    part = counted[counted["label"].isin(codes)]
    if not len(part):
        return
    p, lower, upper = (100 * part[name].to_numpy(dtype=np.float64) for name in ("p_robust", "lower", "upper"))
    figure.add_scatter(
        x=p,
        y=np.array([places[int(code)] for code in part["label"]]) + 0.24,
        mode="markers",
        name="Monte-Carlo (audited samples)",
        marker={
            "symbol": truth.symbol,
            "size": 9,
            "color": truth.colour,
            "line": {"width": 1.4, "color": truth.colour},
        },
        text=[f"{value:.1f} % [{low:.1f}, {high:.1f}]" for value, low, high in zip(p, lower, upper, strict=True)],
        hovertemplate="Monte-Carlo: %{text}<extra></extra>",
    )


def sigma_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """Mean p_robust over sigma with its interval, between the least and the most robust class; Monte-Carlo in ink."""
    look, by = theme(dark), found.by_sigma
    told = [f"{percent(of.mean.value, of.mean.interval)} at {of.sigma:g}" for of in by]
    alt = f"Mean p_robust over sigma: {', '.join(told)}."
    figure = new_figure(look, x_title="Sigma (standard deviation of the noise)", y_title="Mean p_robust (%)", alt=alt)
    sigmas, counted_means = np.array([of.sigma for of in by]), any(of.n_draws is not None for of in by)
    style, truth = estimator_style(found.estimator, look), estimator_style("monte_carlo", look)
    values = [np.array([mean.value for mean in of.classes if mean.n]) for of in by]
    for title, of, dash in (("most robust class", np.max, "dot"), ("least robust class", np.min, "dash")):
        figure.add_scatter(
            x=sigmas,
            y=[100 * float(of(value)) if len(value) else None for value in values],
            mode="lines",
            name=title,
            line={"color": style.colour, "width": 1.2, "dash": dash},
            hovertemplate=f"{title}: %{{y:.1f}} %<extra></extra>",
        )
    ends = [100 * np.array([getattr(of.mean.interval, end) for of in by]) for end in ("upper", "lower")]
    figure.add_scatter(
        x=np.r_[sigmas, sigmas[::-1]],
        y=np.r_[ends[0], ends[1][::-1]],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faded(style.colour),
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=sigmas,
        y=[100 * of.mean.value for of in by],
        mode="lines+markers",
        name="all classes" if counted_means else f"all classes, {estimator_title(found.estimator)}",
        line={"color": style.colour, "width": 2},
        marker={"symbol": style.symbol, "size": 8},
        text=[f"{percent(of.mean.value, of.mean.interval)}<br>n = {count(of.n)}" for of in by],
        hovertemplate="%{text}<extra></extra>",
    )
    if len(found.audit.counted):
        counted = found.audit.counted.groupby("sigma")["p_robust"].agg(["mean", "size"])
        figure.add_scatter(
            x=counted.index.to_numpy(),
            y=100 * counted["mean"].to_numpy(),
            mode="markers",
            name="Monte-Carlo (audited samples)",
            marker={"symbol": "line-ew-open", "size": 13, "color": truth.colour, "line": {"width": 2}},
            text=[plural(int(n), "sample") for n in counted["size"]],
            hovertemplate="Monte-Carlo: %{y:.1f} %, %{text}<extra></extra>",
        )
    figure.update_xaxes(range=padded(figure, include=0.0), tickvals=sigmas, ticktext=[f"{sigma:g}" for sigma in sigmas])
    figure.update_yaxes(tickformat=".0f", range=padded(figure, "y", include=100.0))
    return figure


def confidence_chart(
    found: Robustness, sigma: float, *, selected: tuple[int, ...] = (), dark: bool = False
) -> go.Figure:
    """p_robust against softmax confidence, a mark a sample; wrong predictions stand out. `customdata` has positions."""
    look, at = theme(dark), found.at(sigma)
    samples = found.samples_at(sigma).dropna(subset=["p_robust", "confidence"])
    agreement = at.agreement
    alt = f"p_robust against softmax confidence at sigma {sigma:g}, {plural(len(samples), 'sample')}"
    known = not np.isnan(agreement.value)
    alt += f"; rank correlation {bare(agreement.value, 2)}." if known else "."
    figure = new_figure(look, x_title="Softmax confidence (%)", y_title="p_robust (%)", height=380, alt=alt)
    style = estimator_style(found.estimator, look)
    right = (samples["label"] == samples["predicted"]).to_numpy()
    parts = (
        ("right", right, style.colour, "circle"),
        ("wrong", ~right, look.exclusive, "x"),
    )
    for name, mask, colour, symbol in parts:
        part = samples[mask]
        if len(part):
            rows = part["row"].to_numpy(dtype=np.int32)
            figure.add_trace(
                _scatter(len(samples))(
                    x=(100 * part["confidence"]).to_numpy(dtype=np.float32),
                    y=(100 * part["p_robust"]).to_numpy(dtype=np.float32),
                    customdata=rows,
                    mode="markers",
                    name=f"prediction {name}, n = {count(len(part))}",
                    marker={"color": colour, "symbol": symbol, "size": 6 if name == "right" else 8, "opacity": 0.65},
                    selectedpoints=np.flatnonzero(np.isin(rows, selected)) if len(selected) else None,
                    unselected={"marker": {"opacity": 0.12}},
                    hovertemplate=f"confidence %{{x:.1f}} %, p_robust %{{y:.1f}} %, {name}<extra></extra>",
                )
            )
    figure.update_layout(dragmode="lasso")
    figure.update_xaxes(tickformat=".0f", range=padded(figure, include=100.0))
    figure.update_yaxes(tickformat=".0f", range=padded(figure, "y", include=100.0))
    return figure


def _scatter(n_points: int) -> type:
    """Few points are drawn as shapes, which every browser does at once; many take the graphics card."""
    return go.Scattergl if n_points > MOST_SHAPES else go.Scatter


def robustness_map(
    points: Float[np.ndarray, "n_samples 2"],
    found: Robustness,
    sigma: float,
    *,
    selected: tuple[int, ...] = (),
    axes: tuple[str, str] = ("First principal component", "Second principal component"),
    dark: bool = False,
) -> go.Figure:
    """Where the judged samples lie, coloured by p_robust; `points` are those of the whole data set, by position.

    Fragile samples stand out: dark on paper, bright on a dark page.
    """
    look, samples = theme(dark), found.samples_at(sigma).dropna(subset=["p_robust"])
    alt = f"Map of {plural(len(samples), 'sample')}, coloured by p_robust at sigma {sigma:g}."
    figure = new_figure(look, x_title=axes[0], y_title=axes[1], height=380, alt=alt)
    rows = samples["row"].to_numpy(dtype=np.int32)
    shares = (100 * samples["p_robust"]).to_numpy(dtype=np.float32)
    figure.add_trace(
        _scatter(len(samples))(
            x=points[rows, 0].astype(np.float32),
            y=points[rows, 1].astype(np.float32),
            customdata=rows,
            mode="markers",
            marker={
                "size": 7,
                "color": shares,
                "colorscale": scale(look.sequential[::-1] if dark else look.sequential),
                "cmin": float(shares.min(initial=100.0)),
                "cmax": 100.0,
                "colorbar": {
                    "title": {"text": "p_robust (%)", "font": {"size": 12, "color": look.grey}},
                    "tickfont": {"size": 12},
                    "thickness": 10,
                    "outlinewidth": 0,
                },
                "line": {"width": 0},
            },
            selectedpoints=np.flatnonzero(np.isin(rows, selected)) if len(selected) else None,
            unselected={"marker": {"opacity": 0.12}},
            hovertemplate="p_robust %{marker.color:.1f} %<extra></extra>",
            showlegend=False,
        )
    )
    bare_axis = {"showgrid": False, "ticks": "", "showticklabels": False}
    return figure.update_layout(dragmode="lasso", xaxis=bare_axis, yaxis={**bare_axis, "scaleanchor": "x"})


def gap_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """The largest gap between classes over sigma with its interval; what shuffled labels would show, in grey."""
    look = theme(dark)
    gaps = [(of.sigma, of.gap) for of in found.by_sigma if of.gap is not None]
    told = [f"{points(gap.value, gap.interval)} at {sigma:g}" for sigma, gap in gaps]
    alt = f"Largest gap between two classes over sigma: {', '.join(told) or 'not known yet'}."
    figure = new_figure(
        look, x_title="Sigma (standard deviation of the noise)", y_title="Largest gap of classes (points)", alt=alt
    )
    sigmas = np.array([sigma for sigma, _ in gaps])
    figure.add_scatter(
        x=sigmas,
        y=[100 * gap.by_chance for _, gap in gaps],
        mode="lines",
        name="with labels shuffled",
        line={"color": look.random, "width": 1.5, "dash": "dash"},
        hovertemplate="by chance: %{y:.1f} points<extra></extra>",
    )
    values = np.array([100 * gap.value for _, gap in gaps])
    lower, upper = (100 * np.array([getattr(gap.interval, end) for _, gap in gaps]) for end in ("lower", "upper"))
    figure.add_scatter(
        x=sigmas,
        y=values,
        mode="markers",
        name="largest gap with its 95 % interval",
        marker={"symbol": "diamond", "size": 9, "color": look.exclusive},
        error_y={
            "type": "data", "symmetric": False, "array": upper - values, "arrayminus": values - lower,
            "color": look.exclusive, "thickness": 1.4, "width": 4,
        },
        text=[
            f"{points(gap.value, gap.interval)}<br>{escape(as_name(found.class_names[gap.least]))} to "
            f"{escape(as_name(found.class_names[gap.most]))}"
            for _, gap in gaps
        ],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(range=padded(figure, include=0.0), tickvals=sigmas, ticktext=[f"{sigma:g}" for sigma in sigmas])
    figure.update_yaxes(rangemode="tozero", tickformat=".0f")
    return figure


# Which kind of change breaks which class? Classes by named directions, all of the same strength.


MOST_DIRECTIONS = 12
"""Of more directions (columns of a table) those that break predictions most."""
MOST_NUMBERS = 20


def direction_chart(found: Robustness, sigma: float, *, dark: bool = False) -> go.Figure:
    """The share that keeps its prediction along each direction, by class: a heat map, the least robust at the top left.

    Directions stand by their mean over classes, and so do classes over directions.
    """
    look, names = theme(dark), found.class_names
    means = found.directions_at(sigma)
    codes = [code for code in range(len(names)) if any(of[code].n for of in means.values())]
    shares = np.array([[of[code].value for of in means.values()] for code in codes])
    across = np.argsort(shares.mean(axis=0), kind="stable")[:MOST_DIRECTIONS]
    down = np.argsort(shares.mean(axis=1), kind="stable")
    titles = [list(means)[place] for place in across]
    rows = [codes[place] for place in down]
    cells = [[means[title][code] for title in titles] for code in rows]
    n = sum(of.n for of in next(iter(means.values())))
    least = min(((of.value, title, code) for title, all_ in means.items() for code, of in enumerate(all_) if of.n))
    alt = (
        f"Share that keeps the prediction by class and direction at sigma {sigma:g}, n = {count(n)}. Lowest: "
        f"{quoted(names[least[2]])}, {least[1]}, {percent(least[0])}."
    )
    figure = new_figure(look, x_title="Direction", y_title="Class", height=max(220, 130 + 34 * len(rows)), alt=alt)
    shown = np.array([[100 * of.value for of in row] for row in cells])
    figure.add_heatmap(
        z=shown,
        zmin=float(shown.min()),
        zmax=100.0,
        colorscale=scale(look.sequential if dark else look.sequential[::-1]),
        text=[[f"{value:.0f}" if len(rows) <= MOST_NUMBERS else "" for value in row] for row in shown],
        texttemplate="%{text}",
        customdata=[
            [
                f"{escape(as_name(names[code]))}, {escape(title)}: {percent(of.value, of.interval)}, n = {count(of.n)}"
                for title, of in zip(titles, row, strict=True)
            ]
            for code, row in zip(rows, cells, strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        xgap=1,
        ygap=1,
        colorbar={
            "title": {"text": "unchanged (%)", "font": {"size": 12, "color": look.grey}},
            "tickfont": {"size": 12},
            "thickness": 10,
            "outlinewidth": 0,
        },
    )
    name_axis(figure, [names[code] for code in rows])
    name_axis(figure, titles, axis="x")
    return figure


# How much noise does it take until a prediction is as often another one? Sigma-50 by class.


def half_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """Sigma-50 by class: the samples as a box, the median with its interval; beyond the range they stand at its end.

    Classes stand by their median, the least robust on top; the axis is logarithmic. No single sample is drawn.
    """
    look, names, end = theme(dark), found.class_names, found.furthest
    order = sorted((of.value, code) for code, of in enumerate(found.half_by_class) if of.n)
    codes = [code for _, code in order]
    told = [f"{names[code]} {sigma_50(found.half_by_class[code], end)}" for code in codes]
    title = "Sigma-50 (noise at which half of the copies change class; logarithmic)"
    alt = f"Median sigma-50 by class, n = {count(len(found.half))}: {', '.join(told) or 'not known yet'}."
    figure = new_figure(look, x_title=title, height=90 + 38 * max(len(codes), 3), alt=alt)
    half, style = found.half, estimator_style("monte_carlo", look)
    for place, code in enumerate(codes):
        values = half.loc[half["label"] == code, "sigma_50"].clip(upper=end).to_numpy(dtype=np.float64)
        figure.add_box(
            **five_numbers(values, float(place)),
            orientation="h",
            width=0.4,
            name="samples",
            showlegend=place == 0,
            line={"color": style.colour, "width": 1.2},
            fillcolor=faded(style.colour),
            hoverinfo="skip",
        )
    at_y = np.arange(len(codes), dtype=np.float64)
    ends = [
        np.minimum([getattr(found.half_by_class[code].interval, side) for code in codes], end)
        for side in ("lower", "upper")
    ]
    figure.add_trace(
        interval_bars(at_y, *ends, colour=look.exclusive, width=2.5, name="median, 95 %", showlegend=False)
    )
    figure.add_scatter(
        x=[min(found.half_by_class[code].value, end) for code in codes],
        y=at_y,
        mode="markers",
        name="median with its 95 % interval",
        marker={"symbol": "diamond", "size": 9, "color": look.exclusive, "line": {"width": 1, "color": look.paper}},
        text=[
            f"{escape(as_name(names[code]))}: {sigma_50(found.half_by_class[code], end)}<br>"
            f"n = {count(found.half_by_class[code].n)}"
            for code in codes
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    name_axis(figure, [names[code] for code in codes])
    ticks = sorted({*found.sigmas, end})
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[*(f"{at:g}" for at in ticks[:-1]), f"≥ {ticks[-1]:g}"])
    return figure
