"""Is the new model better, on the same samples?"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.data.predictions.record import PredictionPairs
from touchstone.core.data.predictions.same_samples import could_be_either
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.core.evaluate.metric_estimates import classes_of, metrics_given
from touchstone.core.evaluate.model_comparison import PAIRED, ComparisonPlan, ModelComparison
from touchstone.core.parameters import About
from touchstone.core.report import matched_subsets, model_comparison
from touchstone.core.workspace import View
from touchstone.ui import page_file
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.model_comparison import changed, results
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import answer, background, downloads, page, share

HOW_TO_READ = Path(__file__).with_suffix(".md")
SIDES = prediction_choice.MODELS


def about(files: PredictionPairs) -> About:
    """What the form is about: the classes and metrics of the first model of each file."""
    sides = next(iter(files.references.values())), next(iter(files.targets.values()))
    return About(classes=classes_of(*sides), metrics=metrics_given(*sides))


def show(compared: ModelComparison, view: View, sets: TwoSets) -> None:
    """The verdict, and what changed; and all to take away."""
    shown = model_comparison.answer(compared)
    answer.show(shown)
    if not compared.models.common.is_whole:
        as_test_sets(sets, "Samples of one file alone are left out. Compare the files as test sets")
    with st.container(gap="xsmall"):
        answer.fold(shown.section("pairs"))
        changed.show(compared, shown, sets)
        for key in ("metrics", "table"):
            answer.fold(shown.section(key))
        results.sizes(compared)
        page.how_to_read(HOW_TO_READ)
    rests_on = matched_subsets.rests_on(sets, MatchingPlan(), page.versions())
    downloads.of_answer("model_comparison", view.title, shown, rests_on)
    page.rests_on(("Files of predictions", *matched_subsets.chosen_of(sets)), rests_on, key="comparing")


def other_samples(sets: TwoSets) -> None:
    """What to do with files of different samples, and a question where nothing tells what they are."""
    if could_be_either([next(iter(models.values())) for models in results.models_of_sides(sets)]):
        page.empty(
            "These files have no ids, and the same true classes in one sorted order: are they of the same samples?",
            button="They are, row by row",
            on_click=partial(st.session_state.__setitem__, "design", PAIRED),
        )
        return
    page.empty(
        "These files are of different samples, as far as ids, inputs and true classes tell. Models are compared on the "
        "same ones: give both files a column of ids. Two test sets are compared on another page."
    )
    as_test_sets(sets, "Compare them as test sets")


def as_test_sets(sets: TwoSets, label: str) -> None:
    """The way to the page of two test sets."""
    link, of_two = page_file("matched_subsets"), replace(sets, further=()).parameters
    st.page_link(link, label=label, icon=":material/arrow_forward:", help="", query_params=of_two)


page.lead(
    "Two models or more on the same samples, compared sample by sample: what both get right or wrong does not count. "
    "Prediction files are enough, with the same ids, texts or order. It does not check their labels."
)
chosen = prediction_choice.cards(SIDES)
reference, target = chosen["reference"], chosen["target"]
if reference is None or target is None:
    prediction_choice.begin(
        "Upload the predictions of two models on the same samples: a file each, or one file with a column for each "
        "model, in both places. Models that are stored here need no file. Or open the example: two small models on "
        "the same digits.",
        partial(prediction_choice.use_examples, "digits_fewer", "digits_own"),
    )
    compared.lead_to_newest("model_comparison")
    with st.container(gap="xsmall"):
        results.sizes()
        page.how_to_read(HOW_TO_READ)
else:
    try:
        sets = prediction_choice.two_sets(chosen, SIDES)
        pairs = PredictionPairs(*results.models_of_sides(sets)[:2])
        prediction_choice.about((pairs.references, pairs.targets), chosen, SIDES)
        known = prediction_choice.stored_titles()
        titles = (reference.title, target.title, *(known[file] for file in sets.further))
        plan = plan_form(ComparisonPlan, about(pairs))[0]
        if results.models_on(sets, titles, plan.positive, plan.design) is None:
            other_samples(sets)
            page.how_to_read(HOW_TO_READ)
        else:
            parameters = {name: [value] for name, value in sets.parameters.items()}
            parameters |= plan_parameters(plan, about(pairs)) or {}
            named = prediction_choice.names(sets.parameters)
            view = View("model_comparison", parameters, named, predictions=sets.files)
            share.offer(
                None,
                view.settings,
                view=view,
                commands=((f"Command: compares them in a terminal{share.FOLDER}", results.command_of(sets, plan)),),
            )
            compared = background.answer(results.comparison(sets, titles, plan), "Comparing", key="comparison")
            page.nothing_yet(running=True) if compared is None else show(compared, view, sets)
    except DataError as problem:
        page.error(problem)
