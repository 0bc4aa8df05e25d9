"""How accurate are models on each source, held out and seen in training? (Kilinc & Uysal 2017, section 4)"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.source_robustness import Hardness, HeldOutSource, hardest
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.figures.source_robustness import MOST_ROWS, ROW, height_of
from touchstone.core.figures.theme import Theme, escape, interval_bars, name_axis, new_figure, percent_axis, theme


def held_out_chart(sources: Sequence[HeldOutSource], *, dark: bool = False) -> go.Figure:
    """Accuracy on every source when it was held out: by class or, where classes share sources, source by source.

    The area of a mark grows with the source's number of samples. `customdata` holds clustering, class and source.
    """
    if any(source.label is None for source in sources):
        return _shared_sources(sources, theme(dark))
    return _sources_by_class(sources, theme(dark))


def _sources_by_class(sources: Sequence[HeldOutSource], look: Theme) -> go.Figure:
    labels = list(dict.fromkeys(str(source.label) for source in sources))
    figure = new_figure(
        look,
        x_title="Accuracy on a held-out source (%)",
        height=height_of(len(labels), 22 if len(labels) > MOST_ROWS else ROW + 6),
        alt=_sources_alt(sources),
    )
    position = {label: place for place, label in enumerate(labels)}
    clusterings = sorted({source.clustering for source in sources})
    lanes = {clustering: (place + 0.5) / len(clusterings) - 0.5 for place, clustering in enumerate(clusterings)}
    at = np.array([position[str(source.label)] + 0.5 * lanes[source.clustering] for source in sources])
    _hardest_bar(figure, look, sources, at)
    _source_marks(figure, look, sources, at)
    for line in range(1, len(labels)):
        figure.add_hline(y=line - 0.5, line={"color": look.line, "width": 1})
    name_axis(figure, labels)
    percent_axis(figure)
    return figure


def _shared_sources(sources: Sequence[HeldOutSource], look: Theme) -> go.Figure:
    ordered = sorted(sources, key=lambda source: source.exclusive)
    shown = ordered[:MOST_ROWS]
    which = f", the {MOST_ROWS} lowest of {count(len(ordered))}" if len(ordered) > MOST_ROWS else ""
    figure = new_figure(
        look,
        x_title=f"Accuracy on a held-out source{which} (%)",
        height=height_of(len(shown), ROW),
        alt=_sources_alt(sources),
    )
    at = np.arange(len(shown), dtype=np.float64)
    lower, upper = (np.array([getattr(source, end) for source in shown]) for end in ("lower", "upper"))
    figure.add_trace(
        interval_bars(
            at, 100 * lower, 100 * upper, colour=look.exclusive, width=1.2, name="95 % interval of its samples"
        )
    )
    _source_marks(figure, look, shown, at)
    name_axis(figure, [source.source for source in shown])
    percent_axis(figure)
    return figure


def _hardest_bar(figure: go.Figure, look: Theme, sources: Sequence[HeldOutSource], at: np.ndarray) -> None:
    """The interval of the hardest source, where one is significantly harder than the others."""
    first = _significantly_harder(sources)
    if first is None:
        return
    place = at[list(sources).index(next(source for source in sources if source.cluster == first.source.cluster))]
    figure.add_trace(
        interval_bars(
            np.array([place]),
            np.array([100 * first.interval.lower]),
            np.array([100 * first.interval.upper]),
            colour=look.ink,
            width=1.2,
            name="significantly harder, 95 % for all at once",
        )
    )


def _significantly_harder(sources: Sequence[HeldOutSource]) -> Hardness | None:
    hard = hardest(sources)
    return hard[0] if hard and hard[0].claim.decision == "above" else None


def _source_marks(figure: go.Figure, look: Theme, sources: Sequence[HeldOutSource], at: np.ndarray) -> None:
    n = np.array([source.n for source in sources], dtype=np.float64)
    for name, symbol, colour, values in (
        ("seen in training", "line-ns-open", look.inclusive, [source.inclusive for source in sources]),
        ("held out", "diamond", look.exclusive, [source.exclusive for source in sources]),
    ):
        size = np.full(len(n), 9.0) if name == "seen in training" else 5 + 9 * np.sqrt(n / n.max(initial=1))
        figure.add_scatter(
            x=100 * np.array(values, dtype=np.float64),
            y=at,
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "color": colour,
                "size": size,
                "opacity": 0.75,
                "line": {"width": 1, "color": look.paper},
            },
            customdata=[[source.clustering, source.label or "", source.source] for source in sources],
            text=[_source_hover(source) for source in sources],
            hovertemplate="%{text}<extra></extra>",
        )


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
