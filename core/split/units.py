"""How does no unit come to lie on both sides? A scheme is shown one row for each unit, and places all of it alike.

That row has the mean of the unit's features, and of labels the one of which the unit holds most, as a share of the
label. Only a contrast that is made of just that puts units on both sides: sources seen in training, or a random split,
against held-out sources, where each source lies in one unit.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.tables.names import plural_of
from touchstone.core.data.values import Codes, Ids, quoted
from touchstone.core.split.folds import SourceInclusiveFolds
from touchstone.core.split.scheme import (
    RANDOM,
    Folds,
    FoldScheme,
    Random,
    SourceExclusive,
    SourceInclusive,
    Split,
    SplitScheme,
    check_repeat,
    number,
)

SPREADING = (Random, SourceInclusive, SourceInclusiveFolds)
"""What is held against held-out sources; where sources are given, they are spread on purpose."""

Units = Codes
"""The unit of each sample, counted from 0 without gaps."""

Rows = Integer[np.ndarray, " n_rows"]
Counts = Integer[np.ndarray, " n_classes"]


def folds_of_units(scheme: FoldScheme, units: Units | None, X: Any, y: Any = None, groups: Any = None) -> Folds:
    """The folds of a scheme, no unit in two of them; its folds as they are where `units` is None.

    Raises DataError where there are fewer units than folds.

    Examples
    --------
    >>> from touchstone.core.split.folds import RandomFolds
    >>> authors = np.array([0, 0, 1, 1, 2, 2])
    >>> folds_of_units(RandomFolds(n_folds=3), authors, np.zeros((6, 1)))
    array([2, 2, 0, 0, 1, 1])
    """
    if units is None or are_spread(scheme, units, groups):
        return scheme.assign(X, y, groups)
    if (n_units := int(units.max()) + 1) < scheme.n_folds and scheme.needs != "groups":
        raise DataError(
            f"{scheme.n_folds} folds cannot be made of {n_units} units, each of them whole. "
            + (f"Ask for {n_units} folds or fewer." if n_units > 1 else "Say that samples belong to other units.")
        )
    features = None if X is None else means_of_units(units, np.asarray(X, dtype=np.float64))
    return scheme.assign(features, *_labels_and_sources(scheme, units, y, groups))[units]


def n_splits_of_units(scheme: FoldScheme | SplitScheme, units: Units | None, y: Any, groups: Any = None) -> int:
    """How many splits a scheme has of these samples, each unit whole.

    Examples
    --------
    >>> from touchstone.core.split.folds import LeaveOneGroupOut
    >>> n_splits_of_units(LeaveOneGroupOut(), np.array([0, 0, 1]), [0, 1, 1], ["ann", "ann", "bob"])
    2
    """
    if units is not None and not are_spread(scheme, units, groups):
        y, groups = _labels_and_sources(scheme, units, y, groups)
    return scheme.get_n_splits(y, y, groups)


def draw_of_units(scheme: SplitScheme, repeat: int, units: Units | None, y: Ids, groups: Ids | None = None) -> Split:
    """The split of one repeat, no unit in both parts; the scheme's own where `units` is None.

    Where units are in several sources, whoever holds sources out tests on none that was trained on, and leaves out of
    training what is left of those held out.

    Examples
    --------
    >>> authors = np.array([0, 0, 1, 1, 2, 2])
    >>> draw_of_units(Random(test_share=0.3), 0, authors, np.zeros(6, dtype=int))
    Split(train=array([0, 1, 2, 3]), test=array([4, 5]))
    """
    if units is None or are_spread(scheme, units, groups):
        return scheme.draw(repeat, y, groups)
    if isinstance(scheme, Random):
        check_repeat(repeat, scheme.n_repeats)
        rng = np.random.default_rng([scheme.seed, RANDOM, repeat])
        return Split.of(_some(units, y, scheme, rng)[units])
    labels, sources = _labels_and_sources(scheme, units, y, groups)
    split = scheme.draw(repeat, labels, sources)
    in_test = np.isin(units, split.test)
    if not isinstance(scheme, SourceExclusive) or groups is None:
        return Split.of(in_test)
    train = np.flatnonzero(~in_test & ~np.isin(groups, sources[split.test]))
    return Split(train, np.flatnonzero(in_test & ~np.isin(groups, groups[train])))


def are_spread(scheme: object, units: Units | None, groups: Any) -> bool:
    """Whether a scheme is to spread known sources, each of which lies in a single unit.

    Examples
    --------
    >>> are_spread(SourceInclusive(), np.array([0, 0, 1]), np.array(["ann", "ann", "bob"]))
    True
    """
    if units is None or groups is None or not isinstance(scheme, SPREADING):
        return False
    sources = number(np.asarray(groups), "source")[0]
    return len(np.unique(np.column_stack([sources, units]), axis=0)) == int(sources.max()) + 1


def of_size(split: Split, n_per_class: Counts, y: Codes, units: Units | None, *, rng: np.random.Generator) -> Split:
    """A split whose training part has so many samples of each class, at random; smaller ones lie within larger ones.

    Where a class has too few, samples of the test part (whole units of it) train instead. What is cut from training is
    in neither part. Fewer train only where nothing would be left to test.

    Examples
    --------
    >>> split, y = Split(np.array([0, 1, 2, 3]), np.array([4, 5])), np.array([0, 0, 0, 1, 1, 1])
    >>> smaller = of_size(split, np.array([1, 2]), y, None, rng=np.random.default_rng(0))
    >>> y[smaller.train].tolist(), y[smaller.test].tolist()
    ([0, 1, 1], [1])
    """
    order = rng.permutation(len(y))
    train, test = (part[np.argsort(order[part])] for part in split)
    missing = n_per_class - np.bincount(y[train], minlength=len(n_per_class))
    if (missing > 0).any():
        moved = (
            _first_units(test, missing, y, units) if units is not None else _first(test, missing, y)[: len(test) - 1]
        )
        train, test = np.concatenate([train, moved]), np.setdiff1d(test, moved)
    return Split(np.sort(_first(train, n_per_class, y)), np.sort(test))


def partners(splits: Iterable[Split], held_to: Sequence[Split], y: Codes, *, seed: int) -> Iterator[Split]:
    """Splits with as many training rows of each class as those they are held to have, one after another in turn.

    Where the other split tests nothing, the sizes of its training part are not asked for.

    Examples
    --------
    >>> y, sources = np.zeros(10, dtype=int), np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
    >>> held_out, seen = (
    ...     list(scheme(n_repeats=3).split(None, y, sources)) for scheme in (SourceExclusive, SourceInclusive)
    ... )
    >>> sizes = [len(split.train) for split in held_out]
    >>> sizes == [len(split.train) for split in partners(seen, held_out, y, seed=0)]
    True
    """
    for place, split in enumerate(splits):
        other = held_to[place % len(held_to)]
        n_per_class = np.bincount(y[other.train if len(other.test) else split.train], minlength=int(y.max()) + 1)
        yield of_size(split, n_per_class, y, None, rng=np.random.default_rng([seed, place]))


def _first(rows: Rows, n_per_class: Counts, y: Codes) -> Integer[np.ndarray, " n_first"]:
    """Of each class the first rows, as many as are asked for."""
    return rows[pd.Series(rows).groupby(y[rows]).cumcount().to_numpy() < n_per_class[y[rows]]]


def _first_units(rows: Rows, n_per_class: Counts, y: Codes, units: Units) -> Integer[np.ndarray, " n_first"]:
    """The rows of the first units that have what is asked for of some class; at least one unit is not among them."""
    left, chosen, n_chosen = n_per_class.copy(), [], 0
    for unit in dict.fromkeys(units[rows].tolist()):
        of_unit = rows[units[rows] == unit]
        if (left[y[of_unit]] > 0).any() and n_chosen + len(of_unit) < len(rows):
            chosen.append(of_unit)
            n_chosen += len(of_unit)
            left -= np.bincount(y[of_unit], minlength=len(left))
    return np.concatenate([*chosen, rows[:0]])


def labels_of_units(units: Units, y: Ids) -> Shaped[np.ndarray, " n_units"]:
    """The label of each unit: that of which it holds the largest share, so that rare ones are seen.

    Examples
    --------
    >>> labels_of_units(np.array([0, 0, 0, 1]), np.array(["cat", "cat", "dog", "cat"]))
    array(['dog', 'cat'], dtype='<U3')
    """
    codes, names = number(y, "label")
    return names[_most(units, codes, 1 / np.bincount(codes)[codes])]


def sources_of_units(units: Units, groups: Ids) -> Shaped[np.ndarray, " n_units"]:
    """The source of each unit: that of most of its samples.

    Examples
    --------
    >>> sources_of_units(np.array([0, 0, 0, 1]), np.array(["ann", "bob", "bob", "ann"]))
    array(['bob', 'ann'], dtype='<U3')
    """
    codes, names = number(groups, "source")
    return names[_most(units, codes, np.ones(len(codes)))]


def joined_sources(units: Units, groups: Ids) -> Shaped[np.ndarray, " n_units"]:
    """The source of each unit where sources that share a unit are one, called as the first of them.

    Raises DataError where through shared units all are one.

    Examples
    --------
    >>> joined_sources(np.array([0, 0, 1, 2]), np.array(["bob", "ann", "bob", "cem"]))
    array(['ann', 'ann', 'cem'], dtype='<U3')
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    codes, names = number(groups, "source")
    n_sources, n_units = len(names), int(units.max()) + 1
    edges = (np.ones(len(codes)), (codes, n_sources + units))
    size = n_sources + n_units
    component = connected_components(coo_matrix(edges, shape=(size, size)), directed=False)[1]
    first = np.unique(component[:n_sources], return_index=True)[1]
    if len(first) == 1 and n_sources > 1:
        raise DataError(
            f"The {n_sources} sources cannot be held apart: through the units that they share all are one. Say that "
            "samples belong to other units, or name other sources."
        )
    name_of = np.empty(component.max() + 1, dtype=np.int64)
    name_of[component[first]] = first
    return names[name_of[component[n_sources:]]]


