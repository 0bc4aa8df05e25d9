"""What is each column of a table? Guessed from names and contents, and asked about where that does not decide it."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from touchstone.core.data.dataset import Kind
from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.tables.images import image_column
from touchstone.core.data.tables.names import NAMES as NAMES_OF
from touchstone.core.data.tables.names import OF_ITS_OWN, ROW_NAMES, compact, is_called_source
from touchstone.core.data.tables.sources import (
    about,
    may_be_unit,
    named_sources,
    names_sources,
    part_column,
    propose_sources,
)
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import listed

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
        *("id", "ids", "uid", "uuid", "guid", "idx", "index", "key", "_id", "doc_id", "text_id", "textid", "sample_id"),
    ),
}
_MOST_CLASSES = 100
_ROW_LABELS = ("name", "filename", "file", "filepath", "path", "image", "imageid", "imagename", "sample", "samplename")
_LIKELY_LABELS = (  # called so where nothing is called a label: offered first, and asked about
    *("status", "diagnosis", "outcome", "species", "sentiment", "polarity", "emotion", "intent", "topic", "type"),
    *("result", "quality", "activity", "condition", "disease", "kind"),
)

NO_UNIT = ""
"""In the place of a column: each row is a unit, whatever sources and copies there are."""


@dataclass(frozen=True)
class DatasetRoles:
    """What the columns of a data set's table are: its label, its text, features or images, and perhaps more.

    Ids name rows, sources say what they come from, and parts whether the file itself marks them for training or test.
    Units say which rows belong together: what was sampled independently; NO_UNIT says that each row is one, where None
    leaves that to what the data are (`core.data.units`).

    >>> DatasetRoles(label="polarity", text="sentence").columns
    ('polarity', 'sentence')
    """

    label: str | None = None
    text: str | None = None
    features: tuple[str, ...] = ()
    id: str | None = None
    source: str | None = None
    part: str | None = None
    image: str | None = None
    unit: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have a role."""
        named = (self.label, self.text, self.id, self.source, self.part, self.image, self.unit)
        return (*filter(None, named), *self.features)

    @property
    def has_inputs(self) -> bool:
        """Whether they say what a label is to be learned from."""
        return self.text is not None or self.image is not None or bool(self.features)

    @property
    def kind(self) -> Literal["image", "text", "tabular"]:
        """What kind of data set these roles make."""
        if self.image is not None:
            return "image"
        return "text" if self.text is not None else "tabular"


def guess_dataset_roles(table: Table, *, kind: Kind | None = None, roles: DatasetRoles | None = None) -> DatasetRoles:
    """Say what each column is. Where `roles` are given, only a label, text or features that they lack are guessed.

    A label is known by its name, images by what they are, a text by its name or because no other column holds texts,
    sources by their name or because their values go with a class or with rows (`propose_sources`; `role_reasons` says
    why). All other columns that hold mostly numbers are features; what pandas writes for its index is none. RolesNeeded
    asks where that decides nothing, with the best guess for the user to confirm.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.tsv", ["id", "size", "class"], [["a", "b"], ["1", "2"], ["x", "y"]], lines=[2, 3])
    >>> guess_dataset_roles(table)
    DatasetRoles(label='class', text=None, features=('size',), id='id', source=None, part=None,
                 image=None, unit=None)
    """
    given = roles is not None
    roles = _with_image(table, roles, kind)
    _check(table, roles)
    if roles.label is None:
        roles = replace(roles, label=_guess_label(table, roles, kind))
    if not given:
        roles = _with_unit(table, _with_source(table, roles))
    if not roles.has_inputs:
        roles = _with_inputs(table, roles, kind)
    if kind not in (None, roles.kind):
        raise DataError(f"{table.name}: these columns make {roles.kind} data, but {kind} was asked for.")
    return roles


def role_reasons(table: Table, roles: DatasetRoles) -> dict[str, str]:
    """Why a column is, or may well be, what the roles say: a clause for each role that has a reason, to be shown.

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.tsv", ["site", "size", "class"], [["a", "b", "a"], [1, 2, 3], ["x", "y", "y"]],
    ...                    lines=[2, 3, 4])
    >>> role_reasons(table, guess_dataset_roles(table))
    {'label': 'it is called so', 'source': 'it is called like a source; 2 values in 3 rows',
     'features': 'they hold numbers'}
    """
    reasons = {role: _reason(table, role, getattr(roles, role)) for role in ("label", "text", "id")}
    reasons["unit"] = "it is called so" if compact(roles.unit or "") in NAMES_OF["unit"] else None
    reasons["source"] = _reason_of_source(table, roles.source, roles.label)
    reasons["features"] = "they hold numbers" if roles.features else None
    if roles.image is not None:
        reasons["image"] = "it holds PNG or JPEG images" if table.image_of is None else "it names images in the archive"
    return {role: reason for role, reason in reasons.items() if reason is not None}


