"""Which column says what the samples come from, or which part of the data they are? Its name says so, or its values.

Several recordings of one patient are alike in more than their class. Whoever does not say so tests on patients that
were trained on.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from math import lgamma, log
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.dataset import PARTS
from touchstone.core.data.errors import DataError, Oddity, RolesNeeded
from touchstone.core.data.tables.names import OF_SOURCE, ROW_NAMES, SOURCE_STEMS, compact, is_called_source
from touchstone.core.data.tables.table import Table, days
from touchstone.core.data.values import listed, objects, quoted

# Which samples does a file itself mark as train, validation or test? Its split is somebody's decision, and is kept.


_NAMES = ("part", "split", "partition", "subset", "set", "fold", "datasplit", "traintest", "phase", "usage", "istest")
_PARTS = {
    **dict.fromkeys(("train", "training", "tr", "trainset", "learn"), "train"),
    **dict.fromkeys(("valid", "validation", "val", "dev", "development", "validate", "tune"), "validation"),
    **dict.fromkeys(("test", "testing", "te", "testset", "eval", "evaluation", "heldout", "holdout"), "test"),
}


def part_name(name: str) -> str | None:
    """Which part a name means: train, validation or test; None where it means none of them.

    >>> part_name("Training"), part_name("dev"), part_name("TEST"), part_name("cats")
    ('train', 'validation', 'test', None)
    """
    return _PARTS.get(compact(name))


def is_part(table: Table, column: str) -> bool:
    """Whether a column says which part each row belongs to: two parts or more, and nothing else in it.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["split", "fold"], [["train", "dev"], ["1", "2"]], lines=[2, 3])
    >>> is_part(table, "split"), is_part(table, "fold")
    (True, False)
    """
    if table.kind(column) != "words" or any(part_name(str(cell)) is None for cell in table.sample(column)[:20]):
        return False
    parts = {part_name(value) if value else None for value in set(table.spelled(column))}
    return len(parts) > 1 and None not in parts


def part_column(table: Table) -> str | None:
    """The column that says which part each row belongs to, where there is one; of several, the one called so.

    >>> from touchstone.core.data.tables.table import make_table
    >>> part_column(make_table("t.tsv", ["x", "split"], [["1", "2"], ["train", "dev"]], lines=[2, 3]))
    'split'
    """
    marking = [column for column in table.columns if is_part(table, column)]
    return next((column for column in marking if compact(column) in _NAMES), marking[0] if len(marking) == 1 else None)


def named_parts(values: Iterable[str], place: str) -> list[str]:
    """Values as the names of parts; DataError, at `place`, where one is none.

    >>> named_parts(["Train", "dev"], "t.tsv: column 'split'")
    ['train', 'validation']
    >>> named_parts(["Train", "3"], "t.tsv: column 'split'")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: t.tsv: column 'split' holds '3'. Parts are called train, validation or test.
    """
    named = [(value, part_name(value)) for value in values]
    odd = next((value for value, part in named if part is None), None)
    if odd is not None:
        raise DataError(f"{place} holds {quoted(odd)}. Parts are called train, validation or test.")
    return [part for _, part in named if part is not None]


def about_parts(parts: Iterable[str]) -> str:
    """How many samples each part has, in a sentence for the notes of a data set.

    >>> about_parts(["train", "train", "test"])
    'Parts that the file itself marks: 2 of train, 1 of test.'
    """
    counts = Counter(parts)
    return f"Parts that the file itself marks: {', '.join(f'{counts[p]:,} of {p}' for p in PARTS if counts[p])}."


# Which column says what the samples come from? Its name says so, or its values.


_SURE = {  # these mean nothing else, whatever their values
    *("source", "sources", "sourceid", "group", "groups", "groupid", "domain", "genre", "writer", "author", "speaker"),
    "site",
}
_COUNTED = {f"{stem}s" for stem in SOURCE_STEMS}  # of whole numbers: how many there were, and not which one it was
_MIN_LOG_ODDS = log(1e-6)  # how unlikely by chance it must be that values go with classes or with rows


@dataclass(frozen=True)
class SourceProposal:
    """A column that may hold the sources, and why it is proposed, as the end of a sentence.

    >>> SourceProposal("subject", "it is called like a source").column
    'subject'
    """

    column: str
    reason: str


def names_sources(table: Table, column: str) -> bool:
    """Whether a column is called like a source and can be one: its values repeat, unless only sources are called so.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["site", "user"], [["x", "x", "y"], ["1", "2", "3"]], lines=[2, 3, 4])
    >>> names_sources(table, "site"), names_sources(table, "user")
    (True, False)
    >>> counts = make_table("t.tsv", ["visits"], [["3", "1", "3"]], lines=[2, 3, 4])
    >>> names_sources(counts, "visits")
    False
    """
    if compact(column) in _SURE:
        return True
    kind = table.kind(column)
    if not is_called_source(column) or kind not in ("words", "whole") or table.is_text(column):
        return False
    if kind == "whole" and compact(column) in _COUNTED:
        return False
    return 1 < len(set(table.spelled(column)) - {None}) < table.n_rows


def named_sources(table: Table, taken: Collection[str] = ()) -> list[str]:
    """The columns that are sources by their names, the likeliest first.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["site", "patient"], [["x", "x", "y"], ["1", "2", "2"]], lines=[2, 3, 4])
    >>> named_sources(table)
    ['patient', 'site']
    """
    columns = [column for column in table.columns if column not in taken and names_sources(table, column)]
    return sorted(columns, key=_rank)


def propose_sources(table: Table, label: str, taken: Collection[str] = ()) -> tuple[SourceProposal, ...]:
    """Every column that may hold the sources, with the reason, the likeliest first; none of those that are `taken`.

    A column is proposed by its name, or because its values repeat and each belongs to a single class, or fills rows
    that follow one another, more regularly than chance would have it (1 in a million). Whole numbers without such a
    name must do both, since they may measure something.

    >>> from touchstone.core.data.tables.table import make_table
    >>> rooms = [f"room {row // 4}" for row in range(40)]
    >>> table = make_table("t.tsv", ["y", "where"], [["a"] * 20 + ["b"] * 20, rooms], lines=list(range(40)))
    >>> propose_sources(table, "y")
    (SourceProposal(column='where', reason='each of its 10 values belongs to one class'),)
    """
    named = named_sources(table, {*taken, label})
    proposals = [SourceProposal(column, f"it is called like a source; {about(table, column)}") for column in named]
    rest = [column for column in table.columns if column not in {*taken, label, *named}]
    candidates = [(column, codes) for column in rest if (codes := _candidate(table, column)) is not None]
    labels = _codes(table, label) if candidates else None
    if labels is None:
        return tuple(proposals)
    regularities = [(column, _regular(codes, labels, table.kind(column) == "whole")) for column, codes in candidates]
    regular = [(column, *how) for column, how in regularities if how is not None]
    regular.sort(key=lambda each: (each[1], each[2]))
    return (*proposals, *(SourceProposal(column, reason) for column, _, _, reason in regular))


def may_be_unit(table: Table, column: str) -> bool:
    """Whether a column says of several samples that they belong together, and does not say so of all.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["doc", "row"], [["x", "x", "y"], ["1", "2", "3"]], lines=[2, 3, 4])
    >>> may_be_unit(table, "doc"), may_be_unit(table, "row")
    (True, False)
    """
    if table.kind(column) not in ("words", "whole") or table.is_text(column):
        return False
    names = set(table.spelled(column))
    return None not in names and 1 < len(names) < table.n_rows


def about(table: Table, column: str) -> str:
    """How many values a column has in how many rows.

    >>> from touchstone.core.data.tables.table import make_table
    >>> about(make_table("t.tsv", ["site"], [["x", "x", "y"]], lines=[2, 3, 4]), "site")
    '2 values in 3 rows'
    """
    return f"{table.n_different(column):,} values in {table.n_rows:,} rows"


def _rank(column: str) -> int:
    match = OF_SOURCE.fullmatch(compact(column))
    return SOURCE_STEMS.index(match[1]) if match else len(SOURCE_STEMS)


def _regular(
    codes: Integer[np.ndarray, " n_rows"], labels: Integer[np.ndarray, " n_rows"], is_whole: bool
) -> tuple[int, int, str] | None:
    """A column that is a source by its values: how likely (0 before 1), how many, and the reason; None if it is not."""
    n_rows_of = np.bincount(codes)
    n_values = len(n_rows_of)
    if n_values <= len(np.unique(labels)) or 2 * n_values > len(codes):
        return None
    in_class = _go_with_classes(codes, n_rows_of, labels)
    in_rows = _go_with_rows(codes, n_rows_of)
    if is_whole and not (in_class and in_rows):
        return None
    if in_class:
        return 0, n_values, f"each of its {n_values:,} values belongs to one class"
    return (1, n_values, f"the rows of each of its {n_values:,} values follow one another") if in_rows else None


def _candidate(table: Table, column: str) -> Integer[np.ndarray, " n_rows"] | None:
    """The codes of a column whose values may be sources; None where it holds measurements, dates, texts or holes."""
    if column.lower() in ROW_NAMES or is_part(table, column) or table.kind(column) not in ("words", "whole"):
        return None
    if table.kind(column) == "whole":
        numbers = table.floats(column)
        if 2 * np.count_nonzero(numbers[1:] != numbers[:-1]) > len(numbers):
            return None
    elif table.is_text(column) or np.isfinite(days(table.sample(column))).all():
        return None
    return _codes(table, column)


def _codes(table: Table, column: str) -> Integer[np.ndarray, " n_rows"] | None:
    """A column's values, counted from 0 as they come; None where one is missing."""
    code_of: dict[str, int] = {}
    spelled = table.spelled(column)
    if None in spelled:
        return None
    return np.array([code_of.setdefault(value, len(code_of)) for value in spelled if value is not None])


