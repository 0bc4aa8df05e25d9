"""Which samples are in which subset? One row each, with the ids and labels that the files call them by."""

import numpy as np
import pandas as pd

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.matched_subsets.matching import MatchedSubsets


def samples_table(matched: MatchedSubsets, reference: Predictions, target: Predictions) -> pd.DataFrame:
    """One row per sample: `set, id, truth, predicted, confidence, correct, subset, pair` (NA where unmatched).

    Samples of one pair share its number. `subset` is "matched reference", "unmatched target" and so on.

    Examples
    --------
    >>> from touchstone.core.evaluate.matched_subsets.matching import match
    >>> one = Predictions(["a", "b"], [0, 1], [0, 0], ["cat", "dog"], confidence=[0.9, 0.6])
    >>> other = Predictions(["c"], [1], [0], ["cat", "dog"], confidence=[0.602])
    >>> found = samples_table(match(one, other, rng=np.random.default_rng(0)), one, other)
    >>> found[["id", "truth", "subset", "pair"]].values.tolist()
    [['a', 'cat', 'unmatched reference', <NA>], ['b', 'dog', 'matched reference', 0], ['c', 'dog', 'matched target', 0]]
    """
    rows = matched.table()
    truth = [np.array(predictions.class_names, dtype=object)[predictions.y_true] for predictions in (reference, target)]
    rows.insert(1, "id", np.concatenate([reference.ids, target.ids]))
    rows.insert(2, "truth", np.concatenate(truth))
    return rows.drop(columns="row")
