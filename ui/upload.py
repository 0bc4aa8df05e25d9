"""How does somebody's own data set get in? Read by core, or refused in its words; stored before it is used."""

from typing import Any

import streamlit as st

from core.data import DataError, Dataset, RolesNeeded, read_dataset
from core.data.roles import Roles
from core.evaluate.wording import plural
from ui import data_choice, page
from ui.session import owner, workspace

TYPES = ["npz", "zip", "tsv", "csv", "parquet", "jsonl"]
FORMATS = (
    "**Images**: a zip with one folder per class, or an NPZ file with `images` and `labels`. **Text or tables**: TSV, CSV, "
    "Parquet or JSONL with a column of labels; columns `id` and `source` are optional. **Vectors**: NPZ with `x` and `y`."
)
_READ = "upload_read"


def uploader() -> None:
    """The file control, and what became of the file: an error, a question about its columns, or a data set to use."""
    file = st.file_uploader("A file of your own", type=TYPES, key="upload", help=FORMATS)
    if file is None:
        return
    try:
        dataset = _read(file)
    except RolesNeeded as needed:
        _ask(needed, file.file_id)
    except DataError as problem:
        page.error(problem)
    else:
        _offer(dataset)


def _read(file: Any) -> Dataset:
    """The data set in an uploaded file, read once for each choice of its columns."""
    roles = st.session_state.get(_roles_key(file.file_id))
    key = (file.file_id, roles)
    if st.session_state.get(_READ, (None, None))[0] != key:
        with st.spinner(f"Reading {page.plain(file.name)}"):
            file.seek(0)
            st.session_state[_READ] = (key, read_dataset(file, roles=roles))
    return st.session_state[_READ][1]


def _roles_key(file_id: str) -> str:
    return f"upload_roles_{file_id}"


def _ask(needed: RolesNeeded, file_id: str) -> None:
    """The guess about a table's columns, to be confirmed or corrected."""
    guess: Roles = needed.guess or Roles()
    choices = list(dict.fromkeys([*guess.columns, *needed.choices]))
    with st.form(f"roles-{file_id}"):
        st.markdown(page.plain(needed.question))
        with st.container(horizontal=True):
            label = _column("Label", choices, guess.label)
            text = _column("Text", choices, guess.text, "Leave it empty for a table of numbers.")
            ids = _column("Id", choices, guess.id, "Optional: names each row.")
            source = _column("Source", choices, guess.source, "Optional: the writer, site or device a row comes from.")
        features = st.multiselect(
            "Features", choices, list(guess.features), help="For a table of numbers: its columns. Empty: all others."
        )
        if st.form_submit_button("Read the file so", type="primary"):
            st.session_state[_roles_key(file_id)] = Roles(label, text, tuple(features), ids, source)
            st.rerun()


def _column(role: str, choices: list[str], guess: str | None, hint: str | None = None) -> str | None:
    index = choices.index(guess) if guess in choices else None
    return st.selectbox(role, choices, index=index, placeholder="none", help=hint)


def _offer(dataset: Dataset) -> None:
    """What was read, in a line, and the button that stores and chooses it."""
    noun = {"image": "image", "text": "text", "tabular": "row"}[dataset.kind]
    st.markdown(
        f"**{page.plain(dataset.name)}**: {plural(dataset.n_samples, noun)}, "
        f"{plural(dataset.n_classes, 'class', 'classes')}. {page.plain(' '.join(dataset.notes))}"
    )
    st.button("Use this data set", type="primary", key="use-upload", on_click=_use, args=(dataset,))


def _use(dataset: Dataset) -> None:
    data_choice.choose(workspace().add_dataset(owner(), dataset))
