"""Do predictions by trial fit a data set and its splits? Joined by id, class and trial, or refused with a remedy."""

import re
from collections.abc import Iterable

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset, Predictions, PredictionTable
from touchstone.core.data.tables.names import common_names
from touchstone.core.data.values import listed
from touchstone.core.split import Split

_OTHER_SETTINGS = (
    "If that is how it was exported, it was exported with other settings: download the splits again, or set the "
    "controls as they were."
)


def check_roles(table: PredictionTable) -> None:
    """DataError unless the table has ids and trials, and is of one set and one task."""
    if table.roles.trial is None:
        raise DataError(
            f"{table.name}: no column says which trial a row belongs to. Keep the column 'trial' of the downloaded "
            "splits, or say which column it is."
        )
    if table.roles.id is None:
        raise DataError(
            f"{table.name}: no column holds ids. Keep the column 'id' of the downloaded splits, or say which column it "
            "is: predictions by trial are joined with the data set by it."
        )
    for role, names in (("set", table.sets), ("task", table.tasks)):
        if len(names) > 1:
            raise DataError(
                f"{table.name}: there are {len(names)} {role}s ({listed(names)}), and predictions by trial are of one "
                f"data set. Leave the others out; if the column means something else, take the role {role!r} away."
            )


def rows_of_ids(dataset: Dataset, given: Predictions) -> Integer[np.ndarray, " n_rows"]:
    """The row of the data set that each prediction is about."""
    row_of = {str(name): row for row, name in enumerate(dataset.ids)}
    unknown = list(dict.fromkeys(name for name in given.ids if name not in row_of))
    if unknown:
        raise DataError(
            f"{given.name}: {len(unknown):,} of {len(set(given.ids)):,} ids are not in {dataset.name} "
            f"({_such(unknown)}); there they are like {dataset.ids[0]!r}. Give the ids as the downloaded splits have "
            "them, or choose the data set that they are of."
        )
    return np.array([row_of[name] for name in given.ids], dtype=np.int64)


def check_truth(
    dataset: Dataset,
    given: Predictions,
    rows: Integer[np.ndarray, " n_rows"],
    code_of: Integer[np.ndarray, " n_classes"],
) -> None:
    """DataError where the truth of the predictions is not that of the data set."""
    differing = np.flatnonzero(code_of[given.y_true] != dataset.y[rows])
    if len(differing):
        first = differing[0]
        raise DataError(
            f"{given.name}: {len(differing):,} of {len(rows):,} rows have another truth than {dataset.name}, such as "
            f"id {given.ids[first]!r}: {given.class_names[given.y_true[first]]!r} here, "
            f"{dataset.class_names[dataset.y[rows[first]]]!r} there. Are these the same samples? Leave the truth out "
            "to take the data set's."
        )


def class_codes(dataset: Dataset, given: Predictions) -> Integer[np.ndarray, " n_classes"]:
    """The data set's code of each class of the predictions, matched by name."""
    common = common_names(set(dataset.class_names), set(given.class_names))
    names = common[0] if common else {name: name for name in (*dataset.class_names, *given.class_names)}
    code_of = {names[name]: code for code, name in enumerate(dataset.class_names)}
    unknown = [name for name in given.class_names if names[name] not in code_of]
    if unknown:
        raise DataError(
            f"{given.name}: {listed(unknown)} {'is no class' if len(unknown) == 1 else 'are no classes'} of "
            f"{dataset.name}. Its classes are {listed(dataset.class_names)}: name them like that."
        )
    return np.array([code_of[names[name]] for name in given.class_names], dtype=np.int64)


def trial_numbers(trials: list[str], n_draws: int, name: str) -> dict[int, int]:
    """Which of `trials` has which number; DataError where one is no number of a draw."""
    if all(re.fullmatch(r"\d{1,9}\.0+", text) for text in trials):  # as pandas writes whole numbers beside gaps
        trials = [text.partition(".")[0] for text in trials]
    numbers = {int(text): place for place, text in enumerate(trials) if re.fullmatch(r"\d{1,9}", text)}
    wrong = [text for text in trials if not (re.fullmatch(r"\d{1,9}", text) and int(text) < n_draws)]
    if wrong or len(numbers) < len(trials):
        raise DataError(
            f"{name}: {len(wrong) or len(trials) - len(numbers):,} of {len(trials):,} trials are not numbered like the "
            f"splits ({_such(wrong or trials)}). There are {n_draws:,} trials, from 0 to {n_draws - 1:,}. "
            f"{_OTHER_SETTINGS}"
        )
    return numbers


def check_part(split: Split, rows: Integer[np.ndarray, " n_rows"], ids: np.ndarray, place: str) -> None:
    """DataError unless the rows are just those of the test part."""
    leaked = np.intersect1d(rows, split.train)
    if len(leaked):
        raise DataError(
            f"{place}: {len(leaked):,} of {len(rows):,} rows are in its training part ({_such(ids[leaked])}), and "
            f"predictions on training rows are not a test. Give only the rows whose part is 'test'. "
            f"{_OTHER_SETTINGS}"
        )
    outside = np.setdiff1d(rows, split.test)
    if len(outside):
        raise DataError(
            f"{place}: {len(outside):,} of {len(rows):,} rows are not in its test part ({_such(ids[outside])}). Give "
            f"only the rows whose part is 'test'. {_OTHER_SETTINGS}"
        )
    missing = np.setdiff1d(split.test, rows)
    if len(missing):
        raise DataError(
            f"{place}: {len(missing):,} of the {len(split.test):,} rows of its test part have no prediction "
            f"({_such(ids[missing])}). Predict all of them, or leave the whole trial out. {_OTHER_SETTINGS}"
        )


def _such(values: Iterable[object]) -> str:
    return "such as " + ", ".join(repr(str(value)) for value in list(values)[:3])
