"""What did one model get right on one test part? Fitted once, tested once, counted by label and by source."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Integer
from pandas.api.extensions import ExtensionArray

from core.data import Dataset
from core.split import Split

COLUMNS = {
    "model": "str",
    "source_finder": "str",
    "scheme": "str",
    "repeat": "Int64",
    "clustering": "Int64",
    "n_train": "Int64",
    "n_test": "Int64",
    "label": "str",
    "source": "str",
    "held_out_source": "str",
    "n_correct": "Int64",
    "n_label": "Int64",
    "n_predicted": "Int64",
    "seconds": "float64",
    "status": "str",
}
"""The columns of a trials frame and their types.

A finished trial has three sorts of rows. The whole test part: `label` and `source` are missing, `n_correct` of
`n_test` were right. Each label: `n_correct` of its `n_label` test samples were right, and `n_predicted` samples of any
label were taken for it. Each source of a label in the test part: `n_correct` of `n_label`; `held_out_source` repeats
the source where the scheme kept it out of training. `seconds` (fit and test; missing where that happened elsewhere) and
`status` ("ok" or "failed") stand on every row; a failed trial is one row without figures. Runs that were asked to leave
sources out have one column more, `left_out` (`core.trials.left_out`).
"""

_DTYPES = {name: pd.api.types.pandas_dtype(dtype) for name, dtype in COLUMNS.items()}


def trial_rows(
    dataset: Dataset,
    split: Split,
    predicted: Integer[np.ndarray, " n_test"],
    sources: Integer[np.ndarray, " n_samples"],
    *,
    source_names: np.ndarray,
    sources_held_out: bool,
    seconds: float,
    constant: dict[str, object],
) -> pd.DataFrame:
    """Count what was predicted of `split.test`, whoever predicted it.

    `sources_held_out` says whether the sources of the test part were kept out of training. `constant` holds the
    columns that say which trial this is.
    """
    train, test = split
    counts = count(dataset.y[test], predicted, sources[test], dataset.n_classes)
    names = np.append(np.array(dataset.class_names, dtype=object), None)
    source = np.append(source_names, None)[counts["source"]]
    n_rows = len(source)
    same = {**constant, "n_train": len(train), "n_test": len(test), "seconds": seconds, "status": "ok"}
    return as_frame(
        {name: np.full(n_rows, value) if type(value) is int else [value] * n_rows for name, value in same.items()}
        | {
            "label": names[counts["label"]],
            "source": source,
            "held_out_source": source if sources_held_out else [None] * n_rows,
            "n_correct": counts["n_correct"],
            "n_label": counts["n_label"],
            "n_predicted": counts["n_predicted"],
        }
    )


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


def as_frame(columns: Mapping[str, Sequence | np.ndarray | pd.Series | ExtensionArray]) -> pd.DataFrame:
    """A trials frame with the columns in order and of their types.

    Whatever came of a tiny trial goes through here, which is why it makes arrays and no Series: a fifth of the time.
    """
    return pd.DataFrame({name: _array(columns[name], dtype) for name, dtype in _DTYPES.items()}, copy=False)


def _array(values: Sequence | np.ndarray | pd.Series | ExtensionArray, dtype: object) -> ExtensionArray:
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and isinstance(dtype, pd.Int64Dtype):
        return pd.arrays.IntegerArray(values, np.zeros(len(values), dtype=bool))
    return pd.array(values, dtype=dtype)
