"""How do the inputs of a data set become what a model takes? Arrays for a network, or one vector for each sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import torch


def network_inputs(x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
    """Give images (n, height, width, channels) as float32 (n, channels, height, width), vectors (n, d) as float64.

    It is a copy, since torch could write to arrays that are read-only, as a Dataset's are. Raises ModelError for pixels
    outside [0, 1], for numbers that are not finite and for texts, which have to become vectors first.

    Examples
    --------
    >>> network_inputs(np.zeros((5, 28, 20, 3), dtype=np.float32)).shape
    torch.Size([5, 3, 28, 20])
    """
    if x.ndim not in (2, 4) or x.dtype == object:
        raise ModelError(
            f"A network takes images (n, height, width, channels) or vectors (n, d); these have shape {x.shape}. "
            "Texts must become vectors first."
        )
    if not np.isfinite(x).all():
        raise ModelError("The inputs hold something that is no finite number. Fill it in, or leave the samples out.")
    if x.ndim == 2:
        return torch.tensor(x, dtype=torch.float64)
    if x.size and (x.min() < 0 or x.max() > 1):
        raise ModelError(
            f"Pixels run from {x.min():g} to {x.max():g}. "
            "They must lie in [0, 1]: divide by the largest possible value."
        )
    return torch.tensor(x, dtype=torch.float32).permute(0, 3, 1, 2).contiguous()


def input_shape(x: Shaped[np.ndarray, "n_samples ..."]) -> tuple[int, ...]:
    """Give the shape of one sample as a network sees it: (channels, height, width) or (d,).

    Examples
    --------
    >>> input_shape(np.zeros((5, 28, 20, 3))), input_shape(np.zeros((5, 30)))
    ((3, 28, 20), (30,))
    """
    return (x.shape[3], *x.shape[1:3]) if x.ndim == 4 else tuple(x.shape[1:])


# How were pixels scaled when a model was trained? As what black and white were, for all channels or for each.


Ends = tuple[float, float]
InputRange = Ends | tuple[Ends, ...]
"""What black and white are for a model: two rising numbers, or a pair of these for each channel."""


def normalised(mean: Sequence[float], std: Sequence[float], *, divided: bool = True) -> InputRange:
    """What black and white are where a mean was taken off and the rest divided by a deviation, channel by channel.

    `divided`: pixels were brought from 0 to 255 to [0, 1] before. Raises ModelError unless there are as many deviations
    as means, all of them above 0.

    Examples
    --------
    >>> normalised([0.5], [0.5]), normalised([127.5, 0.0], [127.5, 255.0], divided=False)
    ((-1.0, 1.0), ((-1.0, 1.0), (0.0, 1.0)))
    """
    if len(mean) != len(std) or not mean:
        raise ModelError(
            f"There are {len(mean)} means and {len(std)} standard deviations. Give one of each, for all channels or "
            "for each."
        )
    numbers = np.array([mean, std], dtype=np.float64)
    if not (np.isfinite(numbers).all() and (numbers[1] > 0).all()):
        raise ModelError("Means must be numbers, and standard deviations numbers above 0.")
    white = 1.0 if divided else 255.0
    ends = tuple((float((0 - of) / by), float((white - of) / by)) for of, by in numbers.T)
    return ends[0] if len(ends) == 1 else ends


def checked_range(input_range: InputRange, n_channels: int) -> InputRange:
    """The range, where it fits so many channels. Raises ModelError for any other.

    >>> checked_range(((0.0, 1.0), (-1.0, 1.0), (0.0, 255.0)), 1)
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: There are 3 input ranges, and images of 1 channel. Give one, or one ...
    """
    low, high = black_and_white(input_range)
    if len(low) not in (1, n_channels):
        channels = "1 channel" if n_channels == 1 else f"{n_channels} channels"
        raise ModelError(
            f"There are {len(low)} input ranges, and images of {channels}. Give one, or one for each channel."
        )
    if not (np.isfinite([low, high]).all() and (low < high).all()):
        raise ModelError(f"An input range is two rising numbers, for all channels or for each, not {input_range}.")
    return input_range


def black_and_white(input_range: InputRange) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """What black and what white is, of each channel or of all.

    >>> black_and_white((-1.0, 1.0))
    (array([-1.]), array([1.]))
    """
    ends = np.array(input_range, dtype=np.float64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


# How does an input become a vector that a model can learn from? Fitted on training inputs, then applied to any.


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
