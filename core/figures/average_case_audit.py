"""How far are the estimators off on this model? (Han et al. 2024, figures 2a and 10, table 1 and appendix A.4)"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from touchstone.core.evaluate.average_case import facts_of
from touchstone.core.evaluate.average_case.audit import Audit, in_order
from touchstone.core.evaluate.wording import bare, plural
from touchstone.core.figures.average_case import estimator_style
from touchstone.core.figures.theme import faded, new_figure, padded, theme


def error_chart(audit: Audit, *, bias: bool = False, dark: bool = False) -> go.Figure:
    """Mean absolute error (or bias) of every estimator against Monte-Carlo over sigma, with 95 % intervals.

    The grey band is what an estimator without any error would show, by the luck of Monte-Carlo's draws.
    """
    look = theme(dark)
    names = audit.names
    what = "bias" if bias else "mean absolute error"
    last = max((one.sigma for one in audit.estimators), default=float("nan"))
    told = [
        f"{facts_of(one.estimator).short} {bare((one.bias if bias else one.error).value, 3)}"
        for one in audit.estimators
        if one.sigma == last
    ]
    alt = f"Each estimator's {what} against Monte-Carlo over sigma; at {last:g}: {', '.join(told)}."
    y_title = "Bias (estimator less Monte-Carlo)" if bias else "Mean absolute error"
    figure = new_figure(look, x_title="Sigma", y_title=y_title, height=360, alt=alt)
    sigmas = np.array(sorted({one.sigma for one in audit.estimators}))
    luck = {one.sigma: one.by_luck for one in audit.estimators}
    if not bias and len(sigmas):
        figure.add_scatter(
            x=np.r_[sigmas, sigmas[::-1]],
            y=np.r_[[luck[sigma] for sigma in sigmas.tolist()], np.zeros(len(sigmas))],
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=faded(look.random),
            name="by chance alone",
            hoverinfo="skip",
        )
    if bias:
        figure.add_hline(y=0, line={"color": look.grey, "width": 1, "dash": "dot"})
    gap = 0.012 * float(np.ptp(sigmas)) if len(sigmas) > 1 else 0.0
    for place, name in enumerate(names):
        style = estimator_style(name, look)
        of = sorted((one for one in audit.estimators if one.estimator == name), key=lambda one: one.sigma)
        shown = [one.bias if bias else one.error for one in of]
        values = np.array([one.value for one in shown])
        lower, upper = (np.array([getattr(one.interval, end) for one in shown]) for end in ("lower", "upper"))
        figure.add_scatter(
            x=np.array([one.sigma for one in of]) + (place - (len(names) - 1) / 2) * gap,
            y=values,
            mode="lines+markers",
            name=facts_of(name).short,
            line={"color": style.colour, "width": 1.6, "dash": style.dash},
            marker={"symbol": style.symbol, "size": 8, "color": style.colour, "line": {"width": 1.5}},
            error_y={
                "type": "data", "symmetric": False, "array": upper - values, "arrayminus": values - lower,
                "color": style.colour, "thickness": 1.2, "width": 0,
            },
            text=[
                f"{facts_of(name).short}, sigma {one.sigma:g}<br>{bare(m.value, 4)} "
                f"[{bare(m.interval.lower, 4)}, {bare(m.interval.upper, 4)}]<br>{plural(m.n, 'sample')}"
                for one, m in zip(of, shown, strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(tickvals=sigmas, ticktext=[f"{sigma:g}" for sigma in sigmas])
    if bias:  # it stands beside the other, whose legend it shares
        return figure.update_layout(showlegend=False)
    return figure.update_yaxes(rangemode="tozero")


def convergence_chart(audit: Audit, *, dark: bool = False) -> go.Figure:
    """The error over the number of noisy copies, with Taylor's, which takes none, beside it."""
    look = theme(dark)
    told = [f"{facts_of(one.estimator).short} {one.n_copies}: {bare(one.error.value, 3)}" for one in audit.convergence]
    sigma = audit.convergence[0].sigma if audit.convergence else float("nan")
    alt = f"Mean absolute error by noisy copies at sigma {sigma:g}. {'; '.join(told)}."
    figure = new_figure(look, x_title="Noisy copies N", y_title="Mean absolute error", height=320, alt=alt)
    taylor = audit.of("taylor", sigma)
    if taylor is not None:
        style = estimator_style("taylor", look)
        figure.add_hline(y=taylor.error.value, line={"color": style.colour, "width": 1.4, "dash": "dash"})
        figure.add_annotation(
            x=1, xref="paper", xanchor="right", y=taylor.error.value, yanchor="bottom", text="Taylor (no copies)",
            showarrow=False, font={"size": 12, "color": style.colour},
        )  # fmt: skip
    for name in in_order(one.estimator for one in audit.convergence):
        title = facts_of(name).drawn or facts_of(name).short
        of = [one for one in audit.convergence if one.estimator == name]
        style = estimator_style(name, look)
        values = np.array([one.error.value for one in of])
        lower, upper = (np.array([getattr(one.error.interval, end) for one in of]) for end in ("lower", "upper"))
        figure.add_scatter(
            x=[one.n_copies for one in of],
            y=values,
            mode="lines+markers",
            name=title,
            line={"color": style.colour, "width": 1.6, "dash": style.dash},
            marker={"symbol": style.symbol, "size": 9, "color": style.colour, "line": {"width": 1.5}},
            error_y={
                "type": "data", "symmetric": False, "array": upper - values, "arrayminus": values - lower,
                "color": style.colour, "thickness": 1.2, "width": 0,
            },
            hovertemplate=f"{title}, N = %{{x}}: %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    copies = sorted({one.n_copies for one in audit.convergence})
    figure.update_xaxes(type="log", tickvals=copies, ticktext=[str(n) for n in copies])
    return figure.update_yaxes(rangemode="tozero")


def sigmoid_chart(audit: Audit, sigma: float, *, summarised: bool = False, dark: bool = False) -> go.Figure:
    """The multivariate sigmoid against the normal distribution function of the same margins (figure 10).

    A summarised chart holds no single sample, but the means of those in each tenth of the distribution function.
    """
    look, pairs = theme(dark), audit.sigmoids(sigma)
    off = dict(iter((pairs["sigmoid"] - pairs["cdf"]).abs().groupby(pairs["by"])))
    told = "; ".join(f"{facts_of(str(name)).short} {bare(float(of.mean()), 3)} apart" for name, of in off.items())
    alt = f"Multivariate sigmoid against the normal distribution function at sigma {sigma:g}: {told or 'no sample'}."
    figure = new_figure(
        look, x_title="Normal distribution function", y_title="Multivariate sigmoid", height=320, alt=alt
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", name="the same", hoverinfo="skip",
        line={"color": look.grey, "width": 1, "dash": "dot"},
    )  # fmt: skip
    for name in in_order(pairs["by"]):
        of, style = pairs[pairs["by"] == name], estimator_style(name, look)
        of = _by_tenths(of) if summarised else of
        if len(of):
            figure.add_scatter(
                x=of["cdf"].to_numpy(dtype=np.float64),
                y=of["sigmoid"].to_numpy(dtype=np.float64),
                mode="markers",
                name=f"{facts_of(name).short}{', means of tenths' * summarised}",
                marker={"symbol": style.symbol, "size": 7, "color": style.colour},
                hovertemplate="normal %{x:.3f}, sigmoid %{y:.3f}<extra></extra>",
            )
    ends = padded(figure, include=0.0)
    return figure.update_xaxes(range=ends).update_yaxes(range=ends)


def _by_tenths(pairs: pd.DataFrame) -> pd.DataFrame:
    """The mean pair of each tenth of the distribution function that has any."""
    tenths = np.minimum(np.floor(10 * pairs["cdf"].to_numpy(dtype=np.float64)), 9)
    return pairs[["cdf", "sigmoid"]].astype(np.float64).groupby(tenths).mean()
