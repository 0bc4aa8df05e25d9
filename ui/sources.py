"""What do the sources of a run look like on the page? The row in question, its numbers, a table, and portraits."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from core.data import Dataset
from core.evaluate.intervals import Interval
from core.evaluate.source_robustness import AccuracyIntervals, Estimate, ExpectedInterval, HeldOutSource, most_robust
from core.evaluate.wording import count, percent, plural, ratio
from core.figures.source_robustness import row_names
from core.represent import REPRESENTATIONS
from core.trials import KNOWN_SOURCES, TrialPlan
from core.workspace.runner import load_plan
from core.workspace.workspace import Run
from ui import cache, page
from ui.cache import OwnModels
from ui.controls import FINDER_TITLES, MODEL_TITLES
from ui.page import Metric
from ui.portraits import portrait
from ui.samples import enlarged

N_PORTRAITS = 6


def choose_row(run: Run, rows: Sequence[ExpectedInterval], own: OwnModels | None) -> ExpectedInterval:
    """The model (and source finder) that the verdict and the details are about; a control only where there are two.

    Somebody who brought a model along asks about that one first.
    """
    if len(rows) == 1:
        return rows[0]
    brought = [] if own is None else [row for row in rows if row.model in set(own.trials["model"])]
    default = most_robust(brought or rows)
    titles = row_names(rows, MODEL_TITLES)
    chosen = st.segmented_control(
        "The verdict is about",
        range(len(rows)),
        default=rows.index(default) if default else 0,
        format_func=lambda place: page.plain(titles[place]),
        key=f"of-{run.id}-{run.state}" + (f"-{own.fingerprint}" if own else ""),
        required=True,
    )
    return rows[chosen or 0]


def about(of: ExpectedInterval) -> None:
    """The heading of what is said about one model."""
    name = page.plain(MODEL_TITLES.get(of.model, of.model))
    st.subheader(f"{name}: which classes and sources are hard?", anchor=False)


def metrics(of: ExpectedInterval) -> list[Metric]:
    """Rho and the three accuracies, each with its interval over sources and samples."""
    return [
        _metric("Robustness rho", ratio, of.rho, "The share of the accuracy on familiar sources that is kept."),
        _metric("On unfamiliar sources", percent, of.exclusive, "Whole sources are held out of the training part."),
        _metric("On familiar sources", percent, of.inclusive, "Every source is in the training part, too."),
        _metric("On a random split", percent, of.random, "Sources are ignored, as is usual."),
    ]


def _metric(label: str, write: Callable[..., str], estimate: Estimate, meaning: str) -> Metric:
    interval = _brackets(write, estimate.value, estimate.over_sources)
    return Metric(label, write(estimate.value), interval, f"{meaning} The interval, 95 %, is over sources and samples.")


def _brackets(write: Callable[..., str], value: float, interval: Interval) -> str:
    return write(value, interval).removeprefix(write(value)).strip()


def table_1(intervals: AccuracyIntervals) -> None:
    """The paper's Table 1, with a line for each model and source finder."""
    lines = [
        {
            "Model": MODEL_TITLES.get(row.model, row.model),
            "Sources": FINDER_TITLES.get(row.source_finder, row.source_finder),
            "Interval (%)": _interval(row),
            "rho": row.rho.value,
            "over sources": _brackets(ratio, row.rho.value, row.rho.over_sources),
            "over draws": _brackets(ratio, row.rho.value, row.rho.over_draws),
            "Random (%)": 100 * row.random.value,
            "Macro-F1 (%)": 100 * row.macro_f1.get("source_exclusive", float("nan")),
            "Repeats": row.exclusive.n_draws,
            "n": row.n_samples,
        }
        for row in intervals.overall
    ]
    config = {
        "Interval (%)": st.column_config.TextColumn(help="Expected accuracy on unfamiliar and on familiar sources"),
        "rho": st.column_config.NumberColumn(format="%.3f"),
        "over sources": st.column_config.TextColumn(help="95 % interval of rho over sources and samples"),
        "over draws": st.column_config.TextColumn(help="95 % interval of rho over draws"),
        "Random (%)": st.column_config.NumberColumn(format="%.2f", help="Expected accuracy on a random split"),
        "Macro-F1 (%)": st.column_config.NumberColumn(format="%.2f", help="On unfamiliar sources"),
    }
    alt = "Expected accuracy interval and rho of each model"
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt=alt)


