"""How do features get in without their model? Two files become a data set and a record of what the model said of it."""

from pathlib import PurePath
from typing import Any, NamedTuple

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.models.layer_files import ENDINGS, open_layer_file
from touchstone.ui.shell import page, uploads
from touchstone.ui.shell.session import owner, workspace

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
