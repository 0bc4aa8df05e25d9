"""Features of samples; write a representation and add it to ``REPRESENTATIONS``."""

from core.represent.encode import (
    REPRESENTATIONS,
    Representation,
    available,
    check_representation,
    default_representation,
    encode,
)
from core.represent.for_splits import features_for_splits
from core.represent.numbers import number_of, number_title, numbers_of
from core.represent.tokens import n_tokens, tokens

__all__ = [
    "REPRESENTATIONS",
    "Representation",
    "available",
    "check_representation",
    "default_representation",
    "encode",
    "features_for_splits",
    "n_tokens",
    "number_of",
    "number_title",
    "numbers_of",
    "tokens",
]
