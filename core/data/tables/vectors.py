"""Which vector belongs to which sample? Features that somebody made elsewhere, matched by id, else by row order."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import File, Limits, file_name
from touchstone.core.data.tables import roles
from touchstone.core.data.tables.files import ARRAYS, TABLES, read_table
from touchstone.core.data.tables.names import NAMES, ROW_NAMES, TRUTH_LIKELY, called, compact
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import as_numbers, numbers_in, quoted, vectors_in

VECTOR_ENDINGS = (*(ending for ending in TABLES if ending != ".txt"), *ARRAYS)
"""What a file of vectors may end in; .txt is what word vectors come in."""

_VECTOR_NAMES = ("vector", "vectors", "embedding", "embeddings", "features")
_NO_FEATURES = frozenset(
    (
        *TRUTH_LIKELY,
        *(name for role in ("truth", "predicted", "source", "fold", "split", "set") for name in NAMES[role]),
    )
)
_NO_NUMBERS = {"nan", "inf", "-inf"}  # which columns of numbers hold
_EXAMPLES = 3  # ids that an error names


@dataclass(frozen=True, eq=False)
class GivenVectors:
    """The vectors of a file, in its order: `ids` are unique, and `notes` say what reading decided.

    Without ids (None), rows are matched by their order; `labels`, where the file has a column of them, are a check.
    """

    name: str
    ids: tuple[str, ...] | None
    vectors: Float[np.ndarray, "n_rows n_dimensions"]
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None


def read_vectors(file: File, *, limits: Limits | None = None) -> GivenVectors:
    """Read a file of vectors, given by its path or open for reading bytes: a table, NPZ or NPY.

    A table has either one column of lists or a column per dimension, and perhaps one of ids. Columns that are called
    like a label, a prediction, a fold or a source are never taken for dimensions. Vectors that 32 bits hold exactly are
    kept in 32. DataError names the row of an id that occurs twice and of a number that is missing or infinite.

    >>> file = io.BytesIO(b"id,a,b\\nr1,0.5,1\\nr2,2,-1\\n")
    >>> file.name = "mine.csv"
    >>> given = read_vectors(file)
    >>> given.ids, given.vectors.tolist()
    (('r1', 'r2'), [[0.5, 1.0], [2.0, -1.0]])
    """
    table = read_table(file, limits=limits, header_needed=False)
    id_column = _id_column(table)
    ids = () if id_column is None else tuple(table.strings(id_column))
    table.check_once(ids, "Each id must have one vector: leave a row out.")
    others = [column for column in table.columns if column != id_column]
    taken, vectors = _vectors(table, others)
    truths = called(others, (*NAMES["truth"], *TRUTH_LIKELY)) if id_column is None else []
    labels = next(iter(truths), None)
    labels = None if labels in taken else labels
    unused = [column for column in others if column not in {*taken, labels}]
    return GivenVectors(
        name=file_name(file),
        ids=None if id_column is None else ids,
        vectors=_short(vectors),
        notes=(f"Not used: {', '.join(unused)}.",) * bool(unused),
        labels=None if labels is None else tuple(table.strings(labels)),
    )


def attach_vectors(dataset: Dataset, given: GivenVectors) -> Dataset:
    """The data set with the given vectors, matched by id, whatever their order; rows for other ids are left out.

    Vectors without ids are matched by row order, where there are as many rows as samples, and labels that stand beside
    them do not speak against it; the notes say so. Raises DataError, with the counts both ways, where a sample has no
    vector.

    >>> fruit = Dataset("fruit", "tabular", [[1.0], [9.0]], [0, 1], ["plum", "melon"], ["a", "b"])
    >>> attach_vectors(fruit, GivenVectors("taste", ("b", "a", "c"), np.array([[1.0], [2.0], [3.0]]))).vectors.tolist()
    [[2.0], [1.0]]
    >>> attach_vectors(fruit, GivenVectors("taste", ("b", "z"), np.array([[1.0], [2.0]])))
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: taste: vectors missing for some ids. 1 of 2 samples of fruit has none ...
    """
    if given.ids is None:
        notes = [f"{given.vectors.shape[1]:,} numbers for each sample, from {given.name}.", _by_order(dataset, given)]
        return dataset.with_vectors(given.vectors, given.name, notes=[*notes, *given.notes])
    position = {id_: row for row, id_ in enumerate(given.ids)}
    known = set(dataset.ids)
    missing = [id_ for id_ in dataset.ids if id_ not in position]
    extra = [id_ for id_ in given.ids if id_ not in known]
    if missing:
        raise _missing_vectors(dataset, given, missing, extra)
    notes = [f"{given.vectors.shape[1]:,} numbers for each sample, from {given.name} by id.", *given.notes]
    if extra:
        notes.append(f"{_n_of(extra, len(given.ids))} rows belong to no sample and were left out.")
    rows = np.array([position[id_] for id_ in dataset.ids], dtype=np.int64)
    return dataset.with_vectors(given.vectors[rows], given.name, notes=notes)


def _by_order(dataset: Dataset, given: GivenVectors) -> str:
    """How vectors without ids were matched, in a sentence; DataError where there are not as many, or labels differ."""
    n_rows = len(given.vectors)
    if n_rows != dataset.n_samples:
        raise DataError(
            f"{given.name}: {n_rows:,} rows without ids, but {dataset.name} has {dataset.n_samples:,} samples. Give "
            "one row for each, in the same order, or add a column `id` that holds the ids of the data set."
        )
    matched = f"Matched by row order, since the file has no ids: {n_rows:,} rows for {n_rows:,} samples"
    if given.labels is None:
        return f"{matched}."
    if not set(given.labels) <= set(dataset.class_names):
        return f"{matched}. {_about_other_labels(dataset, given.labels)}"
    labels = np.array(dataset.class_names, dtype=object)[dataset.y]
    n_different = int((labels != np.array(given.labels, dtype=object)).sum())
    if n_different:
        raise DataError(
            f"{given.name}: there are no ids, and in row order {n_different:,} of {n_rows:,} labels differ from those "
            f"of {dataset.name}. The rows stand in another order: add a column `id` that holds the ids of the data set."
        )
    return f"{matched}, and their labels agree."


def _about_other_labels(dataset: Dataset, labels: Sequence[str]) -> str:
    """What labels say of the order that are called otherwise than the data set's."""
    pairs = set(zip(dataset.y.tolist(), labels, strict=True))
    if len(pairs) == len(set(labels)) == len(set(dataset.y.tolist())):
        return "Its labels have other names, and go one to one with those of the data set."
    odd = next(label for label in labels if label not in dataset.class_names)
    return (
        f"Its labels do not say whether that is right, since some are no class of the data set (such as {quoted(odd)})."
    )


