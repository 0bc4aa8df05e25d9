"""What is in an NPZ file? Arrays of inputs and labels of a data set, or of truth and scores of a model."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from math import prod
from pathlib import PurePath
from typing import Any

import numpy as np

from touchstone.core.data.dataset import PARTS, Dataset, Kind, with_usual_units
from touchstone.core.data.errors import DataError, refusing
from touchstone.core.data.limits import Archive, Limits
from touchstone.core.data.tables.images import to_unit_range
from touchstone.core.data.tables.names import by_both, compact, encode, numbered_names
from touchstone.core.data.tables.sources import about_parts, part_name
from touchstone.core.data.tables.table import Table, make_table
from touchstone.core.data.values import first_repeat, locked, objects, quoted, spell

# Which array of an NPZ is what? By its name: inputs, labels, ids, sources, units and the parts of samples.


KEYS = {
    "x": ("x", "images"),
    "y": ("y", "label", "labels"),
    "ids": ("ids", "id"),
    "units": ("units", "unit"),
    "sources": ("sources", "source", "groups", "group", "subjects", "subject", "patients", "patient"),
}
"""What arrays of a data set are called, by their role."""
_ALSO = {"x": ("data", "features", "embeddings", "embedding", "vectors", "texts", "text"), "y": ("targets", "target")}
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
    read = ((part, stem, key) for key in keys for stem, part in _stems_and_parts(key))
    key_of = by_both((part, _ROLE_OF[stem], key) for part, stem, key in read if stem in _ROLE_OF)
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


# What do the arrays make? A data set, or a table where they hold truth and scores of a model.


_FEWEST_DIMENSIONS = 16
"""From so many on, rows of fractions are vectors, such as embeddings: no two are alike by chance."""
_KINDS: dict[int, Kind] = {1: "text", 2: "tabular", 3: "image", 4: "image"}


def parse_npz(content: bytes, name: str, limits: Limits, *, dataset_name: str, kind: Kind | None) -> Dataset:
    """Read inputs under "x" or "images", labels under "y", "label" or "labels", perhaps "ids", "sources" and "units".

    Arrays of 3 (n, height, width) or 4 dimensions (n, height, width, channels) are images, of 2 tables, of 1 texts.
    They may come in parts, as "x_train", "y_train", "x_test" and "y_test": these are joined, and kept as the part.
    So is what an array of parts says, or masks of them.

    >>> stream = io.BytesIO()
    >>> np.savez(stream, images=np.array([[[0, 255]], [[255, 0]]], dtype=np.uint8), labels=["left", "right"])
    >>> parse_npz(stream.getvalue(), "sides.npz", Limits(), dataset_name="sides", kind=None)
    Dataset(name='sides', kind='image', class_names=('left', 'right'), scale=255.0, feature_names=())
    """
    archive = Archive(content, name, limits)
    keys = [_key(path) for path in archive.paths]
    keys_of = keys_by_part(keys) or {None: keys_by_role(keys, name)}
    arrays, places, parts = _joined(archive, keys_of, limits)
    x, kind, scale, notes = _inputs(arrays.pop("x"), places["x"], kind)
    strings = {role: _strings(array, places[role]) for role, array in arrays.items()}
    y, class_names = encode(strings["y"], place=places["y"])
    names_key = next((key for key in keys if key.lower() in _CLASS_KEYS), None)
    if names_key is not None:
        class_names, notes = _named_classes(archive, names_key, class_names, notes)
    if "ids" in strings:
        if repeat := first_repeat(strings["ids"]):
            where = f"at positions {repeat[0]} and {repeat[1]}. Each id must be unique."
            raise DataError(f"{places['ids']} holds {strings['ids'][repeat[0]]!r} {where}")
    else:
        notes.append("Ids: positions of the samples, counted from 0.")
    marks = [] if parts else marks_of_parts(keys)
    parts = parts or parts_marked({key: _array(archive, key, f"{name}: {key!r}") for key in marks}, len(x))
    used = {names_key, *(marks if parts else ()), *chain.from_iterable(key_of.values() for key_of in keys_of.values())}
    unused = sorted(set(keys) - used)
    if unused:
        notes.append(f"Not used: {', '.join(unused)}.")
    dataset = Dataset(
        name=dataset_name,
        kind=kind,
        x=x,
        y=y,
        class_names=class_names,
        ids=strings.get("ids") or (None if marks else _counted(parts)),
        sources=strings.get("sources"),
        scale=scale,
        notes=(*notes, *([about_parts(parts)] if parts else [])),
        part=parts,
        units=strings.get("units"),
    )
    vectors = kind == "tabular" and x.shape[1] >= _FEWEST_DIMENSIONS and bool((dataset.x != dataset.x.round()).any())
    return with_usual_units(dataset, next(iter(keys_of.values())).get("sources"), vectors=vectors)


def _joined(
    archive: Archive, keys_of: Mapping[str | None, dict[str, str]], limits: Limits
) -> tuple[dict[str, np.ndarray], dict[str, str], list[str] | None]:
    """The arrays of all parts one after another, where each stands for messages, and the part of each sample."""
    arrays_of, places = [], {}
    for keys in keys_of.values():
        named = {role: f"{archive.name}: {key!r}" for role, key in keys.items()}
        arrays = {role: _array(archive, key, named[role]) for role, key in keys.items()}
        _check_sizes(arrays, named, limits)
        arrays_of.append(arrays)
        places = {**named, **places}
    if len(arrays_of) == 1:
        return arrays_of[0], places, None
    whole = {role: _as_one([arrays[role] for arrays in arrays_of], places[role]) for role in arrays_of[0]}
    _check_sizes(whole, places, limits)
    parts = np.repeat([str(part) for part in keys_of], [len(arrays["x"]) for arrays in arrays_of])
    return whole, places, parts.tolist()


def _as_one(arrays: list[np.ndarray], place: str) -> np.ndarray:
    """The arrays of all parts, one after another; DataError where their samples differ in shape."""
    shapes = [array.shape for array in arrays]
    if len({shape[1:] for shape in shapes}) > 1:
        raise DataError(
            f"{place} and that of another part differ in shape: {', '.join(map(str, shapes))}. All samples must "
            "have one shape."
        )
    return np.concatenate(arrays)


def _counted(parts: list[str] | None) -> list[str] | None:
    """Ids of samples that have none: their positions in each part, behind its name; None where there are no parts."""
    if parts is None:
        return None
    n_before = {part: parts.index(part) for part in dict.fromkeys(parts)}
    return [f"{part} {position - n_before[part]}" for position, part in enumerate(parts)]


def _named_classes(
    archive: Archive, key: str, class_names: tuple[str, ...], notes: list[str]
) -> tuple[tuple[str, ...], list[str]]:
    """The names that an array gives to classes that are counted from 0, where it has one for each."""
    named = _strings(_array(archive, key, f"{archive.name}: {key!r}"), f"{archive.name}: {key!r}")
    names = numbered_names(named, class_names) if len(set(named)) == len(named) else ()
    if not names:
        return class_names, [*notes, f"Names of classes in {key!r} do not fit the labels and were not used."]
    return names, [*notes, f"Classes are called as in {key!r}."]


_CLASS_KEYS = ("class_names", "classes", "label_names", "labels_names", "target_names")


def parse_arrays(content: bytes, name: str, limits: Limits) -> Table:
    """Read NPZ or NPY as a table of predictions: an array of n values is a column, one of (n, m) is m columns.

    Those are called after the array and the class: "probs_0", or "probs_cat" where an array of m `class_names` is
    there. Rows are counted from 1.

    >>> stream = io.BytesIO()
    >>> np.savez(stream, labels=[1, 0], probs=[[0.4, 0.6], [0.9, 0.1]])
    >>> list(parse_arrays(stream.getvalue(), "scores.npz", Limits()).columns)
    ['labels', 'probs_0', 'probs_1']
    """
    arrays = _arrays_in(content, name, limits)
    names = next((arrays.pop(key) for key in list(arrays) if key.lower() in _CLASS_KEYS), None)
    arrays = {key: array for key, array in arrays.items() if array.ndim}
    lengths = {len(array) for array in arrays.values()}
    n_rows = max(lengths, default=0)
    limits.check_rows(name, n_rows)
    if len(lengths) > 1:
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise DataError(f"{name}: the arrays differ in length: {shapes}. There must be as many rows in each.")
    columns: dict[str, np.ndarray] = {}
    for key, array in arrays.items():
        place = f"{name}: {key!r}" if len(arrays) > 1 else name
        limits.check_columns(name, len(columns) + (array.shape[1] if array.ndim == 2 else 1))
        columns |= _columns_of(array, key, place, names)
    return make_table(name, list(columns), list(columns.values()), lines=range(1, n_rows + 1), unit="row")


def _arrays_in(content: bytes, name: str, limits: Limits) -> dict[str, np.ndarray]:
    """The arrays of an NPZ by their keys, or that of an NPY by the file's name."""
    if name.lower().endswith(".npy"):
        return {PurePath(name).stem: _array_of(content, name)}
    archive = Archive(content, name, limits)
    return {_key(path): _array(archive, _key(path), f"{name}: {_key(path)!r}") for path in archive.paths}


