"""How does somebody bring features and probabilities without a model? As a file of arrays or a table for each part."""

import io
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from jaxtyping import Integer
from scipy.special import log_softmax

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.errors import refusing
from touchstone.core.data.limits import Archive, Limits, opened
from touchstone.core.data.tables.files import ARRAYS, TABLES, read_table
from touchstone.core.data.tables.names import compact, families
from touchstone.core.data.tables.table import Table
from touchstone.core.data.tables.vectors import holds_lists, of_lists
from touchstone.core.data.values import spell
from touchstone.core.models.errors import ModelError
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.model_file import RECORDED, ModelFile

# Which columns of a table are a layer's features, which the model's scores, labels and ids? By their names.


_SCORES = {
    "logits": ("logit", "logits"),
    "proba": ("proba", "prob", "probs", "probability", "probabilities", "softmax", "p"),
}
_FEATURES = ("features", "embeddings", "embedding", "vector")


def arrays_of(table: Table, keys: dict[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    """Arrays by role, as from NPZ: `keys` are the names that a role has. All other columns of numbers are features.

    Scores are a column of lists, or one column for each class, called prob_cat, prob_dog and so on, which then name the
    classes. Raises DataError, with what is expected, where there are no scores or no features.

    Examples
    --------
    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.csv", ["f0", "prob_a", "prob_b", "label"], [[1.0], [0.9], [0.1], ["a"]], lines=[2])
    >>> {role: array.tolist() for role, array in arrays_of(table, {"y": ("label",)}).items()}
    {'y': ['a'], 'proba': [[0.9, 0.1]], 'class_names': ['a', 'b'], 'features': [[1.0]]}
    """
    found: dict[str, np.ndarray] = {}
    left = dict.fromkeys(table.columns)
    for role in ("y", "ids"):
        for column in [column for column in left if compact(column) in keys.get(role, ())][:1]:
            found[role] = np.array(table.strings(column), dtype=object).astype(str)
            left.pop(column)
    for role, names in _SCORES.items():
        columns = _of_family(table, list(left), names)
        if columns:
            if "" in columns:
                found[role] = of_lists(table, columns[""])
            else:
                found[role], found["class_names"] = table.matrix(columns.values()), np.array(list(columns))
            for column in columns.values():
                left.pop(column)
            break
    lists = [column for column in left if compact(column) in _FEATURES and holds_lists(table.sample(column))]
    if lists:
        found["features"] = of_lists(table, lists[0])
        return found
    numbers = [column for column in left if table.kind(column) in ("whole", "number", "fraction")]
    if not numbers:
        raise DataError(
            f"{table.name}: there are no columns of features. Give each its column, or one column of lists."
        )
    found["features"] = table.features(numbers)
    return found


def _of_family(table: Table, columns: list[str], names: tuple[str, ...]) -> dict[str, str]:
    """Columns by class; one column of lists stands under no name."""
    whole = [column for column in columns if compact(column) in names and holds_lists(table.sample(column))]
    if whole:
        return {"": whole[0]}
    return next((of for family, of in families(columns).items() if family in names and len(of) > 1), {})


# What may arrays of features, scores and labels look like, as tools save them? Brought to one form, and said how.


_SLACK = 0.01  # by how much the probabilities of a row may miss 1: files round them


class Taken(NamedTuple):
    """An array in the form that is wanted, and what was done to it; nothing to say where it had that form."""

    array: np.ndarray
    note: str = ""


def as_features(features: np.ndarray, name: str) -> Taken:
    """A vector for each sample: maps are averaged over their places, sequences over their steps.

    Raises DataError where nobody can tell which axes these are.

    Examples
    --------
    >>> as_features(np.ones((2, 5, 4, 4)), "f").array.shape, as_features(np.ones((2, 3)), "f").note
    ((2, 5), '')
    """
    if features.ndim == 3:
        return Taken(features.mean(axis=1), f"Features were averaged over their {features.shape[1]} steps.")
    if features.ndim != 4:
        return Taken(features)
    n_places = features.shape[1:]
    axes = {(2, 3): n_places[1] == n_places[2], (1, 2): n_places[0] == n_places[1]}
    fitting = [places for places, square in axes.items() if square]
    if len(fitting) != 1:
        raise DataError(
            f"{name}: features are maps of {' x '.join(map(str, n_places))}, and which of these are channels is not "
            "clear. Average them over height and width before saving."
        )
    height, width = (features.shape[axis] for axis in fitting[0])
    return Taken(features.mean(axis=fitting[0]), f"Maps of features were averaged over {height} x {width} places.")


def as_probabilities(scores: np.ndarray, name: str, *, are_logits: bool) -> Taken:
    """Probabilities of each sample: of logits their softmax, of logarithms what they are the logarithm of.

    Raises DataError where scores are called probabilities and are none.

    Examples
    --------
    >>> as_probabilities(np.log([[0.25, 0.75]]), "p", are_logits=False)
    Taken(array=array([[0.25, 0.75]]), note='Logarithms of probabilities were brought back to probabilities.')
    """
    if scores.dtype.kind not in "fiu" or scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        return Taken(scores)
    if are_logits:
        return Taken(np.exp(log_softmax(scores.astype(np.float64), axis=1)), "Probabilities are the logits' softmax.")
    if scores.max() <= 0 and np.allclose(np.exp(scores.astype(np.float64)).sum(axis=1), 1, atol=_SLACK):
        return Taken(
            np.exp(scores.astype(np.float64)), "Logarithms of probabilities were brought back to probabilities."
        )
    if scores.min() < 0 or scores.max() > 1 + _SLACK:
        raise DataError(
            f"{name}: probabilities run from {scores.min():.3g} to {scores.max():.3g}. If these are logits, save them "
            "as 'logits'."
        )
    return Taken(scores)


def as_codes(labels: np.ndarray, class_names: tuple[str, ...], name: str) -> Taken:
    """The code of each sample's class: of names, of codes counted from 0 or from 1, or of one-hot rows.

    Raises DataError for a label that is none of the classes.

    Examples
    --------
    >>> as_codes(np.array([[0, 1], [1, 0]]), ("a", "b"), "y")
    Taken(array=array([1, 0]), note='Labels are one-hot.')
    >>> as_codes(np.array([1, 2, 3]), ("0", "1", "2"), "y")
    Taken(array=array([0, 1, 2]), note='Labels are counted from 1.')
    """
    n_classes = len(class_names)
    may_be_ones = labels.ndim == 2 and labels.shape[1] == n_classes > 1 and labels.dtype.kind in "bfiu"
    if may_be_ones and np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all():
        return Taken(labels.argmax(axis=1), "Labels are one-hot.")
    codes = {spelled: code for code, spelled in enumerate(class_names)}
    spelled = [spell(label) for label in labels.ravel()]
    unknown = next((label for label in spelled if label not in codes), None)
    if unknown is None and all(label in codes for label in spelled):
        return Taken(np.array([codes[str(label)] for label in spelled], dtype=np.int64))
    whole = _whole(labels)
    if whole is None:
        raise DataError(f"{name}: the label {unknown!r} is none of the {n_classes} class names.")
    if len(whole) and whole.min() == 1 and whole.max() == n_classes:
        return Taken(whole - 1, "Labels are counted from 1.")
    return Taken(whole)  # codes into class names that are no numbers


def _whole(labels: np.ndarray) -> np.ndarray | None:
    """Labels as whole numbers; None where they are none."""
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        return labels.astype(np.int64)
    return None


# How does somebody bring features and probabilities without a model? As a file of arrays or a table for each part.


_KEYS = {
    "features": ("features", "embeddings"),
    "proba": ("proba", "probs", "probabilities"),
    "logits": ("logits", "logit"),
    "y": ("y", "label", "labels", "target", "targets", "targs", "y_true", "y_test"),
    "class_names": ("class_names", "classes"),
    "ids": ("ids", "id"),
}
_COMPACT = {role: tuple(key.replace("_", "") for key in keys) for role, keys in _KEYS.items()}
ENDINGS = (".npz", ".zip", ".parquet", ".tsv", ".csv", ".jsonl")
"""What such a file may end in; a zip holds arrays as NPZ does."""


def read_layer_samples(
    content: bytes, name: str, *, class_names: tuple[str, ...] | None = None, limits: Limits | None = None
) -> LayerSamples:
    """Read "features" (n, d), "proba" or "logits" (n, n_classes), and where known "labels", "ids" and "class_names".

    From NPZ, a zip of NPY files, or a table with a column for each number or columns of lists. Labels are names of
    classes, codes from 0 or 1, or one-hot; without them the samples are a pool to label from. Maps of features are
    averaged over their places. Classes are those that the file names, or else `class_names`, or else numbers from 0.
    What was done to bring all this to one form stands in the `notes`. Nothing is unpickled. Raises DataError, with what
    to save, for anything else.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> np.savez(stream, features=np.eye(2), proba=[[0.9, 0.1], [0.2, 0.8]], labels=["a", "b"], class_names=["a", "b"])
    >>> samples = read_layer_samples(stream.getvalue(), "test.npz")
    >>> samples.class_names, samples.labels
    (('a', 'b'), array([0, 1]))
    """
    arrays = _arrays(content, name, limits or Limits())
    if "features" not in arrays or not arrays.keys() & {"proba", "logits"}:
        lacking = "features" if "features" not in arrays else "proba"
        raise DataError(
            f"{name}: no array {' or '.join(_KEYS[lacking])}. Save features of one layer as 'features' (n, d), and "
            "the model's probabilities as 'proba' (n, number of classes), or its logits as 'logits'."
        )
    if {"proba", "logits"} <= arrays.keys():
        arrays.pop("logits")
    features = as_features(arrays["features"], name)
    are_logits = "logits" in arrays
    proba = as_probabilities(arrays["logits" if are_logits else "proba"], name, are_logits=are_logits)
    if "class_names" in arrays:
        class_names = tuple(str(class_name) for class_name in arrays["class_names"].ravel())
    if class_names is None:
        class_names = tuple(str(code) for code in range(proba.array.shape[1] if proba.array.ndim == 2 else 0))
    ids = [str(sample_id) for sample_id in arrays["ids"]] if "ids" in arrays else None
    y = as_codes(arrays["y"], class_names, name) if "y" in arrays else None
    notes = tuple(f"{name}: {taken.note}" for taken in (features, proba, y) if taken is not None and taken.note)
    return LayerSamples(
        features.array, None if y is None else y.array, proba.array, class_names, ids=ids, name=name, notes=notes
    )


def open_layer_file(file: io.BytesIO) -> object:
    """Read the arrays or columns in a file that `read_layer_samples` takes, whatever they mean.

    Examples
    --------
    >>> file = io.BytesIO(b"prob_cat,prob_dog,a,b\\n0.9,0.1,3,4\\n")
    >>> file.name = "test.csv"
    >>> sorted(open_layer_file(file))
    ['class_names', 'features', 'proba']
    """
    return _arrays(file.getvalue(), file.name, Limits())


def _arrays(content: bytes, name: str, limits: Limits) -> dict[str, np.ndarray]:
    """Arrays by role, from an archive or from the columns of a table."""
    ending = PurePath(name.split(" (")[0]).suffix.lower()
    if ending in TABLES:
        return arrays_of(read_table(opened(content, name.split(" (")[0]), limits=limits), _COMPACT)
    if ending == ARRAYS[1]:
        raise DataError(
            f"{name}: one array cannot hold features, probabilities and labels. Put features.npy, proba.npy and "
            "labels.npy into one zip, or save them together with numpy.savez."
        )
    archive = Archive(content, name, limits)
    arrays: dict[str, np.ndarray] = {}
    for role, keys in _KEYS.items():
        paths = [path for path in archive.paths if PurePath(path.removesuffix(".npy")).name.lower() in keys]
        if len(paths) > 1:
            raise DataError(f"{name}: {' and '.join(paths)} mean the same. Leave all but one of them out.")
        if paths:
            arrays[role] = _array(archive.read(paths[0]), f"{name}: {paths[0]}")
    return arrays


def _array(content: bytes, place: str) -> np.ndarray:
    # By whatever error: a header from somebody else can make numpy raise nearly anything.
    with refusing(f"{place} is no plain NumPy array, or a damaged one. Save it again, without objects."):
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


# What if there is no model, only what it said? Two files of features become a data set and a record to lie beside it.
#
# The data set holds the features as its columns. The record stands where a model would stand, and says of every row
# which part it is of and what the model made of it; it cannot be asked about anything else.

FILE_NAME = "recorded.npz"
_FROM_A_LAYER = "The columns are features of a model's layer, uploaded with the probabilities that the model gave."


class RecordedParts(NamedTuple):
    """Both parts of a record, and which rows of its data set they are."""

    train: LayerSamples
    test: LayerSamples
    train_rows: Integer[np.ndarray, " n_train"]
    test_rows: Integer[np.ndarray, " n_test"]


def read_recorded(
    train: bytes, test: bytes, *, train_name: str = "training part", test_name: str = "test part"
) -> tuple[LayerSamples, LayerSamples]:
    """Read two files (`read_layer_samples`) as the parts of one record; where the second names no classes, the first's.

    Raises DataError where one cannot be read or has no labels, or where they differ in classes or length of features.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> np.savez(stream, features=np.eye(2), proba=[[0.9, 0.1], [0.2, 0.8]], labels=[0, 1])
    >>> [len(part) for part in read_recorded(stream.getvalue(), stream.getvalue())]
    [2, 2]
    """
    first = read_layer_samples(train, train_name)
    second = read_layer_samples(test, test_name, class_names=first.class_names)
    first.check_alike(second)
    for part in (first, second):
        if part.y is None:
            raise DataError(f"{part.name}: the samples have no labels. Save the true class of each as 'labels'.")
    return first, second


def record_of(train: LayerSamples, test: LayerSamples, *, name: str) -> tuple[Dataset, ModelFile]:
    """Make the data set `name` of both parts, the training part first, and the record of what the model said.

    Ids that occur in both parts get the part's name before them. Raises DataError where the parts do not fit together.

    Examples
    --------
    >>> part = LayerSamples([[0.0, 1.0], [2.0, 1.0]], [0, 1], [[0.9, 0.1], [0.4, 0.6]], ("a", "b"))
    >>> dataset, record = record_of(part, part, name="mine")
    >>> dataset.x.shape, dataset.ids[[0, 2]].tolist(), record.architecture
    ((4, 2), ['train 0', 'test 0'], 'recorded')
    """
    train.check_alike(test)
    ids = [*train.ids, *test.ids]
    if len(set(ids)) < len(ids):
        ids = [*(f"train {sample_id}" for sample_id in train.ids), *(f"test {sample_id}" for sample_id in test.ids)]
    dataset = Dataset(
        name,
        "tabular",
        np.concatenate([train.features, test.features]),
        np.concatenate([train.labels, test.labels]),
        train.class_names,
        ids,
        notes=(_FROM_A_LAYER, *train.notes, *test.notes),
    )
    stream = io.BytesIO()
    is_test = np.repeat([False, True], [len(train), len(test)])
    np.savez(stream, proba=np.concatenate([train.proba, test.proba]), is_test=is_test)
    return dataset, ModelFile(stream.getvalue(), FILE_NAME, dataset.fingerprint, RECORDED)


def recorded_parts(file: ModelFile, dataset: Dataset) -> RecordedParts:
    """Read a record beside its data set. Raises ModelError, saying what differs, where it is not one of this data set.

    Examples
    --------
    >>> part = LayerSamples([[0.0, 1.0], [2.0, 1.0]], [0, 1], [[0.9, 0.1], [0.4, 0.6]], ("a", "b"))
    >>> dataset, record = record_of(part, part, name="mine")
    >>> recorded_parts(record, dataset).test_rows
    array([2, 3])
    """
    if file.architecture != RECORDED:
        raise ModelError(f"{file.file_name} is a model, not a record of features and probabilities.")
    proba, is_test = _recorded_arrays(file)
    if file.dataset != dataset.fingerprint:
        raise ModelError(f"The record is of another data set than {dataset.name}. Upload its features again.")
    if proba.shape != (dataset.n_samples, dataset.n_classes):
        raise ModelError(
            f"The record has probabilities of shape {proba.shape}, {dataset.name} has {dataset.n_samples} samples of "
            f"{dataset.n_classes} classes. Upload the features again."
        )
    if is_test.shape != (dataset.n_samples,) or is_test.all() or not is_test.any():
        raise ModelError("The record does not say which samples are training and which test samples.")
    rows = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    train, test = (
        LayerSamples(
            dataset.x[part], dataset.y[part], proba[part], dataset.class_names, ids=dataset.ids[part], name=name
        ).made_of(dataset, part)
        for part, name in zip(rows, ("training part", "test part"), strict=True)
    )
    return RecordedParts(train, test, *rows)


def _recorded_arrays(file: ModelFile) -> tuple[np.ndarray, np.ndarray]:
    try:
        archive = Archive(file.content, file.file_name, Limits())
        proba, is_test = (
            np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
            for name in ("proba", "is_test")
        )
    except (DataError, KeyError, ValueError, EOFError, SyntaxError) as error:
        raise ModelError(
            f"{file.file_name}: the record cannot be read ({error}). Upload the features again."
        ) from error
    return proba, is_test.astype(bool)
