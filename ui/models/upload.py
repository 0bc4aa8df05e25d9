"""How does a model that was trained elsewhere get in? Read without running it, tried on the data set, then stored."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.models import MODELS, fits
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange, normalised
from touchstone.core.parameters import About
from touchstone.core.split import DRAWN, Split
from touchstone.core.trials import TrainingPlan
from touchstone.core.trials.training_plan import trainable
from touchstone.core.workspace import Run, StoredModel, WorkspaceError, load_plan
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell import jobs, page
from touchstone.ui.shell.session import owner, workspace

FORMATS = (
    "**safetensors**: the weights of one of the networks here. **ONNX**: any network, if the server has "
    "onnxruntime. ONNX has no gradients, so only estimators that need none are available. **torch.export** (.pt2): "
    "only if the server's owner allows it. Pickles are refused, because reading one can run any code."
)
_SAID = "as in the file"
_ROUND = "model-upload-round"


def section(dataset: Dataset) -> str | None:
    """The form for a file, and what was wrong with it; returns the fingerprint of a model that was just stored."""
    turn = st.session_state.setdefault(_ROUND, 0)
    architectures = [name for name, network in trainable().items() if fits(network, dataset)]
    with st.form(f"model-upload-form-{turn}", border=False, enter_to_submit=False):
        # Any file may be dropped here: for those that cannot be read, core says why.
        file = st.file_uploader("A model's file", key=f"model-file-{turn}", help=FORMATS)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            architecture = st.selectbox(
                "Network",
                ["", *architectures],
                format_func=lambda name: MODELS[name].label if name else _SAID,
                key=f"model-architecture-{turn}",
                help="The network that safetensors weights belong to. Files downloaded from Touchstone name it "
                "themselves.",
            )
            name = st.text_input("Name", key=f"model-name-{turn}", placeholder="as the file")
            asked = st.form_submit_button("Upload this model", key="upload-model")
        scaled = _scaling(turn) if dataset.kind == "image" else None
    st.caption(
        f"It must take inputs of {page.plain(dataset.name)} and know its {dataset.n_classes} classes, in this order: "
        f"{page.plain(_few(dataset.class_names))}."
    )
    if not asked:
        return None
    if file is None:
        st.warning("Choose a file first.", icon=":material/upload_file:")
        return None
    try:
        with st.spinner(f"Reading {page.plain(file.name)} and trying it on the data"):
            return _store(file, dataset, architecture or None, None if scaled is None else scaled.input_range, name)
    except DataError as problem:
        page.error(problem)
        return None


def _store(file: Any, dataset: Dataset, architecture: str | None, input_range: InputRange | None, name: str) -> str:
    from touchstone.core.workspace.workspace import bring_model

    settled = {"architecture": architecture, "input_range": input_range}
    brought = bring_model(workspace(), owner(), file.name, file.getvalue(), dataset, name=name, **settled)
    judged = brought.judged
    if judged.hint:
        accuracy = percent(judged.accuracy, wilson(float(judged.n_correct), float(judged.n)))
        warning = f"Accuracy of {page.plain(file.name)} on these data: {accuracy}. {page.plain(judged.hint)}"
        st.toast(warning, icon=":material/warning:", duration="infinite")
    st.session_state[_ROUND] += 1  # a new, empty form
    return brought.fingerprint


@dataclass(frozen=True)
class _Scaling:
    """What somebody says of how pixels were scaled when the model was trained."""

    black: float
    white: float
    mean: str
    std: str
    divided: bool

    @property
    def input_range(self) -> InputRange | None:
        """What black and white were; None for pixels in [0, 1]. Raises ModelError for what makes none."""
        if self.mean.strip() or self.std.strip():
            if (self.black, self.white) != (0.0, 1.0):
                raise ModelError("Give either black and white, or mean and deviation, not both.")
            return normalised(_numbers(self.mean, "Mean"), _numbers(self.std, "Deviation"), divided=self.divided)
        return None if (self.black, self.white) == (0.0, 1.0) else (self.black, self.white)


def _scaling(turn: int) -> _Scaling:
    """How pixels were scaled: what black and white were, or a mean and a deviation for each channel."""
    st.caption("How pixels were scaled in training: the values of black and white, or mean and deviation.")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        hint = "Values of the darkest and the brightest pixel: 0 and 1, 0 and 255, or -1 and 1."
        black = st.number_input(
            "Black", value=0.0, step=1.0, format="%g", key=f"model-black-{turn}", width=110, help=hint
        )
        white = st.number_input(
            "White", value=1.0, step=1.0, format="%g", key=f"model-white-{turn}", width=110, help=hint
        )
        hint = "One for all channels or one for each, separated by spaces. Leave black and white unchanged."
        mean = st.text_input("Mean", key=f"model-mean-{turn}", placeholder="0.485 0.456 0.406", width=190, help=hint)
        std = st.text_input("Deviation", key=f"model-std-{turn}", placeholder="0.229 0.224 0.225", width=190, help=hint)
        divided = st.checkbox("divided by 255 first", value=True, key=f"model-divided-{turn}")
    return _Scaling(black, white, mean, std, divided)


def _numbers(text: str, what: str) -> list[float]:
    try:
        return [float(word) for word in text.replace(",", " ").replace(";", " ").split()]
    except ValueError:
        raise ModelError(f"{what}: numbers separated by spaces, such as 0.485 0.456 0.406; not {text!r}.") from None


def _few(names: tuple[str, ...], most: int = 12) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


# How does a network get trained from a page? As a run like any other, told by epoch; what comes of it is kept.


_AWAITED = "model-awaited"


def train(dataset: Dataset, models: Collection[StoredModel]) -> None:
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
