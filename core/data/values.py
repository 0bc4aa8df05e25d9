"""What is a single value, and is it what it should be? How it is spelled, read as numbers, shown, and checked once.

Ids, labels and sources are strings exactly as they stand in the file: "01" is not 1.
"""

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data.errors import DataError

Codes = Integer[np.ndarray, " n_samples"]
"""A whole number for each sample: its class, source, unit or fold."""
Ids = Shaped[np.ndarray, " n_samples"]
"""What a class, a source or a unit is called, for each sample."""
Floats = Float[np.ndarray, " n"]
Ints = Integer[np.ndarray, " n"]
Bools = Bool[np.ndarray, " n"]
"""One value for each of n things of a kind; in one signature all are of as many."""
_LONGEST_LITERAL = 100_000
_SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")  # as numpy 2 prints a number in a list
_WRAPPED = re.compile(r"^(?:np\.|numpy\.|torch\.)?(?:array|tensor)\((\[.*?\]).*\)$", re.DOTALL)
_LONGEST_VECTOR = 1_000_000
_RANKED_KEYS = {
    frozenset(keys): keys
    for keys in (("label", "score"), ("label", "prob"), ("Name", "Score"), ("label", "probability"), ("class", "score"))
}
_CLASSES = ("displayNames", "classes", "labels")
_OF_CLASSES = ("confidences", "scores", "probabilities", "probs")
_SAMPLE = 1000  # rows that are looked at to see what a column holds


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


def objects(values: Sequence[Any]) -> np.ndarray:
    """The values as a one-dimensional object array, also where they are lists.

    >>> objects([[1, 2], [3, 4]]).shape
    (2,)
    """
    return np.fromiter(values, dtype=object, count=len(values))


def as_numbers(values: np.ndarray) -> Float[np.ndarray, " n_rows"]:
    """The values as numbers, NaN where they are none.

    >>> as_numbers(objects(["1.5", "", None, 2]))
    array([1.5, nan, nan, 2. ])
    """
    try:
        return values.astype(np.float64)  # a copy, also of floats
    except (TypeError, ValueError, OverflowError):
        return np.array([_float(value) for value in values.tolist()])


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def numbers_in(cell: Any) -> list[float] | dict[str, float] | None:
    """The vector, or the label -> score mapping, that a cell holds; None where it holds neither.

    Lists may be JSON's, Python's, or printed by numpy; mappings may be a label and a score, or lists of these, classes
    and scores apart, or hold such a mapping of probabilities. Spark's vectors are dense or sparse.

    >>> numbers_in("[0.25 0.75]"), numbers_in("{'cat': 1}"), numbers_in('[{"label": "cat", "score": 0.9}]')
    ([0.25, 0.75], {'cat': 1.0}, {'cat': 0.9})
    >>> numbers_in({"type": 1, "values": [0.2, 0.8]}), numbers_in({"classes": ["cat", "dog"], "scores": [0.2, 0.8]})
    ([0.2, 0.8], {'cat': 0.2, 'dog': 0.8})
    >>> numbers_in("0.25"), numbers_in('["cat", "dog"]')
    (None, None)
    """
    if isinstance(cell, str):
        cell = _literal(cell.strip())
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    try:
        if isinstance(cell, (list, tuple)) and cell:
            return _of_list(cell)
        if isinstance(cell, dict) and cell:
            return _of_mapping(cell)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        return None
    return None


def _of_list(cell: Sequence[Any]) -> list[float] | dict[str, float]:
    if all(isinstance(item, dict) for item in cell):
        return _ranking(cell)
    if all(_is_likelihood(item) for item in cell):
        return [float(item[0]) for item in cell]
    if len(cell) == 3 and isinstance(cell[1], list) and isinstance(cell[2], list):
        return _sparse(*cell)
    return [_number(item) for item in cell]