def _columns_of(array: np.ndarray, key: str, place: str, names: np.ndarray | None) -> dict[str, np.ndarray]:
    if array.dtype.kind not in "buifU":
        raise DataError(f"{place} is of type {array.dtype}. It must hold numbers or strings: use .astype(str).")
    if array.ndim > 2 or array.size == 0:
        raise DataError(f"{place} has shape {array.shape}. Labels have shape (n,), scores (n, number of classes).")
    array = array[:, 0] if array.shape[1:] == (1,) else array
    if array.ndim == 1:
        return {key: array if array.dtype.kind in "uif" else objects(_listed_values(array, place))}
    classes = names if names is not None and names.shape == array.shape[1:] else range(array.shape[1])
    return {f"{key}_{name}": np.ascontiguousarray(array[:, position]) for position, name in enumerate(classes)}


def _key(path: str) -> str:
    return path.removesuffix(".npy")


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def _array(archive: Archive, key: str, place: str) -> np.ndarray:
    return _array_of(archive.read(key if key in archive.paths else f"{key}.npy"), place)


def _array_of(content: bytes, place: str) -> np.ndarray:
    """The array in a file, where it lies in the bytes: not a copy of it, and nobody may write to it."""
    stream = io.BytesIO(content)
    try:
        read_header = _HEADERS.get(np.lib.format.read_magic(stream))
        shape, in_columns, dtype = read_header(stream) if read_header else (None, False, np.dtype(object))
        if shape is None or dtype.hasobject:
            return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        n_values = prod(shape)
        return np.frombuffer(content, dtype, n_values, stream.tell()).reshape(shape, order="F" if in_columns else "C")
    except Exception as error:  # a header from somebody else can make numpy raise nearly anything
        if "allow_pickle" in str(error):
            raise DataError(
                f"{place} is an array of Python objects, which only pickle could read, and pickle can run code. "
                "Save plain arrays: texts with .astype(str), images all of one size with np.stack."
            ) from error
        raise DataError(f"{place} is no NumPy array, or a damaged one. Save the file again.") from error


