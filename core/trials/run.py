"""What did one model get right on one test part? Fitted once, tested once, counted by label and by source."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Integer
from pandas.api.extensions import ExtensionArray

from touchstone.core.data import Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.models.stopping import Training
from touchstone.core.split.scheme import Split

COLUMNS = {
    "model": TEXTS,
    "source_finder": TEXTS,
    "scheme": TEXTS,
    "repeat": "Int64",
    "clustering": "Int64",
    "n_train": "Int64",
    "n_test": "Int64",
    "label": TEXTS,
    "source": TEXTS,
    "held_out_source": TEXTS,
    "n_correct": "Int64",
    "n_label": "Int64",
    "n_predicted": "Int64",
    "seconds": "float64",
    "status": TEXTS,
}
"""The columns of a trials frame and their types.

A finished trial has three sorts of rows. The whole test part: `label` and `source` are missing, `n_correct` of
`n_test` were right. Each label: `n_correct` of its `n_label` test samples were right, and `n_predicted` samples of any
label were taken for it. Each source of a label in the test part: `n_correct` of `n_label`; `held_out_source` repeats
the source where the scheme kept it out of training. `seconds` (fit and test; missing where that happened elsewhere) and
`status` ("ok" or "failed") stand on every row; a failed trial is one row without figures. Runs that were asked to leave
sources out have one column more, `LEFT_OUT`; runs that train networks have `TRAINING`, and those that choose
hyperparameters have `TUNED`.
"""
TUNED = "hyperparameters"
"""The column that says what inner folds chose, where they were asked to; NA where a model has nothing to choose."""
TRAINING = {"n_updates": "Int64", "stopped": TEXTS, "train_accuracy": "float64"}
"""The columns that say how a network was trained (`core.models.stopping.Training`), on every row of its trial.

They are NA where a model is no network, and missing in runs of methods that did not know them.
"""
LEFT_OUT = "left_out"
"""The column that says which turn a trial leaves out (NA: none)."""

_DTYPES = {name: pd.api.types.pandas_dtype(dtype) for name, dtype in (COLUMNS | TRAINING | {TUNED: TEXTS}).items()}
_WHOLE = pd.Int64Dtype()

Counted = dict[str, Any]
"""A trial's rows before they are a table: of each column an array with a value for every row, or one value for all.

