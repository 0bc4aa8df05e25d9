"""Does accuracy really drop on the new test set, and is the model right as often as it is sure? (Anzaku et al. 2022)

Figures 1 to 8, and by epsilon and by label.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.calibration import Bin, Calibration, CoveragePoint
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.matched_subsets import MatchedSubsets, SetComparison, SetEstimate
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.thresholds import Decisions, Outcome
from touchstone.core.evaluate.wording import confidence, count, percent, points, quoted
from touchstone.core.figures import marks as draw
from touchstone.core.figures.marks import ConfidenceScale, Style
from touchstone.core.figures.theme import Theme, escape, faded, new_figure, theme

MOST_ROWS = 40
ROW = 26
NAME, MOST_LETTERS = 5, 30
"""So much higher, a letter, is a figure with names below it, which would else leave no room for the lines."""

Rows = Sequence[SetComparison]
Write = Callable[[float, Interval], str]


def _sets(look: Theme) -> dict[str, Style]:
    return {"reference": Style(look.inclusive), "target": Style(look.exclusive, "diamond")}


def confidence_scatter(rows: Rows, *, dark: bool = False) -> go.Figure:
    """Accuracy against mean confidence, a point per model and set (figure 1); the line is a perfect match of both."""
    look = theme(dark)
    sentences = [f"{_name(row)}: {_sure(row, 'reference')}, {_sure(row, 'target')}." for row in rows[:MOST_ROWS]]
    alt = ["Accuracy against mean confidence by model and set.", *sentences]
    figure = new_figure(look, "Mean confidence (%)", "Accuracy (%)", height=380, alt=alt)
    subsets = {name: [row.subset(name) for row in rows] for name in _sets(look)}
    values = [100 * value for part in subsets.values() for s in part for value in (s.mean_confidence, s.reached.value)]
    known = [value for value in values if not np.isnan(value)] or [0.0, 100.0]
    _perfect_line(figure, look, (min(known), max(known)))
    for name, style in _sets(look).items():
        hover = [
            f"{escape(_name(row))}, {name}<br>{percent(subset.reached.value, subset.reached.interval)} accuracy, "
            f"{confidence(subset.mean_confidence)} confidence<br>n = {count(round(subset.n))}"
            for row, subset in zip(rows, subsets[name], strict=True)
        ]
        x = 100 * np.array([subset.mean_confidence for subset in subsets[name]], dtype=np.float64)
        accuracies = [subset.reached for subset in subsets[name]]
        y, error = draw.values_of(accuracies, 100), _error(accuracies, faded(style.colour, 0.35), 100)
        draw.dots(figure, x, y, style, name, hover, size=8, opacity=0.8, error_y=error)
    return figure.update_layout(xaxis={"tickformat": ".2~f"}, yaxis={"tickformat": ".2~f"})


def gap_chart(comparison: SetComparison, *, dark: bool = False) -> go.Figure:
    """The gap and its parts, the largest first, with their intervals; the parts add up to the gap.

    Last comes what cannot be compared, where there is any.
    """
    look, words = theme(dark), comparison.words
    named = {
        "residual": ("matched gap", Style(look.colours[2])),
        "mix": (f"mix of {plural_of(comparison.alike_in)}", Style(look.colours[3], "diamond")),
        "unmatched": ("unmatched samples", Style(look.colours[6], "diamond-open")),
    }
    rounded = "same in all models" if comparison.scale == "variance" else "rounded to 1"
    parts = [
        ("gap, all samples", Style(look.ink, "square"), comparison.gap),
        *((*named[name], part) for name, part in comparison.parts.items()),
        *[(rounded, Style(look.grey, "circle-open"), comparison.rounded)] * bool(comparison.n_rounded),
    ]
    parts = [part for part in parts if not np.isnan(part[2].value)]
    alt = " ".join(f"{name}: {words.difference(estimate.value, estimate.interval)}." for name, _, estimate in parts)
    title = words.axis_of(f"Reference {words.name} minus target {words.name}")
    if not words.metric.larger_is_better:
        title = words.axis_of(f"Target {words.name} minus reference {words.name}")
    figure = new_figure(look, title, height=90 + 44 * len(parts), alt=alt)
    for place, (name, style, estimate) in enumerate(parts):
        difference = words.difference(estimate.value, estimate.interval)
        shown, hover = {"showlegend": False}, [f"{difference}<br>95 % by {estimate.by}"]
        draw.bars(figure, [place], draw.ends_of([estimate], words.factor), style.colour, f"{name}, 95 %", **shown)
        drawn = {"size": 10, "outline": (1.5, style.colour), **shown}
        x = draw.values_of([estimate], words.factor)
        draw.dots(figure, x, np.array([place]), style, name, hover, **drawn)
    _gap_axis(figure, look, words)
    draw.name_axis(figure, [name for name, *_ in parts])
    return figure


def _gap_axis(figure: go.Figure, look: Theme, words: InWords) -> None:
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, include=0.0))
    draw.rule(figure, look.grey, x=0)


def accuracy_lines(rows: Rows, *, dark: bool = False) -> go.Figure:
    """Accuracy and matched accuracy on both sets, models by accuracy on the reference (figures 3a, 4a, 6a, 7a).

    Beside them, in grey, what always answering the most frequent class of either set would reach.
    """
    look, words = theme(dark), rows[0].words
    figure = new_figure(look, _models_title(rows), words.axis, height=380, alt=_models_alt(words.title, rows))
    sets = _sets(look)
    for name, style in sets.items():
        _line(figure, rows, [_reached(row, name) for row in rows], name, style, words.value)
    for name, style in sets.items():
        matched = Style(style.colour, f"{style.symbol}-open", "dot")
        reached = [_reached(row, f"matched {name}") for row in rows]
        _line(figure, rows, reached, f"matched {name}", matched, words.value)
    what = "majority class" if words.metric.name == ACCURACY else "baseline"
    for name, dash in (("reference", "dash"), ("target", "dot")):
        baselines = [SetEstimate(_baseline(row, name)) for row in rows]
        _line(figure, rows, baselines, f"{what}, {name}", Style(look.grey, "line-ew-open", dash), words.value)
    _model_axis(figure, rows)
    return figure


def gap_lines(rows: Rows, *, dark: bool = False) -> go.Figure:
    """Gap, matched gap and the unmatched share of the target, model by model (figures 3b, 4b, 6b, 7b)."""
    look, words = theme(dark), rows[0].words
    y_title = _gaps_title(words) if any(row.can_match for row in rows) else words.axis_of("Gap")
    figure = new_figure(look, _models_title(rows), y_title, height=380, alt=_models_alt("Gap", rows))
    for name, field, style, write in (
        ("gap", "gap", Style(look.ink, "square"), words.difference),
        ("matched gap", "matched_gap", Style(look.colours[2]), words.difference),
        ("target unmatched", "unmatched_target", Style(look.colours[4], "diamond-open", "dash"), percent),
    ):
        _line(figure, rows, [getattr(row, field) for row in rows], name, style, write)
    draw.rule(figure, look.grey, y=0)
    _model_axis(figure, rows)
    return figure


def epsilon_chart(curve: Rows, *, dark: bool = False) -> go.Figure:
    """Matched gap, gap and unmatched share of the target at every epsilon, each with its band."""
    look, words = theme(dark), curve[0].words
    gaps = [f"{row.epsilon:g}: {words.difference(row.matched_gap.value, row.matched_gap.interval)}." for row in curve]
    x_title, alt = (
        "Epsilon: largest difference of confidence within a pair",
        " ".join(["Matched gap by epsilon.", *gaps]),
    )
    figure = new_figure(look, x_title, _gaps_title(words), alt=alt)
    x = np.array([row.epsilon for row in curve])
    for name, field, style, write in (
        ("gap", "gap", Style(look.ink, dash="dot"), words.difference),
        ("matched gap", "matched_gap", Style(look.colours[2]), words.difference),
        ("target unmatched", "unmatched_target", Style(look.colours[4], dash="dash"), percent),
    ):
        estimates = [getattr(row, field) for row in curve]
        _band(figure, x, estimates, style.colour, name, words.factor)
        y, text = (
            draw.values_of(estimates, words.factor),
            [write(estimate.value, estimate.interval) for estimate in estimates],
        )
        draw.dots(figure, x, y, style, name, f"{name} at %{{x:g}}<br>%{{text}}", size=6, joined=1.6, text=text)
    x_axis = {"type": "log", "tickvals": x, "ticktext": [f"{value:g}" for value in x]}
    return figure.update_layout(xaxis=x_axis, yaxis={"tickformat": words.ticks})


def label_chart(comparison: SetComparison, *, dark: bool = False) -> go.Figure:
    """Matched gap by predicted label, the largest on top; the band is that of all labels together.

    Filled marks differ significantly from zero (corrected for all claims); labels with too few pairs are left out.
    """
    look = theme(dark)
    colour = look.colours[2]
    enough = sorted((row for row in comparison.labels if row.enough), key=lambda row: -row.matched_gap.value)
    rows = enough[:MOST_ROWS]
    cut = f" (the {MOST_ROWS} largest of {len(enough)})" if len(enough) > MOST_ROWS else ""
    gaps = [f"{row.label}: {points(row.matched_gap.value, row.matched_gap.interval)}." for row in rows]
    few = len(comparison.labels) - len(enough)
    left_out = f" {few} labels have too few pairs and are left out." if few else ""
    title, alt = f"Matched gap of a predicted label (points){cut}", " ".join(["Matched gap by predicted label.", *gaps])
    figure = new_figure(look, title, height=90 + ROW * max(len(rows), 2), alt=alt + left_out)
    if comparison.matched_gap.interval.known:
        low, high = (100 * getattr(comparison.matched_gap.interval, end) for end in ("lower", "upper"))
        figure.add_vrect(x0=low, x1=high, fillcolor=faded(look.grey, 0.14), line_width=0)
    at = np.arange(len(rows), dtype=np.float64)
    draw.bars(figure, at, draw.ends_of([row.matched_gap for row in rows], 100), colour, "95 %")
    for name, differs, symbol in (
        ("significant, corrected", True, "circle"),
        ("not significant", False, "circle-open"),
    ):
        mine = [place for place, row in enumerate(rows) if row.differs == differs]
        parts = [rows[place] for place in mine]
        hover = [
            f"{escape(row.label)}: {points(row.matched_gap.value, row.matched_gap.interval)}<br>"
            f"{count(round(row.n_pairs))} pairs"
            for row in parts
        ]
        x = draw.values_of([row.matched_gap for row in parts], 100)
        draw.dots(figure, x, at[mine], Style(colour, symbol), name, hover, outline=(1.5, colour))
    _gap_axis(figure, look, comparison.words)
    draw.name_axis(figure, [row.label for row in rows])
    return figure


def roc_chart(decisions: Decisions, threshold: float | None = None, *, dark: bool = False) -> go.Figure:
    """Sensitivity by how many of the rest are called positive, at every threshold.

    Marked are what the files predict, and the `threshold` in question.
    """
    rest = Axis("1 − specificity (%)", "specificity", lambda share: 1 - share)
    upright = Axis("Sensitivity (%)", "sensitivity")
    figure, look = _decision_chart(decisions, rest, upright, "ROC curve", threshold, dark)
    draw.line(figure, [0.0, 100.0], [0.0, 100.0], Style(look.grey, dash="dot"), "chance", width=1)
    return figure


def precision_recall_chart(decisions: Decisions, threshold: float | None = None, *, dark: bool = False) -> go.Figure:
    """Precision by sensitivity, marked alike; lines across say how frequent the class is, as chance reaches."""
    found, precise = Axis("Sensitivity (%)", "sensitivity"), Axis("Precision (%)", "precision")
    figure, look = _decision_chart(decisions, found, precise, "Precision-recall curve", threshold, dark)
    for name, style in _sets(look).items():
        frequent = 100 * float(getattr(decisions, name).positive.mean())
        draw.line(figure, [0.0, 100.0], [frequent] * 2, Style(style.colour, dash="dot"), f"chance, {name}", width=1)
    return figure


class Axis(NamedTuple):
    """A share of outcomes along an axis: its title, its name, and what of it is shown."""

    title: str
    name: str
    shown: Callable[[float], float] = lambda share: share


def _decision_chart(
    decisions: Decisions, along: Axis, upright: Axis, what: str, threshold: float | None, dark: bool
) -> tuple[go.Figure, Theme]:
    look = theme(dark)
    files = {name: getattr(decisions, name).at(float("nan")) for name in _sets(look)}
    alt = [f"{what} of {quoted(decisions.positive)} on both sets."]
    alt += [
        f"{name}: {percent(outcome.share('sensitivity'))} sensitivity, {percent(outcome.share('specificity'))} "
        f"specificity, {percent(outcome.share('precision'))} precision as predicted."
        for name, outcome in files.items()
    ]
    figure = new_figure(look, along.title, upright.title, height=380, alt=alt)
    for name, style in _sets(look).items():
        curve = getattr(decisions, name).curve
        x, y = (np.array([100 * axis.shown(each.share(axis.name)) for each in curve]) for axis in (along, upright))
        ends = draw.ends_of(curve, 100, kind=upright.name)
        draw.band(figure, x, ends, style.colour, f"{name}, 95 %", opacity=0.14, showlegend=False)
        draw.line(figure, x, y, Style(style.colour), name, [_outcome_hover(each) for each in curve], width=1.8)
        marked = {"as predicted": (files[name], style)}
        if threshold is not None and (other := getattr(decisions, name).at(threshold)).counts != files[name].counts:
            marked[f"at {threshold:.2f}"] = (other, Style(style.colour, f"{style.symbol}-open"))
        for words, (outcome, own) in marked.items():
            place = (np.array([100 * axis.shown(outcome.share(axis.name))]) for axis in (along, upright))
            size = {"size": 10 if own is style else 15, "outline": (1.5, style.colour)}
            draw.dots(figure, *place, own, f"{name}, {words}", [_outcome_hover(outcome)], **size)
    for axis in ("x", "y"):
        figure.update_layout({f"{axis}axis": {"range": [-2, 102], "tickformat": ".0f"}})
    return figure, look


def _outcome_hover(outcome: Outcome) -> str:
    called = "as predicted" if np.isnan(outcome.threshold) else f"threshold {outcome.threshold:.3g}"
    counts = f"{count(outcome.hits)} found, {count(outcome.missed)} missed"
    return f"{called}<br>{counts}<br>{count(outcome.false_alarms)} false alarms"


def _line(
    figure: go.Figure, rows: Rows, estimates: Sequence[SetEstimate], name: str, style: Style, write: Write
) -> None:
    """A value per model, joined by a line, with its interval: a hairline each where models are few, else a band."""
    factor = rows[0].words.factor
    at, values = np.arange(len(rows), dtype=np.float64), draw.values_of(estimates, factor)
    if np.isnan(values).all():
        return
    few = len(rows) <= MOST_ROWS
    if not few:
        _band(figure, at, estimates, style.colour, name, factor)
    hover = [
        f"{escape(_name(row))}, {name}<br>{write(estimate.value, estimate.interval)}"
        for row, estimate in zip(rows, estimates, strict=True)
    ]
    drawn = {"size": 7, "outline": (1.5, style.colour), "joined": 1.5}
    drawn |= {"error_y": _error(estimates, faded(style.colour, 0.5), factor)} if few else {"mode": "lines"}
    draw.dots(figure, at, values, style, name, hover, **drawn)


def _band(
    figure: go.Figure, at: np.ndarray, estimates: Sequence[SetEstimate], colour: str, name: str, factor: int
) -> None:
    """The intervals of neighbouring values as one band."""
    ends = draw.ends_of(estimates, factor)
    draw.band(figure, at, ends, colour, f"{name}, 95 %", opacity=0.12, showlegend=False)


def _model_axis(figure: go.Figure, rows: Rows) -> None:
    """Names below few models; many are counted."""
    if len(rows) <= MOST_ROWS:
        draw.name_axis(figure, [_name(row) for row in rows], axis="x")
        if len(rows) > 6:
            figure.update_layout(xaxis={"tickangle": -60, "ticktext": [escape(_name(row)) for row in rows]})
            longest = max(len(_name(row)) for row in rows)
            figure.update_layout(height=figure.layout.height + NAME * min(longest, MOST_LETTERS))
    figure.update_layout(yaxis={"tickformat": rows[0].words.ticks})


def _gaps_title(words: InWords) -> str:
    return "Gap (points), unmatched (%)" if words.metric.in_percent else "Gap, unmatched share"


def _models_title(rows: Rows) -> str:
    return f"Models by {rows[0].words.name} on the reference" + (
        f" ({count(len(rows))})" if len(rows) > MOST_ROWS else ""
    )


def _models_alt(what: str, rows: Rows) -> str:
    sentences = [
        f"{_name(row)}: gap {row.words.difference(row.gap.value, row.gap.interval)}{_matched_alt(row)}."
        for row in rows[:MOST_ROWS]
    ]
    by = f"by increasing {rows[0].words.name} on the reference"
    return " ".join([f"{what} of {len(rows)} models, {by}.", *sentences])


def _matched_alt(row: SetComparison) -> str:
    if not row.can_match:
        return ""
    gap = row.words.difference(row.matched_gap.value, row.matched_gap.interval)
    return f", matched gap {gap}, {percent(row.unmatched_target.value)} unmatched"


def _reached(row: SetComparison, name: str) -> SetEstimate:
    known = [subset.reached for subset in row.subsets if subset.name == name]
    return known[0] if known else SetEstimate(float("nan"))


def _baseline(row: SetComparison, name: str) -> float:
    return next((baseline.reached for baseline in row.baselines if baseline.set == name), float("nan"))


def _name(row: SetComparison) -> str:
    return row.model or "the model"


def _sure(row: SetComparison, name: str) -> str:
    subset = row.subset(name)
    return f"{name} {percent(subset.reached.value)} accuracy, {confidence(subset.mean_confidence)} confidence"


def _error(estimates: Sequence[SetEstimate], colour: str, factor: int) -> dict[str, object]:
    return draw.error(draw.values_of(estimates, factor), draw.ends_of(estimates, factor), colour)


# How are two test sets matched? A few samples of each, and who is paired with whom. (Anzaku et al. 2022, figure 2)


MOST_DRAWN = 60


def matching_picture(matched: MatchedSubsets, *, dark: bool = False) -> go.Figure:
    """How matching works, on a few samples (figure 2): pairs are joined, what found no partner is hollow.

    One row per set, and with `by` "label" two rows per predicted label. More than 60 samples of a set are not drawn.
    """
    look, by_label = theme(dark), matched.by == "label"
    labels: list[int] = []
    if by_label:
        labels = sorted(set(matched.reference.label.tolist()) | set(matched.target.label.tolist()))
    names = [matched.reference.class_names[label] for label in labels] or ["any label"]
    n_left, n_left_reference = len(matched.unmatched_target_index), len(matched.unmatched_reference_index)
    shown = f"{matched.n_pairs} pairs; {n_left} new and {n_left_reference} reference samples unmatched"
    alt = f"Samples of both sets by confidence, with a line for every pair: {shown}."
    y_title, height = "Predicted label" if by_label else None, 110 + 90 * len(names)
    figure = new_figure(look, "Confidence (%)", y_title, height=height, alt=alt)

    def at(label: np.ndarray, offset: float) -> np.ndarray:
        return np.array([float(labels.index(code)) if by_label else 0.0 for code in label.tolist()]) + offset

    offsets = {"reference": -0.28, "target": 0.28}
    keep = (matched.reference_index < MOST_DRAWN) & (matched.target_index < MOST_DRAWN)
    pairs = [getattr(matched, name).part(getattr(matched, f"{name}_index")[keep]) for name in offsets]
    gap = np.full(int(keep.sum()), np.nan)
    x = [100 * part.confidence for part in pairs]
    y = [at(part.label, offset) for part, offset in zip(pairs, offsets.values(), strict=True)]
    joined = (np.column_stack([*ends, gap]).ravel() for ends in (x, y))
    draw.line(figure, *joined, Style(look.faint), "pair")
    for name, style in _sets(look).items():
        for part, mark in (("matched", style.symbol), ("unmatched", f"{style.symbol}-open")):
            index = getattr(matched, f"{name}_index" if part == "matched" else f"unmatched_{name}_index")
            subset = matched.subsets[name].part(index[index < MOST_DRAWN])
            places, hover = at(subset.label, offsets[name]), f"{part} {name}, confidence %{{x:.1f}} %, %{{text}}"
            drawn = {"size": 11, "outline": (1.8, style.colour), "text": np.where(subset.correct, "right", "wrong")}
            mine = Style(style.colour, mark)
            draw.dots(figure, 100 * subset.confidence, places, mine, f"{part} {name}", hover, **drawn)
    draw.name_axis(figure, names)
    return figure.update_layout(xaxis={"tickformat": ".1f"}, yaxis={"showticklabels": by_label})


# Is the model right as often as it is sure? (figures 5 and 8, and accuracy against coverage)


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


def reliability_chart(
    calibration: Calibration, *, subset: str = "reference", logit: bool = False, dark: bool = False
) -> go.Figure:
    """Accuracy against confidence of one subset (figure 5a): bins with their intervals on the band of a perfect model.

    Counts per bin stand below. A bar is as wide as its bin; empty bins stay empty.
    """
    look, bins, scale = theme(dark), calibration.bins, ConfidenceScale(logit)
    style, held = subset_style(look, subset), [bin_ for bin_ in bins if bin_.n]
    outside = sum(not bin_.perfect.holds(bin_.accuracy) for bin_ in held)
    alt = (
        f"Accuracy against confidence of the {subset} subset. {calibration.sentence} "
        f"{outside} of {len(held)} bins lie outside the band of perfectly calibrated models."
    )
    figure = new_figure(look, scale.title(), "Accuracy (%)", height=380, alt=alt)
    _perfect_curve(figure, look, scale)
    _perfect_boxes(figure, look, held, scale)
    _dots(figure, held, scale, style, subset, 0.8, [_bin_hover(bin_) for bin_ in held], size=8)
    lower, upper = scale.at(_of(bins, "lower")), scale.at(_of(bins, "upper"))
    below = {"marker_line": {"width": 0.5, "color": look.paper}, "yaxis": "y2", "showlegend": False}
    grey = faded(look.grey, 0.35)
    x, n = (lower + upper) / 2, _of(bins, "n")
    draw.columns(figure, x, n, grey, "samples", "n = %{y}", width=upper - lower, **below)
    figure.update_layout(
        xaxis={**scale.axis(_left(held)), "anchor": "y2"},
        yaxis={"range": [-2, 102], "tickformat": ".0f", "domain": [0.26, 1]},
        yaxis2={"domain": [0, 0.18], "title": {"text": "n"}, "nticks": 3, "rangemode": "tozero"},
        bargap=0,
    )
    return figure


def reliability_curves(subsets: Mapping[str, Calibration], *, logit: bool = False, dark: bool = False) -> go.Figure:
    """Accuracy against confidence of all subsets at once (figures 5a and 8a), with Wilson's interval of each bin."""
    look, scale = theme(dark), ConfidenceScale(logit)
    sentences = [
        f"{name}: accuracy {percent(calibration.accuracy)}, confidence {confidence(calibration.mean_confidence)}."
        for name, calibration in subsets.items()
    ]
    alt = ["Accuracy against confidence by subset.", *sentences]
    figure = new_figure(look, scale.title(), "Accuracy (%)", height=380, alt=alt)
    _perfect_curve(figure, look, scale)
    left = 1.0
    for name, calibration in subsets.items():
        held = [bin_ for bin_ in calibration.bins if bin_.n]
        left = min(left, _left(held))
        text = {"text": [_bin_hover(bin_) for bin_ in held], "size": 7, "joined": 1.2}
        _dots(figure, held, scale, subset_style(look, name), name, 0.35, f"{name}<br>%{{text}}", **text)
    return figure.update_layout(xaxis=scale.axis(left), yaxis={"range": [-2, 102], "tickformat": ".0f"})


