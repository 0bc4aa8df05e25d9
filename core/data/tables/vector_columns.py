"""What if the inputs are vectors in cells, as Parquet and JSON hold embeddings? A column for each number of theirs."""

from dataclasses import replace
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.lines import decode
from touchstone.core.data.tables.roles import NAMES
from touchstone.core.data.tables.table import Table, make_table
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


# What if labels stand in front of the texts, as fastText has them? Brought to columns of a label and a text.


MARK = "__label__"


def parse_fasttext(content: bytes, name: str, limits: Limits) -> Table:
    """Read lines such as "__label__good A fine film."; DataError at a line with several labels, or with none.

    >>> table = parse_fasttext(b"__label__good A fine film.\\n__label__bad A dull one.\\n", "films.txt", Limits())
    >>> table.strings("label"), table.texts("text")
    (['good', 'bad'], ['A fine film.', 'A dull one.'])
    """
    text, notes = decode(content, name)
    lines, labels, texts = [], [], []
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        marked, _, rest = written.strip().partition(" ")
        if not marked.startswith(MARK) or rest.lstrip().startswith(MARK):
            raise DataError(
                f"{name}, line {line}: {'several labels' if marked.startswith(MARK) else 'no label'} in front of the "
                f"text. Each line must begin with one, such as {MARK}good, and a space."
            )
        lines.append(line)
        labels.append(marked.removeprefix(MARK))
        texts.append(rest.strip())
        limits.check_rows(name, len(lines))
    return make_table(name, ["label", "text"], [labels, texts], lines=lines, notes=tuple(notes))
