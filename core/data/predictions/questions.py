"""What cannot be decided, or can never be? The question to ask, or the refusal."""

from typing import Any

from core.data.errors import DataError, RolesNeeded
from core.data.predictions.columns import LIKELY, Draft
from core.data.predictions.one_hot import ONE_LABEL, several_labels
from core.data.tables.column_names import ranked
from core.data.tables.roles import listed
from core.data.tables.scores import numbers_in
from core.data.tables.table import quoted


def open_question(draft: Draft) -> DataError | None:
    """The question, or the refusal, where truth or predictions were not found."""
    table = draft.table
    if draft.half != "predictions" and not draft.roles.has_truth:
        if draft.half == "truth" and any(getattr(draft.roles, role) for role in ("set", "fold", "source")):
            return None  # it tells how the rows are divided, which is worth joining too
        return _no_truth(draft)
    if draft.half == "truth" or draft.roles.says_something:
        return None
    if refusal := _several(draft):
        return refusal
    likely = [c for c in draft.free if draft.is_label(c) or draft.kind(c) == "fraction"]
    if likely:
        return RolesNeeded(
            f"{table.name}: which column holds what the model predicted? The columns are {listed(table.columns)}.",
            draft.roles,
            tuple(table.columns),
            "predicted",
        )
    known = f"There is a truth (column {draft.roles.truth!r})" if draft.roles.truth else "There are labels"
    asked, missing = "", "predictions"
    if dict(draft.roles.why).get("truth") == LIKELY:
        asked, missing = " Or is it the prediction?", "predictions, or the truth,"
    return DataError(
        f"{table.name}: no column holds what a model predicted. {known}, but neither a predicted label nor scores "
        f"beside it; the columns are {listed(table.columns)}.{asked} Add a column such as 'predicted', or give the "
        f"{missing} in a second file."
    )


def _no_truth(draft: Draft) -> DataError:
    table = draft.table
    if refusal := _several(draft):
        return refusal
    if refusal := several_labels(table):
        return refusal
    if draft.names_prediction:
        return RolesNeeded(
            f"{table.name}: column {draft.names_prediction!r} looks like the prediction, not the truth: it says "
            "what the scores say, or nothing else does. Which column holds the truth? If none does, give the truth "
            "in a second file.",
            draft.roles,
            tuple(table.columns),
            "truth",
        )
    unranked = [column for column in draft.free if (ranked(column) or (1,))[0] == 1]
    likely = [c for c in unranked if draft.is_label(c) and len(set(draft.spelled(c))) > 1]
    if len(likely) == 1 and not draft.roles.says_something:
        return RolesNeeded(
            f"{table.name}: column {likely[0]!r} holds labels. Is it the truth, or is it the prediction? Say so below, "
            "and give the other in a second file.",
            draft.roles,
            tuple(table.columns),
            "truth",
        )
    if likely and not draft.roles.parts:
        return RolesNeeded(
            f"{table.name}: which column holds the truth? The columns are {listed(table.columns)}.",
            draft.roles,
            tuple(table.columns),
            "truth",
        )
    return DataError(
        f"{table.name}: no column holds the truth. The columns are {listed(table.columns)}. Add a column such as "
        "'gold' with the true labels, or give them in a second file."
    )


def _several(draft: Draft) -> DataError | None:
    """The refusal of a column whose cells hold lists that are no scores; vectors that are not whole are such."""
    for column in draft.free:
        if draft.kind(column) != "several":
            continue
        cells = draft.table.columns[column]
        row = next((row for row, cell in enumerate(cells.tolist()) if _is_several(cell)), 0)
        told = f"{draft.table.place(row)}: column {column!r} holds {quoted(cells[row])}"
        if isinstance(cells[row], str) and "..." in cells[row]:
            return DataError(
                f"{told}, a vector that was cut short in printing. Write all of it, with .tolist() or "
                "np.set_printoptions(threshold=sys.maxsize)."
            )
        if isinstance(cells[row], dict):
            return DataError(f"{told}, neither a label nor scores. Give a mapping from label to score, or columns.")
        return DataError(f"{told}, several labels in one row. {ONE_LABEL}")
    return None


def _is_several(cell: Any) -> bool:
    """Whether a cell is no list of numbers with a single 1."""
    numbers = numbers_in(cell)
    return not isinstance(numbers, list) or sum(number == 1 for number in numbers) != 1
