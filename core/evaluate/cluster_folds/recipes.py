"""By how much is one recipe right more often than another, tried on the same folds?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from touchstone.core.evaluate.cluster_folds.tested import TrainedFolds
from touchstone.core.evaluate.intervals import smoothed_mean


@dataclass(frozen=True)
class RecipeDifference:
    """How much more often the first recipe is right: `mean` with its `se` over samples and trainings, and its `df`.

    `mean` is drawn a little towards 0 (`smoothed_mean`); `shares` are how often each is right, as counted, on `n`
    samples. `df` is 0 where a single fold was tested: nobody can say then what another training would do.
    """

    mean: float
    se: float
    df: float
    shares: tuple[float, float]
    n: int


def recipe_difference(rows: pd.DataFrame) -> RecipeDifference:
    """Compare two recipes on the folds that both were tested on.

    `rows` has seed, fold, row, first and second: a line for each seed and sample, with whether each recipe was right.

    Examples
    --------
    >>> rows = pd.DataFrame({"seed": 0, "fold": np.arange(40) % 5, "row": range(40), "first": 1.0, "second": 1.0})
    >>> rows.loc[::4, "second"] = 0.0
    >>> difference = recipe_difference(rows)
    >>> difference.shares, round(difference.mean, 3), difference.n
    ((1.0, 0.75), 0.238, 40)
    """
    by_row = rows.groupby("row")
    first, second = (np.asarray(by_row[name].mean(), dtype=np.float64) for name in ("first", "second"))
    n, shares = len(first), (float(first.mean()), float(second.mean()))
    apart = (rows["first"] - rows["second"]).to_numpy(dtype=np.float64)
    folds, seed = TrainedFolds.of(rows), rows["seed"].to_numpy()
    # The error of one seed: others train on samples of the same data, and do not make what these share any less.
    of_samples = float(np.sqrt(np.mean([smoothed_mean(apart[seed == each])[1] ** 2 for each in folds.seeds])))
    se, df = folds.error_of(apart).added_to(of_samples, n)
    return RecipeDifference(smoothed_mean(first - second)[0], se, df, shares, n)