def _interval(row: ExpectedInterval) -> str:
    return f"[{100 * row.exclusive.value:.2f}, {100 * row.inclusive.value:.2f}]"


def features(run: Run) -> None:
    """What sources were found in, where somebody chose it; and a warning where that saw the labels."""
    plan = load_plan(run.plan)
    if not isinstance(plan, TrialPlan) or plan.representation is None or plan.source_finders == (KNOWN_SOURCES,):
        return
    chosen = REPRESENTATIONS[plan.representation]
    informed = " These features saw the labels: the sources were not found in the inputs alone."
    st.caption(page.plain(f"Sources were found in: {chosen.title}.{informed * chosen.label_informed}"))


def closer(run: Run, of: ExpectedInterval, held_out: Sequence[HeldOutSource]) -> None:
    """The sources themselves: how the worst look, how far they stand apart, and what they were found in."""
    portraits(run, held_out)
    separation(run, of.source_finder)
    features(run)


def nothing_computed(plan: TrialPlan, n_trials: int) -> None:
    """What stands where neither the run nor anybody else has tested a model."""
    page.empty(
        f"Nothing has been computed for this choice yet. **Run** trains {plural(len(plan.models), 'model')} on splits "
        f"that hold whole sources out and on splits that do not: {plural(n_trials, 'trial')}, in the background."
    )


def separation(run: Run, source_finder: str) -> None:
    """How well the sources stand apart, in a line."""
    with st.spinner("Measuring how well the sources stand apart"):
        found = cache.silhouettes(run, source_finder)
    used = f"n = {count(found.n_used)}" + (f" of {count(found.n_samples)}" * (found.n_used < found.n_samples))
    st.caption(
        f"How well these sources stand apart: silhouette {ratio(found.mean_within)} within classes (mean), "
        f"{ratio(found.pooled)} pooled over all classes, {used}. 1 is far apart, 0 touching, below 0 mixed up; "
        "the paper's pooled one was .046."
    )


def portraits(run: Run, held_out: Sequence[HeldOutSource]) -> None:
    """The sources that are worst to meet unprepared, each with its picture, words or columns."""
    worst = sorted(held_out, key=lambda source: source.upper)[:N_PORTRAITS]
    if not worst:
        return
    st.markdown("**The worst sources to meet unprepared**")
    dataset = cache.dataset(run.fingerprint)
    with st.spinner("Looking at the worst sources"), st.grid(len(worst), min_column_width=125, border=True):
        for source in worst:
            with st.container(gap="xsmall"):
                _portrait(run, dataset, source)
    st.caption(_CAPTIONS[dataset.kind])


_CAPTIONS = {
    "image": "The mean image of each source, with the accuracy on it when it was held out.",
    "text": "The words that tell each source from the rest of its class, with the accuracy on it when it was held out.",
    "tabular": "The columns in which each source differs most from the rest of its class, in standard deviations.",
}


def _portrait(run: Run, dataset: Dataset, source: HeldOutSource) -> None:
    mine = cache.source_of_each(run, source.source_finder, source.clustering) == source.source
    rest = ~mine
    if source.label is not None:
        of_class = dataset.y == dataset.class_names.index(source.label)
        mine, rest = mine & of_class, rest & of_class
    drawn = portrait(dataset, mine, rest)
    known = source.label is None or source.source_finder == KNOWN_SOURCES
    name = source.source if known else f"{source.label}, source {source.source}"
    if drawn.picture is not None:
        st.image(enlarged(drawn.picture), alt=f"Mean image of {name}", output_format="PNG")
    st.markdown(f"**{page.plain(name)}**")
    if drawn.words:
        st.markdown(page.plain(drawn.words))
    accuracy = percent(source.exclusive, Interval(source.lower, source.upper))
    st.caption(f"{page.plain(accuracy)}  \nn = {count(source.n)}")
