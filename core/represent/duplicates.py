"""Which samples are there twice? Exactly the same content, or features that point almost the same way.

Copies on both sides of a split flatter every accuracy, and copies with different labels say that a label is wrong.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from jaxtyping import Float, Integer, Shaped

from core.data import Dataset
from core.data.errors import DataError
from core.models.threads import single_threaded
from core.represent.tokens import tokens

_BLOCK = 2048  # rows compared at a time: a block of similarities takes 16 MB, whatever the number of samples


def duplicate_groups(dataset: Dataset) -> Integer[np.ndarray, " n_samples"]:
    """Give for every row the position of the first row with the very same content (its own, where it is the first).

    Content is the input alone: ids, labels and sources do not count. Texts differ by a single space, numbers by a
    single bit (0 and −0 are alike).

    Examples
    --------
    >>> from core.data import Dataset
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


def near_duplicate_pairs(
    features: Float[np.ndarray, "n_samples n_features"],
    *,
    similarity: float = 0.95,
    most: int = 100_000,
    on_step: Callable[[], object] = lambda: None,
) -> Integer[np.ndarray, "n_pairs 2"]:
    """Pairs of rows whose features have a cosine of `similarity` or more, the most similar first.

    Every pair is compared, in blocks: memory does not grow with the square of the rows, time does (some seconds for
    60,000 rows of 50 features). Where more than `most` pairs qualify, the most similar ones are kept, ties by position.
    The first of a pair stands earlier in the data. A row without any feature (all zero) is near to nothing. Features
    should be centred, else everything points the same way. `on_step` is called ``n_steps`` times on the way.

    Raises DataError for a similarity outside (0, 1].

    Examples
    --------
    >>> features = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.01], [0.0, 0.0]])
    >>> near_duplicate_pairs(features).tolist()
    [[0, 2]]
    """
    _check(similarity)
    directions = _directions(features)
    pairs = np.empty((0, 2), dtype=np.int64)
    cosines = np.empty(0, dtype=np.float32)
    least = np.float32(similarity) - _ROUNDING
    for start in range(0, len(directions), _BLOCK):
        for other in range(start, len(directions), _BLOCK):
            block = directions[start : start + _BLOCK] @ directions[other : other + _BLOCK].T
            rows, columns = np.nonzero(block >= least)
            if other == start:
                rows, columns = rows[rows < columns], columns[rows < columns]
            found = np.column_stack([rows + start, columns + other])
            pairs, cosines = np.concatenate([pairs, found]), np.concatenate([cosines, block[rows, columns]])
            if len(pairs) > 2 * most:
                pairs, cosines = _most_similar(pairs, cosines, most)
                least = cosines[-1]
            on_step()
    return _most_similar(pairs, cosines, most)[0]


def n_steps(n_samples: int) -> int:
    """How many blocks ``near_duplicate_pairs`` compares.

    Examples
    --------
    >>> n_steps(2048), n_steps(60_000)
    (1, 465)
    """
    n_blocks = -(-n_samples // _BLOCK)
    return n_blocks * (n_blocks + 1) // 2


def near_duplicate_texts(
    texts: Shaped[np.ndarray, " n_samples"], *, similarity: float = 0.95, most: int = 100_000
) -> tuple[Integer[np.ndarray, "n_pairs 2"], Float[np.ndarray, " n_pairs"]]:
    """Pairs of texts whose word weights (TF-IDF) have a cosine of `similarity` or more, most similar first, and these.

    Word by word, not in the condensed space of an SVD, where short texts of rare words all point the same way. Only
    pairs that share a rare word are compared, and no other pair can qualify: the common words that are left aside
    weigh too little (the prefix filter of Bayardo, Ma & Srikant 2007). A text without words is near to nothing.

    Raises DataError for a similarity outside (0, 1].

    Examples
    --------
    >>> texts = np.array(["a fine film", "A fine film!", "a dull film", "..."], dtype=object)
    >>> near_duplicate_texts(texts)
    (array([[0, 1]]), array([1.]))
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    _check(similarity)
    if not any(tokens(text) for text in texts):
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    with single_threaded():
        weights = TfidfVectorizer(analyzer=tokens).fit_transform(texts).tocsr()
    rare = _rare_words(weights, similarity)
    pairs, cosines = np.empty((0, 2), dtype=np.int64), np.empty(0)
    least = similarity - float(_ROUNDING)
    for start in range(0, len(texts), _TEXTS):
        candidates = (rare[start : start + _TEXTS] @ weights.T).tocoo()
        one, other = candidates.row + np.int64(start), candidates.col.astype(np.int64)
        # the filter works from either side, so that each pair is met from its first text
        one, other = one[one < other], other[one < other]
        found = np.asarray(weights[one].multiply(weights[other]).sum(axis=1)).ravel()
        near = found >= least
        pairs = np.concatenate([pairs, np.column_stack([one[near], other[near]])])
        cosines = np.concatenate([cosines, found[near]])
        if len(pairs) > 2 * most:
            pairs, cosines = _most_similar(pairs, cosines, most)
            least = float(cosines[-1])
    pairs, cosines = _most_similar(pairs, cosines, most)
    return pairs, np.minimum(cosines, 1.0)


def _rare_words(weights: Any, similarity: float) -> Any:
    """The same weights without each text's most common words, as many as together are shorter than `similarity`."""
    frequency = np.bincount(weights.indices, minlength=weights.shape[1])
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    order = np.lexsort((weights.indices, -frequency[weights.indices], rows))  # within a text, the commonest first
    squares = weights.data[order] ** 2
    sums = np.cumsum(squares)
    before = np.concatenate([[0.0], sums])[weights.indptr[:-1]]
    aside = sums - np.repeat(before, np.diff(weights.indptr)) < (similarity - 1e-4) ** 2
    kept = weights.copy()
    kept.data[order[aside]] = 0.0
    kept.eliminate_zeros()
    return kept


_TEXTS = 512  # texts compared at a time
_ROUNDING = np.float32(2e-6)  # of a cosine in single precision, so that copies pass a similarity of 1


def similarities(
    features: Float[np.ndarray, "n_samples n_features"], pairs: Integer[np.ndarray, "n_pairs 2"]
) -> Float[np.ndarray, " n_pairs"]:
    """The cosine of the features of each pair, at most 1.

    Examples
    --------
    >>> similarities(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0, 1]])).round(3)
    array([0.707])
    """
    one, other = (_directions(features[pairs[:, side]]).astype(np.float64) for side in (0, 1))
    return np.minimum(np.einsum("ij,ij->i", one, other), 1.0)


def _check(similarity: float) -> None:
    if not 0 < similarity <= 1:
        raise DataError(f"Near duplicates were asked for with a similarity of {similarity:g}. It must lie in (0, 1].")


def _directions(features: np.ndarray) -> np.ndarray:
    """Rows of length 1 in single precision; those of length 0 stay."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.divide(features, lengths, out=np.zeros(features.shape), where=lengths > 0).astype(np.float32)


def _most_similar(pairs: np.ndarray, cosines: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -cosines))[:most]
    return pairs[order], cosines[order]
