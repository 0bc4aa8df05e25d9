"""Is the model right as often as it is sure? (Anzaku et al. 2022, figures 5 and 8, and accuracy against coverage)"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.calibration import Bin, Calibration, CoveragePoint
from touchstone.core.evaluate.wording import count, percent
from touchstone.core.figures import marks as draw
from touchstone.core.figures.marks import Style
from touchstone.core.figures.theme import Theme, faded, new_figure, theme

SUBSETS = {
    "reference": ("circle", "solid"),
    "target": ("diamond", "solid"),
    "matched reference": ("circle-open", "dash"),
    "matched target": ("diamond-open", "dash"),
    "unmatched target": ("x-thin-open", "dot"),
    "unmatched reference": ("cross-thin-open", "dot"),
}
"""The mark and the dash of each subset."""


def subset_style(look: Theme, name: str) -> Style:
    """Colour, mark and dash of a subset: the colour says which set, the mark and dash which part of it.

    >>> from touchstone.core.figures.theme import LIGHT
    >>> subset_style(LIGHT, "matched target")
    Style(colour='#C8501C', symbol='diamond-open', dash='dash')
    """
    return Style(look.exclusive if "target" in name else look.inclusive, *SUBSETS[name])


def reliability_chart(calibration: Calibration, *, subset: str = "reference", dark: bool = False) -> go.Figure:
    """Accuracy against confidence of one subset (figure 5a): bins with their intervals on the band of a perfect model.

    Counts per bin stand below. A bar is as wide as its bin; empty bins stay empty.
    """
    look, bins = theme(dark), calibration.bins
    style, held = subset_style(look, subset), [bin_ for bin_ in bins if bin_.n]
    outside = sum(not bin_.perfect.holds(bin_.accuracy) for bin_ in held)
    alt = (
        f"Accuracy against confidence of the {subset} subset. {calibration.sentence} "
        f"{outside} of {len(held)} bins lie outside the band of perfectly calibrated models."
    )
    figure = new_figure(look, "Confidence (%)", "Accuracy (%)", height=380, alt=alt)
    perfect_line(figure, look)
    _perfect_boxes(figure, look, held)
    _dots(figure, held, style, subset, 0.8, [_bin_hover(bin_) for bin_ in held], size=8)
    lower, upper = 100 * _of(bins, "lower"), 100 * _of(bins, "upper")
    below = {"edge": (0.5, look.paper), "yaxis": "y2", "showlegend": False}
    grey = faded(look.grey, 0.35)
    x, n = (lower + upper) / 2, _of(bins, "n")
    draw.columns(figure, x, n, grey, "samples", "n = %{y}", width=upper - lower, **below)
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
    alt = " ".join(["Accuracy against confidence by subset.", *sentences])
    figure = new_figure(look, "Confidence (%)", "Accuracy (%)", height=380, alt=alt)
    perfect_line(figure, look)
    left = 100.0
    for name, calibration in subsets.items():
        held = [bin_ for bin_ in calibration.bins if bin_.n]
        left = min(left, _left(held))
        text = {"text": [_bin_hover(bin_) for bin_ in held], "size": 7, "joined": 1.2}
        _dots(figure, held, subset_style(look, name), name, 0.35, f"{name}<br>%{{text}}", **text)
    ranges = {"range": [left, 101], "tickformat": ".0f"}, {"range": [-2, 102], "tickformat": ".0f"}
    return figure.update_layout(xaxis=ranges[0], yaxis=ranges[1])


def _dots(
    figure: go.Figure, bins: Sequence[Bin], style: Style, name: str, opacity: float, hover: draw.Hover, **more
) -> None:
    """The accuracy of each bin at its confidence, with its interval."""
    x, y = 100 * _of(bins, "confidence"), 100 * _of(bins, "accuracy")
    error = draw.error(y, draw.ends_of(bins, 100), faded(style.colour, opacity))
    draw.dots(figure, x, y, style, name, hover, outline=(1.5, style.colour), error_y=error, **more)


def density_chart(densities: Mapping[str, tuple[np.ndarray, np.ndarray]], *, dark: bool = False) -> go.Figure:
    """Where the confidences of each subset lie (figures 5b and 8b); `densities` as `density` returns them."""
    look = theme(dark)
    peaks = [
        f"{name}: most frequent confidence {percent(float(at[np.argmax(height)]))}."
        for name, (at, height) in densities.items()
        if height.any()
    ]
    alt = " ".join(["Density of the confidences by subset.", *peaks])
    figure = new_figure(look, "Confidence (%)", "Density (per point of confidence)", alt=alt)
    for name, (at, height) in densities.items():
        hover = f"{name}<br>confidence %{{x:.1f}} %: %{{y:.3f}}"
        draw.line(figure, 100 * at, height / 100, subset_style(look, name), name, hover, width=1.6)
    axes = {"range": [-1, 101], "tickformat": ".0f"}, {"rangemode": "tozero", "tickformat": ".2f"}
    return figure.update_layout(xaxis=axes[0], yaxis=axes[1])


def coverage_chart(curves: Mapping[str, Sequence[CoveragePoint]], *, dark: bool = False) -> go.Figure:
    """Accuracy against coverage: what is gained when the least confident samples are set aside."""
    look = theme(dark)
    halves = {name: min(points, key=_off_half) for name, points in curves.items() if points}
    sentences = [
        f"{name}: {percent(curves[name][-1].accuracy)} accuracy on all, {percent(half.accuracy)} on the more "
        f"confident half."
        for name, half in halves.items()
    ]
    alt = " ".join(["Accuracy against coverage by subset.", *sentences])
    x_title = "Coverage: share of samples kept, the most confident first (%)"
    figure = new_figure(look, x_title, "Accuracy of those kept (%)", alt=alt)
    for name, points in curves.items():
        style, x = subset_style(look, name), 100 * np.array([point.coverage for point in points])
        y = 100 * np.array([point.accuracy for point in points])
        ends, more = draw.ends_of(points, 100), {"opacity": 0.12, "showlegend": False}
        draw.band(figure, x, *ends, style.colour, f"{name}, 95 %", **more)
        text = [
            f"{percent(point.accuracy, point.interval)}<br>n = {count(point.n)}, confidence at least "
            f"{percent(point.confidence)}"
            for point in points
        ]
        draw.line(figure, x, y, style, name, f"{name}<br>%{{text}}", width=1.6, text=text)
    drawn = [100 * point.accuracy for points in curves.values() for point in points] or [0.0, 100.0]
    ends = [min(drawn) - 5, min(max(drawn) + 5, 102)]
    return figure.update_layout(
        xaxis={"range": [0, 101], "tickformat": ".0f"}, yaxis={"range": ends, "tickformat": ".0f"}
    )


def _off_half(point: CoveragePoint) -> float:
    return abs(point.coverage - 0.5)


def perfect_line(figure: go.Figure, look: Theme, ends: tuple[float, float] = (0.0, 100.0)) -> None:
    """Where a model is that is right as often as it is sure."""
    draw.line(figure, np.array(ends), np.array(ends), Style(look.grey, dash="dot"), "perfectly calibrated", width=1)


def _perfect_boxes(figure: go.Figure, look: Theme, bins: Sequence[Bin]) -> None:
    """The band bin by bin, each as wide as its bin, in one trace of closed outlines."""
    x, y = [], []
    for bin_ in bins:
        x += [bin_.lower, bin_.upper, bin_.upper, bin_.lower, bin_.lower, np.nan]
        y += [bin_.perfect.lower] * 2 + [bin_.perfect.upper] * 2 + [bin_.perfect.lower, np.nan]
    name, outlines = (
        "95 % of perfectly calibrated models at this n",
        (100 * np.array(x, float), 100 * np.array(y, float)),
    )
    draw.area(figure, *outlines, faded(look.grey, 0.25), name)


def _of(bins: Sequence[Bin], name: str) -> np.ndarray:
    return np.array([getattr(bin_, name) for bin_ in bins], dtype=np.float64)


def _left(bins: Sequence[Bin]) -> float:
    """Where the axis of confidence begins: there are none below one over the number of classes."""
    return 10 * np.floor(10 * min((bin_.lower for bin_ in bins), default=0.0)) - 1


def _bin_hover(bin_: Bin) -> str:
    return (
        f"{percent(bin_.accuracy, bin_.interval)} accuracy, {percent(bin_.confidence)} confidence<br>"
        f"n = {count(bin_.n)}; a perfect model {percent(bin_.perfect.lower)} to {percent(bin_.perfect.upper)}"
    )