def _reason(table: Table, role: str, column: str | None) -> str | None:
    """Why a column may be a label, a text or an id: by its name, or else by its values."""
    if column is None:
        return None
    if column.lower() in NAMES[role]:
        return "it is called so"
    match role:
        case "label" if _names_classes(table, column):
            return f"it has few different values: {about(table, column)}"
        case "text" if table.is_text(column):
            return "it holds whole sentences"
        case "id" if table.is_unique(column):
            return "no value of it occurs twice"
    return None


def _reason_of_source(table: Table, source: str | None, label: str | None) -> str | None:
    if source is None or label is None:
        return None
    proposed = {each.column: each.reason for each in propose_sources(table, label)}
    if source not in proposed and source.lower() in NAMES["id"]:
        return f"its values repeat, so that it names no single row; {about(table, source)}"
    return proposed.get(source)


def _with_image(table: Table, roles: DatasetRoles | None, kind: Kind | None) -> DatasetRoles:
    """Roles by name where none are given, and images where the table holds some; DataError where it must and does not.

    Whoever names the label alone means the images.
    """
    image = image_column(table)
    if roles is None:
        roles = replace(_names(table), image=image if kind in (None, "image") else None)
    elif not roles.has_inputs:
        roles = replace(roles, image=image)
    if kind == "image" and image is None and roles.image is None:
        raise DataError(f"{table.name}: a table holds no images. Give a zip of image folders or an NPZ file.")
    return roles


def _names(table: Table) -> DatasetRoles:
    """Ids and sources by their names; what is called an id, but stands for several rows each time, is a source."""
    ids, sources, part = _guess_id(table), named_sources(table), part_column(table)
    if ids is not None and not sources and ids.lower() not in ROW_NAMES and _stands_for_several(table, ids):
        return DatasetRoles(source=None if _names_rows_of_parts(table, ids, part) else ids, part=part)
    source = next((column for column in sources if column != ids), None)
    return DatasetRoles(id=ids, source=source, part=part)


def _names_rows_of_parts(table: Table, column: str, part: str | None) -> bool:
    """Whether a column names the rows of each part, beginning anew in the next."""
    if part is None:
        return False
    return len(set(zip(table.spelled(column), table.spelled(part), strict=True))) == table.n_rows


def _stands_for_several(table: Table, column: str) -> bool:
    """Whether the values of a column stand in two rows or more each, on average."""
    spelled = table.spelled(column)
    return None not in spelled and 1 < len(set(spelled)) <= table.n_rows / 2


def _with_source(table: Table, roles: DatasetRoles) -> DatasetRoles:
    """The roles with the likeliest column of sources, where values go with a class or with rows."""
    if roles.label is None or roles.source is not None:
        return roles
    proposals = propose_sources(table, roles.label, roles.columns)
    return replace(roles, source=proposals[0].column) if proposals else roles


def _with_unit(table: Table, roles: DatasetRoles) -> DatasetRoles:
    """The roles with what was sampled independently, by its name, where that is not the source."""
    if compact(roles.source or "") in OF_ITS_OWN:
        return roles
    by_name = {compact(column): column for column in free_columns(table, roles) if may_be_unit(table, column)}
    return replace(roles, unit=next((by_name[name] for name in NAMES_OF["unit"] if name in by_name), None))


def _check(table: Table, roles: DatasetRoles) -> None:
    table.check_roles(roles.columns)
    if roles.image is not None and (roles.text is not None or roles.features):
        raise DataError(f"{table.name}: both images and a text or features are given. Choose one of them.")
    if roles.text is not None and roles.features:
        raise DataError(f"{table.name}: both a text and features are given. Choose one of them.")


def _named(role: str, columns: Iterable[str]) -> str | None:
    """The one column that is called like the role, if it is one."""
    called_so = [column for column in columns if column.lower() in NAMES[role]]
    return called_so[0] if len(called_so) == 1 else None


def _guess_id(table: Table) -> str | None:
    by_name = {column.lower(): column for column in reversed(list(table.columns))}
    for name in NAMES["id"]:
        if name in by_name:
            return by_name[name]
    first = next(iter(table.columns))
    if first.lower() in ROW_NAMES and table.is_unique(first):
        return first
    files = [column for column in table.columns if compact(column) in _ROW_LABELS]
    return next((column for column in files if _names_rows(table, column)), None)


def _names_rows(table: Table, column: str) -> bool:
    """Whether a column holds a short name in every row, and none twice."""
    is_name = table.kind(column) == "words" and not table.is_text(column)
    return is_name and None not in table.spelled(column) and table.is_unique(column)


