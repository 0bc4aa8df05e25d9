"""How does a table with columns of names become one of numbers, and how does it become the names again?

A name is a column of 0 and 1, called after both: `sex=male`. Where a number is asked for its name, the largest one of
the column's is it, so that a model which takes names can be asked about numbers that were moved a little.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from touchstone.core.data.errors import DataError

MOST_NAMES = 50
"""More different ones are no categories, but texts or ids."""


def with_indicators(columns: Mapping[str, Any], name: str) -> dict[str, Float[np.ndarray, " n"]]:
    """The columns, each one of texts as a column of 0 and 1 for each of its names; an empty cell is 0 in all of them.

    Raises DataError, with what to do, for a column of more than `MOST_NAMES` names, or of what is neither texts nor
    numbers, such as dates.

    >>> with_indicators({"age": [4.0, 5.0], "sex": np.array(["f", None], dtype=object)}, "t")
    {'age': array([4., 5.]), 'sex=f': array([1., 0.])}
    """
    from pandas import isna

    made: dict[str, np.ndarray] = {}
    for column, values in columns.items():
        cells = np.where(isna(values), None, np.asarray(values, dtype=object))
        names = _names(cells, f"{name}: column {column!r}")
        if len(names) > MOST_NAMES:
            raise DataError(
                f"{name}: column {column!r} holds {len(names):,} different texts, more than the {MOST_NAMES} of a "
                "category. Leave it out, or give it by itself as texts."
            )
        if names:
            made |= {f"{column}={each}": (cells == each).astype(np.float64) for each in names}
        else:
            made[column] = np.where(isna(values), np.nan, cells).astype(np.float64)
    return made


def _names(cells: np.ndarray, place: str) -> list[str]:
    """The names in a column, in order; none where it holds numbers."""
    given = [cell for cell in cells.tolist() if cell is not None]
    kinds = {type(cell): cell for cell in given}
    other = [cell for kind, cell in kinds.items() if not issubclass(kind, str | float | int | np.number)]
    if other or (str in kinds and len(kinds) > 1):
        shown = (other or [cell for cell in kinds.values() if not isinstance(cell, str)])[0]
        raise DataError(f"{place} holds {shown!r}{' beside texts' * (str in kinds)}. Give it as texts or as numbers.")
    return sorted({*given}) if str in kinds else []


def column_of(x: Float[np.ndarray, "n d"], feature_names: Sequence[str], column: str) -> np.ndarray | None:
    """A column as it was before `with_indicators`: numbers, or names with None for an empty cell.

    None where there is no such column.

    >>> column_of(np.array([[4.0, 0.9, 0.2], [5.0, 0.0, 0.0]]), ["age", "sex=f", "sex=m"], "sex")
    array(['f', None], dtype=object)
    """
    if column in feature_names:
        return x[:, list(feature_names).index(column)]
    places = [place for place, each in enumerate(feature_names) if each.startswith(f"{column}=")]
    if not places:
        return None
    names = np.array([feature_names[place].removeprefix(f"{column}=") for place in places], dtype=object)
    largest = x[:, places].argmax(axis=1)
    cells = names[largest]
    cells[(x[:, places] == 0).all(axis=1)] = None
    return cells
