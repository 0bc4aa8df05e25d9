"""Which sources are left out together, so that each is left out once? (the jackknife over sources)

What would have come out with other sources is learnt from leaving each out of the data in turn, out of training as out
of testing. Where there are more than ten units, several of them are left out in the same turn.
"""

import numpy as np
from jaxtyping import Integer, Shaped

from touchstone.core.split.cells import read_cells
from touchstone.core.split.scheme import Split

MOST_TURNS = 10


def turns_of(
    y: Shaped[np.ndarray, " n_samples"], groups: Shaped[np.ndarray, " n_samples"]
) -> Integer[np.ndarray, " n_samples"]:
    """The turn in which each sample is left out with its source, from 0.

    A unit is a source within its class or, where classes share sources, a source over all its classes. Units are dealt
    out in the order of classes and ids, so that those of one class lie in turns of their own as far as turns go.

    Examples
    --------
    >>> turns_of(np.array([0, 0, 1, 1, 1]), np.array([1, 2, 3, 4, 4]))
    array([0, 1, 2, 3, 3])
    """
    cells = read_cells(y, groups)
    unit = cells.source[cells.of_row] if cells.shared else cells.of_row
    return unit % MOST_TURNS


def without(
    split: Split, turns: Integer[np.ndarray, " n_samples"], turn: int, y: Shaped[np.ndarray, " n_samples"]
) -> Split:
    """A split without the samples of a turn; nothing is tested where some class has no sample left to train on.

    Examples
    --------
    >>> split = Split(np.array([0, 1, 2]), np.array([3]))
    >>> without(split, np.array([0, 1, 1, 1]), 0, np.array([5, 5, 5, 5]))
    Split(train=array([1, 2]), test=array([3]))
    >>> without(split, np.array([0, 1, 1, 1]), 0, np.array([6, 5, 5, 5])).test
    array([], dtype=int64)
    """
    train, test = (part[turns[part] != turn] for part in split)
    lost = len(np.unique(y[train])) < len(np.unique(y[split.train]))
    return Split(train, test[:0] if lost else test)
