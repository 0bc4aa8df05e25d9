"""How do scores change when folds are made to differ? The verdict's numbers, the figures with captions, every fold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds.performance import fold_performance, predicted_on_sources
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    PredictedHeldOut,
    Relation,
    RunScore,
    SchemeScore,
    ScoredBy,
)
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions, LabelShift, rows_of_run
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict, scheme_title
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.wording import bare, count, fixed, p_value
from touchstone.core.figures import cluster_folds as figures
from touchstone.core.report.parts import Answer, Column, Figure, KeyNumber, Quantity, Section, Table, brackets
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.split.describe_folds import FoldDescription
from touchstone.core.trials import FoldPlan

MEASURES = {
    "label_tv": ("Label distance", "Total variation between the labels of fold and rest: 0 alike, 1 disjoint.", 3),
    "variance": ("Variance", "Mean squared distance of the fold's samples from their mean.", 2),
    "mmd": ("MMD²", "Maximum mean discrepancy, squared: 0 alike.", 3),
    "energy": ("Energy", "Energy distance, relative: 0 alike, 1 largest.", 3),
    "auc": ("AUC", "AUC of a classifier that separates fold and rest: .5 alike, 1 fully different. Interval: 95 %.", 2),
    "nearest": ("Nearest", "Distance to the nearest training sample, against that among training samples: 1 alike.", 2),
    "near_duplicates": ("Near copies", "Pairs of copies or near-duplicates, one sample in the fold, one outside.", 0),
}
"""How folds are held against the rest: what a column says and means, and its decimals."""
MOST_BY_CLASS = 3
"""More schemes in the figure of classes would hide one another."""


def answer_of_rows(
    rows: pd.DataFrame, dataset: Dataset, plan: FoldPlan, *, metric: tuple[str, str | None] = ("f1_macro", None)
) -> Answer:
    """Everything about a run, from the rows of its trials; folds are scored by a metric, of a class or of all."""
    tested = rows_of_run(rows, dataset)
    return answer(fold_performance(tested, metric=ScoredBy(*metric)), tested)


def answer(
    scores: FoldPerformance,
    rows: FoldPredictions,
    *,
    model: str | None = None,
    scheme: str | None = None,
    relations: Sequence[Relation] = (),
    predicted_held_out: Sequence[PredictedHeldOut] = (),
    shifts: Sequence[LabelShift] = (),
    finished: bool = True,
) -> Answer:
    """Everything about folds; the verdict about a model and a scheme, the first ones by default.

    What known sources predict is in it, and what to do next once a run has `finished`.
    """
    lying = Section("Map of the folds", (size_figure(rows), *label_figures(rows)), "folds-lie")
    if not scores.runs:
        return Answer(None, sections=(Section("", ("No model was trained; only the folds were made.",)), lying))
    model = model or scores.models[0]
    scheme = scheme or next((each.scheme for each in scores.differences), None)
    verdict = fold_verdict(
        scores,
        model=model,
        scheme=scheme,
        names=MODEL_TITLES,
        relations=relations,
        predicted_held_out=(*predicted_on_sources(scores), *predicted_held_out),
        shifts=shifts,
    )
    whole = whole_runs(scores, model)
    parts = seed_figures(scores, model) + ([class_figure(scores, whole)] if whole else [])
    sections = (
        Section("", (performance_figure(scores, model),)),
        *([Section("Seeds and classes", tuple(parts), "fold-details")] if parts else []),
        lying,
        Section("In numbers", (table(scores),), "table"),
    )
    files = {"Folds": scores.table, "Runs": scores.summary, "Classes": scores.class_table}
    if scores.differences:
        files["Differences"] = scores.difference_table
    return Answer(
        verdict if finished else replace(verdict, advice=""),
        tuple(key_numbers(scores, model, scheme)),
        sections,
        tuple(numbers(rows, scores)),
        files,
    )


def numbers(rows: FoldPredictions, scores: FoldPerformance) -> Iterator[Quantity]:
    """What can be bounded: macro F1, accuracy, balanced accuracy and the score in question, by scheme and model."""
    named = {ScoredBy(): "score", ScoredBy(ACCURACY): "accuracy"}
    for metric in dict.fromkeys((*named, ScoredBy("balanced_accuracy"), scores.metric)):
        by_metric = scores if metric == scores.metric else fold_performance(rows, metric=metric)
        for row in by_metric.schemes:
            of, made = (row.scheme, row.model), (row.mean.value, row.mean.interval, row.n, rows.design.others)
            if metric in named:
                yield Quantity(f"cluster_folds.{named[metric]}", of, *made)
            about = () if metric.positive is None else (metric.positive,)
            yield Quantity("cluster_folds.metric", (*of, metric.name, *about), *made)


def key_numbers(scores: FoldPerformance, model: str, scheme: str | None) -> list[KeyNumber]:
    """The score on the folds in question and on the benchmark, the difference, and how far folds lie apart."""
    rows = [row for row in scores.schemes if row.model == model]
    row = next((row for row in rows if row.scheme == scheme), rows[-1] if rows else None)
    if row is None:
        return [_unfinished(run) for run in scores.runs if run.model == model]
    of = next((each for each in scores.differences if (each.model, each.scheme) == (model, row.scheme)), None)
    base = scores.of(of.other, model) if of else None
    told, words = [_mean(scores, row)], scores.metric.words
    if of is not None and base is not None:
        told += [
            _mean(scores, base),
            KeyNumber(
                "Difference",
                words.difference(of.difference.value),
                brackets(words.difference, of.difference.value, of.difference.interval),
                f"Paired: the same samples in both schemes. The interval, 95 %, is over {scores.design.others}.",
            ),
        ]
    if all(len(run.folds) < 2 for run in scores.runs_of(row.scheme, model)):
        return told  # one split has no spread
    beside = f"{scheme_title(base.scheme)}: {words.bare(base.std)}" if base else ""
    meaning = "The population standard deviation over folds, as in the paper (mean over seeds)."
    return [*told, KeyNumber("Spread of folds", words.difference(row.std), beside, meaning)]


def first_seed(runs: Sequence[RunScore]) -> list[RunScore]:
    """The runs of the first seed: one for each scheme."""
    return [run for run in runs if run.seed == runs[0].seed]


def performance_figure(scores: FoldPerformance, model: str) -> Figure:
    """Every fold of the first seed with its interval."""
    runs = [run for run in scores.runs if run.model == model]
    seeds = f" Seed {runs[0].seed}." * (len({run.seed for run in runs}) > 1)
    return Figure(
        "performance",
        partial(figures.performance_chart, scores, first_seed(runs)),
        f"Each mark is a fold with its 95 % interval over {scores.design.others}; line and band are the mean over "
        "folds; short lines are the majority-class baseline. "
        f"Folds of different schemes are not the same folds.{seeds}",
    )


def whole_runs(scores: FoldPerformance, model: str) -> list[RunScore]:
    """The runs of a model of which every fold was tested, of the first seed that has one."""
    return first_seed([run for run in scores.runs if run.model == model and run.whole])


def seed_figures(scores: FoldPerformance, model: str) -> list[Figure]:
    """The seeds of every scheme, where there are several."""
    rows = [row for row in scores.schemes if row.model == model]
    if all(len(row.seeds) < 2 for row in rows):
        return []
    caption = (
        f"Each mark is a seed: the mean over its folds, with the interval over {scores.design.others}. The spread of "
        "seeds shows how much one seed depends on chance."
    )
    return [Figure("seeds-chart", partial(figures.seeds_chart, scores, rows), caption)]


def class_figure(scores: FoldPerformance, shown: Sequence[RunScore]) -> Figure:
    """F1 of every class."""
    first = f" in {scheme_title(shown[0].scheme)} folds" if len(shown) > 1 else ""
    return Figure(
        "classes",
        partial(figures.class_scores, scores, shown[:MOST_BY_CLASS]),
        f"F1 of each class over all folds, the lowest{first} on top.",
        len(scores.class_names),
    )


def relation_figure(
    scores: FoldPerformance,
    runs: Sequence[RunScore],
    characteristics: pd.DataFrame,
    name: str,
    relations: Sequence[Relation],
) -> Figure:
    """Scores against one characteristic of the folds."""
    return Figure(
        "relation", partial(figures.relation_chart, scores, runs, characteristics, name), _told(relations, name)
    )


def size_figure(rows: FoldPredictions, cuts: Mapping[str, np.ndarray] | None = None) -> Figure:
    """The samples in each fold, of the schemes given by title (all, by default)."""
    by_scheme = cuts or {scheme: rows.folds(scheme, rows.seeds(scheme)[0]) for scheme in rows.schemes}
    return Figure("sizes", partial(figures.fold_sizes, by_scheme), "Samples in each fold.")


def label_figures(rows: FoldPredictions) -> list[Figure]:
    """The share of each class in every fold, a figure for each scheme."""
    cuts = {scheme: rows.folds(scheme, rows.seeds(scheme)[0]) for scheme in rows.schemes}
    beside = list(cuts.values())
    return [label_figure(rows, scheme_title(scheme), own, beside, scheme) for scheme, own in cuts.items()]


def label_figure(
    rows: FoldPredictions, title: str, folds: np.ndarray, beside: Sequence[np.ndarray], key: object
) -> Figure:
    """The share of each class in every fold of one scheme."""
    return Figure(
        f"labels-{key}",
        partial(figures.label_shares, folds, rows.y, rows.class_names, beside=beside),
        f"{title}: share of each class in every fold; dotted: in all samples.",
        len(rows.class_names),
    )


def table(scores: FoldPerformance) -> Table:
    """A row for each model, scheme and seed, as the paper's tables have it, with every fold."""
    over, words = scores.design.others, scores.metric.words
    return Table.of(
        "Scores of every run, by fold",
        scores.runs,
        (
            Column("Model", lambda run: MODEL_TITLES.get(run.model, run.model)),
            Column("Folds", lambda run: scheme_title(run.scheme)),
            Column("Seed", lambda run: str(run.seed)),
            Column(
                f"By fold{words.unit}",
                lambda run: "  ".join(words.bare(fold.score.value) for fold in run.folds),
                f"{scores.metric.title} of fold 1, 2, ...",
                width=400,
            ),
            Column(
                f"Mean{words.unit}",
                lambda run: words.value(run.mean.value, run.mean.interval).replace(" %", ""),
                f"Mean over folds, 95 % interval over {over}",
            ),
            Column(
                f"Majority{words.unit}",
                lambda run: words.bare(run.majority),
                "Always predicting the class most frequent in training",
            ),
            Column(
                "Std",
                lambda run: words.bare(run.std),
                f"Population standard deviation over folds{', in points' * words.metric.in_percent}",
            ),
            Column("Accuracy (%)", lambda run: fixed(100 * run.accuracy.value, 1)),
            Column("Majority accuracy (%)", lambda run: fixed(100 * run.majority_accuracy, 1)),
            Column("n", lambda run: count(run.mean.n)),
        ),
    )


