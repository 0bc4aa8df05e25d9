"""How far does accuracy fall on held-out sources, and which are they? (Kilinc & Uysal 2017, sections 2 and 4)

Figures 1 to 5, and by class and source.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY
from touchstone.core.evaluate.source_robustness import (
    AccuracyIntervals,
    Baseline,
    ExpectedInterval,
    Hardness,
    HeldOutSource,
    hardest,
)
from touchstone.core.evaluate.source_robustness.agreement import SourceAgreement
from touchstone.core.evaluate.source_robustness.results import MetricOnSources
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources
from touchstone.core.evaluate.wording import bare, count, listed, percent, plural, ratio
from touchstone.core.figures import marks as draw
from touchstone.core.figures.marks import Style
from touchstone.core.figures.theme import Theme, as_name, escape, faded, new_figure, theme

MOST_ROWS = 40
ROW = 26
SCHEMES = {"source_inclusive": "seen in training", "source_exclusive": "held out", "random": "random split"}
FAR = 0.25
"""A baseline so far left of all accuracies is not drawn: it would squeeze them. Captions have its number."""


def scheme_styles(look: Theme) -> dict[str, Style]:
    """How each scheme is drawn: seen in training is blue circles, held out orange diamonds."""
    styles = Style(look.inclusive), Style(look.exclusive, "diamond"), Style(look.random, "x-thin-open")
    return dict(zip(SCHEMES, styles, strict=True))


def accuracy_boxes(
    intervals: AccuracyIntervals, *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """Box plots of the accuracy on every split, by model and scheme, with the draws beside them (figure 3)."""
    look, rows, accuracies = theme(dark), intervals.overall, intervals.accuracies
    sentences = [
        f"{name}: {percent(row.inclusive.value)} on average with sources seen in training (standard "
        f"deviation {percent(row.inclusive.sd)}), {percent(row.exclusive.value)} on held-out ones "
        f"({percent(row.exclusive.sd)})."
        for row, name in zip(rows, row_names(rows, names), strict=True)
    ]
    alt = ["Box plots of the accuracy on every split.", *sentences]
    figure = new_figure(look, "", "Accuracy on one split (%)", height=380, alt=alt)
    shown = [scheme for scheme in SCHEMES if scheme in set(accuracies["scheme"])]
    for place, scheme in enumerate(shown):
        style, offset = scheme_styles(look)[scheme], 0.25 * (place - (len(shown) - 1) / 2)
        of_scheme = accuracies.loc[(accuracies["scheme"] == scheme).to_numpy()]
        at, parts = [], []
        for position, row in enumerate(rows):
            mine = (of_scheme["model"] == row.model) & (of_scheme["source_finder"] == row.source_finder)
            parts.append(of_scheme.loc[(mine & (of_scheme["n_train"] == row.n_train)).to_numpy()])
            at.append(np.full(len(parts[-1]), position + offset))
        x, outline = np.concatenate(at), {"width": 1, "color": style.colour}
        split_boxes(figure, x, pd.concat(parts), style, SCHEMES[scheme], 0.2, line=outline)
    _lines(figure, look, _of_baselines(intervals.baselines), axis="y")
    draw.name_axis(figure, row_names(rows, names), axis="x")
    draw.percent_axis(figure, axis="y")
    return figure


def split_boxes(
    figure: go.Figure, x: np.ndarray, splits: pd.DataFrame, style: Style, name: str, width: float, **marker: object
) -> None:
    """A box at each place, with the accuracy of every split as a dot that says its repeat."""
    data = {"x": x, "y": 100 * splits["accuracy"].to_numpy(), "customdata": splits["repeat"].to_numpy()}
    data |= draw.dots_upon(style, **marker)
    draw.boxes(figure, style, name, "%{y:.1f} % in repeat %{customdata}", width=width, **data)


def interval_chart(
    rows: Sequence[ExpectedInterval | MetricOnSources],
    *,
    baselines: Sequence[Baseline | MetricOnSources] = (),
    names: Mapping[str, str] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Expected intervals: a band from E[AccX] to E[AccI] (figure 4), or of another metric; each end with its intervals.

    The bar at an end is its interval over draws, the hairline the one over sources and samples; the caption says so,
    for a legend of all would not fit a phone. Grey lines are the majority class and chance, or a metric's baseline.
    """
    look, words = theme(dark), rows[0].words if rows else OF_ACCURACY
    sentences = [
        f"{name}: {words.value(row.exclusive.value, row.exclusive.over_sources)} expected on held-out sources, "
        f"{words.value(row.inclusive.value, row.inclusive.over_sources)} seen in training."
        for row, name in zip(rows, row_names(rows, names), strict=True)
    ]
    alt = [f"Expected {words.name} intervals.", *sentences]
    figure = new_figure(look, escape(words.expected), height=_height(len(rows), 52), alt=alt)
    at, styles = np.arange(len(rows), dtype=np.float64), scheme_styles(look)
    ends = {"source_exclusive": "exclusive", "source_inclusive": "inclusive", "random": "usual"}
    parts = {scheme: [getattr(row, end) for row in rows] for scheme, end in ends.items()}
    values = {scheme: draw.values_of(estimates, words.factor) for scheme, estimates in parts.items()}
    span, band = (values["source_exclusive"], values["source_inclusive"]), {"width": 14.0, "showlegend": False}
    draw.bars(figure, at, span, faded(look.grey), "expected interval", **band)
    for scheme, estimates in parts.items():
        style = styles[scheme]
        if scheme == "random" and np.isnan(values[scheme]).all():
            continue
        if scheme != "random":
            draw.both_bars(figure, at, estimates, style.colour, unit=words.factor)
        hover = [
            f"{words.value(each.value, each.over_sources)}<br>{plural(each.n_draws, 'draw')}" for each in estimates
        ]
        drawn = {"size": 10, "outline": (1.5, style.colour)}
        draw.dots(figure, values[scheme], at, style, SCHEMES[scheme], hover, **drawn)
    _lines(figure, look, _of_baselines(baselines), unit=words.factor)
    draw.name_axis(figure, row_names(rows, names))
    figure.update_xaxes(tickformat=words.ticks, range=draw.padded(figure, "x"))
    return figure


