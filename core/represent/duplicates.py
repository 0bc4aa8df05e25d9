"""Which samples are there twice? Exactly the same content, or features that point almost the same way.

Copies on both sides of a split flatter every accuracy, and copies with different labels say that a label is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent.word_vectors import tokenize

Features = Float[np.ndarray, "n_samples n_features"]
Pairs = Integer[np.ndarray, "n_pairs 2"]
Cosines = Float[np.ndarray, " n_pairs"]
ROUNDING = np.float32(2e-6)
"""Of a cosine in single precision: so that copies pass a similarity of 1."""
_BLOCK = 2048  # rows compared at a time: a block of similarities takes 16 MB, whatever the number of samples


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Which samples are there twice, or nearly so.

    `first` is what ``duplicate_groups`` gives, and `pairs` are nearly equal samples among the first ones of every
    content: so that many copies of one content take no room. `full` says that there are more such pairs than were kept.
    """

    first: Integer[np.ndarray, " n_samples"]
    pairs: Pairs
    full: bool

    def n_across(self, part: Bool[np.ndarray, " n_samples"]) -> int:
        """How many pairs of equal or nearly equal samples have one in the part and one outside; all copies count.

        Examples
        --------
        >>> near = NearDuplicates(np.array([0, 0, 2, 0]), np.array([[0, 2]]), full=False)
        >>> near.n_across(np.array([True, False, False, False]))
        3
        """
        inside, outside = (np.bincount(self.first[side], minlength=len(part)) for side in (part, ~part))
        first, other = self.pairs.T
        return int(inside @ outside + inside[first] @ outside[other] + outside[first] @ inside[other])


def near_duplicate_pairs(
    features: Features, *, similarity: float = 0.95, most: int = 100_000, on_step: Callable[[], object] = lambda: None
) -> Pairs:
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
    check_similarity(similarity)
    directions = _directions(features)
    pairs = np.empty((0, 2), dtype=np.int64)
    cosines = np.empty(0, dtype=np.float32)
    least = np.float32(similarity) - ROUNDING
    starts = range(0, len(directions), _BLOCK)
    with single_threaded():
        for start, other in ((start, other) for start in starts for other in starts if other >= start):
            block = directions[start : start + _BLOCK] @ directions[other : other + _BLOCK].T
            rows, columns = np.nonzero(block >= least)
            # A block against itself holds every pair twice, and each row with itself.
            if other == start:
                rows, columns = rows[rows < columns], columns[rows < columns]
            near = np.column_stack([rows + start, columns + other])
            pairs, cosines = np.concatenate([pairs, near]), np.concatenate([cosines, block[rows, columns]])
            # What the weakest kept pair reaches is asked of all further ones, so that memory stays bounded.
            if len(pairs) > 2 * most:
                pairs, cosines = most_similar(pairs, cosines, most)
                least = cosines[-1]
            on_step()
    return most_similar(pairs, cosines, most)[0]


