"""What has to be asked about a file of predictions, or refused, where what it says can be read in several ways?

Its truth or its predictions were not found, or the names of classes in both have nothing in common.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.predictions.roles import LIKELY, Reading, Roles
from touchstone.core.data.predictions.shapes import ONE_LABEL, several_labels
from touchstone.core.data.tables import Table
from touchstone.core.data.tables import names as naming
from touchstone.core.data.values import listed, numbers_in, percent, quoted

_SAYING = {name for role in ("truth", "predicted", "confidence") for name in naming.NAMES[role]}.union(
    naming.TRUTH_LIKELY, naming.PREDICTED_LIKELY, naming.SCORE_LIKELY, ("out", "probs", "probabilities", "logits")
)
"""Names of columns that say what is or was predicted: with several values in a cell they have to be refused."""
_MOST_GUESSED = 50  # classes up to which a mapping between names is guessed
_OF_LABELS = re.compile(r"label|gold|truth", re.IGNORECASE)


def no_truth(reading: Reading) -> DataError:
    """The question which column holds the truth, or the refusal where none can."""
    table = reading.table
    names = {*naming.NAMES["truth"], *naming.TRUTH_LIKELY}.difference(naming.ALSO_OTHERS)
    if refusal := next(_several(reading, names), None) or several_labels(table):
        return refusal
    if reading.names_prediction:
        return _ask(
            reading,
            f"column {reading.names_prediction!r} looks like the prediction, not the truth: it says what the scores "
            "say, or nothing else does. Which column holds the truth? If none does, give the truth in a second file.",
            "truth",
        )
    likely = _likely_truths(reading)
    if len(likely) == 1 and not reading.roles.says_something:
        return _ask(
            reading,
            f"column {likely[0]!r} holds labels. Is it the truth, or is it the prediction? Say so below, and give the "
            "other in a second file.",
            "truth",
        )
    if likely and not reading.roles.parts:
        return _ask(reading, f"which column holds the truth? The columns are {listed(table.columns)}.", "truth")
    return DataError(
        f"{table.name}: no column holds the truth. The columns are {listed(table.columns)}.{_not_read(table)} Add a "
        "column such as 'gold' with the true labels, or give them in a second file."
    )


def _not_read(table: Table) -> str:
    """A sentence on columns that cannot be labels, since each cell holds several values; none where there are none."""
    several = [column for column in table.columns if table.kind(column) == "several"]
    return f" Cells with several values are not read: those of {listed(several)}." if several else ""


def _likely_truths(reading: Reading) -> list[str]:
    """The columns of two labels or more, further ranks of a top-k file aside."""
    unranked = [column for column in reading.free if (naming.ranked(column) or (1,))[0] == 1]
    labels = filter(reading.table.is_label, unranked)
    return [column for column in labels if len(set(reading.table.spelled(column))) > 1]


def no_prediction(reading: Reading) -> DataError:
    """The question which column holds what the model predicted, or the refusal where none can."""
    table = reading.table
    if refusal := next(_several(reading, _SAYING), None):
        return refusal
    if any(table.is_label(column) or table.kind(column) == "fraction" for column in reading.free):
        asked = f"which column holds what the model predicted? The columns are {listed(table.columns)}."
        return _ask(reading, asked, "predicted")
    truth = reading.roles.truth
    known = f"There is a truth (column {truth!r})" if truth else "There are labels"
    asked, missing = "", "predictions"
    if dict(reading.roles.why).get("truth") == LIKELY:
        asked, missing = " Or is it the prediction?", "predictions, or the truth,"
    return DataError(
        f"{table.name}: no column holds what a model predicted. {known}, but neither a predicted label nor scores "
        f"beside it; the columns are {listed(table.columns)}.{_not_read(table)}{asked} Add a column such as "
        f"'predicted', or give the {missing} in a second file."
    )


def _ask(reading: Reading, question: str, role: str) -> RolesNeeded:
    table = reading.table
    return RolesNeeded(f"{table.name}: {question}", reading.roles, tuple(table.columns), role)


def _several(reading: Reading, names: Collection[str]) -> Iterator[DataError]:
    """The refusals of columns of such names whose cells hold lists that are no scores, or vectors that are not whole.

    Columns of lists and objects that are called otherwise are nobody's concern, and named where something is missing.
    """
    for column in reading.free:
        is_called_so = naming.compact(column) in names or _OF_LABELS.search(column)
        if reading.table.kind(column) != "several" or not is_called_so:
            continue
        cells = reading.table.columns[column]
        row = next((row for row, cell in enumerate(cells.tolist()) if _is_several(cell)), 0)
        place = f"{reading.table.place(row)}: column {column!r} holds {quoted(cells[row])}"
        if isinstance(cells[row], str) and "..." in cells[row]:
            remedy = "Write all of it, with .tolist() or np.set_printoptions(threshold=sys.maxsize)."
            yield DataError(f"{place}, a vector that was cut short in printing. {remedy}")
        elif isinstance(cells[row], dict):
            yield DataError(f"{place}, neither a label nor scores. Give a mapping from label to score, or columns.")
        else:
            yield DataError(f"{place}, several labels in one row. {ONE_LABEL}")


def _is_several(cell: Any) -> bool:
    """Whether a cell is no list of numbers with a single 1."""
    numbers = numbers_in(cell)
    return not isinstance(numbers, list) or sum(number == 1 for number in numbers) != 1


def stands_twice(table: Table, places: tuple[int, int], ids: Sequence[str], within: str) -> DataError:
    """The refusal of an id that two rows have (`first_repeat`), `within` what else is the same in both."""
    return DataError(
        f"{table.twice(places, f'id {ids[places[1]]!r}')}{within}. Each must stand once: delete one of the two rows, "
        "choose another id column, or say which column tells models, sets, tasks or trials apart."
    )


def other_names(known: set[str], predicted: Sequence[str], guess: Roles, truth_place: str) -> RolesNeeded:
    """Which class each predicted name stands for, since none of them is a true one; `guess` is the likeliest answer."""
    names = naming.class_order(known)
    return RolesNeeded(
        f"{truth_place} says {listed(names)}, the predictions say {listed(predicted)}. "
        "Which predicted name stands for which class?",
        guess,
        names,
        "classes",
    )


def codes_apart(
    truth: Sequence[str], labels: Sequence[str], predicted: Sequence[str], roles: Roles, truth_place: str
) -> RolesNeeded:
    """Whether codes stand for the same codes, or for those that are one higher or lower; the latter is likelier."""
    known = set(truth)
    step = min(map(int, known)) - min(map(int, predicted))
    return RolesNeeded(
        f"{truth_place} says {listed(naming.class_order(known))}, the predictions say {listed(predicted)}, as if one "
        f"of them counted from 1. {_as_counted(truth, labels, step)}Which predicted name stands for which class?",
        replace(roles, classes=tuple((name, str(int(name) + step)) for name in predicted)),
        naming.class_order({*known, *predicted, *(str(int(name) + step) for name in predicted)}),
        "classes",
    )


def _as_counted(truth: Sequence[str], labels: Sequence[str], step: int) -> str:
    """In how many rows codes agree if they are moved, and as they stand."""
    if not labels:
        return ""
    pairs = list(zip(truth, labels, strict=True))
    as_they_stand, moved = (np.mean([int(a) == int(b) + by for a, b in pairs]) for by in (0, step))
    return f"Moved by one, {percent(moved)} of {len(pairs):,} rows agree; as they stand, {percent(as_they_stand)}. "


def likeliest_names(
    truth: Sequence[str], predicted: Sequence[str] | None, proba_names: Sequence[str], proba: np.ndarray | None
) -> tuple[tuple[str, str], ...]:
    """The one-to-one mapping under which most rows would be correct: a guess to confirm."""
    from scipy.optimize import linear_sum_assignment

    labels = predicted
    if labels is None and proba is not None:
        labels = [proba_names[code] for code in proba.argmax(axis=1)]
    true_names = naming.class_order(truth)
    answers = naming.class_order({*(labels or ()), *proba_names})
    if labels is None or max(len(answers), len(true_names)) > _MOST_GUESSED:
        return ()
    counts = np.zeros((len(answers), len(true_names)))
    np.add.at(counts, (naming.codes_of(labels, answers), naming.codes_of(truth, true_names)), 1)
    return tuple((answers[a], true_names[b]) for a, b in zip(*linear_sum_assignment(-counts), strict=True))
