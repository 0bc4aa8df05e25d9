"""How does an input become a vector that a model can learn from? Fitted on training inputs, then applied to any."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data.errors import DataError

N_COMPONENTS = 100


@runtime_checkable
class Vectors(Protocol):
    """What turns inputs into vectors, once it was fitted."""

    def transform(self, x: Shaped[np.ndarray, "n_samples ..."], /) -> Float[np.ndarray, "n_samples n_features"]:
        """Give one vector per input."""


def fit_vectors(x: Shaped[np.ndarray, "n_samples ..."], *, seed: int) -> Vectors:
    """Fit what the kind of input needs: images are flattened, tables standardised, texts counted and condensed.

    Examples
    --------
    >>> table = np.array([[1.0, 20.0], [3.0, 40.0]])
    >>> fit_vectors(table, seed=0).transform(table)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    if x.ndim == 1:
        return fit_text(x, seed=seed)
    if x.ndim == 4:
        return Pixels()
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit(x)


class Pixels:
    """Images as they are: the pixels in [0, 1], one after the other.

    Examples
    --------
    >>> Pixels().transform(np.zeros((2, 8, 8, 1), dtype=np.float32)).shape
    (2, 64)
    """

    def transform(self, x: Float[np.ndarray, "n_samples h w c"]) -> Float[np.ndarray, "n_samples n_features"]:
        """Give the pixels of each image in a row."""
        return x.reshape(len(x), -1)


@dataclass(frozen=True, eq=False)
class TextVectors:
    """TF-IDF word weights, condensed by a truncated SVD to ``N_COMPONENTS`` numbers of which only the direction counts.

    All vectors share one centre and one factor, which make their total variance that of ``N_COMPONENTS`` standardised
    columns. A model's defaults (an SVM's ``gamma``, a penalty) then mean the same for texts as for tables.

    Examples
    --------
    >>> vectors = fit_text(np.array(["red fox", "blue sky"], dtype=object), seed=0)
    >>> vectors.transform(np.array(["a blue fox"], dtype=object)).round(1)
    array([[ 5.,  5., -5., -5.]])
    """

    tfidf: Any
    components: Float[np.ndarray, "n_words n_components"] | None
    centre: Float[np.ndarray, " n_components"]
    factor: float

    def transform(self, x: Shaped[np.ndarray, " n_samples"]) -> Float[np.ndarray, "n_samples n_components"]:
        """Give one vector per text; a text without any known word becomes minus the centre."""
        return (_directions(self.tfidf.transform(x), self.components) - self.centre) * self.factor

    def parts(self) -> tuple[list[str], dict[str, Float[np.ndarray, "..."]]]:
        """Give the words and the arrays that `from_parts` makes the same vectors of."""
        components = {} if self.components is None else {"components": self.components}
        arrays = {"weights": self.tfidf.idf_, "centre": self.centre, "factor": np.array(self.factor), **components}
        return self.tfidf.get_feature_names_out().tolist(), arrays

    @classmethod
    def from_parts(cls, words: list[str], arrays: Mapping[str, Float[np.ndarray, "..."]]) -> "TextVectors":
        """Put the parts together again. Raises KeyError or ValueError where they are not what `parts` gave.

        Examples
        --------
        >>> vectors = fit_text(np.array(["red fox", "blue sky"], dtype=object), seed=0)
        >>> TextVectors.from_parts(*vectors.parts()).transform(np.array(["a blue fox"], dtype=object)).round(1)
        array([[ 5.,  5., -5., -5.]])
        """
        tfidf = _word_weights(words)
        tfidf.idf_ = arrays["weights"]
        components, centre = arrays.get("components"), arrays["centre"]
        if centre.shape != (len(words) if components is None else components.shape[1],):
            raise ValueError("the centre of the text vectors has another length than they")
        if components is not None and len(components) != len(words):
            raise ValueError("there are not as many components as words")
        return cls(tfidf, components, centre, float(arrays["factor"]))


def fit_text(x: Shaped[np.ndarray, " n_samples"], *, seed: int) -> TextVectors:
    """Fit word weights and their condensation; no more words than components are kept as they are.

    Examples
    --------
    >>> texts = np.array(["a red fox", "a red hen", "blue sky"], dtype=object)
    >>> fit_text(texts, seed=0).transform(texts).shape
    (3, 6)
    """
    from sklearn.utils.extmath import randomized_svd

    tfidf = _word_weights()
    try:
        weights = tfidf.fit_transform(x)
    except ValueError as error:
        raise DataError(f"None of the {len(x)} training texts holds a word ({error}).") from error
    components = None
    if weights.shape[1] > N_COMPONENTS:
        n_components = min(N_COMPONENTS, weights.shape[0])
        components = randomized_svd(weights, n_components, n_iter=5, random_state=seed)[2].T
    directions = _directions(weights, components)
    centre = directions.mean(axis=0)
    variance = ((directions - centre) ** 2).sum(axis=1).mean()
    factor = float(np.sqrt(N_COMPONENTS / variance)) if variance > 1e-12 else 1.0
    return TextVectors(tfidf, components, centre, factor)


def _word_weights(words: list[str] | None = None) -> Any:
    """Make what counts words, to be fitted unless the words are known."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    # One-letter words count too: they may be all that a short text has.
    return TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", vocabulary=words)


def _directions(
    weights: Any, components: Float[np.ndarray, "n_words n_components"] | None
) -> Float[np.ndarray, "n_samples n_features"]:
    """Condense sparse word weights and bring every text to length 1 (a text without known words keeps length 0)."""
    vectors = weights.toarray() if components is None else weights @ components
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 1e-12, lengths, 1.0)
