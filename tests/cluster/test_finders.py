"""What every source finder promises; those that train, on data small enough to train in a moment."""

from dataclasses import dataclass

import numpy as np
import pytest

from touchstone.core.cluster import finders
from touchstone.core.cluster.finders import (
    SOURCE_FINDERS,
    SourceFinder,
    check_finder,
    find_sources,
    train_for_sources,
)
from touchstone.core.cluster.sources import by_estimator
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.models.networks import Cnn2
from touchstone.core.testing import LAWS
from touchstone.core.testing.finders import blobs, finder_finds_the_same_for_the_same_seed


@dataclass
class OneEpoch(Cnn2):
    n_epochs: int = 1


@pytest.fixture
def images(monkeypatch) -> Dataset:
    """Zeros, ones and twos, for which every finder trains for one epoch."""
    monkeypatch.setattr(finders, "Cnn2", OneEpoch)
    digits = load_example("digits")
    rows = np.flatnonzero(digits.y < 3)[:150]
    return Dataset("few", "image", digits.x[rows], digits.y[rows], ("0", "1", "2"), digits.ids[rows])


@pytest.mark.parametrize("name", SOURCE_FINDERS)
@pytest.mark.parametrize("law", LAWS[SOURCE_FINDERS.group], ids=lambda law: law.__name__)
def test_a_finder_keeps_every_law(law, name, images):
    if name != "acol" or law is not finder_finds_the_same_for_the_same_seed:  # which takes minutes: see test_acol.py
        law(name, SOURCE_FINDERS[name])


CLUSTERERS = {
    "ward": by_estimator("sklearn.cluster:AgglomerativeClustering"),
    "bisecting_kmeans": by_estimator("sklearn.cluster:BisectingKMeans"),
    "birch": by_estimator("sklearn.cluster:Birch"),
}


@pytest.mark.parametrize("name", CLUSTERERS)
@pytest.mark.parametrize("law", LAWS[SOURCE_FINDERS.group], ids=lambda law: law.__name__)
def test_a_clusterer_of_scikit_learn_is_a_finder_by_one_entry(law, name, monkeypatch):
    monkeypatch.setitem(SOURCE_FINDERS, name, SourceFinder(name, cluster=CLUSTERERS[name]))
    law(name, SOURCE_FINDERS[name])


def test_a_clusterer_without_a_number_is_refused_where_it_finds_another_one(monkeypatch):
    dense = by_estimator("sklearn.cluster:HDBSCAN", number=None, min_cluster_size=4, copy=True)
    monkeypatch.setitem(SOURCE_FINDERS, "dense", SourceFinder("dense", cluster=dense))
    features, y, source = blobs(2, 3, n_each=20)
    given = {"method": "dense", "rng": np.random.default_rng(0), "class_names": ("ant", "bee")}
    found = find_sources(features, y, n_sources=3, **given)
    assert len({*zip(source.tolist(), found.tolist(), strict=True)}) == 6
    with pytest.raises(DataError, match="5 sources cannot be found in class ant: its samples make 3 clusters this way"):
        find_sources(features, y, n_sources=5, **given)


def test_noise_joins_the_nearest_cluster_and_nothing_but_noise_is_no_cluster():
    dense = by_estimator("sklearn.cluster:DBSCAN", number=None, eps=1.0, min_samples=2)
    features = np.array([[0.0], [0.5], [9.0], [9.5], [6.0], [-4.0]])
    assert dense(features, 2, np.random.default_rng(0)).tolist() == [0, 0, 1, 1, 1, 0]
    assert set(dense(10 * features, 2, np.random.default_rng(0)).tolist()) == {0}


def test_a_finder_either_clusters_or_trains():
    with pytest.raises(TypeError, match="either clusters features or trains"):
        SourceFinder("neither")
    assert all(isinstance(finder, SourceFinder) for finder in SOURCE_FINDERS.values())
    assert "experimental" in SOURCE_FINDERS["acol"].title


@pytest.mark.parametrize("name", ["deep_kmeans"])
def test_ids_are_unique_over_classes_numbered_class_by_class_and_all_used(name, images):
    found = train_for_sources(name, images, n_sources=3, seed=4)
    assert np.unique(found.sources).tolist() == list(range(9))
    np.testing.assert_array_equal(found.sources // 3, images.y)
    assert found.options
    assert found.note == ""


def test_deep_kmeans_cannot_collapse_and_is_no_kmeans_on_pixels(images):
    found = train_for_sources("deep_kmeans", images, n_sources=5, seed=0).sources
    for label in range(3):
        sizes = np.bincount(found[images.y == label] - 5 * label)
        assert sizes.max() - sizes.min() <= 1
    pixels = images.x.reshape(len(images.x), -1).astype(float)
    same = find_sources(pixels, images.y, method="same_size_kmeans", rng=np.random.default_rng(0))
    assert (found != same).any()


def test_the_same_seed_finds_the_same_sources_and_another_seed_others(images):
    first, same, other = (train_for_sources("deep_kmeans", images, n_sources=2, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.sources, same.sources)
    assert (first.sources != other.sources).any()


def test_tables_and_texts_have_a_network_of_their_own_which_tells_of_its_epochs():
    wine, steps = load_example("wine"), []
    found = train_for_sources("deep_kmeans", wine, n_sources=2, on_step=lambda *step: steps.append(step))
    assert found.options == "Small neural network, 30 epochs"
    assert steps == [(epoch, 30) for epoch in range(1, 31)]


def test_a_finder_that_does_not_fit_the_data_is_refused_before_anything_is_trained():
    wine = load_example("wine")
    with pytest.raises(
        DataError, match=r"ACOL \(experimental\) needs images of at least 4 x 4 pixels, and wine is tab"
    ):
        check_finder("acol", wine)
    with pytest.raises(DataError, match="needs images"):
        train_for_sources("acol", wine)
    with pytest.raises(DataError, match="nothing is trained"):
        train_for_sources("kmeans", wine)
    tiny = Dataset("tiny", "image", np.zeros((4, 3, 3, 1)), [0, 0, 1, 1], ("a", "b"), "wxyz")
    with pytest.raises(DataError, match="tiny is image data of 3 x 3 pixels"):
        check_finder("acol", tiny)


def test_a_class_with_too_few_samples_is_named():
    few = Dataset("few", "tabular", np.arange(8.0)[:, None], [0] * 6 + [1] * 2, ("many", "few"), "stuvwxyz")
    with pytest.raises(DataError, match=r"Too few in: few \(2\)"):
        train_for_sources("deep_kmeans", few, n_sources=3)
