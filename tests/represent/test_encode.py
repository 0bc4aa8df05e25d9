import numpy as np
import pytest

from core.data import Dataset, load_example
from core.data.errors import DataError
from core.represent import REPRESENTATIONS, default_representation, encode


def toy(kind: str) -> Dataset:
    rng = np.random.default_rng(0)
    x = {
        "image": rng.random((20, 4, 4, 1)).astype(np.float32),
        "tabular": rng.normal(size=(20, 3)) * [1, 100, 0.01],
        "text": np.array([" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(20)], dtype=object),
    }[kind]
    return Dataset("toy", kind, x, np.tile([0, 1], 10), ("ant", "bee"), [str(row) for row in range(20)])


@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_a_representation_gives_one_finite_vector_per_sample_and_always_the_same(name):
    for kind in REPRESENTATIONS[name].kinds:
        features = encode(toy(kind), name)
        assert features.shape[0] == 20
        assert np.isfinite(features).all()
        np.testing.assert_array_equal(features, encode(toy(kind), name))


@pytest.mark.parametrize("kind", ["image", "tabular", "text"])
def test_every_kind_has_a_usual_representation(kind):
    assert kind in REPRESENTATIONS[default_representation(kind)].kinds


def test_images_are_flattened_and_tables_standardised():
    digits = load_example("digits")
    np.testing.assert_array_equal(encode(digits, "raw"), digits.x.reshape(1797, 64))
    table = encode(toy("tabular"), "raw")
    np.testing.assert_allclose(table.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(table.std(axis=0), 1)


def test_labels_play_no_part():
    data = toy("text")
    other = Dataset("toy", "text", data.x, 1 - data.y, data.class_names, data.ids)
    np.testing.assert_array_equal(encode(data, "tfidf_svd"), encode(other, "tfidf_svd"))


def test_what_does_not_fit_is_refused_with_what_does():
    with pytest.raises(DataError, match=r"'raw' is not for text data\. Take tfidf_svd"):
        encode(toy("text"), "raw")
    with pytest.raises(DataError, match="called 'magic'; there are: raw, tfidf_svd"):
        encode(toy("text"), "magic")
