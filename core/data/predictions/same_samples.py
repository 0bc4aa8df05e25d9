"""Are these predictions of the same samples? Told by ids, by inputs, or by the order of rows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Literal

import numpy as np
from jaxtyping import Integer, Shaped

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.inputs import is_called_text, shared_inputs, texts_of
from touchstone.core.data.predictions.record import IN_TRIAL, Predictions
from touchstone.core.data.values import counted, listed, shortened

FEWEST = 10
"""Fewer samples in common say nothing of two models."""
_AGREE = 0.9
"""Where ids name the same samples, truths agree at least so often; where less, ids only count rows."""
_MOST_OTHERS = 0.5
"""Where more of the smallest file's inputs are others, files are of other samples: two test sets share texts, too."""
_MANY_CHANGES = 20
"""So many more changes of class from row to row than a sorted file has are no accident, however many classes."""
_MOST_NAMED, _MOST_LETTERS = 3, 60
_Keys = Sequence[tuple[str, ...]]  # what the rows are compared by


@dataclass(frozen=True, eq=False)
class SameSamples:
    """Which rows of each file are of one sample: `rows` has for each file as many, in one order.

    `by` says how that is known: by ids, by a column of inputs, or by the order of rows whose true classes are the same
    one by one. `n_given` is how many rows each file has.
    """

    rows: tuple[Integer[np.ndarray, " n_common"], ...]
    by: Literal["ids", "inputs", "order"]
    n_given: tuple[int, ...]
    column: str = ""
    """By which inputs."""

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
    ids (whose ids count rows) are of the same samples where texts or measurements in columns of one name are, in any
    order, half of the smallest file's at least. Else they are so where all true classes are the same in the same order,
    and that order is none that a sorted file has anyhow; not where both hold texts, and other ones.

    Raises DataError, naming three, where common ids or inputs have different true classes.

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
    n_without_ids = sum(map(_counts_rows, files))
    if not n_without_ids and (of_ids := _by_ids(files)) is not None:
        return of_ids
    others = False
    for column, keys in _inputs_of(files):
        common = _common(keys)
        if len(common) >= max(FEWEST, _MOST_OTHERS * min(map(len, keys))):
            return _joined(files, keys, common, column)
        others |= is_called_text(column)
    if n_without_ids and (are_same or not others) and _have_one_order(files, of_any=are_same):
        n = files[0].n_samples
        return SameSamples((np.arange(n),) * len(files), "order", (n,) * len(files))
    return _by_ids(files) if 0 < n_without_ids < len(files) else None


def _joined(files: Sequence[Predictions], keys: Sequence[_Keys], common: _Keys, column: str = "") -> SameSamples | None:
    """The samples of common keys, of ids or of a column of inputs; None where most have other true classes."""
    places = [{key: row for row, key in enumerate(of_file)} for of_file in keys]
    rows = tuple(np.array([place[key] for key in common], dtype=np.int64) for place in places)
    by = "inputs" if column else "ids"
    return SameSamples(rows, by, tuple(map(len, keys)), column) if _agree(files, rows, common) else None


def _by_ids(files: Sequence[Predictions]) -> SameSamples | None:
    """The samples of common ids; None of too few, or where most have other true classes."""
    of_recipes = any(map(trained_again, files))
    keys = [_keys(file, of_recipes=of_recipes) for file in files]
    common = _common(keys)
    if len(common) < FEWEST and all(key[0].isdecimal() for key in chain(*keys)):
        as_numbers = [[(str(int(key[0])), *key[1:]) for key in of_file] for of_file in keys]
        if all(len({*of_file}) == len(of_file) for of_file in as_numbers):
            keys, common = as_numbers, _common(as_numbers)
    return _joined(files, keys, common) if len(common) >= FEWEST else None


def _inputs_of(files: Sequence[Predictions]) -> Iterator[tuple[str, list[_Keys]]]:
    """What inputs all files hold, with the input of each row and, of one that stands again, the how manieth it is.

    These are counted by true class, so that samples which no input tells apart are paired within their class.
    """
    for column, values in shared_inputs([file.inputs for file in files]):
        keys = []
        for file, of_file in zip(files, values, strict=True):
            n_met: Counter[str] = Counter()
            of_rows: dict[int, tuple[str, ...]] = {}
            for row in np.argsort(_truths(file).astype(str), kind="stable").tolist():
                value = str(of_file[row])
                n_met[value] += 1
                of_rows[row] = (value,) if n_met[value] == 1 else (value, f"({n_met[value]})")
            keys.append([of_rows[row] for row in range(file.n_samples)])
        yield column, keys


def _counts_rows(file: Predictions) -> bool:
    """Whether ids only count rows, of all, or of each trial by itself."""
    if trained_again(file):
        n_met: Counter[str] = Counter()
        for name, trial in zip(file.ids.tolist(), file.groups["trial"].tolist(), strict=True):
            if name != IN_TRIAL.format(n_met[trial]):
                return False
            n_met[trial] += 1
        return True
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


