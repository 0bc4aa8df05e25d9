"""How does somebody test a model that Touchstone cannot train? With the very same splits, as a table to train by."""

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.trials.trial_plan import TrialPlan


def splits_table(plan: TrialPlan, dataset: Dataset) -> pd.DataFrame:
    """Every drawn split of a plan, row by row: `trial, source_finder, scheme, repeat, id, part`.

    `trial` numbers the draws (models share them), `id` is the data set's, `part` is "train" or "test"; rows that the
    plan cut from a training part are left out. Trained on "train" and predicted on "test" of each trial at home, a
    model's predictions come back by trial.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = TrialPlan(models=("svm",), schemes=("source_exclusive",), n_repeats=4)
    >>> table = splits_table(plan, load_example("wine"))
    >>> table.columns.tolist(), table["trial"].nunique(), len(table)
    (['trial', 'source_finder', 'scheme', 'repeat', 'id', 'part'], 4, 712)
    """
    parts = []
    for trial, draw in enumerate(plan.draws(dataset)):
        train, test = plan.split(dataset, draw)
        rows = np.concatenate([train, test])
        parts.append(
            pd.DataFrame(
                {
                    "trial": trial,
                    "source_finder": draw.source_finder,
                    "scheme": draw.scheme,
                    "repeat": draw.repeat,
                    "id": dataset.ids[rows].astype(str),
                    "part": np.repeat(["train", "test"], [len(train), len(test)]),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
