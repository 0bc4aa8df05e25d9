import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError
from touchstone.core.models.layer_files import read_layer_samples

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


def test_logits_become_probabilities_and_it_is_said():
    logits = np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    samples = read_layer_samples(archive(features=np.eye(3), logits=logits), "t.npz")
    np.testing.assert_allclose(samples.proba, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    assert samples.notes == ("t.npz: Probabilities are the logits' softmax.",)
    logs = read_layer_samples(archive(features=np.eye(3), proba=np.log(samples.proba)), "t.npz")
    np.testing.assert_allclose(logs.proba, samples.proba)
    assert "Logarithms" in logs.notes[0]


def archive(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("labels", "note"),
    [
        ([[0, 1], [1, 0], [1, 0]], "Labels are one-hot."),
        ([2, 1, 1], "Labels are counted from 1."),
        ([2.0, 1.0, 1.0], "Labels are counted from 1."),
    ],
)
def test_labels_may_be_one_hot_or_counted_from_1(labels, note):
    samples = read_layer_samples(npz(labels=labels), "t.npz")
    assert samples.labels.tolist() == [1, 0, 0]
    assert samples.notes == (f"t.npz: {note}",)


def test_labels_from_0_are_as_they_are():
    assert read_layer_samples(npz(labels=[1, 0, 0]), "t.npz").notes == ()
    assert read_layer_samples(npz(labels=[1, 1, 1]), "t.npz").labels.tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(3, 7, 4, 4), (3, 4, 4, 7), (3, 5, 7)])
def test_maps_are_averaged_over_their_places(shape):
    maps = np.random.default_rng(0).normal(size=shape)
    samples = read_layer_samples(npz(features=maps), "t.npz")
    axes = {(3, 7, 4, 4): (2, 3), (3, 4, 4, 7): (1, 2), (3, 5, 7): 1}[shape]
    np.testing.assert_allclose(samples.features, maps.mean(axis=axes), rtol=1e-6)
    assert "averaged over" in samples.notes[0]


def test_maps_whose_channels_nobody_can_tell_are_refused():
    with pytest.raises(DataError, match="which of these are channels is not clear"):
        read_layer_samples(npz(features=np.ones((3, 4, 4, 4))), "t.npz")


def frame() -> pd.DataFrame:
    names = ["cat", "dog", "cat"]
    return pd.DataFrame({"id": ["a", "b", "c"], "f0": [1.5, 2, 3], "f1": [0, 1, 0.5], "prob_cat": [0.9, 0.2, 0.5],
                         "prob_dog": [0.1, 0.8, 0.5], "label": names})  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_a_table_has_a_column_for_each_number(ending):
    table = frame()
    content = {
        "csv": lambda: table.to_csv(index=False).encode(),
        "tsv": lambda: table.to_csv(index=False, sep="\t").encode(),
        "parquet": lambda: table.to_parquet(),
        "jsonl": lambda: table.to_json(orient="records", lines=True).encode(),
    }[ending]()
    samples = read_layer_samples(content, f"t.{ending}")
    assert samples.class_names == ("cat", "dog")
    assert samples.features.tolist() == [[1.5, 0], [2, 1], [3, 0.5]]
    assert (samples.labels.tolist(), samples.ids.tolist()) == ([0, 1, 0], ["a", "b", "c"])
    assert samples.proba[:, 1].tolist() == [0.1, 0.8, 0.5]


def test_a_table_may_have_columns_of_lists():
    table = pd.DataFrame({"features": [[1.0, 2.0], [3.0, 4.0]], "proba": [[0.9, 0.1], [0.2, 0.8]], "y": [0, 1]})
    samples = read_layer_samples(table.to_parquet(), "train.parquet (training part)")
    assert (samples.features.tolist(), samples.labels.tolist()) == ([[1, 2], [3, 4]], [0, 1])


def test_a_zip_of_arrays_is_read_as_npz_and_a_lone_array_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, array in (GOOD | {"labels": [0, 1, 1]}).items():
            with packed.open(f"mine/{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.asarray(array))
    assert read_layer_samples(stream.getvalue(), "t.zip").labels.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="one array cannot hold features, probabilities and labels"):
        read_layer_samples(b"", "features.npy")


def test_a_table_without_scores_or_features_is_refused():
    with pytest.raises(DataError, match="no array proba"):
        read_layer_samples(frame()[["f0", "label"]].to_csv(index=False).encode(), "t.csv")
    with pytest.raises(DataError, match="no columns of features"):
        read_layer_samples(frame()[["prob_cat", "prob_dog", "label"]].to_csv(index=False).encode(), "t.csv")
