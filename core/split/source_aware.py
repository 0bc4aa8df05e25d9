"""What changes when whole sources stay unseen? Exclusive, inclusive, random splits (Kilinc & Uysal 2017, section 3)"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Bool

from touchstone.core.data.errors import DataError
from touchstone.core.split import scheme
from touchstone.core.split.held_out import every_combination, n_combinations, walk_over_sources, within_classes
from touchstone.core.split.scheme import Cells, Codes, Ids, Split


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
