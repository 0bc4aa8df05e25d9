"""How does a network get trained from a page? As a run like any other, told by epoch; what comes of it is kept."""

from collections.abc import Collection

import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.parameters import About
from touchstone.core.split import DRAWN, Split
from touchstone.core.trials import TrainingPlan
from touchstone.core.workspace import Run, StoredModel, WorkspaceError, load_plan
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell import jobs, page
from touchstone.ui.shell.session import owner, workspace

_AWAITED = "model-awaited"


def section(dataset: Dataset, models: Collection[StoredModel]) -> None:
    """The form of a TrainingPlan, the button that starts it, and how far trainings of this data set are."""
    try:
        plan, button = plan_form(TrainingPlan, About(dataset), border=False)
        split = plan.split(dataset)
    except DataError as problem:
        page.error(problem)
        return
    run = _run(plan, dataset)
    with button:
        _button(plan, dataset, run, models)
    st.caption(_trained_on(plan, dataset, split))
    for training in _to_watch(dataset, run):
        _watch(training)


def _trained_on(plan: TrainingPlan, dataset: Dataset, split: Split) -> str:
    """How many samples there are to train on and to test on, and whose split it is."""
    n_train, n_test = map(len, split)
    if plan.test_set == DRAWN:
        return (
            f"Trained on {plural(n_train, 'sample')}, tested on {plural(n_test, 'other')}, with the same share of "
            f"every "
            "class."
        )
    n_out = dataset.n_samples - n_train - n_test
    out = f" Its {plural(n_out, 'validation sample')} take no part." if n_out else ""
    return (
        f"Trained on the {plural(n_train, 'sample')} that the file marks as train, tested on the {count(n_test)} that "
        f"it marks as test.{out}"
    )


def take_ready(models: Collection[StoredModel]) -> str | None:
    """The fingerprint of the model whose training this session started, once it is there; told once."""
    run_id = st.session_state.get(_AWAITED)
    if run_id is None:
        return None
    try:
        run = workspace().run(owner(), run_id)
    except WorkspaceError:  # deleted meanwhile
        st.session_state.pop(_AWAITED)
        return None
    if run.state != "done":
        return None
    st.session_state.pop(_AWAITED)
    made = _made_by(run, models)
    return made.fingerprint if made else None


def _button(plan: TrainingPlan, dataset: Dataset, run: Run | None, models: Collection[StoredModel]) -> None:
    """Train; again, where an earlier training failed or its model was deleted since."""
    there = run is not None and _made_by(run, models) is not None
    going = run is not None and run.state != "done"
    hint = None
    if there:
        hint = "A network with these settings is already trained; choose it above."
    elif going:
        hint = "This training is already running, see below."
    label = "Train again" if run is not None and not there and not going else "Train"
    st.button(
        label, type="primary", key="train", on_click=_start, args=(plan, dataset), disabled=there or going, help=hint
    )


@page.or_toast
def _start(plan: TrainingPlan, dataset: Dataset) -> None:
    run = _run(plan, dataset)
    if run is not None and run.state == "done":  # it failed, or its model is gone
        workspace().delete_run(owner(), run.id)
    st.session_state[_AWAITED] = jobs.start(plan, dataset).id


def _run(plan: TrainingPlan, dataset: Dataset) -> Run | None:
    """The training of this plan by today's method; a model that an older one made stays, and is no reason not to."""
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    return None if jobs.can_start(run) else run


def _made_by(run: Run, models: Collection[StoredModel]) -> StoredModel | None:
    return next((model for model in models if model.training_plan == run.plan), None)


def _to_watch(dataset: Dataset, run: Run | None) -> list[Run]:
    """The form's own run, unless it has gone well, and all others that are running."""
    runs = [
        training for training in workspace().runs(owner(), dataset.fingerprint) if training.kind == TrainingPlan.kind
    ]
    mine = None if run is None else run.id
    return [
        training
        for training in runs
        if training.state == "running" or (training.id == mine and (training.state != "done" or training.errors))
    ]


def _watch(run: Run) -> None:
    st.markdown(f":gray[{page.plain(load_plan(run.plan).title)}]")
    jobs.follow(run, _progress)


def _progress(run: Run) -> None:
    jobs.progress(run)
    if run.state == "cancelled":
        st.caption("A stopped training starts again from the first epoch.")
