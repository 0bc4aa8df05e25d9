"""How does a network get trained from a page? As a run like any other, told by epoch; what comes of it is kept."""

from collections.abc import Collection, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data import DataError, Dataset
from core.evaluate.wording import plural
from core.models import fits
from core.trials import TrainingPlan
from core.trials.training_plan import trainable
from core.workspace.errors import WorkspaceError
from core.workspace.models import StoredModel
from core.workspace.plans import load_plan
from core.workspace.run import Run
from ui.forms.controls import Number, One, check_address
from ui.shell import jobs, page
from ui.shell.session import owner, workspace

_USUAL = TrainingPlan(next(iter(trainable())))
_AWAITED = "model-awaited"


def section(dataset: Dataset, models: Collection[StoredModel]) -> None:
    """The form of a TrainingPlan, the button that starts it, and how far trainings of this data set are."""
    try:
        plan, button = _form(dataset)
        n_test = len(plan.split(dataset).test)
    except DataError as problem:
        page.error(problem)
        return
    run = _run(plan, dataset)
    with button:
        _button(plan, dataset, run, models)
    st.caption(
        f"Trained on {plural(dataset.n_samples - n_test, 'sample')}, tested on {plural(n_test, 'other')}, in the same "
        "share of every class."
    )
    for one in _to_watch(dataset, run):
        _watch(one)


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
    found = _made_by(run, models)
    return found.fingerprint if found else None


def parameters(plan: TrainingPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan in the form; None where no address does."""
    titles = {name: network.label for name, network in trainable().items()}
    controls = {"model": _model_control(titles, plan.model)} | _numbers()
    written = {control.key: control.written(getattr(plan, field)) for field, control in controls.items()}
    if any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    return written


def _form(dataset: Dataset) -> tuple[TrainingPlan, DeltaGenerator]:
    networks = {name: network for name, network in trainable().items() if fits(network, dataset)}
    titles = {name: network.label for name, network in networks.items()}
    usual = [name for name, network in networks.items() if dataset.kind in network.usual_for]
    model, numbers = _model_control(titles, next(iter([*usual, *networks]))), _numbers()
    check_address([model, *numbers.values()])
    values = {}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        values["model"] = model.draw()
        values["n_epochs"] = numbers.pop("n_epochs").draw()
        button = st.container(width="content")
    with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
        values |= {field: control.draw() for field, control in numbers.items()}
    return TrainingPlan(**values), button


def _button(plan: TrainingPlan, dataset: Dataset, run: Run | None, models: Collection[StoredModel]) -> None:
    """Train; again, where an earlier training failed or its model was deleted since."""
    there = run is not None and _made_by(run, models) is not None
    going = run is not None and run.state != "done"
    hint = None
    if there:
        hint = "This network is trained already, with these very settings; choose it above."
    elif going:
        hint = "This training has begun, below."
    label = "Train again" if run is not None and not there and not going else "Train"
    st.button(
        label, type="primary", key="train", on_click=_start, args=(plan, dataset), disabled=there or going, help=hint
    )


def _start(plan: TrainingPlan, dataset: Dataset) -> None:
    try:
        run = _run(plan, dataset)
        if run is not None and run.state == "done":  # it failed, or its model is gone
            workspace().delete_run(owner(), run.id)
        st.session_state[_AWAITED] = jobs.start(plan, dataset).id
    except (DataError, WorkspaceError) as problem:
        st.toast(page.plain(problem), icon=":material/error:")


def _run(plan: TrainingPlan, dataset: Dataset) -> Run | None:
    """The training of this plan by today's method; a model that an older one made stays, and is no reason not to."""
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    return None if jobs.can_start(run) else run


def _made_by(run: Run, models: Collection[StoredModel]) -> StoredModel | None:
    return next((one for one in models if one.training_plan == run.plan), None)


def _to_watch(dataset: Dataset, run: Run | None) -> list[Run]:
    """The form's own run, unless it has gone well, and all others that are running."""
    runs = [one for one in workspace().runs(owner(), dataset.fingerprint) if one.kind == TrainingPlan.kind]
    mine = None if run is None else run.id
    return [one for one in runs if one.state == "running" or (one.id == mine and (one.state != "done" or one.errors))]


def _watch(run: Run) -> None:
    st.markdown(f":gray[{page.plain(load_plan(run.plan).title)}]")
    jobs.follow(run, _progress)


def _progress(run: Run) -> None:
    jobs.progress(run)
    if run.state == "cancelled":
        st.caption("A training that goes on after it was stopped begins with the first epoch.")


def _model_control(titles: Mapping[str, str], usual: str) -> One:
    return One("network", "Network", titles, usual, "Those of the papers that fit these inputs.")


def _numbers() -> dict[str, Number]:
    """A control for every field of a TrainingPlan but the model."""
    return {
        "n_epochs": Number(
            "epochs",
            "Epochs",
            1,
            1000,
            _USUAL.n_epochs,
            5,
            "How often every training sample is seen; you can stop between two of them.",
        ),
        "batch_size": Number(
            "batch", "Batch size", 1, 4096, _USUAL.batch_size, 16, "Samples per step; the paper's 128."
        ),
        "learning_rate": Number(
            "rate", "Learning rate", 0.0001, 10.0, _USUAL.learning_rate, 0.001, "The paper's 0.01.", "%.4f"
        ),
        "momentum": Number(
            "momentum", "Momentum", 0.0, 0.999, _USUAL.momentum, 0.01, "Nesterov's; the paper's 0.95.", "%.3f"
        ),
        "weight_decay": Number(
            "decay", "Weight decay", 0.0, 1.0, _USUAL.weight_decay, 0.0001, "Pulls weights towards 0.", "%.4f"
        ),
        "gradient_penalty": Number(
            "penalty",
            "Gradient penalty",
            0.0,
            1000.0,
            _USUAL.gradient_penalty,
            0.01,
            "Lambda: makes the loss change little where the input does, and so the model robust on average. It doubles "
            "the time of an epoch or more.",
            "%.4f",
        ),
        "test_share": Number(
            "kept_out",
            "Test share",
            0.05,
            0.9,
            _USUAL.test_share,
            0.05,
            "The share of each class kept out of training.",
        ),
        "seed": Number(
            "training_seed",
            "Seed",
            0,
            2**31,
            _USUAL.seed,
            1,
            "The split and all randomness of training follow from it.",
        ),
    }
