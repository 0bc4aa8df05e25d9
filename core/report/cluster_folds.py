"""How do scores change when folds are made to differ? The verdict's numbers, the figures with captions, "
"every fold."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds import (
    FoldPerformance,
    FoldPredictions,
    Foretold,
    LabelShift,
    Relation,
    RunScore,
    SchemeScore,
    fold_performance,
    fold_verdict,
    foretold_on_sources,
    rows_of_run,
    scheme_title,
)
from touchstone.core.evaluate.cluster_folds import Metric as ScoredBy
from touchstone.core.evaluate.wording import Verdict, bare, count, fixed, p_value, percent, points
from touchstone.core.figures import cluster_folds as figures
from touchstone.core.report.parts import Answer, Figure, Metric, Quantity, Section, Table, brackets
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.trials import FoldPlan

MOST_BY_CLASS = 3
"""More schemes in the figure of classes would hide one another."""


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: FoldPlan) -> Answer:
    """Everything about a run, from the rows of its trials; folds are scored by macro F1."""
    tested = rows_of_run(rows, dataset)
    return answer(fold_performance(tested, metric=ScoredBy()), tested)


def answer(
    scores: FoldPerformance,
    rows: FoldPredictions,
    *,
    model: str | None = None,
    scheme: str | None = None,
    relations: Sequence[Relation] = (),
    foretold: Sequence[Foretold] = (),
    shifts: Sequence[LabelShift] = (),
) -> Answer:
    """Everything about folds; the verdict about a model and a scheme, the first ones by default."""
    lying = Section("Map of the folds", (size_figure(rows), *label_figures(rows)))
    if not scores.runs:
        return Answer(None, (), (Section("", ("No model was trained; only the folds were made.",)), lying))
    model = model or scores.models[0]
    schemes = list(dict.fromkeys(each.scheme for each in scores.differences))
    scheme = scheme or (schemes[0] if schemes else None)
    said = verdict(scores, model=model, scheme=scheme, relations=relations, foretold=foretold, shifts=shifts)
    runs = first_seed([run for run in scores.runs if run.model == model])
    parts = [performance_figure(scores, model)]
    of = [row for row in scores.schemes if row.model == model]
    if any(len(row.seeds) > 1 for row in of):
        parts.append(seed_figure(scores, of))
    if any(run.whole for run in runs):
        parts.append(class_figure(scores, [run for run in runs if run.whole]))
    sections = (Section("", tuple(parts)), lying, Section("In numbers", (table(scores),)))
    return Answer(said, tuple(metrics(scores, model, scheme)), sections, tuple(numbers(rows)))


def numbers(rows: FoldPredictions) -> Iterator[Quantity]:
    """What can be bounded: macro F1 and accuracy of every scheme and model."""
    for name, metric in (("score", ScoredBy()), ("accuracy", ScoredBy("accuracy"))):
        for row in fold_performance(rows, metric=metric).schemes:
            of, mean = (row.scheme, row.model), row.mean
            yield Quantity(f"cluster_folds.{name}", of, mean.value, mean.interval, row.n, rows.design.others)


def verdict(
    scores: FoldPerformance,
    *,
    model: str,
    scheme: str | None,
    relations: Sequence[Relation] = (),
    foretold: Sequence[Foretold] = (),
    shifts: Sequence[LabelShift] = (),
) -> Verdict:
    """What is said of one model on one scheme, with what known sources foretell."""
    return fold_verdict(
        scores,
        model=model,
        scheme=scheme,
        names=MODEL_TITLES,
        relations=relations,
        foretold=(*foretold_on_sources(scores), *foretold),
        shifts=shifts,
    )


def metrics(scores: FoldPerformance, model: str, scheme: str | None) -> list[Metric]:
    """The score on the folds in question and on the benchmark, the difference, and how far folds lie apart."""
    rows = [row for row in scores.schemes if row.model == model]
    row = next((row for row in rows if row.scheme == scheme), rows[-1] if rows else None)
    if row is None:
        return [_unfinished(run) for run in scores.runs if run.model == model]
    of = next((each for each in scores.differences if (each.model, each.scheme) == (model, row.scheme)), None)
    base = scores.of(of.other, model) if of else None
    told = [_mean(scores, row)]
    if of is not None and base is not None:
        told += [
            _mean(scores, base),
            Metric(
                "Difference",
                points(of.difference.value),
                brackets(points, of.difference.value, of.difference.interval),
                f"Paired: the same samples in both schemes. The interval, 95 %, is over {scores.design.others}.",
            ),
        ]
    if all(len(run.folds) < 2 for run in scores.runs_of(row.scheme, model)):
        return told  # one split has no spread
    spread = f"{fixed(100 * row.std, 1)} points"
    beside = f"{scheme_title(base.scheme)}: {fixed(100 * base.std, 1)}" if base else ""
    meaning = "The population standard deviation over folds, as in the paper (mean over seeds)."
    return [*told, Metric("Spread of folds", spread, beside, meaning)]


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


def seed_figure(scores: FoldPerformance, rows: Sequence[SchemeScore]) -> Figure:
    """The seeds of every scheme."""
    return Figure(
        "seeds-chart",
        partial(figures.seeds_chart, scores, rows),
        f"Each mark is a seed: the mean over its folds, with the interval over {scores.design.others}. The spread of "
        "seeds shows how much one seed depends on chance.",
    )


def class_figure(scores: FoldPerformance, shown: Sequence[RunScore]) -> Figure:
    """F1 of every class."""
    return Figure(
        "classes",
        partial(figures.class_scores, scores, shown[:MOST_BY_CLASS]),
        "F1 of each class over all folds, the lowest on top.",
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
        "relation",
        partial(figures.relation_chart, scores, runs, characteristics, name),
        _told(relations, name),
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
    )


def table(scores: FoldPerformance) -> Table:
    """A row for each model, scheme and seed, as the paper's tables have it, with every fold."""
    lines = [
        {
            "Model": MODEL_TITLES.get(run.model, run.model),
            "Folds": scheme_title(run.scheme),
            "Seed": str(run.seed),
            "By fold (%)": "  ".join(fixed(100 * fold.score.value, 1) for fold in run.folds),
            "Mean (%)": percent(run.mean.value, run.mean.interval).replace(" %", ""),
            "Majority (%)": fixed(100 * run.majority, 1),
            "Std": fixed(100 * run.std, 1),
            "Accuracy (%)": fixed(100 * run.accuracy.value, 1),
            "Majority accuracy (%)": fixed(100 * run.majority_accuracy, 1),
            "n": count(run.mean.n),
        }
        for run in scores.runs
    ]
    return Table("Scores of every run, by fold", pd.DataFrame(lines))


