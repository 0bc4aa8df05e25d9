"""What is a source like? Its mean image, the words that set it apart, or the columns in which it is unusual."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from touchstone.core.data import Dataset

_WORD = re.compile(r"[^\W\d_]{3,}")
MOST_WORDS = 6
MOST_COLUMNS = 4


@dataclass(frozen=True)
class Portrait:
    """A source as a picture (images only) and in words (texts and tables)."""

    picture: np.ndarray | None
    words: str


def portrait(dataset: Dataset, source: np.ndarray, others: np.ndarray) -> Portrait:
    """The samples of a source (a mask) against those that it is to be told from, such as the rest of its class."""
    if dataset.kind == "image":
        return Portrait(dataset.x[source].mean(axis=0), "")
    if dataset.kind == "text":
        return Portrait(None, ", ".join(telling_words(dataset.x[source], dataset.x[others])))
    return Portrait(None, ", ".join(unusual_columns(dataset, source, others)))


def telling_words(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    """The words whose share of these texts most exceeds their share of the others.

    >>> telling_words(["red wine", "red grape"], ["white wine"])
    ['red', 'grape']
    """
    mine, n_mine = _texts_with(texts)
    theirs, n_theirs = _texts_with(others)
    excess = {word: n / n_mine - theirs[word] / max(n_theirs, 1) for word, n in mine.items()}
    return [word for word in sorted(excess, key=lambda word: (-excess[word], word)) if excess[word] > 0][:MOST_WORDS]


def _texts_with(texts: Iterable[str]) -> tuple[Counter[str], int]:
    words = [set(_WORD.findall(text.lower())) for text in texts]
    return Counter(word for text in words for word in text), len(words)


def unusual_columns(dataset: Dataset, source: np.ndarray, others: np.ndarray) -> list[str]:
    """The columns whose mean is farthest from that of the others, in standard deviations of the whole data set."""
    sd = dataset.x.std(axis=0)
    distance = (dataset.x[source].mean(axis=0) - dataset.x[others].mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    farthest = np.argsort(-np.abs(distance), kind="stable")[:MOST_COLUMNS]
    return [f"{dataset.feature_names[column]} {distance[column]:+.1f} sd".replace("-", "−") for column in farthest]