def _dots(
    figure: go.Figure,
    bins: Sequence[Bin],
    scale: ConfidenceScale,
    style: Style,
    name: str,
    opacity: float,
    hover: draw.Hover,
    **more,
) -> None:
    """The accuracy of each bin at its confidence, with its interval."""
    x, y = scale.at(_of(bins, "confidence")), 100 * _of(bins, "accuracy")
    error = draw.error(y, draw.ends_of(bins, 100), faded(style.colour, opacity))
    draw.dots(figure, x, y, style, name, hover, outline=(1.5, style.colour), error_y=error, **more)


def density_chart(
    densities: Mapping[str, tuple[np.ndarray, np.ndarray]], *, logit: bool = False, dark: bool = False
) -> go.Figure:
    """Where the confidences of each subset lie (figures 5b and 8b).

    `densities` are as `density` returns them; on a `logit` scale as `logit_density` does.
    """
    look, scale = theme(dark), ConfidenceScale(logit)
    peaks = [
        f"{name}: most frequent confidence {confidence(float(at[np.argmax(height)]))}."
        for name, (at, height) in densities.items()
        if height.any()
    ]
    alt = ["Density of the confidences by subset.", *peaks]
    per, unit = ("tenfold odds", 1) if logit else ("point of confidence", 100)
    figure = new_figure(look, scale.title(), f"Density (per {per})", alt=alt)
    for name, (at, height) in densities.items():
        hover = f"{name}<br>confidence %{{text}} %: %{{y:.3f}}"
        drawn = {"width": 1.6, "text": [f"{100 * each:.6g}" for each in at]}
        draw.line(figure, scale.at(at), height / unit, subset_style(look, name), name, hover, **drawn)
    return figure.update_layout(xaxis=scale.axis(0.0), yaxis={"rangemode": "tozero", "tickformat": ".2f"})


