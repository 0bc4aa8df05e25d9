"""How does somebody's own data set get in? Read by core, or refused in its words; stored before it is used.

What can be used takes the page over: its first rows, what each column is, what that comes to, and one button.
"""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
import streamlit as st

from touchstone.core.data import DataError, Dataset, read_dataset
from touchstone.core.data.errors import SizeNeeded
from touchstone.core.data.tables.datasets import ENDINGS, name_of, open_table, table_dataset, tables_of_parts
from touchstone.core.data.tables.names import sources_are_units
from touchstone.core.data.tables.roles import (
    INPUTS,
    SINGLE,
    DatasetRoles,
    Proposal,
    Values,
    features_of,
    propose_roles,
    values_of,
)
from touchstone.core.data.tables.sources import LEFT_OUT, NOT_USED, OF_THEIR_OWN, SOURCELESS, part_name
from touchstone.core.data.tables.table import Table
from touchstone.core.data.tables.vectors import VECTOR_ENDINGS
from touchstone.core.data.values import spell
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted
from touchstone.core.represent.word_vectors import WORD_ENDINGS, add_vectors, open_vectors
from touchstone.core.workspace import WorkspaceError
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples
from touchstone.ui.shell import page, session, uploads

# Which column is what? The first rows with a role over each, a control for each role, and what a choice comes to.


N_ROWS, MOST_COLUMNS, LONGEST_CELL = 5, 40, 120
FIRST = ("id", "source", "label", "text")
ORDER = ("label", "text", "id", "source", "unit", "part", "image")
RARE = ("part", "image")
"""Roles that are asked about only where a column may have one: its cells alone can say so."""
USUAL = 4  # roles are asked about side by side
NOTHING = ""
"""What is chosen where no column has a role, or where all columns of numbers are inputs: no column is called so."""
ROLES = {
    "label": ("Label", "The class that a model predicts."),
    "text": ("Inputs", "What the model sees: all columns of numbers, or one of text."),
    "id": ("Id", "The name of each row; without it, rows are numbered."),
    "source": ("Source", "The person, site or device that a row comes from. Accuracy can then be tested on new ones."),
    "unit": ("Unit", "What was sampled independently, such as an author. No split has one on both sides."),
    "part": ("Part", "Whether the file itself marks a row for training, validation or test."),
    "image": ("Images", "PNG or JPEG files, one per cell."),
}
"""What the screen calls a role, and what it says besides."""
GAPS = {NOT_USED: "Do not use sources", LEFT_OUT: "Leave these rows out", OF_THEIR_OWN: "One source of their own"}
_TOO_MANY_CELLS = 2_000_000  # above it, what a column holds is looked up only once it is chosen
_COLUMNS = "upload_columns"


@dataclass
class Columns:
    """A table, its likeliest roles, and what was looked up of its columns so far."""

    table: Table
    proposal: Proposal
    values: dict[str, Values] = field(default_factory=dict)
    numbers: dict[DatasetRoles, tuple[str, ...]] = field(default_factory=dict)

    def values_of(self, column: str) -> Values:
        """What stands in a column, looked up once."""
        if column not in self.values:
            self.values[column] = values_of(self.table, column)
        return self.values[column]

    def numbers_beside(self, chosen: Mapping[str, str | None]) -> tuple[str, ...]:
        """The columns of numbers that these roles leave, looked up once; none where there is no label yet."""
        roles = DatasetRoles(**{**chosen, "text": None})
        if roles not in self.numbers:
            try:
                self.numbers[roles] = features_of(self.table, roles) if roles.label else ()
            except DataError:
                self.numbers[roles] = ()
        return self.numbers[roles]


def columns_of(table: Table, file_id: str) -> Columns:
    """What is known of an uploaded table, worked out once; DataError where it can make no data set."""
    if st.session_state.get(_COLUMNS, (None, None))[0] != file_id:
        st.session_state[_COLUMNS] = (file_id, Columns(table, propose_roles(table)))
    return st.session_state[_COLUMNS][1]


def forget() -> None:
    """Let go of a table that is in use by now."""
    st.session_state.pop(_COLUMNS, None)