def _check_sizes(arrays: dict[str, np.ndarray], places: dict[str, str], limits: Limits) -> None:
    x = arrays["x"]
    if x.ndim == 0 or x.size == 0:
        raise DataError(f"{places['x']} has shape {x.shape}, so there is nothing in it. Save at least two samples.")
    for role, array in arrays.items():
        n_values = array.shape[0] if array.ndim else 0
        if n_values != len(x):
            raise DataError(
                f"{places[role]} holds {n_values} values, but there are {len(x)} samples. "
                "There must be as many, in the same order."
            )
    n_bytes = x.size * (4 if x.ndim > 2 else 8)  # as the Dataset holds it: float32 pixels, float64 features
    if len(x) > limits.samples or n_bytes > limits.unpacked_bytes:
        raise DataError(
            f"{places['x']} has shape {x.shape}: more than {limits.samples:,} samples, or than "
            f"{limits.unpacked_bytes / 2**20:g} MiB as numbers. Give a smaller sample."
        )


def _inputs(x: np.ndarray, place: str, kind: Kind | None) -> tuple[np.ndarray, Kind, float, list[str]]:
    """Inputs as a Dataset holds them, their kind, the scale of images and what was done to them."""
    is_text = x.dtype.kind == "U"
    if not is_text and x.dtype.kind not in "buif":
        raise DataError(f"{place} is of type {x.dtype}. It must hold numbers, or texts (save bytes with .astype(str)).")
    own_kind = _KINDS.get(x.ndim)
    if own_kind is None or (own_kind == "text") != is_text:
        raise DataError(
            f"{place} has shape {x.shape} and type {x.dtype}. Images need (n, height, width) or (n, height, width, "
            "channels), tables (n, features), texts (n,) strings."
        )
    if kind not in (None, own_kind):
        raise DataError(f"{place} has shape {x.shape}, which makes it {own_kind} data, but {kind} was asked for.")
    if own_kind == "text":
        return np.array(_listed_values(x, place), dtype=object), own_kind, 1.0, []
    if own_kind == "tabular":
        return _features(x, place), own_kind, 1.0, []
    pixels, scale, note = pixels_of(x, place)
    return pixels, own_kind, scale, [note]


