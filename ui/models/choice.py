"""Which model is the question about? One that was trained here or uploaded; the address names it by fingerprint.

Models belong to a data set: choosing another data set puts the model aside.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import key
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.models import MODELS, fits
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange, normalised
from touchstone.core.models.layer_files import ENDINGS, open_layer_file
from touchstone.core.models.model_file import RECORDED, ModelFile
from touchstone.core.parameters import About
from touchstone.core.split.scheme import Split
from touchstone.core.split.units import DRAWN, FILE, rows_to_judge
from touchstone.core.trials import TrainingPlan
from touchstone.core.trials.layer_parts import UPLOADED, LayerParts, layer_parts, layers_offered, split_of
from touchstone.core.trials.training_plan import trainable
from touchstone.core.workspace import Run, StoredModel, WorkspaceError, load_plan
from touchstone.ui import cache
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.controls import choice_line
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell import background, jobs, page, uploads
from touchstone.ui.shell.session import hold, owner, read_only, workspace

# How do features get in without their model? Two files become a data set and a record of what the model said of it.


FORMAT = (
    "NPZ, or a zip of NPY files, with three arrays. **features** of one layer (n, d); **proba** or **logits** of "
    "the model (n, number of classes); **labels**, the true classes. Optional: **class_names** and **ids**. Or a "
    "table (CSV, TSV, JSONL, Parquet) with columns such as prob_cat, prob_dog, label, id; other numbers are features."
)
_ROUND = "features-upload-round"


class Added(NamedTuple):
    """Fingerprints of what was just stored."""

    dataset: str
    record: str


def turn() -> int:
    """How many uploads this session has made: each form is a new, empty one."""
    return st.session_state.setdefault(_ROUND, 0)


def upload_features() -> Added | None:
    """The form for the two files, and what was wrong with them; returns what was just stored."""
    st.caption(
        "For a model that you cannot upload. Its features become a data set of their own. A linear head fitted to "
        "them replaces the rest of the model."
    )
    types = [ending[1:] for ending in ENDINGS]
    with st.form(f"features-upload-form-{turn()}", border=False, enter_to_submit=False):
        with st.container(horizontal=True, gap="medium"):
            train = st.file_uploader("Training part", type=types, key=f"features-train-{turn()}", help=FORMAT)
            test = st.file_uploader("Test part", type=types, key=f"features-test-{turn()}", help=FORMAT)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            name = st.text_input("Name", key=f"features-name-{turn()}", placeholder="as the first file", width=280)
            asked = st.form_submit_button("Use these features", key="use-features")
    if not asked:
        return None
    if train is None or test is None:
        st.warning("Choose both files first.", icon=":material/upload_file:")
        return None
    try:
        with st.spinner("Reading both files"):
            return _store(train, test, name.strip() or PurePath(train.name).stem)
    except DataError as problem:
        page.error(problem)
        return None


def _store(train: Any, test: Any, name: str) -> Added:
    from touchstone.core.models.layer_files import read_recorded, record_of

    for part, file in (("Training part", train), ("Test part", test)):
        try:
            uploads.check(open_layer_file, file)
        except DataError as problem:
            raise DataError(f"{part}, {problem}") from None
    parts = read_recorded(
        train.getvalue(),
        test.getvalue(),
        train_name=f"{train.name} (training part)",
        test_name=f"{test.name} (test part)",
    )
    dataset, record = record_of(*parts, name=name)
    kept = Added(
        workspace().add_dataset(owner(), dataset),
        workspace().keep_model(owner(), record.to_bytes(), name=name, has_gradients=False),
    )
    st.session_state[_ROUND] += 1  # a new, empty form
    return kept


# Which model is the question about? One that was trained here or uploaded; the address names it by fingerprint.


ADDRESS = "model"
"""The parameter of the address that names the model."""
LAYER = "layer"
"""The parameter of those pages that look into a layer of it."""
GONE = (
    "The model in this address was deleted, belongs to another data set, or to somebody else. No result is shown. "
    "Choose another model, or train or upload one."
)
ONLY_RECORDED = (
    "This address names uploaded features and probabilities without their model. This page needs the model itself. "
    "Choose a model, or train or upload one."
)
_OF, _CONTROL = "model-of", "model-control"


def choose(dataset: Dataset, *, records: bool = False) -> StoredModel | None:
    """The control: choose, train, upload or delete a model of this data set; returns the one in use.

    None where there is none yet, or where the address names one that is not there, which a sentence then says. With
    `records`, uploaded features stand among the models, and more can be uploaded.
    """
    stored = {model.fingerprint: model for model in workspace().models(owner(), dataset.fingerprint)}
    known = {name: model for name, model in stored.items() if records or model.architecture != RECORDED}
    ready = take_ready(known.values())
    address = ready or _address(dataset, hidden=stored.keys() - known.keys()) or next(iter(known), None)
    _remember(dataset.fingerprint, address)
    chosen = known.get(address or "")
    with _place(chosen, known, dataset):
        if read_only():
            return _of_link(chosen, dataset)
        _select(dataset, known, address)
        if chosen is not None:
            _about(chosen, dataset)
        elif address in stored:
            st.error(ONLY_RECORDED, title="This address names no model", icon=":material/link_off:")
        elif address is not None:
            st.error(GONE, title="This model is not here", icon=":material/link_off:")
        else:
            st.markdown(
                "No model for these data is stored yet. Train one here, or upload one that was trained elsewhere."
            )
        with st.expander(
            "Train a model", expanded=not known, icon=":material/model_training:", key=f"model-train-{bool(known)}"
        ):
            train(dataset, known.values())
        with st.expander("Upload a model", icon=":material/upload_file:", key="model-upload"):
            added = upload_model(dataset)
        if records:
            _features()
    if added is not None:
        _remember(dataset.fingerprint, added)
        st.rerun()
    return chosen


def _place(chosen: StoredModel | None, known: Mapping[str, StoredModel], dataset: Dataset) -> DeltaGenerator:
    """Where the control stands: in the open while no model is in use, and in the line of the one that is."""
    if chosen is None:
        return st.container(border=True, gap="small", key="model-choice")
    how_good = "".join(f" · {page.plain(part)}" for part in (*tested(chosen, dataset), *_beside(chosen, dataset)))
    return choice_line(
        f"Model **{page.plain(title(chosen, known))}**{how_good}", key="model", chosen=chosen.fingerprint
    )


def _of_link(chosen: StoredModel | None, dataset: Dataset) -> StoredModel | None:
    """The model of what is seen through a link: nothing to choose, to bring or to take home."""
    if chosen is None:
        st.error(GONE, title="This model is not here", icon=":material/link_off:")
    else:
        st.caption(page.plain(describe(chosen, dataset)))
    return chosen


def _features() -> None:
    """The form for features without a model; what was uploaded becomes the data set and the model of the page."""
    place = f"features-upload-{turn()}"  # a new one, closed, when something was uploaded
    with st.expander("Upload features instead", icon=":material/dataset:", key=place):
        added = upload_features()
    if added is not None:
        st.session_state[LAYER] = UPLOADED  # in the place of another model's
        data_choice.choose(added.dataset)
        _remember(added.dataset, added.record)
        st.rerun()


def parameters(model: StoredModel) -> dict[str, list[str]]:
    """The parameter of the address that leads to this model."""
    return {ADDRESS: [model.fingerprint]}


def title(model: StoredModel, among: Mapping[str, StoredModel]) -> str:
    """What a model is called on the screen: two of one name are told apart by when they came."""
    if sum(other.name == model.name for other in among.values()) == 1:
        return model.name
    return f"{model.name} ({datetime.fromtimestamp(model.created, UTC):%d %b %Y, %H:%M:%S})"


def _select(dataset: Dataset, known: Mapping[str, StoredModel], address: str | None) -> None:
    if not known:
        return
    st.session_state[_CONTROL] = address if address in known else None
    st.selectbox(
        "Model",
        list(known),
        index=0 if address in known else None,
        format_func=lambda fingerprint: title(known[fingerprint], known),
        key=_CONTROL,
        on_change=lambda: _remember(dataset.fingerprint, st.session_state[_CONTROL]),
        placeholder="Choose a model",
    )


def _about(model: StoredModel, dataset: Dataset) -> None:
    """What is known of a model, in a line, and what can be done with it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(page.plain(describe(model, dataset)), width="stretch")
        if model.architecture != RECORDED:
            page.download(
                "Download",
                lambda: ModelFile.from_bytes(workspace().model_bytes(owner(), model.fingerprint)).content,
                name=model.file_name,
                mime="application/octet-stream",
                key="model-download",
            )
        if st.button("Delete", key="model-delete", icon=":material/delete:", type="tertiary"):
            _delete(model)


