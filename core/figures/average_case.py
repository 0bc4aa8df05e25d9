"""How robust are classes and samples, and how far are the estimators off? (Han et al. 2024, figures 2a, 3, 4 and 10)

Monte-Carlo, which counts, is ink; the analytic estimators have colours of their own (`estimator_style`).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float

from touchstone.core.evaluate.average_case import facts_of
from touchstone.core.evaluate.average_case.robustness import Audit, Robustness, in_order
from touchstone.core.evaluate.average_case.verdict import estimator_title, sigma_50
from touchstone.core.evaluate.calibration import mostly_sure
from touchstone.core.evaluate.wording import bare, count, percent, plural, points, quoted
from touchstone.core.figures import marks as draw
from touchstone.core.figures.theme import Theme, as_name, escape, new_figure, scale, theme

MOST_SHAPES = 1500
P_ROBUST = "p_robust (share of noisy copies with the same prediction, %)"
SIGMA = "Sigma (standard deviation of the noise)"
AUDITED = "Monte-Carlo (audited samples)"


def estimator_style(name: str, look: Theme) -> draw.Style:
    """Colour, mark and line of an estimator, the same on every page.

    Examples
    --------
    >>> estimator_style("mmse", theme(dark=False)), estimator_style("monte_carlo", theme(dark=False)).colour
    (Style(colour='#0B8F80', symbol='circle', dash='solid'), '#14181E')
    """
    mark = facts_of(name).mark
    named = {"ink": look.ink, "grey": look.grey}
    colour = named[mark.colour] if isinstance(mark.colour, str) else look.colours[mark.colour]
    return draw.Style(colour, mark.symbol, mark.dash)


def class_chart(found: Robustness, sigma: float, *, summarised: bool = False, dark: bool = False) -> go.Figure:
    """The robustness of every class (figure 4): its samples as a box, its mean with the interval, the audit in ink.

    Classes stand by their mean, the least robust on top. A summarised chart holds no single sample: boxes are five
    numbers without outliers, and so is what the audit counted.
    """
    look, at, names = theme(dark), found.at(sigma), found.class_names
    codes = [code for _, code in sorted((of.value, code) for code, of in enumerate(at.classes) if of.n)]
    means = [at.classes[code] for code in codes]
    alt = f"p_robust by class at sigma {sigma:g}, n = {count(at.n)}."
    if codes:
        low, high = means[0], means[-1]
        alt += (
            f" Least robust {names[codes[0]]}, mean {percent(low.value, low.interval)}; most robust "
            f"{names[codes[-1]]}, {percent(high.value, high.interval)}."
        )
    figure = new_figure(look, P_ROBUST, height=90 + 30 * max(len(codes), 3), alt=alt)
    style, truth = estimator_style(found.estimator, look), estimator_style("monte_carlo", look)
    samples, counted = found.samples_at(sigma), found.audit.counted
    counted = counted[counted["sigma"] == sigma]
    marker = {"size": 3.5, "opacity": 0.6, "color": style.colour}
    for place, code in enumerate(codes):
        mine, y = 100 * _of_class(samples, code, "p_robust"), place - 0.12
        single = {"x": mine, "y0": y, "boxpoints": "outliers", "jitter": 0.4, "pointpos": 0}
        data = {**(five_numbers(mine, y) if summarised else single), "orientation": "h", "marker": marker}
        shown = {"legendgroup": "samples", "showlegend": place == 0}
        draw.boxes(figure, style, estimator_title(found.estimator), width=0.4, **shown, **data)
    (_counted_boxes if summarised else _counted_ticks)(figure, counted, codes, truth)
    hover = [
        f"{escape(as_name(names[code]))}: {percent(mean.value, mean.interval)}<br>n = {count(mean.n)}"
        for code, mean in zip(codes, means, strict=True)
    ]
    values, ends = draw.values_of(means, 100), draw.ends_of(means, 100)
    _averages(figure, look, values, ends, np.arange(len(codes)) - 0.12, "mean", hover)
    draw.name_axis(figure, [names[code] for code in codes])
    figure.update_xaxes(tickformat=".2~f", range=draw.padded(_with_fences(figure), include=100.0))
    return figure.update_layout(boxmode="overlay")


def _averages(
    figure: go.Figure, look: Theme, x: np.ndarray, ends: draw.Ends, y: np.ndarray, what: str, hover: list[str]
) -> None:
    """The mean or median of each class with its interval, upon its box."""
    draw.bars(figure, y, ends, look.exclusive, f"{what}, 95 %", width=2.5, showlegend=False)
    style, name = draw.Style(look.exclusive, "diamond"), f"{what} with its 95 % interval"
    draw.dots(figure, x, y, style, name, hover, outline=(1, look.paper))


def _of_class(samples: pd.DataFrame, code: int, column: str) -> np.ndarray:
    """What is known of the samples of a class."""
    return samples.loc[samples["label"] == code, column].dropna().to_numpy(dtype=np.float64)


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
    boxes = [each for each in figure.data if each.type == "box" and each.x is None]
    fences = [end for box in boxes for end in (*box.lowerfence, *box.upperfence)]
    return go.Figure([go.Scatter(x=fences), *(each for each in figure.data if each.x is not None)])


def _counted_boxes(figure: go.Figure, counted: pd.DataFrame, codes: list[int], truth: draw.Style) -> None:
    """Monte-Carlo's answer for the audited samples of each class, a narrow box below that of all its samples."""
    parts = {place: _of_class(counted, code, "p_robust") for place, code in enumerate(codes)}
    audited = [place for place, part in parts.items() if len(part)]
    for place in audited:
        data = {**five_numbers(100 * parts[place], place + 0.24), "orientation": "h", "legendgroup": "audited"}
        draw.boxes(
            figure, truth, AUDITED, width=0.16, fillcolor="rgba(0,0,0,0)", showlegend=place == audited[0], **data
        )


