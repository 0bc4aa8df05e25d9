"""How far does accuracy fall on unfamiliar sources? The verdict's numbers, the figures with captions, Table 1."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from core.data import Dataset
from core.evaluate.source_robustness import (
    AccuracyIntervals,
    ExpectedInterval,
    ExpectedValue,
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
    most_robust,
    source_verdict,
)
from core.evaluate.source_robustness.true_sources import TrueSources, true_sources
from core.evaluate.wording import percent, points, ratio
from core.figures import source_robustness, source_robustness_finders
from core.report.names import FINDER_TITLES, IN_SENTENCES, MODEL_TITLES, TITLES
from core.report.parts import Body, Figure, Metric, Section, Table, brackets
from core.trials import TrialPlan

Row = tuple[str, str]
"""A model and a source finder."""


def body_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: TrialPlan) -> Body:
    """Everything about a run, from the rows of its trials."""
    several = len(plan.source_finders) > 1
    told = true_sources(rows) if several else ()
    return body(expected_accuracy_intervals(rows), compare_models(rows), told=told, epoch=plan.epoch)


def body(
    intervals: AccuracyIntervals,
    comparisons: Sequence[ModelComparison],
    *,
    of: ExpectedInterval | None = None,
    told: Sequence[TrueSources] = (),
    epoch: str = "last",
) -> Body:
    """Everything about a run, the verdict about the row `of` (the most robust by default); `epoch` is the plan's."""
    rows = intervals.overall
    of = of or most_robust(rows)
    if of is None:
        return Body(None, (), (Section("", ("No trial has come to a result yet.",)),))
    names = names_beside(of, rows)
    sections = [Section("", (interval_figure(rows), box_figure(intervals), rho_figure(rows)))]
    if told:
        sentences = tuple(one.sentence(IN_SENTENCES) for one in told)
        parts = (true_sources_figure(told), *sentences, true_sources_table(told))
        sections.append(Section("Does the interval hold the accuracy on truly unseen sources?", parts))
    about = (class_figure(of, intervals), held_out_figure(of, intervals))
    sections.append(Section(f"{names[of.model]}: which classes and sources are hard?", about))
    sections.append(Section("In numbers", (table(intervals),)))
    return Body(
        source_verdict(intervals, comparisons, row=of, names=names, epoch=epoch),
        tuple(metrics(of, intervals)),
        tuple(sections),
    )


def title(row: Row, *, with_finder: bool) -> str:
    """What a model (and source finder) is called.

    >>> title(("svm", "kmeans"), with_finder=True)
    'SVM, k-means'
    """
    return ", ".join(TITLES.get(name, name) for name in row[: 1 + with_finder])


def names_beside(of: ExpectedInterval, rows: Sequence[ExpectedInterval]) -> dict[str, str]:
    """What models are called where sources are those of one row: with their finder, where there are several."""
    several = len({row.source_finder for row in rows}) > 1
    return {row.model: title((row.model, of.source_finder), with_finder=several) for row in rows}


def metrics(of: ExpectedInterval, intervals: AccuracyIntervals) -> list[Metric]:
    """Rho and the three accuracies, each with its interval over sources and samples; accuracies with their baseline."""
    sizes = [row.n_samples for row in intervals.classes_of(of)]
    baseline = f"majority-class baseline {percent(max(sizes) / sum(sizes))}" if sizes else ""
    accuracies = [
        _metric("On unfamiliar sources", percent, of.exclusive, "Whole sources are held out of the training part."),
        _metric("On familiar sources", percent, of.inclusive, "Every source is in the training part, too."),
        _metric("On a random split", percent, of.random, "Sources are ignored, as is usual."),
    ]
    rho = _metric("Robustness rho", ratio, of.rho, "The share of the accuracy on familiar sources that is kept.")
    return [rho, *(replace(metric, baseline=baseline) for metric in accuracies)]


def interval_figure(rows: Sequence[ExpectedInterval]) -> Figure:
    """The accuracy interval of every model."""
    return Figure(
        "intervals",
        partial(source_robustness.interval_chart, rows, names=TITLES),
        "Each band runs from the accuracy to expect on unfamiliar sources to that on familiar ones: the shorter, the "
        "more robust. Hairlines are 95 % intervals over sources and samples, short bars over draws.",
    )