def _go_with_classes(codes: np.ndarray, n_rows_of: np.ndarray, labels: np.ndarray) -> bool:
    """Whether each value has one label, which by chance would have had a probability of less than 1 in a million."""
    if len(np.unique(codes * (labels.max() + 1) + labels)) != len(n_rows_of):
        return False
    shares = np.bincount(labels) / len(labels)
    sizes, n_values = np.unique(n_rows_of, return_counts=True)
    chances = np.log((shares[None, :] ** sizes[:, None]).sum(axis=1).clip(1e-300))
    return bool(chances @ n_values < _MIN_LOG_ODDS)


def _go_with_rows(codes: np.ndarray, n_rows_of: np.ndarray) -> bool:
    """Whether each value stands in rows that follow one another; by chance, in less than 1 of a million orders."""
    n_values = len(n_rows_of)
    if np.count_nonzero(codes[1:] != codes[:-1]) + 1 != n_values:
        return False
    orders = lgamma(len(codes) + 1) - sum(lgamma(size + 1) for size in n_rows_of.tolist())
    return lgamma(n_values + 1) - orders < _MIN_LOG_ODDS


# What becomes of rows without a source? Somebody says so: a split by source rests on it.


NOT_USED, LEFT_OUT, OF_THEIR_OWN = SOURCELESS = ("not used", "left out", "of their own")
"""The source is not used at all; rows without one are left out; they are of one source of their own."""
NO_SOURCE = "(no source)"
_BECAME = {
    NOT_USED: "so sources are not used",
    LEFT_OUT: "and these are left out",
    OF_THEIR_OWN: f"and these are of the source “{NO_SOURCE}”",
}
HasSource = TypeVar("HasSource", bound=Any)


