"""What if there is no model, only what it said? Two files of features become a data set and a record to lie beside it.

The data set holds the features as its columns. The record stands where a model would stand, and says of every row
which part it is of and what the model made of it; it cannot be asked about anything else.
"""

import io
from typing import NamedTuple

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.limits import Archive, Limits
from touchstone.core.models.errors import ModelError
from touchstone.core.models.layer_files import read_layer_samples
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.stored import RECORDED, ModelFile

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
