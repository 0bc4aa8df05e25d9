"""How does somebody's own data set get in? Read by core, or refused in its words; stored before it is used."""

from pathlib import PurePath
from typing import Any

import streamlit as st

from core.data import DataError, Dataset, RolesNeeded, read_dataset
from core.data.tables import Table
from core.data.tables.datasets import ENDINGS, table_dataset
from core.data.tables.files import read_table
from core.data.tables.roles import DatasetRoles, guess_dataset_roles
from core.evaluate.wording import plural
from ui.data import choice as data_choice
from ui.shell import page
from ui.shell.session import owner, workspace

FORMATS = (
    "**Images**: a zip with one folder per class, or an NPZ file with `images` and `labels`. **Text and tables**: TSV, "
    "CSV, JSONL or Parquet with a column of labels; columns `id` and `source` are optional. **Vectors**: an NPZ file "
    "with `x` and `y`."
)
NOT_TABLES = (".npz", ".zip")
_CONTENT, _ROLES, _ROUND = "upload_content", "upload_roles", "upload_round"


def uploader() -> None:
    """The file control, and what became of the file: an error, a question about its columns, or a data set to use."""
    key = f"upload-{st.session_state.setdefault(_ROUND, 0)}"
    file = st.file_uploader("A file of your own", type=[ending[1:] for ending in ENDINGS], key=key, help=FORMATS)
    if file is None:
        return
    try:
        content = _content(file)
        dataset = content if isinstance(content, Dataset) else _from_table(content, file.file_id)
    except DataError as problem:
        page.error(problem)
    else:
        if dataset is not None:
            _offer(dataset)


def _content(file: Any) -> Dataset | Table:
    """What is in an uploaded file, read once: a table, whose columns may be asked about, or a data set."""
    if st.session_state.get(_CONTENT, (None, None))[0] != file.file_id:
        with st.spinner(f"Reading {page.plain(file.name)}"):
            read = read_dataset if PurePath(file.name).suffix.lower() in NOT_TABLES else read_table
            st.session_state[_CONTENT] = (file.file_id, read(file))
    return st.session_state[_CONTENT][1]


def _from_table(table: Table, file_id: str) -> Dataset | None:
    """The data set that a table makes with the roles that were guessed or chosen; None while they are asked for."""
    chosen = st.session_state.get(_ROLES, {}).get(file_id)
    try:
        roles, question = guess_dataset_roles(table, roles=chosen), None
    except RolesNeeded as needed:
        roles, question = needed.guess or DatasetRoles(), needed.question
    with st.expander(page.plain(question) if question else "Columns, as they were understood", expanded=bool(question)):
        _ask(table, roles, file_id)
    return None if question else table_dataset(table, name=PurePath(table.name).stem, roles=roles)


def _ask(table: Table, guess: DatasetRoles, file_id: str) -> None:
    columns = list(table.columns)
    with st.form(f"roles-{file_id}", border=False):
        with st.container(horizontal=True):
            label = _column("Label", columns, guess.label, "What a model is to tell.")
            text = _column("Text", columns, guess.text, "None for a table of numbers.")
            ids = _column("Id", columns, guess.id, "Names each row; without it, rows are counted.")
            source = _column("Source", columns, guess.source, "The writer, site or device that a row comes from.")
        features = st.multiselect("Features (numbers)", columns, list(guess.features), key=f"features-{file_id}")
        if st.form_submit_button("Read it this way"):
            st.session_state[_ROLES] = {
                file_id: DatasetRoles(label, text, tuple(features) if not text else (), ids, source)
            }
            st.rerun()


def _column(role: str, columns: list[str], guess: str | None, hint: str) -> str | None:
    # One choice stands for no column, so that a wrong guess can be taken back.
    choices: list[str | None] = [None, *columns]
    index = choices.index(guess) if guess in columns else 0
    return st.selectbox(role, choices, index=index, format_func=lambda column: column or "none", help=hint)


def _offer(dataset: Dataset) -> None:
    """What was read, in a line, and the button that stores and chooses it."""
    noun = {"image": "image", "text": "text", "tabular": "row"}[dataset.kind]
    counts = f"{plural(dataset.n_samples, noun)}, {plural(dataset.n_classes, 'class', 'classes')}"
    st.markdown(f"**{page.plain(dataset.name)}**: {counts}. {page.plain(' '.join(dataset.notes))}")
    st.button("Use this data set", type="primary", key="use-upload", on_click=_use, args=(dataset,))


@page.or_toast
def _use(dataset: Dataset) -> None:
    data_choice.choose(workspace().add_dataset(owner(), dataset))
    st.session_state[_ROUND] += 1  # a new control, without the file
    del st.session_state[_CONTENT]
