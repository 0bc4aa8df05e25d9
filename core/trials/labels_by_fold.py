"""How many samples of each label belong in each fold, where somebody says so? (Wecker et al. 2020, section 3.3)

A label has a weight for every fold: its samples are shared out in proportion, and counts that sum to its samples are
met exactly. Labels of which nothing is said are spread evenly.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from touchstone.core.data import DataError, Dataset

WeightRows = tuple[tuple[str | int | float, ...], ...]
"""For each label that something is said of: the label, then its weight in each fold."""


def checked_weights(rows: Any, n_folds: int, *, what: str) -> WeightRows:
    """The rows as (label, weight, ...), weights as floats; DataError, which begins with `what`, where they make none.

    Examples
    --------
    >>> checked_weights((("ham", 1, 3),), 2, what="Labels by fold")
    (('ham', 1.0, 3.0),)
    >>> checked_weights((("ham", 1),), 2, what="Labels by fold")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: Labels by fold: “ham” needs a number for each of the 2 folds, not 1.
    """
    checked: dict[str, tuple[str | float, ...]] = {}
    for row in rows:
        if not (isinstance(row, tuple) and row and isinstance(row[0], str)):
            raise DataError(f"{what}: each row is a label and a number for each fold, not {row!r}.")
        label, weights = row[0], row[1:]
        if label in checked:
            raise DataError(f"{what}: “{label}” stands twice. Give it one row.")
        if len(weights) != n_folds:
            raise DataError(f"{what}: “{label}” needs a number for each of the {n_folds} folds, not {len(weights)}.")
        if not all(type(weight) in (int, float) and weight >= 0 for weight in weights) or sum(weights) <= 0:
            raise DataError(f"{what}: the numbers of “{label}” must be 0 or more, and one of them above 0.")
        checked[label] = (label, *(float(weight) for weight in weights))
    return tuple(checked.values())


def weights_by_code(rows: WeightRows, dataset: Dataset, *, what: str) -> dict[int, tuple[float, ...]]:
    """The weights by the code of each label; DataError where the data set has no such class.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> weights_by_code((("class_1", 1.0, 3.0),), load_example("wine"), what="Labels by fold")
    {1: (1.0, 3.0)}
    """
    unknown = [f"“{row[0]}”" for row in rows if row[0] not in dataset.class_names]
    if unknown:
        more = " …" if dataset.n_classes > 10 else ""
        raise DataError(
            f"{what}: {dataset.name} has no class {', '.join(unknown)}. "
            f"Its classes are {', '.join(f'“{name}”' for name in dataset.class_names[:10])}{more}."
        )
    return {dataset.class_names.index(str(row[0])): tuple(float(weight) for weight in row[1:]) for row in rows}


def wanted_by_fold(
    rows: WeightRows, dataset: Dataset, n_folds: int, *, what: str
) -> Float[np.ndarray, "n_folds n_classes"]:
    """How many samples of each class each fold is to get, before any is rounded; DataError where a fold gets none.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> wanted_by_fold((("class_1", 1.0, 3.0),), load_example("wine"), 2, what="Labels by fold")
    array([[29.5 , 17.75, 24.  ],
           [29.5 , 53.25, 24.  ]])
    """
    shares = np.full((dataset.n_classes, n_folds), 1 / n_folds)
    for code, weights in weights_by_code(rows, dataset, what=what).items():
        shares[code] = np.array(weights) / sum(weights)
    wanted = (shares * dataset.n_per_class[:, None]).T
    empty = np.flatnonzero(wanted.sum(axis=1) < 1)
    if len(empty):
        raise DataError(f"{what}: fold {empty[0] + 1} would hold no sample. Give it some, or ask for fewer folds.")
    return wanted


def notes_on_labels(rows: WeightRows, *, title: str) -> tuple[str, ...]:
    """What is to be known where somebody says the labels of a scheme's folds, in sentences; none where nobody does.

    >>> notes_on_labels((("ham", 0.0, 2.0), ("spam", 1.0, 1.0)), title="SDS k-means")[1:]
    ('All samples of “ham” are in fold 2: no model that is tested there has seen one.',)
    """
    filled = [(row[0], [fold for fold, weight in enumerate(row[1:], 1) if weight]) for row in rows]
    unseen = [
        f"All samples of “{label}” are in fold {folds[0]}: no model that is tested there has seen one."
        for label, folds in filled
        if len(folds) == 1
    ]
    chosen = f"You specified the labels of the folds of {title}, so scores also differ because labels do."
    return (chosen, *unseen[:5]) if rows else ()


def rare_labels(dataset: Dataset, n_folds: int) -> tuple[str, ...]:
    """The labels that have fewer samples than there are folds, in a sentence; none where there are none.

    >>> from touchstone.core.data import load_example
    >>> rare_labels(load_example("wine"), 5)
    ()
    """
    n = dataset.n_per_class
    rare = [f"{name} ({count})" for name, count in zip(dataset.class_names, n, strict=True) if count < n_folds]
    if not rare:
        return ()
    more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
    return (
        f"Fewer samples than the {n_folds} folds: {', '.join(rare[:5])}{more}. That is allowed; such a label is "
        f"missing from some folds, and their scores do not cover it.",
    )
