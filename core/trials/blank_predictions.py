"""What does a file of predictions by trial look like? One to fill in, and one of a made-up model to try."""

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.trials.split_tables import splits_table
from touchstone.core.trials.trial_plan import TrialPlan

_SHARE_RIGHT = 0.9


def rows_to_predict(plan: TrialPlan, dataset: Dataset) -> pd.DataFrame:
    """The test part of every trial, to fill in: `trial, id, predicted`, where `predicted` is empty.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> table = rows_to_predict(TrialPlan(schemes=("random",), n_repeats=2), load_example("wine"))
    >>> table.columns.tolist(), len(table)
    (['trial', 'id', 'predicted'], 72)
    """
    splits = splits_table(plan, dataset)
    rows = splits.loc[splits["part"] == "test", ["trial", "id"]]
    return rows.assign(predicted=None).reset_index(drop=True)


def sample_predictions(plan: TrialPlan, dataset: Dataset) -> pd.DataFrame:
    """Predictions by trial of a made-up model that guesses about one label in ten, to try: `trial, id, predicted`.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> table = sample_predictions(TrialPlan(schemes=("random",), n_repeats=2), load_example("wine"))
    >>> set(table["predicted"]) <= set(load_example("wine").class_names)
    True
    """
    table = rows_to_predict(plan, dataset)
    rng = np.random.default_rng(plan.seed)
    label_of = pd.Series(dataset.y, index=dataset.ids.astype(str))
    known = label_of[table["id"]].to_numpy()
    guessed = np.where(rng.random(len(table)) < _SHARE_RIGHT, known, rng.integers(dataset.n_classes, size=len(table)))
    return table.assign(predicted=np.array(dataset.class_names, dtype=object)[guessed])
