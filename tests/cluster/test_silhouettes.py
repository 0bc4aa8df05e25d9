import numpy as np
import pytest
from sklearn.metrics import silhouette_samples

from touchstone.core.cluster.finders import find_sources
from touchstone.core.cluster.sources import silhouettes

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1, 2], [20, 30, 25])
SOURCES = np.concatenate([RNG.integers(0, 3, 20), RNG.integers(0, 2, 30), RNG.integers(0, 3, 25)])
FEATURES = RNG.normal(size=(75, 4)) + Y[:, None] + 2 * SOURCES[:, None]


def test_within_and_pooled_are_what_scikit_learn_says():
    found = silhouettes(FEATURES, Y, SOURCES, rng=np.random.default_rng(0))
    for label in range(3):
        mine = np.isin(Y, label)
        assert found.within[label] == pytest.approx(silhouette_samples(FEATURES[mine], SOURCES[mine]).mean())
    assert found.pooled == pytest.approx(silhouette_samples(FEATURES, Y * 10 + SOURCES).mean())
    assert (found.n_used, found.n_samples) == (75, 75)


def test_a_source_id_that_two_classes_share_counts_as_two_sources():
    renamed = np.char.add(np.char.add(Y.astype(str), "/"), SOURCES.astype(str)).astype(object)
    by_name = silhouettes(FEATURES, Y, renamed, rng=np.random.default_rng(0))
    by_number = silhouettes(FEATURES, Y, SOURCES, rng=np.random.default_rng(0))
    assert by_name.pooled == pytest.approx(by_number.pooled)
    np.testing.assert_allclose(by_name.within, by_number.within)


def test_a_class_with_one_source_has_no_silhouette_but_counts_in_the_pooled_one():
    sources = np.where(Y == 1, 0, SOURCES)
    found = silhouettes(FEATURES, Y, sources, rng=np.random.default_rng(0))
    assert np.isnan(found.within).tolist() == [False, True, False]
    assert found.pooled == pytest.approx(silhouette_samples(FEATURES, Y * 10 + sources).mean())


def test_large_data_is_sampled_and_says_so():
    found = silhouettes(FEATURES, Y, SOURCES, rng=np.random.default_rng(0), max_samples=60)
    again = silhouettes(FEATURES, Y, SOURCES, rng=np.random.default_rng(0), max_samples=60)
    assert (found.n_used, found.n_samples) == (60, 75)
    assert found.pooled == again.pooled
    assert found.table()["label"].tolist() == [0, 1, 2]


@pytest.mark.evidence
def test_the_pooled_silhouette_is_the_one_that_the_paper_prints_for_k_means_on_mnist(shared_data):
    with np.load(shared_data / "mnist.npz", allow_pickle=False) as mnist:
        x = np.concatenate([mnist["x_train"], mnist["x_test"]]).reshape(70_000, -1).astype(np.float32) / 255
        y = np.concatenate([mnist["y_train"], mnist["y_test"]])
    sources = find_sources(x, y, rng=np.random.default_rng(0))
    found = silhouettes(x, y, sources, rng=np.random.default_rng(0), max_samples=10_000)
    assert found.pooled == pytest.approx(0.0456, abs=0.005)
    assert found.within.mean() > 0.07  # so the paper's cannot be this one