def _counted_ticks(figure: go.Figure, counted: pd.DataFrame, codes: list[int], truth: draw.Style) -> None:
    """Monte-Carlo's answer for each audited sample, a tick below the box of its class."""
    part = counted[counted["label"].isin(codes)]
    if not len(part):
        return
    p, lower, upper = (100 * part[name].to_numpy(dtype=np.float64) for name in ("p_robust", "lower", "upper"))
    y = np.array([codes.index(int(code)) for code in part["label"]]) + 0.24
    text = [f"{value:.1f} % [{low:.1f}, {high:.1f}]" for value, low, high in zip(p, lower, upper, strict=True)]
    draw.dots(figure, p, y, truth, AUDITED, "Monte-Carlo: %{text}", text=text, outline=(1.4, truth.colour))


def sigma_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """Mean p_robust over sigma with its interval, between the least and the most robust class; Monte-Carlo in ink."""
    look, by = theme(dark), found.by_sigma
    means = [of.mean for of in by]
    parts = [f"{percent(of.mean.value, of.mean.interval)} at {of.sigma:g}" for of in by]
    figure = new_figure(look, SIGMA, "Mean p_robust (%)", alt=f"Mean p_robust over sigma: {', '.join(parts)}.")
    sigmas, counted_means = np.array([of.sigma for of in by]), any(of.n_draws is not None for of in by)
    style, truth = estimator_style(found.estimator, look), estimator_style("monte_carlo", look)
    values = [np.array([mean.value for mean in of.classes if mean.n]) for of in by]
    for title, of, dash in (("most robust class", np.max, "dot"), ("least robust class", np.min, "dash")):
        y = [100 * float(of(value)) if len(value) else None for value in values]
        draw.line(figure, sigmas, y, draw.Style(style.colour, dash=dash), title, f"{title}: %{{y:.1f}} %", width=1.2)
    draw.band(figure, sigmas, draw.ends_of(means, 100), style.colour)
    name = "all classes" if counted_means else f"all classes, {estimator_title(found.estimator)}"
    hover = [f"{percent(of.mean.value, of.mean.interval)}<br>n = {count(of.n)}" for of in by]
    solid, values = draw.Style(style.colour, style.symbol), draw.values_of(means, 100)
    draw.dots(figure, sigmas, values, solid, name, hover, size=8, joined=2)
    if len(found.audit.counted):
        counted = found.audit.counted.groupby("sigma")["p_robust"].agg(["mean", "size"])
        mark, text = draw.Style(truth.colour, "line-ew-open"), [plural(int(n), "sample") for n in counted["size"]]
        x, y, hover = counted.index.to_numpy(), 100 * counted["mean"].to_numpy(), "Monte-Carlo: %{y:.1f} %, %{text}"
        draw.dots(figure, x, y, mark, AUDITED, hover, text=text, size=13, outline=2)
    _sigma_axis(figure, sigmas)
    figure.update_xaxes(range=draw.padded(figure, include=0.0))
    figure.update_yaxes(tickformat=".2~f", range=draw.padded(figure, "y", include=100.0))
    return figure


def _sigma_axis(figure: go.Figure, sigmas: np.ndarray) -> None:
    figure.update_xaxes(tickvals=sigmas, ticktext=[f"{sigma:g}" for sigma in sigmas])


