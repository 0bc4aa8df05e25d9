"""What does a trial look like that leaves known sources out? The same draw without them, counted by class alone."""

from functools import lru_cache

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import Dataset
from touchstone.core.split.held_out import turns_of
from touchstone.core.trials.plan_sources import known_sources
from touchstone.core.trials.run import Counted

LEFT_OUT = "left_out"
"""The column that says which turn a trial leaves out (NA: none), in runs that were asked to."""


@lru_cache(maxsize=4)
def turns(dataset: Dataset) -> Integer[np.ndarray, " n_samples"]:
    """The turn in which each sample is left out; DataError where no sources are known."""
    return turns_of(dataset.y, known_sources(dataset)[0])


def n_turns(dataset: Dataset) -> int:
    """How often each draw is repeated without some of its sources.

    Examples
    --------
    >>> from touchstone.core.data import Dataset
    >>> y, sources = np.array([0, 0, 1, 1]), ["ann", "bob", "ann", "bob"]
    >>> n_turns(Dataset("written", "tabular", np.zeros((4, 1)), y, ("a", "b"), list("1234"), sources))
    2
    """
    return int(turns(dataset).max()) + 1


def of_turn(counted: Counted, turn: int | None) -> Counted:
    """A trial's rows with the turn that it left out; without a whole draw's rows of single sources, if any was."""
    if turn is None:
        return counted | {LEFT_OUT: None}
    whole = np.equal(counted["source"], None)
    return {name: of[whole] if isinstance(of, np.ndarray) else of for name, of in counted.items()} | {LEFT_OUT: turn}