def box_figure(intervals: AccuracyIntervals) -> Figure:
    """The accuracy of every draw."""
    return Figure(
        "boxes",
        partial(source_robustness.accuracy_boxes, intervals, names=TITLES),
        "Each mark is the accuracy of one draw. Unfamiliar sources scatter widely: it matters which one is met.",
    )


def rho_figure(rows: Sequence[ExpectedInterval]) -> Figure:
    """Rho of every model."""
    return Figure(
        "rho",
        partial(source_robustness.rho_chart, rows, names=TITLES),
        "The share of the accuracy that is kept; the findings above compare models draw by draw.",
    )


def class_figure(of: ExpectedInterval, intervals: AccuracyIntervals) -> Figure:
    """Rho of every class."""
    return Figure(
        "classes",
        partial(source_robustness.class_chart, of, intervals.classes_of(of)),
        "Rho by class, the worst on top; the grey line and band are all classes together.",
    )


def held_out_figure(of: ExpectedInterval, intervals: AccuracyIntervals) -> Figure:
    """Every source when it was held out."""
    return Figure(
        "held-out",
        partial(source_robustness.held_out_chart, intervals.sources_of(of)),
        "Each diamond is a source when it was held out, each tick when it was familiar; size is its n.",
    )


def true_sources_figure(told: Sequence[TrueSources]) -> Figure:
    """The intervals from found sources beside the accuracy on known ones."""
    return Figure(
        "true-sources",
        partial(source_robustness_finders.true_sources_chart, told, names=TITLES),
        "Each band is the interval that found sources give; the square is the accuracy when known sources are held "
        "out, with its 95 % interval over sources and samples. Left of its band, the worst case was not bad enough.",
    )


def true_sources_table(told: Sequence[TrueSources]) -> Table:
    """A line for each interval that is put to the test by known sources."""
    lines = pd.DataFrame([_true_sources_line(one) for one in told])
    return Table("Accuracy on truly unseen sources", lines, {"p": 3, "Trained on": 0})


def table(intervals: AccuracyIntervals) -> Table:
    """The paper's Table 1, with a line for each model and source finder."""
    lines = [
        {
            "Model": MODEL_TITLES.get(row.model, row.model),
            "Sources": FINDER_TITLES.get(row.source_finder, row.source_finder),
            "Interval (%)": f"[{100 * row.exclusive.value:.2f}, {100 * row.inclusive.value:.2f}]",
            "sd unfamiliar": 100 * row.exclusive.sd,
            "sd familiar": 100 * row.inclusive.sd,
            "rho": row.rho.value,
            "over sources": brackets(ratio, row.rho.value, row.rho.over_sources),
            "over draws": brackets(ratio, row.rho.value, row.rho.over_draws),
            "Random (%)": 100 * row.random.value,
            "Macro-F1 (%)": 100 * row.macro_f1.get("source_exclusive", float("nan")),
            "Repeats": row.exclusive.n_draws,
            "n": row.n_samples,
        }
        for row in intervals.overall
    ]
    decimals = {"sd unfamiliar": 2, "sd familiar": 2, "rho": 3, "Random (%)": 2, "Macro-F1 (%)": 2}
    return Table("Expected accuracy interval and rho of each model", pd.DataFrame(lines), decimals)


def _metric(label: str, write: Callable[..., str], estimate: ExpectedValue, meaning: str) -> Metric:
    interval = brackets(write, estimate.value, estimate.over_sources)
    return Metric(label, write(estimate.value), interval, f"{meaning} The interval, 95 %, is over sources and samples.")


def _true_sources_line(one: TrueSources) -> dict[str, object]:
    unseen = one.known.exclusive
    return {
        "Model": TITLES.get(one.model, one.model),
        "Sources": IN_SENTENCES.get(one.source_finder, one.source_finder),
        "The accuracy is": one.answer,
        "Truly unseen": percent(unseen.value, unseen.over_sources),
        "Interval (%)": f"[{100 * one.clustered.exclusive.value:.1f}, {100 * one.clustered.inclusive.value:.1f}]",
        "Above its lower end": points(one.above_lower.value, one.above_lower.over_sources),
        "Below its upper end": points(one.below_upper.value, one.below_upper.over_sources),
        "p": one.p_holm,
        "Trained on": one.clustered.n_train,
        "Draws": one.n_draws,
        "Known sources": one.known.n_sources,
    }
