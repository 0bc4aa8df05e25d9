"""Which tests are missing? (Mani et al. 2019, sections 4.1, 4.3 and 5.4)"""

from pathlib import Path

import streamlit as st

from core.data import DataError
from core.evaluate.guided_tests import Guided, Properties
from core.evaluate.guided_tests.verdict import round_trip_finding
from core.evaluate.test_quality import Regions
from core.workspace.run import Run
from ui.data import choice as data_choice
from ui.forms.plan_form import stored_parameters
from ui.guided_tests import controls, explorer, files, gallery, label_next, look, results
from ui.models import choice as model_choice
from ui.models import results as model_results
from ui.shell import background, jobs, page, share
from ui.shell.session import owner, workspace
from ui.test_quality import controls as test_quality_controls
from ui.test_quality.work import Looked

HOW_TO_READ, QUALITY = Path(__file__).with_suffix(".md"), Path(__file__).with_name("test_quality.py")
SECONDS_BETWEEN_DRAWINGS = 4.0


def so_far(run: Run) -> None:
    """The verdict and table 2 as far as they are known, while more is coming."""
    found = results.guided(run)
    if found.tests is None:
        page.nothing_yet(running=run.state == "running")
        return
    look.verdict(found)
    look.table_2(found.grid)


def made(run: Run, found: Guided, within: Regions) -> None:
    """What was generated, as figures, tables, pictures and files."""
    look.table_2(found.grid)
    look.classes(found)
    add(gallery.gallery(found, looked, within))
    trip = background.answer(results.sent_again(run, looked), "Sending images through the model", key="trip")
    look.round_trip(trip, found, "" if trip is None else round_trip_finding(trip, len(found.generated)))


def tested() -> Properties | None:
    """The three properties, which need no run; None while they are worked out."""
    found = background.answer(results.properties(looked), "Testing properties", key="properties")
    if found is not None:
        add(look.properties(found, looked))
    return found


def add(said: dict[str, list[str]]) -> None:
    """More of the address that leads here."""
    for key, written in said.items():
        share.add(key, written)


page.lead(
    "Tests made where the test set has few: near the centroids of classes and at the boundaries between them. Their "
    "labels follow from a rule; it cannot tell whether anything like them exists."
)
dataset = data_choice.dataset()
model = model_choice.model_choice(dataset, records=True)
if model is None:
    page.how_to_read(HOW_TO_READ)
    st.stop()
try:
    choice = test_quality_controls.region_choice(model_results.layers(dataset, model))
    plan, button = controls.guided_tests_plan(dataset, model, choice)
    n_trials = plan.n_trials(dataset)
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    with button:
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
        look.nothing_computed(plan, parts.test, n_trials)
    else:
        jobs.follow(run, jobs.progress)
        if found is None:
            jobs.follow(run, so_far, every=SECONDS_BETWEEN_DRAWINGS)
        elif found.tests is not None:
            page.findings(look.verdict(found))
        else:
            page.nothing_yet(running=False)
    add(explorer.explorer(looked, within, found.decoder if found is not None else None))
    if run is not None and found is not None and has_tests:
        made(run, found, within)
    kept = tested()
    add(label_next.label_next(looked, within))
    if run is not None and found is not None and has_tests:
        files.downloads(run, plan, found, looked, kept, results.sent_again(run, looked))
    if run is not None:
        page.foot(run)
except DataError as problem:
    page.error(problem)
page.how_to_read(HOW_TO_READ)