def means_of_units(units: Units, rows: Float[np.ndarray, "n_samples *shape"]) -> Float[np.ndarray, "n_units *shape"]:
    """The mean of each unit's rows.

    Examples
    --------
    >>> means_of_units(np.array([0, 0, 1]), np.array([[1.0], [2.0], [7.0]])).tolist()
    [[1.5], [7.0]]
    """
    sizes = np.bincount(units)
    order = np.argsort(units, kind="stable")
    total = np.add.reduceat(rows[order], np.cumsum(sizes) - sizes, axis=0)
    return total / sizes.reshape(-1, *[1] * (rows.ndim - 1))


def _labels_and_sources(scheme: object, units: Units, y: Any, groups: Any) -> tuple[Any, Any]:
    """Label and source of each unit; whoever needs sources, and keeps each in one fold, is shown joined ones."""
    labels = None if y is None else labels_of_units(units, np.asarray(y))
    sources_of = joined_sources if getattr(scheme, "needs", None) == "groups" else sources_of_units
    return labels, None if groups is None else sources_of(units, np.asarray(groups))


def _some(units: Units, y: Ids, scheme: Random, rng: np.random.Generator) -> Bool[np.ndarray, " n_units"]:
    """Which units are tested on, at random: of each label as many as come nearest to the share of its samples.

    No class loses all its training samples, and at least one unit is tested on.
    """
    codes = number(y, "label")[0]
    all_sizes = np.bincount(units)
    n_units = len(all_sizes)
    label = labels_of_units(units, codes) if scheme.stratified else np.zeros(n_units, dtype=np.int64)
    order = rng.permutation(n_units)
    order = order[np.argsort(label[order], kind="stable")]
    sizes, place = all_sizes[order], np.unique(label[order], return_inverse=True)[1]
    begins = np.unique(place, return_index=True)[1]
    before = np.cumsum(sizes) - sizes
    before = before - before[begins][place]
    in_test = np.zeros(n_units, dtype=bool)
    in_test[order] = before + sizes / 2 <= scheme.test_share * np.bincount(place, weights=sizes)[place]
    if not in_test.any():
        in_test[order[begins[np.bincount(place).argmax()]]] = True
    for code in np.flatnonzero(np.bincount(codes, ~in_test[units]) == 0).tolist():
        n_of_unit = np.bincount(units, codes == code)
        if not n_of_unit[~in_test].any():
            in_test[n_of_unit.argmax()] = False
    if not in_test.any():
        raise DataError(
            f"No unit can be tested on: each of the {n_units} has all samples of some class. Give classes samples from "
            "several units, or say that samples belong to other units."
        )
    return in_test


