"""How do models fare on the folds? The verdict, every fold with its interval, seeds, classes, and what goes with it."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from core.evaluate.cluster_folds import (
    FoldPerformance,
    Foretold,
    Metric,
    Relation,
    RunScore,
    SchemeScore,
    fold_verdict,
    foretold_on_sources,
    scheme_title,
)
from core.evaluate.wording import bare, count, fixed, p_value, percent, plural, points
from core.figures import cluster_folds as figures
from core.trials import FoldPlan
from ui import background, cache, data_views, page
from ui.controls import MODEL_TITLES
from ui.fold_choice import choose
from ui.fold_work import Folded, Related

MOST_BY_CLASS = 3
"""More schemes in the figure of classes would hide one another."""


def show(folded: Folded, metric: Metric, foretold: tuple[Foretold, ...] = (), *, finished: bool) -> None:
    """Everything about scores, for one model; details wait until all trials are done."""
    scores = cache.fold_performance(folded, metric)
    model, scheme = _about(scores)
    card = st.container()
    runs = [run for run in scores.runs if run.model == model]
    first = runs[0].seed
    shown = [run for run in runs if run.seed == first]
    page.figure(
        figures.performance_chart(scores, shown, dark=page.dark()),
        "Each mark is a fold with its 95 % interval over samples; line and band are the mean over folds. Folds of "
        f"different schemes are not the same folds.{f' Seed {first}.' * (len({run.seed for run in runs}) > 1)}",
        key="performance",
    )
    related = _related(folded, scores) if finished else None
    said = fold_verdict(
        scores,
        model=model,
        scheme=scheme,
        names=MODEL_TITLES,
        relations=related.relations if related else (),
        foretold=(*foretold_on_sources(scores), *foretold),
    )
    with card:
        page.verdict(said, metrics(scores, model, scheme))
    if finished:
        page.findings(said)
        _details(scores, model, scheme, related)


def metrics(scores: FoldPerformance, model: str, scheme: str | None) -> list[page.Metric]:
    """The score on the folds in question and on the benchmark, the difference, and how far folds lie apart."""
    rows = [row for row in scores.schemes if row.model == model]
    row = next((row for row in rows if row.scheme == scheme), rows[-1] if rows else None)
    if row is None:
        return [_unfinished(run) for run in scores.runs if run.model == model]
    of = next((each for each in scores.differences if (each.model, each.scheme) == (model, row.scheme)), None)
    base = scores.of(of.other, model) if of else None
    told = [_mean(scores, row)]
    if of is not None and base is not None:
        apart = points(of.difference.value, of.difference.interval)
        told += [
            _mean(scores, base),
            page.Metric(
                "Difference",
                points(of.difference.value),
                apart.removeprefix(points(of.difference.value)).strip(),
                "Paired: the same samples in both schemes. The interval, 95 %, is over samples.",
            ),
        ]
    if all(len(run.folds) < 2 for run in scores.runs_of(row.scheme, model)):
        return told  # one split has no spread
    spread = f"{fixed(100 * row.std, 1)} points"
    beside = f"{fixed(100 * base.std, 1)} on {scheme_title(base.scheme)}" if base else ""
    meaning = "The population standard deviation over folds, as in the paper (mean over seeds)."
    return [*told, page.Metric("Spread of folds", spread, beside, meaning)]


def nothing_computed(plan: FoldPlan, n_trials: int) -> None:
    """What stands where no folds have been made of this choice."""
    then = f", then trains {plural(len(plan.models), 'model')} on all but one and tests on that one" * bool(plan.models)
    page.empty(
        f"Nothing has been computed for this choice yet. **Run** makes the folds{then}: {plural(n_trials, 'trial')}, "
        "in the background."
    )


def summary(scores: FoldPerformance) -> None:
    """A row for each model, scheme and seed, as the paper's tables have it, with every fold."""
    lines = [
        {
            "Model": MODEL_TITLES.get(run.model, run.model),
            "Folds": scheme_title(run.scheme),
            "Seed": run.seed,
            "By fold (%)": "  ".join(fixed(100 * fold.score.value, 1) for fold in run.folds),
            "Mean (%)": percent(run.mean.value, run.mean.interval).replace(" %", ""),
            "Std": fixed(100 * run.std, 1),
            "Accuracy (%)": fixed(100 * run.accuracy.value, 1),
            "n": count(run.mean.n),
        }
        for run in scores.runs
    ]
    config = {
        "By fold (%)": st.column_config.TextColumn(width="large", help=f"{scores.metric.title} of fold 1, 2, ..."),
        "Mean (%)": st.column_config.TextColumn(help="Mean over folds, 95 % interval over samples"),
        "Std": st.column_config.TextColumn(help="Population standard deviation over folds, in points"),
    }
    st.dataframe(pd.DataFrame(lines), column_config=config, hide_index=True, alt="Scores of every run, by fold")