def _common(keys: Sequence[_Keys]) -> list[tuple[str, ...]]:
    there = reduce(set.intersection, (set(of_file) for of_file in keys))
    return [key for key in keys[0] if key in there]


def _truths(file: Predictions) -> np.ndarray:
    return np.array(file.class_names, dtype=object)[file.y_true]


def could_be_either(files: Sequence[Predictions]) -> bool:
    """Whether nothing tells files of the same samples from others: no ids, no texts, and classes in one sorted order.

    >>> sorted_file = Predictions([str(row) for row in range(20)], [0] * 10 + [1] * 10, [0] * 20, ["a", "b"])
    >>> could_be_either([sorted_file, sorted_file]), same_samples([sorted_file, sorted_file]) is None
    (True, True)
    >>> same_samples([sorted_file, sorted_file], are_same=True).n
    20
    """
    without_ids = any(_counts_rows(file) for file in files)
    if any(is_called_text(column) for column, _ in shared_inputs([file.inputs for file in files])):
        return False  # these tell
    return without_ids and _have_one_order(files, of_any=True) and not _have_one_order(files)


def _have_one_order(files: Sequence[Predictions], *, of_any: bool = False) -> bool:
    """Whether true classes are the same row by row, in an order with more changes than classes explain, or `of_any`."""
    first = _truths(files[0])
    if any(file.n_samples != len(first) or not (_truths(file) == first).all() for file in files[1:]):
        return False
    if trained_again(files[0]):  # the order of one trial
        first = first[files[0].groups["trial"] == files[0].groups["trial"][0]]
    return (of_any or _tells(first)) and len(first) >= FEWEST


def _tells(truths: np.ndarray) -> bool:
    """Whether the order of true classes is none that a sorted file has."""
    n_changes, n_classes = int((truths[1:] != truths[:-1]).sum()), len(set(truths))
    return n_changes - n_classes >= min(n_classes, _MANY_CHANGES)


def _agree(files: Sequence[Predictions], rows: Sequence[np.ndarray], common: _Keys) -> bool:
    """Whether common ids have the same true classes. Raises DataError where nearly all have, and some have not."""
    truths = [_truths(file)[own] for file, own in zip(files, rows, strict=True)]
    other = np.any([truth != truths[0] for truth in truths[1:]], axis=0)
    if not other.any():
        return True
    if other.mean() > 1 - _AGREE:
        return False
    named = [
        f"{shortened(' '.join(common[row]), _MOST_LETTERS)} ({' and '.join(dict.fromkeys(of_row))})"
        for row in np.flatnonzero(other)[:_MOST_NAMED]
        if (of_row := [str(truth[row]) for truth in truths])
    ]
    raise DataError(
        f"{int(other.sum())} of {len(common)} samples have another true class in {files[0].name} than in the other "
        f"file, such as {listed(named)}. Mend the truth of these samples, or leave them out."
    )


# Which samples of a data set are these?


def names_of_samples(dataset: Dataset) -> Shaped[np.ndarray, " n_samples"]:
    """What the samples of a data set are called in a file of predictions: their ids, or their rows where ids count.

    >>> fruit = Dataset("fruit", "tabular", [[1.0], [9.0]], [0, 1], ["plum", "melon"], ["0", "1"])
    >>> names_of_samples(fruit).tolist()
    ['row 0', 'row 1']
    """
    if (dataset.ids == counted(dataset.n_samples)).all():
        return np.array([f"row {row}" for row in range(dataset.n_samples)], dtype=object)
    return dataset.ids


def rows_in(dataset: Dataset, predictions: Predictions) -> Integer[np.ndarray, " n_samples"] | None:
    """The row of the data set that each prediction is about, by id or by text; None where any is of another sample.

    Ids that only count rows tell it of as many rows, whose true classes come in an order that no sorted file has.

    >>> fruit = Dataset("fruit", "tabular", [[1.0], [9.0]], [0, 1], ["plum", "melon"], ["p1", "m7"])
    >>> rows_in(fruit, Predictions(["m7", "p1"], [1, 0], [1, 1], ["plum", "melon"]))
    array([1, 0])
    >>> rows_in(fruit, Predictions(["m7", "x9"], [1, 0], [1, 1], ["plum", "melon"])) is None
    True
    """
    ways, its_truths = [], _truths(predictions)
    if not _counts_rows(predictions) or (predictions.n_samples == dataset.n_samples and _tells(its_truths)):
        ways = [(names_of_samples(dataset), predictions.ids), (dataset.ids, predictions.ids)]
    if dataset.kind == "text":
        ways += [(dataset.x, texts) for texts in texts_of(predictions.inputs).values()]
    truths = np.array(dataset.class_names, dtype=object)[dataset.y]
    for own, its in ways:
        row_of = dict(zip(map(str, own), range(len(own)), strict=True))
        rows = [row_of.get(str(name), -1) for name in its]
        if -1 not in rows and (truths[rows] == its_truths).all():
            return np.array(rows, dtype=np.int64)
    return None
