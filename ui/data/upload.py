"""How does somebody's own data set get in? Read by core, or refused in its words; stored before it is used.

What can be used takes the page over: its first rows, what each column is, what that comes to, and one button.
"""

from typing import Any

import streamlit as st

from touchstone.core.data import DataError, Dataset, read_dataset
from touchstone.core.data.errors import SizeNeeded
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.datasets import ENDINGS, name_of, open_table, table_dataset
from touchstone.core.data.tables.roles import DatasetRoles
from touchstone.core.evaluate.wording import plural
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import columns as data_columns
from touchstone.ui.data import samples
from touchstone.ui.shell import page, uploads
from touchstone.ui.shell.session import owner, workspace

FORMATS = (
    "**Images**: a zip with one folder per class, or an NPZ file with `images` and `labels`. **Text and tables**: TSV, "
    "CSV, JSONL or Parquet with a column of labels; columns `id` and `source` are optional. **Vectors**: an NPZ file "
    "with `x` and `y`."
)
SHOWN_ALREADY = (
    "Label: column",
    "Text: ",
    "Features: ",
    "Images: column",
    "Ids: ",
    "Sources: ",
    "Units: column",
    "Units: the sources",
)
"""How notes begin that say what stands over a table's columns."""
N_SHOWN = {"image": 12, "text": 3}
_CONTENT, _READ, _SIZE, _ROUND = "upload_content", "upload_read", "upload_size", "upload_round"


def control() -> Any:
    """The control that takes a file; the file that was given, None before."""
    key = f"upload-{st.session_state.setdefault(_ROUND, 0)}"
    kinds = [ending[1:] for ending in ENDINGS]
    return st.file_uploader("A file of your own", type=kinds, key=key, help=FORMATS, label_visibility="collapsed")


def takes_over(file: Any) -> bool:
    """What became of a file: an error in its words, or all that has to be known before it is used.

    Whether it is asked about, so that nothing else belongs on the page.
    """
    if file is None:
        return False
    try:
        content = _content(file)
        columns = None if isinstance(content, Dataset) else data_columns.columns_of(content, file.file_id)
    except SizeNeeded as problem:
        _ask_size(problem, file.file_id)
        return True
    except DataError as problem:
        page.error(problem)
        return False
    with st.container(border=True, key="upload"):
        if isinstance(content, Dataset):
            _offer(content)
            return True
        n_columns = plural(len(content.columns), "column")
        st.markdown(f"**{page.plain(file.name)}** has {n_columns}. Check what they are, then use it.")
        roles, problem = data_columns.ask(columns, file.file_id)
        dataset = None
        try:
            dataset = None if roles is None else _read(content, roles, file.file_id)
        except SizeNeeded as refusal:
            _ask_size(refusal, file.file_id)
            return True
        except DataError as refusal:
            problem = refusal
        if problem is not None:
            page.error(problem)
        _offer(dataset)
    return True


def _content(file: Any) -> Dataset | Table:
    """What is in an uploaded file, read once: a table, whose columns are asked about, or a data set."""
    if st.session_state.get(_CONTENT, (None, None))[0] != file.file_id:
        uploads.check(read_dataset, file)
        with st.spinner(f"Reading {page.plain(file.name)}"):
            table = open_table(file)
            read = read_dataset(file, image_size=_size_for(file.file_id)) if table is None else table
            st.session_state[_CONTENT] = (file.file_id, read)
    return st.session_state[_CONTENT][1]


def _read(table: Table, roles: DatasetRoles, file_id: str) -> Dataset:
    """The data set that a table makes with these roles, made once."""
    size = _size_for(file_id)
    if st.session_state.get(_READ, (None, None))[0] != (file_id, roles, size):
        dataset = table_dataset(
            table, name=name_of(table.archive or table.name), kind=roles.kind, roles=roles, image_size=size
        )
        st.session_state[_READ] = ((file_id, roles, size), dataset)
    return st.session_state[_READ][1]


def _size_for(file_id: str) -> tuple[int, int] | None:
    """The height and width that were asked for of the images of a file."""
    return st.session_state.get(_SIZE, {}).get(file_id)


def _ask_size(problem: SizeNeeded, file_id: str) -> None:
    """Images of several sizes are resized only when somebody says to what."""
    st.markdown(page.plain(problem))
    with st.form(f"size-{file_id}", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            height = st.number_input("Height", 1, None, problem.size[0], width=130)
            width = st.number_input("Width", 1, None, problem.size[1], width=130)
            if st.form_submit_button("Resize all images", type="primary"):
                st.session_state[_SIZE] = {file_id: (int(height), int(width))}
                st.rerun()
        st.caption("Bilinear, without keeping proportions.")


def _offer(dataset: Dataset | None) -> None:
    """What was read, in a few lines, and the button that stores and chooses it."""
    if dataset is not None:
        noun = {"image": "image", "text": "text", "tabular": "row"}[dataset.kind]
        counts = f"{plural(dataset.n_samples, noun)}, {plural(dataset.n_classes, 'class', 'classes')}"
        shares = data_columns.balance(dataset.class_names, dataset.n_per_class.tolist())
        sources = "" if dataset.sources is None else f" {plural(len(set(dataset.sources)), 'source')}."
        if dataset.sources_are_units:
            sources = f"{sources[:-1]}, each a unit."
        elif dataset.unit_codes is not None:
            sources += f" {plural(dataset.n_units, dataset.unit_word)}."
        st.markdown(f"**{page.plain(dataset.name)}**: {counts}: {page.plain(shares)}.{page.plain(sources)}")
        if dataset.kind == "image" or (dataset.read_as is None and dataset.kind in N_SHOWN):
            samples.show(dataset, samples.one_of_each(dataset)[: N_SHOWN[dataset.kind]].tolist())
        shown = SHOWN_ALREADY if dataset.read_as is not None else ()
        if notes := [note for note in dataset.notes if not note.startswith(shown)]:
            st.caption(page.plain(" ".join(notes)))
    st.button(
        "Use this data set",
        type="primary",
        key="use-upload",
        on_click=_use,
        args=(dataset,),
        disabled=dataset is None,
    )


@page.or_toast
def _use(dataset: Dataset) -> None:
    data_choice.choose(workspace().add_dataset(owner(), dataset))
    st.session_state[_ROUND] += 1  # a new control, without the file
    for key in (_CONTENT, _READ, _SIZE):
        st.session_state.pop(key, None)
    data_columns.forget()
