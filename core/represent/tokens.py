"""What are the words of a text? One rule for lengths, counts and word vectors, so that all of them mean the same."""

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
from jaxtyping import Integer

_WORD = re.compile(r"\w+(?:'\w+)*")


def tokenize(text: str, *, lower: bool = True) -> list[str]:
    """The words of a text in their order, lower-cased unless asked otherwise.

    A word is an unbroken run of letters, digits and underscores in any script; apostrophes inside it belong to it and
    are written straight, and accents count as part of their letter (NFC). All else separates words and is left out. A
    script without spaces between words, such as Chinese, gives one word for each run between punctuation marks.

    Examples
    --------
    >>> tokenize("It’s a wash-up: 3.5 of 10!")
    ["it's", 'a', 'wash', 'up', '3', '5', 'of', '10']
    >>> tokenize("...")
    []
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("’", "'")
    return _WORD.findall(text.lower() if lower else text)


def n_tokens(texts: Iterable[str]) -> Integer[np.ndarray, " n_samples"]:
    """How many words each text has.

    Examples
    --------
    >>> n_tokens(["a red fox", ""])
    array([3, 0])
    """
    return np.array([len(tokenize(text)) for text in texts], dtype=np.int64)
