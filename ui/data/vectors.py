"""How do vectors of somebody's own get to a data set? Matched by core and stored with it, as another data set."""

from typing import Any

import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.tables.vectors import VECTOR_ENDINGS
from touchstone.core.represent.word_vectors import WORD_ENDINGS, add_vectors, open_vectors
from touchstone.core.workspace import WorkspaceError
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.choice import Choice
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell import page, uploads
from touchstone.ui.shell.session import owner, read_only, workspace

BY_ID = (
    "A vector for every sample, from any model of yours. Parquet, TSV, CSV or JSONL: a column `id` and a column "
    "per dimension, or one column of lists. NPZ: `ids` and `vectors`; or NPY. Ids must be those of the data set; "
    "without ids, rows must be in the order of the samples."
)
WORDS = (
    " For texts, also word vectors in word2vec's or GloVe's format (`.vec`, `.bin`, `.txt`, perhaps `.gz`): each text "
    "gets the mean of its words."
)
_READ, _ROUND = "vectors_read", "vectors_round"


def attach(choice: Choice) -> None:
    """The folded place for a file of vectors, and what became of it: an error, or a data set to use.

    `choice` must be stored, as it is once `data_choice.dataset()` was called. Nothing through a link.
    """
    if choice.stored is None or read_only():
        return
    fingerprint = choice.stored.fingerprint
    with st.expander("Vectors of your own", icon=":material/hub:", key="own-vectors"):
        st.caption(BY_ID + (WORDS if choice.stored.kind == "text" else ""))
        endings = (*VECTOR_ENDINGS, *(WORD_ENDINGS if choice.stored.kind == "text" else ()), ".gz")
        key = f"vectors-{fingerprint[:8]}-{st.session_state.setdefault(_ROUND, 0)}"
        file = st.file_uploader("A file of vectors", type=[ending[1:] for ending in endings], key=key)
        if file is None:
            return
        try:
            dataset = _attached(file, fingerprint)
        except (DataError, WorkspaceError) as problem:
            page.error(problem)
        else:
            _offer(dataset)


def _attached(file: Any, fingerprint: str) -> Dataset:
    """The data set with what is in the file, read and matched once."""
    name = (file.file_id, fingerprint)
    if st.session_state.get(_READ, (None, None))[0] != name:
        uploads.check(open_vectors, file)
        with st.spinner(f"Reading {page.plain(file.name)}"):
            st.session_state[_READ] = (name, add_vectors(dataset_of(fingerprint), file))
    return st.session_state[_READ][1]


def _offer(dataset: Dataset) -> None:
    st.markdown(f"**{page.plain(dataset.name)}**: {page.plain(' '.join(dataset.notes))}")
    st.button("Use with these vectors", type="primary", key="use-vectors", on_click=_use, args=(dataset,))


@page.or_toast
def _use(dataset: Dataset) -> None:
    data_choice.choose(workspace().add_dataset(owner(), dataset))
    st.session_state[_ROUND] += 1  # a new control, without the file
    del st.session_state[_READ]
