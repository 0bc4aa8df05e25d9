"""What changes when whole sources stay unseen? Exclusive, inclusive, random splits (Kilinc & Uysal 2017, section 3)"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice, product
from typing import Any

import numpy as np
from jaxtyping import Bool, Integer

from touchstone.core.data.errors import DataError
from touchstone.core.split import scheme
from touchstone.core.split.scheme import OVER_CLASSES, WITHIN_CLASSES, Cells, Codes, Ids, Split, read_cells

# Which sources are held out in one draw? Drawn in balance, enumerated, or walked through over all classes.


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


# Which splits are drawn? Exclusive, inclusive, random ones.


@dataclass(frozen=True)
class SourceExclusive:
    """Hold whole sources out, so that the model is tested on sources that it has never seen.

    ``across="class"`` (found sources; the paper): in every class, independently of the others, the smallest number of
    sources that makes up ``test_share`` of the class's sources, exactly one of five by default. Over repeats each
    source is held out equally often, while any one draw is uniform. Where all combinations are no more than
    ``n_repeats``, each of them is given once, instead of drawn.

    ``across="all"`` (known sources): sources are held out over all classes together until they hold ``test_share`` of
    the samples, so that an unseen writer is unseen altogether. No class loses all its training samples.

    ``across=None`` picks ``"all"`` where a source id occurs in more than one class, and ``"class"`` otherwise.

    Examples
    --------
    >>> y = np.repeat([0, 1], 4)
    >>> sources = np.array(["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> scheme = SourceExclusive(n_repeats=20)
    >>> [split.test.tolist() for split in scheme.split(None, y, sources)]
    [[0, 1, 4, 5], [0, 1, 6, 7], [2, 3, 4, 5], [2, 3, 6, 7]]
    """

    n_repeats: int = 100
    test_share: float = 0.2
    across: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        scheme.check_fields(self.n_repeats, self.test_share, self.seed)
        if self.across not in (None, "class", "all"):
            raise DataError(f"Sources are held out across 'class' or 'all', not {self.across!r}.")

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0."""
        cells = scheme.read_cells(y, groups)
        scheme.check_repeat(repeat, self._n_splits(cells))
        return _split(cells, next(islice(self._held_out(cells, repeat), 1)))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn (scikit-learn's contract; ``groups`` are the source ids)."""
        cells = _cells(y, groups)
        for held_out in islice(self._held_out(cells), self._n_splits(cells)):
            yield _split(cells, held_out)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits. Whether they are enumerated depends on the data, so it asks for ``y`` and ``groups``.

        Examples
        --------
        >>> SourceExclusive(n_repeats=100).get_n_splits(None, np.zeros(6), np.array([1, 1, 2, 2, 3, 3]))
        3
        """
        return self.n_repeats if self.across == "all" else self._n_splits(_cells(y, groups))

    get_metadata_routing = scheme.asks_for_groups

    def _across_all(self, cells: Cells) -> bool:
        return cells.shared if self.across is None else self.across == "all"

    def _n_splits(self, cells: Cells) -> int:
        if self._across_all(cells):
            return self.n_repeats
        return min(self.n_repeats, n_combinations(cells, self.test_share))

    def _held_out(self, cells: Cells, first: int = 0) -> Iterator[Bool[np.ndarray, " n_cells"]]:
        """Mark the cells that are held out, draw by draw from the given one."""
        if self._across_all(cells):
            walk = walk_over_sources(cells.table(), test_share=self.test_share, seed=self.seed)
            for held_out in islice(walk, first, None):
                yield held_out[cells.source]
        elif n_combinations(cells, self.test_share) <= self.n_repeats:
            yield from islice(every_combination(cells, self.test_share), first, None)
        else:
            for repeat in range(first, self.n_repeats):
                yield within_classes(cells, repeat, test_share=self.test_share, seed=self.seed)


@dataclass(frozen=True)
class SourceInclusive:
    """Test on every source in proportion, so that the model has seen the like of every test sample.

    From each source of each class ``test_share`` of the samples goes to the test part, at random and to the nearest
    whole sample (a half goes to the even number, so that halves do not add up). A source of one or two samples
    therefore gives none at a share of 0.2.

    Examples
    --------
    >>> y = np.repeat([0, 1], 10)
    >>> sources = np.tile(np.repeat(["ann", "bob"], 5), 2)
    >>> split = SourceInclusive(test_share=0.4).draw(0, y, sources)
    >>> sources[split.test].tolist(), y[split.test].tolist()
    (['ann', 'ann', 'bob', 'bob', 'ann', 'ann', 'bob', 'bob'], [0, 0, 0, 0, 1, 1, 1, 1])
    """

    n_repeats: int = 100
    test_share: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        scheme.check_fields(self.n_repeats, self.test_share, self.seed)

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0."""
        scheme.check_repeat(repeat, self.n_repeats)
        return self._draw(repeat, scheme.read_cells(y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn (scikit-learn's contract; ``groups`` are the source ids)."""
        cells = _cells(y, groups)
        for repeat in range(self.n_repeats):
            yield self._draw(repeat, cells)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits: ``n_repeats``, whatever the data.

        Examples
        --------
        >>> SourceInclusive(n_repeats=7).get_n_splits()
        7
        """
        return self.n_repeats

    get_metadata_routing = scheme.asks_for_groups

    def _draw(self, repeat: int, cells: Cells) -> Split:
        seeds = [self.seed, scheme.INCLUSIVE]
        return _share_of_each(cells.of_row, repeat, test_share=self.test_share, seeds=seeds, what="sources")


@dataclass(frozen=True)
class Random:
    """Split at random with no regard to sources; ``stratified`` takes the share of every class.

    Examples
    --------
    >>> split = Random(test_share=0.2).draw(0, np.zeros(10, dtype=int))
    >>> len(split.train), len(split.test)
    (8, 2)
    """

    n_repeats: int = 100
    test_share: float = 0.2
    stratified: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        scheme.check_fields(self.n_repeats, self.test_share, self.seed)

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0; sources play no part."""
        scheme.check_repeat(repeat, self.n_repeats)
        seeds = [self.seed, scheme.RANDOM]
        if self.stratified:
            classes = scheme.number(y, "label")[0]
            return _share_of_each(classes, repeat, test_share=self.test_share, seeds=seeds, what="classes")
        if len(y) < 2:
            raise DataError(f"A split into a training and a test part needs 2 samples or more, not {len(y)}.")
        n_test = min(max(round(self.test_share * len(y)), 1), len(y) - 1)
        order, turn = _seated(len(y), repeat, test_share=self.test_share, seeds=seeds)
        in_test = np.zeros(len(y), dtype=bool)
        in_test[order[(turn * n_test + np.arange(n_test)) % len(y)]] = True
        return Split.of(in_test)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn (scikit-learn's contract); only a stratified one looks at ``y``."""
        if y is None and self.stratified:
            raise DataError("A stratified split needs the label of every sample (y=...), and there are none.")
        labels = np.zeros(np.shape(X)[0]) if y is None else np.asarray(y)
        for repeat in range(self.n_repeats):
            yield self.draw(repeat, labels)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits: ``n_repeats``, whatever the data.

        Examples
        --------
        >>> Random(n_repeats=7).get_n_splits()
        7
        """
        return self.n_repeats


def _cells(y: Any, groups: Any) -> Cells:
    """Read the cells of what scikit-learn hands over: arrays, lists or series."""
    if y is None:
        raise DataError("This scheme needs the label of every sample (y=...), and there are none.")
    return scheme.read_cells(np.asarray(y), None if groups is None else np.asarray(groups))


def _split(cells: Cells, held_out: Bool[np.ndarray, " n_cells"]) -> Split:
    return Split.of(held_out[cells.of_row])


def _seated(n: int, repeat: int, *, test_share: float, seeds: Sequence[int]) -> tuple[Codes, int]:
    """Samples in a random circle, of which one draw after the other tests the next, and whose turn it is.

    When all have been tested once they are seated anew, so that over draws each is tested about equally often, and
    accuracies owe less to the draws. Taken alone, each draw is uniform.
    """
    cycle, turn = divmod(repeat, max(round(1 / test_share), 1))
    return np.random.default_rng([*seeds, cycle]).permutation(n), turn


def _share_of_each(cell: Codes, repeat: int, *, test_share: float, seeds: Sequence[int], what: str) -> Split:
    """Take the share of every cell to the nearest sample, at random."""
    sizes = np.bincount(cell)
    # 0.35 * 10 must be the half that it is, not 3.4999…; then a half goes to the even number.
    n_test = np.rint(np.round(test_share * sizes, 9))
    if not 0 < n_test.sum() < len(cell):
        part = "test" if n_test.sum() == 0 else "training"
        raise DataError(
            f"A share of {test_share:g} of each of the {what} leaves no sample for the {part} part: the largest "
            f"has {sizes.max()}. Take another share or larger {what}."
        )
    # A random rank within each cell: sorting by cell is stable, so that the random order stays within it.
    order, turn = _seated(len(cell), repeat, test_share=test_share, seeds=seeds)
    order = order[np.argsort(cell[order], kind="stable")]
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Split.of((rank - turn * n_test[cell]) % sizes[cell] < n_test[cell])
