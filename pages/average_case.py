"""Which samples and classes are fragile under noise? (Han, Srinivas & Lakkaraju 2024)"""

from pathlib import Path

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.average_case.verdict import trust_line
from touchstone.core.report import average_case as report
from touchstone.core.workspace.run import Run
from touchstone.ui.average_case import controls, results, samples
from touchstone.ui.average_case import look as average_case_look
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell import exports, jobs, page, share
from touchstone.ui.shell.session import owner, workspace

HOW_TO_READ = Path(__file__).with_suffix(".md")


def show(run: Run) -> None:
    """The verdict and the classes as far as they are known; everything else once the run has ended."""
    robustness = results.robustness(run)
    if sigma not in robustness.sigmas:
        page.nothing_yet(running=run.state == "running")
        return
    verdict = average_case_look.verdict(robustness, sigma, finished=run.state != "running")
    average_case_look.classes(robustness, sigma)
    if run.state == "running":
        return
    page.findings(verdict, most=2)
    samples.extremes(robustness, look, dataset)
    page.fold("How much noise does it take? Over sigma", lambda: average_case_look.sigmas(robustness), key="sigmas")
    average_case_look.directions(robustness, sigma)
    page.fold("Robust, or only confident?", lambda: samples.confident(robustness, look, dataset), key="linked")
    trust = f"Can these numbers be trusted? {page.plain(trust_line(robustness, sigma))}"
    page.fold(trust, lambda: average_case_look.audit(robustness, sigma), key="audit")
    exports.downloads(
        run,
        report.answer(robustness, sigma=sigma),
        files={
            "Samples": lambda: robustness.table(dataset.ids),
            "Classes": robustness.class_table,
            "Directions": robustness.direction_table,
            "Audit": robustness.audit.table,
            "Audited": lambda: robustness.audit.beside,
            "Convergence": robustness.audit.convergence_table,
        },
    )


page.lead(
    "Share of noisy copies of a sample that keep its prediction, by sample and class. It does not cover other "
    "kinds of change, or worst-case (adversarial) inputs."
)
dataset = data_choice.dataset()
model = model_choice.model_choice(dataset)
if model is None:
    page.how_to_read(HOW_TO_READ)
    st.stop()
try:
    plan, button = controls.average_case_plan(dataset, model)
    n_trials = plan.n_trials(dataset)
except DataError as problem:
    page.error(problem)
    st.stop()
run = workspace().find_run(owner(), plan, dataset.fingerprint)
with button:
    jobs.run_button(run, plan, dataset)
for note in plan.notes(dataset):
    st.caption(page.plain(note))
with st.expander("What this noise looks like", expanded=run is None, icon=":material/grain:"):
    samples.noise(dataset, plan)
if run is None:
    share.offer(plan, stored_parameters(plan) or {})
    average_case_look.nothing_computed(plan, len(plan.order(dataset)), jobs.ahead(plan, dataset, n_trials))
else:
    look = controls.looked_at(plan, dataset, with_samples=run.state != "running")
    sigma = look.sigma
    share.offer(plan, (stored_parameters(plan) or {}) | controls.shown(plan, dataset, look))
    jobs.follow(run, jobs.progress)
    jobs.follow(run, show, every=jobs.SECONDS_BETWEEN_DRAWINGS)
    page.foot(run)
page.how_to_read(HOW_TO_READ)
