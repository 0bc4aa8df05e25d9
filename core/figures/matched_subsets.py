"""Does accuracy really drop on the new test set? (Anzaku et al. 2022, figures 1, 3-4 and 6-7, by epsilon and label)"""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.matched_subsets import MatchedSubsets, SetComparison, SetEstimate
from touchstone.core.evaluate.wording import count, percent, points
from touchstone.core.figures.theme import escape, faded, interval_bars, name_axis, new_figure, padded, theme

MOST_ROWS = 40
ROW = 26
NAME, MOST_LETTERS = 5, 30
"""So much higher, a letter, is a figure with names below it, which would else leave no room for the lines."""


def confidence_scatter(rows: Sequence[SetComparison], *, dark: bool = False) -> go.Figure:
    """Accuracy against mean confidence, a point per model and set (figure 1); the line is a perfect match of both."""
    look = theme(dark)
    sentences = [f"{_name(row)}: {_sure(row, 'reference')}, {_sure(row, 'target')}." for row in rows[:MOST_ROWS]]
    figure = new_figure(
        look,
        x_title="Mean confidence (%)",
        y_title="Accuracy (%)",
        height=380,
        alt=" ".join(["Accuracy against mean confidence by model and set.", *sentences]),
    )
    values = [100 * row.subset(s).mean_confidence for row in rows for s in ("reference", "target")]
    values += [100 * row.subset(s).accuracy.value for row in rows for s in ("reference", "target")]
    known = [value for value in values if not np.isnan(value)] or [0.0, 100.0]
    ends = np.array([min(known), max(known)])
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        name="perfectly calibrated",
        line={"color": look.grey, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    for name, colour, symbol in (("reference", look.inclusive, "circle"), ("target", look.exclusive, "diamond")):
        subsets = [row.subset(name) for row in rows]
        figure.add_scatter(
            x=100 * np.array([subset.mean_confidence for subset in subsets], dtype=np.float64),
            y=100 * np.array([subset.accuracy.value for subset in subsets], dtype=np.float64),
            mode="markers",
            name=name,
            marker={"symbol": symbol, "color": colour, "size": 8, "opacity": 0.8},
            error_y=_error([subset.accuracy for subset in subsets], faded(colour, 0.35)),
            text=[
                f"{escape(_name(row))}, {name}<br>{percent(subset.accuracy.value, subset.accuracy.interval)} accuracy, "
                f"{percent(subset.mean_confidence)} confidence<br>n = {count(round(subset.n))}"
                for row, subset in zip(rows, subsets, strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_layout(xaxis={"tickformat": ".0f"}, yaxis={"tickformat": ".0f"})
    return figure


def gap_chart(comparison: SetComparison, *, dark: bool = False) -> go.Figure:
    """The gap and its parts, the largest first, with their intervals; the parts add up to the gap.

    Last comes what cannot be compared, where there is any.
    """
    look = theme(dark)
    marks = {
        "residual": ("matched gap", look.colours[2], "circle"),
        "mix": (f"mix of {plural_of(comparison.alike_in)}", look.colours[3], "diamond"),
        "unmatched": ("unmatched samples", look.colours[6], "diamond-open"),
    }
    rounded = "same in all models" if comparison.scale == "variance" else "rounded to 1"
    parts = [
        ("gap, all samples", comparison.gap, look.ink, "square"),
        *((marks[name][0], part, *marks[name][1:]) for name, part in comparison.parts.items()),
        *[(rounded, comparison.rounded, look.grey, "circle-open")] * bool(comparison.n_rounded),
    ]
    parts = [part for part in parts if not np.isnan(part[1].value)]
    sentences = [f"{name}: {points(estimate.value, estimate.interval)}." for name, estimate, _, _ in parts]
    figure = new_figure(
        look,
        x_title="Reference accuracy minus target accuracy (points)",
        height=90 + 44 * len(parts),
        alt=" ".join(sentences),
    )
    for place, (name, estimate, colour, symbol) in enumerate(parts):
        at = np.array([float(place)])
        lower, upper = np.array([100 * estimate.interval.lower]), np.array([100 * estimate.interval.upper])
        figure.add_trace(
            interval_bars(at, lower, upper, colour=colour, width=1.4, name=f"{name}, 95 %", showlegend=False)
        )
        figure.add_scatter(
            x=np.array([100 * estimate.value]),
            y=at,
            mode="markers",
            name=name,
            showlegend=False,
            marker={"symbol": symbol, "color": colour, "size": 10, "line": {"width": 1.5, "color": colour}},
            text=[f"{points(estimate.value, estimate.interval)}<br>95 % by {estimate.by}"],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_xaxes(tickformat=".1f", range=padded(figure, include=0.0))
    figure.add_vline(x=0, line={"color": look.grey, "width": 1, "dash": "dot"})
    name_axis(figure, [name for name, *_ in parts])
    return figure


def accuracy_lines(rows: Sequence[SetComparison], *, dark: bool = False) -> go.Figure:
    """Accuracy and matched accuracy on both sets, models by accuracy on the reference (figures 3a, 4a, 6a, 7a).

    Beside them, in grey, what always answering the most frequent class of either set would reach.
    """
    look = theme(dark)
    figure = new_figure(
        look, x_title=_models_title(rows), y_title="Accuracy (%)", height=380, alt=_models_alt("Accuracy", rows)
    )
    for subset, colour, dash, symbol in (
        ("reference", look.inclusive, "solid", "circle"),
        ("target", look.exclusive, "solid", "diamond"),
        ("matched reference", look.inclusive, "dot", "circle-open"),
        ("matched target", look.exclusive, "dot", "diamond-open"),
    ):
        estimates = [_subset_accuracy(row, subset) for row in rows]
        if not np.isnan(_values(estimates)).all():
            _line(figure, rows, estimates, name=subset, colour=colour, dash=dash, symbol=symbol, write=percent)
    for subset, dash in (("reference", "dash"), ("target", "dot")):
        majority = [SetEstimate(row.subset(subset).majority) for row in rows]
        if not np.isnan(_values(majority)).all():
            name = f"majority class, {subset}"
            _line(figure, rows, majority, name=name, colour=look.grey, dash=dash, symbol="line-ew-open", write=percent)
    _model_axis(figure, rows)
    return figure


def gap_lines(rows: Sequence[SetComparison], *, dark: bool = False) -> go.Figure:
    """Gap, matched gap and the unmatched share of the target, model by model (figures 3b, 4b, 6b, 7b)."""
    look = theme(dark)
    figure = new_figure(
        look,
        x_title=_models_title(rows),
        y_title="Gap (points), unmatched (%)" if any(row.can_match for row in rows) else "Gap (points)",
        height=380,
        alt=_models_alt("Gap", rows),
    )
    for name, field, colour, dash, symbol, write in (
        ("gap", "gap", look.ink, "solid", "square", points),
        ("matched gap", "matched_gap", look.colours[2], "solid", "circle", points),
        ("target unmatched", "unmatched_target", look.colours[4], "dash", "diamond-open", percent),
    ):
        estimates = [getattr(row, field) for row in rows]
        if not np.isnan(_values(estimates)).all():
            _line(figure, rows, estimates, name=name, colour=colour, dash=dash, symbol=symbol, write=write)
    figure.add_hline(y=0, line={"color": look.grey, "width": 1, "dash": "dot"})
    _model_axis(figure, rows)
    return figure


def epsilon_chart(curve: Sequence[SetComparison], *, dark: bool = False) -> go.Figure:
    """Matched gap, gap and unmatched share of the target at every epsilon, each with its band."""
    look = theme(dark)
    gaps = [f"{row.epsilon:g}: {points(row.matched_gap.value, row.matched_gap.interval)}." for row in curve]
    figure = new_figure(
        look,
        x_title="Epsilon: largest difference of confidence within a pair",
        y_title="Gap (points), unmatched (%)",
        alt=" ".join(["Matched gap by epsilon.", *gaps]),
    )
    x = np.array([row.epsilon for row in curve])
    for name, field, colour, dash in (
        ("gap", "gap", look.ink, "dot"),
        ("matched gap", "matched_gap", look.colours[2], "solid"),
        ("target unmatched", "unmatched_target", look.colours[4], "dash"),
    ):
        estimates = [getattr(row, field) for row in curve]
        figure.add_trace(_band(x, estimates, colour, name))
        write = percent if field == "unmatched_target" else points
        figure.add_scatter(
            x=x,
            y=100 * _values(estimates),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 1.6, "dash": dash},
            marker={"size": 6, "color": colour},
            text=[write(estimate.value, estimate.interval) for estimate in estimates],
            hovertemplate=f"{name} at %{{x:g}}<br>%{{text}}<extra></extra>",
        )
    figure.update_layout(
        xaxis={"type": "log", "tickvals": x, "ticktext": [f"{value:g}" for value in x]}, yaxis={"tickformat": ".0f"}
    )
    return figure


def label_chart(comparison: SetComparison, *, dark: bool = False) -> go.Figure:
    """Matched gap by predicted label, the largest on top; the band is that of all labels together.

    Filled marks differ significantly from zero (corrected for all claims); labels with too few pairs are left out.
    """
    look = theme(dark)
    enough = sorted((row for row in comparison.labels if row.enough), key=lambda row: -row.matched_gap.value)
    rows = enough[:MOST_ROWS]
    cut = f" (the {MOST_ROWS} largest of {len(enough)})" if len(enough) > MOST_ROWS else ""
    gaps = [f"{row.label}: {points(row.matched_gap.value, row.matched_gap.interval)}." for row in rows]
    few = len(comparison.labels) - len(enough)
    left_out = f" {few} labels have too few pairs and are left out." if few else ""
    figure = new_figure(
        look,
        x_title=f"Matched gap of a predicted label (points){cut}",
        height=90 + ROW * max(len(rows), 2),
        alt=" ".join(["Matched gap by predicted label.", *gaps]) + left_out,
    )
    if comparison.matched_gap.interval.known:
        low, high = (100 * getattr(comparison.matched_gap.interval, end) for end in ("lower", "upper"))
        figure.add_vrect(x0=low, x1=high, fillcolor=faded(look.grey, 0.14), line_width=0)
    at = np.arange(len(rows), dtype=np.float64)
    lower, upper = _ends([row.matched_gap for row in rows])
    figure.add_trace(interval_bars(at, 100 * lower, 100 * upper, colour=look.colours[2], width=1.4, name="95 %"))
    for name, differs, symbol in (
        ("significant, corrected", True, "circle"),
        ("not significant", False, "circle-open"),
    ):
        mine = [place for place, row in enumerate(rows) if row.differs == differs]
        figure.add_scatter(
            x=100 * np.array([rows[place].matched_gap.value for place in mine], dtype=np.float64),
            y=at[mine],
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "color": look.colours[2],
                "size": 9,
                "line": {"width": 1.5, "color": look.colours[2]},
            },
            text=[
                f"{escape(row.label)}: {points(row.matched_gap.value, row.matched_gap.interval)}<br>"
                f"{count(round(row.n_pairs))} pairs"
                for row in rows
                if row.differs == differs
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_xaxes(tickformat=".1f", range=padded(figure, include=0.0))
    figure.add_vline(x=0, line={"color": look.grey, "width": 1, "dash": "dot"})
    name_axis(figure, [row.label for row in rows])
    return figure


def _line(
    figure: go.Figure,
    rows: Sequence[SetComparison],
    estimates: Sequence[SetEstimate],
    *,
    name: str,
    colour: str,
    dash: str,
    symbol: str,
    write: Callable[[float, Interval], str],
) -> None:
    """A value per model, joined by a line, with its interval: a hairline each where models are few, else a band."""
    at = np.arange(len(rows), dtype=np.float64)
    few = len(rows) <= MOST_ROWS
    if not few:
        figure.add_trace(_band(at, estimates, colour, name))
    figure.add_scatter(
        x=at,
        y=100 * _values(estimates),
        mode="lines+markers" if few else "lines",
        name=name,
        line={"color": colour, "width": 1.5, "dash": dash},
        marker={"symbol": symbol, "size": 7, "color": colour, "line": {"width": 1.5, "color": colour}},
        error_y=_error(estimates, faded(colour, 0.5)) if few else None,
        text=[
            f"{escape(_name(row))}, {name}<br>{write(estimate.value, estimate.interval)}"
            for row, estimate in zip(rows, estimates, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _band(at: np.ndarray, estimates: Sequence[SetEstimate], colour: str, name: str) -> go.Scatter:
    """The intervals of neighbouring values as one band; unknown ones are left out."""
    lower, upper = _ends(estimates)
    known = ~np.isnan(lower)
    return go.Scatter(
        x=np.concatenate([at[known], at[known][::-1]]),
        y=100 * np.concatenate([upper[known], lower[known][::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=faded(colour, 0.12),
        line={"width": 0},
        name=f"{name}, 95 %",
        showlegend=False,
        hoverinfo="skip",
    )


def _model_axis(figure: go.Figure, rows: Sequence[SetComparison]) -> None:
    """Names below few models; many are counted."""
    if len(rows) <= MOST_ROWS:
        name_axis(figure, [_name(row) for row in rows], axis="x")
        if len(rows) > 6:
            figure.update_layout(xaxis={"tickangle": -60, "ticktext": [escape(_name(row)) for row in rows]})
            longest = max(len(_name(row)) for row in rows)
            figure.update_layout(height=figure.layout.height + NAME * min(longest, MOST_LETTERS))
    figure.update_layout(yaxis={"tickformat": ".0f"})


def _models_title(rows: Sequence[SetComparison]) -> str:
    return "Models by accuracy on the reference" + (f" ({count(len(rows))})" if len(rows) > MOST_ROWS else "")


def _models_alt(what: str, rows: Sequence[SetComparison]) -> str:
    sentences = [
        f"{_name(row)}: gap {points(row.gap.value, row.gap.interval)}{_matched_alt(row)}." for row in rows[:MOST_ROWS]
    ]
    return " ".join([f"{what} of {len(rows)} models, by increasing accuracy on the reference.", *sentences])


def _matched_alt(row: SetComparison) -> str:
    if not row.can_match:
        return ""
    gap = points(row.matched_gap.value, row.matched_gap.interval)
    return f", matched gap {gap}, {percent(row.unmatched_target.value)} unmatched"


def _subset_accuracy(row: SetComparison, name: str) -> SetEstimate:
    known = [subset.accuracy for subset in row.subsets if subset.name == name]
    return known[0] if known else SetEstimate(float("nan"))


def _name(row: SetComparison) -> str:
    return row.model or "the model"


def _sure(row: SetComparison, name: str) -> str:
    subset = row.subset(name)
    return f"{name} {percent(subset.accuracy.value)} accuracy, {percent(subset.mean_confidence)} confidence"


def _values(estimates: Sequence[SetEstimate]) -> np.ndarray:
    return np.array([estimate.value for estimate in estimates], dtype=np.float64)


def _ends(estimates: Sequence[SetEstimate]) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = (
        np.array([getattr(estimate.interval, end) for estimate in estimates], dtype=np.float64)
        for end in ("lower", "upper")
    )
    return lower, upper


def _error(estimates: Sequence[SetEstimate], colour: str) -> dict[str, object]:
    value, (lower, upper) = _values(estimates), _ends(estimates)
    return {
        "type": "data",
        "symmetric": False,
        "array": 100 * (upper - value),
        "arrayminus": 100 * (value - lower),
        "color": colour,
        "thickness": 1.2,
        "width": 0,
    }


# How are two test sets matched? A few samples of each, and who is paired with whom. (Anzaku et al. 2022, figure 2)


MOST_DRAWN = 60


def matching_picture(matched: MatchedSubsets, *, dark: bool = False) -> go.Figure:
    """How matching works, on a few samples (figure 2): pairs are joined, what found no partner is hollow.

    One row per set, and with `by` "label" two rows per predicted label. More than 60 samples of a set are not drawn.
    """
    look = theme(dark)
    labels: list[int | None] = [None]
    if matched.by == "label":
        labels = sorted(set(matched.reference.label.tolist()) | set(matched.target.label.tolist()))
    names = [matched.reference.class_names[label] if label is not None else "any label" for label in labels]
    place = {label: float(at) for at, label in enumerate(labels)}
    height = 0.28
    n_left, n_left_reference = len(matched.unmatched_target_index), len(matched.unmatched_reference_index)
    shown = f"{matched.n_pairs} pairs; {n_left} new and {n_left_reference} reference samples unmatched"
    figure = new_figure(
        look,
        x_title="Confidence (%)",
        y_title="Predicted label" if matched.by == "label" else None,
        height=110 + 90 * len(labels),
        alt=f"Samples of both sets by confidence, with a line for every pair: {shown}.",
    )

    def at(label: np.ndarray, offset: float) -> np.ndarray:
        return np.array([place[code if matched.by == "label" else None] for code in label.tolist()]) + offset

    keep = (matched.reference_index < MOST_DRAWN) & (matched.target_index < MOST_DRAWN)
    reference, target = (
        matched.reference.part(matched.reference_index[keep]),
        matched.target.part(matched.target_index[keep]),
    )
    gap = np.full(len(reference), np.nan)
    figure.add_scatter(
        x=100 * np.column_stack([reference.confidence, target.confidence, gap]).ravel(),
        y=np.column_stack([at(reference.label, -height), at(target.label, height), gap]).ravel(),
        mode="lines",
        line={"color": look.faint, "width": 1.5},
        name="pair",
        hoverinfo="skip",
    )
    for name, offset, colour, symbol in (
        ("reference", -height, look.inclusive, "circle"),
        ("target", height, look.exclusive, "diamond"),
    ):
        for part, mark in (("matched", symbol), ("unmatched", f"{symbol}-open")):
            index = getattr(matched, f"{name}_index" if part == "matched" else f"unmatched_{name}_index")
            subset = matched.subsets[name].part(index[index < MOST_DRAWN])
            right = np.where(subset.correct, "right", "wrong")
            figure.add_scatter(
                x=100 * subset.confidence,
                y=at(subset.label, offset),
                mode="markers",
                name=f"{part} {name}",
                marker={"symbol": mark, "color": colour, "size": 11, "line": {"width": 1.8, "color": colour}},
                text=right,
                hovertemplate=f"{part} {name}, confidence %{{x:.1f}} %, %{{text}}<extra></extra>",
            )
    name_axis(figure, names)
    figure.update_layout(xaxis={"tickformat": ".1f"}, yaxis={"showticklabels": matched.by == "label"})
    return figure
