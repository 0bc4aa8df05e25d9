import io

import numpy as np
import pytest

from core.data import DataError
from core.models.layer_files import read_layer_samples

GOOD = {"features": np.eye(3), "proba": [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]}


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **GOOD | arrays)
    return stream.getvalue()


def test_labels_may_be_names_or_codes_or_absent():
    named = read_layer_samples(npz(labels=["b", "a", "a"], class_names=["a", "b"], ids=[7, 8, 9]), "t.npz")
    assert (named.labels.tolist(), named.ids.tolist()) == ([1, 0, 0], ["7", "8", "9"])
    codes = read_layer_samples(npz(y=np.array([1, 0, 0])), "t.npz")
    assert (codes.labels.tolist(), codes.class_names) == ([1, 0, 0], ("0", "1"))
    into = read_layer_samples(npz(y=np.array([1, 0, 0], dtype=np.uint8)), "t.npz", class_names=("cat", "dog"))
    assert into.labels.tolist() == [1, 0, 0]
    assert read_layer_samples(npz(), "pool.npz").y is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nothing", "no zip archive"),
        (npz(labels=["a", "c", "a"], class_names=["a", "b"]), "the label 'c' is none of the 2 class names"),
        (npz(label=[0, 1, 1], y=[0, 1, 1]), "mean the same"),
        (npz(y=[0, 1]), "but 2 labels"),
        (npz(y=[0, 1, 5]), "must lie in 0 to 1"),
        (npz(class_names=["a", "b", "c"]), "a column for each class name"),
        (npz(proba=np.ones(3)), "a row for each sample"),
        (npz(ids=np.array([object()] * 3)), "without objects"),
    ],
)
def test_files_that_do_not_fit_are_refused(content, message):
    with pytest.raises(DataError, match=message):
        read_layer_samples(content, "t.npz")


@pytest.mark.parametrize("key", ["targets", "y_true"])
def test_labels_may_be_called_otherwise(key):
    assert read_layer_samples(npz(**{key: [0, 1, 1]}), "f.npz").labels.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="mean the same"):
        read_layer_samples(npz(labels=[0, 1, 1], **{key: [0, 1, 1]}), "f.npz")


def test_what_to_save_is_said():
    stream = io.BytesIO()
    np.savez(stream, x=np.eye(2))
    with pytest.raises(DataError, match=r"t\.npz: no array features or embeddings\. Save"):
        read_layer_samples(stream.getvalue(), "t.npz")
