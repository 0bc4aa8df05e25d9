"""What does a search for sources come to? The source of every sample, and what has to be known of how it was found."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer

OnStep = Callable[[int, int], None]
"""Called with epochs done and epochs in all, at most."""


@dataclass(frozen=True, eq=False)
class FoundSources:
    """The source of each sample: ids from 0 to C * K - 1, class by class, as `find_sources` gives them.

    `options` are those of the training that held, as text, at the `n_tries`-th try; empty where none did and `sources`
    are those of another finder. `note` says in a sentence what somebody who reads results has to know; empty where
    everything went as it should.
    """

    sources: Integer[np.ndarray, " n_samples"]
    options: str = ""
    n_tries: int = 1
    note: str = ""


def unheard(n_done: int, n_steps: int) -> None:
    """What is told of progress where nobody listens."""
