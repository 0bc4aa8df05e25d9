"""What is a scheme that draws splits, and what does one draw look like? (Kilinc & Uysal 2017, section 3)

A scheme is a scikit-learn cross-validator whose ``groups`` are source ids, so that it also serves in people's own
``cross_val_score``. To that it adds random access: ``draw(r, ...)`` is the ``r``-th split without the ones before it,
so that trials can be drawn anywhere, in any order, by any number of workers.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Integer, Shaped

from touchstone.core.data.errors import DataError

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
        ...

    @property
    def test_share(self) -> float:
        """The wanted share of the test part, between 0 and 1."""
        ...

    @property
    def seed(self) -> int:
        """What the draws are derived from."""
        ...

    def draw(
        self,
        repeat: int,
        y: Shaped[np.ndarray, " n_samples"],
        groups: Shaped[np.ndarray, " n_samples"] | None = None,
    ) -> Split:
        """Give the split of one repeat, counted from 0."""
        ...

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Give every split in turn, as scikit-learn asks for them."""
        ...

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Give the number of splits that ``split`` yields for the same arguments."""
        ...


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
