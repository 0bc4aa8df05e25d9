"""How far does accuracy fall on held-out sources? The verdict's numbers, the figures with captions, Table 1."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import isnan

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.source_robustness import (
    AccuracyIntervals,
    Baseline,
    ExpectedInterval,
    ExpectedValue,
    ModelComparison,
    compare_models,
    expected_accuracy_intervals,
    leading_row,
    source_verdict,
)
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources, true_sources
from touchstone.core.evaluate.source_robustness.words import noun
from touchstone.core.evaluate.units import design_beside_sources, design_of
from touchstone.core.evaluate.wording import count, percent, points, ratio
from touchstone.core.figures import source_robustness as figures
from touchstone.core.report.parts import (
    Answer,
    Column,
    Figure,
    Metric,
    Quantity,
    Section,
    Table,
    brackets,
    over_repeats,
)
from touchstone.core.report.run_report import FINDER_TITLES, IN_SENTENCES, MODEL_TITLES, TITLES
from touchstone.core.trials import KNOWN_SOURCES, TrialPlan

Row = tuple[str, str]
"""A model and a source finder."""


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: TrialPlan) -> Answer:
    """Everything about a run, from the rows of its trials."""
    several = len(plan.source_finders) > 1
    told = true_sources(rows) if several else ()
    intervals = replace(expected_accuracy_intervals(rows), design=design_beside_sources(dataset))
    return answer(intervals, compare_models(rows), dataset, told=told, epoch=plan.epoch)


def answer(
    intervals: AccuracyIntervals,
    comparisons: Sequence[ModelComparison],
    dataset: Dataset,
    *,
    of: ExpectedInterval | None = None,
    told: Sequence[TrueSources] = (),
    epoch: str = "last",
    null: Claim | None = None,
    finished: bool = True,
) -> Answer:
    """Everything about a run, the verdict about the row `of` (`leading_row` by default); see `source_verdict`."""
    rows = intervals.overall
    of = of or leading_row(rows, comparisons)
    if of is None:
        return Answer(None, (), (Section("", ("No trial has finished yet.",)),))
    names = names_beside(of, rows)
    sections = [Section("", (interval_figure(intervals), box_figure(intervals), rho_figure(rows)))]
    if told:
        sentences = tuple(one.sentence(IN_SENTENCES) for one in told)
        parts = (true_sources_figure(told), *sentences, true_sources_table(told))
        sections.append(Section("Does the interval contain the accuracy on truly unseen sources?", parts))
    about = (class_figure(of, intervals), held_out_figure(of, intervals))
    sections.append(Section(f"{names[of.model]}: which classes and sources are hard?", about))
    sections.append(Section("In numbers", (table(intervals),)))
    return Answer(
        source_verdict(intervals, comparisons, row=of, names=names, epoch=epoch, null=null, finished=finished),
        tuple(metrics(of, intervals)),
        tuple(sections),
        tuple(numbers(rows, dataset)),
    )


def numbers(rows: Sequence[ExpectedInterval], dataset: Dataset) -> Iterator[Quantity]:
    """What can be bounded: rho, three accuracies and the fall of every model and source finder."""
    for row in rows:
        of, over = (row.model, row.source_finder), _sources_in_words(dataset, row.source_finder)
        for name, estimate in (
            ("rho", row.rho),
            ("exclusive", row.exclusive),
            ("inclusive", row.inclusive),
            ("random", row.usual),
        ):
            yield Quantity(f"source_robustness.{name}", of, estimate.value, estimate.over_sources, row.n_samples, over)
        yield Quantity("source_robustness.fall", of, row.fall.value, row.fall.over_sources, row.n_samples)


def _sources_in_words(dataset: Dataset, source_finder: str) -> str:
    """What an interval over sources is over: clusters, or known sources, by the word of units where each is one."""
    if source_finder == KNOWN_SOURCES and dataset.sources is not None and dataset.units is not None:
        pairs = len(set(zip(dataset.sources, dataset.units, strict=True)))
        if pairs == len(set(dataset.sources)) == len(set(dataset.units)):
            return design_of(dataset).others
    return f"{noun(source_finder)}s"


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
    baseline, things = intervals.baseline_of(of), f"{noun(of.source_finder)}s"
    accuracies = {
        "exclusive": (f"On held-out {things}", f"Whole {things} are left out of training."),
        "inclusive": (f"On {things} seen in training", f"All {things} also occur in training."),
        "random": ("On a random split", f"The usual split, which ignores {things}{_sizes(of)}."),
    }
    values = {"exclusive": of.exclusive, "inclusive": of.inclusive, "random": of.usual}
    beside = [
        replace(_metric(label, percent, values[end], meaning), baseline=_baseline(baseline, end))
        for end, (label, meaning) in accuracies.items()
    ]
    meaning = f"The share of the accuracy with {things} seen in training that is kept on held-out ones."
    return [_metric("Robustness rho", ratio, of.rho, meaning), *beside]


def _sizes(of: ExpectedInterval) -> str:
    """How large the training part of a random split is, where the others are smaller."""
    return f", trained on {count(of.n_train_full)} samples; the others on {count(of.n_train)}" if of.smaller else ""


def _baseline(baseline: Baseline | None, end: str) -> str:
    """Majority-class baseline on the same test parts, and chance; empty while there are none."""
    share = float("nan") if baseline is None else getattr(baseline, end)
    if baseline is None or isnan(share):
        return ""
    return f"majority-class baseline {percent(share)}, chance {percent(baseline.chance)}"


def interval_figure(intervals: AccuracyIntervals) -> Figure:
    """The accuracy interval of every model."""
    draw = partial(figures.interval_chart, intervals.overall, baselines=intervals.baselines, names=TITLES)
    return Figure(
        "intervals",
        draw,
        "Each band runs from the accuracy held out to that seen in training: the shorter, the more robust. Hairlines "
        "are 95 % CIs for new data, short bars the Monte-Carlo error. " + _baselines(intervals),
    )


def _baselines(intervals: AccuracyIntervals) -> str:
    of = intervals.overall[0] if intervals.overall else None
    beside = _baseline(intervals.baseline_of(of), "exclusive") if of is not None else ""
    return f"For comparison: {beside}." if beside else ""


def box_figure(intervals: AccuracyIntervals) -> Figure:
    """The accuracy of every draw."""
    return Figure(
        "boxes",
        partial(figures.accuracy_boxes, intervals, names=TITLES),
        "Each mark is the accuracy on one split. Held-out splits vary widely if sources differ in difficulty.",
    )


def rho_figure(rows: Sequence[ExpectedInterval]) -> Figure:
    """Rho of every model."""
    return Figure(
        "rho",
        partial(figures.rho_chart, rows, names=TITLES),
        "The share of the accuracy that is kept on what was held out; 1 is no loss.",
    )


def class_figure(of: ExpectedInterval, intervals: AccuracyIntervals) -> Figure:
    """Rho of every class."""
    return Figure(
        "classes",
        partial(figures.class_chart, of, intervals.classes_of(of)),
        "Rho by class, the lowest on top; the grey line and band are all classes together. Wide bars are undecided.",
    )


def held_out_figure(of: ExpectedInterval, intervals: AccuracyIntervals) -> Figure:
    """Every source when it was held out."""
    return Figure(
        "held-out",
        partial(figures.held_out_chart, intervals.sources_of(of)),
        "Diamonds: accuracy when held out; ticks: when seen in training. Larger marks have more samples.",
    )


def true_sources_figure(told: Sequence[TrueSources]) -> Figure:
    """The intervals from found sources beside the accuracy on known ones."""
    return Figure(
        "true-sources",
        partial(figures.true_sources_chart, told, names=TITLES),
        "Each band is the interval from clusters. The square is the accuracy on held-out known sources, with its "
        "95 % CI for new data. Left of its band: clusters were not hard enough.",
    )


def true_sources_table(told: Sequence[TrueSources]) -> Table:
    """A line for each interval that is put to the test by known sources."""
    lines = pd.DataFrame([_true_sources_line(one) for one in told])
    decimals = (Column("p", "", decimals=3), Column("Trained on", "", decimals=0))
    return Table("Accuracy on truly unseen sources", lines, decimals)


def table(intervals: AccuracyIntervals) -> Table:
    """The paper's Table 1, with a line for each model and source finder."""
    lines = [
        {
            "Model": MODEL_TITLES.get(row.model, row.model),
            "Sources": FINDER_TITLES.get(row.source_finder, row.source_finder),
            "Interval (%)": f"[{100 * row.exclusive.value:.2f}, {100 * row.inclusive.value:.2f}]",
            "sd held out": 100 * row.exclusive.sd,
            "sd seen": 100 * row.inclusive.sd,
            "rho": row.rho.value,
            "95 % CI": brackets(ratio, row.rho.value, row.rho.over_sources),
            "Monte-Carlo": brackets(ratio, row.rho.value, row.rho.over_draws),
            "Random (%)": 100 * row.random.value,
            "n train": row.n_train,
            "Full (%)": 100 * row.full.value,
            "Majority (%)": 100 * baseline.exclusive if baseline is not None else float("nan"),
            "Chance (%)": 100 * baseline.chance if baseline is not None else float("nan"),
            "Macro-F1 (%)": 100 * row.macro_f1.get("source_exclusive", float("nan")),
            "Repeats": row.exclusive.n_draws,
            "n": row.n_samples,
        }
        for row, baseline in ((row, intervals.baseline_of(row)) for row in intervals.overall)
    ]
    decimals = {"rho": 3} | dict.fromkeys(
        ("sd held out", "sd seen", "Random (%)", "Full (%)", "Majority (%)", "Chance (%)", "Macro-F1 (%)"),
        2,
    )
    return Table(
        "Expected accuracy interval and rho of each model (full: a random split of full size)",
        pd.DataFrame(lines),
        tuple(Column(name, "", decimals=n) for name, n in decimals.items()),
    )


def _metric(label: str, write: Callable[..., str], estimate: ExpectedValue, meaning: str) -> Metric:
    interval = over_repeats(write, estimate.value, estimate.over_sources)
    return Metric(label, write(estimate.value), interval, f"{meaning} The interval is the 95 % CI for new data.")


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
