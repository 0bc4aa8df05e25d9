"""What is a scheme that draws splits, and what does one draw look like? (Kilinc & Uysal 2017, section 3)

A scheme is a scikit-learn cross-validator whose ``groups`` are source ids, so that it also serves in people's own
``cross_val_score``. To that it adds random access: ``draw(r, ...)`` is the ``r``-th split without the ones before it,
so that trials can be drawn anywhere, in any order, by any number of workers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice, product
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.values import Codes, Ids
from touchstone.core.parameters import asks

# Which rows belong together when sources are held out? The cells: one per class and source that occur together.


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows by class and source. Classes, sources and cells are numbered in sorted order.

    Examples
    --------
    >>> cells = read_cells(np.array(["cat", "cat", "dog"]), np.array(["ann", "bob", "bob"]))
    >>> cells.of_row, cells.y, cells.source
    (array([0, 1, 2]), array([0, 0, 1]), array([0, 1, 1]))
    """

    of_row: Codes
    y: Integer[np.ndarray, " n_cells"]
    source: Integer[np.ndarray, " n_cells"]
    labels: Shaped[np.ndarray, " n_classes"]
    source_ids: Shaped[np.ndarray, " n_sources"]

    @property
    def sizes(self) -> Integer[np.ndarray, " n_cells"]:
        """Count the rows of each cell.

        Examples
        --------
        >>> read_cells(np.array([0, 0, 1]), np.array([5, 5, 7])).sizes
        array([2, 1])
        """
        return np.bincount(self.of_row, minlength=len(self.y))

    @property
    def shared(self) -> bool:
        """Say whether any source occurs in more than one class.

        Examples
        --------
        >>> read_cells(np.array([0, 1]), np.array(["ann", "ann"])).shared
        True
        """
        return len(self.y) > len(self.source_ids)

    def table(self) -> Integer[np.ndarray, "n_sources n_classes"]:
        """Count the rows of each source (row) in each class (column).

        Examples
        --------
        >>> read_cells(np.array([0, 1, 1]), np.array(["ann", "ann", "bob"])).table()
        array([[1, 1],
               [0, 1]])
        """
        table = np.zeros((len(self.source_ids), len(self.labels)), dtype=np.int64)
        table[self.source, self.y] = self.sizes
        return table


def read_cells(y: Shaped[np.ndarray, " n_labels"], groups: Shaped[np.ndarray, " n_groups"] | None) -> Cells:
    """Number the classes, sources and cells of the rows; labels and source ids may be numbers or strings.

    Raises
    ------
    DataError
        Without sources, where the lengths differ, or where a label or source is missing.
    """
    if groups is None:
        raise DataError("This scheme needs the source of every sample (groups=...), and there are none.")
    if len(y) != len(groups):
        raise DataError(f"There are {len(y)} labels and {len(groups)} sources: every sample needs one of each.")
    y_code, labels = number(y, "label")
    source_code, source_ids = number(groups, "source")
    cells, of_row = np.unique(y_code * len(source_ids) + source_code, return_inverse=True)
    return Cells(of_row, cells // len(source_ids), cells % len(source_ids), labels, source_ids)


def number(values: Ids, what: str) -> tuple[Codes, Shaped[np.ndarray, " n_distinct"]]:
    """Number the distinct values in sorted order; missing ones are refused.

    Examples
    --------
    >>> number(np.array(["b", "a", "b"]), "label")
    (array([1, 0, 1]), array(['a', 'b'], dtype='<U1'))
    """
    if len(values) == 0:
        raise DataError(f"There is not a single {what}: a split needs samples.")
    codes, distinct = pd.factorize(values, sort=True)
    if (codes < 0).any():
        raise DataError(f"The {what} of sample {int(np.argmin(codes))} (counted from 0) is missing.")
    return codes, np.asarray(distinct)


# What is a scheme that draws splits? (Kilinc & Uysal 2017, section 3)


# Each way of drawing has a stream of random numbers of its own: default_rng([seed, stream, ...]).
WITHIN_CLASSES, OVER_CLASSES, INCLUSIVE, RANDOM = range(4)
RANDOM_FOLDS, STRATIFIED_FOLDS, GROUP_FOLDS, INCLUSIVE_FOLDS, KMEANS_FOLDS, SAME_SIZE_FOLDS, SDS_FOLDS = range(4, 11)
PAIRED_SOURCES, MAX_SHIFT, BALLS, QUANTILES = range(11, 15)


class Split(NamedTuple):
    """Which rows train a model and which test it; unpacks like scikit-learn's ``train, test``.

    Both are sorted and share no row.

    Examples
    --------
    >>> train, test = Split(np.array([0, 2]), np.array([1]))
    >>> test
    array([1])
    """

    train: Integer[np.ndarray, " n_train"]
    test: Integer[np.ndarray, " n_test"]

    @classmethod
    def of(cls, in_test: Bool[np.ndarray, " n_samples"]) -> "Split":
        """Make a split from a mark per row: does it belong to the test part?

        Examples
        --------
        >>> Split.of(np.array([False, True, False]))
        Split(train=array([0, 2]), test=array([1]))
        """
        return cls(np.flatnonzero(~in_test), np.flatnonzero(in_test))


@runtime_checkable
class SplitScheme(Protocol):
    """What every entry of ``DRAW_SCHEMES`` offers: a frozen dataclass with ``n_repeats``, ``test_share`` and ``seed``.

    Draw ``r`` depends on the data, the fields and ``r`` alone, and not on ``n_repeats``: a longer run extends a
    shorter one. (Enumerated exclusive splits are the exception: they are all there is.)
    """

    @property
    def n_repeats(self) -> int:
        """How many splits are drawn."""

    @property
    def test_share(self) -> float:
        """The wanted share of the test part, between 0 and 1."""

    @property
    def seed(self) -> int:
        """What the draws are derived from."""

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn, as scikit-learn asks for them."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Give the number of splits that ``split`` yields for the same arguments."""


def asks_for_groups(self: Any) -> Any:
    """Tell scikit-learn's metadata routing that ``split`` takes ``groups``, as its own splitters by groups do.

    It is the ``get_metadata_routing`` of every scheme that reads sources: with routing enabled,
    ``cross_val_score(..., cv=scheme, params={"groups": sources})`` then hands them over.

    Examples
    --------
    >>> from touchstone.core.split.folds import GroupFolds
    >>> GroupFolds().get_metadata_routing()
    {'split': {'groups': True}}
    """
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner=self)
    request.split.add_request(param="groups", alias=True)
    return request


