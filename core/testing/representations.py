"""What does a representation promise?"""

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent.representations import Representation
from touchstone.core.testing.models import KINDS


def toy_dataset(kind: str, *, vectors: bool = True, flipped: bool = False) -> Dataset:
    """Twenty samples of two classes, or the same with the other labels; perhaps with vectors of their own.

    Examples
    --------
    >>> toy_dataset("image").x.shape
    (20, 4, 4, 1)
    """
    rng = np.random.default_rng(0)
    x = {
        "image": rng.random((20, 4, 4, 1)).astype(np.float32),
        "tabular": rng.normal(size=(20, 3)) * [1, 100, 0.01],
        "text": np.array([" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(20)], dtype=object),
    }[kind]
    y = np.tile([0, 1], 10)
    data = Dataset("toy", kind, x, 1 - y if flipped else y, ("ant", "bee"), [str(row) for row in range(20)])
    return data.with_vectors(rng.normal(size=(20, 2)), "mine") if vectors else data


def _encoded(entry: Representation, data: Dataset) -> np.ndarray:
    with single_threaded():
        return np.asarray(entry.encode(data))


def representation_gives_a_vector_per_sample(name: str, entry: Representation) -> None:
    """One finite vector per sample, always the same ones, and not the same for all."""
    assert entry.kinds, "it fits no kind of data"
    for kind in entry.kinds:
        assert kind in KINDS, f"there is no kind {kind!r}; there are {', '.join(KINDS)}"
        features = _encoded(entry, toy_dataset(kind))
        assert features.ndim == 2, f"features have {features.ndim} dimensions, not 2"
        assert features.shape[0] == 20, f"20 samples have {features.shape[0]} vectors"
        assert np.isfinite(features).all(), "a feature is missing or infinite"
        assert np.ptp(features, axis=0).any(), "features tell nothing apart"
        again = _encoded(entry, toy_dataset(kind))
        np.testing.assert_array_equal(features, again, err_msg="the same samples have other features")


def representation_says_whether_it_saw_labels(name: str, entry: Representation) -> None:
    """Labels play a part exactly where `label_informed` and the title say so."""
    for kind in entry.kinds:
        same = np.array_equal(_encoded(entry, toy_dataset(kind)), _encoded(entry, toy_dataset(kind, flipped=True)))
        assert same != entry.label_informed, "labels play a part, or not, and `label_informed` says otherwise"
    assert ("label-informed" in entry.title) == entry.label_informed, "the title says “label-informed”, or should"


LAWS = (
    representation_gives_a_vector_per_sample,
    representation_says_whether_it_saw_labels,
)
"""What is asked of an entry."""
