"""Which samples go to the annotators, and what comes back? One table, that tells all that its labels are counted by.

Each row has id, predicted, confidence, the number of its stratum with how many samples of the pool that has, the size
of the pool, and an empty column for the label. Nothing else is needed when it comes back: not the pool, not the model.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from touchstone.core.data import DataError
from touchstone.core.data.limits import opened
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.files import read_table
from touchstone.core.evaluate.guided_tests.few_labels import LabelDesign, LabelledAccuracy, labelled_accuracy
from touchstone.core.models.layers import LayerSamples

_COLUMNS = ("id", "predicted", "confidence", "stratum", "stratum_size", "pool_size", "label")


@dataclass(frozen=True)
class LabelsBack:
    """What a labelled list holds: of each stratum how many samples are wrong, labelled, and there in all.

    `n_skipped` of its rows above the last label have none.
    """

    n_wrong: tuple[int, ...]
    n_labelled: tuple[int, ...]
    n_in: tuple[int, ...]
    n_skipped: int

    @property
    def accuracy(self) -> LabelledAccuracy:
        """What the labels tell of the whole pool; raises DataError where a stratum has none."""
        return labelled_accuracy(*(np.array(counts) for counts in (self.n_wrong, self.n_labelled, self.n_in)))


def to_label(pool: LayerSamples, design: LabelDesign, *, rng: np.random.Generator) -> pd.DataFrame:
    """The list to label, strata mixed: columns id, predicted, confidence, stratum (from 1), stratum_size, pool_size
    and label, which is empty.
    """
    rows = design.draw(rng)
    names = np.array(pool.class_names, dtype=object)
    stratum = design.stratum[rows]
    cells = (
        pool.ids[rows],
        names[pool.predicted[rows]],
        pool.confidence[rows],
        stratum + 1,
        design.n_in[stratum],
        np.full(len(rows), len(pool)),
        np.full(len(rows), "", dtype=object),
    )
    return pd.DataFrame(dict(zip(_COLUMNS, cells, strict=True)))


def read_labels(content: bytes, name: str, *, class_names: tuple[str, ...]) -> LabelsBack:
    """Count the labels of a list that came back; rows without a label are passed over.

    Raises DataError for anything but such a list, naming the row: a sample that stands twice, a label that is no class,
    sizes that contradict each other, a stratum without any label.

    Examples
    --------
    >>> head = "id,predicted,stratum,stratum_size,pool_size,label"
    >>> rows = [f"{i},cat,1,500,500,{'cat' if i else 'dog'}" for i in range(100)]
    >>> back = read_labels("\\n".join([head, *rows]).encode(), "labels.csv", class_names=("cat", "dog"))
    >>> back.accuracy.accuracy, back.accuracy.n_labels, back.accuracy.n_pool
    (0.99, 100, 500)
    """
    table = read_table(opened(content, name))
    lacking = [column for column in _COLUMNS if column not in table.columns and column != "confidence"]
    if lacking:
        raise DataError(
            f"{name}: there is no column {lacking[0]!r}. Fill in 'label' in the list that was downloaded here, and "
            "leave its other columns as they are."
        )
    labels = [_without_point(label, class_names) for label in table.spelled("label")]
    labelled = np.array([label is not None for label in labels])
    if not labelled.any():
        raise DataError(f"{name}: the column 'label' is empty. Write the true class of each sample into it.")
    _check_ids(table)
    _check_labels(table, labels, class_names)
    stratum, n_in = _strata(table)
    wrong = labelled & (np.array(labels, dtype=object) != np.array(table.strings("predicted"), dtype=object))
    n_labelled = np.bincount(stratum[labelled], minlength=len(n_in))
    n_wrong = np.bincount(stratum[wrong], minlength=len(n_in))
    n_skipped = int((~labelled[: np.flatnonzero(labelled)[-1]]).sum())
    counts = (tuple(map(int, each)) for each in (n_wrong, n_labelled, n_in))
    back = LabelsBack(*counts, n_skipped)
    _ = back.accuracy  # raises where a stratum has no label
    return back


def _without_point(label: str | None, class_names: tuple[str, ...]) -> str | None:
    """A class 3 that came back as 3.0, as tables write numbers where some are missing."""
    whole = None if label is None else label.removesuffix(".0")
    return whole if label not in class_names and whole in class_names else label


def _check_ids(table: Table) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(table.strings("id")):
        if name in seen:
            raise DataError(
                f"{table.place(row)}: “{name}” is there already, in {table.place(seen[name])}. Keep one row."
            )
        seen[name] = row


def _check_labels(table: Table, labels: list[str | None], class_names: tuple[str, ...]) -> None:
    for row, label in enumerate(labels):
        if label is not None and label not in class_names:
            named = ", ".join(f"“{name}”" for name in class_names[:10]) + (" …" if len(class_names) > 10 else "")
            raise DataError(f"{table.place(row)}: “{label}” is no class. Write one of {named}, or leave it empty.")


def _strata(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The stratum of each row, from 0, and how many samples of the pool each stratum has."""
    numbers = {column: table.numbers(column) for column in ("stratum", "stratum_size", "pool_size")}
    stratum, first, at = np.unique(numbers["stratum"], return_index=True, return_inverse=True)
    n_in, pool_size = numbers["stratum_size"][first], numbers["pool_size"][0]
    odd = (numbers["stratum_size"] != n_in[at]) | (numbers["pool_size"] != pool_size) | (numbers["stratum_size"] < 1)
    if odd.any():
        row = int(np.flatnonzero(odd)[0])
        raise DataError(
            f"{table.place(row)}: the size of its stratum or of the pool is not that of the rows above. Download the "
            "list again, and fill in 'label' only."
        )
    if n_in.sum() != pool_size or (np.bincount(at) > n_in).any():
        raise DataError(
            f"{table.name}: the strata hold {n_in.sum():g} samples, the pool {pool_size:g}. Rows of a whole stratum "
            f"are missing (there are {len(stratum)} here): keep all rows, labelled or not."
        )
    return at, n_in.astype(np.int64)
