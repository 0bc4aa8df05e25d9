"""Which array of an NPZ is what? By its name: inputs, labels, ids, sources, units and the parts of samples."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from touchstone.core.data.dataset import PARTS
from touchstone.core.data.errors import DataError
from touchstone.core.data.tables.names import compact
from touchstone.core.data.tables.parts import part_name

KEYS = {
    "x": ("x", "images"),
    "y": ("y", "label", "labels"),
    "ids": ("ids", "id"),
    "units": ("units", "unit"),
    "sources": ("sources", "source", "groups", "group", "subjects", "subject", "patients", "patient"),
}
"""What arrays of a data set are called, by their role."""
_ALSO = {
    "x": ("data", "features", "embeddings", "embedding", "vectors", "texts", "text"),
    "y": ("targets", "target"),
}
"""What they are called where nothing has such a name: inputs may be there twice, as images and as numbers."""
_ROLE_OF = {name: role for names_of in (KEYS, _ALSO) for role, names in names_of.items() for name in names}
_PARTS_KEYS = ("part", "parts", "split", "splits")
_MARKS = ("mask", "idx", "index", "indices")
_SHORTEST = 3  # letters of a part's name that is written together with another


def keys_by_role(keys: Iterable[str], file: str) -> dict[str, str]:
    """The array of each role; DataError, naming the file, where inputs or labels are missing, or two mean the same.

    >>> keys_by_role(["data", "images", "target", "DESCR"], "digits.npz")
    {'x': 'images', 'y': 'target'}
    """
    keys = list(keys)
    chosen = {}
    for role, names in KEYS.items():
        matching = _called(keys, names) or _called(keys, _ALSO.get(role, ()))
        if len(matching) > 1:
            raise DataError(f"{file}: keys {_listed(matching)} mean the same. Leave all but one of them out.")
        if matching:
            chosen[role] = matching[0]
    for role in ("x", "y"):
        if role not in chosen:
            raise _no_key(file, keys, role)
    return chosen


def _called(keys: Iterable[str], names: Collection[str]) -> list[str]:
    return [key for key in keys if key.lower() in names]


def keys_by_part(keys: Iterable[str]) -> dict[str, dict[str, str]] | None:
    """The arrays of each part by their role, where arrays are called after both; None where they are not.

    A part counts that has inputs and labels; ids and sources count where all parts have them. A single part counts
    where there are no inputs and labels beside it.

    >>> keys_by_part(["x_train", "y_train", "testImages", "testLabels", "x_unlabelled"])
    {'train': {'x': 'x_train', 'y': 'y_train'}, 'test': {'x': 'testImages', 'y': 'testLabels'}}
    >>> keys_by_part(["x", "y", "x_train", "y_train"]) is None
    True
    """
    keys = list(keys)
    complete = _complete_parts(keys)
    undivided = {_ROLE_OF.get(key.lower()) for key in keys}
    if not complete or (len(complete) == 1 and {"x", "y"} <= undivided):
        return None
    shared = sorted(set.intersection(*(set(key_of) for key_of in complete.values())))
    return {part: {role: key_of[role] for role in shared} for part, key_of in complete.items()}


def _complete_parts(keys: Iterable[str]) -> dict[str, dict[str, str]]:
    """The arrays by part and role, of the parts that have inputs and labels."""
    key_of: dict[str, dict[str, str]] = {}
    for key in keys:
        for stem, part in _stems_and_parts(key):
            if stem in _ROLE_OF:
                key_of.setdefault(part, {}).setdefault(_ROLE_OF[stem], key)
    return {part: key_of[part] for part in PARTS if {"x", "y"} <= key_of.get(part, {}).keys()}


def _stems_and_parts(key: str) -> Iterator[tuple[str, str]]:
    """What an array is and which part it holds, in each way that its name can be read."""
    name = key.lower()
    words = name.replace("-", "_").rsplit("_", 1)
    cuts = [words] if len(words) == 2 else [[name[:at], name[at:]] for at in range(1, len(name))]
    for before, behind in cuts:
        for stem, part in ((before, behind), (behind, before)):
            if part_name(part) and (len(words) == 2 or len(part) >= _SHORTEST):
                yield stem, str(part_name(part))


def marks_of_parts(keys: Iterable[str]) -> list[str]:
    """The arrays that may say which part each sample belongs to: one of names, or one of marks or places per part.

    >>> marks_of_parts(["x", "y", "train_mask", "test_mask"]), marks_of_parts(["x", "split"])
    (['train_mask', 'test_mask'], ['split'])
    """
    keys = list(keys)
    named = [key for key in keys if key.lower() in _PARTS_KEYS]
    return named[:1] or [key for key in keys if any(stem in _MARKS for stem, _ in _stems_and_parts(key))]


def parts_marked(arrays: Mapping[str, np.ndarray], n_samples: int) -> list[str] | None:
    """The part of each sample by arrays of names, marks or places; None where they leave any out, or name one twice.

    >>> parts_marked({"train_idx": np.array([0, 2]), "test_idx": np.array([1])}, 3)
    ['train', 'test', 'train']
    >>> parts_marked({"split": np.array(["train", "dev"])}, 2)
    ['train', 'validation']
    >>> parts_marked({"train_mask": np.array([True, False])}, 2) is None
    True
    """
    if len(arrays) == 1:
        [array] = arrays.values()
        return _named_parts(array, n_samples)
    part_of: dict[int, str] = {}
    n_marked = 0
    for key, array in arrays.items():
        part = next(part for stem, part in _stems_and_parts(key) if stem in _MARKS)
        places = _marked_places(array, n_samples)
        if places is None:
            return None
        n_marked += len(places)
        part_of |= dict.fromkeys(places, part)
    is_whole = n_marked == len(part_of) == n_samples
    return [part_of[place] for place in range(n_samples)] if is_whole else None


def _named_parts(array: np.ndarray, n_samples: int) -> list[str] | None:
    """The part of each sample by its name; None where there are other values, or a single part."""
    if array.shape != (n_samples,):
        return None
    parts = [part_name(str(value)) for value in array.tolist()]
    return None if None in parts or len(set(parts)) < 2 else [str(part) for part in parts]


def _marked_places(array: np.ndarray, n_samples: int) -> list[int] | None:
    """The samples that an array marks, or whose places it holds; None where it does neither."""
    places = np.flatnonzero(array) if array.dtype == bool and array.shape == (n_samples,) else array
    are_places = places.ndim == 1 and places.dtype.kind in "iu" and ((places >= 0) & (places < n_samples)).all()
    return places.tolist() if are_places else None


def _no_key(file: str, keys: list[str], role: str) -> DataError:
    likely = [key for key in keys if compact(key).startswith(KEYS[role])]
    hint = next((key for key in likely if "train" in key), likely[0] if likely else None)
    example = f" (such as np.savez(..., {role}=arrays[{hint!r}]))" if hint else ""
    return DataError(
        f"{file}: no key {_listed(KEYS[role], 'or')}, but {_listed(keys) or 'no array at all'}. "
        f"Save inputs as 'x' or 'images', labels as 'y', 'label' or 'labels'{example}, and where there are any "
        "'ids', 'sources' and 'units'."
    )


def _listed(keys: Iterable[str], word: str = "and") -> str:
    *most, last = [repr(key) for key in keys] or [""]
    return f"{', '.join(most)} {word} {last}" if most else last
