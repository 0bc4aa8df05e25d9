"""Which words are used alike? Word vectors trained on the texts themselves, and the mean of a text's words.

Positive pointwise mutual information of words within a window, condensed by a truncated SVD, gives vectors as good as
word2vec's on small corpora (Levy, Goldberg & Dagan 2015); ClusterDataSplit averages those over a text (section 3.1).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent.tokens import tokenize

_SMOOTHING = 0.75  # of the context's frequencies, so that rare contexts do not get the largest weights (Levy et al.)


@dataclass(frozen=True, eq=False)
class TextMeans:
    """Features of texts, and what they leave out: words without a vector, and texts without any word that has one."""

    features: Float[np.ndarray, "n_samples n_components"]
    n_words: int
    n_unknown_words: int
    n_unknown_texts: int


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector per word; ``means`` applies them to texts.

    Examples
    --------
    >>> vectors = WordVectors({"red": 0, "fox": 1}, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> means = vectors.means(["a red fox", "a hen"])
    >>> means.features
    array([[0.5, 0.5],
           [0. , 0. ]])
    >>> means.n_unknown_words, means.n_words, means.n_unknown_texts
    (3, 5, 1)
    """

    positions: Mapping[str, int]
    vectors: Float[np.ndarray, "n_words n_components"]

    def means(self, texts: Shaped[np.ndarray, " n_samples"] | Sequence[str]) -> TextMeans:
        """Average the vectors of each text's words; zeros for a text in which none is known.

        A word is looked up as it is written, then in lower case.
        """
        known, lengths = [], []
        n_words = 0
        for text in texts:
            written = tokenize(text, lower=False)
            positions = [position for word in written if (position := self._position(word)) is not None]
            n_words += len(written)
            known += positions
            lengths.append(len(positions))
        n_known = np.array(lengths, dtype=np.int64)
        with single_threaded():
            sums = _counts(np.array(known, dtype=np.int64), n_known, len(self.vectors)) @ self.vectors
        features = np.asarray(sums, dtype=np.float64) / np.maximum(n_known, 1)[:, None]
        return TextMeans(features, n_words, n_words - len(known), int((n_known == 0).sum()))

    def _position(self, word: str) -> int | None:
        position = self.positions.get(word)
        return self.positions.get(word.lower()) if position is None else position


def train_word_vectors(
    texts: Iterable[str],
    *,
    n_components: int = 100,
    window: int = 5,
    min_count: int = 2,
    max_words: int = 20_000,
) -> WordVectors:
    """Train a vector for every lower-cased word that occurs ``min_count`` times, at most the ``max_words`` commonest.

    Words stand in each other's context where at most ``window`` words of the same text lie apart; words without a
    vector keep their place. The same texts always give the same vectors. Raises DataError where no word is left.

    Examples
    --------
    >>> vectors = train_word_vectors(["the red fox ran", "the red hen ran", "a blue sky", "a blue sea"] * 3)
    >>> fox, hen, sea = (vectors.vectors[vectors.positions[word]] for word in ("fox", "hen", "sea"))
    >>> bool(fox @ hen > 10 * abs(fox @ sea))
    True
    """
    documents = [tokenize(text) for text in texts]
    words = _vocabulary(documents, min_count, max_words)
    if not words:
        raise DataError(
            f"None of the words in the {len(documents)} texts occurs {min_count} times, so no word vectors can be "
            f"learned. Take another representation, such as tfidf_svd."
        )
    positions = {word: position for position, word in enumerate(words)}
    with single_threaded():
        weights = _ppmi(_co_occurrences(documents, positions, window))
        return WordVectors(positions, _condensed(weights, n_components))


def _vocabulary(documents: list[list[str]], min_count: int, max_words: int) -> list[str]:
    counts = Counter(word for document in documents for word in document)
    common = sorted((-count, word) for word, count in counts.items() if count >= min_count)
    return [word for _, word in common[:max_words]]


def _co_occurrences(documents: list[list[str]], positions: Mapping[str, int], window: int) -> Any:
    """Count, as a sparse symmetric matrix, how often two words stand at most ``window`` words apart."""
    from scipy.sparse import coo_array, csr_array

    lengths = [len(document) for document in documents]
    words = np.array([positions.get(word, -1) for document in documents for word in document], dtype=np.int64)
    document_of = np.repeat(np.arange(len(documents)), lengths)
    shape = (len(positions), len(positions))
    total = csr_array(shape, dtype=np.float64)
    for distance in range(1, min(window, len(words) - 1) + 1):
        # All documents in one row: a pair counts where both words lie in one document, and none of them is rare (-1).
        left, right = words[:-distance], words[distance:]
        together = (document_of[:-distance] == document_of[distance:]) & (left >= 0) & (right >= 0)
        ones = np.ones(int(together.sum()))
        total = total + coo_array((ones, (left[together], right[together])), shape=shape).tocsr()
    return (total + total.T).tocsr()


def _ppmi(counts: Any) -> Any:
    """Positive pointwise mutual information: how much more often than by chance two words stand together, in bits."""
    counts = counts.tocoo()
    if counts.nnz == 0:
        return counts.tocsr()
    word = np.asarray(counts.sum(axis=1)).ravel()
    context = word**_SMOOTHING
    row, column = counts.coords
    information = np.log2(counts.data * context.sum() / (word[row] * context[column]))
    counts.data = np.maximum(information, 0.0)
    weights = counts.tocsr()
    weights.eliminate_zeros()
    return weights


def _condensed(weights: Any, n_components: int) -> Float[np.ndarray, "n_words n_components"]:
    """Condense the weights: left singular vectors times the square root of the singular values (Levy et al.)."""
    from sklearn.utils.extmath import randomized_svd

    n_components = min(n_components, weights.shape[0])
    if weights.nnz == 0:
        return np.zeros((weights.shape[0], n_components))
    left, singular, _ = randomized_svd(weights, n_components, n_iter=5, random_state=0)
    return left * np.sqrt(singular)


def _counts(
    known: Integer[np.ndarray, " n_known_words"], n_known: Integer[np.ndarray, " n_samples"], n_words: int
) -> Any:
    """How often each word stands in each text, sparse."""
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(n_known)])
    return csr_array((np.ones(len(known)), known, starts), shape=(len(n_known), n_words))
