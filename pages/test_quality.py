"""Does the test set cover the feature space? (Mani et al. 2019, sections 4.2, 5.2 and 5.3)"""

from pathlib import Path

import streamlit as st

from core.data import DataError
from core.evaluate.test_quality import TestQuality
from core.workspace.run import Run
from ui.data import choice as data_choice
from ui.forms.plan_form import stored_parameters
from ui.models import choice as model_choice
from ui.models import results as model_results
from ui.shell import background, page, share
from ui.test_quality import beside, controls, look, pairs, results, table
from ui.test_quality import shift as test_quality_shift
from ui.test_quality.work import Looked

HOW_TO_READ = Path(__file__).with_suffix(".md")


def show(looked: Looked, found: TestQuality) -> None:
    """The verdict, what it rests on class by class, model by model, pair by pair, and what moved."""
    said = look.card(found)
    look.what_to_do(found, about | {data_choice.ADDRESS: dataset.fingerprint})
    look.classes(found)
    page.findings(said)
    st.subheader("How do classes differ, here and with other models?", anchor=False)
    named, others = beside.beside(looked, found, model)
    pairs.heat_map(found)
    st.subheader("How do two classes lie to one another?", anchor=False)
    label, rival, pair = pairs.choose(found)
    pairs.plane(looked, label, rival)
    curves = background.answer(results.curves(looked), "Measuring at every threshold", key="curves")
    if curves is not None:
        look.curves(curves, found, label)
    run, plan = shift(looked)
    table.in_numbers(looked, found, curves, results.class_pair(looked, label, rival))
    settled = about | (stored_parameters(plan) or {})
    view = beside.view(model, others, settled, run)
    share.offer(plan if run else None, settled | named | pair, view=view)
    table.foot(looked, found, model)
    if run is not None:
        page.foot(run)


def shift(looked: Looked) -> tuple[Run | None, test_quality_shift.CovariateShiftPlan]:
    """Covariate shift, which is a run."""
    st.subheader("Have classes moved from training to test?", anchor=False)
    plan = test_quality_shift.plan_of(dataset, model, looked.choice.layer)
    return test_quality_shift.show(dataset, plan), plan


page.lead(
    "Whether test samples lie where a model is unsure as well as where it is sure, in a layer of it. It cannot tell "
    "whether their labels are right, or what other inputs the world holds."
)
dataset = data_choice.dataset()
model = model_choice.model_choice(dataset, records=True)
if model is None:
    page.how_to_read(HOW_TO_READ)
    st.stop()
try:
    choice = controls.region_choice(model_results.layers(dataset, model))
    about = model_choice.parameters(model) | controls.region_parameters(choice)
    share.offer(None, about)
    parts = background.answer(
        model_results.layer_samples(dataset, model, choice.layer), "Reading the layer of every sample", key="layer"
    )
    if parts is None:
        page.nothing_yet(running=True)
        st.stop()
    for note in parts.notes:
        st.caption(page.plain(note))
    looked = Looked(dataset, parts, choice, model_results.parts_name(dataset, model, choice.layer))
    found = background.answer(results.quality(looked), "Measuring the test set", key="quality")
    page.nothing_yet(running=True) if found is None else show(looked, found)
except DataError as problem:
    page.error(problem)
page.how_to_read(HOW_TO_READ)