def distance_table(description: FoldDescription, names: Sequence[str]) -> Table:
    """What was wanted of every fold and how far it lies from the rest, and the mean of random folds."""
    described, rows = description.table(), [*names, "random"]

    def column(measure: str) -> Column:
        title, meaning, decimals = MEASURES[measure]
        values = [*described[measure], described[f"{measure}_random"].mean()]
        cells = [fixed(float(value), decimals) for value in values]
        if measure == "auc":
            ends = [f" [{fixed(float(low), 2)}, {fixed(float(high), 2)}]" for low, high in description.auc_interval]
            cells = [cell + end for cell, end in zip(cells, [*ends, ""], strict=True)]
        return Column(title, cells.__getitem__, meaning)

    return Table.of(
        "Requested and achieved, compared with random folds of the same sizes",
        range(len(rows)),
        (
            Column("Fold", rows.__getitem__),
            Column("n", [*map(count, described["n_test"]), ""].__getitem__),
            Column("Wanted", [*(fixed(float(n), 1) for n in described["n_wanted"]), ""].__getitem__),
            *map(column, description.measures),
        ),
    )


def label_table(description: FoldDescription, names: Sequence[str]) -> Table:
    """How many samples of each label every fold has."""
    return Table.of(
        "Labels by fold",
        description.label_counts().itertuples(name=None),
        (
            Column("Label", itemgetter(0)),
            *(Column(f"Fold {name}", itemgetter(at)) for at, name in enumerate(names, start=1)),
        ),
        "Samples of each label. In brackets: the requested number, where it differs by a sample or more.",
    )