def _missing_vectors(dataset: Dataset, given: GivenVectors, missing: list[str], extra: list[str]) -> DataError:
    return DataError(
        f"{given.name}: vectors missing for some ids. {_n_of(missing, dataset.n_samples)} samples of "
        f"{dataset.name} {'has' if len(missing) == 1 else 'have'} none (such as {_examples(missing)}), and "
        f"{_n_of(extra, len(given.ids))} rows of the file belong to no sample"
        f"{f' (such as {_examples(extra)})' if extra else ''}. "
        "Give each sample a vector, under its id in the data set."
    )


def write_vectors(ids: Sequence[str], vectors: Float[np.ndarray, "n_samples n_dimensions"]) -> bytes:
    """Vectors by id as Parquet, which `read_vectors` reads: columns id and vector, in 32 bits.

    >>> file = io.BytesIO(write_vectors(["a", "b"], np.array([[0.5, 1.0], [2.0, 3.0]])))
    >>> file.name = "v.parquet"
    >>> read_vectors(file).vectors.tolist()
    [[0.5, 1.0], [2.0, 3.0]]
    """
    import pyarrow
    import pyarrow.parquet

    flat = np.ascontiguousarray(vectors, dtype=np.float32).ravel()
    table = pyarrow.table({"id": list(ids), "vector": pyarrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1])})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, compression="zstd", use_dictionary=False)
    return stream.getvalue()


def _n_of(some: Sequence[str], n: int) -> str:
    return f"{len(some):,} of {n:,}"


def _examples(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:_EXAMPLES]))


def _id_column(table: Table) -> str | None:
    """The column of ids: one that is called so, else the only one of unique words."""
    called_so = called(table.columns, NAMES["id"])
    if called_so:
        return called_so[0]
    names = [
        column
        for column in table.columns
        if column.lower() not in ROW_NAMES
        and table.kind(column) == "words"
        and None not in table.spelled(column)
        and table.is_unique(column)
    ]
    return names[0] if len(names) == 1 else None


def _lists(table: Table, columns: list[str]) -> list[str]:
    """The columns of lists, or of these those that are called like vectors."""
    lists = [column for column in columns if holds_lists(table.sample(column))]
    return [column for column in lists if compact(column) in _VECTOR_NAMES] or lists


