"""How do scores change when folds are made to differ? (Wecker, Friedrich & Adel 2020)"""

from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.wording import plural
from touchstone.core.workspace import Run, WorkspaceError
from touchstone.ui.cluster_folds import controls, look, results, upload
from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import answer, downloads, jobs, page, questions, share

STEM = "cluster-folds"


def make() -> None:
    """Make folds of the chosen data set, train models on them, and see."""
    dataset = data_choice.dataset()
    try:
        plan, button = controls.fold_plan(dataset)
        run, n_trials = jobs.found_or_fitting(plan, dataset)
    except DataError as problem:
        data_choice.refused(problem, dataset)
        return
    with button:
        jobs.run_button(run, plan, dataset)
    data_choice.not_used(dataset)
    data_choice.say_leaks(dataset)
    share.offer(plan, controls.parameters(plan) or {})
    for note in plan.notes(dataset):
        st.caption(page.plain(note))
    if run is None:
        controls.edit_labels(plan, dataset)
        n = plural(len(plan.models), "model")
        then = f", then trains {n} on all but one and tests on that one" * bool(plan.models)
        questions.not_computed(plan.kind, f"**Run** makes the folds{then}: {jobs.ahead(plan, dataset, n_trials)}")
        return
    jobs.follow(run, jobs.progress)
    metric = controls.choose_metric(dataset.class_names) if plan.models else ScoredBy()
    with st.container():  # the same place before and after, so that nothing jumps when the run ends
        if run.state == "running":
            jobs.follow(run, partial(so_far, metric=metric), every=jobs.SECONDS_BETWEEN_DRAWINGS)
        elif results.of_run(run).cuts:
            everything(results.of_run(run), metric, {}, run)
        else:
            page.nothing_yet(running=False)
    page.foot(run)


def so_far(run: Run, *, metric: ScoredBy) -> None:
    """The scores of the folds that have been tested, while others are."""
    folded = results.of_run(run)
    if folded.rows.any_tested:
        look.show_scores(folded, metric, finished=False)
    else:
        page.nothing_yet(running=True)


def own() -> None:
    """Performance of predictions that were made on folds elsewhere."""
    chosen = upload.cards()
    share.offer(None, upload.parameters(chosen))
    if not {"first", "second"} & chosen.keys():
        page.empty(upload.ASKED)
        return
    try:
        folded = upload.folded(chosen)
        share.offer(None, upload.parameters(chosen), view=upload.view(chosen, folded))
        everything(folded, controls.choose_metric(folded.rows.class_names), chosen)
    except (DataError, WorkspaceError) as problem:
        page.error(problem)


def everything(folded: results.Folded, metric: ScoredBy, chosen: dict[str, str], run: Run | None = None) -> None:
    """Scores, how the folds lie, what is in them, and all of it to take away."""
    shown, files = None, {}
    if folded.rows.any_tested:
        predicted = upload.predicted_held_out(chosen, results.performance(folded, metric))
        shown = look.show_scores(folded, metric, predicted, finished=True)
        files = look.characteristics(folded, metric)
    else:
        st.header("Map of the folds", anchor=False)
        look.show_folds(folded)
    with st.container(gap="xsmall"):
        if shown is not None:
            page.fold("Map of the folds", partial(look.show_folds, folded), key="folds-lie", asked_by=look.ADDRESSES)
        if folded.dataset is not None and folded.cuts:
            page.fold(
                "What differs in the folds", partial(look.show_inside, folded), key="inside", asked_by=look.INSIDE
            )
        if shown is not None:
            answer.fold(shown.section("table"))
    if run is not None:
        downloads.of_page(run, shown, files=files)
    elif shown is not None:
        downloads.offer({**shown.files, **files}, stem=STEM)
    look.offer_files(folded)


page.lead(
    "Folds that differ in their inputs show how much a score depends on training and test samples being alike. "
    "They do not predict which new inputs you will meet."
)
if controls.choose_view() == controls.MAKE:
    make()
else:
    own()
page.how_to_read(__file__)