def ask(columns: Columns, file_id: str) -> tuple[DatasetRoles | None, DataError | None]:
    """The controls, with the first rows above them, and the roles that they say; None, or why not, before they do."""
    rows = st.container()
    asked = [role for role in ORDER if role not in RARE or getattr(columns.proposal.roles, role) is not None]
    for role in asked:
        st.session_state.setdefault(_key(role, file_id), getattr(columns.proposal.roles, role) or _nothing(role))
    chosen = {role: st.session_state[_key(role, file_id)] or None for role in asked}
    numbers = columns.numbers_beside(chosen)
    without = {
        "text": "images" if chosen.get("image") else f"{plural(len(numbers), 'column')} of numbers",
        "unit": "the sources" if _are_units(chosen.get("source"), columns) else "each row",
    }
    with st.grid(len(asked), min_column_width=150 if len(asked) > USUAL else 200):
        for role in asked:
            _choose(role, chosen[role], columns, without.get(role, "none"), file_id)
    is_open, sourceless = _sourceless(chosen.get("source"), columns, file_id)
    own = any(chosen.get(role) for role in INPUTS)
    inputs = () if own or not chosen["label"] else _inputs(numbers, file_id)
    with rows:
        _first_rows(columns.table, chosen, inputs)
    if chosen["label"] is None or is_open:
        return None, None
    if not own and not inputs:
        return None, DataError(f"{columns.table.name}: no column of numbers is left for inputs. Choose one of text.")
    named = inputs if inputs != numbers or columns.proposal.roles.image else ()  # where none are, images are taken
    return DatasetRoles(**chosen, features=named, sourceless=sourceless), None


def _sourceless(source: str | None, columns: Columns, file_id: str) -> tuple[bool, str | None]:
    """Whether rows without a source are asked about, since there are some, and what becomes of them."""
    n = 0 if source is None else columns.values_of(source).n_missing
    if not n:
        return False, None
    title = f"{count(n)} of {plural(columns.table.n_rows, 'row')} {'has' if n == 1 else 'have'} no source"
    chosen = st.radio(title, SOURCELESS, None, horizontal=True, key=f"sourceless-{file_id}", format_func=GAPS.get)
    return chosen is None, chosen


def _are_units(source: str | None, columns: Columns) -> bool:
    """Whether sources are units where nobody names these."""
    return source is not None and sources_are_units(columns.values_of(source).n_different, source)


def _key(role: str, file_id: str) -> str:
    return f"role-{role}-{file_id}"


def _nothing(role: str) -> str | None:
    """What stands in a control where no column has the role; there has to be a label."""
    return None if role == "label" else NOTHING


def _choose(role: str, chosen: str | None, columns: Columns, without: str, file_id: str) -> None:
    """The control of a role, and beneath it what the choice comes to."""
    title, hint = ROLES[role]
    with st.container(gap="xsmall"):
        st.selectbox(
            title,
            (*([] if role == "label" else [NOTHING]), *columns.table.columns),
            key=_key(role, file_id),
            format_func=lambda column: _named(role, column, columns) if column else without,
            placeholder="Choose a column",
            help=hint,
            on_change=_take_from_others,
            args=(role, file_id),
        )
        st.caption(page.plain(_comes_to(role, chosen, columns, without)))


def _take_from_others(role: str, file_id: str) -> None:
    """A column has one role: the one that it was given last."""
    chosen = st.session_state[_key(role, file_id)]
    for other in SINGLE:
        if other != role and chosen and st.session_state.get(_key(other, file_id)) == chosen:
            st.session_state[_key(other, file_id)] = _nothing(other)


def _named(role: str, column: str, columns: Columns) -> str:
    """A column in the list of a role: for a label with its number of classes, where that is soon known."""
    table = columns.table
    if role != "label" or table.n_rows * len(table.columns) > _TOO_MANY_CELLS or not table.is_label(column):
        return column
    n_classes = columns.values_of(column).n_different
    return f"{column} · {plural(n_classes, 'class', 'classes')}" if n_classes > 1 else column


def _comes_to(role: str, column: str | None, columns: Columns, without: str) -> str:
    """What a choice comes to beside what is said below of the whole, and why it was made where nothing decided it."""
    if column is None:
        inputs = "" if without == ROLES["image"][0].lower() else "All without another role."
        return {"label": "", "text": inputs, "id": "Rows are numbered.", "unit": ""}.get(role, "None known.")
    held = {"label": "", "text": "A text in each row.", "image": ""}
    content = held[role] if role in held else _content(role, columns.values_of(column))
    why = columns.proposal.why.get(role, "").partition(";")[0].partition(":")[0]
    if not why or role == "id" or getattr(columns.proposal.roles, role) != column:
        return content
    return f"{content} {why[:1].upper()}{why[1:]}.".strip()


def _content(role: str, values: Values) -> str:
    """What stands in a column of ids, sources or parts, as what its role makes of it."""
    sizes = [n for _, n in values.counts]
    if not sizes:
        return "Empty in every row."
    if role == "id":
        unique = max(sizes) == 1
        return (
            "Different in every row." if unique else f"{count(len(sizes))} different ones in {count(sum(sizes))} rows."
        )
    low, high = count(min(sizes)), plural(max(sizes), "row")
    return f"{high if min(sizes) == max(sizes) else f'{low} to {high}'} each."