def _of_mapping(cell: dict[Any, Any]) -> list[float] | dict[str, float]:
    if "type" in cell and isinstance(cell.get("values"), (list, np.ndarray)):
        if cell.get("indices") is None:  # a vector as Spark writes it, dense or sparse
            return [_number(value) for value in cell["values"]]
        return _sparse(cell["size"], cell["indices"], cell["values"])
    inside = cell.get("probability", cell.get("probabilities"))
    if isinstance(inside, dict):
        return _by_name((label, _number(score)) for label, score in inside.items())
    names, scores = (_list_under(keys, cell) for keys in (_CLASSES, _OF_CLASSES))
    if names is not None and scores is not None:
        return _by_name((name, _number(score)) for name, score in zip(names, scores, strict=True))
    return _ranking([cell]) if _is_ranked(cell) else _by_name((label, _number(score)) for label, score in cell.items())


def _list_under(keys: Iterable[str], cell: dict[Any, Any]) -> list[Any] | None:
    """The list under the first of some keys that has one."""
    return next((cell[key] for key in keys if isinstance(cell.get(key), list)), None)


def _sparse(size: int, indices: Sequence[int], values: Iterable[float]) -> list[float]:
    """A vector of which only some values are written."""
    if not 0 < size <= _LONGEST_VECTOR:
        raise ValueError("no vector is as long")
    if len({*indices}) < len(indices) or min(indices, default=0) < 0:
        raise ValueError("every place of a vector has one number")
    vector = [0.0] * size
    for index, value in zip(indices, values, strict=True):
        vector[index] = _number(value)
    return vector


def _is_likelihood(item: Any) -> bool:
    """Whether this is a log-likelihood and whether that answer would come first, as evaluation harnesses write them."""
    return isinstance(item, (list, tuple)) and len(item) == 2 and str(item[1]) in ("True", "False")


def _ranking(items: Sequence[Any]) -> dict[str, float]:
    labels, scores = _RANKED_KEYS.get(frozenset(items[0]), ("label", "score"))
    return _by_name((item[labels], float(item[scores])) for item in items)


def _by_name(scores: Iterable[tuple[Any, float]]) -> dict[str, float]:
    """A score for each label; ValueError where a label is there twice."""
    listed = [(_key(label), score) for label, score in scores]
    by_name = dict(listed)
    if len(by_name) < len(listed):
        raise ValueError("a label has one score")
    return by_name


def _is_ranked(cell: dict) -> bool:
    keys = _RANKED_KEYS.get(frozenset(cell))
    return keys is not None and isinstance(cell[keys[0]], str)


def _number(value: Any) -> float:
    if isinstance(value, (str, bool)):
        raise TypeError("a label, not a score")
    return float("nan") if value is None else float(value)


def _key(value: Any) -> str:
    name = spell(value)
    if name is None:
        raise TypeError("a label needs a name")
    return name


def _literal(text: str) -> Any:
    if text[-1:] not in ("]", "}", ")"):
        return None
    if wrapped := _WRAPPED.match(text):
        text = wrapped.group(1)
    text = _SCALAR.sub(r"\1", text)
    if text[:1] + text[-1:] not in ("[]", "{}", "()"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] == "[":
        try:
            return [float(word) for word in text[1:-1].replace(",", " ").split()]
        except ValueError:
            pass
    if len(text) > _LONGEST_LITERAL:
        return None
    try:
        return ast.literal_eval(text)  # plain values only: nothing in the text is run
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def quoted(value: Any) -> str:
    """A cell as a message shows it: short, and in words where there is nothing in it.

    >>> quoted(""), quoted("x" * 99)
    ('nothing', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    if value is None or value == "":
        return "nothing"
    shown = repr(value.item() if isinstance(value, np.generic) else value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def shortened(text: str, most: int) -> str:
    """A text of at most so many letters.

    >>> shortened("a long story", 7)
    'a long…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(columns: Iterable[str]) -> str:
    """Columns as a message names them: all of a few, the first of many.

    >>> listed("abcdefghijklmn")
    'a, b, c, d, e, f, g, h, i, j, k and 3 more'
    """
    names = list(columns)
    return ", ".join(names) if len(names) <= 12 else f"{', '.join(names[:11])} and {len(names) - 11} more"


def percent(share: float) -> str:
    """A fraction as people read it.

    >>> percent(0.6125)
    '61.3 %'
    """
    return f"{100 * share:.1f} %"


