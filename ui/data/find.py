"""Which samples does somebody mean? Those with one of the ids, classes, sources or words that are written down."""

from typing import NamedTuple

import numpy as np

from touchstone.core.data import Dataset


class Search(NamedTuple):
    """Positions of the samples that were found, rising, and what of the wanted was found nowhere."""

    rows: np.ndarray
    missing: tuple[str, ...]


def find_samples(dataset: Dataset, wanted: str) -> Search:
    """Samples by id, class or source, each as a whole, and texts that contain a word; wanted are separated by commas.

    Capitals do not matter.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> found = find_samples(load_example("wine"), "class_0, 100, 999")
    >>> len(found.rows), found.missing
    (60, ('999',))
    """
    names = [name for part in wanted.split(",") if (name := part.strip().casefold())]
    if not names:
        return Search(np.empty(0, dtype=np.int64), ())
    keys = [_folded(dataset.ids), _folded(np.array(dataset.class_names, dtype=object))[dataset.y]]
    keys += [] if dataset.sources is None else [_folded(dataset.sources)]
    texts = _folded(dataset.x) if dataset.kind == "text" else None
    matches, missing = np.zeros(dataset.n_samples, dtype=bool), []
    for name in names:
        hits = np.any([key == name for key in keys], axis=0)
        if texts is not None:
            hits |= np.fromiter((name in text for text in texts), dtype=bool, count=len(texts))
        matches |= hits
        missing += [] if hits.any() else [name]
    return Search(np.flatnonzero(matches), tuple(missing))


def _folded(values: np.ndarray) -> np.ndarray:
    return np.array([str(value).casefold() for value in values], dtype=object)