To make a table takes about as long for one tiny trial as for a hundred, and a fifth of what it takes to fit and test.
"""


def count_trial(
    dataset: Dataset,
    split: Split,
    predicted: Integer[np.ndarray, " n_test"],
    sources: Integer[np.ndarray, " n_samples"],
    *,
    source_names: np.ndarray,
    sources_held_out: bool,
    seconds: float,
    constant: dict[str, object],
) -> Counted:
    """Count what was predicted of `split.test`, whoever predicted it.

    `sources_held_out` says whether the sources of the test part were kept out of training. `constant` holds the
    columns that say which trial this is.
    """
    train, test = split
    counts = count(dataset.y[test], predicted, sources[test], dataset.n_classes)
    names = np.array([*dataset.class_names, None], dtype=object)
    source = np.append(source_names, None)[counts["source"]]
    return {
        **constant,
        "n_train": len(train),
        "n_test": len(test),
        "label": names[counts["label"]],
        "source": source,
        "held_out_source": source if sources_held_out else None,
        "n_correct": counts["n_correct"],
        "n_label": counts["n_label"],
        "n_predicted": counts["n_predicted"],
        "seconds": seconds,
        "status": "ok",
    }


def count(
    y: Integer[np.ndarray, " n_test"],
    predicted: Integer[np.ndarray, " n_test"],
    sources: Integer[np.ndarray, " n_test"],
    n_classes: int,
) -> dict[str, np.ndarray]:
    """Counts for the whole test part, for every label and for every source of a label, in this order.

    `label` and `source` are codes, -1 for "all". `n_predicted` is float, NaN in the rows of sources.

    Examples
    --------
    >>> counts = count(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([4, 5, 7]), 2)
    >>> counts["label"].tolist(), counts["source"].tolist()
    ([-1, 0, 1, 0, 0, 1], [-1, -1, -1, 4, 5, 7])
    >>> counts["n_correct"].tolist(), counts["n_label"].tolist()
    ([2, 1, 1, 1, 0, 1], [3, 2, 1, 1, 1, 1])
    """
    correct = (y == predicted).astype(np.int64)
    # A cell is a source of one label, as one whole number: sources that classes share come apart by label.
    width = int(sources.max(initial=0)) + 1
    cells, cell = np.unique(y.astype(np.int64) * width + sources, return_inverse=True)
    labels = np.arange(n_classes)

    def per_label(weights: np.ndarray | None, of: np.ndarray) -> np.ndarray:
        return np.bincount(of, weights=weights, minlength=n_classes).astype(np.int64)

    return {
        "label": np.concatenate([[-1], labels, cells // width]),
        "source": np.concatenate([np.full(1 + n_classes, -1), cells % width]),
        "n_correct": np.concatenate(
            [[correct.sum()], per_label(correct, y), np.bincount(cell, weights=correct).astype(np.int64)]
        ),
        "n_label": np.concatenate([[len(y)], per_label(None, y), np.bincount(cell)]),
        "n_predicted": np.concatenate([[len(y)], per_label(None, predicted), np.full(len(cells), np.nan)]),
    }


def trained_for(training: Training | None) -> Counted:
    """The columns `TRAINING` of a trial's rows.

    >>> trained_for(None)
    {'n_updates': None, 'stopped': None, 'train_accuracy': nan}
    """
    if training is None:
        return {"n_updates": None, "stopped": None, "train_accuracy": float("nan")}
    return {"n_updates": training.n_updates, "stopped": training.stopped, "train_accuracy": training.accuracy}


def n_rows(counted: Counted) -> int:
    """How many rows a trial has: as many as its arrays have values, and one where it has none.

    >>> n_rows({"model": "svm", "n_correct": np.array([3, 1, 2])}), n_rows({"model": "svm", "status": "failed"})
    (3, 1)
    """
    return next((len(of) for of in counted.values() if isinstance(of, np.ndarray)), 1)


def table_of(trials: Sequence[Counted]) -> pd.DataFrame:
    """The rows of trials with the same columns, one trial after another; others than these hold whole numbers.

    Examples
    --------
    >>> trials = [{name: None for name in COLUMNS} | {"repeat": repeat, "status": "failed"} for repeat in (4, 9)]
    >>> table_of(trials)[["repeat", "status"]].to_numpy().tolist()
    [[4, 'failed'], [9, 'failed']]
    """
    lengths = [n_rows(counted) for counted in trials]
    further = [name for name in trials[0] if name not in COLUMNS]
    return _framed({name: _along([counted[name] for counted in trials], lengths) for name in (*COLUMNS, *further)})


def _along(values: list[Any], lengths: list[int]) -> np.ndarray:
    """One column of several trials."""
    if isinstance(values[0], np.ndarray) and all(isinstance(of, np.ndarray) for of in values):
        return np.concatenate(values)
    if {type(of) for of in values} in ({int}, {float}):
        return np.repeat(values, lengths)
    filled = [np.full(n, of, dtype=object) for of, n in zip(values, lengths, strict=True)]
    return np.concatenate(filled)


def as_frame(columns: Mapping[str, Sequence | np.ndarray | pd.Series | ExtensionArray]) -> pd.DataFrame:
    """A trials frame with the columns in order and of their types."""
    return _framed({name: columns[name] for name in COLUMNS})


def _framed(columns: Mapping[str, Sequence | np.ndarray | pd.Series | ExtensionArray]) -> pd.DataFrame:
    arrays = {name: _array(values, _DTYPES.get(name, _WHOLE)) for name, values in columns.items()}
    return pd.DataFrame(arrays, copy=False)


def _array(values: Sequence | np.ndarray | pd.Series | ExtensionArray, dtype: object) -> ExtensionArray:
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and isinstance(dtype, pd.Int64Dtype):
        return pd.arrays.IntegerArray(values, np.zeros(len(values), dtype=bool))
    return pd.array(values, dtype=dtype)


def of_turn(counted: Counted, turn: int | None) -> Counted:
    """A trial's rows with the turn that it left out; without a whole draw's rows of single sources, if any was."""
    if turn is None:
        return counted | {LEFT_OUT: None}
    whole = np.equal(counted["source"], None)
    return {name: of[whole] if isinstance(of, np.ndarray) else of for name, of in counted.items()} | {LEFT_OUT: turn}
