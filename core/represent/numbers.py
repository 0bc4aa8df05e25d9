"""Which one number describes a row? What folds by quantiles go by, and what is plotted against performance."""

import numpy as np
from jaxtyping import Float

from touchstone.core.data import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.represent.tokens import n_tokens

_TITLES = {"length": "Length (words)", "brightness": "Mean brightness (0 black, 1 white)"}
_LISTED = 10  # names that an error lists


def numbers_of(dataset: Dataset) -> tuple[str, ...]:
    """Name the numbers that every row of a data set has: a text's length, an image's brightness, a table's columns.

    Then come those that are known of the rows but are no inputs, such as a date.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> numbers_of(load_example("digits")), numbers_of(load_example("wine"))[:2]
    (('brightness',), ('alcohol', 'malic_acid'))
    """
    own = _own(dataset)
    return own + tuple(f"{name} (column)" if name in own else name for name in dataset.number_names)


def number_of(dataset: Dataset, name: str) -> Float[np.ndarray, " n_samples"]:
    """Give one number per row: words in a text, the mean of an image's pixels in [0, 1], or a column as it is.

    A date is the number of days since the beginning of 1970.

    Raises DataError for a name that is not in ``numbers_of``.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> number_of(load_example("wine"), "alcohol")[:2]
    array([14.23, 13.2 ])
    """
    names = numbers_of(dataset)
    if name not in names:
        listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
        raise DataError(f"{dataset.name}: no row has a number called {name!r}. Take one of {listed}.")
    position = names.index(name)
    if dataset.numbers is not None and position >= (n_own := len(_own(dataset))):
        return dataset.numbers[:, position - n_own].astype(np.float64)
    if dataset.kind == "text":
        return n_tokens(dataset.x).astype(np.float64)
    if dataset.kind == "image":
        return dataset.x.reshape(dataset.n_samples, -1).mean(axis=1, dtype=np.float64)
    return dataset.x[:, position]


def number_title(dataset: Dataset, name: str) -> str:
    """Say what a number of a data set is, with its unit, as an axis does.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> number_title(load_example("digits"), "brightness"), number_title(load_example("wine"), "alcohol")
    ('Mean brightness (0 black, 1 white)', 'alcohol')
    """
    return name if dataset.kind == "tabular" or name not in _own(dataset) else _TITLES[name]


def _own(dataset: Dataset) -> tuple[str, ...]:
    """The numbers that the inputs themselves have."""
    if dataset.kind == "text":
        return ("length",)
    return ("brightness",) if dataset.kind == "image" else dataset.feature_names
