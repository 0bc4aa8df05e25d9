"""How far does accuracy fall on held-out sources? (Kilinc & Uysal 2017, sections 2-5.1)"""

from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.report import source_robustness as report
from touchstone.core.workspace import Run
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.metric import choose_of_trials
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import answer, downloads, jobs, page, share
from touchstone.ui.source_robustness import controls, results


def show(run: Run) -> None:
    """The trials of a run and those of uploaded models."""
    known = own is not None or run.n_done > run.n_failed
    intervals = results.intervals(run, own, metric.positive) if known else None
    comparisons = results.comparisons(run, own) if intervals is not None else ()
    row = None if intervals is None else controls.row_of(intervals.overall, comparisons, looked, own)
    if intervals is None or row is None:
        page.nothing_yet(running=run.state == "running")
        return
    finished = run.state != "running"
    shown = report.answer(
        intervals,
        comparisons,
        dataset,
        of=row,
        unseen=results.known_sources(run, own) if finished else (),
        epoch=plan.epoch,
        nulls=results.cloud_claims(results.cloud_runs(plan, run.fingerprint)),
        metric=metric.name,
        finished=finished,
    )
    answer.show(shown, finished=finished, before=partial(results.source_notes, run))
    if not finished:
        return
    results.show_clouds(results.cloud_plan(plan, row.source_finder), dataset)
    with st.container(gap="xsmall"):
        answer.fold(shown.section("hard"), partial(controls.show_sources, run, row, intervals.sources_of(row)))
        answer.fold(shown.section("draws"))
        answer.fold(shown.section("metrics"))
        answer.fold(shown.section("true-sources"))
        if results.has_several_finders(run):
            page.fold("Do the ways of finding sources agree?", partial(results.show_agreement, run), key="agreement")
        if results.pictured_finders(run):
            page.fold("What do the sources look like?", partial(results.show_pictures, run), key="pictures")
        answer.fold(shown.section("table"))
        downloads.of_page(
            run,
            shown,
            files={
                "Trials": lambda: results.trials(run, own),
                **results.agreement_tables(run),
                "Drawn splits": lambda: results.drawn(plan, dataset),
            },
            also={} if own is None else {"Models of your own": f"predictions by trial, fingerprint {own.fingerprint}"},
        )
        page.how_to_read(__file__)
    page.foot(run)


page.lead(
    "Accuracy on sources (writers, sites, devices) held out of training, compared with sources seen in training. "
    "Clusters take the place of sources that the data do not name. It does not show whether future sources are alike."
)
dataset = data_choice.dataset()
asked = jobs.asked_to_start(data_choice.required().name)
try:
    plan, button = controls.trial_plan(dataset)
    run, n_trials = jobs.found_or_fitting(plan, dataset)
except DataError as problem:
    data_choice.refused(problem, dataset)
    st.stop()
run = jobs.start(plan, dataset) if asked else run
with button:
    jobs.run_button(run, plan, dataset, beside=results.cloud_plans(plan))
data_choice.not_used(dataset)
own = controls.own_models(plan, dataset)
leads = (plan_parameters(plan) or {}) | controls.own_parameters(own)
share.offer(None if own else plan, leads, view=controls.view(plan, dataset, own, run))
with st.container(horizontal=True, vertical_alignment="bottom"):
    looked, metric = controls.looked_at(run, own), choose_of_trials(dataset, asked=bool(run or own))
if run is not None:
    jobs.follow(run, jobs.progress)
    jobs.follow(run, show, every=jobs.SECONDS_BETWEEN_DRAWINGS)
elif own is not None:
    jobs.shown(show, controls.unstarted(plan, dataset))
else:
    controls.nothing_computed(plan, jobs.ahead(plan, dataset, n_trials))
    page.how_to_read(__file__)
