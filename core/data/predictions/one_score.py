"""Of which class is the only score in a row the probability? Of one of two, or the predicted one; else it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from core.data.errors import DataError, RolesNeeded
from core.data.predictions.roles import Roles
from core.data.tables import Table
from core.data.tables.names import codes_of, common_names
from core.data.values import listed

_SLACK = 1e-6  # by how much a score may lie outside of [0, 1], or below one half


@dataclass(frozen=True, eq=False)
class Output:
    """What a model said: a label for each row and, where scores tell these, its confidence and all probabilities."""

    predicted: list[str]
    proba: Float[np.ndarray, "n_rows n_classes"] | None
    confidence: Float[np.ndarray, " n_rows"] | None
    notes: tuple[str, ...] = ()


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
