"""Are these values what they should be? Checked once, kept read-only: what data sets and predictions are made of."""

from collections import Counter
from typing import Any

import numpy as np

from core.data.errors import DataError


def read_only(values: Any, dtype: Any) -> np.ndarray:
    """The values as a read-only array that nobody else can write to: a copy, unless it is read-only already.

    >>> read_only([1, 2], np.float64).flags.writeable
    False
    """
    fixed = isinstance(values, np.ndarray) and not values.flags.writeable
    if fixed and isinstance(values.base, np.ndarray):
        fixed = not values.base.flags.writeable
    array = np.array(values, dtype=dtype, order="C", copy=None if fixed else True)
    array.flags.writeable = False
    return array


def texts(values: Any, what: str, name: str, *, empty: bool = False) -> np.ndarray:
    """A read-only object array of plain str, each of them valid Unicode and, unless `empty` is allowed, non-empty.

    >>> texts(["a", ""], "id", "t.tsv")
    Traceback (most recent call last):
    core.data.errors.DataError: t.tsv: id 2 of 2 is ''. It must be a non-empty string.
    """
    given = list(values)
    for position, text in enumerate(given):
        if not isinstance(text, str) or (text == "" and not empty):
            raise DataError(
                f"{name}: {what} {position + 1} of {len(given)} is {text!r}. It must be a non-empty string."
            )
        if not text.isascii():
            _check_unicode(text, f"{name}: {what} {position + 1} of {len(given)}")
    array = np.empty(len(given), dtype=object)
    array[:] = [str(text) for text in given]
    array.flags.writeable = False
    return array


def _check_unicode(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"{place} holds half a surrogate pair at character {error.start + 1}. Save the text as valid Unicode."
        ) from error


def codes(values: Any, name: str, *, what: str = "y") -> np.ndarray:
    """A read-only array of codes into class names.

    >>> codes([0.5], "t.tsv")
    Traceback (most recent call last):
    core.data.errors.DataError: t.tsv: y is float64 of shape (1,). It must hold one integer per sample, ...
    """
    array = np.asarray(values)
    if array.ndim != 1 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        raise DataError(
            f"{name}: {what} is {array.dtype} of shape {array.shape}. It must hold one integer per sample, "
            "a code into class_names."
        )
    return read_only(values, np.int64)


def check_unique(values: Any, what: str, name: str) -> None:
    """DataError where one of the values occurs twice.

    >>> check_unique(["a", "b", "a"], "id", "t.tsv")
    Traceback (most recent call last):
    core.data.errors.DataError: t.tsv: id 'a' occurs 2 times. Each id must be unique.
    """
    if len(set(values)) == len(values):
        return
    value, count = Counter(values).most_common(1)[0]
    raise DataError(f"{name}: {what} {value!r} occurs {count} times. Each {what} must be unique.")
