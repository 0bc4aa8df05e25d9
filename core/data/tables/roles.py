"""What is each column of a table? Guessed from names and contents, and asked about where that does not decide it."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

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
from touchstone.core.data.tables.table import Table, days
from touchstone.core.data.values import listed, sample, spell

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
    leaves that to what the data are (`core.data.dataset`). `sourceless` is no column: it says what becomes of rows
    without a source (SOURCELESS).

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
    sourceless: str | None = None

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

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["id", "size", "class"], [["a", "b"], ["1", "2"], ["x", "y"]], lines=[2, 3])
    >>> guess_dataset_roles(table)
    DatasetRoles(label='class', text=None, features=('size',), id='id', source=None, part=None,
                 image=None, unit=None, sourceless=None)
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

    >>> from touchstone.core.data.tables.table import make_table
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
        # It may still name the rows of each part, beginning anew in the next.
        anew = part is not None and len({*zip(table.spelled(ids), table.spelled(part), strict=True)}) == table.n_rows
        return DatasetRoles(source=None if anew else ids, part=part)
    source = next((column for column in sources if column != ids), None)
    return DatasetRoles(id=ids, source=source, part=part)


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
    called_so = [column for column in columns if column.lower() in NAMES["label"]]
    likely = called_so or [column for column in columns if _names_classes(table, column)]
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
        "label",
    )


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
    numeric, others = _numeric_and_others(table, roles, columns)
    texts = list(filter(table.is_text, others))
    if kind == "tabular" and numeric:
        return replace(roles, features=numeric)
    if text := _named("text", others) or (texts[0] if len(texts) == 1 and (kind == "text" or not numeric) else None):
        return replace(roles, text=text)
    if numeric and not texts and kind is None:
        return replace(roles, features=numeric)
    raise RolesNeeded(
        f"{table.name}: {_open_inputs(texts, numeric, kind)}? The columns are {listed(table.columns)}.",
        replace(roles, text=next(iter((*texts, *others)), None)),
        tuple(table.columns),
        "text",
    )


def _numeric_and_others(table: Table, roles: DatasetRoles, columns: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The columns that may be features, and those that may be texts: beside features none that is mostly empty."""
    measured = [column for column in columns if _measures(table, column)]
    telling = telling_columns(table, roles, measured)
    numeric = tuple(column for column in measured if column not in telling) or tuple(measured)
    others = [column for column in columns if column not in measured and not (numeric and _is_scarce(table, column))]
    return numeric, others


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
    # Most cells are numbers, not all: one that is missing shall be an error, not a column that goes unnoticed.
    if column.lower() in NAMES["id"] or table.kind(column) not in ("whole", "fraction", "number"):
        return False
    return not (is_called_source(column) and names_sources(table, column))


_TELLS = {
    "what a model said": {*NAMES_OF["predicted"], *NAMES_OF["confidence"]},
    "folds": {"fold", "folds", "foldid", "cvfold", "testfold", "clusteringlabels"},
}
_OF_AN_ID = re.compile(r"(.*[ _.-])?ids?|.*[a-z]I[dD]s?")
_NEARLY_ALL, _FEWEST_COPIED, _SCARCE = 0.9, 5, 0.5  # shares of the rows; and rows of a class, on average


def telling_columns(table: Table, roles: DatasetRoles, columns: Iterable[str]) -> dict[str, str]:
    """Why columns of numbers are no features, by column: they tell what a model said, folds or the row, or the label.

    A copy of the label has as many values as there are classes, one for each.

    >>> from touchstone.core.data.tables.table import make_table
    >>> cells = [["a", "b"] * 6, [0, 1] * 6, list(range(12)), list(range(12)), [1, 1, 2] * 4]
    >>> table = make_table("t.csv", ["kind", "code", "case_id", "size", "y_pred"], cells, lines=range(12))
    >>> telling_columns(table, DatasetRoles(label="kind"), ["code", "case_id", "size", "y_pred"])
    {'code': 'a copy of the label', 'case_id': 'ids', 'y_pred': 'what a model said'}
    """
    reasons = {}
    for column in columns:
        named = next((why for why, names in _TELLS.items() if compact(column) in names), None)
        is_id = _OF_AN_ID.fullmatch(column) and table.kind(column) == "whole"
        if named is not None:
            reasons[column] = named
        elif is_id and table.n_different(column) >= _NEARLY_ALL * table.n_rows:
            reasons[column] = "ids"
        elif roles.label is not None and _copies(table, column, roles.label):
            reasons[column] = "a copy of the label"
    return reasons


