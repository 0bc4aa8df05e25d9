"""Where is the model weak?"""

from functools import partial
from pathlib import Path

import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.metric_estimates import classes_of, metrics_given
from touchstone.core.evaluate.weak_slices import WeakSlices
from touchstone.core.parameters import About
from touchstone.core.report import weak_slices as report
from touchstone.core.workspace import View
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.predictions import beside, compared
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import answer, background, downloads, page, share
from touchstone.ui.weak_slices import results

HOW_TO_READ = Path(__file__).with_suffix(".md")
SIDES = (prediction_choice.TEST_SET,)


def show(judged: WeakSlices, predictions: Predictions, dataset: Dataset | None) -> None:
    """The verdict, the slices, and the samples of one; and all to take away."""
    shown = report.answer(judged)
    answer.show(shown)
    with st.container(gap="xsmall"):
        results.show(judged, shown, predictions, dataset)
        page.how_to_read(HOW_TO_READ)
    downloads.of_answer("weak_slices", view.title, shown, rests_on)
    described = "" if dataset is None else f"described by {dataset.name}"
    page.rests_on(("A file of predictions", *results.chosen_of(chosen), described), rests_on, key="slices")


page.lead(
    "Rules of one or two conditions, such as “duration >= 65 and region = north”, that pick samples on which the model "
    "is weaker. One half of the samples finds them, the other judges them. It does not say why the model is weak there."
)
card = prediction_choice.cards(SIDES)["target"]
if card is None:
    prediction_choice.begin(
        "Upload the predictions of a model in a file that has columns beside them, such as age, site or the text. A "
        "stored data set of the same samples describes them, too. Or open the example: a small model of digits.",
        partial(prediction_choice.use_example, "digits_own"),
    )
    compared.lead_to_newest("weak_slices")
    page.how_to_read(HOW_TO_READ)
else:
    try:
        chosen = prediction_choice.one_file(card)
        predictions = beside.predictions_of(chosen)
        prediction_choice.about(({"": predictions},), {"target": card}, SIDES)
        about = About(classes=classes_of(predictions, predictions), metrics=metrics_given(predictions, predictions))
        plan = plan_form(results.SlicePlan, about)[0]
        with st.spinner("Reading"):
            dataset = results.data_set_of(chosen)
        view: View = results.view_of(chosen, dataset, plan)
        rests_on = results.rests_on(chosen, dataset, plan)
        command = (f"Command: finds them in a terminal{share.FOLDER}", results.command_of(chosen, plan))
        share.offer(None, view.settings, view=view, commands=(command,))
        judged = background.answer(results.slices(chosen, dataset, plan), "Looking for slices", key="slices")
    except DataError as problem:
        page.error(problem)
    else:
        page.nothing_yet(running=True) if judged is None else show(judged, predictions, dataset)