def _vectors(table: Table, columns: list[str]) -> tuple[list[str], Float[np.ndarray, "n_rows n_dimensions"]]:
    """The columns that hold the vectors, and these."""
    lists = _lists(table, columns)
    if len(lists) > 1:
        raise DataError(
            f"{table.name}: columns {', '.join(map(repr, lists))} all hold lists. Call the one to take `vector`."
        )
    if lists:
        return lists, of_lists(table, lists[0])
    numeric = [column for column in columns if _may_be_a_dimension(column, columns) and _is_numeric(table, column)]
    if not numeric:
        raise DataError(
            f"{table.name}: no column of numbers that may be dimensions. A file of vectors has a column per "
            "dimension, one column of lists, or an array `vectors` of shape (n, dimensions)."
        )
    return numeric, np.column_stack([table.numbers(column) for column in numeric])


def _may_be_a_dimension(column: str, columns: list[str]) -> bool:
    """Whether a column may be one of a vector's, by its name; y is, too, where it stands beside x."""
    name = compact(column)
    is_coordinate = name == "y" and "x" in map(compact, columns)
    return (name not in _NO_FEATURES or is_coordinate) and column.lower() not in ROW_NAMES


def _is_numeric(table: Table, column: str) -> bool:
    """Whether a column is meant to hold numbers: most of it does, so that a lone hole is named and not passed over."""
    seen = table.sample(column)
    numbers = np.isfinite(as_numbers(seen)) | np.array([str(cell).strip().lower() in _NO_NUMBERS for cell in seen])
    return bool(2 * np.count_nonzero(numbers) > len(seen))


def holds_lists(values: Shaped[np.ndarray, " n_sampled"]) -> bool:
    """Whether cells are lists of numbers, or such as they are printed."""
    first = (
        next((value for value in values if value is not None and value != ""), None) if values.dtype == object else None
    )
    return isinstance(first, list) or (isinstance(first, str) and isinstance(numbers_in(first), list))


def _is_row(row: Any, width: int) -> bool:
    return isinstance(row, list) and len(row) == width and bool(np.isfinite(row).all())


def of_lists(table: Table, column: str) -> Float[np.ndarray, "n_rows n_dimensions"]:
    """A column of lists as rows; DataError at the first that is no list of finite numbers, as long as the others."""
    rows = [numbers_in(cell) for cell in table.columns[column].tolist()]
    width = next((len(row) for row in rows if isinstance(row, list)), 0)
    for position, row in enumerate(rows):
        if not _is_row(row, width):
            other = isinstance(row, list) and len(row) != width
            shown = f"{len(row or ())} numbers" if other else quoted(table.columns[column][position])
            raise DataError(
                f"{table.place(position)}: column {column!r} holds {shown}. "
                f"It must be a list of {width} finite numbers, as many as in the first row."
            )
    return np.array(rows, dtype=np.float64)


def _short(vectors: Float[np.ndarray, "n_rows n_dimensions"]) -> Float[np.ndarray, "n_rows n_dimensions"]:
    with np.errstate(over="ignore"):
        short = vectors.astype(np.float32)
    return short if np.array_equal(short, vectors) else vectors


# What if the inputs are vectors in cells, as Parquet and JSON hold embeddings? A column for each number of theirs.


def spread_vectors(table: Table, limits: Limits) -> Table:
    """The table with a column per number, where a single column holds vectors of one length and none holds texts.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.jsonl", ["embedding", "label"], [[[0.5, 1.0], [2.0, 3.0]], ["a", "b"]], lines=[1, 2])
    >>> spread = spread_vectors(table, Limits())
    >>> list(spread.columns), spread.notes
    (['label', 'embedding 1', 'embedding 2'], ("Column 'embedding' holds vectors: a feature for each number.",))
    """
    column = _only_column_of_vectors(table)
    vectors = None if column is None else vectors_in(table.columns[column])
    if vectors is None:
        return table
    limits.check_columns(table.name, len(table.columns) + vectors.shape[1])
    rest = {name: values for name, values in table.columns.items() if name != column}
    spread = {f"{column} {place + 1}": np.ascontiguousarray(values) for place, values in enumerate(vectors.T)}
    if spread.keys() & rest.keys():
        return table
    note = f"Column {column!r} holds vectors: a feature for each number."
    return replace(table, columns=rest | spread, notes=(*table.notes, note))


def _only_column_of_vectors(table: Table) -> str | None:
    """The column that seems to hold vectors; None where none does, or several, or where one holds texts."""
    vectors = [column for column in table.columns if _may_be_vector(table.sample(column)[0])]
    has_text = any(column.lower() in roles.NAMES["text"] or table.is_text(column) for column in table.columns)
    return vectors[0] if len(vectors) == 1 and not has_text else None


def _may_be_vector(cell: Any) -> bool:
    is_list = isinstance(cell, (list, dict, np.ndarray)) or (isinstance(cell, str) and cell[:1] == "[")
    numbers = numbers_in(cell) if is_list else None
    return isinstance(numbers, list) and len(numbers) > 1
