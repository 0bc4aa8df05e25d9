"""Which tests are missing? (Mani et al. 2019, sections 4.1, 4.3 and 5.4)"""

from pathlib import Path

import streamlit as st

from core.data import DataError
from core.evaluate.guided_tests import Guided, Properties
from core.evaluate.guided_tests.verdict import NOTHING_INSIDE, round_trip_finding
from core.models.layers import OUTPUTS
from core.workspace.run import Run
from ui.data import choice as data_choice
from ui.forms.plan_form import stored_parameters
from ui.guided_tests import beside, controls, explorer, files, gallery, label_next, look, results
from ui.models import choice as model_choice
from ui.models import results as model_results
from ui.shell import background, jobs, page, share
from ui.shell.session import owner, workspace
from ui.test_quality import controls as test_quality_controls
from ui.test_quality.work import Looked

HOW_TO_READ, QUALITY = Path(__file__).with_suffix(".md"), Path(__file__).with_name("test_quality.py")
SECONDS_BETWEEN_DRAWINGS = 4.0
MOST_FINDINGS = 4


def so_far(run: Run) -> None:
    """The verdict and the main figure as far as they are known, while more is coming."""
    found = results.guided(run)
    if found.tests is None:
        page.nothing_yet(running=run.state == "running")
        return
    look.verdict(found, finished=False)
    look.suite(found)


def everything(found: Guided) -> None:
    """The verdict, every class on pictures, what else was found, and the tests themselves."""
    said = look.verdict(found, finished=True)
    look.suite(found)
    page.findings(said, most=MOST_FINDINGS)
    if len(found.generated):
        add(gallery.gallery(found, looked, within))


def features(run: Run, found: Guided) -> None:
    """What the layer's head makes of features, and what their decoder makes of them."""
    if layers == (OUTPUTS,):
        st.caption(NOTHING_INSIDE)
    look.features(found)
    trip = background.answer(results.sent_again(run, looked), "Sending images through the model", key="trip")
    look.round_trip(trip, found, "" if trip is None else round_trip_finding(trip, len(found.generated)))


def with_another(run: Run, found: Guided) -> None:
    """Another model on the same pictures; nothing where there is no other."""
    if found.suite is not None and beside.others(model):
        title, opened = "How does another model do on these pictures?", beside.KEY in st.query_params
        add(page.fold(title, lambda: beside.beside(run, found, model), key="versus", opened=opened) or {})


def on_the_way(found: Guided | None) -> None:
    """The explorer; open where there is nothing else to see, or where the address names a place."""
    opened = not has_tests or any(key.startswith(explorer.KEYS) for key in st.query_params)
    decoder = None if found is None else found.decoder
    title = "What lies between two classes?"
    add(page.fold(title, lambda: explorer.explorer(looked, within, decoder), key="way", opened=opened) or {})


def tested() -> Properties | None:
    """The three properties, which need no run; None while they are not worked out."""

    def draw() -> Properties | None:
        found = background.answer(results.properties(looked), "Testing properties", key="properties")
        if found is not None:
            add(look.properties(found, looked))
        return found

    opened = "violations" in st.query_params
    return page.fold("Does the model behave like a well-trained classifier?", draw, key="properties", opened=opened)


def to_label() -> None:
    """The list of what to label next, which needs no run either."""
    opened = any(key in st.query_params for key in label_next.KEYS)
    add(page.fold("Label these next", lambda: label_next.label_next(looked, within), key="next", opened=opened) or {})


def add(said: dict[str, list[str]]) -> None:
    """More of the address that leads here."""
    for key, written in said.items():
        share.add(key, written)


page.lead(
    "Accuracy on pictures generated where the test set has few samples: near class centroids and at class "
    "boundaries. An independent oracle checks their labels, but not whether such pictures occur."
)
dataset = data_choice.dataset()
model = model_choice.model_choice(dataset, records=True)
if model is None:
    page.how_to_read(HOW_TO_READ)
    st.stop()
try:
    layers = model_results.layers(dataset, model)
    with st.expander("Layer and regions, for features"):
        choice = test_quality_controls.region_choice(layers)
    plan, button = controls.guided_tests_plan(dataset, model, choice)
    n_trials = plan.n_trials(dataset)
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    testable = layers != (OUTPUTS,) or dataset.kind == "image"
    with button:
        if testable or run is not None:
            jobs.run_button(run, plan, dataset)
    share.offer(plan, stored_parameters(plan) or {})
    parts = background.answer(
        model_results.layer_samples(dataset, model, choice.layer), "Reading the layer of every sample", key="layer"
    )
    if parts is None:
        page.nothing_yet(running=True)
        st.stop()
    for note in parts.notes:
        st.caption(page.plain(note))
    controls.link_to_quality(QUALITY, dataset, model, choice)
    looked = Looked(dataset, parts, choice, model_results.parts_name(dataset, model, choice.layer))
    within = background.answer(results.regions(looked), "Drawing the regions", key="regions")
    if within is None:
        st.stop()
    if run is None:
        leads = stored_parameters(plan) or {}
        share.offer(plan, leads, view=controls.view(dataset, model, leads))
    found = None if run is None or run.state == "running" else results.guided(run)
    has_tests = found is not None and found.tests is not None and len(found.tests) > 0
    if run is None:
        look.nothing_computed(plan, parts.test, n_trials) if testable else st.info(NOTHING_INSIDE)
    else:
        jobs.follow(run, jobs.progress)
        if found is None:
            jobs.follow(run, so_far, every=SECONDS_BETWEEN_DRAWINGS)
        elif found.tests is not None:
            everything(found)
        else:
            page.nothing_yet(running=False)
    if run is not None and found is not None and has_tests:
        with_another(run, found)
        head = "How does the layer's head classify generated features? With table 2"
        page.fold(head, lambda: features(run, found), key="features")
    on_the_way(found)
    to_label()
    kept = tested()
    if run is not None and found is not None and has_tests:
        files.downloads(run, plan, found, looked, kept, results.sent_again(run, looked), within)
    if run is not None:
        page.foot(run)
except DataError as problem:
    page.error(problem)
page.how_to_read(HOW_TO_READ)