def _of_baselines(baselines: Sequence[Baseline | MetricOnSources]) -> dict[str, list[float]]:
    """The accuracy of the majority class and of chance, or the baseline of another metric, by row."""
    of_accuracy = [each for each in baselines if isinstance(each, Baseline)]
    by_name = {
        "majority class": [each.exclusive for each in of_accuracy],
        "chance": [each.chance for each in of_accuracy],
        "baseline": [each.baseline for each in baselines if isinstance(each, MetricOnSources)],
    }
    return {name: values for name, values in by_name.items() if values}


def _lines(
    figure: go.Figure, look: Theme, baselines: Mapping[str, Sequence[float]], *, axis: str = "x", unit: int = 100
) -> None:
    """Grey lines across all rows at the means of what is known of each baseline, where they are near what is drawn."""
    drawn = draw.values_along(figure, axis)
    for (name, values), dash in zip(baselines.items(), ("dash", "dot"), strict=False):
        known = [value for value in values if not np.isnan(value)]
        if not known or np.isnan(drawn).all() or unit * (np.mean(known) + FAR) <= np.nanmin(drawn):
            continue
        at, ends = np.full(2, unit * np.mean(known)), np.array([-0.5, len(values) - 0.5])
        x, y = (at, ends) if axis == "x" else (ends, at)
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": look.grey, "dash": dash, "width": 1.2}, name=name)