def confidence_chart(
    found: Robustness, sigma: float, *, selected: tuple[int, ...] = (), dark: bool = False
) -> go.Figure:
    """p_robust against softmax confidence, a mark a sample; wrong predictions stand out. `customdata` has positions."""
    look, agreement = theme(dark), found.at(sigma).agreement
    samples = found.samples_at(sigma).dropna(subset=["p_robust", "confidence"])
    alt = f"p_robust against softmax confidence at sigma {sigma:g}, {plural(len(samples), 'sample')}"
    alt += "." if np.isnan(agreement.value) else f"; rank correlation {bare(agreement.value, 2)}."
    along = draw.ConfidenceScale(mostly_sure(samples["confidence"].to_numpy(dtype=np.float64)))
    figure = new_figure(look, along.title("Softmax confidence"), "p_robust (%)", height=380, alt=alt)
    right = (samples["label"] == samples["predicted"]).to_numpy()
    colour = estimator_style(found.estimator, look).colour
    for name, mask, mark in (
        ("right", right, {"color": colour, "symbol": "circle", "size": 6}),
        ("wrong", ~right, {"color": look.exclusive, "symbol": "x", "size": 8}),
    ):
        part, many = samples[mask], len(samples) > MOST_SHAPES
        if len(part):
            sure = part["confidence"].to_numpy(dtype=np.float64)
            at = np.column_stack([along.at(sure), 100 * part["p_robust"].to_numpy()]), part["row"].to_numpy()
            hover = f"confidence %{{text:.4~f}} %, p_robust %{{y:.1f}} %, {name}"
            title, drawn = (
                f"prediction {name}, n = {count(len(part))}",
                {"selected": selected, "many": many, "text": 100 * sure},
            )
            draw.cloud(figure, *at, {**mark, "opacity": 0.65}, title, hover, **drawn)
    figure.update_layout(dragmode="lasso")
    if along.logit:
        figure.update_xaxes(**along.axis(float(samples["confidence"].min())))
    else:
        figure.update_xaxes(tickformat=".2~f", range=draw.padded(figure, include=100.0))
    figure.update_yaxes(tickformat=".2~f", range=draw.padded(figure, "y", include=100.0))
    return figure


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
    figure = new_figure(look, *axes, height=380, alt=alt)
    rows, shares = samples["row"].to_numpy(), (100 * samples["p_robust"]).to_numpy(dtype=np.float32)
    marker = {
        "size": 7,
        "color": shares,
        "colorscale": scale(look.rising[::-1]),
        "cmin": float(shares.min(initial=100.0)),
        "cmax": 100.0,
        "colorbar": draw.colour_bar(look, "p_robust (%)"),
        "line": {"width": 0},
    }
    drawn, hover = {"many": len(samples) > MOST_SHAPES, "showlegend": False}, "p_robust %{marker.color:.1f} %"
    draw.cloud(figure, points[rows], rows, marker, None, hover, selected=selected, **drawn)
    return draw.as_map(figure)


def gap_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """The largest gap between classes over sigma with its interval; what shuffled labels would show, in grey."""
    look, names = theme(dark), found.class_names
    at = [(of.sigma, of.gap) for of in found.by_sigma if of.gap is not None]
    parts = [f"{points(gap.value, gap.interval)} at {sigma:g}" for sigma, gap in at]
    alt = f"Largest gap between two classes over sigma: {', '.join(parts) or 'not known yet'}."
    figure = new_figure(look, SIGMA, "Largest gap of classes (points)", alt=alt)
    sigmas, gaps = np.array([sigma for sigma, _ in at]), [gap for _, gap in at]
    chance, hover = [100 * gap.by_chance for gap in gaps], "by chance: %{y:.1f} points"
    draw.line(figure, sigmas, chance, draw.Style(look.random, dash="dash"), "with labels shuffled", hover)
    values, style = draw.values_of(gaps, 100), draw.Style(look.exclusive, "diamond")
    hover = [
        f"{points(gap.value, gap.interval)}<br>{escape(as_name(names[gap.least]))} to "
        f"{escape(as_name(names[gap.most]))}"
        for gap in gaps
    ]
    error = draw.error(values, draw.ends_of(gaps, 100), look.exclusive, thickness=1.4, cap=4)
    draw.dots(figure, sigmas, values, style, "largest gap with its 95 % interval", hover, error_y=error)
    _sigma_axis(figure, sigmas)
    figure.update_xaxes(range=draw.padded(figure, include=0.0))
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
    figure = new_figure(look, "Direction", "Class", height=max(220, 130 + 34 * len(rows)), alt=alt)
    shown = np.array([[100 * of.value for of in row] for row in cells])
    hover = [
        [
            f"{escape(as_name(names[code]))}, {escape(title)}: {percent(of.value, of.interval)}, n = {count(of.n)}"
            for title, of in zip(titles, row, strict=True)
        ]
        for code, row in zip(rows, cells, strict=True)
    ]
    numbers = [[f"{value:.0f}" if len(rows) <= MOST_NUMBERS else "" for value in row] for row in shown]
    bar, low = draw.colour_bar(look, "unchanged (%)"), float(shown.min())
    draw.heat(figure, shown, look.rising, hover, numbers, zmin=low, zmax=100.0, colorbar=bar)
    draw.name_axis(figure, [names[code] for code in rows])
    draw.name_axis(figure, titles, axis="x")
    return figure