def _mean(scores: FoldPerformance, row: SchemeScore) -> Metric:
    value = percent(row.mean.value)
    metric = scores.metric.title
    baseline = "" if np.isnan(row.majority) else f"majority-class baseline {percent(row.majority)}"
    return Metric(
        scheme_title(row.scheme),
        value,
        brackets(percent, row.mean.value, row.mean.interval),
        f"Mean {metric} over folds{' and seeds' * (len(row.seeds) > 1)}, n = {count(row.n)}. The interval, 95 %, is "
        f"over {scores.design.others}.",
        baseline,
    )


def _unfinished(run: RunScore) -> Metric:
    title, done = scheme_title(run.scheme), count(len(run.folds))
    if not run.folds_known:
        return Metric(title, done, "folds tested, of how many is not known")
    return Metric(title, f"{done} of {count(run.n_folds_wanted)}", "folds tested")


def _told(relations: Sequence[Relation], name: str) -> str:
    related = [
        f"{scheme_title(of.scheme)} r {bare(of.r, 2)}, {p_value(of.p_holm)}"
        for of in relations
        if of.characteristic == name
    ]
    few = "A few folds show only the strongest correlations. p is corrected for all characteristics (Holm)."
    return f"{'; '.join(related)}. {few}" if related else f"The same in all folds, or no correlation. {few}"