def describe(model: StoredModel, dataset: Dataset | None = None) -> str:
    """Where a model comes from and how good it was when it was trained.

    >>> describe(StoredModel("f1f2", "d1", "mine", None, "mine.onnx", None, None, None, 0.0))
    'Uploaded as mine.onnx, 01 Jan 1970 · model f1f2'
    """
    when = f"{datetime.fromtimestamp(model.created, UTC):%d %b %Y}"
    if model.architecture == RECORDED:
        return f"Features and probabilities without their model, uploaded {when} · record {model.fingerprint[:12]}"
    how_good = "".join(f" · {part}" for part in tested(model, dataset))
    if model.training_plan is None:
        kind = f" ({MODELS[model.architecture].label})" if model.architecture in MODELS else ""
        return f"Uploaded as {model.file_name}{kind}, {when}{how_good} · model {model.fingerprint[:12]}"
    return f"Trained here, {when}{how_good} · model {model.fingerprint[:12]}"


def _beside(model: StoredModel, dataset: Dataset) -> tuple[str, ...]:
    """What the accuracy of a model stands beside: the majority class and chance."""
    if not model.n_test:
        return ()
    y = dataset.y[rows_to_judge(dataset)] if _on_the_files(model, dataset) else dataset.y
    majority = max(np.bincount(y)) / len(y)
    return (f"majority class {percent(majority)}, chance {percent(1 / dataset.n_classes)}",)