# How much noise does it take until a prediction is as often another one? Sigma-50 by class.


def half_chart(found: Robustness, *, dark: bool = False) -> go.Figure:
    """Sigma-50 by class: the samples as a box, the median with its interval; beyond the range they stand at its end.

    Classes stand by their median, the least robust on top; the axis is logarithmic. No single sample is drawn.
    """
    look, names, end = theme(dark), found.class_names, found.furthest
    codes = [code for _, code in sorted((of.value, code) for code, of in enumerate(found.half_by_class) if of.n)]
    medians = [found.half_by_class[code] for code in codes]
    parts = [f"{names[code]} {sigma_50(median, end)}" for code, median in zip(codes, medians, strict=True)]
    title = "Sigma-50 (noise at which half of the copies change class; logarithmic)"
    alt = f"Median sigma-50 by class, n = {count(len(found.half))}: {', '.join(parts) or 'not known yet'}."
    figure = new_figure(look, title, height=90 + 38 * max(len(codes), 3), alt=alt)
    samples, style = (
        found.half.assign(sigma_50=found.half["sigma_50"].clip(upper=end)),
        estimator_style("monte_carlo", look),
    )
    for place, code in enumerate(codes):
        data = {**five_numbers(_of_class(samples, code, "sigma_50"), float(place)), "orientation": "h"}
        draw.boxes(figure, style, "samples", width=0.4, showlegend=place == 0, **data)
    hover = [
        f"{escape(as_name(names[code]))}: {sigma_50(median, end)}<br>n = {count(median.n)}"
        for code, median in zip(codes, medians, strict=True)
    ]
    values, *ends = (np.minimum(part, end) for part in (draw.values_of(medians), *draw.ends_of(medians)))
    _averages(figure, look, values, ends, np.arange(len(codes)), "median", hover)
    draw.name_axis(figure, [names[code] for code in codes])
    ticks = sorted({*found.sigmas, end})
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[*(f"{at:g}" for at in ticks[:-1]), f"≥ {ticks[-1]:g}"])
    return figure


# How far are the estimators off on this model? (figures 2a and 10, table 1 and appendix A.4)


def error_chart(audit: Audit, *, bias: bool = False, dark: bool = False) -> go.Figure:
    """Mean absolute error (or bias) of every estimator against Monte-Carlo over sigma, with 95 % intervals.

    The grey band is what an estimator without any error would show, by the luck of Monte-Carlo's draws.
    """
    look, names = theme(dark), audit.names
    what = "bias" if bias else "mean absolute error"
    last = max((row.sigma for row in audit.estimators), default=float("nan"))
    parts = [
        f"{facts_of(row.estimator).short} {bare((row.bias if bias else row.error).value, 3)}"
        for row in audit.estimators
        if row.sigma == last
    ]
    alt = f"Each estimator's {what} against Monte-Carlo over sigma; at {last:g}: {', '.join(parts)}."
    y_title = "Bias (estimator less Monte-Carlo)" if bias else "Mean absolute error"
    figure = new_figure(look, "Sigma", y_title, height=360, alt=alt)
    sigmas = np.array(sorted({row.sigma for row in audit.estimators}))
    luck = {row.sigma: row.by_luck for row in audit.estimators}
    if not bias and len(sigmas):
        chance = [luck[sigma] for sigma in sigmas.tolist()]
        draw.band(figure, sigmas, (np.zeros(len(sigmas)), chance), look.random, "by chance alone")
    if bias:
        draw.rule(figure, look.grey, y=0)
    gap = 0.012 * float(np.ptp(sigmas)) if len(sigmas) > 1 else 0.0
    for place, name in enumerate(names):
        rows = sorted((row for row in audit.estimators if row.estimator == name), key=lambda row: row.sigma)
        means = [row.bias if bias else row.error for row in rows]
        x = np.array([row.sigma for row in rows]) + (place - (len(names) - 1) / 2) * gap
        short = facts_of(name).short
        hover = [
            f"{short}, sigma {row.sigma:g}<br>{bare(mean.value, 4)} "
            f"[{bare(mean.interval.lower, 4)}, {bare(mean.interval.upper, 4)}]<br>{plural(mean.n, 'sample')}"
            for row, mean in zip(rows, means, strict=True)
        ]
        _errors(figure, x, means, estimator_style(name, look), short, hover, size=8)
    _sigma_axis(figure, sigmas)
    if bias:  # it stands beside the other, whose legend it shares
        return figure.update_layout(showlegend=False)
    return figure.update_yaxes(rangemode="tozero")