def n_steps(n_samples: int) -> int:
    """How many blocks ``near_duplicate_pairs`` compares.

    Examples
    --------
    >>> n_steps(2048), n_steps(60_000)
    (1, 465)
    """
    n_blocks = -(-n_samples // _BLOCK)
    return n_blocks * (n_blocks + 1) // 2


def similarities(features: Features, pairs: Pairs) -> Cosines:
    """The cosine of the features of each pair, at most 1.

    Examples
    --------
    >>> similarities(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0, 1]])).round(3)
    array([0.707])
    """
    first, other = (_directions(features[pairs[:, side]]).astype(np.float64) for side in (0, 1))
    return np.minimum(np.einsum("ij,ij->i", first, other), 1.0)


def check_similarity(similarity: float) -> None:
    """Refuse a similarity that no pair, or every pair, would have.

    >>> check_similarity(1.5)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: Near-duplicates were requested with a similarity of 1.5. It must lie in ...
    """
    if not 0 < similarity <= 1:
        raise DataError(f"Near-duplicates were requested with a similarity of {similarity:g}. It must lie in (0, 1].")


def _directions(features: np.ndarray) -> np.ndarray:
    """Rows of length 1 in single precision; those of length 0 stay."""
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.divide(features, lengths, out=np.zeros(features.shape), where=lengths > 0).astype(np.float32)


def most_similar(pairs: np.ndarray, cosines: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The `most` pairs of the largest cosines and these, ties by position.

    >>> most_similar(np.array([[0, 2], [1, 2], [0, 1]]), np.array([0.8, 0.9, 0.9]), 2)[0].tolist()
    [[0, 1], [1, 2]]
    """
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -cosines))[:most]
    return pairs[order], cosines[order]


# Which texts say nearly the same, word by word?
#
# Condensed features will not do: in the space of an SVD, short texts of rare words all point the same way.


_TEXTS = 128  # texts whose candidates are sought at a time
_CANDIDATES = 100_000  # pairs compared at a time: some 50 MB, however many texts share a word
_NONE = -1


def near_duplicate_texts(
    texts: Shaped[np.ndarray, " n_samples"], *, similarity: float = 0.95, most: int = 100_000
) -> tuple[Pairs, Cosines]:
    """Pairs of texts whose word weights (TF-IDF) have a cosine of `similarity` or more, most similar first, and these.

    Only pairs that share a rare word are compared, and no other pair can qualify: the common words that are left aside
    weigh too little (the prefix filter of Bayardo, Ma & Srikant 2007). Texts of the same words are compared once. Where
    more than `most` pairs qualify, the most similar ones are kept. The first of a pair stands earlier in the data. A
    text without words is near to nothing.

    Raises DataError for a similarity outside (0, 1].

    Examples
    --------
    >>> texts = np.array(["a fine film", "A fine film!", "a dull film", "..."], dtype=object)
    >>> near_duplicate_texts(texts)
    (array([[0, 1]]), array([1.]))
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    check_similarity(similarity)
    if not any(tokenize(text) for text in texts):
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    with single_threaded():
        weights = TfidfVectorizer(analyzer=tokenize).fit_transform(texts).tocsr()
    first = _first_of_the_same_words(weights)
    distinct = np.flatnonzero(first == np.arange(len(first)))
    near, cosines = _near(weights[distinct], similarity, most)
    return _with_copies(distinct[near], cosines, first, most)


def _first_of_the_same_words(weights: Any) -> Integer[np.ndarray, " n_samples"]:
    """For every text the position of the first one with the same words as often; -1 where there are no words."""
    seen: dict[bytes, int] = {}
    first = np.full(weights.shape[0], _NONE)
    for row, (start, end) in enumerate(zip(weights.indptr[:-1], weights.indptr[1:], strict=True)):
        if end > start:
            words = weights.indices[start:end].tobytes() + weights.data[start:end].tobytes()
            first[row] = seen.setdefault(blake2b(words, digest_size=16).digest(), row)
    return first


def _near(weights: Any, similarity: float, most: int) -> tuple[Pairs, Cosines]:
    """Pairs of different rows that are near."""
    rare, columns = _rare_words(weights, similarity), weights.T.tocsr()
    pairs, cosines = np.empty((0, 2), dtype=np.int64), np.empty(0)
    least = similarity - float(ROUNDING)
    for start in range(0, weights.shape[0], _TEXTS):
        candidates = (rare[start : start + _TEXTS] @ columns).tocoo()
        text, other = candidates.row + np.int64(start), candidates.col.astype(np.int64)
        # the filter works from either side, so that each pair is met from its first text
        text, other = text[text < other], other[text < other]
        for at in range(0, len(text), _CANDIDATES):
            some = np.column_stack([text[at : at + _CANDIDATES], other[at : at + _CANDIDATES]])
            similarities = np.asarray(weights[some[:, 0]].multiply(weights[some[:, 1]]).sum(axis=1)).ravel()
            near = similarities >= least
            pairs, cosines = np.concatenate([pairs, some[near]]), np.concatenate([cosines, similarities[near]])
            if len(pairs) > 2 * most:
                pairs, cosines = most_similar(pairs, cosines, most)
                least = float(cosines[-1])
    return most_similar(pairs, cosines, most)


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


def _with_copies(
    near: Integer[np.ndarray, "n_near 2"],
    cosines: Float[np.ndarray, " n_near"],
    first: Integer[np.ndarray, " n_samples"],
    most: int,
) -> tuple[Pairs, Cosines]:
    """Pairs of texts of the same words, then the `near` pairs with every text that has the words of either."""
    by_words = np.argsort(first, kind="stable")  # texts of the same words stand together, in their order
    start = np.searchsorted(first[by_words], np.arange(len(first)))
    n = np.bincount(first[first != _NONE], minlength=len(first))
    place = np.empty_like(by_words)
    place[by_words] = np.arange(len(first))

    rows = np.flatnonzero(first != _NONE)
    later = start[first[rows]] + n[first[rows]] - place[rows] - 1
    which, turn = _repeated(later, most)
    same = np.column_stack([rows[which], by_words[place[rows[which]] + 1 + turn]])

    text, other = near.T
    which, turn = _repeated(n[text] * n[other], most - len(same))
    spread = np.column_stack(
        [by_words[start[text[which]] + turn // n[other[which]]], by_words[start[other[which]] + turn % n[other[which]]]]
    )
    pairs = np.concatenate([same, np.sort(spread, axis=1)])
    return pairs, np.concatenate([np.ones(len(same)), np.minimum(cosines[which], 1.0)])


def _repeated(
    n: Integer[np.ndarray, " n_items"], most: int
) -> tuple[Integer[np.ndarray, " n_repeats"], Integer[np.ndarray, " n_repeats"]]:
    """Each item as often as `n` says, and how often it came before; cut off after `most`."""
    before = np.cumsum(n) - n
    n = np.clip(most - before, 0, n)
    which = np.repeat(np.arange(len(n)), n)
    return which, np.arange(len(which)) - before[which]
