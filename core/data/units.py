"""What was sampled independently, where nobody names it? Persons, ten sources or more, or contents that are copied.

Whoever reads data asks here once; the answer is kept with the data, so that nothing that was stored changes.
"""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.tables.names import sources_are_units

CONTENT = "content"
"""What a unit is called that copies share."""


def with_usual_units(dataset: Dataset, source_name: str | None = None, *, vectors: bool = False) -> Dataset:
    """The data with the units that they have by themselves, or as they are where these are named, or none are there.

    Known sources are units from ten on, or where `source_name` says that they are persons or documents. Else exact
    copies of pictures, texts and vectors share a unit; rows of a table may be alike by chance, unless they are
    `vectors`, such as embeddings.

    >>> from touchstone.core.data import Dataset
    >>> texts = Dataset("animals", "text", ["a fox", "a dog", "a fox"], [0, 1, 0], ("fox", "dog"), list("abc"))
    >>> with_usual_units(texts).unit_codes, with_usual_units(texts).notes
    (array([0, 1, 0]), ('Units: exact copies share one; 2 different contents in 3 samples.',))
    """
    if dataset.units is not None:
        return dataset
    n_sources = 0 if dataset.sources is None else len(set(dataset.sources))
    if sources_are_units(n_sources, source_name or ""):
        if n_sources == dataset.n_samples:
            return dataset
        note = f"the sources, {n_sources:,} in {dataset.n_samples:,} samples."
        return _as_read(dataset, dataset.sources, source_name or "source", note)
    first = duplicate_groups(dataset) if vectors or dataset.kind != "tabular" else None
    n_contents = dataset.n_samples if first is None else len(np.unique(first))
    if n_contents == dataset.n_samples:
        return dataset
    note = f"exact copies share one; {n_contents:,} different contents in {dataset.n_samples:,} samples."
    return _as_read(dataset, dataset.ids[first], CONTENT, note)


def _as_read(dataset: Dataset, units: np.ndarray, name: str, note: str) -> Dataset:
    """The data with units that whoever reads the same file finds again."""
    return replace(dataset.with_units(units, name, note=note), read_as=dataset.read_as)


def with_copies_together(dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"]) -> Dataset:
    """The data with one unit for samples that are exact copies, or in one of the pairs, or so by way of others.

    For rows of a table that somebody knows to be copies, and for near copies.

    >>> from touchstone.core.data import Dataset
    >>> sizes = Dataset("sizes", "tabular", [[1.0], [1.0], [1.01], [7.0]], [0, 0, 0, 1], ("s", "m"), None)
    >>> with_copies_together(sizes, np.array([[0, 2]])).unit_codes
    array([0, 0, 0, 1])
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = dataset.n_samples
    edges = np.vstack([np.column_stack([np.arange(n), duplicate_groups(dataset)]), pairs])
    component = connected_components(coo_matrix((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False)[1]
    first = np.unique(component, return_index=True)[1]
    near = "copies and near copies" if len(pairs) else "exact copies"
    note = f"{near} share one; {len(first):,} different contents in {n:,} samples."
    return dataset.with_units(dataset.ids[first[component]], CONTENT, note=note)


def duplicate_groups(dataset: Dataset) -> Integer[np.ndarray, " n_samples"]:
    """Give for every row the position of the first row with the very same content (its own, where it is the first).

    Content is the input alone: ids, labels and sources do not count. Texts differ by a single space, numbers by a
    single bit (0 and −0 are alike).

    Examples
    --------
    >>> from touchstone.core.data import Dataset
    >>> texts = ["a fox", "a dog", "a fox", "a  fox"]
    >>> duplicate_groups(Dataset("animals", "text", texts, [0, 1, 1, 0], ("fox", "dog"), list("abcd")))
    array([0, 1, 0, 3])
    """
    if dataset.kind == "text":
        contents = (text.encode("utf-8", "surrogatepass") for text in dataset.x)
    else:
        contents = ((row + 0.0).tobytes() for row in dataset.x)  # adding 0 turns −0 into 0
    first: dict[bytes, int] = {}
    digests = (blake2b(content, digest_size=16).digest() for content in contents)
    return np.array([first.setdefault(digest, row) for row, digest in enumerate(digests)], dtype=np.int64)