def _errors(
    figure: go.Figure, x: draw.Values, means: Sequence, style: draw.Style, name: str, hover: draw.Hover, *, size: int
) -> None:
    """The errors of an estimator with their intervals, joined by its line."""
    values = draw.values_of(means)
    error = draw.error(values, draw.ends_of(means), style.colour)
    draw.dots(figure, x, values, style, name, hover, size=size, outline=1.5, joined=1.6, error_y=error)


def convergence_chart(audit: Audit, *, dark: bool = False) -> go.Figure:
    """The error over the number of noisy copies, with Taylor's, which takes none, beside it."""
    look, rows = theme(dark), audit.convergence
    parts = [f"{facts_of(row.estimator).short} {row.n_copies}: {bare(row.error.value, 3)}" for row in rows]
    sigma = rows[0].sigma if rows else float("nan")
    alt = f"Mean absolute error by noisy copies at sigma {sigma:g}. {'; '.join(parts)}."
    figure = new_figure(look, "Noisy copies N", "Mean absolute error", height=320, alt=alt)
    taylor = audit.of("taylor", sigma)
    if taylor is not None:
        colour, text = estimator_style("taylor", look).colour, "Taylor (no copies)"
        draw.rule(figure, colour, y=taylor.error.value, dash="dash", width=1.4, text=text)
    for name in in_order(row.estimator for row in rows):
        title, mine = facts_of(name).drawn or facts_of(name).short, [row for row in rows if row.estimator == name]
        x, hover = [row.n_copies for row in mine], f"{title}, N = %{{x}}: %{{y:.4f}}"
        _errors(figure, x, [row.error for row in mine], estimator_style(name, look), title, hover, size=9)
    copies = sorted({row.n_copies for row in rows})
    figure.update_xaxes(type="log", tickvals=copies, ticktext=[str(n) for n in copies])
    return figure.update_yaxes(rangemode="tozero")


def sigmoid_chart(audit: Audit, sigma: float, *, summarised: bool = False, dark: bool = False) -> go.Figure:
    """The multivariate sigmoid against the normal distribution function of the same margins (figure 10).

    A summarised chart holds no single sample, but the means of those in each tenth of the distribution function.
    """
    look, pairs = theme(dark), audit.sigmoids(sigma)
    off = dict(iter((pairs["sigmoid"] - pairs["cdf"]).abs().groupby(pairs["by"])))
    parts = "; ".join(f"{facts_of(str(name)).short} {bare(float(of.mean()), 3)} apart" for name, of in off.items())
    alt = f"Multivariate sigmoid against the normal distribution function at sigma {sigma:g}: {parts or 'no sample'}."
    figure = new_figure(look, "Normal distribution function", "Multivariate sigmoid", height=320, alt=alt)
    draw.line(figure, [0, 1], [0, 1], draw.Style(look.grey, dash="dot"), "the same", width=1)
    for name in in_order(pairs["by"]):
        mine = pairs[pairs["by"] == name]
        mine = _by_tenths(mine) if summarised else mine
        if len(mine):
            x, y = (mine[column].to_numpy(dtype=np.float64) for column in ("cdf", "sigmoid"))
            title, hover = (
                f"{facts_of(name).short}{', means of tenths' * summarised}",
                "normal %{x:.3f}, sigmoid %{y:.3f}",
            )
            draw.dots(figure, x, y, estimator_style(name, look), title, hover, size=7)
    ends = draw.padded(figure, include=0.0)
    return figure.update_xaxes(range=ends).update_yaxes(range=ends)


def _by_tenths(pairs: pd.DataFrame) -> pd.DataFrame:
    """The mean pair of each tenth of the distribution function that has any."""
    tenths = np.minimum(np.floor(10 * pairs["cdf"].to_numpy(dtype=np.float64)), 9)
    return pairs[["cdf", "sigmoid"]].astype(np.float64).groupby(tenths).mean()
