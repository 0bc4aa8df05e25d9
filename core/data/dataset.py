"""What is a data set? Inputs, labels and, where they are known, the sources that the samples come from."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Integer
from numpy.typing import ArrayLike

from touchstone.core.data.errors import DataError, SmallClasses
from touchstone.core.data.tables.names import sources_are_units, word_for
from touchstone.core.data.values import check_unique, codes, counted, listed, read_only, texts
from touchstone.core.data.values import numbers as as_numbers

# When are two inputs the same? Whatever is cached, linked or stored is named by a hash of all that it depends on.


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


# The data set itself.


Kind = Literal["image", "text", "tabular"]
_SHAPES = {
    "image": (4, "(n_samples, height, width, channels)"),
    "text": (1, "(n_samples,)"),
    "tabular": (2, "(n_samples, n_features)"),
}
PARTS = ("train", "validation", "test")
DATES = " (days since 1970)"
"""How the name of a number ends that is a date."""
ABOUT_UNITS = "Units: "
_ABOUT_VECTORS = "Vectors: "  # how notes begin that go when other vectors come


@dataclass(frozen=True, eq=False, init=False)
class Dataset:
    """A labelled data set: checked, and then never changed (its arrays are read-only).

    Images are float32 in [0, 1] of shape (n, height, width, channels), texts an object array of str, tables float64.
    `y` holds codes into `class_names`; `ids` and `sources` are object arrays of str, `sources` None where unknown, and
    ids of None become positions, counted from 0.
    `scale` is what raw values were divided by, so that everything measured in input units can be told in raw ones.
    `vectors` are features that somebody brought along, a row per sample (None where nobody did), and `vectors_name`
    says what they are called; see `with_vectors`. `units` name what was sampled independently, such as the author of
    each text, and `unit_name` says what one is called; None: each sample is one. No split has a unit on both sides.
    `numbers` are no inputs but what else is known of every sample, such
    as its date: a column for each of `number_names`, None where there are none. `part` says which part the file
    itself puts every sample in ("train", "validation" or "test"; None where it does not). `notes` say in sentences what
    reading did to the data, and `read_as` is how its file was read (`core.data.tables.roles`), None where nobody
    knows; these and names are not part of the `fingerprint`.

    Lists do as well as arrays to make one; DataError says what is wrong with data that cannot be used.

    >>> dataset = Dataset("fruit", "tabular", x=[[1.0], [9.0], [8.5]], y=[0, 1, 1], class_names=["plum", "melon"],
    ...                   ids=["a", "b", "c"])
    >>> dataset
    Dataset(name='fruit', kind='tabular', class_names=('plum', 'melon'), scale=1.0, feature_names=('x1',))
    >>> dataset.n_per_class
    array([1, 2])
    """

    name: str
    kind: Kind
    x: np.ndarray = field(repr=False)
    y: Integer[np.ndarray, " n_samples"] = field(repr=False)
    class_names: tuple[str, ...]
    ids: np.ndarray = field(repr=False)
    sources: np.ndarray | None = field(repr=False)
    scale: float
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = field(repr=False)
    vectors: Float[np.ndarray, "n_samples n_dimensions"] | None = field(repr=False)
    vectors_name: str | None = field(repr=False)
    numbers: Float[np.ndarray, "n_samples n_numbers"] | None = field(repr=False)
    number_names: tuple[str, ...] = field(repr=False)
    part: np.ndarray | None = field(repr=False)
    read_as: str | None = field(repr=False)
    units: np.ndarray | None = field(repr=False)
    unit_name: str | None = field(repr=False)

    def __init__(
        self,
        name: str,
        kind: str,
        x: ArrayLike,
        y: ArrayLike,
        class_names: Iterable[str],
        ids: Iterable[str] | None,
        sources: Iterable[str] | None = None,
        scale: float = 1.0,
        feature_names: Iterable[str] = (),
        notes: Iterable[str] = (),
        vectors: ArrayLike | None = None,
        vectors_name: str | None = None,
        numbers: ArrayLike | None = None,
        number_names: Iterable[str] = (),
        part: Iterable[str] | None = None,
        read_as: str | None = None,
        units: Iterable[str] | None = None,
        unit_name: str | None = None,
    ):
        if kind not in get_args(Kind):
            raise DataError(f"{name}: kind {kind!r}. It must be one of {', '.join(get_args(Kind))}.")
        dtype = np.float32 if kind == "image" else np.float64
        inputs = texts(x, "text", name, empty=True) if kind == "text" else as_numbers(x, "x", name, dtype=dtype)
        feature_names = tuple(texts(feature_names, "feature name", name))
        if kind == "tabular" and not feature_names:
            feature_names = tuple(f"x{column + 1}" for column in range(inputs.shape[-1] if inputs.ndim else 0))
        self.__dict__.update(
            name=name,
            kind=kind,
            x=inputs,
            y=codes(y, name),
            class_names=tuple(texts(class_names, "class name", name)),
            ids=counted(len(inputs) if inputs.ndim else 0) if ids is None else texts(ids, "id", name),
            sources=None if sources is None else texts(sources, "source", name),
            scale=float(scale),
            feature_names=feature_names,
            notes=tuple(notes),
            vectors=None if vectors is None else _table(vectors, "vectors", name),
            vectors_name=None if vectors is None else vectors_name or "vectors",
            numbers=None if numbers is None else _table(numbers, "numbers", name),
            number_names=tuple(texts(number_names, "name of a number", name)),
            part=None if part is None else texts(part, "part", name),
            read_as=read_as,
            units=None if units is None else texts(units, "unit", name),
            unit_name=None if units is None else unit_name or "unit",
        )
        _check_shapes(self)
        _check_labels(self)
        if ids is not None:
            check_unique(self.ids, "id", name)
        _check_values(self)

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """How many classes there are; each has at least one sample."""
        return len(self.class_names)

    @property
    def n_per_class(self) -> Integer[np.ndarray, " n_classes"]:
        """How many samples each class has, in the order of `class_names`."""
        return np.bincount(self.y, minlength=self.n_classes)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all that a result can depend on (`core.data.dataset.fingerprint`); computed once."""
        about = (self.kind, self.x, self.y, self.class_names, self.ids, self.sources, self.scale, self.feature_names)
        return fingerprint(*about, self.vectors, self.numbers, self.number_names, self.part, self.units)

    @cached_property
    def unit_codes(self) -> Integer[np.ndarray, " n_samples"] | None:
        """The unit of each sample, counted from 0 as they come; None where no two samples share one.

        >>> fruit = Dataset("fruit", "tabular", x=[[1.0], [9.0], [8.0]], y=[0, 1, 1], class_names=["plum", "melon"],
        ...                 ids="abc", units=["tree 7", "field", "field"])
        >>> fruit.unit_codes
        array([0, 1, 1])
        """
        code_of: dict[str, int] = {}
        codes = [] if self.units is None else [code_of.setdefault(unit, len(code_of)) for unit in self.units]
        return read_only(codes, np.int64) if len(code_of) < len(codes) else None

    @property
    def n_units(self) -> int:
        """How many units the samples are from; as many as samples where each is one."""
        return self.n_samples if self.unit_codes is None else int(self.unit_codes.max()) + 1

    @property
    def unit_word(self) -> str:
        """What a unit is called."""
        return "sample" if self.unit_codes is None else word_for(self.unit_name or "") or "unit"

    @property
    def sources_are_units(self) -> bool:
        """Whether the sources are what was sampled independently."""
        return self.sources is not None and self.units is not None and bool((self.sources == self.units).all())

    def with_units(self, units: ArrayLike, name: str, *, note: str = "") -> "Dataset":
        """The same data, of which samples with the same of these belong together: what was sampled independently.

        It is another data set, with a fingerprint of its own; no file reads as it. `name` says what a unit is called,
        and `note`, which says what the units are, takes the place of one that was there. DataError where there are not
        as many as samples.

        >>> fruit = Dataset("fruit", "tabular", x=[[1.0], [9.0], [8.0]], y=[0, 1, 1], class_names=["plum", "melon"],
        ...                 ids="abc")
        >>> by_plant = fruit.with_units(["tree 7", "field", "field"], "plant")
        >>> by_plant.n_units, by_plant.unit_word, by_plant.fingerprint == fruit.fingerprint
        (2, 'plant', False)
        """
        kept = (each for each in self.notes if not each.startswith(ABOUT_UNITS))
        notes = (*kept, *([f"{ABOUT_UNITS}{note}"] if note else []))
        return replace(self, units=[str(each) for each in np.asarray(units)], unit_name=name, notes=notes, read_as=None)

    def without(self, *classes: str) -> "Dataset":
        """The same data without the samples of these classes, as another data set.

        DataError for a class that there is not, and where fewer than two would be left.

        >>> fruit = Dataset("fruit", "tabular", x=[[1.0], [9.0], [8.0], [5.0]], y=[0, 1, 1, 2],
        ...                 class_names=["plum", "melon", "quince"], ids="abcd")
        >>> usual = fruit.without("plum")
        >>> usual.name, usual.class_names, usual.y.tolist(), usual.ids.tolist()
        ('fruit without plum', ('melon', 'quince'), [0, 0, 1], ['b', 'c', 'd'])
        """
        if unknown := [label for label in classes if label not in self.class_names]:
            raise DataError(
                f"{self.name}: there is no class {unknown[0]!r}. The classes are {listed(self.class_names)}."
            )
        kept = [code for code, label in enumerate(self.class_names) if label not in classes]
        if len(kept) < 2:
            raise DataError(f"{self.name}: without {listed(classes)} fewer than two classes are left.")
        rows = np.isin(self.y, kept)
        n_out = int((~rows).sum())
        note = f"Left out: {n_out:,} {'sample' if n_out == 1 else 'samples'} of {listed(classes)}."
        return replace(_of_rows(self, rows), name=f"{self.name} without {listed(classes)}", notes=(*self.notes, note))

    def without_features(self, *names: str) -> "Dataset":
        """The same data without these features, as another data set.

        DataError for a feature that there is not, and where none would be left.

        >>> fruit = Dataset("fruit", "tabular", x=[[1.0, 3.0], [9.0, 4.0]], y=[0, 1], class_names=["plum", "melon"],
        ...                 ids="ab", feature_names=["size", "price"])
        >>> cheap = fruit.without_features("price")
        >>> cheap.name, cheap.feature_names, cheap.x.tolist()
        ('fruit without price', ('size',), [[1.0], [9.0]])
        """
        if unknown := [name for name in names if name not in self.feature_names]:
            raise DataError(f"{self.name}: there is no feature {unknown[0]!r} ({listed(self.feature_names)}).")
        kept = [place for place, name in enumerate(self.feature_names) if name not in names]
        if not kept:
            raise DataError(f"{self.name}: without {listed(names)} no feature is left.")
        return replace(
            self,
            name=f"{self.name} without {listed(names)}",
            x=self.x[:, kept],
            feature_names=[self.feature_names[place] for place in kept],
            notes=(*self.notes, f"Left out of the features: {listed(names)}."),
            read_as=None,
        )

    def with_vectors(self, vectors: ArrayLike, name: str, *, notes: Iterable[str] = ()) -> "Dataset":
        """The same data with these vectors, one row per sample in the same order, in place of any that it had.

        It is another data set, with a fingerprint of its own: what rests on vectors can be linked and repeated.
        It is called after both, and `notes`, which say where the vectors come from, go with them. Vectors of 32 bits
        stay so, all others become float64. DataError where rows or values do not fit.

        >>> fruit = Dataset("fruit", "tabular", x=[[1.0], [9.0]], y=[0, 1], class_names=["plum", "melon"], ids="ab")
        >>> tasted = fruit.with_vectors([[0.1, 0.2], [0.3, 0.4]], "tongue")
        >>> tasted.name, tasted.vectors_name, tasted.vectors.shape, tasted.fingerprint == fruit.fingerprint
        ('fruit + tongue', 'tongue', (2, 2), False)
        """
        kept = (note for note in self.notes if not note.startswith(_ABOUT_VECTORS))
        return replace(
            self,
            name=f"{self.name.removesuffix(f' + {self.vectors_name}')} + {name}",
            notes=(*kept, *(f"{_ABOUT_VECTORS}{note}" for note in notes)),
            vectors=vectors,
            vectors_name=name,
            read_as=None,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "fingerprint": self.fingerprint}  # so that a worker need not hash again

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # unpickling forgets it
        self.__dict__.update(state)


