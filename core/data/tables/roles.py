"""What is each column of a table? Guessed from names and contents, and asked about where that does not decide it."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from core.data.dataset import Kind
from core.data.errors import DataError, RolesNeeded
from core.data.tables.table import ROW_NAMES, Table
from core.data.values import as_numbers, first_repeat, listed, sample

NAMES: dict[str, tuple[str, ...]] = {  # how people call their columns, in lower case
    "label": (
        *("label", "labels", "class", "classes", "y", "target", "category", "gold", "gold_label", "gold_labels"),
        *("true_label", "class_label"),
    ),
    "text": (
        *("text", "texts", "sentence", "document", "doc", "body", "content", "review", "comment", "message"),
        *("tweet", "utterance", "paragraph", "abstract", "x"),
    ),
    "id": (
        "id",
        "ids",
        "uid",
        "uuid",
        "guid",
        "idx",
        "index",
        "key",
        "_id",
        "doc_id",
        "text_id",
        "textid",
        "sample_id",
    ),
    "source": (
        *("source", "sources", "source_id", "group", "groups", "group_id", "domain", "genre", "writer", "author"),
        *("speaker", "site", "subject", "subject_id", "patient", "patient_id", "participant", "participant_id"),
    ),
}
_WORDS_OF_TEXT = 3  # words per cell, on average, from which on a column is text rather than names
_MOST_CLASSES = 100


@dataclass(frozen=True)
class DatasetRoles:
    """What the columns of a data set's table are: its label, its text or features, and perhaps ids and sources.

    >>> DatasetRoles(label="polarity", text="sentence").columns
    ('polarity', 'sentence')
    """

    label: str | None = None
    text: str | None = None
    features: tuple[str, ...] = ()
    id: str | None = None
    source: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have a role."""
        named = (self.label, self.text, self.id, self.source)
        return (*(column for column in named if column is not None), *self.features)

    @property
    def kind(self) -> Literal["text", "tabular"]:
        """What kind of data set these roles make."""
        return "text" if self.text is not None else "tabular"


def guess_dataset_roles(table: Table, *, kind: Kind | None = None, roles: DatasetRoles | None = None) -> DatasetRoles:
    """Say what each column is. Where `roles` are given, only a label, text or features that they lack are guessed.

    A label is known by its name, a text by its name or because no other column holds texts. All other columns that hold
    mostly numbers are features; what pandas writes for its index is none. RolesNeeded asks where that decides nothing,
    with a guess for the user to confirm.

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["id", "size", "class"], [["a", "b"], ["1", "2"], ["x", "y"]], lines=[2, 3])
    >>> guess_dataset_roles(table)
    DatasetRoles(label='class', text=None, features=('size',), id='id', source=None)
    """
    if kind == "image":
        raise DataError(f"{table.name}: a table holds no images. Give a zip of image folders or an NPZ file.")
    if roles is None:
        called = (column for column in table.columns if column.lower() in NAMES["source"])
        named = [column for column in called if not is_text(table.columns[column])]  # a mail has a subject
        roles = DatasetRoles(id=_guess_id(table), source=_named("source", named))
    _check(table, roles)
    if roles.label is None:
        roles = replace(roles, label=_guess_label(table, roles, kind))
    if roles.text is None and not roles.features:
        roles = _with_inputs(table, roles, kind)
    if kind not in (None, roles.kind):
        raise DataError(f"{table.name}: these columns make {roles.kind} data, but {kind} was asked for.")
    return roles


def _check(table: Table, roles: DatasetRoles) -> None:
    columns = roles.columns
    for column in columns:
        if column not in table.columns:
            raise DataError(f"{table.name}: there is no column {column!r}. The columns are {listed(table.columns)}.")
    if repeat := first_repeat(columns):
        raise DataError(f"{table.name}: column {columns[repeat[1]]!r} has two roles. Each column can have one.")
    if roles.text is not None and roles.features:
        raise DataError(f"{table.name}: both a text and features are given. Choose one of them.")


def _named(role: str, columns: Iterable[str]) -> str | None:
    """The one column that is called like the role, if it is one."""
    found = [column for column in columns if column.lower() in NAMES[role]]
    return found[0] if len(found) == 1 else None