def _on_the_files(model: StoredModel, dataset: Dataset | None) -> bool:
    """Whether a model was tested on the test set that the file of the data set marks."""
    return split_of(model.training_plan, dataset)["test_set"] == FILE


def tested(model: StoredModel, dataset: Dataset | None) -> tuple[str, ...]:
    """How good a model is, and on how many samples; nothing where that is not known.

    >>> tested(StoredModel("f1f2", "d1", "mine", None, "mine.safetensors", "{}", 200, 190, 0.0), None)
    ('accuracy 95.0 % [91.0, 97.3]', 'n = 200 held-out samples')
    >>> tested(StoredModel("f1f2", "d1", "mine", None, "mine.onnx", None, 200, 190, 0.0), None)[1]
    'n = 200 samples, possibly including its training samples'
    """
    if not model.n_test or model.n_correct is None:
        return ()
    accuracy = percent(model.n_correct / model.n_test, wilson(float(model.n_correct), float(model.n_test)))
    which = "samples, possibly including its training samples"
    which = which if model.training_plan is None else "held-out samples"
    which = "samples of the file's test set" if _on_the_files(model, dataset) else which
    return f"accuracy {accuracy}", f"n = {count(model.n_test)} {which}"


@st.dialog("Delete this model?")
def _delete(model: StoredModel) -> None:
    st.markdown(
        f"**{page.plain(model.name)}** is deleted for good. Results computed with it stay; every address that "
        f"names it will say that it was deleted."
    )
    page.delete_or_keep(lambda: _forget(model))


def _forget(model: StoredModel) -> None:
    workspace().delete_model(owner(), model.fingerprint)
    _remember(model.dataset_fingerprint, None)


