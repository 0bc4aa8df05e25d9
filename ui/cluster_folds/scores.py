"""How do models fare on the folds? The verdict, every fold with its interval, seeds, classes, and what goes with it."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.cluster_folds import FoldPerformance, Foretold, Metric, scheme_title
from touchstone.core.report import cluster_folds as report
from touchstone.core.report.parts import Answer
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.work import Folded, Related
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import answer, background, page

_AGAINST = "against"


def show(folded: Folded, metric: Metric, foretold: tuple[Foretold, ...] = (), *, finished: bool) -> Answer:
    """Everything about scores, for one model; details wait until all trials are done. Gives what it shows."""
    scores = results.performance(folded, metric)
    model, scheme = _about(scores)
    card = st.container()
    related = _related(folded, scores) if finished else None
    shown = report.answer(
        scores,
        folded.rows,
        model=model,
        scheme=scheme,
        relations=related.relations if related else (),
        foretold=foretold,
        shifts=related.shifts if related else (),
        finished=finished,
    )
    with card:  # what to do next is said when all is known
        answer.show(shown, finished=finished)
    if finished:
        details = partial(_details, scores, model, scheme, related)
        page.fold("Seeds, classes and characteristics", details, key="fold-details", asked_by=(_AGAINST,))
    return shown


def characteristics(folded: Folded, metric: Metric) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of characteristics, once they are measured."""
    measured = results.relations(folded, metric).future
    if not measured.done():
        return {}
    known = measured.result().characteristics
    return {"Characteristics": lambda: known.assign(fold=known["fold"] + 1)}


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
    for drawn in report.seed_figures(scores, model):
        answer.part(drawn)
    shown = report.whole_runs(scores, model)
    if not shown:
        return
    classes, beside = st.columns(2, gap="medium")
    with classes:
        answer.part(report.class_figure(scores, shown))
    with beside:
        if related is None or not len(related.characteristics):
            return
        names = _worth_showing(related.characteristics)
        relations = [relation for relation in related.relations if relation.model == model]
        strongest = sorted(relations, key=lambda relation: (relation.scheme != scheme, -abs(relation.r)))
        first = next((relation.characteristic for relation in strongest if relation.characteristic in names), names[0])
        name = choose(_AGAINST, "Score against", {name: name for name in names}, first)
        runs = [run for run in scores.runs if run.model == model and run.whole]
        page.draw(report.relation_figure(scores, runs, related.characteristics, name, strongest))


def _worth_showing(characteristics: pd.DataFrame) -> list[str]:
    names = [name for name in characteristics.columns if name not in ("scheme", "seed", "fold")]
    return [name for name in names if bool(characteristics[name].notna().to_numpy().all())]