def _inputs(numbers: tuple[str, ...], file_id: str) -> tuple[str, ...]:
    """The columns of numbers that are inputs: those that are none are named, for there may be thousands that are."""
    left_out = st.multiselect(
        "Columns of numbers to leave out",
        numbers,
        key=f"left-out-{file_id}",
        placeholder="None",
        help="Columns that give the label away, such as a second diagnosis, and columns that measure nothing.",
    )
    return tuple(column for column in numbers if column not in set(left_out))


def _first_rows(table: Table, chosen: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """The first rows, those columns first that have a role, with the role over each."""
    over = dict.fromkeys(inputs, ROLES["text"][0])
    over |= {column: ROLES[role][0] for role, column in chosen.items() if column is not None}
    leading = [chosen[role] for role in dict.fromkeys((*FIRST, *chosen)) if chosen.get(role) is not None]
    rest = sorted((column for column in table.columns if column not in leading), key=lambda column: column not in over)
    shown = [*leading, *rest][:MOST_COLUMNS]
    frame = pd.DataFrame({column: [_cell(value) for value in table.columns[column][:N_ROWS]] for column in shown})
    frame.columns = pd.MultiIndex.from_tuples([(over.get(column, "Not an input"), column) for column in shown])
    st.dataframe(frame, hide_index=True, alt="The first rows of the file, with the role of each column")
    if len(table.columns) > MOST_COLUMNS:
        n_more = len(table.columns) - MOST_COLUMNS
        st.caption(f"And {plural(n_more, 'more column')}. Type a name into a control to find one.")


def _cell(value: object) -> str:
    shown = value if isinstance(value, str) else spell(value)
    shown = "" if value is None else str(value) if shown is None else shown
    return shown if len(shown) <= LONGEST_CELL else f"{shown[: LONGEST_CELL - 1]}…"


def balance(names: Sequence[str], n_per_class: Sequence[int], *, most: int = 6) -> str:
    """The classes with their shares, the largest first.

    >>> balance(["no", "yes"], [1, 3])
    '“yes” 75.0 %, “no” 25.0 %'
    """
    shares = sorted(zip(n_per_class, names, strict=True), key=lambda pair: -pair[0])
    n_samples = sum(n_per_class)
    shown = [f"{quoted(name)} {percent(n / n_samples)}" for n, name in shares]
    return listed(shown, most=most) if len(shown) > most else ", ".join(shown)


# How does somebody's own data set get in? Read by core, or refused in its words; stored before it is used.


FORMATS = (
    "**Images**: a zip with one folder per class, or an NPZ file with `images` and `labels`. **Text and tables**: TSV, "
    "CSV, JSONL or Parquet with a column of labels; columns `id` and `source` are optional. **Vectors**: an NPZ file "
    "with `x` and `y`. **Train and test**: both files at once, if called so, such as `train.csv` and `test.csv`."
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
_PACKED = "upload_packed"


class Packed(io.BytesIO):
    """Tables that are the parts of one data set, as the zip that somebody could have made of them."""

    def __init__(self, files: Sequence[Any], file_id: str):
        super().__init__()
        self.name, self.file_id = f"{_stem_of([file.name for file in files])}.zip", file_id
        with zipfile.ZipFile(self, "w") as archive:
            for file in files:
                archive.writestr(file.name, file.getvalue())
        self.seek(0)


def _stem_of(names: Sequence[str]) -> str:
    """What files of parts are called together.

    >>> _stem_of(["films_train.csv", "films_test.csv"]), _stem_of(["train.csv", "test.csv"])
    ('films', 'train and test')
    """
    stems = [name_of(name) for name in names]
    without = {"_".join(word for word in re.split(r"[\W_]+", stem) if part_name(word) is None) for stem in stems}
    return without.pop() if len(without) == 1 and all(without) else " and ".join(stems)


def _file_of(files: Sequence[Any]) -> Any:
    """The file that was given, or several as one; DataError where they are not the parts of one data set."""
    if len(files) == 1:
        return files[0]
    if not tables_of_parts([PurePosixPath(file.name) for file in files]):
        raise DataError(
            f"{listed([file.name for file in files])}: give one file, or tables called after the parts of one data "
            "set, such as train.csv and test.csv."
        )
    file_id = "-".join(file.file_id for file in files)
    if st.session_state.get(_PACKED, (None, None))[0] != file_id:
        st.session_state[_PACKED] = (file_id, Packed(files, file_id))
    return st.session_state[_PACKED][1]


def control() -> list[Any]:
    """The control that takes a file, or the parts of one data set; what was given, nothing before."""
    key = f"upload-{st.session_state.setdefault(_ROUND, 0)}"
    kinds = [ending[1:] for ending in ENDINGS]
    about = {"type": kinds, "key": key, "help": FORMATS, "label_visibility": "collapsed"}
    return st.file_uploader("A file of your own", accept_multiple_files=True, **about)


def takes_over(files: Sequence[Any]) -> bool:
    """What became of a file: an error in its words, or all that has to be known before it is used.

    Whether it is asked about, so that nothing else belongs on the page.
    """
    if not files:
        return False
    try:
        file = _file_of(files)
        content = _content_of_upload(file)
        columns = None if isinstance(content, Dataset) else columns_of(content, file.file_id)
    except SizeNeeded as problem:
        _ask_size(problem, files[0].file_id)
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
        roles, problem = ask(columns, file.file_id)
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
        _offer(dataset, is_packed=len(files) > 1)
    return True


def _content_of_upload(file: Any) -> Dataset | Table:
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


def _offer(dataset: Dataset | None, *, is_packed: bool = False) -> None:
    """What was read, in a few lines, and the button that stores and chooses it; packed here, no file reads as it."""
    if dataset is not None:
        noun = {"image": "image", "text": "text", "tabular": "row"}[dataset.kind]
        counts = f"{plural(dataset.n_samples, noun)}, {plural(dataset.n_classes, 'class', 'classes')}"
        shares = balance(dataset.class_names, dataset.n_per_class.tolist())
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
    used = replace(dataset, read_as=None) if dataset is not None and is_packed else dataset
    st.button("Use this data set", type="primary", key="use-upload", on_click=_use, args=(used,), disabled=used is None)


@page.or_toast
def _use(dataset: Dataset) -> None:
    data_choice.choose(session.workspace().add_dataset(session.owner(), dataset))
    st.session_state[_ROUND] += 1  # a new control, without the file
    for key in (_CONTENT, _READ, _SIZE, _PACKED):
        st.session_state.pop(key, None)
    forget()


# How do vectors of somebody's own get to a data set? Matched by core and stored with it, as another data set.


BY_ID = (
    "A vector for every sample, from any model of yours. Parquet, TSV, CSV or JSONL: a column `id` and a column "
    "per dimension, or one column of lists. NPZ: `ids` and `vectors`; or NPY. Ids must be those of the data set; "
    "without ids, rows must be in the order of the samples."
)
WORDS = (
    " For texts, also word vectors in word2vec's or GloVe's format (`.vec`, `.bin`, `.txt`, perhaps `.gz`): each text "
    "gets the mean of its words."
)
_VECTORS_READ, _VECTORS_ROUND = "vectors_read", "vectors_round"


def attach(choice: data_choice.Choice) -> None:
    """The folded place for a file of vectors, and what became of it: an error, or a data set to use.

    `choice` must be stored, as it is once `data_choice.dataset()` was called. Nothing through a link.
    """
    if choice.stored is None or session.read_only():
        return
    fingerprint = choice.stored.fingerprint
    with st.expander("Vectors of your own", icon=":material/hub:", key="own-vectors"):
        st.caption(BY_ID + (WORDS if choice.stored.kind == "text" else ""))
        endings = (*VECTOR_ENDINGS, *(WORD_ENDINGS if choice.stored.kind == "text" else ()), ".gz")
        key = f"vectors-{fingerprint[:8]}-{st.session_state.setdefault(_VECTORS_ROUND, 0)}"
        file = st.file_uploader("A file of vectors", type=[ending[1:] for ending in endings], key=key)
        if file is None:
            return
        try:
            dataset = _attached(file, fingerprint)
        except (DataError, WorkspaceError) as problem:
            page.error(problem)
        else:
            _offer_vectors(dataset)


def _attached(file: Any, fingerprint: str) -> Dataset:
    """The data set with what is in the file, read and matched once."""
    name = (file.file_id, fingerprint)
    if st.session_state.get(_VECTORS_READ, (None, None))[0] != name:
        uploads.check(open_vectors, file)
        with st.spinner(f"Reading {page.plain(file.name)}"):
            st.session_state[_VECTORS_READ] = (name, add_vectors(samples.dataset_of(fingerprint), file))
    return st.session_state[_VECTORS_READ][1]


def _offer_vectors(dataset: Dataset) -> None:
    st.markdown(f"**{page.plain(dataset.name)}**: {page.plain(' '.join(dataset.notes))}")
    st.button("Use with these vectors", type="primary", key="use-vectors", on_click=_use_vectors, args=(dataset,))


@page.or_toast
def _use_vectors(dataset: Dataset) -> None:
    data_choice.choose(session.workspace().add_dataset(session.owner(), dataset))
    st.session_state[_VECTORS_ROUND] += 1  # a new control, without the file
    del st.session_state[_VECTORS_READ]