def _address(dataset: Dataset, *, hidden: Collection[str]) -> str | None:
    """The model that the address (or else this session) names for this data set.

    One that is hidden here is passed over where only another page has chosen it.
    """
    data, remembered = st.session_state.get(_OF, (None, None))
    if data not in (None, dataset.fingerprint):
        st.query_params.pop(ADDRESS, None)
        return None
    return st.query_params.get(ADDRESS) or (None if remembered in hidden else remembered)


def _remember(dataset: str, address: str | None) -> None:
    if address is None:
        st.session_state.pop(_OF, None)
    else:
        st.session_state[_OF] = (dataset, address)
    hold(ADDRESS, address)


# How does a layer of a stored model see its data set? Read once, for all questions that rest on it.


@cache.result(max_entries=32)
def layers(dataset: Dataset, model: StoredModel) -> tuple[str, ...]:
    """The layers that a model offers, the usual one first. Raises ModelError for a file that cannot be read."""
    return layers_offered(workspace().model_bytes(owner(), model.fingerprint), dataset)


def parts_name(dataset: Dataset, model: StoredModel, layer: str) -> str:
    """What both parts of a data set in a layer go by in keys."""
    split = split_of(model.training_plan, dataset)
    return key("layer parts", dataset.fingerprint, model.fingerprint, layer, *split.values())


@cache.task(max_entries=3)  # few: the features of a large data set take hundreds of megabytes
def layer_samples(dataset: Dataset, model: StoredModel, layer: str) -> background.Work[LayerParts]:
    """Training and test part of a data set in a layer of a model, split as when it was trained."""
    split, owner_name, shelf = split_of(model.training_plan, dataset), owner(), workspace()

    def read(step: Callable[[], None]) -> LayerParts:
        stored = shelf.model_bytes(owner_name, model.fingerprint)
        return layer_parts(stored, dataset, layer=layer, **split, is_known=model.training_plan is not None)

    return background.Work(read)


# How does a model that was trained elsewhere get in? Read without running it, tried on the data set, then stored.


FORMATS = (
    "**safetensors**: the weights of one of the networks here. **ONNX**: any network, if the server has "
    "onnxruntime. ONNX has no gradients, so only estimators that need none are available. **torch.export** (.pt2): "
    "only if the server's owner allows it. Pickles are refused, because reading one can run any code."
)
_SAID = "as in the file"
_UPLOAD_ROUND = "model-upload-round"


def upload_model(dataset: Dataset) -> str | None:
    """The form for a file, and what was wrong with it; returns the fingerprint of a model that was just stored."""
    turn = st.session_state.setdefault(_UPLOAD_ROUND, 0)
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
            return _keep_upload(
                file, dataset, architecture or None, None if scaled is None else scaled.input_range, name
            )
    except DataError as problem:
        page.error(problem)
        return None


def _keep_upload(
    file: Any, dataset: Dataset, architecture: str | None, input_range: InputRange | None, name: str
) -> str:
    from touchstone.core.workspace.workspace import bring_model

    settled = {"architecture": architecture, "input_range": input_range}
    given = (file.name, file.getvalue(), dataset)
    fingerprint, judged = bring_model(workspace(), owner(), *given, name=name, **settled)
    if judged.hint:
        accuracy = percent(judged.accuracy, wilson(float(judged.n_correct), float(judged.n)))
        warning = f"Accuracy of {page.plain(file.name)} on these data: {accuracy}. {page.plain(judged.hint)}"
        st.toast(warning, icon=":material/warning:", duration="infinite")
    st.session_state[_UPLOAD_ROUND] += 1  # a new, empty form
    return fingerprint


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
    ends = " Training ends when the loss falls no more." if plan.n_epochs is None else ""
    if plan.test_set == DRAWN:
        return (
            f"Trained on {plural(n_train, 'sample')}, tested on {plural(n_test, 'other')}, with the same share of "
            f"every "
            f"class.{ends}"
        )
    n_out = dataset.n_samples - n_train - n_test
    out = f" Its {plural(n_out, 'validation sample')} take no part." if n_out else ""
    return (
        f"Trained on the {plural(n_train, 'sample')} that the file marks as train, tested on the {count(n_test)} that "
        f"it marks as test.{out}{ends}"
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
