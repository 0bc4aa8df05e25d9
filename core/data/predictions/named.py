"""Which columns are known by their names? Ids, what divides the rows, and names that mean one thing everywhere."""

from core.data.predictions.columns import BY_NAME, Draft
from core.data.tables.column_names import NAMES, called, families
from core.data.tables.roles import ROW_NAMES

_OTHER = {"truth": "predictions", "predicted": "truth"}  # the half that lacks a role


def name_rows(draft: Draft) -> None:
    """Id and what divides the rows, all of it by name."""
    for role in ("model", "task", "trial", "set", "fold", "source"):
        columns = [column for column in called(draft.free, NAMES[role]) if draft.kind(column) in ("words", "whole")]
        if columns:
            draft.take(BY_NAME, **{role: columns[0]})
    for column in called(draft.free, NAMES["split"]):
        role = "fold" if draft.kind(column) == "whole" else "set"
        if getattr(draft.roles, role) is None:
            draft.take("by its name and values", **{role: column})
    _name_id(draft)


def _name_id(draft: Draft) -> None:
    named = [column for column in called(draft.free, NAMES["id"]) if draft.kind(column) not in ("scores", "several")]
    unique = [column for column in named if draft.is_unique(column)]
    if named:
        draft.take(BY_NAME, id=(unique or named)[0])
        return
    endings = [c for c in draft.free if c.lower().endswith(("id", "filename", "file name", "path"))]
    indices = [c for c in draft.free if c.lower() in ROW_NAMES]  # last: two files in other orders have the same
    for column in (*endings, *indices):
        if draft.is_unique(column):
            draft.take("by its name and values", id=column)
            return


def name_labels(draft: Draft) -> None:
    """Truth, predicted label and confidence by names that are never used for anything else."""
    for role in ("truth", "predicted"):
        of_parts = bool(draft.roles.parts)
        columns = [c for c in called(draft.free, NAMES[role]) if draft.kind(c) in ("words", "whole")]
        if columns and getattr(draft.roles, role) is None and not of_parts and draft.half != _OTHER[role]:
            draft.take(BY_NAME, **{role: columns[0]})
    if draft.half == "truth" or (draft.roles.says_something and draft.roles.predicted is None):
        return
    by_class = [set(family.values()) for family in families(draft.table.columns).values() if len(family) > 1]
    for column in called(draft.free, NAMES["confidence"]):  # prob_a is no "proba" where a prob_b stands beside it
        if draft.has_numbers(column) and not any(column in family for family in by_class):
            draft.take(BY_NAME, confidence=draft.roles.confidence or column)
            return