def rho_chart(
    rows: Sequence[ExpectedInterval], *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """Rho of each model with both its intervals (figure 5); 1 is no loss at all."""
    look, labels = theme(dark), row_names(rows, names)
    sentences = [
        f"{name}: rho {ratio(row.rho.value, row.rho.over_sources)}." for row, name in zip(rows, labels, strict=True)
    ]
    alt = ["Rho, the share of the accuracy that is kept on held-out sources.", *sentences]
    figure = new_figure(look, "Robustness rho = E[AccX] / E[AccI]", height=_height(len(rows), 52), alt=alt)
    at = np.arange(len(rows), dtype=np.float64)
    draw.both_bars(figure, at, [row.rho for row in rows], look.ink, showlegend=True)
    _rho_marks(figure, at, rows, Style(look.ink), "rho")
    _rho_axis(figure, look)
    draw.name_axis(figure, labels)
    return figure


def class_chart(overall: ExpectedInterval, classes: Sequence[ExpectedInterval], *, dark: bool = False) -> go.Figure:
    """Rho by class, the worst on top; the line and band behind are all classes together.

    Filled diamonds are classes that drop significantly more than the others, corrected for the number of classes.
    """
    look = theme(dark)
    rows = sorted((row for row in classes if not np.isnan(row.rho.value)), key=lambda row: row.rho.value)
    height = _height(len(rows), 22 if len(rows) > MOST_ROWS else ROW)
    figure = new_figure(look, "Robustness rho of the class", height=height, alt=_class_alt(overall, rows))
    usual = overall.rho.over_sources
    if usual.known:
        figure.add_vrect(x0=usual.lower, x1=usual.upper, fillcolor=faded(look.grey, 0.12), line_width=0)
    draw.rule(figure, look.grey, x=overall.rho.value, dash="solid")
    at = np.arange(len(rows), dtype=np.float64)
    draw.both_bars(figure, at, [row.rho for row in rows], look.exclusive, showlegend=True)
    for name, symbol, chosen in (
        ("drops significantly more than the others", "diamond", True),
        ("no significant difference", "circle-open", False),
    ):
        places = [place for place, row in enumerate(rows) if row.falls_further == chosen]
        if places:
            _rho_marks(figure, at[places], [rows[place] for place in places], Style(look.exclusive, symbol), name)
    _rho_axis(figure, look)
    draw.name_axis(figure, [str(row.label) for row in rows])
    return figure


def row_names(rows: Sequence[ExpectedInterval | MetricOnSources], names: Mapping[str, str] | None = None) -> list[str]:
    """What to call each row: the model and, where they differ, the source finder and the training-set size."""
    several_finders = len({row.source_finder for row in rows}) > 1
    several_sizes = len({(row.n_train, row.source_finder) for row in rows}) > len({row.source_finder for row in rows})
    names = names or {}
    return [
        names.get(row.model, row.model)
        + (f", {names.get(row.source_finder, row.source_finder)}" if several_finders else "")
        + (f", {count(row.n_train)} samples" if several_sizes else "")
        for row in rows
    ]


def _rho_marks(figure: go.Figure, at: np.ndarray, rows: Sequence[ExpectedInterval], style: Style, name: str) -> None:
    hover = [f"rho {ratio(row.rho.value, row.rho.over_sources)}<br>n = {count(row.n_samples)}" for row in rows]
    draw.dots(figure, draw.values_of([row.rho for row in rows]), at, style, name, hover)


def _rho_axis(figure: go.Figure, look: Theme) -> None:
    figure.update_xaxes(tickformat=".3f", range=draw.padded(figure, include=1.0))
    draw.rule(figure, look.grey, x=1)


def _height(n_rows: int, row: int) -> int:
    return 90 + row * max(n_rows, 2)


def _class_alt(overall: ExpectedInterval, rows: Sequence[ExpectedInterval]) -> str:
    if not rows:
        return "Rho by class: nothing is known yet."
    further = [str(row.label) for row in rows if row.falls_further]
    worse = (
        f"{listed(further)}: significantly more than the others." if further else "No class drops significantly more."
    )
    return (
        f"Rho by class, from {ratio(rows[0].rho.value)} ({rows[0].label}) to {ratio(rows[-1].rho.value)} "
        f"({rows[-1].label}); {ratio(overall.rho.value, overall.rho.over_sources)} over all classes. {worse}"
    )


# How accurate are models on each source, held out and seen in training? (section 4)


def held_out_chart(sources: Sequence[HeldOutSource], *, dark: bool = False) -> go.Figure:
    """Accuracy on every source when it was held out: by class or, where classes share sources, source by source.

    The area of a mark grows with the source's number of samples. `customdata` holds clustering, class and source.
    """
    if any(source.label is None for source in sources):
        return _shared_sources(sources, theme(dark))
    return _sources_by_class(sources, theme(dark))


def _sources_by_class(sources: Sequence[HeldOutSource], look: Theme) -> go.Figure:
    labels = list(dict.fromkeys(str(source.label) for source in sources))
    height, alt = _height(len(labels), 22 if len(labels) > MOST_ROWS else ROW + 6), _sources_alt(sources)
    figure = new_figure(look, "Accuracy on a held-out source (%)", height=height, alt=alt)
    clusterings = sorted({source.clustering for source in sources})
    lanes = {clustering: (place + 0.5) / len(clusterings) - 0.5 for place, clustering in enumerate(clusterings)}
    at = np.array([labels.index(str(source.label)) + 0.5 * lanes[source.clustering] for source in sources])
    first = _significantly_harder(sources)
    if first is not None:
        place = next(at_y for at_y, source in zip(at, sources, strict=True) if source.cluster == first.source.cluster)
        name = "significantly harder, 95 % for all at once"
        draw.bars(figure, [place], draw.ends_of([first], 100), look.ink, name, width=1.2)
    _source_marks(figure, look, sources, at)
    for line in range(1, len(labels)):
        draw.rule(figure, look.line, y=line - 0.5, dash="solid")
    draw.name_axis(figure, labels)
    draw.percent_axis(figure)
    return figure


def _shared_sources(sources: Sequence[HeldOutSource], look: Theme) -> go.Figure:
    ordered = sorted(sources, key=lambda source: source.exclusive)
    shown = ordered[:MOST_ROWS]
    which = f", the {MOST_ROWS} lowest of {count(len(ordered))}" if len(ordered) > MOST_ROWS else ""
    title, height = f"Accuracy on a held-out source{which} (%)", _height(len(shown), ROW)
    figure = new_figure(look, title, height=height, alt=_sources_alt(sources))
    at = np.arange(len(shown), dtype=np.float64)
    lower, upper = (100 * np.array([getattr(source, end) for source in shown]) for end in ("lower", "upper"))
    draw.bars(figure, at, (lower, upper), look.exclusive, "95 % interval of its samples", width=1.2)
    _source_marks(figure, look, shown, at)
    draw.name_axis(figure, [source.source for source in shown])
    draw.percent_axis(figure)
    return figure


def _significantly_harder(sources: Sequence[HeldOutSource]) -> Hardness | None:
    hard = hardest(sources)
    return hard[0] if hard and hard[0].claim.decision == "above" else None


def _source_marks(figure: go.Figure, look: Theme, sources: Sequence[HeldOutSource], at: np.ndarray) -> None:
    n = np.array([source.n for source in sources], dtype=np.float64)
    seen, held_out = Style(look.inclusive, "line-ns-open"), Style(look.exclusive, "diamond")
    shown = {
        "hover": [_source_hover(source) for source in sources],
        "customdata": [[source.clustering, source.label or "", source.source] for source in sources],
        "opacity": 0.75,
        "outline": (1, look.paper),
    }
    for name, style, field, size in (
        ("seen in training", seen, "inclusive", np.full(len(n), 9.0)),
        ("held out", held_out, "exclusive", 5 + 9 * np.sqrt(n / n.max(initial=1))),
    ):
        x = 100 * np.array([getattr(source, field) for source in sources], dtype=np.float64)
        draw.dots(figure, x, at, style, name, size=size, **shown)


def _source_hover(source: HeldOutSource) -> str:
    of_class = f" of class {escape(source.label)}" if source.label is not None else ""
    return (
        f"source {escape(source.source)}{of_class}, clustering {source.clustering}<br>held out "
        f"{percent(source.exclusive, Interval(source.lower, source.upper))}<br>"
        f"seen in training {percent(source.inclusive)}<br>n = {count(source.n)}, {plural(source.n_repeats, 'repeat')}"
    )


def _sources_alt(sources: Sequence[HeldOutSource]) -> str:
    if not sources:
        return "Accuracy by held-out source: nothing is known yet."
    each, first = f"Accuracy on each of {plural(len(sources), 'held-out source')}.", _significantly_harder(sources)
    if first is None:
        return f"{each} None is significantly harder than the others."
    of_class = f" of class {first.source.label}" if first.source.label is not None else ""
    return (
        f"{each} Source {first.source.source}{of_class} is harder than the others: "
        f"{percent(first.shrunk, first.interval)}, n = {count(first.source.n)}."
    )


# Do source finders find the same sources, and does what they say hold? (sections 2 and 4)


MOST_NUMBERS = 14


def agreement_map(
    agreement: SourceAgreement, *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """The adjusted Rand index of every pair of clusterings; the clusterings of a finder stand side by side."""
    look, n, names = theme(dark), len(agreement.clusterings), names or {}
    several = [sum(name == finder for name, _ in agreement.clusterings) > 1 for finder, _ in agreement.clusterings]
    labels = [
        names.get(finder, finder) + (f" {number + 1}" if more else "")
        for (finder, number), more in zip(agreement.clusterings, several, strict=True)
    ]
    alt = ["Adjusted Rand index within classes.", *(finders.sentence(names) for finders in agreement.finders)]
    figure = new_figure(look, "", height=max(220, 110 + (40 if n <= MOST_NUMBERS else 18) * n), alt=alt)
    shown = np.where(np.eye(n, dtype=bool), np.nan, agreement.matrix())
    hover = [
        [
            f"{escape(label)} with {escape(other)}: "
            f"{'the same clustering' if np.isnan(index) else bare(float(index), 3)}"
            for other, index in zip(labels, row, strict=True)
        ]
        for label, row in zip(labels, shown, strict=True)
    ]
    cells = [["" if np.isnan(index) or n > MOST_NUMBERS else bare(float(index), 2) for index in row] for row in shown]
    bar = draw.colour_bar(look, "agreement", figure, 200)
    draw.heat(figure, shown, look.rising, hover, cells, zmin=0.0, zmax=1.0, colorbar=bar)
    draw.name_axis(figure, labels)
    draw.name_axis(figure, labels, axis="x")
    return figure


def true_sources_chart(
    rows: Sequence[TrueSources], *, names: Mapping[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """The interval that each finder gives each model, and in it (or beside it) the accuracy on truly unseen sources.

    The hairline is its 95 % interval over sources and samples.
    """
    look, names = theme(dark), names or {}
    labels = [f"{names.get(row.model, row.model)}, {names.get(row.source_finder, row.source_finder)}" for row in rows]
    answers: dict[str, list[str]] = {}
    for row, label in zip(rows, labels, strict=True):
        answers.setdefault(row.answer, []).append(label)
    sentences = [f"{answer[0].upper()}{answer[1:]}: {listed(which, most=6)}." for answer, which in answers.items()]
    alt = ["Accuracy on truly unseen sources, and the intervals from found ones.", *sentences]
    figure = new_figure(look, "Expected accuracy (%)", height=90 + 44 * max(len(rows), 2), alt=alt)
    at, unseen = np.arange(len(rows), dtype=np.float64), [row.known.exclusive for row in rows]
    ends = [[row.clustered.exclusive for row in rows], [row.clustered.inclusive for row in rows]]
    span = [draw.values_of(end, 100) for end in ends]
    draw.bars(figure, at, span, faded(look.grey), "interval from found sources", width=14.0)
    draw.both_bars(figure, at, unseen, look.ink, unit=100, only="over_sources")
    for name, style, estimates in (
        ("found, held out", Style(look.exclusive, "diamond"), ends[0]),
        ("found, seen in training", Style(look.inclusive), ends[1]),
        ("truly unseen, 95 %", Style(look.ink, "square"), unseen),
    ):
        hover = [percent(estimate.value) for estimate in estimates]
        draw.dots(figure, draw.values_of(estimates, 100), at, style, name, hover)
    draw.name_axis(figure, labels)
    draw.percent_axis(figure)
    return figure


# What do sources look like? Their mean images, a row for each class (figures 1 and 2).


SIDE = 42
"""About so many pixels of the screen an image gets; it is enlarged by a whole factor: its pixels stay square."""
MOST_CLASSES, MOST_SOURCES = 20, 10
_LETTER, _LONGEST = 7.5, 14


def mean_image_sheet(images: np.ndarray, *, class_names: Sequence[str], finder: str, dark: bool = False) -> go.Figure:
    """Mean images (n_classes, n_sources, height, width, channels) in [0, 1] on a sheet of just their size.

    A source without a sample is left blank, as are classes and sources beyond `MOST_CLASSES` and `MOST_SOURCES`.
    """
    look = theme(dark)
    images = images[:MOST_CLASSES, :MOST_SOURCES]
    n_classes, n_sources, height, width = images.shape[:4]
    paper = np.array([int(look.paper[place : place + 2], 16) for place in (1, 3, 5)])
    sheet = np.broadcast_to(paper, (n_classes, n_sources, height + 1, width + 1, 3)).copy()
    coloured = np.repeat(images, 3, axis=-1) if images.shape[-1] == 1 else images[..., :3]
    sheet[:, :, :height, :width] = np.rint(np.where(np.isnan(coloured), paper / 255, coloured).clip(0, 1) * 255)
    pixels = sheet.transpose(0, 2, 1, 3, 4).reshape(n_classes * (height + 1), n_sources * (width + 1), 3)
    zoom = max(1, round(SIDE / max(height, width)))
    names = [escape(as_name(name), longest=_LONGEST) for name in class_names[:n_classes]]
    alt = f"Mean images of the sources that {finder} found: {n_classes} classes, {n_sources} sources each."
    left, top = round(16 + _LETTER * max(min(len(name), _LONGEST) for name in class_names[:n_classes])), 26
    figure = new_figure(look, "", height=top + zoom * pixels.shape[0], alt=alt)
    figure.add_image(z=pixels.astype(np.uint8), hoverinfo="skip")
    figure.update_layout(width=left + zoom * pixels.shape[1], margin={"l": left, "r": 0, "t": top, "b": 0})
    bare_axis = {"showgrid": False, "ticks": "", "showline": False, "automargin": False, "fixedrange": True}
    rows = [(height + 1) * row + height / 2 for row in range(n_classes)]
    figure.update_yaxes(**bare_axis, tickvals=rows, ticktext=names, range=[pixels.shape[0] - 0.5, -0.5])
    columns = [(width + 1) * column + width / 2 for column in range(n_sources)]
    numbers = [str(column + 1) for column in range(n_sources)]
    span = [-0.5, pixels.shape[1] - 0.5]
    return figure.update_xaxes(**bare_axis, side="top", tickvals=columns, ticktext=numbers, range=span)


def left_out(n_classes: int, n_sources: int) -> str:
    """A sentence on what does not fit on the sheet; empty where all does.

    Examples
    --------
    >>> left_out(100, 5)
    ' Shown are the first 20 of 100 classes.'
    """
    limits = [(MOST_CLASSES, n_classes, "classes"), (MOST_SOURCES, n_sources, "sources of each class")]
    parts = [f"the first {most} of {n} {what}" for most, n, what in limits if n > most]
    return f" Shown are {' and '.join(parts)}." if parts else ""
