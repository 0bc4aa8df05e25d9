"""Which samples does a file itself keep for testing? A test set of one's own is that of the file's parts."""

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.tables.names import plural_of
from touchstone.core.data.values import quoted
from touchstone.core.split.scheme import Split

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
