"""What if the inputs are vectors in cells, as Parquet and JSON hold embeddings? A column for each number of theirs."""

from dataclasses import replace
from typing import Any

import numpy as np

from core.data.limits import Limits
from core.data.tables.roles import NAMES, is_text
from core.data.tables.table import Table
from core.data.values import numbers_in, sample


def spread_vectors(table: Table, limits: Limits) -> Table:
    """The table with a column per number, where a single column holds vectors of one length and none holds texts.

    >>> from core.data.tables import make_table
    >>> table = make_table("t.jsonl", ["embedding", "label"], [[[0.5, 1.0], [2.0, 3.0]], ["a", "b"]], lines=[1, 2])
    >>> spread = spread_vectors(table, Limits())
    >>> list(spread.columns), spread.notes
    (['label', 'embedding 1', 'embedding 2'], ("Column 'embedding' holds vectors: a feature for each number.",))
    """
    firsts = {column: table.sample(column)[0] for column in table.columns}
    vectors = [column for column, cell in firsts.items() if _may_be_vector(cell)]
    if len(vectors) != 1 or any(column.lower() in NAMES["text"] or is_text(table, column) for column in firsts):
        return table
    [column] = vectors
    rows = [numbers_in(cell) for cell in sample(table.columns[column]).tolist()]
    if not all(isinstance(row, list) and len(row) == len(rows[0] or ()) for row in rows):
        return table
    rows = [numbers_in(cell) for cell in table.columns[column].tolist()]
    if not all(isinstance(row, list) and len(row) == len(rows[0] or ()) for row in rows):
        return table
    matrix = np.array(rows, dtype=np.float64)
    limits.check_columns(table.name, len(firsts) + matrix.shape[1])
    rest = {name: values for name, values in table.columns.items() if name != column}
    spread = {f"{column} {place + 1}": np.ascontiguousarray(values) for place, values in enumerate(matrix.T)}
    if spread.keys() & rest.keys():
        return table
    note = f"Column {column!r} holds vectors: a feature for each number."
    return replace(table, columns=rest | spread, notes=(*table.notes, note))


def _may_be_vector(cell: Any) -> bool:
    is_list = isinstance(cell, (list, dict, np.ndarray)) or (isinstance(cell, str) and cell[:1] == "[")
    numbers = numbers_in(cell) if is_list else None
    return isinstance(numbers, list) and len(numbers) > 1
