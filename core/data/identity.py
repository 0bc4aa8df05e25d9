"""When are two inputs the same? Whatever is cached, linked or stored is named by a hash of all that it depends on."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def key(*parts: Any) -> str:
    """Name a computation by its parts: the SHA-256, in hex, of their canonical JSON.

    Parts are None, strings, numbers, tuples, lists, dicts with string keys and frozen dataclasses, which count with
    their class name and fields at every level. Tuples and lists are alike; 1, 1.0 and True are three different things.
    NaN and infinity are refused (NaN is not even equal to itself), and so is everything else (TypeError).

    >>> key("digits", 1) == key("digits", np.int64(1))
    True
    >>> key("digits", 1) == key("digits", 1.0)
    False
    """
    text = json.dumps([_plain(part) for part in parts], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: Any) -> Any:
    """The value as JSON holds it; dicts and dataclasses are wrapped, so that neither can pass for the other."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {"dict": {name: _plain(item) for name, item in value.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen:
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"class": type(value).__qualname__, "fields": fields}
    raise TypeError(
        f"a key is made of None, strings, numbers, tuples, lists, dicts with string keys and frozen dataclasses, "
        f"not of {type(value).__qualname__}"
    )


def fingerprint(
    kind: str,
    x: np.ndarray,
    y: np.ndarray,
    class_names: tuple[str, ...],
    ids: np.ndarray,
    sources: np.ndarray | None,
    scale: float,
    feature_names: tuple[str, ...],
    vectors: np.ndarray | None = None,
    numbers: np.ndarray | None = None,
    number_names: tuple[str, ...] = (),
    part: np.ndarray | None = None,
    units: np.ndarray | None = None,
) -> str:
    """Name a data set by all that a result can depend on: the SHA-256, in hex, of types, shapes, bytes and texts.

    Arrays count with dtype, shape and every byte (never a sample of them); texts as UTF-8 with their lengths before
    them, so that ("ab", "c") is not ("a", "bc"). The name of the data set does not count. Vectors, further numbers,
    parts and units count where there are any; without them the fingerprint is what it was before data sets could have
    them.

    >>> x, y, ids = np.zeros((2, 1)), np.arange(2), np.array(["a", "b"], object)
    >>> first = fingerprint("tabular", x, y, ("no", "yes"), ids, None, 1.0, ("size",))
    >>> first == fingerprint("tabular", x, y, ("no", "yes"), ids, None, 2.0, ("size",))
    False
    """
    header = key("touchstone data set 1", kind, float(scale), sources is None)
    parts = (x, y, ids, () if sources is None else sources, class_names, feature_names)
    added = (() if vectors is None else (vectors,), () if numbers is None else (number_names, numbers))
    if part is not None:
        header = key(header, "part")
    if units is not None:
        header = key(header, "units")
    last = (each for each in (part, units) if each is not None)
    return hash_of(header, *parts, *added[0], *added[1], *last)


def hash_of(header: str, *parts: Iterable[Any]) -> str:
    """The SHA-256, in hex, of a header and of arrays of numbers and sequences of texts, in this order.

    >>> hash_of("", ("ab", "c")) == hash_of("", ("a", "bc"))
    False
    """
    digest = hashlib.sha256()
    digest.update(header.encode())
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            _add_numbers(digest, part)
        else:
            _add_texts(digest, part)
    return digest.hexdigest()


def _add_numbers(digest: Any, array: np.ndarray) -> None:
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    digest.update(key(array.dtype.str, array.shape).encode())
    digest.update(array.reshape(-1).view(np.uint8))


def _add_texts(digest: Any, texts: Iterable[str]) -> None:
    encoded = [text.encode("utf-8") for text in texts]
    lengths = np.array([len(text) for text in encoded], dtype="<i8")
    _add_numbers(digest, lengths)
    digest.update(b"".join(encoded))
