"""What is a scheme that draws splits, and what does one draw look like? (Kilinc & Uysal 2017, section 3)

A scheme is a scikit-learn cross-validator whose ``groups`` are source ids, so that it also serves in people's own
``cross_val_score``. To that it adds random access: ``draw(r, ...)`` is the ``r``-th split without the ones before it,
so that trials can be drawn anywhere, in any order, by any number of workers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.parameters import asks

# Which rows belong together when sources are held out? The cells: one per class and source that occur together.


Codes = Integer[np.ndarray, " n_samples"]
"""A whole number for each sample: its class, source, unit or fold."""
Ids = Shaped[np.ndarray, " n_samples"]
"""What a class, a source or a unit is called, for each sample."""


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
    >>> from touchstone.core.split import GroupFolds
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
