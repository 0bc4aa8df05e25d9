"""How sure was the model? Vectors and mappings in cells, and whether rows of numbers are probabilities or logits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from core.data.errors import DataError, RolesNeeded
from core.data.predictions.roles import Roles, Scores
from core.data.tables.class_names import codes_of, common_names
from core.data.tables.table import Table
from core.data.values import listed, numbers_in, quoted

ROUNDED = 0.01  # by how much a row of probabilities may miss 1: files round them
_MOST_ROUNDED = 0.2  # beyond, so few decimals of so many classes say too little
_NOISE = 1e-6  # what 32-bit numbers add to a probability of 0 or 1
_SEEN = 1000  # rows that are looked at before all are
_SLACK = 1e-6


def cell_scores(table: Table, column: str) -> tuple[tuple[str, ...], Float[np.ndarray, "n_rows n_classes"]]:
    """The names and scores of a column of vectors (named by position, from 0) or of mappings (0 where a label lacks).

    >>> from core.data.tables import make_table
    >>> cell_scores(make_table("t.tsv", ["p"], [["[1, 0]", "[0.5, 0.5]"]], lines=[2, 3]), "p")
    (('0', '1'), array([[1. , 0. ], [0.5, 0.5]]))
    """
    cells = [numbers_in(cell) for cell in table.columns[column].tolist()]
    first = cells[0] or ()
    row = next((row for row, cell in enumerate(cells) if not _is_alike(cell, first)), None)
    if row is not None:
        expected = f"one of {len(first)} numbers, as in the first row" if row else "such as [0.1, 0.9]"
        raise DataError(
            f"{table.place(row)}: column {column!r} holds {quoted(table.columns[column][row])}. "
            f"It must be a whole vector of scores, {expected}."
        )
    if isinstance(first, dict):
        return _mapped([cell for cell in cells if isinstance(cell, dict)])
    return tuple(str(position) for position in range(len(first))), np.array(cells, dtype=np.float64)


def _is_alike(cell: Any, first: Any) -> bool:
    """Whether a cell holds a mapping, or a vector of as many numbers, as the first one does."""
    return cell is not None and type(cell) is type(first) and (isinstance(cell, dict) or len(cell) == len(first))


def _mapped(mappings: Sequence[dict[str, float]]) -> tuple[tuple[str, ...], Float[np.ndarray, "n_rows n_classes"]]:
    names = tuple(dict.fromkeys(name for mapping in mappings for name in mapping))
    return names, np.array([[mapping.get(name, 0.0) for name in names] for mapping in mappings], dtype=np.float64)


def probabilities(
    scores: Float[np.ndarray, "n_rows n_classes"],
    *,
    place: Callable[[int], str],
    kind: Scores | None = None,
) -> tuple[Float[np.ndarray, "n_rows n_classes"], str]:
    """Probabilities, and a sentence on what the scores were: in [0, 1] with sum 1 (± 0.01), or logits, if outside.

    Sums may miss 1 by more where numbers of few decimals explain it: rows are then divided by their sums. `kind`
    decides it instead. DataError names the first row that is neither: `place(row)` tells where that is.

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
    off = np.abs(sums - 1)
    good = inside & (off <= ROUNDED + 1e-9)
    if not good.all():
        good = inside & (off <= _explained(scores) + 1e-9)
    if kind is None and (scores >= 0).all() and (np.abs(sums - 100) <= 100 * ROUNDED).all():
        raise DataError(f"{place(0)}: scores sum to {sums[0]:.4g}, as percent do. Divide them by 100.")
    if kind == "logits" or (kind is None and not inside.all() and good.mean() <= 0.5):
        exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponents / exponents.sum(axis=1, keepdims=True), "The scores are logits: softmax was applied."
    if good.all():
        return _divided(np.clip(scores, 0.0, 1.0))
    raise _no_probability(scores, int(np.flatnonzero(~good)[0]), place)


def _explained(scores: np.ndarray) -> float:
    """By how much a row's sum may miss 1: by half a unit of the last decimal per class, where decimals are few."""
    n_classes = scores.shape[1]
    for n_decimals in range(5):
        if _have_decimals(scores[:_SEEN], n_decimals) and _have_decimals(scores, n_decimals):
            explained = 0.5 * 10.0**-n_decimals * n_classes if n_decimals else 0.0
            return min(max(ROUNDED, explained), _MOST_ROUNDED)
    return ROUNDED


def _have_decimals(scores: np.ndarray, n_decimals: int) -> bool:
    return bool(np.abs(scores - scores.round(n_decimals)).max(initial=0.0) <= _NOISE)


def _divided(proba: np.ndarray) -> tuple[np.ndarray, str]:
    """Probabilities whose rows sum to 1 as nearly as files write them, and what was done for that."""
    sums = proba.sum(axis=1, keepdims=True)
    off = np.abs(sums - 1) > ROUNDED + 1e-9
    if not off.any():
        return proba, "The scores are probabilities."
    told = f"The scores are probabilities that were rounded: {int(off.sum()):,} rows were divided by their sums."
    return np.where(off, proba / sums, proba), told


def _no_probability(scores: np.ndarray, row: int, place: Callable[[int], str]) -> DataError:
    outside = scores[row][(scores[row] < -_NOISE) | (scores[row] > 1 + _NOISE)]
    if len(outside):
        return DataError(
            f"{place(row)}: a probability is {outside[0]:.6g}. Each must lie in [0, 1]; are these logits, or percent?"
        )
    total = f"{scores[row].sum():.4g}"
    return DataError(f"{place(row)}: probabilities sum to {total}. Each row must sum to 1; are these logits?")


