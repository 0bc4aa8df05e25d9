"""Is the model right as often as it is sure? (Anzaku et al. 2022, figures 5 and 8, and accuracy against coverage)"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.calibration import Bin, Calibration, CoveragePoint
from touchstone.core.evaluate.wording import count, percent
from touchstone.core.figures.theme import Theme, faded, new_figure, theme

SYMBOLS = ("circle", "diamond", "circle-open", "diamond-open", "x-thin-open", "cross-thin-open")
DASHES = ("solid", "solid", "dash", "dash", "dot", "dot")
SUBSETS = ("reference", "target", "matched reference", "matched target", "unmatched target", "unmatched reference")


def subset_style(look: Theme, name: str) -> tuple[str, str, str]:
    """Colour, mark and dash of a subset: the colour says which set, the mark and dash which part of it.

    >>> from touchstone.core.figures.theme import LIGHT
    >>> subset_style(LIGHT, "matched target")
    ('#C8501C', 'diamond-open', 'dash')
    """
    place = SUBSETS.index(name)
    return look.exclusive if "target" in name else look.inclusive, SYMBOLS[place], DASHES[place]


def reliability_chart(calibration: Calibration, *, subset: str = "reference", dark: bool = False) -> go.Figure:
    """Accuracy against confidence of one subset (figure 5a): bins with their intervals on the band of a perfect model.

    Counts per bin stand below. A bar is as wide as its bin; empty bins stay empty.
    """
    look = theme(dark)
    colour, symbol, _ = subset_style(look, subset)
    figure = new_figure(
        look, x_title="Confidence (%)", y_title="Accuracy (%)", height=380, alt=_reliability_alt(calibration, subset)
    )
    _perfect_line(figure, look)
    held = [bin_ for bin_ in calibration.bins if bin_.n]
    _perfect_boxes(figure, look, held)
    figure.add_scatter(
        x=100 * _of(held, "confidence"),
        y=100 * _of(held, "accuracy"),
        mode="markers",
        name=subset,
        marker={"symbol": symbol, "color": colour, "size": 8, "line": {"width": 1.5, "color": colour}},
        error_y=_error(held, faded(colour, 0.8)),
        text=[_bin_hover(bin_) for bin_ in held],
        hovertemplate="%{text}<extra></extra>",
    )
    figure.add_bar(
        x=50 * (_of(calibration.bins, "lower") + _of(calibration.bins, "upper")),
        y=_of(calibration.bins, "n"),
        width=100 * (_of(calibration.bins, "upper") - _of(calibration.bins, "lower")),
        marker={"color": faded(look.grey, 0.35), "line": {"width": 0.5, "color": look.paper}},
        yaxis="y2",
        name="samples",
        showlegend=False,
        hovertemplate="n = %{y}<extra></extra>",
    )
    figure.update_layout(
        xaxis={"range": [_left(held), 101], "tickformat": ".0f", "anchor": "y2"},
        yaxis={"range": [-2, 102], "tickformat": ".0f", "domain": [0.26, 1]},
        yaxis2={"domain": [0, 0.18], "title": {"text": "n"}, "nticks": 3, "rangemode": "tozero"},
        bargap=0,
    )
    return figure


def reliability_curves(subsets: Mapping[str, Calibration], *, dark: bool = False) -> go.Figure:
    """Accuracy against confidence of all subsets at once (figures 5a and 8a), with Wilson's interval of each bin."""
    look = theme(dark)
    sentences = [
        f"{name}: accuracy {percent(calibration.accuracy)}, confidence {percent(calibration.mean_confidence)}."
        for name, calibration in subsets.items()
    ]
    figure = new_figure(
        look,
        x_title="Confidence (%)",
        y_title="Accuracy (%)",
        height=380,
        alt=" ".join(["Accuracy against confidence by subset.", *sentences]),
    )
    _perfect_line(figure, look)
    left = 100.0
    for name, calibration in subsets.items():
        colour, symbol, dash = subset_style(look, name)
        held = [bin_ for bin_ in calibration.bins if bin_.n]
        left = min(left, _left(held))
        figure.add_scatter(
            x=100 * _of(held, "confidence"),
            y=100 * _of(held, "accuracy"),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 1.2, "dash": dash},
            marker={"symbol": symbol, "color": colour, "size": 7, "line": {"width": 1.5, "color": colour}},
            error_y=_error(held, faded(colour, 0.35)),
            text=[_bin_hover(bin_) for bin_ in held],
            hovertemplate=f"{name}<br>%{{text}}<extra></extra>",
        )
    figure.update_layout(
        xaxis={"range": [left, 101], "tickformat": ".0f"}, yaxis={"range": [-2, 102], "tickformat": ".0f"}
    )
    return figure


def density_chart(densities: Mapping[str, tuple[np.ndarray, np.ndarray]], *, dark: bool = False) -> go.Figure:
    """Where the confidences of each subset lie (figures 5b and 8b); `densities` as `density` returns them."""
    look = theme(dark)
    peaks = [
        f"{name}: most frequent confidence {percent(float(at[np.argmax(height)]))}."
        for name, (at, height) in densities.items()
        if height.any()
    ]
    figure = new_figure(
        look,
        x_title="Confidence (%)",
        y_title="Density (per point of confidence)",
        alt=" ".join(["Density of the confidences by subset.", *peaks]),
    )
    for name, (at, height) in densities.items():
        colour, _, dash = subset_style(look, name)
        figure.add_scatter(
            x=100 * at,
            y=height / 100,
            mode="lines",
            name=name,
            line={"color": colour, "width": 1.6, "dash": dash},
            hovertemplate=f"{name}<br>confidence %{{x:.1f}} %: %{{y:.3f}}<extra></extra>",
        )
    figure.update_layout(
        xaxis={"range": [-1, 101], "tickformat": ".0f"}, yaxis={"rangemode": "tozero", "tickformat": ".2f"}
    )
    return figure


