"""Samples without labels: as features and probabilities, or as inputs that the model is run on; else refused."""

import io
from functools import lru_cache

import numpy as np
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.guided_tests.few_labels import read_pool
from touchstone.core.models import MODELS
from touchstone.core.models.model_file import ModelFile
from touchstone.core.trials.layer_parts import LayerParts, layer_parts


@lru_cache(maxsize=2)
def ready(name: str) -> tuple[Dataset, LayerParts]:
    data = load_example(name)
    model = MODELS["linear"](n_epochs=1).fit(data.x, data.y, seed=0, n_classes=data.n_classes)
    stored = ModelFile(model.trained(data).to_bytes(), "linear.safetensors", data.fingerprint).to_bytes()
    return data, layer_parts(stored, data)


def read(name: str, file: str, content: bytes):
    data, parts = ready(name)
    return read_pool(content, file, parts=parts, dataset=data)


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_images_are_seen_as_the_test_part_is_whatever_their_scale():
    data, parts = ready("digits")
    images = data.x[parts.test_rows[:5]]
    pool = read("digits", "new.npz", npz(images=images, ids=list("abcde")))
    assert pool.y is None
    assert pool.ids.tolist() == list("abcde")
    assert pool.features == pytest.approx(parts.test.features[:5])
    assert pool.proba == pytest.approx(parts.test.proba[:5])
    raw = read("digits", "new.npz", npz(x=(images[..., 0] * data.scale).astype(np.uint8)))
    assert raw.proba == pytest.approx(pool.proba)


def test_rows_are_taken_by_the_names_of_their_columns():
    data, parts = ready("wine")
    rows = parts.test_rows[:3]
    names = list(data.feature_names)[::-1]
    lines = ["\t".join(["id", *names])]
    lines += ["\t".join([f"r{i}", *map(repr, map(float, data.x[row, ::-1]))]) for i, row in enumerate(rows)]
    pool = read("wine", "new.tsv", "\n".join(lines).encode())
    assert pool.ids.tolist() == ["r0", "r1", "r2"]
    assert pool.proba == pytest.approx(parts.test.proba[:3])


def test_features_with_probabilities_need_no_model():
    _, parts = ready("wine")
    content = npz(features=parts.test.features[:4], proba=parts.test.proba[:4])
    assert read("wine", "new.npz", content).proba == pytest.approx(parts.test.proba[:4])


@pytest.mark.parametrize(
    ("name", "file", "content", "words"),
    [
        ("digits", "new.npz", npz(other=np.zeros(3)), "it holds other. Save inputs as 'x'"),
        ("digits", "new.npz", npz(images=np.zeros((2, 9, 9))), "of shape"),
        ("digits", "new.npz", npz(images=np.full((2, 8, 8), 99)), "in 0 to 16"),
        ("digits", "new.npz", npz(images=np.full((2, 8, 8), -1)), "pixels must lie"),
        ("digits", "new.npz", npz(images=np.full((2, 8, 8), np.nan)), "finite numbers"),
        ("digits", "new.npz", b"PK nothing", "new.npz"),
        ("digits", "new.tsv", b"id\tx\na\t1\n", "holds images"),
        ("wine", "new.tsv", b"id\talcohol\na\t1\n", "there is no column"),
        ("wine", "new.npz", npz(x=np.array(["a", "b"])), "finite numbers"),
    ],
)
def test_what_cannot_be_used_is_refused(name, file, content, words):
    with pytest.raises(DataError, match=words):
        read(name, file, content)


def test_inputs_without_a_model_are_refused():
    data, parts = ready("wine")
    record = LayerParts(
        parts.train, parts.test, parts.head, "uploaded features", parts.train_rows, parts.test_rows, (), None, None
    )
    with pytest.raises(DataError, match="no model that these inputs could be given to"):
        read_pool(npz(x=data.x[:3]), "new.npz", parts=record, dataset=data)