def vectors_in(cells: np.ndarray) -> np.ndarray | None:
    """The vectors that cells hold, one in each row; None where a cell holds none, or one of another length.

    >>> vectors_in(objects(["[1, 2]", [3.0, 4.0]])), vectors_in(objects(["[1, 2]", "[3]"]))
    (array([[1., 2.],
           [3., 4.]]), None)
    """
    vectors = []
    for some in (sample(cells), cells):  # a few cells tell of most columns that they hold none
        vectors = [numbers_in(cell) for cell in some.tolist()]
        if not all(isinstance(vector, list) and len(vector) == len(vectors[0] or ()) for vector in vectors):
            return None
    return np.array(vectors, dtype=np.float64)


def sample(values: np.ndarray) -> np.ndarray:
    """A thousand of the values or a few more, evenly spread: enough to see what a column holds.

    >>> len(sample(np.arange(5000)))
    1000
    """
    return values[:: max(1, len(values) // _SAMPLE)]


def read_only(values: Any, dtype: Any) -> np.ndarray:
    """The values as a read-only array that nobody else can write to: a copy, unless it is read-only already.

    >>> read_only([1, 2], np.float64).flags.writeable
    False
    """
    fixed = isinstance(values, np.ndarray) and not values.flags.writeable
    if fixed and isinstance(values.base, np.ndarray):
        fixed = not values.base.flags.writeable
    return locked((np.asarray if fixed else np.array)(values, dtype=dtype, order="C"))


def locked(array: Any) -> np.ndarray:
    """The very array, to which nobody can write any more: whoever keeps it need not copy it.

    >>> locked(np.zeros(3)).flags.writeable
    False
    """
    array.flags.writeable = False
    return array


def array_of(values: Any) -> np.ndarray:
    """An array of what numpy, pandas, torch or a list holds; of a tensor its values, on whichever device it is.

    >>> array_of([1, 2])
    array([1, 2])
    """
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)


def numbers(values: Any, what: str, name: str, *, dtype: Any = np.float64) -> np.ndarray:
    """A read-only array of numbers; DataError where they are something else, or rows differ in length.

    >>> numbers([[1, 2], [3, 4]], "x", "made")[1]
    array([3., 4.])
    """
    try:
        return read_only(values, dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: {what} does not hold numbers only, or not in one shape ({error}).") from error


def texts(values: Any, what: str, name: str, *, empty: bool = False) -> np.ndarray:
    """A read-only object array of plain str, each of them valid Unicode and, unless `empty` is allowed, non-empty.

    >>> texts(["a", ""], "id", "t.tsv")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: t.tsv: id 2 of 2 is ''. It must be a non-empty string.
    """
    given = list(values)
    plain = {*map(type, given)} <= {str} and (empty or all(given)) and all(map(str.isascii, given))
    for position, text in enumerate(() if plain else given):
        if not isinstance(text, str) or (text == "" and not empty):
            raise DataError(
                f"{name}: {what} {position + 1} of {len(given)} is {text!r}. It must be a non-empty string."
            )
        _check_unicode(text, f"{name}: {what} {position + 1} of {len(given)}")
    return locked(objects(given if plain else [str(text) for text in given]))


def _check_unicode(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"{place} holds half a surrogate pair at character {error.start + 1}. Save the text as valid Unicode."
        ) from error


def counted(n_samples: int) -> np.ndarray:
    """Positions from 0 on as a read-only object array of str: the ids of samples that have none.

    >>> counted(3)
    array(['0', '1', '2'], dtype=object)
    """
    return locked(np.fromiter(map(str, range(n_samples)), dtype=object, count=n_samples))


def codes(values: Any, name: str, *, what: str = "y") -> np.ndarray:
    """A read-only array of codes into class names.

    >>> codes([0.5], "t.tsv")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: t.tsv: y is float64 of shape (1,). It must hold one integer per sample, ...
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
    touchstone.core.data.errors.DataError: t.tsv: id 'a' occurs 2 times. Each id must be unique.
    """
    if len(set(values)) == len(values):
        return
    value, count = Counter(values).most_common(1)[0]
    raise DataError(f"{name}: {what} {value!r} occurs {count} times. Each {what} must be unique.")
