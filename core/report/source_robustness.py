"""How far does accuracy fall on held-out sources? The verdict's numbers, the figures with captions, Table 1."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from operator import itemgetter

import pandas as pd

from touchstone.core.cluster.sources import Silhouettes
from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate import source_robustness
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.source_robustness.agreement import SourceAgreement
from touchstone.core.evaluate.source_robustness.by_metric import metrics_on_sources
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.source_robustness.results import MetricOnSources
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources, true_source_table, true_sources
from touchstone.core.evaluate.units import design_beside_sources, design_of
from touchstone.core.evaluate.wording import bare_p, count, percent, points, ratio
from touchstone.core.figures import source_robustness as figures
from touchstone.core.report import parts
from touchstone.core.report.run_report import FINDER_TITLES, IN_SENTENCES, MODEL_TITLES, TITLES
from touchstone.core.trials import KNOWN_SOURCES, TrialPlan

Row = tuple[str, str]
"""A model and a source finder."""
_Line = tuple[source_robustness.ExpectedInterval, source_robustness.Baseline | None]

_UNCORRECTED = "No CI is corrected for many metrics."
MOST_BESIDE = 4
"""Figures with more rows stand one below the other."""


def answer_of_rows(
    rows: pd.DataFrame,
    dataset: Dataset,
    plan: TrialPlan,
    *,
    nulls: Mapping[str, Claim] = parts.NONE,
    metric: tuple[str, str | None] = (ACCURACY, None),
) -> parts.Answer:
    """Everything about a run, from the rows of its trials; `nulls` and `metric` as in `answer`."""
    unseen = true_sources(rows) if len(plan.source_finders) > 1 else ()
    metrics = metrics_on_sources(rows, positive=metric[1])
    beside = {"design": design_beside_sources(dataset), "metrics": metrics}
    return answer(
        replace(source_robustness.expected_accuracy_intervals(rows), **beside),
        source_robustness.compare_models(rows),
        dataset,
        unseen=unseen,
        epoch=plan.epoch,
        nulls=nulls,
        metric=metric[0],
    )


def answer(
    intervals: source_robustness.AccuracyIntervals,
    comparisons: Sequence[source_robustness.ModelComparison],
    dataset: Dataset,
    *,
    of: source_robustness.ExpectedInterval | None = None,
    unseen: Sequence[TrueSources] = (),
    epoch: str = "last",
    nulls: Mapping[str, Claim] = parts.NONE,
    metric: str = ACCURACY,
    finished: bool = True,
) -> parts.Answer:
    """Everything about a run, the verdict about the row `of` (`leading_row` by default); see `source_verdict`.

    `nulls` has the claim that data without groups allow of clusters, by their finder. Raises DataError for a `metric`
    that these trials do not give.
    """
    rows = intervals.overall
    of = of or source_robustness.leading_row(rows, comparisons)
    if of is None:
        return parts.nothing_yet()
    names = names_beside(of, rows)
    null = nulls.get(of.source_finder)
    about = None if metric == ACCURACY else intervals.metric_of(of, metric)
    if about is None and metric != ACCURACY:
        raise not_given(metric, intervals.metrics_of(of))
    verdict = source_robustness.source_verdict(
        intervals, comparisons, row=of, names=names, epoch=epoch, null=null, metric=about, finished=finished
    )
    bands, draws, rho = interval_figure(intervals, metric), box_figure(intervals), rho_figure(rows)
    sections = [parts.Section("", (bands,) if finished else (bands, draws))]
    if finished:  # all else comes and goes before that
        hard = parts.Beside((class_figure(of, intervals), held_out_figure(of, intervals)))
        beside = (parts.Beside((draws, rho)),) if len(rows) <= MOST_BESIDE else (draws, rho)
        sections += [
            parts.Section(f"{names[of.model]}: which classes and sources are hard?", (hard,), "hard"),
            parts.Section("Split by split, and rho of every model", beside, "draws"),
        ]
        if unseen:
            sentences = (each.sentence(IN_SENTENCES) for each in unseen)
            shown = (true_sources_figure(unseen), *sentences, true_sources_table(unseen))
            title = "Does the interval contain the accuracy on truly unseen sources?"
            sections.append(parts.Section(title, shown, "true-sources"))
        if metrics := intervals.metrics_of(of):
            sections.append(parts.Section("By metric", (metrics_table(metrics, _UNCORRECTED),), "metrics"))
        sections.append(parts.Section("In numbers", (table(intervals),), "table"))
    files = {"Table": intervals.table, "Held-out sources": intervals.held_out_table}
    if unseen:
        files["True sources"] = partial(true_source_table, unseen)
    return parts.Answer(
        verdict,
        tuple(key_numbers(of, intervals, about)),
        tuple(sections),
        tuple(numbers(intervals, dataset, metric)),
        files,
    )


def not_given(metric: str, given: Sequence[MetricOnSources]) -> DataError:
    """That trials do not give a metric, and which they do."""
    names = ", ".join(each.metric for each in given)
    return DataError(f"Counts by class give no {metric!r} here. Choose from {ACCURACY}, {names}.")


def numbers(
    intervals: source_robustness.AccuracyIntervals, dataset: Dataset, metric: str = ACCURACY
) -> Iterator[parts.Quantity]:
    """What can be bounded: rho, three accuracies and the fall of every model and source finder, and other metrics.

    That which the verdict is about has its values on other splits, too.
    """
    for row in intervals.overall:
        of, over = (row.model, row.source_finder), _sources_in_words(dataset, row.source_finder)
        for name, estimate in (
            ("rho", row.rho),
            ("exclusive", row.exclusive),
            ("inclusive", row.inclusive),
            ("random", row.usual),
        ):
            yield parts.Quantity(
                f"source_robustness.{name}", of, estimate.value, estimate.over_sources, row.n_samples, over
            )
        yield parts.Quantity("source_robustness.fall", of, row.fall.value, row.fall.over_sources, row.n_samples, over)
        for each in intervals.metrics_of(row):
            ends = {"": each.exclusive, "_inclusive": each.inclusive, "_random": each.random}
            for end, reached in ends.items() if each.metric == metric else [("", each.exclusive)]:
                name, about = f"source_robustness.metric{end}", (*of, each.metric)
                yield parts.Quantity(name, about, reached.value, reached.over_sources, row.n_samples, over)


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


def names_beside(
    of: source_robustness.ExpectedInterval, rows: Sequence[source_robustness.ExpectedInterval]
) -> dict[str, str]:
    """What models are called where sources are those of one row: with their finder, where there are several."""
    several = len({row.source_finder for row in rows}) > 1
    return {row.model: title((row.model, of.source_finder), with_finder=several) for row in rows}


def key_numbers(
    of: source_robustness.ExpectedInterval,
    intervals: source_robustness.AccuracyIntervals,
    metric: MetricOnSources | None = None,
) -> list[parts.KeyNumber]:
    """Rho and the accuracies, or those of another metric, each with its interval over sources and samples."""
    baseline, things = intervals.baseline_of(of), f"{noun(of.source_finder)}s"
    shown = metric or of
    places = {
        "exclusive": (shown.exclusive, f"On held-out {things}", f"Whole {things} are left out of training."),
        "inclusive": (shown.inclusive, f"On {things} seen in training", f"All {things} also occur in training."),
        "random": (shown.usual, "On a random split", f"The usual split, which ignores {things}{_sizes(of, metric)}."),
    }
    if metric is None:
        beside = {end: _baseline(baseline, end) for end in places}
    else:
        beside = dict.fromkeys(
            places, "" if isnan(metric.baseline) else f"baseline {shown.words.value(metric.baseline)}"
        )
    meaning = f"The share of the {shown.words.name} with {things} seen in training that is kept on held-out ones."
    return [
        _metric("Robustness rho", ratio, shown.rho, meaning),
        *(
            replace(_metric(label, shown.words.value, estimate, meaning), baseline=beside[end])
            for end, (estimate, label, meaning) in places.items()
        ),
    ]


def _sizes(of: source_robustness.ExpectedInterval, metric: MetricOnSources | None) -> str:
    """How large the training part of a random split is, where the others are smaller."""
    if metric is not None or not of.smaller:
        return ""
    return f", trained on {count(of.n_train_full)} samples; the others on {count(of.n_train)}"


def _baseline(baseline: source_robustness.Baseline | None, end: str) -> str:
    """Majority-class baseline on the same test parts, and chance; empty while there are none."""
    share = float("nan") if baseline is None else getattr(baseline, end)
    if baseline is None or isnan(share):
        return ""
    return f"majority-class baseline {percent(share)}, chance {percent(baseline.chance)}"


def interval_figure(intervals: source_robustness.AccuracyIntervals, metric: str = ACCURACY) -> parts.Figure:
    """The interval of every model, of its accuracy or of another metric."""
    rows, baselines, of, beside = intervals.overall, intervals.baselines, "the accuracy", _baselines(intervals)
    if metric != ACCURACY:
        rows = baselines = tuple(row for each in rows if (row := intervals.metric_of(each, metric)) is not None)
        of, beside = rows[0].words.name, ""
    draw = partial(figures.interval_chart, rows, baselines=baselines, names=TITLES)
    return parts.Figure(
        "intervals",
        draw,
        f"Each band runs from {of} held out to that seen in training: the shorter, the more robust. Hairlines "
        f"are 95 % CIs for new data, short bars the Monte-Carlo error. {beside}",
    )


def _baselines(intervals: source_robustness.AccuracyIntervals) -> str:
    of = intervals.overall[0] if intervals.overall else None
    beside = _baseline(intervals.baseline_of(of), "exclusive") if of is not None else ""
    return f"For comparison: {beside}." if beside else ""


def box_figure(intervals: source_robustness.AccuracyIntervals) -> parts.Figure:
    """The accuracy of every draw."""
    return parts.Figure(
        "boxes",
        partial(figures.accuracy_boxes, intervals, names=TITLES),
        "Each mark is the accuracy on one split. Held-out splits vary widely if sources differ in difficulty.",
    )


def rho_figure(rows: Sequence[source_robustness.ExpectedInterval]) -> parts.Figure:
    """Rho of every model."""
    return parts.Figure(
        "rho",
        partial(figures.rho_chart, rows, names=TITLES),
        "The share of the accuracy that is kept on what was held out; 1 is no loss.",
    )


def class_figure(
    of: source_robustness.ExpectedInterval, intervals: source_robustness.AccuracyIntervals
) -> parts.Figure:
    """Rho of every class."""
    return parts.Figure(
        "classes",
        partial(figures.class_chart, of, intervals.classes_of(of)),
        "Rho by class, the lowest on top; the grey line and band are all classes together. Wide bars are undecided.",
    )


def held_out_figure(
    of: source_robustness.ExpectedInterval, intervals: source_robustness.AccuracyIntervals
) -> parts.Figure:
    """Every source when it was held out."""
    return parts.Figure(
        "held-out",
        partial(figures.held_out_chart, intervals.sources_of(of)),
        "Diamonds: accuracy when held out; ticks: when seen in training. Larger marks have more samples.",
    )


def true_sources_figure(told: Sequence[TrueSources]) -> parts.Figure:
    """The intervals from found sources beside the accuracy on known ones."""
    return parts.Figure(
        "true-sources",
        partial(figures.true_sources_chart, told, names=TITLES),
        "Each band is the interval from clusters. The square is the accuracy on held-out known sources, with its "
        "95 % CI for new data. Left of its band: clusters were not hard enough.",
    )


def true_sources_table(told: Sequence[TrueSources]) -> parts.Table:
    """A line for each interval that is put to the test by known sources."""
    return parts.Table.of(
        "Accuracy on truly unseen sources, and the intervals from clusters",
        told,
        (
            parts.Column("Model", lambda of: TITLES.get(of.model, of.model)),
            parts.Column("Sources", lambda of: IN_SENTENCES.get(of.source_finder, of.source_finder)),
            parts.Column("The accuracy is", "answer", "Inside the interval, or outside by at most a point: contained"),
            parts.Column(
                "Truly unseen",
                lambda of: percent(of.known.exclusive.value, of.known.exclusive.over_sources),
                "Accuracy on held-out known sources, 95 % CI for new data",
            ),
            parts.Column(
                "Interval (%)",
                lambda of: _interval(of.clustered, 1),
                "Accuracy on held-out clusters, and on those seen in training",
            ),
            parts.Column("Above its lower end", lambda of: points(of.above_lower.value, of.above_lower.over_sources)),
            parts.Column("Below its upper end", lambda of: points(of.below_upper.value, of.below_upper.over_sources)),
            parts.Column("p", lambda of: bare_p(of.p_holm), "Corrected for the number of rows (Holm)"),
            parts.Column(
                "Trained on",
                lambda of: of.clustered.n_train,
                "Samples in training parts that hold sources out, mean",
                0,
            ),
            parts.Column("Draws", "n_draws", "Of the same repeat and training-set size"),
            parts.Column("Known sources", lambda of: of.known.n_sources),
        ),
    )


def agreement_figure(agreement: SourceAgreement) -> parts.Figure:
    """The agreement of every two clusterings."""
    n, n_samples = agreement.n_used, agreement.n_samples
    used = f" n = {count(n)} of {count(n_samples)}." if n < n_samples else ""
    return parts.Figure(
        "agreement",
        partial(figures.agreement_map, agreement, names=IN_SENTENCES),
        f"The adjusted Rand index of every two clusterings, within classes: 1 is identical, 0 is chance.{used}",
    )


def agreement_table(agreement: SourceAgreement) -> parts.Table:
    """The index of every two finders, overall and class by class."""
    return parts.Table.of(
        "Adjusted Rand index of every two ways of finding sources, by class",
        agreement.class_table().itertuples(index=False, name=None),
        (
            parts.Column("Sources", lambda row: _pair(*(IN_SENTENCES.get(name, name) for name in row[:2]))),
            *(
                parts.Column(name, itemgetter(at), decimals=3)
                for at, name in enumerate(("all classes", *agreement.class_names), start=2)
            ),
        ),
        "The adjusted Rand index by class, the mean over pairs of clusterings.",
    )


def _pair(first: str, second: str) -> str:
    return f"{first} and {second}" if first != second else f"{first}, among themselves"


def silhouette_table(by_finder: Mapping[str, Silhouettes]) -> parts.Table:
    """How well the sources of each finder stand apart."""
    within = "Silhouette: a sample against the sources of its own class, mean over classes"
    pooled = "Silhouette: a sample against the sources of all classes"
    return parts.Table.of(
        "Separation of the sources of each finder: silhouettes",
        by_finder.items(),
        (
            parts.Column("Sources", lambda row: IN_SENTENCES.get(row[0], row[0])),
            parts.Column("within classes", lambda row: row[1].mean_within, within, 4),
            parts.Column("pooled", lambda row: row[1].pooled, pooled, 4),
            parts.Column("n", lambda row: row[1].n_used),
        ),
        "Silhouettes: 1 is well separated, 0 touching, below 0 overlapping. The paper's, of all 70,000 images of "
        "MNIST, are .0456 (k-means) and .0280 (ACOL), pooled.",
    )


def metrics_table(metrics: Sequence[MetricOnSources], caption: str, *, by_size: bool = False) -> parts.Table:
    """Every metric of one model, beside its accuracy: on each kind of split, the fall and rho."""
    things = f"{noun(metrics[0].source_finder)}s"

    def of(name: str) -> Callable[[MetricOnSources], str]:
        def written(each: MetricOnSources) -> str:
            estimate = getattr(each, name)
            return "" if isnan(estimate.value) else each.words.value(estimate.value, estimate.over_sources)

        return written

    size = parts.Column("Samples", lambda each: count(each.n_train), "Mean number of training samples")
    random = parts.Column("Random split", of("random"), "95 % CI for new data")
    columns = (
        parts.Column("Metric", lambda each: each.words.title),
        *((size,) if by_size else ()),
        parts.Column(f"Held-out {things}", of("exclusive"), "95 % CI for new data"),
        parts.Column("Seen in training", of("inclusive"), "95 % CI for new data"),
        *((random,) if any(not isnan(each.random.value) for each in metrics) else ()),
        parts.Column("Falls by", lambda each: each.words.difference(each.fall.value, each.fall.over_sources)),
        parts.Column("Rho", lambda each: ratio(each.rho.value, each.rho.over_sources), "The share that is kept"),
        parts.Column("Baseline", lambda each: "" if isnan(each.baseline) else each.words.value(each.baseline)),
    )
    about = f"Means over splits of the same trials as the accuracy, n = {count(metrics[0].n)}. {caption}"
    return parts.Table.of("Metrics on held-out sources", metrics, columns, about)


def table(intervals: source_robustness.AccuracyIntervals) -> parts.Table:
    """The paper's Table 1, with a line for each model and source finder."""
    spread = "Standard deviation of accuracy over splits, in points"

    def of(make: Callable[[source_robustness.ExpectedInterval], object]) -> Callable[[_Line], object]:
        return lambda line: make(line[0])

    def baseline(name: str) -> Callable[[_Line], float]:
        return lambda line: float("nan") if line[1] is None else getattr(line[1], name)

    return parts.Table.of(
        "Expected accuracy interval and rho of each model (full: a random split of full size)",
        ((row, intervals.baseline_of(row)) for row in intervals.overall),
        (
            parts.Column("Model", of(lambda row: MODEL_TITLES.get(row.model, row.model))),
            parts.Column("Sources", of(lambda row: FINDER_TITLES.get(row.source_finder, row.source_finder))),
            parts.Column(
                "Interval (%)", of(lambda row: _interval(row, 2)), "Expected accuracy held out, and seen in training"
            ),
            parts.Column("sd held out", of(lambda row: row.exclusive.sd), spread, 2, 100),
            parts.Column("sd seen", of(lambda row: row.inclusive.sd), spread, 2, 100),
            parts.Column("rho", of(lambda row: row.rho.value), decimals=3),
            parts.Column(
                "95 % CI",
                of(lambda row: parts.brackets(ratio, row.rho.value, row.rho.over_sources)),
                "Of rho, for new data",
            ),
            parts.Column(
                "Monte-Carlo",
                of(lambda row: parts.brackets(ratio, row.rho.value, row.rho.over_draws)),
                "Monte-Carlo error of rho: 95 % interval for other splits of these data",
            ),
            parts.Column("Random (%)", of(lambda row: row.random.value), "Expected accuracy on a random split", 2, 100),
            parts.Column(
                "n train", of(lambda row: row.n_train), "Training samples, on average: as many in all schemes"
            ),
            parts.Column(
                "Full (%)",
                of(lambda row: row.full.value),
                "On a random split that trains on all that is not tested",
                2,
                100,
            ),
            parts.Column(
                "Majority (%)", baseline("exclusive"), "Majority-class baseline on the same test parts", 2, 100
            ),
            parts.Column("Chance (%)", baseline("chance"), "Classes drawn alike", 2, 100),
            parts.Column(
                "Macro-F1 (%)",
                of(lambda row: row.macro_f1.get("source_exclusive", float("nan"))),
                "On held-out sources",
                2,
                100,
            ),
            parts.Column("Repeats", of(lambda row: row.exclusive.n_draws)),
            parts.Column("n", of(lambda row: row.n_samples)),
        ),
    )


def _interval(of: source_robustness.ExpectedInterval, decimals: int) -> str:
    return f"[{100 * of.exclusive.value:.{decimals}f}, {100 * of.inclusive.value:.{decimals}f}]"


def _metric(
    label: str, write: Callable[..., str], estimate: source_robustness.ExpectedValue, meaning: str
) -> parts.KeyNumber:
    interval = parts.over_repeats(write, estimate.value, estimate.over_sources)
    return parts.KeyNumber(
        label, write(estimate.value), interval, f"{meaning} The interval is the 95 % CI for new data."
    )
