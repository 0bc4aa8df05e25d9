"""How far does accuracy fall on unfamiliar sources? (Kilinc & Uysal 2017, sections 2-5.1)"""

from pathlib import Path

import streamlit as st

from core.data import DataError
from core.evaluate.source_robustness import ExpectedInterval, verdict
from core.figures import source_robustness as figures
from core.trials import splits_table
from core.workspace.workspace import Run
from ui import cache, controls, data_choice, jobs, own_model, page, share, source_finders, sources
from ui.session import owner, workspace

HOW_TO_READ = Path(__file__).with_suffix(".md")
SECONDS_BETWEEN_DRAWINGS = 4.0


def show(run: Run) -> None:
    """All that finished trials tell, those of a run and those of models that were brought along."""
    found = cache.source_robustness(run, own) if own is not None or run.n_done > run.n_failed else None
    of = None if found is None else sources.row_of(found.intervals.overall, looked, own)
    if found is None or of is None:
        page.nothing_yet(running=run.state == "running")
        return
    rows, dark = found.intervals.overall, page.dark()
    said = verdict(found.intervals, found.comparisons, of=of, names=sources.names_beside(of, rows))
    page.verdict(said, sources.metrics(of))
    page.figure(
        figures.interval_chart(rows, names=sources.TITLES, dark=dark),
        "Each band runs from the accuracy to expect on unfamiliar sources to that on familiar ones: the shorter, the "
        "more robust. Hairlines are 95 % intervals over sources and samples, short bars over draws.",
        key="intervals",
    )
    if run.state != "running":  # before that they come and go
        page.findings(said)
    boxes, rho = sources.beside(rows)
    with boxes:
        page.figure(
            figures.accuracy_boxes(found.intervals, names=sources.TITLES, dark=dark),
            "Each mark is the accuracy of one draw. Unfamiliar sources scatter widely: it matters which one is met.",
            key="boxes",
        )
    with rho:
        page.figure(
            figures.rho_chart(rows, names=sources.TITLES, dark=dark),
            "The share of the accuracy that is kept; the findings above compare models draw by draw.",
            key="rho",
        )
    source_finders.true_sources(run, own)
    source_finders.side_by_side(run)
    in_detail(run, of)
    tables(run)


def in_detail(run: Run, of: ExpectedInterval) -> None:
    """One model by class and by held-out source, with the portraits of the worst."""
    intervals = cache.source_robustness(run, own).intervals
    sources.about(of, intervals.overall)
    classes, held_out = st.columns(2, gap="medium")
    with classes:
        page.figure(
            figures.class_chart(of, intervals.classes_of(of), dark=page.dark()),
            "Rho by class, the worst on top; the grey line and band are all classes together.",
            key="classes",
        )
    with held_out:
        page.figure(
            figures.held_out_chart(intervals.sources_of(of), dark=page.dark()),
            "Each diamond is a source when it was held out, each tick when it was familiar; size is its n.",
            key="held-out",
        )
    if run.state != "running":
        sources.closer(run, of, intervals.sources_of(of))


def tables(run: Run) -> None:
    """The paper's Table 1, and everything to take away."""
    intervals = cache.source_robustness(run, own).intervals
    st.subheader("In numbers", anchor=False)
    sources.table_1(intervals)
    page.downloads(
        {
            "Table": intervals.table,
            "Held-out sources": intervals.held_out_table,
            "Trials": lambda: cache.trials(run, own),
            **source_finders.tables(run, own),
            "Drawn splits": lambda: splits_table(plan, dataset),
        },
        stem=f"source-robustness-{run.id[:8]}",
    )
    page.how_to_read(HOW_TO_READ)
    page.foot(run)


page.lead(
    "Accuracy on sources that the training part does not hold, against accuracy on familiar ones. It cannot tell "
    "whether the sources that you will meet are like the ones held out here."
)
dataset = data_choice.dataset()
asked = jobs.asked_to_start(data_choice.required().name)
try:
    plan, button = controls.trial_plan(dataset)
    n_trials = plan.n_trials(dataset)
except DataError as problem:
    page.error(problem)
    st.stop()
run = jobs.start(plan, dataset) if asked else workspace().find_run(owner(), plan, dataset.fingerprint)
with button:
    jobs.run_button(run, plan, dataset)
own = own_model.section(plan, dataset)
share.offer(None if own else plan, (controls.trial_parameters(plan) or {}) | own_model.parameters(own))
looked = sources.looked_at(run, own)
if run is not None:
    jobs.follow(run, jobs.progress)
    jobs.follow(run, show, every=SECONDS_BETWEEN_DRAWINGS)
elif own is not None:
    show(own_model.unstarted(plan, dataset))
else:
    sources.nothing_computed(plan, n_trials)
    page.how_to_read(HOW_TO_READ)
