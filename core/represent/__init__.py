"""Features of samples; write a representation and add it to ``REPRESENTATIONS``."""

from touchstone.core.represent.representations import (
    REPRESENTATIONS,
    available,
    check_representation,
    default_representation,
    encode,
    features_for_splits,
    number_of,
    number_title,
    numbers_of,
)
from touchstone.core.represent.word_vectors import n_tokens, tokenize
