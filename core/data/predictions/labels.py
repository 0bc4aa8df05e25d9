"""Is `label` the truth or the prediction? What else is in the file decides, and what the values say."""

from contextlib import suppress

from core.data.errors import DataError
from core.data.predictions.columns import BY_NAME, LIKELY, Draft
from core.data.tables.classes import renaming
from core.data.tables.column_names import NAMES, PREDICTED_LIKELY, SCORE_LIKELY, TRUTH_LIKELY, called, compact
from core.data.tables.scores import cell_scores

_SAME = 0.999


def tell_apart(draft: Draft) -> None:
    """Columns whose names mean opposite things in different tools."""
    if draft.roles.parts:
        return
    if draft.half != "truth" and not (draft.roles.confidence or draft.roles.vector or draft.roles.probabilities):
        scores = [c for c in called(draft.free, (*NAMES["predicted"], *SCORE_LIKELY)) if draft.kind(c) == "fraction"]
        other = ("whole",) if draft.roles.predicted else ("whole", "number")  # numbers shall be refused with their line
        scores += [column for column in called(draft.free, ("score", "scores")) if draft.kind(column) in other]
        if scores:
            draft.take(LIKELY, confidence=scores[0])
    truths = [column for column in called(draft.free, TRUTH_LIKELY) if draft.kind(column) in ("words", "whole")]
    truths = [column for column in truths if compact(column) != "response" or draft.is_label(column)]  # or free text
    said = [column for column in called(draft.free, PREDICTED_LIKELY) if draft.kind(column) in ("words", "whole")]
    if draft.half == "truth":
        if draft.roles.truth is None and (truths or said):
            draft.take(LIKELY, truth=(truths or said)[0])
        return
    if draft.roles.predicted is None and said:
        draft.take(LIKELY, predicted=said.pop(0))
    if draft.half == "predictions":
        if not draft.roles.says_something and truths:
            draft.take("the only labels in the file of predictions", predicted=truths[0])
        return
    if draft.roles.truth is not None:
        _leftover(draft, truths)
    elif len(truths) == 1 or (truths and compact(truths[0]) in ("label", "labels")):
        _truth_or_prediction(draft, truths[0])


def _leftover(draft: Draft, truths: list[str]) -> None:
    """A `label` beside a truth is the prediction, unless it is the truth by another name, or scores are there."""
    if draft.roles.predicted is None and not (draft.roles.vector or draft.roles.probabilities):
        truth = [str(value) for value in draft.spelled(draft.roles.truth or "")]
        for column in truths:
            if renaming([str(value) for value in draft.spelled(column)], truth) is None:
                draft.take(LIKELY, predicted=column)
                return


def _truth_or_prediction(draft: Draft, column: str) -> None:
    """Is `label` the truth? Not if it says what the prediction says, nor where only a confidence is beside it."""
    said = _said(draft)
    if said is not None:
        if renaming(said, [str(value) for value in draft.spelled(column)], least=_SAME) is None:
            draft.take(LIKELY, truth=column)
        else:
            draft.names_prediction = column
            if draft.roles.predicted is None:
                draft.take("it agrees with the highest score", predicted=column)
        return
    if draft.roles.confidence is None:
        draft.take(LIKELY, truth=column)
        return
    scores = draft.table.floats(draft.roles.confidence)
    labels = [str(value) for value in draft.spelled(column)]
    halves = [str(score) for score in scores >= 0.5]
    if len(set(labels)) <= 2 and (scores < 0.5).any() and renaming(halves, labels, least=_SAME) is None:
        draft.take(LIKELY, truth=column)  # and the scores are of one class, whichever
    else:
        draft.names_prediction = column
        draft.take("likely, beside a confidence and no other label", predicted=column)


def _said(draft: Draft) -> list[str] | None:
    """What the model said, as names of columns or positions: its label, or the class of the highest score."""
    if draft.roles.predicted is not None:
        return [str(value) for value in draft.spelled(draft.roles.predicted)]
    with suppress(DataError):
        if draft.roles.vector is not None:
            return [str(position) for position in cell_scores(draft.table, draft.roles.vector)[1].argmax(axis=1)]
        if draft.roles.probabilities:
            matrix = draft.matrix(column for _, column in draft.roles.probabilities)
            return [str(position) for position in matrix.argmax(axis=1)]
    return None


def only_one(draft: Draft) -> None:
    """In one of two files the only column of labels is what that file is about, whatever it is called."""
    if draft.half == "truth" and draft.roles.has_truth:
        return
    if draft.half == "predictions" and draft.roles.says_something:
        truths = [column for column in called(draft.free, NAMES["truth"]) if draft.is_label(column)]
        if truths and not draft.roles.has_truth and not draft.roles.parts:
            draft.take(BY_NAME, truth=truths[0])  # the file is whole; the other one may add folds
        return
    role = "truth" if draft.half == "truth" else "predicted"
    strong = [*called(draft.free, NAMES["truth"]), *called(draft.free, NAMES["predicted"])]
    labels = [c for c in strong if draft.kind(c) in ("words", "whole")] or [c for c in draft.free if draft.is_label(c)]
    if len(labels) == 1:
        draft.take("the only labels in this file", **{role: labels[0]})
