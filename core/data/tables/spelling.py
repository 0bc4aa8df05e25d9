"""How are ids, labels and sources written? As strings, exactly as they stand in the file: "01" is not 1."""

import math
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Integer

from core.data.errors import DataError

_MANY_CLASSES = 50
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def spell(value: Any) -> str | None:
    """A value as the string that names it; None where it is missing (empty, null, NaN) or has no plain name (a list).

    Whole numbers are written without a point, truth values as "true" and "false".

    >>> [spell(value) for value in ("01", 1, 1.0, 0.5, True, "NA", " ", float("nan"), [1])]
    ['01', '1', '1', '0.5', 'true', 'NA', None, None, None]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return None


def encode(labels: Sequence[str], *, place: str) -> tuple[Integer[np.ndarray, " n_samples"], tuple[str, ...]]:
    """Codes and class names of labels; the names in numeric order where all of them are numbers, else alphabetically.

    DataError, at `place`, where these are no classes: all labels alike, or hardly two that are.

    >>> codes, class_names = encode(["10", "9", "10"], place="t.tsv: column 'y'")
    >>> codes, class_names
    (array([1, 0, 1]), ('9', '10'))
    """
    names = set(labels)
    if len(names) == 1:
        raise DataError(
            f"{place}: {labels[0]!r} is the only class. A classifier needs two classes or more; is this the label?"
        )
    check_few(names, len(labels), place)
    class_names = class_order(names)
    return codes_of(labels, class_names), class_names


def check_few(names: Collection[str], n_samples: int, place: str) -> None:
    """DataError, at `place`, where so many classes are no classes.

    >>> check_few({"cat", "dog"}, 2, "t.tsv")
    """
    if len(names) > max(_MANY_CLASSES, n_samples / 2):
        raise DataError(
            f"{place}: {len(names):,} classes for {n_samples:,} samples. Touchstone tests classifiers, which tell "
            "few classes apart; are these measurements or ids?"
        )


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Class names in numeric order where all of them are numbers, else alphabetically.

    >>> class_order(["10", "9"]), class_order(["10", "9", "b"])
    (('9', '10'), ('10', '9', 'b'))
    """
    names = set(names)
    if all(_NUMBER.fullmatch(name) for name in names):
        return tuple(sorted(names, key=lambda name: (float(name), name)))
    return tuple(sorted(names))


def codes_of(labels: Sequence[str], class_names: Sequence[str]) -> Integer[np.ndarray, " n_samples"]:
    """The positions of labels in `class_names`.

    >>> codes_of(["b", "a"], ("a", "b"))
    array([1, 0])
    """
    code_of = {name: code for code, name in enumerate(class_names)}
    return np.array([code_of[label] for label in labels], dtype=np.int64)


def first_repeat(values: Iterable[Hashable]) -> tuple[int, int] | None:
    """The positions of the first value that occurred before: where it did, and where it does again.

    >>> first_repeat(["a", "b", "c", "b"])
    (1, 3)
    """
    seen: dict[Hashable, int] = {}
    for position, value in enumerate(values):
        if value in seen:
            return seen[value], position
        seen[value] = position
    return None
