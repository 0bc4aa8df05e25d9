"""Which tests are missing? (Mani et al. 2019, sections 4.1, 4.3 and 5.4)"""

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.guided_tests.generate import sizes
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.verdict import NOTHING_INSIDE, mix_title
from touchstone.core.evaluate.test_quality.quality import Looked
from touchstone.core.evaluate.wording import plural
from touchstone.core.models.layers import OUTPUTS, LayerSamples
from touchstone.core.report import guided_tests as report
from touchstone.core.workspace import Run
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.guided_tests import controls, explorer, results
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell import answer, background, jobs, page, questions, session, share
from touchstone.ui.test_quality import results as test_quality_results

MOST_FINDINGS = 4


def so_far(run: Run) -> None:
    """The verdict and the main figure as far as they are known, while more is coming."""
    guided = results.guided(run)
    if guided.tests is None:
        page.nothing_yet(running=run.state == "running")
        return
    answer.show(report.answer(guided, finished=False), finished=False)


def everything(guided: Guided) -> None:
    """The verdict, every class on pictures, what else was found, and the tests themselves."""
    answer.show(report.answer(guided), most=MOST_FINDINGS)
    if len(guided.generated):
        controls.add_to_address(explorer.gallery(guided, looked, within))


def nothing_computed(test: LayerSamples) -> None:
    """What stands where nothing has been computed of this choice."""
    if not testable:
        st.info(NOTHING_INSIDE)
        return
    n_tests = int(sizes(test, plan.frequency).sum())
    more = ", fills table 2" if plan.table else ""
    more += ", trains a decoder" if plan.decoder_epochs else ""
    questions.not_computed(
        plan.kind,
        f"**Run** makes {plural(n_tests, 'test')} in the mix {mix_title(plan.centroid_share)}{more}: "
        f"{jobs.ahead(plan, dataset, n_trials)}",
    )


page.lead(
    "Accuracy on pictures generated where the test set has few samples: near class centroids and at class "
    "boundaries. An independent oracle checks their labels, but not whether such pictures occur."
)
dataset = data_choice.dataset()
model = model_choice.choose(dataset, records=True)
if model is None:
    page.how_to_read(__file__)
    st.stop()
try:
    layers = model_choice.layers(dataset, model)
    with st.expander("Layer and regions, for features"):
        choice = test_quality_results.region_choice(layers)
    plan, button = controls.guided_tests_plan(dataset, model, choice)
    n_trials = plan.n_trials(dataset)
    run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint)
    testable = layers != (OUTPUTS,) or dataset.kind == "image"
    with button:
        if testable or run is not None:
            jobs.run_button(run, plan, dataset)
    share.offer(plan, stored_parameters(plan) or {})
    parts = background.answer(
        model_choice.layer_samples(dataset, model, choice.layer), "Reading the layer of every sample", key="layer"
    )
    if parts is None:
        page.nothing_yet(running=True)
        st.stop()
    for note in parts.notes:
        st.caption(page.plain(note))
    controls.link_to_quality(dataset, model, choice)
    looked = Looked(dataset, parts, choice, model_choice.parts_name(dataset, model, choice.layer))
    within = background.answer(results.regions(looked), "Drawing the regions", key="regions")
    if within is None:
        st.stop()
    if run is None:
        leads = stored_parameters(plan) or {}
        share.offer(plan, leads, view=controls.view(dataset, model, leads))
    guided = None if run is None or run.state == "running" else results.guided(run)
    has_tests = guided is not None and guided.tests is not None and len(guided.tests) > 0
    if run is None:
        nothing_computed(parts.test)
    else:
        jobs.follow(run, jobs.progress)
        if guided is None:
            jobs.follow(run, so_far, every=jobs.SECONDS_BETWEEN_DRAWINGS)
        elif guided.tests is not None:
            everything(guided)
        else:
            page.nothing_yet(running=False)
    if run is not None and guided is not None and has_tests:
        controls.show_other_model(run, guided, model)
        controls.show_features(run, guided, looked, inside=layers != (OUTPUTS,))
    controls.show_explorer(looked, within, guided, opened=not has_tests)
    controls.show_label_next(looked, within, model)
    kept = controls.show_properties(looked)
    if run is not None and guided is not None and has_tests:
        results.offer_files(run, plan, guided, looked, kept, results.sent_again(run, looked), within)
    if run is not None:
        page.foot(run)
except DataError as problem:
    page.error(problem)
page.how_to_read(__file__)