def _of_rows(dataset: Dataset, rows: Bool[np.ndarray, " n_samples"]) -> Dataset:
    """These samples with all that is known of them, and the classes that any of them has."""
    by_row = ("x", "ids", "sources", "vectors", "numbers", "part", "units")
    there = {name: values for name in by_row if (values := getattr(dataset, name)) is not None}
    kept, y = np.unique(dataset.y[rows], return_inverse=True)
    class_names = [dataset.class_names[code] for code in kept]
    return replace(
        dataset,
        y=y,
        class_names=class_names,
        read_as=None,
        **{name: values[rows] for name, values in there.items()},
    )


def _table(values: Any, what: str, name: str) -> np.ndarray:
    is_short = isinstance(values, np.ndarray) and values.dtype == np.float32
    try:
        return read_only(values, np.float32 if is_short else np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: the {what} are not numbers only, or not all as long ({error}).") from error


def _check_shapes(dataset: Dataset) -> None:
    n_dimensions, expected = _SHAPES[dataset.kind]
    if dataset.x.ndim != n_dimensions:
        raise DataError(
            f"{dataset.name}: x has shape {dataset.x.shape}. For {dataset.kind} data it must be {expected}."
        )
    if 0 in dataset.x.shape:
        raise DataError(f"{dataset.name}: x has shape {dataset.x.shape}, so there is nothing in it.")
    for what, name in {"labels": "y", "ids": "ids", "sources": "sources", "parts": "part", "units": "units"}.items():
        values = getattr(dataset, name)
        if values is not None and len(values) != len(dataset.x):
            raise DataError(
                f"{dataset.name}: {len(dataset.x)} samples but {len(values)} {what}. There must be as many."
            )
    _check_beside(dataset)
    check_unique(dataset.number_names, "name of a number", dataset.name)
    n_features = dataset.x.shape[1] if dataset.kind == "tabular" else 0
    if len(dataset.feature_names) != n_features:
        raise DataError(f"{dataset.name}: {len(dataset.feature_names)} feature names for {n_features} features.")
    check_unique(dataset.feature_names, "feature name", dataset.name)


def _check_beside(dataset: Dataset) -> None:
    """The vectors and numbers that samples have beside their inputs, where there are any."""
    vectors = dataset.vectors
    if vectors is not None and (vectors.ndim != 2 or len(vectors) != len(dataset.x) or 0 in vectors.shape):
        raise DataError(
            f"{dataset.name}: the vectors have shape {vectors.shape}. For {len(dataset.x)} samples it must be "
            f"({len(dataset.x)}, n_dimensions): a row for each, in the same order."
        )
    named = (len(dataset.x), len(dataset.number_names))
    shape = (len(dataset.x), 0) if dataset.numbers is None else dataset.numbers.shape
    if shape != named or (dataset.numbers is not None and 0 in shape):
        raise DataError(
            f"{dataset.name}: the numbers have shape {shape}. For {named[0]} samples and {named[1]} names of numbers "
            f"it must be {named}, and no numbers at all are None."
        )


def _check_labels(dataset: Dataset) -> None:
    names = dataset.class_names
    check_unique(names, "class name", dataset.name)
    if dataset.y.min() < 0 or dataset.y.max() >= len(names):
        raise DataError(
            f"{dataset.name}: labels run from {dataset.y.min()} to {dataset.y.max()}. "
            f"With {len(names)} class names they must lie in 0 to {len(names) - 1}."
        )
    if len(names) < 2:
        raise DataError(
            f"{dataset.name}: every sample is of class {names[dataset.y[0]]!r}. "
            "A classifier needs two classes or more; is this the right label column?"
        )
    odd = set() if dataset.part is None else {*dataset.part} - {*PARTS}
    if odd:
        raise DataError(f"{dataset.name}: part {min(odd)!r}. It must be one of {', '.join(PARTS)}.")
    absent = [name for name, count in zip(names, dataset.n_per_class, strict=True) if count == 0]
    if absent:
        raise DataError(f"{dataset.name}: class {absent[0]!r} has no sample. Leave it out of the class names.")


def _not_finite(values: np.ndarray | None) -> tuple[int, ...]:
    """Where the first number stands that is not finite; nothing where all are."""
    finite = np.isfinite(() if values is None else values)
    return () if finite.all() else tuple(np.argwhere(~finite)[0].tolist())


def _check_values(dataset: Dataset) -> None:
    if not 0 < dataset.scale < np.inf:
        raise DataError(f"{dataset.name}: scale {dataset.scale}. It must be a positive number.")
    if place := _not_finite(dataset.vectors):
        raise DataError(
            f"{dataset.name}: the vector of sample {dataset.ids[place[0]]!r} holds something that is no finite number. "
            "Fill it in, or leave the sample out."
        )
    if place := _not_finite(dataset.numbers):
        raise DataError(
            f"{dataset.name}: sample {dataset.ids[place[0]]!r} has no finite number "
            f"{dataset.number_names[place[1]]!r}. Fill it in, or leave the number out."
        )
    if dataset.kind == "text":
        return
    if place := _not_finite(dataset.x):
        where = f"feature {dataset.feature_names[place[1]]!r}" if dataset.kind == "tabular" else "a pixel"
        raise DataError(
            f"{dataset.name}: sample {dataset.ids[place[0]]!r} has {dataset.x[place]} in {where}. "
            "Every value must be a finite number: fill in or leave out what is missing."
        )
    if dataset.kind == "image" and (dataset.x.min() < 0 or dataset.x.max() > 1):
        raise DataError(
            f"{dataset.name}: pixels run from {dataset.x.min():g} to {dataset.x.max():g}. "
            "They must lie in [0, 1]: divide by the largest possible value."
        )


# What was sampled independently, where nobody names it? Persons, ten sources or more, or contents that are copied.


CONTENT = "content"
"""What a unit is called that copies share."""


def set_aside(dataset: Dataset, problem: SmallClasses) -> Dataset:
    """The data without the classes that a question cannot use, where these have a single sample each.

    Others might do with other settings, and somebody has to leave them out: then the problem itself is raised.

    >>> fruit = Dataset("fruit", "tabular", x=[[1.0], [9.0], [8.0], [2.0], [3.0]], y=[0, 1, 1, 2, 2],
    ...                 class_names=["plum", "melon", "quince"], ids="abcde")
    >>> set_aside(fruit, SmallClasses("There is 1 plum.", ("plum",))).notes
    ('Left out: 1 sample of plum.',)
    """
    single = {name for name, n in zip(dataset.class_names, dataset.n_per_class, strict=True) if n == 1}
    if not single.issuperset(problem.classes) or dataset.n_classes - len(problem.classes) < 2:
        raise problem
    return dataset.without(*problem.classes)


def with_usual_units(dataset: Dataset, source_name: str | None = None, *, vectors: bool = False) -> Dataset:
    """The data with the units that they have by themselves, or as they are where these are named, or none are there.

    Known sources are units from ten on, or where `source_name` says that they are persons or documents. Else exact
    copies of pictures, texts and vectors share a unit; rows of a table may be alike by chance, unless they are
    `vectors`, such as embeddings.

    >>> from touchstone.core.data import Dataset
    >>> texts = Dataset("animals", "text", ["a fox", "a dog", "a fox"], [0, 1, 0], ("fox", "dog"), list("abc"))
    >>> with_usual_units(texts).unit_codes, with_usual_units(texts).notes
    (array([0, 1, 0]), ('Units: exact copies share one; 2 different contents in 3 samples.',))
    """
    if dataset.units is not None:
        return dataset
    n_sources = 0 if dataset.sources is None else len(set(dataset.sources))
    if sources_are_units(n_sources, source_name or ""):
        if n_sources == dataset.n_samples:
            return dataset
        note = f"the sources, {n_sources:,} in {dataset.n_samples:,} samples."
        return _as_read(dataset, dataset.sources, source_name or "source", note)
    return _with_copies_as_units(dataset) if vectors or dataset.kind != "tabular" else dataset


def _with_copies_as_units(dataset: Dataset) -> Dataset:
    """The data with a unit for each content, where some have the same."""
    first = duplicate_groups(dataset)
    n_contents = len(np.unique(first))
    if n_contents == dataset.n_samples:
        return dataset
    note = f"exact copies share one; {n_contents:,} different contents in {dataset.n_samples:,} samples."
    return _as_read(dataset, dataset.ids[first], CONTENT, note)


def _as_read(dataset: Dataset, units: np.ndarray, name: str, note: str) -> Dataset:
    """The data with units that whoever reads the same file finds again."""
    return replace(dataset.with_units(units, name, note=note), read_as=dataset.read_as)


def with_copies_together(dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"]) -> Dataset:
    """The data with one unit for samples that are exact copies, or in one of the pairs, or so by way of others.

    For rows of a table that somebody knows to be copies, and for near copies.

    >>> from touchstone.core.data import Dataset
    >>> sizes = Dataset("sizes", "tabular", [[1.0], [1.0], [1.01], [7.0]], [0, 0, 0, 1], ("s", "m"), None)
    >>> with_copies_together(sizes, np.array([[0, 2]])).unit_codes
    array([0, 0, 0, 1])
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = dataset.n_samples
    edges = np.vstack([np.column_stack([np.arange(n), duplicate_groups(dataset)]), pairs])
    component = connected_components(coo_matrix((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False)[1]
    first = np.unique(component, return_index=True)[1]
    near = "copies and near copies" if len(pairs) else "exact copies"
    note = f"{near} share one; {len(first):,} different contents in {n:,} samples."
    return dataset.with_units(dataset.ids[first[component]], CONTENT, note=note)


WITHOUT_COPIES = ", without duplicates"
"""How the name of a data set ends from which they were removed."""


def without_copies(dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"] | None = None) -> Dataset:
    """The data with the first sample of each content, as another data set; nothing of a kept sample changes.

    Where exact copies differ in label none of them is kept, since nobody knows which label is right. Of the `pairs`,
    which are near copies, a sample goes that is near an earlier one that is kept and has the same label: near copies
    with different labels all stay. A class that loses all its samples is left out.

    DataError where fewer than two classes would be left.

    >>> from touchstone.core.data import Dataset
    >>> texts = ["a fox", "a dog", "a fox", "a hen", "a hen", "a dog!"]
    >>> animals = Dataset("animals", "text", texts, [0, 1, 0, 0, 1, 1], ("fox", "dog"), list("abcdef"))
    >>> without_copies(animals).x.tolist(), without_copies(animals, np.array([[1, 5]])).ids.tolist()
    (['a fox', 'a dog', 'a dog!'], ['a', 'b'])
    >>> without_copies(animals).name, without_copies(animals).notes
    ('animals, without duplicates', ('Left out: 3 samples as duplicates, 2 of them with other labels than a copy.',))
    """
    first, y = duplicate_groups(dataset), dataset.y
    contested = np.zeros(dataset.n_samples, dtype=bool)
    contested[first[y != y[first]]] = True
    contested = contested[first]
    kept = (first == np.arange(dataset.n_samples)) & ~contested
    near = np.sort(np.empty((0, 2), dtype=np.int64) if pairs is None else pairs, axis=1)
    for earlier, later in near[np.argsort(near[:, 1], kind="stable")].tolist():
        if kept[earlier] and y[earlier] == y[later]:
            kept[later] = False
    if len(np.unique(y[kept])) < 2:
        raise DataError(
            f"{dataset.name}: without duplicates fewer than two classes are left. Check their labels first."
        )
    n_out, n_contested = int((~kept).sum()), int(contested.sum())
    about = f", {n_contested:,} of them with other labels than a copy" if n_contested else ""
    note = f"Left out: {n_out:,} {'sample' if n_out == 1 else 'samples'} as duplicates{about}."
    # What a note says of units of copies is no longer so.
    notes = (each for each in dataset.notes if dataset.unit_name != CONTENT or not each.startswith(ABOUT_UNITS))
    name = dataset.name.removesuffix(WITHOUT_COPIES) + WITHOUT_COPIES
    return replace(_of_rows(dataset, kept), name=name, notes=(*notes, note))


def duplicate_groups(dataset: Dataset) -> Integer[np.ndarray, " n_samples"]:
    """Give for every row the position of the first row with the very same content (its own, where it is the first).

    Content is the input alone: ids, labels and sources do not count. Texts differ by a single space, numbers by a
    single bit (0 and −0 are alike).

    Examples
    --------
    >>> from touchstone.core.data import Dataset
    >>> texts = ["a fox", "a dog", "a fox", "a  fox"]
    >>> duplicate_groups(Dataset("animals", "text", texts, [0, 1, 1, 0], ("fox", "dog"), list("abcd")))
    array([0, 1, 0, 3])
    """
    if dataset.kind == "text":
        contents = (text.encode("utf-8", "surrogatepass") for text in dataset.x)
    else:
        contents = ((row + 0.0).tobytes() for row in dataset.x)  # adding 0 turns −0 into 0
    first: dict[bytes, int] = {}
    digests = (blake2b(content, digest_size=16).digest() for content in contents)
    return np.array([first.setdefault(digest, row) for row, digest in enumerate(digests)], dtype=np.int64)