def with_settled_sources(table: Table, roles: HasSource) -> tuple[Table, HasSource, tuple[Oddity, ...]]:
    """Table and roles (of a data set or of predictions) without gaps in the source, and what was done about them.

    RolesNeeded asks where `roles.sourceless` does not say it.

    >>> from touchstone.core.data.tables.roles import DatasetRoles
    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.csv", ["site"], [["a", "", "b"]], lines=[2, 3, 4])
    >>> table, _, odd = with_settled_sources(table, DatasetRoles(source="site", sourceless="left out"))
    >>> table.strings("site"), str(odd[0])
    (['a', 'b'], "1 of 3 rows holds no source (column 'site'), and these are left out.")
    """
    column = roles.source
    if roles.sourceless not in (None, *SOURCELESS):
        raise DataError(f"{table.name}: rows without a source can be {listed(SOURCELESS)}, not {roles.sourceless!r}.")
    spelled = [] if column is None else table.spelled(column)
    n, n_rows = spelled.count(None), table.n_rows
    if column is None or not n or any(isinstance(cell, (list, dict, np.ndarray)) for cell in table.columns[column]):
        return table, roles, ()
    gaps = f"{n:,} of {n_rows:,} rows {'holds' if n == 1 else 'hold'} no source (column {column!r})"
    if roles.sourceless is None:
        raise RolesNeeded(
            f"{table.name}: {gaps}. Is the column not used as the source, are these rows left out, or are they a "
            "source of their own?",
            replace(roles, sourceless=OF_THEIR_OWN),
            SOURCELESS,
            "sourceless",
        )
    options = tuple(f"--sourceless={other}" for other in SOURCELESS if other != roles.sourceless)
    odd = Oddity(f"{gaps}, {_BECAME[roles.sourceless]}.", "sourceless", n, n_rows, options)
    if roles.sourceless == NOT_USED:
        return table, replace(roles, source=None, sourceless=None), (odd,)
    if roles.sourceless == LEFT_OUT:
        return table.take(np.flatnonzero([name is not None for name in spelled])), roles, (odd,)
    filled = {**table.columns, column: objects([name or NO_SOURCE for name in spelled])}
    return replace(table, columns=filled), roles, (odd,)
