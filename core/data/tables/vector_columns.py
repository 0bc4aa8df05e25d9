"""What if the inputs are vectors in cells, as Parquet and JSON hold embeddings? A column for each number of theirs."""

from dataclasses import replace
from typing import Any

import numpy as np

from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.roles import NAMES
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import numbers_in, vectors_in


def spread_vectors(table: Table, limits: Limits) -> Table:
    """The table with a column per number, where a single column holds vectors of one length and none holds texts.

    >>> from touchstone.core.data.tables import make_table
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
    has_text = any(column.lower() in NAMES["text"] or table.is_text(column) for column in table.columns)
    return vectors[0] if len(vectors) == 1 and not has_text else None


def _may_be_vector(cell: Any) -> bool:
    is_list = isinstance(cell, (list, dict, np.ndarray)) or (isinstance(cell, str) and cell[:1] == "[")
    numbers = numbers_in(cell) if is_list else None
    return isinstance(numbers, list) and len(numbers) > 1
