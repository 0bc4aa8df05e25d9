"""Features without a model: two files become a data set and a record, which fits nothing else and runs nothing."""

import io
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluate.feature_populations import cloud, head
from touchstone.core.data import DataError, Dataset
from touchstone.core.models import ModelError
from touchstone.core.models.layer_files import read_recorded, record_of, recorded_parts
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.load import load_model, read_stored
from touchstone.core.models.model_file import RECORDED, ModelFile, model_fingerprint

OF = head(3, 4)
TRAIN, TEST = cloud(OF, 9, seed=1), cloud(OF, 5, seed=2)


def npz(samples: LayerSamples, **changed) -> bytes:
    """The file that somebody would save; what is changed to None is left out."""
    arrays = {"features": samples.features, "proba": samples.proba, "labels": samples.labels}
    arrays |= {"class_names": np.array(samples.class_names), **changed}
    stream = io.BytesIO()
    np.savez(stream, **{name: value for name, value in arrays.items() if value is not None})
    return stream.getvalue()


def test_two_files_are_a_data_set_and_its_parts_again():
    train, test = read_recorded(npz(TRAIN), npz(TEST))
    dataset, record = record_of(train, test, name="mine")
    assert (dataset.name, dataset.kind, dataset.class_names) == ("mine", "tabular", TRAIN.class_names)
    assert np.array_equal(dataset.x, np.concatenate([TRAIN.features, TEST.features]))
    assert (record.architecture, record.dataset) == (RECORDED, dataset.fingerprint)
    parts = recorded_parts(ModelFile.from_bytes(record.to_bytes()), dataset)
    for part, rows, given in ((parts.train, parts.train_rows, TRAIN), (parts.test, parts.test_rows, TEST)):
        assert np.array_equal(part.features, given.features)
        assert np.array_equal(part.proba, given.proba)
        assert part.labels.tolist() == given.labels.tolist() == dataset.y[rows].tolist()
        assert part.ids.tolist() == dataset.ids[rows].tolist()


def test_the_same_files_are_the_same_data_set_and_record():
    (one, record), (two, other) = (record_of(TRAIN, TEST, name=name) for name in ("one", "two"))
    assert one.fingerprint == two.fingerprint
    assert model_fingerprint(record.to_bytes()) == model_fingerprint(other.to_bytes())


def test_ids_stay_where_they_are_unique_and_become_so_where_they_are_not():
    train, test = read_recorded(npz(TRAIN, ids=np.arange(27)), npz(TEST, ids=np.arange(100, 115)))
    assert record_of(train, test, name="x")[0].ids[[0, 26, 27]].tolist() == ["0", "26", "100"]
    train, test = read_recorded(npz(TRAIN), npz(TEST))
    assert record_of(train, test, name="x")[0].ids[[0, 27]].tolist() == ["train 0", "test 0"]


def test_classes_that_the_test_file_does_not_name_are_those_of_the_training_file():
    names = np.array(TRAIN.class_names)[TEST.labels]
    _, test = read_recorded(npz(TRAIN), npz(TEST, class_names=None, labels=names))
    assert test.class_names == TRAIN.class_names
    assert test.labels.tolist() == TEST.labels.tolist()


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ({}, {"features": np.zeros((15, 5))}, "Features of another length: .* has 4 a sample, .* has 5"),
        ({}, {"class_names": np.array(["class 0", "class 2", "class 1"])}, "differ in their classes"),
        ({}, {"proba": np.full((15, 2), 0.5), "class_names": None}, "a column for each class name"),
        ({"labels": None}, {}, "training part: the samples have no labels"),
        ({}, {"labels": None}, "test part: the samples have no labels"),
        ({}, {"proba": np.full((15, 3), 2.0)}, "If these are logits, save them as 'logits'"),
        ({}, {"features": np.full((15, 4), np.nan)}, "no finite number"),
    ],
)
def test_files_that_do_not_fit_are_refused(train, test, message):
    with pytest.raises(DataError, match=message):
        read_recorded(npz(TRAIN, **train), npz(TEST, **test))


def test_a_class_that_neither_part_has_is_refused():
    few = TRAIN.take(TRAIN.labels != 1)
    with pytest.raises(DataError, match="class 'class 1' has no sample"):
        record_of(few, few, name="mine")


def test_a_record_of_other_classes_or_other_data_is_refused():
    dataset, record = record_of(TRAIN, TEST, name="mine")
    other = Dataset("other", "tabular", dataset.x + 1, dataset.y, dataset.class_names, dataset.ids)
    with pytest.raises(ModelError, match="of another data set than other"):
        recorded_parts(record, other)
    y = np.where(dataset.y == 2, 1, dataset.y)
    fewer = Dataset("fewer", "tabular", dataset.x, y, dataset.class_names[:2], dataset.ids)
    with pytest.raises(ModelError, match=r"shape \(42, 3\), fewer has 42 samples of 2 classes"):
        recorded_parts(replace(record, dataset=fewer.fingerprint), fewer)


def saved(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing", "cannot be read"),
        (saved(proba=np.zeros((42, 3))), "cannot be read"),
        (saved(proba=np.zeros((42, 3)), is_test=np.array([object()] * 42)), "cannot be read"),
        (saved(proba=np.full((42, 3), 1 / 3), is_test=np.zeros(42, dtype=bool)), "which samples are training"),
        (saved(proba=np.full((42, 3), 1 / 3), is_test=np.ones(7, dtype=bool)), "which samples are training"),
    ],
)
def test_a_damaged_record_is_refused(content, message):
    dataset, record = record_of(TRAIN, TEST, name="mine")
    with pytest.raises(ModelError, match=message):
        recorded_parts(replace(record, content=content), dataset)


def test_a_record_is_not_taken_for_a_model_nor_a_model_for_a_record():
    dataset, record = record_of(TRAIN, TEST, name="mine")
    with pytest.raises(ModelError, match="has a model's outputs for mine, but not the model"):
        read_stored(record.to_bytes(), dataset)
    with pytest.raises(ModelError, match="is of a kind that is not known here"):
        load_model(record.file_name, record.content, dataset)
    with pytest.raises(ModelError, match="is a model, not a record"):
        recorded_parts(replace(record, architecture="linear"), dataset)
