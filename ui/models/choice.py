"""Which model is the question about? One that was trained here or uploaded; the address names it by fingerprint.

Models belong to a data set: choosing another data set puts the model aside.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.identity import key
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.wording import count, percent
from touchstone.core.models import MODELS
from touchstone.core.models.layer_files import ENDINGS, open_layer_file
from touchstone.core.models.stored import RECORDED, ModelFile
from touchstone.core.split import FILE, rows_to_judge
from touchstone.core.trials.layer_parts import UPLOADED, LayerParts, layer_parts, layers_offered, split_of
from touchstone.core.workspace import StoredModel, WorkspaceError
from touchstone.ui import cache
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.controls import choice_line
from touchstone.ui.models import upload as model_training
from touchstone.ui.models import upload as model_upload
from touchstone.ui.shell import background, page, uploads
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


def section() -> Added | None:
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
    from touchstone.core.models.recorded import read_recorded, record_of

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


def model_choice(dataset: Dataset, *, records: bool = False) -> StoredModel | None:
    """The control: choose, train, upload or delete a model of this data set; returns the one in use.

    None where there is none yet, or where the address names one that is not there, which a sentence then says. With
    `records`, uploaded features stand among the models, and more can be uploaded.
    """
    stored = {model.fingerprint: model for model in workspace().models(owner(), dataset.fingerprint)}
    known = {name: model for name, model in stored.items() if records or model.architecture != RECORDED}
    ready = model_training.take_ready(known.values())
    address = ready or _address(dataset, hidden=stored.keys() - known.keys()) or next(iter(known), None)
    _remember(dataset.fingerprint, address)
    chosen = known.get(address or "")
    with _place(chosen, known, dataset):
        if read_only():
            return _of_link(chosen, dataset)
        _choose(dataset, known, address)
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
            model_training.train(dataset, known.values())
        with st.expander("Upload a model", icon=":material/upload_file:", key="model-upload"):
            added = model_upload.section(dataset)
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
    key = f"features-upload-{turn()}"  # a new one, closed, when something was uploaded
    with st.expander("Upload features instead", icon=":material/dataset:", key=key):
        added = section()
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


def _choose(dataset: Dataset, known: Mapping[str, StoredModel], address: str | None) -> None:
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
    with st.container(horizontal=True):
        if st.button("Delete", type="primary", key="really-delete-model", on_click=_forget, args=(model,)):
            st.rerun()
        if st.button("Keep", key="keep-model"):
            st.rerun()


def _forget(model: StoredModel) -> None:
    try:
        workspace().delete_model(owner(), model.fingerprint)
    except WorkspaceError as problem:  # somebody was faster
        st.toast(page.plain(problem), icon=":material/error:")
    st.session_state.pop(_OF, None)
    st.query_params.pop(ADDRESS, None)


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
