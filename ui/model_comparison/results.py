"""What came of comparing models on the same samples, and how many samples would show a difference?"""

from collections.abc import Callable
from functools import partial

import streamlit as st

from touchstone.core.command.given_files import compare_command, settled
from touchstone.core.data import DataError
from touchstone.core.data.predictions.record import WHOLE, Predictions, models_in
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.core.evaluate.model_comparison import (
    PAIRED,
    RECOGNISED,
    ComparisonPlan,
    ModelComparison,
    models_of,
    named_models,
    pilot,
)
from touchstone.core.evaluate.sample_sizes import GUESSED, SizePlan
from touchstone.core.parameters import ANYTHING, asked
from touchstone.core.report import model_comparison as report
from touchstone.core.report import sample_sizes
from touchstone.ui import cache, page_file
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.predictions import compared
from touchstone.ui.predictions.choice import table_of
from touchstone.ui.shell import answer, page
from touchstone.ui.shell.background import Work


def models_of_sides(sets: TwoSets) -> list[dict[str, Predictions]]:
    """The models of both files on the chosen parts of them, and of further files."""
    parts = (sets.reference_part, sets.target_part, *(WHOLE for _ in sets.further))
    return [models_in(table_of(file), part, sets.task) for file, part in zip(sets.files, parts, strict=True)]


@cache.result(max_entries=8)
def models_on(sets: TwoSets, titles: tuple[str, ...], positive: str | None = None, design: str = RECOGNISED):
    """The models of files on their common samples, called by the files' titles; None of different samples."""
    return models_of(named_models(models_of_sides(sets), titles), design, positive=positive)


def lead(sets: TwoSets, titles: tuple[str, ...]) -> None:
    """On the page of two test sets: that these are of the same samples, and the way to compare them in pairs."""
    try:
        same = models_on(sets, titles) is not None
    except DataError:
        return
    if same:
        st.page_link(
            page_file("model_comparison"),
            label="Both files hold the same samples: compare their models sample by sample",
            icon=":material/arrow_forward:",
            help="",
            query_params=sets.parameters,
        )


@cache.task(max_entries=8)
def comparison(sets: TwoSets, titles: tuple[str, ...], plan: ComparisonPlan) -> Work[ModelComparison]:
    """All of them compared. Raises DataError for files of different samples."""
    models, known = models_on(sets, titles, plan.positive, plan.design), compared.known("model_comparison")
    if models is None:
        raise DataError("These files are of different samples, as far as their ids and true classes tell.")

    def compare(step: Callable[[], None]) -> ModelComparison:
        made = plan.compare(models)
        compared.keep(known, "model_comparison", sets, plan, report.answer(made))
        return made

    return Work(compare)


def command_of(sets: TwoSets, plan: ComparisonPlan) -> str:
    """The command that compares the models of stored files."""
    options = settled(sets, MatchingPlan(metric=plan.metric, positive=plan.positive))
    options |= {"margin": plan.margin} if plan.margin else {}
    options |= {"design": plan.design} if plan.design == PAIRED else {}
    return compare_command({"reference": sets.reference, "target": sets.target}, options, sets.further)


# How many samples would show a difference? Before they are labelled, by guesses or by the files as a pilot.


def sizes(known: ModelComparison | None = None) -> None:
    """The fold that plans samples; what is `known` of two models answers what is guessed otherwise."""
    page.fold("How many samples are needed?", partial(_sizes, known), key="sizes")


def _sizes(known: ModelComparison | None) -> None:
    try:
        goals = st.container()
        if known is None:
            st.caption("Guesses. Two files of predictions on the same samples answer them.")
            guessed, _ = plan_form(SizePlan, ANYTHING, form=GUESSED, key="guesses", border=False)
            guesses = {each.field: getattr(guessed, each.field) for each in asked(SizePlan) if each.ask.form}
        else:
            guesses = pilot(known, known.against_reference[0])
        with goals:
            plan, _ = plan_form(SizePlan, ANYTHING, settled=guesses, key="goals", border=False)
        shown = sample_sizes.answer(plan, known)
        assert shown.verdict is not None
        st.markdown(f"**{page.plain(shown.verdict.headline)}**")
        sentences = (*shown.verdict.findings, shown.verdict.used, shown.verdict.advice)
        answer.parts((*sentences, *shown.sections[0].parts))
    except DataError as problem:
        page.error(problem)