def tables(folded: Folded, scores: FoldPerformance) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of scores, by title; of characteristics once they are measured."""
    found = {"Folds": scores.table, "Runs": scores.summary, "Classes": scores.class_table}
    if scores.differences:
        found["Differences"] = scores.difference_table
    measured = cache.fold_relations(folded, scores).future
    if measured.done():
        known = measured.result().characteristics
        found["Characteristics"] = lambda: known.assign(fold=known["fold"] + 1)
    return found


def _mean(scores: FoldPerformance, row: SchemeScore) -> page.Metric:
    value = percent(row.mean.value)
    metric = scores.metric.title
    return page.Metric(
        scheme_title(row.scheme),
        value,
        percent(row.mean.value, row.mean.interval).removeprefix(value).strip(),
        f"Mean {metric} over folds{' and seeds' * (len(row.seeds) > 1)}, n = {count(row.n)}. The interval, 95 %, is "
        "over samples.",
    )


def _unfinished(run: RunScore) -> page.Metric:
    title, done = scheme_title(run.scheme), count(len(run.folds))
    if not run.folds_known:
        return page.Metric(title, done, "folds tested, of how many is not known")
    return page.Metric(title, f"{done} of {count(run.n_folds_wanted)}", "folds tested")


def _about(scores: FoldPerformance) -> tuple[str, str | None]:
    """The model and scheme that the verdict is about; controls only where there are several."""
    schemes = dict.fromkeys(each.scheme for each in scores.differences)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = choose("foldmodel", "Model", {name: MODEL_TITLES.get(name, name) for name in scores.models})
        titles = {name: scheme_title(name) for name in schemes}
        return model, choose("about", "The verdict is about", titles) if titles else None


def _related(folded: Folded, scores: FoldPerformance) -> Related | None:
    task = cache.fold_relations(folded, scores)
    return background.answer(task, "Measuring how far folds lie from the rest", key="relations")


def _details(scores: FoldPerformance, model: str, scheme: str | None, related: Related | None) -> None:
    """Seeds, classes and characteristics, two by two."""
    runs = [run for run in scores.runs if run.model == model and run.whole]
    shown = [run for run in runs if run.seed == runs[0].seed]
    rows = [row for row in scores.schemes if row.model == model]
    if any(len(row.seeds) > 1 for row in rows):
        page.figure(
            figures.seeds_chart(scores, rows, dark=page.dark()),
            "Each mark is a seed: the mean over its folds, with the interval over samples. How far seeds scatter is "
            "the luck of one of them.",
            key="seeds-chart",
        )
    if not shown:
        return
    classes, beside = st.columns(2, gap="medium")
    with classes:
        _classes(scores, shown)
    with beside:
        if related is None or not len(related.characteristics):
            return
        names = _worth_showing(related.characteristics)
        told = [of for of in related.relations if of.model == model]
        strongest = sorted(told, key=lambda of: (of.scheme != scheme, -abs(of.r)))
        first = next((of.characteristic for of in strongest if of.characteristic in names), names[0])
        name = choose("against", "Score against", {name: name for name in names}, first)
        page.figure(
            figures.relation_chart(scores, runs, related.characteristics, name, dark=page.dark()),
            page.plain(_told(strongest, name)),
            key="relation",
        )


def _worth_showing(characteristics: pd.DataFrame) -> list[str]:
    names = [name for name in characteristics.columns if name not in ("scheme", "seed", "fold")]
    return [name for name in names if bool(characteristics[name].notna().to_numpy().all())]


def _told(relations: Sequence[Relation], name: str) -> str:
    told = [
        f"{scheme_title(of.scheme)} r {bare(of.r, 2)}, {p_value(of.p_holm)}"
        for of in relations
        if of.characteristic == name
    ]
    few = "A handful of folds shows only the strongest of ties; p is corrected for all characteristics."
    return f"{'; '.join(told)}. {few}" if told else f"The same in all folds, or nothing to tell. {few}"


def _classes(scores: FoldPerformance, shown: Sequence[RunScore]) -> None:
    figure = figures.class_scores(scores, shown[:MOST_BY_CLASS], dark=page.dark())
    caption = "F1 of each class over all folds, the lowest on top."
    n_classes = len(scores.class_names)
    data_views.in_a_box(n_classes, lambda: page.figure(figure, caption, key="classes"), key="classes-box")
