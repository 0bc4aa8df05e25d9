"""By how much is one recipe right more often than another, tried on the same folds?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from touchstone.core.evaluate.cluster_folds.tested import TrainedFolds
from touchstone.core.evaluate.intervals import smoothed_mean
from touchstone.core.evaluate.units import EACH_SAMPLE, Design


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


def recipe_difference(rows: pd.DataFrame, design: Design = EACH_SAMPLE) -> RecipeDifference:
    """Compare two recipes on the folds that both were tested on; the error is over the units of the samples.

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
    effect = design.of(np.array(by_row["first"].mean().index, dtype=np.int64)).effect((first - second) / n)
    trainings, df = folds.error_of(apart).of_units(effect), min(effect.df, n - 1.0)
    se, df = trainings.added_to(of_samples * np.sqrt(effect.times), df) if df > 0 else (np.nan, 0.0)
    return RecipeDifference(smoothed_mean(first - second)[0], se, df, shares, n)
