"""What does a source finder promise? One clusters the features of a class, or trains a network on a whole data set."""

import numpy as np

from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import cluster_classes
from touchstone.core.data import Dataset
from touchstone.core.models import Cancelled
from touchstone.core.testing.models import KINDS, easy_inputs


def blobs(n_classes: int, n_sources: int, *, n_each: int = 12, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Features, classes and sources that stand well apart, in random row order.

    Examples
    --------
    >>> features, y, source = blobs(2, 3)
    >>> features.shape, len(set(source.tolist()))
    ((72, 6), 6)
    """
    rng = np.random.default_rng(seed)
    source = rng.permutation(np.repeat(np.arange(n_classes * n_sources), n_each))
    centres = rng.uniform(-10, 10, size=(n_classes * n_sources, 6))
    return centres[source] + rng.normal(scale=0.05, size=(len(source), 6)), source // n_sources, source


def finder_has_its_own_title_and_a_way_to_work(name: str, finder: SourceFinder) -> None:
    """It clusters or trains, and each of its names is its own."""
    assert (finder.cluster is None) == finder.trains
    for word in ("title", "short", "in_sentences"):
        names = [getattr(other, word) for other in SOURCE_FINDERS.values()]
        assert names.count(getattr(finder, word)) == 1, f"another finder has the same `{word}`"
        assert getattr(finder, word).strip()
    assert finder.version >= 1


def finder_numbers_sources_class_by_class(name: str, finder: SourceFinder) -> None:
    """Ids are unique over classes, numbered class by class, and all used."""
    if finder.cluster is None:
        return
    for seed in range(12):
        n_classes, n_sources = 1 + seed % 4, 2 + seed % 3
        features, y, _ = blobs(n_classes, n_sources, n_each=6, seed=seed)
        rng = np.random.default_rng(seed)
        found = cluster_classes(features, y, finder.cluster, n_sources=n_sources, rng=rng)
        used = np.unique(found).tolist()
        assert used == list(range(n_classes * n_sources)), f"clusters of a class are 0 to {n_sources - 1}; not {used}"
        np.testing.assert_array_equal(found // n_sources, y, err_msg="a source belongs to two classes")


def finder_finds_what_stands_apart(name: str, finder: SourceFinder) -> None:
    """Sources that nobody could miss are found."""
    if finder.cluster is None:
        return
    features, y, source = blobs(3, 2)
    found = cluster_classes(features, y, finder.cluster, n_sources=2, rng=np.random.default_rng(1))
    pairs = len({*zip(source.tolist(), found.tolist(), strict=True)})
    assert pairs == 6, "sources that stand well apart are mixed"


def finder_finds_the_same_for_the_same_seed(name: str, finder: SourceFinder) -> None:
    """What is drawn at random comes from `rng`, or the seed, alone."""
    if finder.cluster is not None:
        features, y, _ = blobs(2, 3, seed=5)
        features = features + np.random.default_rng(0).normal(scale=5, size=features.shape)
        first, again = (
            cluster_classes(features, y, finder.cluster, n_sources=3, rng=np.random.default_rng(4)) for _ in range(2)
        )
        np.testing.assert_array_equal(first, again, err_msg="the same seed finds other sources")
        return
    assert finder.train is not None
    data = _trained_on(finder)
    first, again = (finder.train(data, n_sources=2, seed=1).sources for _ in range(2))
    np.testing.assert_array_equal(first, again, err_msg="the same seed finds other sources")
    for source in np.unique(first):
        assert len(np.unique(data.y[first == source])) == 1, "a source belongs to two classes"


def finder_that_trains_stops_when_asked_to(name: str, finder: SourceFinder) -> None:
    """It raises Cancelled where `should_stop()` is true."""
    if finder.train is None:
        return
    try:
        finder.train(_trained_on(finder), n_sources=2, should_stop=lambda: True)
    except Cancelled:
        return
    raise AssertionError("it goes on though `should_stop()` is true")


def _trained_on(finder: SourceFinder) -> Dataset:
    """Small data that a finder takes."""
    y = np.tile([0, 1], 30)
    ids = [str(row) for row in range(60)]
    sets = (Dataset("toy", kind, easy_inputs(kind, y), y, ("ant", "bee"), ids) for kind in reversed(KINDS))
    data = next(filter(finder.fits, sets), None)
    assert data is not None, "it fits no small data of any kind"
    return data


LAWS = (
    finder_has_its_own_title_and_a_way_to_work,
    finder_numbers_sources_class_by_class,
    finder_finds_what_stands_apart,
    finder_finds_the_same_for_the_same_seed,
    finder_that_trains_stops_when_asked_to,
)
"""What is asked of an entry."""
