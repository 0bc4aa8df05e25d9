"""What do files of predictions say of the samples themselves? Texts and measurements, by which samples are met again.

Columns of a file that have no role: a text, numbers, or names of few kinds. What merely counts rows is none of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
from jaxtyping import Float

from touchstone.core.data.predictions.roles import Roles
from touchstone.core.data.tables.roles import NAMES
from touchstone.core.data.tables.table import Table

_MOST_NUMBERS = 20
"""Of so many columns of numbers it is seen whether rows are the same."""
MOST_KINDS = 20
"""A column of so many different names, or fewer, says of which kind a sample is."""
_TOLD_APART = 0.9
"""The share of rows that inputs tell apart, at least: what most rows share says nothing of any."""


def inputs_of(table: Table, roles: Roles) -> dict[str, np.ndarray]:
    """The columns without a role that say what the samples are: strings where these are texts or kinds, else numbers.

    Where nothing stands in a cell it is "", or NaN.

    >>> from touchstone.core.data.tables.table import make_table
    >>> cells = [["a", "b"], ["a", "b"], ["it is fine", "it was not"], ["0.5", "1.5"], ["1", "2"]]
    >>> table = make_table("t.csv", ["gold", "said", "review", "width", "row"], cells, lines=[2, 3])
    >>> list(inputs_of(table, Roles("gold", "said")))
    ['review', 'width']
    """
    free = roles.free_in(table)
    texts = [column for column in free if _says_kinds(table, column)]
    numeric = [column for column in free if table.kind(column) in ("fraction", "number", "whole")][:_MOST_NUMBERS]
    return {
        **{column: np.array([text or "" for text in table.spelled(column)], dtype=object) for column in texts},
        **{column: values for column in numeric if _are_measured(values := table.floats(column))},
    }


def _says_kinds(table: Table, column: str) -> bool:
    """Whether a column holds texts, or names of few kinds."""
    return table.kind(column) == "words" and (table.is_text(column) or 1 < table.n_different(column) <= MOST_KINDS)


def _are_measured(values: Float[np.ndarray, " n_rows"]) -> bool:
    """Whether these are known of most rows, and no count of rows: whole numbers that stand once each.

    >>> _are_measured(np.array([0.5, np.nan, 1.5])), _are_measured(np.array([1.0, 2.0, np.nan]))
    (True, False)
    """
    known = values[~np.isnan(values)]
    counts = (known % 1 == 0).all() and len(np.unique(known)) == len(known)
    return bool(2 * len(known) > len(values) and np.isfinite(known).all() and not counts)


def whole(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of the inputs by which samples are met again: texts, and numbers that are known of all rows."""
    return {name: each for name, each in inputs.items() if each.dtype == object or not np.isnan(each).any()}


def texts_of(inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of the inputs that are texts, or names of kinds."""
    return {column: values for column, values in inputs.items() if values.dtype == object}


def shared_inputs(files: Sequence[Mapping[str, np.ndarray]]) -> Iterator[tuple[str, list[np.ndarray]]]:
    """What the inputs of all files say of their samples, one way after the other: each text, then all numbers.

    A value for each row of each file, and what it is of; where it tells few rows apart it is left out.
    """
    files = [whole(file) for file in files]
    ways, numbers = _in_all(files, texts=True), _in_all(files, texts=False)
    if numeric := {column: values for column, values in numbers.items() if _are_met_again(values)}:
        ways[" + ".join(numeric)] = [_together(of_file) for of_file in zip(*numeric.values(), strict=True)]
    for name, values in ways.items():
        if all(len(set(each.tolist())) >= _TOLD_APART * len(each) for each in values):
            yield name, values


def _in_all(files: Sequence[Mapping[str, np.ndarray]], *, texts: bool) -> dict[str, list[np.ndarray]]:
    """The columns of texts, or else of numbers, that all files have, with the values of each file."""
    columns = [c for c in files[0] if all(c in file and (file[c].dtype == object) is texts for file in files)]
    return {column: [file[column] for file in files] for column in columns}


def _are_met_again(values: Sequence[Float[np.ndarray, " n_rows"]]) -> bool:
    """Whether a measurement has half of its values in every file: one that a model made has others in each."""
    known = [np.unique(each) for each in values]
    common = reduce(np.intersect1d, known)
    return 2 * len(common) >= min(map(len, known))


def is_called_text(column: str) -> bool:
    """Whether a column bears the name of a text that is classified.

    >>> is_called_text("Sentence"), is_called_text("rationale")
    (True, False)
    """
    return column.strip().lower() in NAMES["text"]


def _together(columns: Sequence[np.ndarray]) -> np.ndarray:
    """One value a row, of several columns of numbers."""
    return np.array([" ".join(map(repr, row)) for row in zip(*(each.tolist() for each in columns), strict=True)])
