"""Which samples and classes are fragile under noise? (Han, Srinivas & Lakkaraju 2024)"""

from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.report import average_case as report
from touchstone.core.workspace import Run
from touchstone.ui.average_case import controls
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell import answer, downloads, jobs, page, questions, session, share


def show(run: Run) -> None:
    """The verdict and the classes as far as they are known; everything else once the run has ended."""
    robustness = controls.robustness(run)
    if sigma not in robustness.sigmas:
        page.nothing_yet(running=run.state == "running")
        return
    finished = run.state != "running"
    shown = report.answer(robustness, sigma=sigma, summarised=False, finished=finished)
    answer.show(shown, finished=finished, most=2)
    if not finished:
        return
    controls.show_extremes(robustness, look, dataset)
    answer.fold(shown.section("sigmas"))
    answer.fold(shown.section("directions"))
    page.fold("Robust, or only confident?", lambda: controls.show_confidence(robustness, look, dataset), key="linked")
    unaudited = partial(st.markdown, "Set the number of audited samples above, and run again.")
    answer.fold(shown.section("audit"), None if robustness.audit.estimators else unaudited)
    downloads.of_page(
        run,
        report.answer(robustness, sigma=sigma),
        files={"Samples": lambda: robustness.table(dataset.ids), "Audited": lambda: robustness.audit.beside},
    )


page.lead(
    "Share of noisy copies of a sample that keep its prediction, by sample and class. It does not cover other "
    "kinds of change, or worst-case (adversarial) inputs."
)
dataset = data_choice.dataset()
model = model_choice.choose(dataset)
if model is None:
    page.how_to_read(__file__)
    st.stop()
try:
    plan, button = controls.average_case_plan(dataset, model)
    n_trials = plan.n_trials(dataset)
except DataError as problem:
    page.error(problem)
    st.stop()
run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint)
with button:
    jobs.run_button(run, plan, dataset)
for note in plan.notes(dataset):
    st.caption(page.plain(note))
with st.expander("What this noise looks like", expanded=run is None, icon=":material/grain:"):
    controls.show_noise(dataset, plan)
if run is None:
    share.offer(plan, stored_parameters(plan) or {})
    n = len(plan.order(dataset))
    questions.not_computed(
        plan.kind,
        f"**Run** judges {plural(n, 'sample')} at {plural(len(plan.sigmas), 'sigma')} and checks "
        f"{count(min(plan.n_audit, n))} of them by Monte-Carlo: {jobs.ahead(plan, dataset, n_trials)}",
    )
else:
    look = controls.looked_at(plan, dataset, with_samples=run.state != "running")
    sigma = look.sigma
    share.offer(plan, (stored_parameters(plan) or {}) | controls.look_parameters(plan, dataset, look))
    jobs.follow(run, jobs.progress)
    jobs.follow(run, show, every=jobs.SECONDS_BETWEEN_DRAWINGS)
    page.foot(run)
page.how_to_read(__file__)
