"""Which samples does a file itself mark as train, validation or test? Its split is somebody's decision, and is kept."""

from collections import Counter
from collections.abc import Iterable

from touchstone.core.data.dataset import PARTS
from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.names import compact
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import quoted

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

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.tsv", ["split", "fold"], [["train", "dev"], ["1", "2"]], lines=[2, 3])
    >>> is_part(table, "split"), is_part(table, "fold")
    (True, False)
    """
    if table.kind(column) != "words" or any(part_name(str(cell)) is None for cell in table.sample(column)[:20]):
        return False
    return _are_parts(set(table.spelled(column)))


def part_column(table: Table) -> str | None:
    """The column that says which part each row belongs to, where there is one; of several, the one called so.

    >>> from touchstone.core.data.tables import make_table
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


def _are_parts(values: set[str | None]) -> bool:
    parts = {part_name(value) if value else None for value in values}
    return len(parts) > 1 and None not in parts
