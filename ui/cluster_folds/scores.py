"""How do models fare on the folds? The verdict, every fold with its interval, seeds, classes, and what goes with it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.cluster_folds import (
    FoldPerformance,
    Foretold,
    Metric,
    RunScore,
    scheme_title,
)
from touchstone.core.evaluate.wording import plural
from touchstone.core.report import cluster_folds as report
from touchstone.core.report.parts import Answer
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.trials import FoldPlan
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.work import Folded, Related
from touchstone.ui.data_sets import views
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import background, page

_AGAINST = "against"


def show(
    folded: Folded, metric: Metric, foretold: tuple[Foretold, ...] = (), *, finished: bool
) -> Callable[[], Answer]:
    """Everything about scores, for one model; details wait until all trials are done. Gives the same for a report."""
    scores = results.performance(folded, metric)
    model, scheme = _about(scores)
    card = st.container()
    page.draw(report.performance_figure(scores, model))
    related = _related(folded, scores) if finished else None
    relations = related.relations if related else ()
    besides = {"relations": relations, "foretold": foretold, "shifts": related.shifts if related else ()}
    verdict = report.verdict(scores, model=model, scheme=scheme, **besides)
    with card:  # what to do next is said when all is known
        page.verdict(verdict if finished else replace(verdict, advice=""), report.metrics(scores, model, scheme))
    if finished:
        page.findings(verdict, most=4)
        details = partial(_details, scores, model, scheme, related)
        page.fold("Seeds, classes and characteristics", details, key="fold-details", asked_by=(_AGAINST,))
    return partial(report.answer, scores, folded.rows, model=model, scheme=scheme, **besides)


def nothing_computed(plan: FoldPlan, ahead: str) -> None:
    """What stands where no folds have been made of this choice."""
    then = f", then trains {plural(len(plan.models), 'model')} on all but one and tests on that one" * bool(plan.models)
    page.not_computed(f"**Run** makes the folds{then}: {ahead}")


def summary(scores: FoldPerformance) -> None:
    """A row for each model, scheme and seed, as the paper's tables have it, with every fold."""
    table = report.table(scores)
    config = {
        "By fold (%)": st.column_config.TextColumn(width="large", help=f"{scores.metric.title} of fold 1, 2, ..."),
        "Mean (%)": st.column_config.TextColumn(help=f"Mean over folds, 95 % interval over {scores.design.others}"),
        "Majority (%)": st.column_config.TextColumn(help="Always predicting the class most frequent in training"),
        "Std": st.column_config.TextColumn(help="Population standard deviation over folds, in points"),
    }
    st.dataframe(table.lines, column_config=config, hide_index=True, alt=table.title)


def tables(folded: Folded, scores: FoldPerformance) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of scores, by title; of characteristics once they are measured."""
    frames = {"Folds": scores.table, "Runs": scores.summary, "Classes": scores.class_table}
    if scores.differences:
        frames["Differences"] = scores.difference_table
    measured = results.relations(folded, scores.metric).future
    if measured.done():
        known = measured.result().characteristics
        frames["Characteristics"] = lambda: known.assign(fold=known["fold"] + 1)
    return frames


def _about(scores: FoldPerformance) -> tuple[str, str | None]:
    """The model and scheme that the verdict is about; controls only where there are several."""
    schemes = dict.fromkeys(each.scheme for each in scores.differences)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = choose("foldmodel", "Model", {name: MODEL_TITLES.get(name, name) for name in scores.models})
        titles = {name: scheme_title(name) for name in schemes}
        return model, choose("about", "The verdict is about", titles) if titles else None


def _related(folded: Folded, scores: FoldPerformance) -> Related | None:
    task = results.relations(folded, scores.metric)
    return background.answer(task, "Measuring how far folds lie from the rest", key="relations")


def _details(scores: FoldPerformance, model: str, scheme: str | None, related: Related | None) -> None:
    """Seeds, classes and characteristics, two by two."""
    runs = [run for run in scores.runs if run.model == model and run.whole]
    shown = report.first_seed(runs)
    rows = [row for row in scores.schemes if row.model == model]
    if any(len(row.seeds) > 1 for row in rows):
        page.draw(report.seed_figure(scores, rows))
    if not shown:
        return
    classes, beside = st.columns(2, gap="medium")
    with classes:
        _classes(scores, shown)
    with beside:
        if related is None or not len(related.characteristics):
            return
        names = _worth_showing(related.characteristics)
        relations = [relation for relation in related.relations if relation.model == model]
        strongest = sorted(relations, key=lambda relation: (relation.scheme != scheme, -abs(relation.r)))
        first = next((relation.characteristic for relation in strongest if relation.characteristic in names), names[0])
        name = choose(_AGAINST, "Score against", {name: name for name in names}, first)
        page.draw(report.relation_figure(scores, runs, related.characteristics, name, strongest))


def _worth_showing(characteristics: pd.DataFrame) -> list[str]:
    names = [name for name in characteristics.columns if name not in ("scheme", "seed", "fold")]
    return [name for name in names if bool(characteristics[name].notna().to_numpy().all())]


def _classes(scores: FoldPerformance, shown: Sequence[RunScore]) -> None:
    drawn = report.class_figure(scores, shown)
    views.in_a_box(len(scores.class_names), lambda: page.draw(drawn), key="classes-box")
