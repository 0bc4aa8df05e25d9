"""A representation gives every sample its features, always the same ones, and says what it saw."""

import numpy as np
import pytest

from touchstone.core.data import load_example
from touchstone.core.data.errors import DataError
from touchstone.core.represent import REPRESENTATIONS, available, check_representation, default_representation, encode
from touchstone.core.testing import LAWS
from touchstone.core.testing.models import KINDS
from touchstone.core.testing.representations import toy_dataset as toy


@pytest.mark.parametrize("name", REPRESENTATIONS)
@pytest.mark.parametrize("law", LAWS[REPRESENTATIONS.group], ids=lambda law: law.__name__)
def test_a_representation_keeps_every_law(law, name):
    law(name, REPRESENTATIONS[name])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_usual_representation(kind):
    assert kind in REPRESENTATIONS[default_representation(kind)].kinds
    assert next(iter(available(toy(kind)))) == default_representation(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_available_can_be_had_and_nothing_else(kind):
    for data in (toy(kind), toy(kind, vectors=False)):
        for name in REPRESENTATIONS:
            if name in available(data):
                assert len(encode(data, name)) == data.n_samples
            else:
                with pytest.raises(DataError, match=r"[Tt]ake"):
                    check_representation(data, name)
    assert set(available(toy(kind))) - set(available(toy(kind, vectors=False))) == {"own_vectors"}


def test_images_are_flattened_and_tables_standardised():
    digits = load_example("digits")
    np.testing.assert_array_equal(encode(digits, "raw"), digits.x.reshape(1797, 64))
    table = encode(toy("tabular"), "raw")
    np.testing.assert_allclose(table.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(table.std(axis=0), 1)


def test_own_vectors_are_taken_as_they_are():
    data = toy("text")
    np.testing.assert_array_equal(encode(data, "own_vectors"), data.vectors)


def test_the_hidden_layer_is_what_the_network_decides_by():
    from touchstone.core.models import MODELS

    wine = load_example("wine")
    features = encode(wine, "network")
    assert features.min() == 0, "rectified"
    assert features.shape == (178, MODELS["mlp_small"]().n_hidden)
    model = MODELS["mlp_small"]().fit(wine.x, wine.y, seed=0, n_classes=3)
    last = model._network[-1]
    logits = features @ last.weight.detach().double().numpy().T + last.bias.detach().double().numpy()
    np.testing.assert_array_equal(logits.argmax(axis=1), model.predict(wine.x))


def test_what_does_not_fit_is_refused_with_what_does():
    with pytest.raises(DataError, match=r"'raw' is not for text data\. Take tfidf_svd, word_vectors, network"):
        encode(toy("text", vectors=False), "raw")
    with pytest.raises(DataError, match=r"called 'magic', and no plugin .*; there are: raw, tfidf_svd"):
        encode(toy("text"), "magic")
    with pytest.raises(DataError, match="no vectors of its own"):
        encode(toy("text", vectors=False), "own_vectors")
