"""Would more data help, or new sources? (Kilinc & Uysal 2017, section 5.2)"""

from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.report import data_set_adequacy as report
from touchstone.core.workspace import Run
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.metric import choose_of_trials
from touchstone.ui.data_set_adequacy import controls
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import answer, downloads, jobs, page, share
from touchstone.ui.source_robustness import results

SECONDS_BETWEEN_DRAWINGS = 6.0


def show(run: Run) -> None:
    """The verdict and its curve as far as they are known; everything else once the run has ended."""
    adequacy = controls.adequacy(run, metric.positive) if run.n_done > run.n_failed else None
    curve = None if adequacy is None else controls.chosen_curve(adequacy, look)
    if adequacy is None or curve is None:
        page.nothing_yet(running=run.state == "running")
        return
    finished, nulls = run.state != "running", results.cloud_claims(results.cloud_runs(plan, run.fingerprint))
    asked = {"worth": look.worth, "panels": look.panels, "metric": metric.name}
    shown = report.answer(adequacy, of=curve, nulls=nulls, finished=finished, **asked)
    answer.show(shown, finished=finished, before=partial(results.source_notes, run))
    if not finished:
        return
    results.show_clouds(results.cloud_plan(plan, curve.source_finder), dataset)
    answer.folds(shown)
    downloads.of_page(run, shown, files={"Trials": lambda: controls.trials(run)})


page.lead(
    "Accuracy over the size of the training set, on sources (writers, sites, devices) held out and seen in training. "
    "Clusters take the place of unnamed sources. It does not predict the effect of samples of another kind."
)
dataset = data_choice.dataset()
try:
    plan, button = controls.adequacy_plan(dataset)
    run, n_trials = jobs.found_or_fitting(plan, dataset)
except DataError as problem:
    data_choice.refused(problem, dataset)
    st.stop()
with button:
    jobs.run_button(run, plan, dataset, beside=results.cloud_plans(plan))
data_choice.not_used(dataset)
for note in plan.notes(dataset):
    st.caption(page.plain(note))
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    look = controls.looked_at(plan)
    share.offer(plan, (plan_parameters(plan) or {}) | controls.look_parameters(plan, look))
    metric = choose_of_trials(dataset, asked=run is not None)
if run is None:
    controls.nothing_computed(plan, plan.fitting(dataset), jobs.ahead(plan, dataset, n_trials))
else:
    jobs.follow(run, jobs.progress)
    jobs.follow(run, show, every=SECONDS_BETWEEN_DRAWINGS)
    page.foot(run)
page.how_to_read(__file__)