def _guess_label(table: Table, roles: DatasetRoles, kind: Kind | None) -> str:
    columns = free_columns(table, roles)
    named = _named("label", columns)
    if named is not None:
        return named
    likely = _likely_labels(table, columns)
    guess = roles
    if not likely and not any(_may_be_label(table, column) for column in columns):
        raise DataError(
            f"{table.name}: no column can be the label. The columns are {listed(table.columns)}; each holds texts, or "
            "several values in a cell. Add a column with one word or number in each row."
        )
    if likely:
        guess = _with_source(table, replace(roles, label=_likeliest(table, likely)))
        with suppress(DataError):
            guess = guess if guess.image is not None else _with_inputs(table, guess, kind)
    raise RolesNeeded(
        f"{table.name}: which column holds the label? The columns are {listed(table.columns)}.",
        guess,
        tuple(table.columns),
    )


def _likely_labels(table: Table, columns: list[str]) -> list[str]:
    """The columns that are called like a label or, where none is, hold what may be classes."""
    called_so = [column for column in columns if column.lower() in NAMES["label"]]
    return called_so or [column for column in columns if _names_classes(table, column)]


def _likeliest(table: Table, columns: list[str]) -> str:
    """The column that is called most like a label, or at least has a label's name in its own.

    Where none has, it is the one of the fewest values among those that leave no cell empty, and of several the last.
    """
    best = min(columns, key=_unlikely)
    if _unlikely(best) < _unlikely(""):
        return best
    called = next((column for column in columns if compact(column).endswith(("label", "labels"))), None)
    by_values = [c for _, c in sorted(enumerate(columns), key=lambda each: (table.n_different(each[1]), -each[0]))]
    return called or next((column for column in by_values if None not in table.spelled(column)), by_values[0])


def _may_be_label(table: Table, column: str) -> bool:
    """Whether a cell of a column holds one word or number, or a text that recurs."""
    if table.kind(column) in ("scores", "several"):
        return False
    return not table.is_text(column) or 2 * table.n_different(column) <= table.n_rows


def _unlikely(column: str) -> int:
    """How far a column is from the likeliest label by its name; 0 for the likeliest."""
    name = column.lower()
    known = (*NAMES["label"], *_LIKELY_LABELS)
    return known.index(name) if name in known else len(known)


def _with_inputs(table: Table, roles: DatasetRoles, kind: Kind | None) -> DatasetRoles:
    """The roles with a text column or features added."""
    columns = free_columns(table, roles)
    if not columns:
        raise DataError(
            f"{table.name}: no column is left to learn the label from. Give a column of text, or columns of numbers."
        )
    numeric, others, texts = _by_content(table, columns)
    if kind == "tabular" and numeric:
        return replace(roles, features=numeric)
    if (text := _only_text(others, texts, alone=kind == "text" or not numeric)) is not None:
        return replace(roles, text=text)
    if numeric and not texts and kind is None:
        return replace(roles, features=numeric)
    raise RolesNeeded(
        f"{table.name}: {_open_inputs(texts, numeric, kind)}? The columns are {listed(table.columns)}.",
        replace(roles, text=next(iter((*texts, *others)), None)),
        tuple(table.columns),
    )


def _by_content(table: Table, columns: list[str]) -> tuple[tuple[str, ...], list[str], list[str]]:
    """The columns that may be features, the others, and those of the others that hold texts."""
    numeric = tuple(column for column in columns if _measures(table, column))
    numbers = set(numeric)
    others = [column for column in columns if column not in numbers]
    return numeric, others, [column for column in others if table.is_text(column)]


def _only_text(columns: list[str], texts: list[str], *, alone: bool) -> str | None:
    """The column that is called a text or, where nothing but texts may be meant, the only one that holds some."""
    return _named("text", columns) or (texts[0] if alone and len(texts) == 1 else None)


def _open_inputs(texts: list[str], numeric: tuple[str, ...], kind: Kind | None) -> str:
    """What to ask where nothing decides the inputs."""
    if texts and numeric and kind is None:
        return f"is this text (column {texts[0]!r}) or a table of numbers (column {numeric[0]!r} and such)"
    return "which columns hold the features" if kind == "tabular" else "which column holds the text"


def free_columns(table: Table, roles: DatasetRoles) -> list[str]:
    """The columns that may still be label, text or features: those without a role that name no rows."""
    taken = set(roles.columns)
    return [column for column in table.columns if column not in taken and column.lower() not in ROW_NAMES]


def _measures(table: Table, column: str) -> bool:
    """Whether a column may be a feature: it holds numbers, and these do not name rows or sources."""
    if column.lower() in NAMES["id"] or not _mostly_numbers(table, column):
        return False
    return not (is_called_source(column) and names_sources(table, column))


def _mostly_numbers(table: Table, column: str) -> bool:
    """Most, not all: a number that is missing shall be an error, not a column that goes unnoticed."""
    return table.kind(column) in ("whole", "fraction", "number")


def _names_classes(table: Table, column: str) -> bool:
    """Whether a column could be a label by its content: few different values, neither texts nor fractions."""
    if table.is_text(column) or not 2 <= table.n_different(column) <= min(_MOST_CLASSES, table.n_rows // 2):
        return False
    numbers = table.floats(column)
    return not (np.isfinite(numbers).all() and (numbers != np.round(numbers)).any())
