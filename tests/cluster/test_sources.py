import numpy as np
import pytest
from sklearn.datasets import load_digits

from touchstone.core.cluster.finders import SOURCE_FINDERS, find_sources
from touchstone.core.data.errors import DataError
from touchstone.core.testing.finders import blobs

CLUSTERINGS = [name for name, finder in SOURCE_FINDERS.items() if not finder.trains]


@pytest.mark.parametrize("method", CLUSTERINGS)
def test_another_seed_finds_other_sources(method):
    digits = load_digits()
    features, y = digits.data / 16, digits.target

    def found(seed):
        return find_sources(features, y, method=method, rng=np.random.default_rng(seed))

    assert (found(0) != found(1)).any()


def test_codes_need_not_be_without_gaps():
    features, y, _ = blobs(2, 2)
    found = find_sources(features, y * 7 + 2, n_sources=2, rng=np.random.default_rng(0))
    assert np.unique(found[y == 0]).tolist() == [0, 1]
    assert np.unique(found[y == 1]).tolist() == [2, 3]


def test_classes_that_are_too_small_are_refused_by_name_all_at_once():
    features = np.arange(12.0)[:, None]
    y = np.repeat([0, 1, 2], [5, 4, 3])
    with pytest.raises(DataError, match=r"Too few in: bee \(4\), cat \(3\)"):
        find_sources(features, y, rng=np.random.default_rng(0), class_names=["ant", "bee", "cat"])
    with pytest.raises(DataError, match=r"Too few in: 1 \(4\), 2 \(3\)"):
        find_sources(features, y, rng=np.random.default_rng(0))
    assert len(find_sources(features, y, n_sources=3, rng=np.random.default_rng(0))) == 12


def test_copies_of_a_sample_do_not_make_a_class_larger():
    features = np.array([[0.0], [1.0], [2.0], [3.0], [-0.0], [0.0], [0.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    with pytest.raises(DataError, match=r"Too few in: bee \(1\)"):
        find_sources(features, y, n_sources=2, rng=np.random.default_rng(0), class_names=["ant", "bee"])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_samples_that_a_computer_cannot_tell_apart_are_refused():
    features = np.array([[1.0], [1.0 + 1e-16], [1.0 + 3e-16], [1.0 + 5e-16], [1.0 + 9e-16]]) * 1e-170
    with pytest.raises(DataError, match="class bee: its samples make 1 cluster this way"):
        find_sources(features, np.ones(5, int), n_sources=4, rng=np.random.default_rng(0), class_names=["ant", "bee"])


def test_what_was_asked_for_is_checked():
    features, y, _ = blobs(2, 2)
    with pytest.raises(DataError, match="2 sources or more, not 1"):
        find_sources(features, y, n_sources=1, rng=np.random.default_rng(0))
    with pytest.raises(DataError, match=r"called 'magic'; there are: kmeans"):
        find_sources(features, y, method="magic", rng=np.random.default_rng(0))
