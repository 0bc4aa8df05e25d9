"""What if a cell holds the best labels only? The first is the prediction, its score the confidence."""

from dataclasses import replace
from typing import Any

import numpy as np

from core.data.tables.scores import ROUNDED, numbers_in
from core.data.tables.table import Table, objects

_LABEL, _SCORE = "top 1 label", "top 1 confidence"


def unfold_top(table: Table) -> Table:
    """The table with a column of best labels and scores as two columns, of the best label and of its score.

    Such are cells like {"label": "cat", "score": 0.9}, lists of these, or mappings from label to score, where labels
    are left out: the scores of a row sum to less than 1. Cells with the scores of all classes stay as they are.

    >>> from core.data.tables import make_table
    >>> cells = [[{"label": "cat", "score": 0.9}], [{"label": "dog", "score": 0.6}]]
    >>> unfold_top(make_table("t.jsonl", ["out"], [cells], lines=[1, 2])).strings("top 1 label")
    ['cat', 'dog']
    """
    for column, cells in table.columns.items():
        rankings = _rankings(cells)
        if rankings is None or _LABEL in table.columns or _SCORE in table.columns:
            continue
        best = [max(ranking, key=lambda label: ranking[label]) for ranking in rankings]
        scores = [ranking[label] for ranking, label in zip(rankings, best, strict=True)]
        columns = {name: values for name, values in table.columns.items() if name != column}
        columns |= {_LABEL: objects(best), _SCORE: np.array(scores)}
        note = f"Column {column!r} holds the best labels only: the first is the prediction, its score the confidence."
        return replace(table, columns=columns, notes=(*table.notes, note))
    return table


def _rankings(cells: np.ndarray) -> list[dict[str, float]] | None:
    """Label -> score of each row; None where the cells hold something else, or all classes."""
    if cells.dtype != object or _ranking(cells[0]) is None:
        return None
    rankings = []
    for cell in cells.tolist():
        ranking = _ranking(cell)
        if ranking is None:
            return None
        rankings.append(ranking)
    sums = np.array([sum(ranking.values()) for ranking in rankings])
    inside = all(0 <= score <= 1 for ranking in rankings for score in ranking.values())
    some_left_out = len({frozenset(ranking) for ranking in rankings}) > 1 and (sums < 1 - ROUNDED).any()
    if not (inside and (sums <= 1 + ROUNDED).all() and some_left_out):
        return None
    return rankings


def _ranking(cell: Any) -> dict[str, float] | None:
    numbers = numbers_in(cell)
    return numbers if isinstance(numbers, dict) else None