def coverage_chart(curves: Mapping[str, Sequence[CoveragePoint]], *, dark: bool = False) -> go.Figure:
    """Accuracy against coverage: what is gained when the least confident samples are set aside."""
    look = theme(dark)
    halves = {name: min(steps, key=lambda point: abs(point.coverage - 0.5)) for name, steps in curves.items() if steps}
    sentences = [
        f"{name}: {percent(curves[name][-1].accuracy)} accuracy on all, {percent(half.accuracy)} on the more "
        f"confident half."
        for name, half in halves.items()
    ]
    x_title = "Coverage: share of samples kept, the most confident first (%)"
    alt = ["Accuracy against coverage by subset.", *sentences]
    figure = new_figure(look, x_title, "Accuracy of those kept (%)", alt=alt)
    for name, steps in curves.items():
        style, x = subset_style(look, name), 100 * np.array([point.coverage for point in steps])
        y = 100 * np.array([point.accuracy for point in steps])
        ends, more = draw.ends_of(steps, 100), {"opacity": 0.12, "showlegend": False}
        draw.band(figure, x, ends, style.colour, f"{name}, 95 %", **more)
        text = [
            f"{percent(point.accuracy, point.interval)}<br>n = {count(point.n)}, confidence at least "
            f"{confidence(point.confidence)}"
            for point in steps
        ]
        draw.line(figure, x, y, style, name, f"{name}<br>%{{text}}", width=1.6, text=text)
    drawn = [100 * point.accuracy for steps in curves.values() for point in steps] or [0.0, 100.0]
    ends = [min(drawn) - 5, min(max(drawn) + 5, 102)]
    return figure.update_layout(
        xaxis={"range": [0, 101], "tickformat": ".0f"}, yaxis={"range": ends, "tickformat": ".0f"}
    )


