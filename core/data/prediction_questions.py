"""What cannot be decided, or can never be? The question to ask, or the refusal."""

from core.data.column_names import ranked
from core.data.errors import DataError, RolesNeeded
from core.data.prediction_columns import Draft
from core.data.roles import listed
from core.data.tables import quoted


def open_question(draft: Draft) -> DataError | None:
    """The question, or the refusal, where truth or predictions were not found."""
    table = draft.table
    if draft.half != "predictions" and not draft.roles.has_truth:
        if draft.half == "truth" and any(getattr(draft.roles, role) for role in ("set", "fold", "source")):
            return None  # it tells how the rows are divided, which is worth joining too
        return _no_truth(draft)
    if draft.half == "truth" or draft.roles.says_something:
        return None
    likely = [c for c in draft.free if draft.is_label(c) or draft.kind(c) == "fraction"]
    if likely:
        return RolesNeeded(
            f"{table.name}: which column holds what the model predicted? The columns are {listed(table.columns)}.",
            draft.roles,
            tuple(table.columns),
            "predicted",
        )
    known = f"There is a truth (column {draft.roles.truth!r})" if draft.roles.truth else "There are labels"
    return DataError(
        f"{table.name}: no column holds what a model predicted. {known}, but neither a predicted label nor scores "
        f"beside it; the columns are {listed(table.columns)}. Add a column such as 'predicted', or give the "
        "predictions in a second file."
    )


def _no_truth(draft: Draft) -> DataError:
    table = draft.table
    for column in draft.free:
        if draft.kind(column) == "several":
            return DataError(
                f"{table.place(0)}: column {column!r} holds {quoted(table.columns[column][0])}, several labels in "
                "one row. Touchstone tests classifiers that give one label: give one column of labels per task."
            )
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