def _copies(table: Table, column: str, label: str) -> bool:
    """Whether each value of a column goes with one label and no other, and labels recur; seen on a sample first."""

    def is_one_to_one(cells: Iterable[Any], labels: Iterable[Any]) -> bool:
        pairs = Counter(zip(cells, labels, strict=True))
        values, classes = ({pair[at] for pair in pairs} for at in (0, 1))
        return len(pairs) == len(values) == len(classes) <= sum(pairs.values()) / _FEWEST_COPIED

    try:
        sampled = is_one_to_one(map(str, table.sample(column).tolist()), map(str, table.sample(label).tolist()))
    except TypeError:  # cells that are lists
        return False
    return sampled and is_one_to_one(table.spelled(column), table.spelled(label))


def _is_scarce(table: Table, column: str) -> bool:
    """Whether most of a column's cells are empty."""
    return sum(cell is None or not cell.strip() for cell in table.spelled(column)) > _SCARCE * table.n_rows


def _names_classes(table: Table, column: str) -> bool:
    """Whether a column could be a label by its content: few different values, neither texts nor fractions."""
    if table.is_text(column) or not 2 <= table.n_different(column) <= min(_MOST_CLASSES, table.n_rows // 2):
        return False
    numbers = table.floats(column)
    return not (np.isfinite(numbers).all() and (numbers != np.round(numbers)).any())


# What would a table make, read the likeliest way, and what would another choice of columns make?
#
# Guessing stops where names and contents decide nothing, and asks. What is offered then stands here: the likeliest
# answer to every question, and what each column would come to.

SINGLE = tuple(each.name for each in fields(DatasetRoles) if each.name != "features")
"""The roles that one column has."""
INPUTS = ("text", "image")
"""Those of them that hold the inputs, each by itself."""
_MOST_WORDS = 2  # of a name, on average: more are a text


@dataclass(frozen=True)
class Proposal:
    """The likeliest roles of a table's columns; `why` says, by role, what they rest on (`role_reasons`).

    A role is None only where no column is likely. `question` is what reading the table would ask, None where nothing.
    """

    roles: DatasetRoles
    question: str | None = None
    why: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Values:
    """What stands in a column: how many rows of each value, the most frequent first, and how many rows hold none."""

    counts: tuple[tuple[str, int], ...]
    n_missing: int

    @property
    def n_different(self) -> int:
        """How many different values there are."""
        return len(self.counts)


def values_of(table: Table, column: str) -> Values:
    """The values of a column as labels, ids or sources would be spelled.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.csv", ["status"], [["1", "0", "1", ""]], lines=range(2, 6))
    >>> values_of(table, "status")
    Values(counts=(('1', 2), ('0', 1)), n_missing=1)
    """
    import pandas as pd

    cells = table.columns[column]
    try:
        by_cell = pd.Series(cells).value_counts(dropna=False, sort=False).items()
    except TypeError:  # cells that hold lists
        by_cell = ((cell, 1) for cell in cells.tolist())
    counts: Counter[str | None] = Counter()
    for cell, n in by_cell:
        counts[spell(cell)] += n
    n_missing = counts.pop(None, 0)
    return Values(tuple((str(value), n) for value, n in counts.most_common()), n_missing)


def propose_roles(table: Table) -> Proposal:
    """The likeliest roles, for somebody to confirm; DataError where the table can make no data set.

    >>> from touchstone.core.data.tables.table import make_table
    >>> rows = [["r1", "r2", "r3", "r4"], ["0", "1", "1", "1"], [".5", ".25", ".1", ".7"]]
    >>> proposal = propose_roles(make_table("t.csv", ["name", "status", "pitch"], rows, lines=range(2, 6)))
    >>> proposal.roles
    DatasetRoles(label='status', text=None, features=('pitch',), id='name', source=None, ...)
    >>> proposal.why["id"]
    'no value of it occurs twice'
    """
    try:
        roles, question = guess_dataset_roles(table), None
    except RolesNeeded as needed:
        roles, question = needed.guess or DatasetRoles(), needed.question
    if question is not None and roles.label is None:
        roles = replace(roles, label=_likeliest_label(table, roles))
    roles = _with_likeliest_inputs(table, roles)
    if roles.id is None:
        roles = replace(roles, id=_likeliest_id(table, roles))
    return Proposal(roles, question, MappingProxyType(role_reasons(table, roles)))


def said_roles(table: Table, columns: Mapping[str, str | None]) -> DatasetRoles:
    """What somebody said of a table's columns, by role, and what is guessed of its ids and sources beside that.

    None says that no column has the role. A label, a text or features that nobody named are left to reading.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.csv", ["id", "site", "status"], [["a", "b"], ["x", "x"], ["0", "1"]], lines=[2, 3])
    >>> said_roles(table, {"label": "status"})
    DatasetRoles(label='status', text=None, features=(), id='id', source='site', ...)
    >>> said_roles(table, {"label": "site", "id": None})
    DatasetRoles(label='site', text=None, features=(), id=None, source=None, ...)
    """
    guess = DatasetRoles()
    try:
        guess = guess_dataset_roles(table)
    except RolesNeeded as needed:
        guess = needed.guess or guess
    except DataError:  # the label that was said may leave more
        pass
    kept = {role: getattr(guess, role) for role in SINGLE if role not in ("label", "text")}
    kept = {role: column for role, column in kept.items() if column not in columns.values()}
    no_unit = {"unit": NO_UNIT} if not columns.get("unit", "left to reading") else {}
    return DatasetRoles(**{**kept, **columns, **no_unit})


def features_of(table: Table, roles: DatasetRoles) -> tuple[str, ...]:
    """The columns of numbers that have no other role; DataError where there are none.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.csv", ["size", "code", "class"], [["1", "2"], ["7", "8"], ["x", "y"]], lines=[2, 3])
    >>> features_of(table, DatasetRoles(label="class", id="code"))
    ('size',)
    """
    try:
        return guess_dataset_roles(table, kind="tabular", roles=replace(roles, text=None, features=())).features
    except RolesNeeded:
        raise DataError(f"{table.name}: no column that is left holds numbers. Choose a column of text.") from None


def _likeliest_label(table: Table, roles: DatasetRoles) -> str | None:
    """The column of the fewest different values, two or more, that recur; of several such columns the last."""
    best: tuple[int, str] | None = None
    for column in free_columns(table, roles):
        if table.kind(column) not in ("words", "whole") or _is_long(table.columns[column]):
            continue
        n_different = _n_different(table, column)
        if 2 <= n_different <= table.n_rows / 2 and (best is None or n_different <= best[0]):
            best = (n_different, column)
    return best and best[1]


def _likeliest_id(table: Table, roles: DatasetRoles) -> str | None:
    """The first column of names, all different: neither numbers, nor texts, nor dates."""
    for column in free_columns(table, roles):
        cells = table.columns[column]
        if table.kind(column) != "words" or _is_long(cells) or np.isfinite(days(sample(cells))).any():
            continue
        if _n_different(table, column) == table.n_rows and None not in table.spelled(column):
            return column
    return None


def _n_different(table: Table, column: str) -> int:
    """How many different cells a column has; 0 where they are lists."""
    try:
        return len(set(table.columns[column].tolist()))
    except TypeError:
        return 0


def _is_long(cells: np.ndarray) -> bool:
    """Whether cells hold more words than a name has, on average."""
    texts = [cell for cell in sample(cells).tolist() if isinstance(cell, str)]
    return sum(len(text.split()) for text in texts) > _MOST_WORDS * len(texts)


def _with_likeliest_inputs(table: Table, roles: DatasetRoles) -> DatasetRoles:
    """The roles with the likeliest text or features added, where a label is known."""
    if roles.label is None or roles.features or any(getattr(roles, role) for role in INPUTS):
        return roles
    try:
        return guess_dataset_roles(table, roles=roles)
    except RolesNeeded as needed:
        return needed.guess or roles
    except DataError:
        return roles


# What were a file's columns said to be? As JSON that can be given again, and as options of a command.


_WHAT = "data set roles"
_NOT_OURS = (
    'These are no roles of a data set. Give JSON such as {"touchstone": "data set roles", "label": "status"}, with '
    "the name of a column for each of " + ", ".join(SINGLE) + "; features is a list of them."
)


def roles_to_json(roles: DatasetRoles) -> str:
    """The roles as JSON; features that are left to reading do not stand in it.

    >>> roles_to_json(DatasetRoles(label="status", id="name"))
    '{"touchstone": "data set roles", "label": "status", "id": "name"}'
    """
    columns = {role: value for role, value in asdict(roles).items() if value not in (None, ())}
    return json.dumps({"touchstone": _WHAT, **columns}, ensure_ascii=False)


def roles_from_json(text: str | bytes) -> DatasetRoles:
    """Read what `roles_to_json` wrote, or somebody by hand; DataError where it is something else.

    >>> roles_from_json('{"touchstone": "data set roles", "label": "status", "features": ["a", "b"]}')
    DatasetRoles(label='status', text=None, features=('a', 'b'), id=None, source=None, ...)
    """
    try:
        columns = json.loads(text)
        if columns.pop("touchstone") != _WHAT or not _are_roles(columns):
            raise ValueError
        return DatasetRoles(**{**columns, "features": tuple(columns.get("features", ()))})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(_NOT_OURS) from None


def _are_roles(columns: Mapping[str, Any]) -> bool:
    features = columns.get("features", [])
    names = [*features, *(columns[role] for role in columns if role != "features" and columns[role] is not None)]
    known = set(columns) <= {*SINGLE, "features"}
    return known and isinstance(features, list) and all(isinstance(name, str) for name in names)


@dataclass(frozen=True)
class FileReading:
    """How a file's table became a data set: the name of the file and the roles, features only where they were named.

    `image_size` is the height and width to which images were brought, None where they are as they were.

    >>> reading = FileReading("voices.tsv", DatasetRoles(label="status", source="subject"))
    >>> reading.arguments()
    ['--data=voices.tsv', '--kind=tabular', '--label=status', '--id=', '--source=subject', '--part=']
    >>> FileReading.from_json(reading.to_json()) == reading
    True
    """

    file: str
    roles: DatasetRoles
    image_size: tuple[int, int] | None = None

    def to_json(self) -> str:
        """It as JSON; `from_json` reads it back."""
        content = {"file": self.file, "roles": roles_to_json(self.roles), "image_size": self.image_size, "version": 2}
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "FileReading":
        """Read what `to_json` wrote, also before data sets had units: then each row was one."""
        content = json.loads(text)
        size, roles = content.get("image_size"), roles_from_json(content["roles"])
        if "version" not in content:
            roles = replace(roles, unit=NO_UNIT)
        return cls(content["file"], roles, tuple(size) if size else None)

    def arguments(self) -> list[str]:
        """What names the file and its columns on the command line; with nothing behind "=" no column has the role."""
        size = ["--image-size", *map(str, self.image_size)] if self.image_size else []
        kind = [f"--data={self.file}", f"--kind={self.roles.kind}", *size]  # a name may begin with a dash
        if self.roles.features:
            return [*kind, f"--roles={roles_to_json(self.roles)}"]
        columns = {role: getattr(self.roles, role) for role in SINGLE}
        columns = {
            role: column for role, column in columns.items() if column or role not in (*INPUTS, "unit", "sourceless")
        }
        if self.roles.unit == NO_UNIT:
            columns["unit"] = NO_UNIT
        return [*kind, *(f"--{role}={column or ''}" for role, column in columns.items())]