def _perfect_line(figure: go.Figure, look: Theme, ends: tuple[float, float] = (0.0, 100.0)) -> None:
    """Where a model is that is right as often as it is sure."""
    draw.line(figure, np.array(ends), np.array(ends), Style(look.grey, dash="dot"), "perfectly calibrated", width=1)


def _perfect_curve(figure: go.Figure, look: Theme, scale: ConfidenceScale) -> None:
    """The same along an axis of confidence: straight where it is linear."""
    sure = 1 / (1 + 10.0 ** -np.linspace(-6, 6, 121)) if scale.logit else np.array([0.0, 1.0])
    style = Style(look.grey, dash="dot")
    draw.line(figure, scale.at(sure), 100 * sure, style, "perfectly calibrated", width=1)


def _perfect_boxes(figure: go.Figure, look: Theme, bins: Sequence[Bin], scale: ConfidenceScale) -> None:
    """The band bin by bin, each as wide as its bin, in one trace of closed outlines."""
    x, y = [], []
    for bin_ in bins:
        x += [bin_.lower, bin_.upper, bin_.upper, bin_.lower, bin_.lower, np.nan]
        y += [bin_.perfect.lower] * 2 + [bin_.perfect.upper] * 2 + [bin_.perfect.lower, np.nan]
    name, outlines = (
        "95 % of perfectly calibrated models at this n",
        (scale.at(np.array(x, float)), 100 * np.array(y, float)),
    )
    draw.area(figure, *outlines, faded(look.grey, 0.25), name)


def _of(bins: Sequence[Bin], name: str) -> np.ndarray:
    return np.array([getattr(bin_, name) for bin_ in bins], dtype=np.float64)


def _left(bins: Sequence[Bin]) -> float:
    """Where the axis of confidence begins: there are none below one over the number of classes."""
    return float(np.floor(10 * min((bin_.lower for bin_ in bins), default=0.0))) / 10


def _bin_hover(bin_: Bin) -> str:
    return (
        f"{percent(bin_.accuracy, bin_.interval)} accuracy, {confidence(bin_.confidence)} confidence<br>"
        f"n = {count(bin_.n)}; a perfect model {percent(bin_.perfect.lower)} to {percent(bin_.perfect.upper)}"
    )
