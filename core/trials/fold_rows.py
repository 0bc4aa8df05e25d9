"""What are the rows of a trial of folds? Lean ones: a run may have hundreds of thousands."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd

COLUMNS = ("scheme", "seed", "model", "fold", "row", "y_pred", "confidence", "n_train", "seconds", "status")
"""The columns of a frame of folds.

The trial that makes folds has a row for every sample: its `row` (position in the data set) and `fold` (from 0; -1 in no
test part), `model` and `y_pred` missing. A trial that tests a fold has a row for every sample of the fold: `y_pred` is
a code into the class names, `confidence` the highest predicted probability (NaN where the model gives none), `n_train`
the number of samples trained on. `seconds` (of the trial) and `status` ("ok" or "failed") stand on every row; a failed
trial is one row without figures.
"""


class FoldTrial(NamedTuple):
    """One trial of a plan: `model` and `fold` are None where it makes the folds of a scheme and seed."""

    scheme: str
    seed: int
    model: str | None
    fold: int | None


def frame_of_folds(
    trial: FoldTrial,
    *,
    schemes: Collection[str],
    models: Collection[str],
    row: object,
    fold: object,
    y_pred: object = pd.NA,
    confidence: object = np.nan,
    n_train: object = pd.NA,
    seconds: float = np.nan,
    status: str = "ok",
) -> pd.DataFrame:
    """A frame of `COLUMNS`; every trial of a plan has the same types and categories, so that frames join.

    Examples
    --------
    >>> trial = FoldTrial("random_folds", 0, None, None)
    >>> frame_of_folds(trial, schemes=["random_folds"], models=["svm"], row=[0, 1], fold=[1, 0])["fold"].tolist()
    [1, 0]
    """
    index = pd.RangeIndex(len(row))
    cells = {
        "scheme": (trial.scheme, pd.CategoricalDtype(pd.Index(schemes, dtype="str"))),
        "seed": (trial.seed, "int64"),
        "model": (trial.model, pd.CategoricalDtype(pd.Index(models, dtype="str"))),
        "fold": (pd.array(fold, dtype="Int16"), "Int16"),
        "row": (pd.array(row, dtype="Int32"), "Int32"),
        "y_pred": (y_pred, "Int32"),
        "confidence": (confidence, "float32"),
        "n_train": (n_train, "Int32"),
        "seconds": (seconds, "float32"),
        "status": (status, pd.CategoricalDtype(pd.Index(["ok", "failed"], dtype="str"))),
    }
    return pd.DataFrame({name: pd.Series(cells[name][0], index, dtype=cells[name][1]) for name in COLUMNS})
