"""How many samples of each label belong in each cluster? (Wecker et al. 2020, section 3.3)

The paper asks for the same label distribution in every fold; whole samples allow it only up to rounding.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.values import Codes

Counts = Integer[np.ndarray, " n_labels"]
Quotas = Integer[np.ndarray, "n_labels n_clusters"]
_MOST_DRAWS = 1000


def spread_quotas(n_per_label: Counts, n_clusters: int, *, rng: np.random.Generator | None = None) -> Quotas:
    """Spread every label evenly: each cell is rounded down or up, and the sizes of the clusters differ by at most 1.

    What is left over after rounding down is dealt around the clusters like cards, label after label, and nobody is
    dealt to twice before everyone was dealt to once. `rng` shuffles labels and clusters, so that the extras do not
    always go to the same ones.

    Examples
    --------
    >>> spread_quotas(np.array([5, 3, 1]), 3)
    array([[2, 2, 1],
           [1, 1, 1],
           [0, 0, 1]])
    """
    labels, clusters = np.arange(len(n_per_label)), np.arange(n_clusters)
    if rng is not None:
        labels, clusters = rng.permutation(labels), rng.permutation(clusters)
    quotas = np.repeat(n_per_label.astype(np.int64)[:, None] // n_clusters, n_clusters, axis=1)
    left_over = n_per_label[labels] % n_clusters
    cards = np.arange(left_over.sum())
    quotas[np.repeat(labels, left_over), clusters[cards % n_clusters]] += 1
    return quotas


def weighted_quotas(
    n_per_label: Counts, weights: Mapping[int, Sequence[float]], n_clusters: int, *, rng: np.random.Generator
) -> Quotas:
    """Share each label out in proportion to its weights (by its position); labels without any are spread evenly.

    Each cell is rounded down or up, at random; weights that are counts and sum to the label's samples are met exactly.
    Shares of less than a sample can be rounded down in every label: where that leaves a cluster empty, they are drawn
    again.

    Examples
    --------
    >>> weighted_quotas(np.array([6, 4]), {1: (3.0, 1.0)}, 2, rng=np.random.default_rng(0))
    array([[3, 3],
           [3, 1]])
    """
    order = np.arange(n_clusters)
    for _ in range(_MOST_DRAWS):
        quotas = spread_quotas(n_per_label, n_clusters, rng=rng)
        for label, of_label in weights.items():
            shares = np.array(of_label, dtype=np.float64)[order]
            quotas[label, order] = share_out(shares, int(n_per_label[label]), rng=rng)
        if quotas.any(axis=0).all():
            break
        order = rng.permutation(n_clusters)  # in one order not every rounding comes up
    return quotas


def checked_quotas(
    quotas: object, n_per_label: Counts, n_clusters: int, *, names: Sequence[object] | None = None
) -> Quotas:
    """Take a user's matrix of wanted counts, one row per label in sorted order, if it can be met exactly.

    `names` only serve to name a label in an error; without them there is a single label, "the samples".

    Raises
    ------
    DataError
        Where shape, sign or sums are wrong; the label is named.

    Examples
    --------
    >>> checked_quotas([[1, 4], [2, 1]], np.array([5, 4]), 2, names=["ham", "spam"])
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: quotas ask for 3 samples of label 'spam', but it has 4. Its row must sum ...
    """
    try:
        wanted = np.asarray(quotas)
    except ValueError as error:  # rows of different lengths
        raise DataError(f"quotas must be a table of counts, with {n_clusters} in every row.") from error
    if names is None and wanted.ndim == 1:
        wanted = wanted[None]
    shape = (len(n_per_label), n_clusters)
    if wanted.shape != shape:
        rows = f"{n_clusters} sizes" if names is None else "one row per label (sorted), one column per cluster"
        raise DataError(f"quotas have the shape {wanted.shape}, not {shape}: give {rows}.")
    if wanted.dtype.kind not in "iuf" or not (np.isfinite(wanted) & (wanted == np.floor(wanted)) & (wanted >= 0)).all():
        raise DataError("quotas must be whole numbers, 0 or more: how many samples of each label each cluster gets.")
    for row, n in enumerate(n_per_label.tolist()):
        if (asked := int(wanted[row].sum())) != n:
            label = "" if names is None else f" of label {names[row]!r}"
            raise DataError(
                f"quotas ask for {asked} samples{label}, but {'there are' if names is None else 'it has'} {n}. "
                f"{'They' if names is None else 'Its row'} must sum to {n}."
            )
    empty = np.flatnonzero(wanted.sum(axis=0) == 0)
    if len(empty):
        raise DataError(f"quotas leave cluster {empty[0]} without any sample. Give it some, or ask for fewer clusters.")
    return wanted.astype(np.int64)


def share_out(weights: Float[np.ndarray, " n"], n: int, *, rng: np.random.Generator) -> Integer[np.ndarray, " n"]:
    """Share `n` out in proportion to `weights`: each part is rounded down or up, at random, and the sum is exact.

    Examples
    --------
    >>> share_out(np.array([2.0, 2.0, 4.0]), 4, rng=np.random.default_rng(0))
    array([1, 1, 2])
    """
    ends = np.cumsum(weights) * (n / weights.sum())
    ends[-1] = n
    return np.diff(np.floor(ends + rng.random()), prepend=0.0).astype(np.int64)


def label_codes(y: Shaped[np.ndarray, " n_samples"]) -> tuple[list[object], Codes, Counts]:
    """Give the sorted labels, the position of each sample's label among them, and how often each occurs.

    Raises
    ------
    DataError
        Where a label is missing, or labels are of kinds that have no common order.

    Examples
    --------
    >>> label_codes(np.array(["b", "a", "b"]))
    (['a', 'b'], array([1, 0, 1]), array([1, 2]))
    """
    missing = np.flatnonzero(pd.isna(y))
    if len(missing):
        raise DataError(f"y has no label in row {missing[0]} ({len(missing)} in all). Give it one, or leave it out.")
    try:
        labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise DataError(f"The labels in y cannot be sorted ({error}). Make them all text, or all numbers.") from error
    return labels.tolist(), codes, counts


def first_of_each(counts: Counts) -> Integer[np.ndarray, " n_ends"]:
    """Give the position of the first row of each label, and the number of rows, where rows are sorted by label.

    Examples
    --------
    >>> first_of_each(np.array([3, 1]))
    array([0, 3, 4])
    """
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
