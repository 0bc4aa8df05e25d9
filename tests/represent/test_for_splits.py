"""Features for splits: standardised, and condensed without losing what varies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.represent import available, encode, features_for_splits
from touchstone.core.represent.representations import principal_components


def table(x: np.ndarray) -> Dataset:
    y = np.arange(len(x)) % 2
    return Dataset("t", "tabular", x, y, ("a", "b"), [str(row) for row in range(len(x))])


def texts(n: int = 60) -> Dataset:
    rng = np.random.default_rng(1)
    words = np.array([f"word{i}" for i in range(150)])
    x = [" ".join(rng.choice(words[:75] if row % 2 else words[75:], 12)) for row in range(n)]
    return Dataset("texts", "text", x, np.arange(n) % 2, ("a", "b"), [str(row) for row in range(n)])


def obvious(features: np.ndarray, n_components: int) -> np.ndarray:
    """Standardise and rotate, by the singular value decomposition of everything."""
    z = (features - features.mean(axis=0)) / features.std(axis=0)
    _, _, directions = np.linalg.svd(z, full_matrices=False)
    scores = z @ directions[:n_components].T
    largest = np.abs(directions[:n_components]).argmax(axis=1)
    return scores * np.sign(directions[np.arange(n_components), largest])


@pytest.mark.parametrize("name", ["digits", "wine", "breast_cancer"])
def test_it_is_what_the_formula_says(name):
    data = load_example(name)
    features = encode(data, "raw").astype(float)
    varying = features[:, np.ptp(features, axis=0) > 0]
    np.testing.assert_allclose(features_for_splits(data, "raw"), obvious(varying, 5), atol=1e-6)


def test_units_of_a_column_play_no_part_once_it_is_standardised():
    x = np.random.default_rng(0).normal(size=(50, 4))
    scaled = table(x * [1e-6, 1, 1e6, 10])
    np.testing.assert_allclose(features_for_splits(scaled, "raw"), features_for_splits(table(x), "raw"), atol=1e-8)


def test_leading_components_of_an_svd_stay_leading():
    data = texts()
    plain = features_for_splits(data, "tfidf_svd", standardise=False)
    scaled = features_for_splits(data, "tfidf_svd")
    ratios = plain / scaled
    np.testing.assert_allclose(ratios, ratios.flat[0], rtol=1e-6)
    assert scaled.std(axis=0)[0] > 1.5 * scaled.std(axis=0)[1], "two vocabularies are the one large direction"


def test_without_components_the_columns_are_only_standardised():
    x = np.random.default_rng(0).normal(size=(30, 3)) + 5
    features = features_for_splits(table(x), "raw", n_components=None)
    np.testing.assert_allclose(features, (x - x.mean(axis=0)) / x.std(axis=0))


def test_as_many_components_as_there_can_be():
    rng = np.random.default_rng(0)
    two = rng.normal(size=(40, 2))
    assert features_for_splits(table(two), "raw").shape == (40, 2)
    assert features_for_splits(table(np.column_stack([two, two, np.full(40, 7.0)])), "raw").shape == (40, 2)
    assert features_for_splits(table(rng.normal(size=(4, 9))), "raw").shape == (4, 3), "four points span three"


@pytest.mark.parametrize("constant", [0.0, 3.0, 1e9, 0.1])
def test_features_that_tell_nothing_apart_are_refused_with_a_remedy(constant):
    data = table(np.full((10, 3), constant))
    with pytest.raises(DataError, match=r"all 10 samples have the same features .* Choose another representation"):
        features_for_splits(data, "raw")


@pytest.mark.parametrize("n_components", [0, -1])
def test_less_than_one_component_is_refused(n_components):
    with pytest.raises(DataError, match="at least 1"):
        features_for_splits(load_example("wine"), "raw", n_components=n_components)


@pytest.mark.parametrize("data", [load_example("digits"), texts()], ids=lambda data: data.name)
def test_twice_is_bit_for_bit_once(data):
    for name in available(data):
        first, second = (features_for_splits(data, name) for _ in range(2))
        assert first.tobytes() == second.tobytes()


def test_many_samples_and_columns_get_the_same_leading_directions():
    """Beyond the exact method's reach the randomised one must not be worse where directions stand apart."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1100, 1050)) * 0.1 + rng.normal(size=(1100, 3)) @ np.diag([9, 6, 3]) @ rng.normal(
        size=(3, 1050)
    )
    centred = x - x.mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)[:3]
    found = principal_components(centred, 3)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), singular, rtol=1e-6)


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_distances_survive_a_full_rotation(n_samples, n_features, seed):
    x = np.random.default_rng(seed).normal(size=(n_samples, n_features))
    rotated = principal_components(x - x.mean(axis=0), min(n_samples, n_features))
    before, after = (np.linalg.norm(z[:, None] - z[None], axis=2) for z in (x, rotated))
    np.testing.assert_allclose(after, before, atol=1e-6)
