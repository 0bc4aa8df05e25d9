"""How does somebody bring features and probabilities without a model? As a file of arrays or a table for each part."""

import io
from pathlib import PurePath

import numpy as np

from touchstone.core.data import DataError
from touchstone.core.data.limits import Archive, Limits, opened
from touchstone.core.data.tables.files import ARRAYS, TABLES, read_table
from touchstone.core.models.layer_arrays import as_codes, as_features, as_probabilities
from touchstone.core.models.layer_tables import arrays_of
from touchstone.core.models.layers import LayerSamples

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
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # a header from somebody else can make numpy raise nearly anything
        raise DataError(
            f"{place} is no plain NumPy array, or a damaged one. Save it again, without objects."
        ) from error