def check_fields(n_repeats: int, test_share: float, seed: int) -> None:
    """Refuse values that no scheme can draw with.

    Examples
    --------
    >>> check_fields(100, 20.0, 0)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The test share must lie between 0 and 1 (both excluded), not 20. For 20 ...
    """
    if n_repeats < 1:
        raise DataError(f"The number of repeats must be 1 or more, not {n_repeats}.")
    if not 0 < test_share < 1:
        hint = f" For {test_share:g} % write {test_share / 100:g}." if 1 <= test_share < 100 else ""
        raise DataError(f"The test share must lie between 0 and 1 (both excluded), not {test_share:g}.{hint}")
    if seed < 0:
        raise DataError(f"The seed must be 0 or more, not {seed}.")


def check_repeat(repeat: int, n_splits: int) -> None:
    """Refuse a repeat that the scheme does not have.

    Examples
    --------
    >>> check_repeat(20, 20)
    Traceback (most recent call last):
    IndexError: repeat 20 is not among the 20 splits of this scheme (0 to 19)
    """
    if not 0 <= repeat < n_splits:
        raise IndexError(f"repeat {repeat} is not among the {n_splits} splits of this scheme (0 to {n_splits - 1})")


# What is a scheme that cuts all samples into folds? (Wecker et al. 2020, section 3)


NO_FOLD = -1
"""The fold of a row that is in no test part: a single split calls its test part fold 0 and all else so."""

Folds = Codes
Features = Float[np.ndarray, "n_samples n_features"]


def held_whole(folds: Folds, y: Codes) -> dict[int, int]:
    """The fold that holds all samples of a class, by the codes of such classes: whoever is tested there saw none.

    Examples
    --------
    >>> held_whole(np.array([0, 1, 1, 1, NO_FOLD]), np.array([0, 0, 1, 1, 2]))
    {1: 1}
    """
    lowest = np.full(y.max() + 1, len(folds))
    highest = np.full(y.max() + 1, NO_FOLD)
    np.minimum.at(lowest, y, folds)
    np.maximum.at(highest, y, folds)
    return {int(label): int(highest[label]) for label in np.flatnonzero((lowest == highest) & (highest >= 0))}


