"""How sure was the model? Vectors and mappings in cells, and whether rows of numbers are probabilities or logits."""

import ast
import json
import re
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from core.data.errors import DataError
from core.data.tables.spelling import spell
from core.data.tables.table import Table, quoted

Scores = Literal["probabilities", "logits"]
ROUNDED = 0.01  # by how much a row of probabilities may miss 1: files round them
_NOISE = 1e-6  # what 32-bit numbers add to a probability of 0 or 1
_LONGEST_LITERAL = 100_000
_SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")  # as numpy 2 prints a number in a list
_WRAPPED = re.compile(r"^(?:np\.|numpy\.|torch\.)?(?:array|tensor)\((\[.*?\]).*\)$", re.DOTALL)


def numbers_in(cell: Any) -> list[float] | dict[str, float] | None:
    """The vector, or the label -> score mapping, that a cell holds; None where it holds neither.

    Lists may be JSON's, Python's, or printed by numpy; mappings may be a label and a score, or lists of these.

    >>> numbers_in("[0.25 0.75]"), numbers_in("{'cat': 1}"), numbers_in('[{"label": "cat", "score": 0.9}]')
    ([0.25, 0.75], {'cat': 1.0}, {'cat': 0.9})
    >>> numbers_in("0.25"), numbers_in('["cat", "dog"]')
    (None, None)
    """
    if isinstance(cell, str):
        cell = _literal(cell.strip())
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    try:
        if isinstance(cell, (list, tuple)) and cell:
            if all(isinstance(item, dict) for item in cell):
                return {_key(item["label"]): float(item["score"]) for item in cell}
            return [_number(item) for item in cell]
        if isinstance(cell, dict) and cell.keys() == {"label", "score"} and isinstance(cell["label"], str):
            return {_key(cell["label"]): float(cell["score"])}
        if isinstance(cell, dict) and cell:
            return {_key(label): _number(score) for label, score in cell.items()}
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    return None


def _number(value: Any) -> float:
    if isinstance(value, (str, bool)):
        raise TypeError("a label, not a score")
    return float("nan") if value is None else float(value)


def _key(value: Any) -> str:
    name = spell(value)
    if name is None:
        raise TypeError("a label needs a name")
    return name


def _literal(text: str) -> Any:
    if wrapped := _WRAPPED.match(text):
        text = wrapped.group(1)
    text = _SCALAR.sub(r"\1", text)
    if text[:1] + text[-1:] not in ("[]", "{}", "()"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] == "[":
        try:
            return [float(word) for word in text[1:-1].replace(",", " ").split()]
        except ValueError:
            pass
    if len(text) > _LONGEST_LITERAL:
        return None
    try:
        return ast.literal_eval(text)  # plain values only: nothing in the text is run
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def cell_scores(table: Table, column: str) -> tuple[tuple[str, ...], Float[np.ndarray, "n_rows n_classes"]]:
    """The names and scores of a column of vectors (named by position, from 0) or of mappings (0 where a label lacks).

    >>> from core.data.tables import make_table
    >>> cell_scores(make_table("t.tsv", ["p"], [["[1, 0]", "[0.5, 0.5]"]], lines=[2, 3]), "p")
    (('0', '1'), array([[1. , 0. ], [0.5, 0.5]]))
    """
    cells = [numbers_in(cell) for cell in table.columns[column].tolist()]
    kind = type(cells[0])
    for row, cell in enumerate(cells):
        if cell is None or type(cell) is not kind or (isinstance(cell, list) and len(cell) != len(cells[0] or ())):
            expected = f"one of {len(cells[0] or ())} numbers, as in the first row" if row else "such as [0.1, 0.9]"
            raise DataError(
                f"{table.place(row)}: column {column!r} holds {quoted(table.columns[column][row])}. "
                f"It must be a whole vector of scores, {expected}."
            )
    if kind is dict:
        mappings = [cell for cell in cells if isinstance(cell, dict)]
        names = tuple(dict.fromkeys(name for mapping in mappings for name in mapping))
        return names, np.array([[mapping.get(name, 0.0) for name in names] for mapping in mappings], dtype=np.float64)
    return tuple(str(position) for position in range(len(cells[0] or ()))), np.array(cells, dtype=np.float64)


def probabilities(
    scores: Float[np.ndarray, "n_rows n_classes"],
    *,
    place: Callable[[int], str],
    kind: Scores | None = None,
) -> tuple[Float[np.ndarray, "n_rows n_classes"], str]:
    """Probabilities, and a sentence on what the scores were: in [0, 1] with sum 1 (± 0.01), or logits, if outside.

    `kind` decides it instead. DataError names the first row that is neither: `place(row)` tells where that is.

    >>> probabilities(np.array([[0.0, np.log(3)]]), place=lambda row: f"line {row + 2}", kind="logits")[0]
    array([[0.25, 0.75]])
    >>> probabilities(np.array([[0.6, 0.77]]), place=lambda row: f"line {row + 2}")
    Traceback (most recent call last):
    core.data.errors.DataError: line 2: probabilities sum to 1.37. Each row must sum to 1; are these logits?
    """
    if not np.isfinite(scores).all():
        row = int(np.argwhere(~np.isfinite(scores))[0][0])
        raise DataError(f"{place(row)}: a score is missing or infinite. Each must be a finite number: fill it in.")
    inside = ((scores >= -_NOISE) & (scores <= 1 + _NOISE)).all(axis=1)
    sums = scores.sum(axis=1)
    good = inside & (np.abs(sums - 1) <= ROUNDED + 1e-9)
    if kind is None and (scores >= 0).all() and (np.abs(sums - 100) <= 100 * ROUNDED).all():
        raise DataError(f"{place(0)}: scores sum to {sums[0]:.4g}, as percent do. Divide them by 100.")
    if kind == "logits" or (kind is None and not inside.all() and good.mean() <= 0.5):
        exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponents / exponents.sum(axis=1, keepdims=True), "The scores are logits: softmax was applied."
    if good.all():
        return np.clip(scores, 0.0, 1.0), "The scores are probabilities."
    row = int(np.flatnonzero(~good)[0])
    if not inside[row]:
        wrong = scores[row][(scores[row] < -_NOISE) | (scores[row] > 1 + _NOISE)][0]
        raise DataError(
            f"{place(row)}: a probability is {wrong:.6g}. Each must lie in [0, 1]; are these logits, or percent?"
        )
    raise DataError(f"{place(row)}: probabilities sum to {sums[row]:.4g}. Each row must sum to 1; are these logits?")