def _mean(scores: FoldPerformance, row: SchemeScore) -> KeyNumber:
    metric, value = scores.metric.title, scores.metric.words.value
    baseline = "" if np.isnan(row.majority) else f"majority-class baseline {value(row.majority)}"
    return KeyNumber(
        scheme_title(row.scheme),
        value(row.mean.value),
        brackets(value, row.mean.value, row.mean.interval),
        f"Mean {metric} over folds{' and seeds' * (len(row.seeds) > 1)}, n = {count(row.n)}. The interval, 95 %, is "
        f"over {scores.design.others}.",
        baseline,
    )


def _unfinished(run: RunScore) -> KeyNumber:
    title, done = scheme_title(run.scheme), count(len(run.folds))
    if not run.folds_known:
        return KeyNumber(title, done, "folds tested, of how many is not known")
    return KeyNumber(title, f"{done} of {count(run.n_folds_wanted)}", "folds tested")


def _told(relations: Sequence[Relation], name: str) -> str:
    related = [
        f"{scheme_title(of.scheme)} r {bare(of.r, 2)}, {p_value(of.p_holm)}"
        for of in relations
        if of.characteristic == name
    ]
    few = "A few folds show only the strongest correlations. p is corrected for all characteristics (Holm)."
    return f"{'; '.join(related)}. {few}" if related else f"The same in all folds, or no correlation. {few}"