def _guess_id(table: Table) -> str | None:
    by_name = {column.lower(): column for column in reversed(table.columns)}
    for name in NAMES["id"]:
        if name in by_name:
            return by_name[name]
    first = next(iter(table.columns))
    is_index = first.lower() in ROW_NAMES and len(set(table.columns[first].tolist())) == table.n_rows
    return first if is_index else None


def _guess_label(table: Table, roles: DatasetRoles, kind: Kind | None) -> str:
    columns = _free(table, roles)
    named = _named("label", columns)
    if named is not None:
        return named
    likely = [column for column in columns if column.lower() in NAMES["label"]] or [
        column for column in columns if _names_classes(table.columns[column])
    ]
    guess = roles
    if len(likely) == 1:
        guess = replace(roles, label=likely[0])
        with suppress(DataError):
            guess = _with_inputs(table, guess, kind)
    raise RolesNeeded(
        f"{table.name}: which column holds the label? The columns are {listed(table.columns)}.",
        guess,
        tuple(table.columns),
    )


def _with_inputs(table: Table, roles: DatasetRoles, kind: Kind | None) -> DatasetRoles:
    """The roles with a text column or features added."""
    columns = _free(table, roles)
    names_rows = {*NAMES["id"], *NAMES["source"]}  # a number there measures nothing
    numeric = tuple(c for c in columns if c.lower() not in names_rows and _mostly_numbers(table.columns[c]))
    if kind == "tabular" and numeric:
        return replace(roles, features=numeric)
    other = [column for column in columns if column not in numeric]
    text = _only_text(table, other, alone=kind == "text" or not numeric)
    if text is not None:
        return replace(roles, text=text)
    texts = [column for column in other if is_text(table.columns[column])]
    if numeric and not texts and kind is None:
        return replace(roles, features=numeric)
    if not columns:
        raise DataError(
            f"{table.name}: beside the label there is nothing to tell it from. "
            "Give a column of text, or columns of numbers."
        )
    guess = replace(roles, text=(texts or other or [None])[0])
    raise RolesNeeded(
        f"{table.name}: {_open_inputs(texts, numeric, kind)}? The columns are {listed(table.columns)}.",
        guess,
        tuple(table.columns),
    )


def _only_text(table: Table, columns: list[str], *, alone: bool) -> str | None:
    """The column that is called a text or, where nothing but texts may be meant, the only one that holds some."""
    texts = [column for column in columns if is_text(table.columns[column])]
    return _named("text", columns) or (texts[0] if alone and len(texts) == 1 else None)


def _open_inputs(texts: list[str], numeric: tuple[str, ...], kind: Kind | None) -> str:
    """What to ask where nothing decides the inputs."""
    if texts and numeric and kind is None:
        return f"is this text (column {texts[0]!r}) or a table of numbers (column {numeric[0]!r} and such)"
    return "which columns hold the features" if kind == "tabular" else "which column holds the text"


def _free(table: Table, roles: DatasetRoles) -> list[str]:
    """The columns that may still be label, text or features: those without a role that name no rows."""
    taken = set(roles.columns)
    return [column for column in table.columns if column not in taken and column.lower() not in ROW_NAMES]


def _mostly_numbers(values: np.ndarray) -> bool:
    """Most, not all: a number that is missing shall be an error, not a column that goes unnoticed."""
    return bool(np.isfinite(as_numbers(sample(values))).mean() > 0.5)


def is_text(values: np.ndarray) -> bool:
    """Whether cells hold texts rather than names: three words or more, on average.

    >>> is_text(np.array(["a fine film", "dull from the first minute"])), is_text(np.array(["r1", "r2"]))
    (True, False)
    """
    texts: list[Any] = [value for value in sample(values).tolist() if isinstance(value, str)]
    return len(texts) > 0 and sum(len(text.split()) for text in texts) >= _WORDS_OF_TEXT * len(texts)


def _names_classes(values: np.ndarray) -> bool:
    """Whether a column could be a label by its content: few different values, neither texts nor fractions."""
    if is_text(values):
        return False
    numbers = as_numbers(values)
    if np.isfinite(numbers).all() and (numbers != np.round(numbers)).any():
        return False
    n_different = len({str(value) for value in values.tolist()})
    return 2 <= n_different <= min(_MOST_CLASSES, len(values) // 2)
