"""How does somebody bring features and probabilities without a model? As an NPZ file for each part."""

import io
from typing import Any

import numpy as np

from core.data import DataError
from core.data.limits import Archive, Limits
from core.data.values import spell
from core.models.layers import LayerSamples

_KEYS = {
    "features": ("features", "embeddings"),
    "proba": ("proba", "probs", "probabilities"),
    "y": ("y", "label", "labels", "target", "targets", "targs", "y_true", "y_test"),
    "class_names": ("class_names", "classes"),
    "ids": ("ids", "id"),
}


def read_layer_samples(
    content: bytes, name: str, *, class_names: tuple[str, ...] | None = None, limits: Limits | None = None
) -> LayerSamples:
    """Read "features" (n, d), "proba" (n, n_classes), and where known "labels", "ids" and "class_names".

    Labels are names of classes, or where they are none, codes; without labels the samples are a pool to label from.
    Classes are those that the file names, or else `class_names`, or else numbers from 0.
    Nothing is unpickled. Raises DataError, with what to save, for anything else.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> np.savez(stream, features=np.eye(2), proba=[[0.9, 0.1], [0.2, 0.8]], labels=["a", "b"], class_names=["a", "b"])
    >>> samples = read_layer_samples(stream.getvalue(), "test.npz")
    >>> samples.class_names, samples.labels
    (('a', 'b'), array([0, 1]))
    """
    archive = Archive(content, name, limits or Limits())
    arrays: dict[str, np.ndarray] = {}
    for role, keys in _KEYS.items():
        paths = [path for path in archive.paths if path.removesuffix(".npy").lower() in keys]
        if len(paths) > 1:
            raise DataError(f"{name}: {' and '.join(paths)} mean the same. Leave all but one of them out.")
        if paths:
            arrays[role] = _array(archive.read(paths[0]), f"{name}: {paths[0]}")
    for role in ("features", "proba"):
        if role not in arrays:
            raise DataError(
                f"{name}: no array {' or '.join(_KEYS[role])}. Save features of one layer as 'features' (n, d), and "
                "the model's probabilities as 'proba' (n, number of classes)."
            )
    proba = arrays["proba"]
    if "class_names" in arrays:
        class_names = tuple(str(class_name) for class_name in arrays["class_names"].ravel())
    if class_names is None:
        class_names = tuple(str(code) for code in range(proba.shape[1] if proba.ndim == 2 else 0))
    ids = [str(sample_id) for sample_id in arrays["ids"]] if "ids" in arrays else None
    y = _codes(arrays["y"], class_names, name) if "y" in arrays else None
    return LayerSamples(arrays["features"], y, proba, class_names, ids=ids, name=name)


def _codes(labels: np.ndarray, class_names: tuple[str, ...], name: str) -> Any:
    codes = {spelled: code for code, spelled in enumerate(class_names)}
    spelled = [spell(label) for label in labels.ravel()]
    unknown = next((label for label in spelled if label not in codes), None)
    if unknown is None and all(label in codes for label in spelled):
        return np.array([codes[str(label)] for label in spelled], dtype=np.int64)
    if np.issubdtype(labels.dtype, np.integer):  # codes into class names that are no numbers
        return labels
    raise DataError(f"{name}: the label {unknown!r} is none of the {len(class_names)} class names.")


def _array(content: bytes, place: str) -> np.ndarray:
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # a header from somebody else can make numpy raise nearly anything
        raise DataError(
            f"{place} is no plain NumPy array, or a damaged one. Save it again, without objects."
        ) from error
