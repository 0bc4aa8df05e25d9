"""Which sources are held out in one draw? Drawn in balance, enumerated, or walked through over all classes."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, count, product

import numpy as np
from jaxtyping import Bool, Integer

from touchstone.core.data.errors import DataError
from touchstone.core.split.scheme import OVER_CLASSES, WITHIN_CLASSES, Cells, Codes, Ids, Split, read_cells


class OnlyOneSource(DataError):
    """Classes with a single source, by their labels as the scheme was given them.

    >>> str(OnlyOneSource((0, 2)).named(("cat", "dog", "owl"))).partition(":")[0]
    'Only one source in class cat, owl'
    """

    def __init__(self, labels: tuple[object, ...]):
        super().__init__(labels)  # in `args`, so that the error survives pickling
        self.labels = labels

    def __str__(self) -> str:
        return (
            f"Only one source in class {', '.join(map(str, self.labels))}: held out, it would leave nothing of the "
            "class to train on. Give every class two sources or more, or hold sources out over all classes together."
        )

    def named(self, class_names: Sequence[str]) -> "OnlyOneSource":
        """The same, of labels that were codes into these names."""
        return OnlyOneSource(tuple(class_names[int(label)] for label in self.labels))


def n_held_out(n_sources: int, test_share: float) -> int:
    """Count the sources that make up the share, at least one kept for training.

    Examples
    --------
    >>> n_held_out(5, 0.2), n_held_out(5, 0.25), n_held_out(2, 0.9)
    (1, 2, 1)
    """
    # Rounded first, for the same reason as in walk_over_sources below.
    return min(math.ceil(round(test_share * n_sources, 9)), n_sources - 1)


def within_classes(cells: Cells, repeat: int, *, test_share: float, seed: int) -> Bool[np.ndarray, " n_cells"]:
    """Mark the cells held out in one repeat, in each class independently of the others.

    The k sources of a class are seated in a random circle, and one draw after the other takes the next m of them.
    After k / gcd(k, m) draws each has been held out equally often, and they are seated anew. Taken alone, each
    draw is a uniform choice of m sources.

    Examples
    --------
    >>> from touchstone.core.split.scheme import read_cells
    >>> cells = read_cells(np.zeros(5, dtype=int), np.arange(5))
    >>> sum(within_classes(cells, repeat, test_share=0.2, seed=0).astype(int) for repeat in range(5))
    array([1, 1, 1, 1, 1])
    """
    held_out = np.zeros(len(cells.y), dtype=bool)
    for label, members in enumerate(_members(cells)):
        n_sources, n_out = len(members), n_held_out(len(members), test_share)
        cycle, turn = divmod(repeat, n_sources // math.gcd(n_sources, n_out))
        circle = np.random.default_rng([seed, WITHIN_CLASSES, label, cycle]).permutation(members)
        held_out[circle[(turn * n_out + np.arange(n_out)) % n_sources]] = True
    return held_out


def n_combinations(cells: Cells, test_share: float) -> int:
    """Count the ways to hold sources out within every class.

    Examples
    --------
    >>> from touchstone.core.split.scheme import read_cells
    >>> n_combinations(read_cells(np.repeat([0, 1], 5), np.arange(10)), 0.2)
    25
    """
    return math.prod(math.comb(len(members), n_held_out(len(members), test_share)) for members in _members(cells))


def every_combination(cells: Cells, test_share: float) -> Iterator[Bool[np.ndarray, " n_cells"]]:
    """Mark the cells held out, once for every way to hold sources out within every class.

    Examples
    --------
    >>> from touchstone.core.split.scheme import read_cells
    >>> cells = read_cells(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]))
    >>> [np.flatnonzero(held_out).tolist() for held_out in every_combination(cells, 0.2)]
    [[0, 2], [0, 3], [1, 2], [1, 3]]
    """
    choices = [combinations(members, n_held_out(len(members), test_share)) for members in _members(cells)]
    for chosen in product(*choices):
        held_out = np.zeros(len(cells.y), dtype=bool)
        held_out[np.concatenate(chosen)] = True
        yield held_out


def walk_over_sources(
    table: Integer[np.ndarray, "n_sources n_classes"], *, test_share: float, seed: int
) -> Iterator[Bool[np.ndarray, " n_sources"]]:
    """Mark the sources held out over all classes, draw after draw without end.

    The sources stand in a queue in random order, and each draw takes the next ones until it holds the share of the
    samples. A source whose absence would leave a class without training samples keeps its place for the next draw.
    When the queue runs out, all sources join it again in a new random order, so that over draws each is held out
    equally often.

    Examples
    --------
    >>> table = np.array([[4, 4], [4, 4], [4, 4], [4, 4]])
    >>> walk = walk_over_sources(table, test_share=0.25, seed=0)
    >>> sum(next(walk).astype(int) for _ in range(4))
    array([1, 1, 1, 1])
    """
    # Less a little, since 0.28 * 25 is 7.000000000000001 to a computer.
    n_label, n_wanted = table.sum(axis=0), test_share * table.sum() - 1e-9
    able = np.flatnonzero(((n_label - table) > 0).all(axis=1))
    if len(able) == 0:
        raise DataError(
            "No source can be held out over all classes: each is the only source of some class. "
            "Hold sources out within each class or give classes more sources."
        )
    queue: list[int] = []
    orders = (np.random.default_rng([seed, OVER_CLASSES, turn]).permutation(able) for turn in count())
    while True:
        held_out = np.zeros(len(table), dtype=bool)
        queue = _take(queue, held_out, table, n_wanted)
        if table[held_out].sum() < n_wanted:
            queue = _take(queue + next(orders).tolist(), held_out, table, n_wanted)
        yield held_out


def _take(
    queue: list[int],
    held_out: Bool[np.ndarray, " n_sources"],
    table: Integer[np.ndarray, "n_sources n_classes"],
    n_wanted: float,
) -> list[int]:
    """Hold out (in place) the next sources of the queue until they hold the samples wanted; give the rest of it."""
    n_train, n_test = table[~held_out].sum(axis=0), table[held_out].sum()
    kept = []
    for position, source in enumerate(queue):
        if n_test >= n_wanted:
            return kept + queue[position:]
        if held_out[source] or (n_train <= table[source]).any():
            kept.append(source)
        else:
            held_out[source] = True
            n_train, n_test = n_train - table[source], n_test + table[source].sum()
    return kept


def _members(cells: Cells) -> list[Integer[np.ndarray, " n_members"]]:
    """List the cells of each class; a class with one source only is refused."""
    members = [np.flatnonzero(cells.y == label) for label in range(len(cells.labels))]
    lonely = [cells.labels[label] for label, cell in enumerate(members) if len(cell) == 1]
    if lonely:
        raise OnlyOneSource(tuple(lonely))
    return members


# Which sources are left out together, so that each is left out once? (the jackknife over sources)
#
# What would have come out with other sources is learnt from leaving each out of the data in turn, out of training as
# out of testing. Where there are more than ten units, several of them are left out in the same turn.


MOST_TURNS = 10


def turns_of(y: Ids, groups: Ids) -> Codes:
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


def without(split: Split, turns: Codes, turn: int, y: Ids) -> Split:
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
