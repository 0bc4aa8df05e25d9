"""Are these predictions of the same samples? Files of several models, told by ids, or by the order of their rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import listed

FEWEST = 10
"""Fewer samples in common say nothing of two models."""
_AGREE = 0.9
"""Where ids name the same samples, truths agree at least so often; where less, ids only count rows."""
_MANY_CHANGES = 20
"""So many more changes of class from row to row than a sorted file has are no accident, however many classes."""
_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class SameSamples:
    """Which rows of each file are of one sample: `rows` has for each file as many, in one order.

    `by` says how that is known: by ids, or by the order of rows whose true classes are the same one by one. `n_given`
    is how many rows each file has.
    """

    rows: tuple[Integer[np.ndarray, " n_common"], ...]
    by: Literal["ids", "order"]
    n_given: tuple[int, ...]

    @property
    def n(self) -> int:
        """How many samples all files have."""
        return len(self.rows[0])

    @property
    def is_whole(self) -> bool:
        """Whether no file has a sample that another lacks."""
        return {*self.n_given} == {self.n}


def same_samples(files: Sequence[Predictions], *, are_same: bool = False) -> SameSamples | None:
    """The samples that all files predict; None where they are of different samples, as far as one can tell.

    Where somebody knows that they `are_same`, files without ids are so in any order of their true classes.

    Ids are compared as they are, or as whole numbers ("007" and "7") where that alone finds common ones. Files without
    ids (whose ids count rows) are of the same samples where all true classes are the same in the same order, and that
    order is none that a sorted file has anyhow.

    Raises DataError, naming three, where common ids have different true classes.

    Examples
    --------
    >>> y = np.arange(12) % 2
    >>> def file(ids):
    ...     return Predictions(ids, y, y, ["a", "b"])
    >>> common = same_samples([file([f"{7 * i:03}" for i in range(12)]), file([str(7 * i) for i in range(12)])])
    >>> common.by, common.n, common.is_whole
    ('ids', 12, True)
    >>> same_samples([file([f"old {i}" for i in range(12)]), file([f"new {i}" for i in range(12)])]) is None
    True
    """
    n_given = tuple(file.n_samples for file in files)
    if any(_counts_rows(file) for file in files):
        if _have_one_order(files, of_any=are_same):
            return SameSamples((np.arange(n_given[0]),) * len(files), "order", n_given)
        if all(_counts_rows(file) for file in files):
            return None
    of_recipes = any(map(trained_again, files))
    keys = [_keys(file, of_recipes=of_recipes) for file in files]
    common = _common(keys)
    if len(common) < FEWEST and all(key[0].isdecimal() for of_file in keys for key in of_file):
        as_numbers = [[(str(int(key[0])), *key[1:]) for key in of_file] for of_file in keys]
        if all(len({*of_file}) == len(of_file) for of_file in as_numbers):
            keys, common = as_numbers, _common(as_numbers)
    if len(common) < FEWEST:
        return None
    places = [{key: row for row, key in enumerate(of_file)} for of_file in keys]
    rows = tuple(np.array([place[key] for key in common], dtype=np.int64) for place in places)
    return SameSamples(rows, "ids", n_given) if _agree(files, rows, common) else None


def _counts_rows(file: Predictions) -> bool:
    return bool((file.ids == np.arange(file.n_samples).astype(str)).all())


def _keys(file: Predictions, *, of_recipes: bool) -> list[tuple[str, ...]]:
    """Ids; where they stand once per trial (a seed, say), with the place of the trial among all by name.

    A model that was trained once is beside the first training of a recipe.
    """
    if not of_recipes:
        return [(str(each),) for each in file.ids]
    trial = np.zeros(file.n_samples, dtype=np.int64)
    if trained_again(file):
        trial = np.unique(file.groups["trial"], return_inverse=True)[1]
    return list(zip(map(str, file.ids), map(str, trial.tolist()), strict=True))


def trained_again(file: Predictions) -> bool:
    """Whether samples stand several times in a file, once per trial.

    >>> trained_again(Predictions(["a", "a"], [0, 0], [0, 1], ["x", "y"], groups={"trial": ["seed 1", "seed 2"]}))
    True
    """
    return "trial" in file.groups and len(set(file.ids.tolist())) < file.n_samples


def _common(keys: Sequence[Sequence[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    there = reduce(set.intersection, (set(of_file) for of_file in keys))
    return [key for key in keys[0] if key in there]


def _truths(file: Predictions) -> np.ndarray:
    return np.array(file.class_names, dtype=object)[file.y_true]


def could_be_either(files: Sequence[Predictions]) -> bool:
    """Whether nothing tells files of the same samples from files of others: no ids, and classes in one sorted order.

    >>> sorted_file = Predictions([str(row) for row in range(20)], [0] * 10 + [1] * 10, [0] * 20, ["a", "b"])
    >>> could_be_either([sorted_file, sorted_file]), same_samples([sorted_file, sorted_file]) is None
    (True, True)
    >>> same_samples([sorted_file, sorted_file], are_same=True).n
    20
    """
    without_ids = any(_counts_rows(file) for file in files)
    return without_ids and _have_one_order(files, of_any=True) and not _have_one_order(files)


def _have_one_order(files: Sequence[Predictions], *, of_any: bool = False) -> bool:
    """Whether true classes are the same row by row, in an order with more changes than classes explain, or `of_any`."""
    first = _truths(files[0])
    if any(file.n_samples != len(first) or not (_truths(file) == first).all() for file in files[1:]):
        return False
    n_changes, n_classes = int((first[1:] != first[:-1]).sum()), len(set(first))
    enough = of_any or n_changes - n_classes >= min(n_classes, _MANY_CHANGES)
    return enough and len(first) >= FEWEST


def _agree(files: Sequence[Predictions], rows: Sequence[np.ndarray], common: Sequence[tuple[str, ...]]) -> bool:
    """Whether common ids have the same true classes. Raises DataError where nearly all have, and some have not."""
    truths = [_truths(file)[own] for file, own in zip(files, rows, strict=True)]
    other = np.any([truth != truths[0] for truth in truths[1:]], axis=0)
    if not other.any():
        return True
    if other.mean() > 1 - _AGREE:
        return False
    named = [
        f"{' '.join(common[row])} ({' and '.join(dict.fromkeys(str(truth[row]) for truth in truths))})"
        for row in np.flatnonzero(other)[:_MOST_NAMED]
    ]
    raise DataError(
        f"{int(other.sum())} of {len(common)} samples have another true class in {files[0].name} than in the other "
        f"file, such as {listed(named)}. Mend the truth of these samples, or leave them out."
    )