@runtime_checkable
class FoldScheme(Protocol):
    """What every entry of ``FOLD_SCHEMES`` offers: a frozen dataclass with ``n_folds``, ``seed`` and its own fields.

    Fields of its own that ask (``core.parameters.asks``) are its options: they stand in the page's form, in plans and
    in addresses. ``needs`` says what it reads besides labels: "features", "labels", "groups", "values" (X is one number
    per row) or "nothing". ``column`` is its name in exported files. ``single``: one test part instead of folds.
    ``label_exact``: each label is spread evenly, to the sample. ``same_size``: the folds differ by one sample at most.
    """

    title: ClassVar[str]
    needs: ClassVar[str]
    column: ClassVar[str]
    single: ClassVar[bool]
    label_exact: ClassVar[bool]
    same_size: ClassVar[bool]

    @property
    def n_folds(self) -> int:
        """How many folds are made."""

    @property
    def seed(self) -> int:
        """What all randomness is derived from."""

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold, counted from 0, in whose test part each row is; -1 for none."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn, as scikit-learn asks for them."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Give the number of splits that ``split`` yields for the same arguments."""


def check_folds(n_folds: int, seed: int) -> None:
    """Refuse values that no scheme can make folds with.

    Examples
    --------
    >>> check_folds(1, 0)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The number of folds must be 2 or more, not 1: one is tested on, the ...
    """
    if n_folds < 2:
        raise DataError(f"The number of folds must be 2 or more, not {n_folds}: one is tested on, the others train.")
    if seed < 0:
        raise DataError(f"The seed must be 0 or more, not {seed}.")


def check_starts(n_init: int) -> None:
    """Refuse to cluster without a single start.

    Examples
    --------
    >>> check_starts(0)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The number of starts must be 1 or more, not 0.
    """
    if n_init < 1:
        raise DataError(f"The number of starts must be 1 or more, not {n_init}.")


def asks_starts() -> Any:
    """The field ``n_init`` of a scheme that clusters: how often it starts, of which the best counts."""
    return asks(
        8, "Starts", "How often clustering starts anew; the best counts. More starts take longer.", within=(1, 100)
    )


@dataclass(frozen=True)
class KFolds:
    """What the fold schemes here share: they cut into ``n_folds`` folds, unless ``single``, and draw from ``seed``."""

    n_folds: int = 5
    seed: int = 0

    single: ClassVar[bool] = False
    label_exact: ClassVar[bool] = False
    same_size: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_folds(self.n_folds, self.seed)

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Give the fold, counted from 0, in whose test part each row is; -1 for none."""
        raise NotImplementedError

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn (scikit-learn's contract): each fold is tested on once, and the rest trains."""
        folds = self.assign(X, y, groups)
        for fold in range(folds.max() + 1):
            yield Split.of(folds == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits: 1 of a single split, otherwise ``n_folds``, whatever the data."""
        return 1 if self.single else self.n_folds


@dataclass(frozen=True)
class StartedFolds(KFolds):
    """Those that cluster, the best of ``n_init`` starts."""

    n_init: int = asks_starts()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_starts(self.n_init)


def count_rows(X: Any, y: Any, groups: Any, *, n_folds: int) -> int:
    """Count the rows of whatever is there; lengths that differ and fewer rows than folds are refused.

    Examples
    --------
    >>> count_rows(None, [0, 1, 1], None, n_folds=5)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: 5 folds cannot be made of 3 samples: each fold needs one. Ask for 3 ...
    """
    given = {"rows of X": X, "labels": y, "sources": groups}
    lengths = {what: np.shape(values)[0] for what, values in given.items() if values is not None}
    if len(set(lengths.values())) != 1:
        listed = ", ".join(f"{n} {what}" for what, n in lengths.items()) or "neither X nor labels"
        raise DataError(f"There are {listed}: every sample needs one of each.")
    n_rows = next(iter(lengths.values()))
    if n_rows < n_folds:
        raise DataError(
            f"{n_folds} folds cannot be made of {n_rows} samples: each fold needs one. Ask for {n_rows} folds or fewer."
        )
    return n_rows


def label_codes_of(y: Any) -> tuple[Folds, Shaped[np.ndarray, " n_labels"]]:
    """Number the labels, and give them in sorted order; a scheme that spreads labels cannot do without."""
    if y is None:
        raise DataError("This scheme needs the label of every sample (y=...), and there are none.")
    return number(np.asarray(y), "label")


def group_codes_of(groups: Any) -> tuple[Folds, Shaped[np.ndarray, " n_groups"]]:
    """Number the groups, which are source ids, and give them in sorted order."""
    if groups is None:
        raise DataError(
            "This scheme needs the source of every sample (groups=...), and there are none. "
            "Take a data set that knows its sources, or a scheme that clusters."
        )
    return number(np.asarray(groups), "source")


def features_of(X: Any) -> Features:
    """Read X as one vector per row; images are flattened. Refused: what is no number, is not finite, or never varies.

    Examples
    --------
    >>> features_of([[1, 2], [1, 2]])
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: All 2 samples have the same features, so none is nearer to another: ...
    """
    if X is None:
        raise DataError("This scheme needs the features of every sample (X=...), and there are none.")
    try:
        features = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            "This scheme needs features that are numbers, the same number of them for every sample. "
            "Turn text or categories into vectors first."
        ) from error
    features = features.reshape(len(features), -1)
    unusable = ~np.isfinite(features).all(axis=1)
    if unusable.any():
        raise DataError(
            f"{int(unusable.sum())} of {len(features)} samples have features that are missing or infinite, "
            f"the first of them sample {int(np.argmax(unusable))} (counted from 0). Fill them in or leave them out."
        )
    if (features == features[:1]).all():
        raise DataError(
            f"All {len(features)} samples have the same features, so none is nearer to another: choose another "
            "representation, or a scheme that needs no features."
        )
    return features


def random_state(seed: int, *stream: int) -> int:
    """Derive the seed that scikit-learn takes (32 bits) from ours, another one for every stream.

    Examples
    --------
    >>> random_state(0, 1) == random_state(0, 2)
    False
    """
    return int(np.random.SeedSequence([seed, *stream]).generate_state(1)[0])


def deal(piles: Codes, n_folds: int, *, rng: np.random.Generator) -> Codes:
    """Deal the rows out to the folds like cards, pile after pile, each pile shuffled.

    Every pile is spread evenly, and so is every run of neighbouring piles: floor or ceiling of its share in each fold.

    Examples
    --------
    >>> piles = np.repeat([0, 1], [5, 10])
    >>> folds = deal(piles, 5, rng=np.random.default_rng(0))
    >>> np.bincount(folds[:5]), np.bincount(folds[5:])
    (array([1, 1, 1, 1, 1]), array([2, 2, 2, 2, 2]))
    """
    order = rng.permutation(len(piles))
    order = order[np.argsort(piles[order], kind="stable")]
    folds = np.empty(len(piles), dtype=np.int64)
    folds[order] = rng.permutation(n_folds)[np.arange(len(piles)) % n_folds]
    return folds


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


def _take(queue: list[int], held_out: np.ndarray, table: np.ndarray, n_wanted: float) -> list[int]:
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


# What changes when whole sources stay unseen? Exclusive, inclusive, random splits (Kilinc & Uysal 2017, section 3)


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
        check_fields(self.n_repeats, self.test_share, self.seed)
        if self.across not in (None, "class", "all"):
            raise DataError(f"Sources are held out across 'class' or 'all', not {self.across!r}.")

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0."""
        cells = read_cells(y, groups)
        check_repeat(repeat, self._n_splits(cells))
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

    get_metadata_routing = asks_for_groups

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
        check_fields(self.n_repeats, self.test_share, self.seed)

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0."""
        check_repeat(repeat, self.n_repeats)
        return self._draw(repeat, read_cells(y, groups))

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

    get_metadata_routing = asks_for_groups

    def _draw(self, repeat: int, cells: Cells) -> Split:
        seeds = [self.seed, INCLUSIVE]
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
        check_fields(self.n_repeats, self.test_share, self.seed)

    def draw(self, repeat: int, y: Ids, groups: Ids | None = None) -> Split:
        """Give the split of one repeat, counted from 0; sources play no part."""
        check_repeat(repeat, self.n_repeats)
        seeds = [self.seed, RANDOM]
        if self.stratified:
            classes = number(y, "label")[0]
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
    return read_cells(np.asarray(y), None if groups is None else np.asarray(groups))


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
    order, turn = _seated(len(cell), repeat, test_share=test_share, seeds=seeds)
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = pd.Series(order).groupby(cell[order]).cumcount()
    return Split.of((rank - turn * n_test[cell]) % sizes[cell] < n_test[cell])


DRAW_SCHEMES: dict[str, type[SplitScheme]] = {
    "source_exclusive": SourceExclusive,
    "source_inclusive": SourceInclusive,
    "random": Random,
}