def coverage_chart(curves: Mapping[str, Sequence[CoveragePoint]], *, dark: bool = False) -> go.Figure:
    """Accuracy against coverage: what is gained when the least confident samples are set aside."""
    look = theme(dark)
    sentences = [
        f"{name}: {percent(points[-1].accuracy)} accuracy on all, {percent(_at_half(points).accuracy)} on the more "
        f"confident half."
        for name, points in curves.items()
        if points
    ]
    figure = new_figure(
        look,
        x_title="Coverage: share of samples kept, the most confident first (%)",
        y_title="Accuracy of those kept (%)",
        alt=" ".join(["Accuracy against coverage by subset.", *sentences]),
    )
    for name, points in curves.items():
        colour, _, dash = subset_style(look, name)
        x = 100 * np.array([point.coverage for point in points])
        lower, upper = (
            100 * np.array([getattr(point.interval, end) for point in points]) for end in ("lower", "upper")
        )
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([upper, lower[::-1]]),
            fill="toself",
            fillcolor=faded(colour, 0.12),
            line={"width": 0},
            mode="lines",
            name=f"{name}, 95 %",
            showlegend=False,
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=x,
            y=100 * np.array([point.accuracy for point in points]),
            mode="lines",
            name=name,
            line={"color": colour, "width": 1.6, "dash": dash},
            text=[
                f"{percent(point.accuracy, point.interval)}<br>n = {count(point.n)}, confidence at least "
                f"{percent(point.confidence)}"
                for point in points
            ],
            hovertemplate=f"{name}<br>%{{text}}<extra></extra>",
        )
    drawn = [100 * point.accuracy for points in curves.values() for point in points] or [0.0, 100.0]
    ends = [min(drawn) - 5, min(max(drawn) + 5, 102)]
    figure.update_layout(xaxis={"range": [0, 101], "tickformat": ".0f"}, yaxis={"range": ends, "tickformat": ".0f"})
    return figure


def _perfect_line(figure: go.Figure, look: Theme) -> None:
    figure.add_scatter(
        x=np.array([0.0, 100.0]),
        y=np.array([0.0, 100.0]),
        mode="lines",
        name="perfectly calibrated",
        line={"color": look.grey, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )


def _perfect_boxes(figure: go.Figure, look: Theme, bins: Sequence[Bin]) -> None:
    """The band bin by bin, each as wide as its bin, in one trace of closed outlines."""
    x, y = [], []
    for bin_ in bins:
        x += [bin_.lower, bin_.upper, bin_.upper, bin_.lower, bin_.lower, np.nan]
        y += [bin_.perfect.lower] * 2 + [bin_.perfect.upper] * 2 + [bin_.perfect.lower, np.nan]
    figure.add_scatter(
        x=100 * np.array(x, dtype=np.float64),
        y=100 * np.array(y, dtype=np.float64),
        mode="lines",
        fill="toself",
        fillcolor=faded(look.grey, 0.25),
        line={"width": 0},
        name="95 % of perfectly calibrated models at this n",
        hoverinfo="skip",
    )


def _of(bins: Sequence[Bin], name: str) -> np.ndarray:
    return np.array([getattr(bin_, name) for bin_ in bins], dtype=np.float64)


def _error(bins: Sequence[Bin], colour: str) -> dict[str, object]:
    accuracy = _of(bins, "accuracy")
    lower, upper = (np.array([getattr(bin_.interval, end) for bin_ in bins]) for end in ("lower", "upper"))
    return {
        "type": "data",
        "symmetric": False,
        "array": 100 * (upper - accuracy),
        "arrayminus": 100 * (accuracy - lower),
        "color": colour,
        "thickness": 1.2,
        "width": 0,
    }


def _left(bins: Sequence[Bin]) -> float:
    """Where the axis of confidence begins: there are none below one over the number of classes."""
    return 10 * np.floor(10 * min((bin_.lower for bin_ in bins), default=0.0)) - 1


def _bin_hover(bin_: Bin) -> str:
    return (
        f"{percent(bin_.accuracy, bin_.interval)} accuracy, {percent(bin_.confidence)} confidence<br>"
        f"n = {count(bin_.n)}; a perfect model {percent(bin_.perfect.lower)} to {percent(bin_.perfect.upper)}"
    )


def _at_half(points: Sequence[CoveragePoint]) -> CoveragePoint:
    return min(points, key=lambda point: abs(point.coverage - 0.5))


def _reliability_alt(calibration: Calibration, subset: str) -> str:
    outside = sum(not bin_.perfect.holds(bin_.accuracy) for bin_ in calibration.bins if bin_.n)
    held = sum(bin_.n > 0 for bin_ in calibration.bins)
    return (
        f"Accuracy against confidence of the {subset} subset. {calibration.sentence} "
        f"{outside} of {held} bins lie outside the band of perfectly calibrated models."
    )
