"""Does the test set cover the feature space? (Mani et al. 2019, sections 4.2, 5.2 and 5.3)"""

from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.test_quality.quality import Looked, TestQuality, curves_table
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.report import test_quality as report
from touchstone.core.workspace import Run, StoredModel
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell import answer, background, downloads, page, share
from touchstone.ui.test_quality import results

MOST_FINDINGS = 3


def show(looked: Looked, quality: TestQuality) -> None:
    """The verdict, what the test set could have missed, and folded what it rests on; then what moved."""
    shown = report.answer(quality, is_drawn=looked.parts.is_drawn)
    answer.show(shown, most=MOST_FINDINGS)
    results.link_to_guided_tests(about | {data_choice.ADDRESS: dataset.fingerprint})
    with st.container(gap="xsmall"):
        answer.folds(shown, {"confusions": partial(results.confusions, looked, quality)})
        named, others = models_beside(looked, quality)
        pair = two_classes(looked, quality)
        page.fold("Every sample", partial(results.every_sample, looked), key="numbers")
    details = (*report.rests_on(looked, quality, model), ("Versions", page.versions()))
    files = {"Samples": partial(results.sample_table, looked), "Curves": partial(curves_table, looked)}
    downloads.of_answer("test_quality", data_choice.required().title, shown, details, files=files)
    run, plan = shift(looked)
    settled = about | (stored_parameters(plan) or {})
    view = results.view(model, others, settled, run)
    share.offer(plan if run else None, settled | named | pair, view=view)
    parts = f"{count(quality.n_train)} training and {plural(quality.n_test, 'test sample')}"
    page.rests_on((parts, f"layer {looked.parts.layer}"), details, key="quality")


def models_beside(looked: Looked, quality: TestQuality) -> tuple[dict[str, list[str]], list[StoredModel]]:
    """Other models beside this one; open where the address names some."""
    title, opened = "How do classes differ, for this and other models?", results.BESIDE in st.query_params
    shown = page.fold(title, lambda: results.show_beside(looked, quality, model), key="beside", opened=opened)
    return shown or ({}, [])


def two_classes(looked: Looked, quality: TestQuality) -> dict[str, list[str]]:
    """Two classes in a plane, with what rests on the thresholds; open where the address names them."""
    title = "How close are two classes, and how much depends on thresholds?"

    def draw() -> dict[str, list[str]]:
        label, rival, pair = results.choose_pair(quality)
        results.show_pair(looked, label, rival)
        curves = background.answer(results.curves(looked), "Computing every threshold", key="curves")
        if curves is not None:
            results.show_curves(curves, quality, label)
        return pair

    return page.fold(title, draw, key="two-classes", opened=results.CLASS in st.query_params) or {}


def shift(looked: Looked) -> tuple[Run | None, results.CovariateShiftPlan]:
    """Covariate shift: a classifier's answer at once, the paper's divergence as a run."""
    st.subheader(results.SHIFT, anchor=False)
    with st.container(gap="xsmall"):
        classifier = results.show_separation(looked)
        plan = results.shift_plan(dataset, model, looked.choice.layer)
        return results.show_shift(dataset, plan, classifier), plan


page.lead(
    "Whether test samples cover typical inputs and class boundaries, as seen in a layer of a model. It does not "
    "check labels, or inputs that nobody collected."
)
dataset = data_choice.dataset()
model = model_choice.choose(dataset, records=True)
if model is None:
    page.how_to_read(__file__)
    st.stop()
try:
    choice = results.region_choice(model_choice.layers(dataset, model))
    about = model_choice.parameters(model) | results.region_parameters(choice)
    share.offer(None, about)
    parts = background.answer(
        model_choice.layer_samples(dataset, model, choice.layer), "Reading the layer of every sample", key="layer"
    )
    if parts is None:
        page.nothing_yet(running=True)
        st.stop()
    for note in parts.notes:
        st.caption(page.plain(note))
    looked = Looked(dataset, parts, choice, model_choice.parts_name(dataset, model, choice.layer))
    quality = background.answer(results.quality(looked), "Measuring the test set", key="quality")
    page.nothing_yet(running=True) if quality is None else show(looked, quality)
except DataError as problem:
    page.error(problem)
page.how_to_read(__file__)
