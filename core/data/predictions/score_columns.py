"""Which columns hold scores? All classes in one cell, a column per class, or the highest of them only."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from core.data.predictions.columns import BY_VALUES, Draft
from core.data.tables.classes import common_names
from core.data.tables.column_names import (
    PREDICTED_LIKELY,
    TRUTH_LIKELY,
    UNSURE,
    called,
    compact,
    families,
    ranked,
    stems,
)
from core.data.tables.scores import numbers_in


def find_scores(draft: Draft) -> None:
    """Scores of all classes: in one cell, in a column per class, or the highest of them only."""
    if draft.half == "truth" or draft.roles.vector or draft.roles.probabilities or draft.roles.parts:
        return
    vectors = [column for column in draft.free if draft.kind(column) == "scores" and _has_several(draft, column)]
    if vectors:
        draft.take(BY_VALUES, vector=vectors[0])
        return
    _top(draft)
    numeric = [column for column in draft.free if draft.has_numbers(column)]
    if not _of_families(draft, numeric):
        _of_other_names(draft, numeric)


def _of_families(draft: Draft, numeric: list[str]) -> bool:
    """Whether columns were taken that are called alike but for a class: "prob_cat"; or but for a rank: "prob_1"."""
    for family, columns in sorted(families(numeric).items(), key=lambda each: -len(each[1])):
        if _is_ranking(draft, columns):
            rank, column = next(iter(columns.items()))
            draft.take("the highest of several ranks", confidence=column)
            if draft.roles.predicted is None and (label := _label_of_rank(draft, rank)):
                draft.take("the first of several ranks", predicted=label)
            return True
        if len(columns) > 1 and _are_scores(draft, columns, sure=family not in UNSURE):
            return _take_family(draft, columns, "by their names")
        if len(columns) == 1 and _take_positive(draft, *next(iter(columns.items()))):
            return True
    return False


def _of_other_names(draft: Draft, numeric: list[str]) -> bool:
    """Whether columns were taken that are called like classes, end in a word for scores, or sum to 1 without names."""
    bare = {name: name for name in numeric if name in draft.labels or compact(name) in draft.folded_labels}
    if len(bare) > 1 and _are_scores(draft, bare, sure=False):
        return _take_family(draft, bare, "by their names, which are classes'")
    logits = {name: columns["logit"] for name, columns in stems(numeric).items() if "logit" in columns}
    if len(logits) > 1:
        return _take_family(draft, logits, "by their names")
    ends = {name: columns["confidence"] for name, columns in stems(numeric).items() if "confidence" in columns}
    if len(ends) > 1 and draft.sum_to_one(list(ends.values())):
        return _take_family(draft, ends, "by their names and values")
    if len(ends) == 1 and _take_positive(draft, *next(iter(ends.items()))):
        return True
    rest = [c for c in numeric if draft.kind(c) == "fraction" and c.startswith(("column ", "unnamed column "))]
    if len(rest) > 1 and draft.sum_to_one(rest):
        return _take_family(draft, {str(position): column for position, column in enumerate(rest)}, BY_VALUES)
    return False


def _take_family(draft: Draft, columns: dict[str, str], why: str) -> bool:
    draft.roles = replace(draft.roles, probabilities=tuple(columns.items())).because(probabilities=why)
    return True


def _take_positive(draft: Draft, name: str, column: str) -> bool:
    """Take the only score as that of a class, if it is called so: "spam_prob"."""
    named = draft.roles.confidence is None and _names_class(draft, name) and draft.kind(column) in ("fraction", "whole")
    if named:
        draft.take("by its name, which is a class's", confidence=column, positive=name)
    return named


def _has_several(draft: Draft, column: str) -> bool:
    """Whether the first vector of a column has scores of two classes or more, or is broken."""
    first = numbers_in(draft.table.columns[column][0])
    return first is None or len(first) > 1


def _top(draft: Draft) -> None:
    """The first of the ranks of a top-k file."""
    for column in draft.free:
        rank = ranked(column)
        if rank is None or rank[0] != 1:
            continue
        if draft.roles.predicted is None and draft.is_label(column):
            draft.take("the first of several ranks", predicted=column)
        elif draft.roles.confidence is None and draft.kind(column) == "fraction":
            draft.take("the highest of several ranks", confidence=column)


def _label_of_rank(draft: Draft, rank: str) -> str | None:
    """The column of labels that is numbered like a rank: `pred_1` beside `prob_1`."""
    names = {f"{stem}{rank}" for stem in ("pred", "prediction", "predicted", "label", "class", "rank")}
    return next((column for column in draft.free if compact(column) in names and draft.is_label(column)), None)


def _names_class(draft: Draft, name: str) -> bool:
    common = common_names(draft.labels, {name})
    return len(draft.labels) <= 2 and common is not None and len(set(common[0].values())) == len(draft.labels)


def _is_ranking(draft: Draft, columns: dict[str, str]) -> bool:
    """Whether numbered columns hold the highest score, the second highest, ... whichever classes these are of."""
    numbers = [int(name) if name.isdecimal() else -1 for name in columns]
    if len(columns) < 2 or numbers not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        return False
    matrix = draft.matrix(columns.values())
    if draft.table.n_rows < 2 or not (np.diff(matrix, axis=1) <= 0).all():
        return False
    said = draft.roles.predicted or next(iter(called(draft.free, PREDICTED_LIKELY)), None) or draft.roles.truth
    said = said or next(iter(called(draft.free, TRUTH_LIKELY)), None)
    return said is not None and len(set(draft.spelled(said))) > 1


def _are_scores(draft: Draft, columns: dict[str, str], *, sure: bool) -> bool:
    """Whether columns hold scores of classes: by their names, if that is sure, or else also by their values."""
    if _belong_to_parts(draft, columns.values()):
        return False
    if sure:
        return True
    are_classes = all(_is_class(draft, name) for name in columns)
    if any(draft.kind(column) in ("fraction", "number") for column in columns.values()):
        return are_classes or draft.sum_to_one(list(columns.values()))
    return are_classes and draft.sum_to_one(list(columns.values()))  # 0 and 1 may also be what several models said


def _is_class(draft: Draft, name: str) -> bool:
    return name.isdecimal() or name in draft.labels or compact(name) in draft.folded_labels


def _belong_to_parts(draft: Draft, columns: Collection[str]) -> bool:
    """Whether the columns' models or tasks have labels of their own beside them."""
    of_stems = stems(draft.table.columns).values()
    return any(("predicted" in roles or "truth" in roles) and roles.get("confidence") in columns for roles in of_stems)
