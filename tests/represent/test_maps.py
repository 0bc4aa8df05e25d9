"""Maps: equal seeds give equal maps, neighbours stay neighbours, and small or flat data are normal cases."""

import numpy as np
import pytest

from touchstone.core.data import DataError, load_example
from touchstone.core.represent import features_for_splits
from touchstone.core.represent.representations import pca_map, umap_map, usable_neighbours


def blobs(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    group = np.arange(n) % 3
    return rng.normal(size=(n, 6)) + 20 * np.eye(6)[group], group


def same_group_nearest(place: np.ndarray, group: np.ndarray) -> float:
    distances = np.linalg.norm(place[:, None] - place[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return float((group[distances.argmin(axis=1)] == group).mean())


def test_the_pca_map_is_the_first_two_components():
    wine = load_example("wine")
    features = features_for_splits(wine, "raw", n_components=None)
    np.testing.assert_allclose(pca_map(features), features_for_splits(wine, "raw", n_components=2))


@pytest.mark.parametrize("features", [np.zeros((5, 3)), np.ones((2, 1)), np.arange(4.0)[:, None]])
def test_missing_directions_are_zeros(features):
    place = pca_map(features)
    assert place.shape == (len(features), 2)
    assert (place[:, 1] == 0).all()


def test_neighbours_stay_neighbours():
    features, group = blobs()
    assert same_group_nearest(umap_map(features), group) == 1


def test_equal_seeds_give_equal_maps_and_others_differ():
    features, _ = blobs()
    first = umap_map(features, seed=3)
    assert first.tobytes() == umap_map(features, seed=3).tobytes()
    assert not np.array_equal(first, umap_map(features, seed=4))


def test_input_is_left_as_it_was():
    features, _ = blobs()
    before = features.copy()
    umap_map(features)
    np.testing.assert_array_equal(features, before)


@pytest.mark.parametrize(
    "features",
    [
        np.random.default_rng(0).normal(size=(4, 2)),
        np.random.default_rng(0).normal(size=(9, 1)),
        np.zeros((8, 3)),
        np.repeat(np.eye(3), 5, axis=0),
    ],
    ids=["four samples", "one direction", "all alike", "duplicates"],
)
def test_small_and_flat_data_get_a_map_without_a_warning(features):
    place = umap_map(features)
    assert place.shape == (len(features), 2)
    assert np.isfinite(place).all()


def test_neighbours_are_cut_to_those_there_are():
    features, _ = blobs(12)
    assert usable_neighbours(200, 12) == 11
    np.testing.assert_array_equal(umap_map(features, n_neighbors=200), umap_map(features, n_neighbors=11))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n_neighbors": 1}, "at least 2"), ({"min_dist": 1.5}, "between 0 and 1"), ({"min_dist": -0.1}, "between 0")],
)
def test_parameters_out_of_range_are_refused(options, words):
    with pytest.raises(DataError, match=words):
        umap_map(blobs()[0], **options)