@dataclass(frozen=True, eq=False)
class Output:
    """What a model said: a label for each row and, where scores tell these, its confidence and all probabilities."""

    predicted: list[str]
    proba: Float[np.ndarray, "n_rows n_classes"] | None
    confidence: Float[np.ndarray, " n_rows"] | None
    notes: tuple[str, ...] = ()


def of_all_classes(
    proba: Float[np.ndarray, "n_rows n_classes"], names: Sequence[str], predicted: list[str] | None
) -> Output:
    """What follows from the probabilities of all classes: where no label is given, the most probable one.

    >>> of_all_classes(np.array([[0.25, 0.75]]), ("ham", "spam"), None).predicted
    ['spam']
    """
    labels = predicted or [names[code] for code in proba.argmax(axis=1)]
    return Output(labels, proba, proba.max(axis=1))


def read_single(
    table: Table,
    column: str,
    names: Sequence[str],
    truth: Sequence[str],
    predicted: list[str] | None,
    *,
    roles: Roles,
) -> Output:
    """Read a column of one score per row; RolesNeeded asks of which of two classes it is, where the values do not tell.

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["prob"], [["0.75", "0.25"]], lines=[2, 3])
    >>> single = read_single(table, "prob", ("ham", "spam"), ["ham", "spam"], None,
    ...                      roles=Roles("gold", confidence="prob", positive="spam"))
    >>> single.predicted, single.proba
    (['spam', 'ham'], array([[0.25, 0.75], [0.75, 0.25]]))
    """
    scores = _fractions(table, column)
    if len(names) != 2:
        if predicted is None:
            raise DataError(
                f"{table.name}: one score per row (column {column!r}) tells nothing about which of {len(names)} "
                "classes was predicted. Add a column with the predicted label."
            )
        return Output(predicted, None, scores)
    positive, notes = _positive(table, column, names, truth, predicted, scores, roles=roles)
    if positive is None:
        predicted = predicted or []
        if (scores < 0.5 - _SLACK).any():  # a score, but no probability: nothing follows for the other class
            return Output(predicted, None, scores, notes)
        return Output(predicted, _two(scores, codes_of(predicted, names)), scores, notes)
    code = names.index(positive)
    proba = _two(scores, np.full(len(scores), code))
    if predicted is None:
        predicted = [names[code] if score >= 0.5 else names[1 - code] for score in scores]
    return Output(predicted, proba, proba.max(axis=1), notes)


def _fractions(table: Table, column: str) -> np.ndarray:
    scores = table.numbers(column)
    outside = (scores < -_SLACK) | (scores > 1 + _SLACK)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise DataError(
            f"{table.place(row)}: column {column!r} holds {scores[row]:.6g}. A confidence must lie in "
            "[0, 1]: divide percent by 100, or leave scores out that are no probabilities."
        )
    return np.clip(scores, 0.0, 1.0)


def _positive(
    table: Table,
    column: str,
    names: Sequence[str],
    truth: Sequence[str],
    predicted: list[str] | None,
    scores: np.ndarray,
    *,
    roles: Roles,
) -> tuple[str | None, tuple[str, ...]]:
    """The class whose probability a single score is, None meaning that of the predicted one; and how that was seen."""
    if roles.positive is not None:
        return _given_positive(table, names, predicted, roles.positive), ()
    if predicted is not None and (scores >= 0.5 - _SLACK).all():
        return None, (f"Column {column!r} is the probability of the predicted class.",)
    if predicted is not None and (name := _decided_by(scores, predicted, names)) is not None:
        return name, (f"Column {column!r} is the probability of {name}.",)
    of_predicted = ("predicted",) if predicted is not None else ()
    means = [scores[[label == name for label in truth]].mean() if name in truth else 0.0 for name in names]
    raise RolesNeeded(
        f"{table.name}: column {column!r} holds one probability per row, and there are two classes. "
        f"Is it that of {names[0]} or of {names[1]}{', or of the predicted one' if of_predicted else ''}?",
        replace(roles, positive=names[int(np.argmax(means))]),
        (*names, *of_predicted),
        "positive",
    )


def _decided_by(scores: np.ndarray, predicted: Sequence[str], names: Sequence[str]) -> str | None:
    """The class whose label was given wherever the score lies above some threshold, if there is one."""
    second = np.array([label == names[1] for label in predicted])
    for name, chosen in zip(names, (~second, second), strict=True):
        inside, outside = scores[chosen], scores[~chosen]
        if len(inside) and len(outside) and inside.min() >= outside.max():
            return name
    return None


def _given_positive(table: Table, names: Sequence[str], predicted: list[str] | None, given: str) -> str | None:
    if given == "predicted" and "predicted" not in names:
        if predicted is not None:
            return None
    else:
        common = common_names(set(names), {given})
        if common is not None and common[0][given] in names:
            return common[0][given]
    raise DataError(f"{table.name}: the score is said to be that of {given!r}. The classes are {listed(names)}.")


def _two(scores: np.ndarray, codes: np.ndarray) -> Float[np.ndarray, "n_rows 2"]:
    """Probabilities of both classes, from that of one class per row."""
    proba = np.empty((len(scores), 2))
    rows = np.arange(len(scores))
    proba[rows, codes] = scores
    proba[rows, 1 - codes] = 1 - scores
    return proba