def _most(units: Units, codes: Codes, weights: Float[np.ndarray, " n_samples"]) -> Integer[np.ndarray, " n_units"]:
    """Of each unit the code that weighs most among its samples, of equal ones the first."""
    width = int(codes.max()) + 1
    cells, cell = np.unique(units * width + codes, return_inverse=True)
    heaviest = np.lexsort((-np.bincount(cell, weights), cells // width))
    return cells[heaviest][np.unique(cells[heaviest] // width, return_index=True)[1]] % width


# Which samples does a file itself keep for testing? A test set of one's own is that of the file's parts.


DRAWN, FILE = "drawn", "file"
"""Where a test set comes from: drawn here at random, or the test part that the file marks."""


def has_test_set(dataset: Dataset) -> bool:
    """Whether the file of a data set marks training samples and test samples.

    >>> from touchstone.core.data import Dataset
    >>> fruit = {"x": [[1.0], [9.0], [8.5]], "y": [0, 1, 1], "class_names": ["plum", "melon"], "ids": "abc"}
    >>> [has_test_set(Dataset("fruit", "tabular", **fruit, part=part)) for part in (None, ["train", "train", "test"])]
    [False, True]
    """
    return dataset.part is not None and {"train", "test"} <= {*dataset.part}


def rows_to_judge(dataset: Dataset) -> Integer[np.ndarray, " n"]:
    """Which samples a model from elsewhere is judged on: those that the file marks as test, or all where it does not.

    >>> rows_to_judge(Dataset("fruit", "tabular", [[1.0], [9.0]], [0, 1], ["plum", "melon"], "ab"))
    array([0, 1])
    """
    return np.flatnonzero(dataset.part == "test") if has_test_set(dataset) else np.arange(dataset.n_samples)


def split_by_part(dataset: Dataset) -> Split:
    """Train on the rows that the file marks as train, test on those that it marks as test; validation is in neither.

    Of units that the file tests on none is trained on, whatever it says of some of their samples. Raises DataError
    where the file does not mark both, and where a class has no training sample. A class without a test
    sample is no error: that is something to be told of the test set.

    >>> fruit = Dataset("fruit", "tabular", [[1.0], [9.0], [8.5], [2.0]], [0, 1, 1, 0], ["plum", "melon"], "abcd",
    ...                 part=["train", "train", "test", "validation"])
    >>> split_by_part(fruit)
    Split(train=array([0, 1]), test=array([2]))
    """
    if not has_test_set(dataset):
        raise DataError(
            f"{dataset.name}: its file does not mark which samples are for training and which for testing. Let the "
            "test set be drawn at random, or upload the file with a column that says train or test in every row."
        )
    train, test = (np.flatnonzero(dataset.part == part) for part in ("train", "test"))
    if (units := dataset.unit_codes) is not None:
        train = train[~np.isin(units[train], units[test])]
    absent = np.flatnonzero(np.bincount(dataset.y[train], minlength=dataset.n_classes) == 0)
    if len(absent):
        apart = "" if units is None else f" and of {plural_of(dataset.unit_word)} that are not tested on"
        raise DataError(
            f"{dataset.name}: no sample of class {quoted(dataset.class_names[absent[0]])} is marked as train{apart}, "
            f"so no model can learn it. Mark some of its samples as train, or let the test set be drawn at random."
        )
    return Split(train, test)