def _features(x: np.ndarray, place: str) -> np.ndarray:
    if not np.isfinite(x).all():
        row, column = np.argwhere(~np.isfinite(x))[0]
        raise DataError(
            f"{place} holds {x[row, column]} in row {row}, column {column} (counted from 0). "
            "Every feature must be a finite number: fill in or leave out what is missing."
        )
    return locked(x.astype(np.float64, copy=x.flags.writeable))  # a Dataset copies what somebody else could write to


def pixels_of(x: np.ndarray, place: str) -> tuple[np.ndarray, float, str]:
    """Images in [0, 1], the scale that they had, and a note of that. Raises DataError where channels are not last.

    >>> pixels_of(np.zeros((5, 3, 8, 8)), "x")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: x has shape (5, 3, 8, 8), which looks like (n, channels, height, width). ...
    """
    if x.ndim == 4 and x.shape[1] in (1, 3) and x.shape[3] not in (1, 3, 4):
        raise DataError(
            f"{place} has shape {x.shape}, which looks like (n, channels, height, width). Images need their channels "
            "last: give x.transpose(0, 2, 3, 1)."
        )
    pixels, scale, note = to_unit_range(x if x.ndim == 4 else x[..., None], place)
    return locked(pixels), scale, note


def _strings(values: np.ndarray, place: str) -> list[str]:
    """Labels, ids or sources as strings."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(
            f"{place} has shape {values.shape}. It must hold one value per sample; save one-hot labels as y.argmax(1)."
        )
    if values.dtype.kind not in "buifU":
        raise DataError(
            f"{place} is of type {values.dtype}. It must hold numbers or strings: save it with .astype(str)."
        )
    strings = [spell(value) for value in _listed_values(values, place)]
    if None in strings:
        position = strings.index(None)
        raise DataError(
            f"{place} holds {quoted(values[position])} at position {position}. "
            "Each sample needs a name or a number there."
        )
    return strings


def _listed_values(values: np.ndarray, place: str) -> list[Any]:
    # Both errors are what a character beyond Unicode raises.
    with refusing(f"{place} holds characters that do not exist. Save the file again.", ValueError, SystemError):
        return values.tolist()
