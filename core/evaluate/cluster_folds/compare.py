"""What does a model reach on a scheme, over its seeds, and how far apart are two schemes on the same samples?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, isnan, log, nan, sqrt

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.optimize import brentq

from touchstone.core.evaluate.cluster_folds.jackknife import (
    difference_interval,
    error_of,
    scaled_interval,
    trained_anew,
)
from touchstone.core.evaluate.cluster_folds.results import RunScore, SchemeDifference, SchemeScore, ScoreEstimate
from touchstone.core.evaluate.cluster_folds.tested import FoldedRun, TrainedFolds
from touchstone.core.evaluate.intervals import (
    LEAST_P,
    UNKNOWN,
    Interval,
    apart,
    half_width,
    p_of_interval,
    smoothed_mean,
    t_interval,
    within,
)
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, Error

JACKKNIFE, WILSON = "jackknife", "wilson"
"""How the interval of a `ScoreEstimate` was found."""
FEWEST_SEEDS = 3
"""With fewer nothing is said of a scheme, only of the very folds that were made."""


@dataclass(frozen=True, eq=False)
class Guess:
    """What guessing labels scores on the folds of a run, and how far every sample pulls that.

    `is_floor` says whether a score below it may be called worse than learning nothing, if it is below all such.
    """

    value: float
    pulls: Float[np.ndarray, " n_samples"]
    is_floor: bool = True


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A run with its score, and how far every sample pulls the mean over its folds (0 where it was not tested).

    `guesses` are the scores on its folds of models that learn nothing but labels; none where these are not known.
    """

    tested: FoldedRun
    score: RunScore
    pulls: Float[np.ndarray, " n_samples"]
    guesses: tuple[Guess, ...]
    weights: Float[np.ndarray, " n_samples"]
    """The share of the mean over folds that each tested sample has; 0 of others."""
    design: Design


def scheme_of(runs: Sequence[ScoredRun]) -> SchemeScore:
    """The runs of one model on one scheme, seed by seed, as one."""
    scores = [run.score for run in runs]
    means = np.array([score.mean.value for score in scores])
    value = float(means.mean())
    by = JACKKNIFE if all(score.mean.by == JACKKNIFE for score in scores) else WILSON
    error = trained_anew(_error(runs, _pulls(runs)), runs[0].design)
    interval = scaled_interval(value, error) if by == JACKKNIFE else _mean_ends([score.mean for score in scores])
    return SchemeScore(
        scheme=scores[0].scheme,
        model=scores[0].model,
        seeds=tuple(score.seed for score in scores),
        mean=ScoreEstimate(value, interval, scores[0].mean.n, by),
        std=float(np.mean([score.std for score in scores])),
        sd_over_seeds=float(means.std(ddof=1)) if len(means) > 1 else nan,
        over_seeds=_over_seeds(means),
        accuracy=float(np.mean([score.accuracy.value for score in scores])),
        majority=float(np.mean([score.majority for score in scores])),
        chance=float(np.mean([score.chance for score in scores])),
        beyond_guesses=_beyond_guesses(runs, value, interval, by),
        n=scores[0].mean.n,
    )


def _beyond_guesses(runs: Sequence[ScoredRun], value: float, interval: Interval, by: str) -> ScoreEstimate:
    """The score less those of models that learn nothing, on the same samples: above the better, or below the worse.

    In between it is 0. The interval goes from its lower end above the better one to its upper end above the worse one.
    """
    n = runs[0].score.mean.n
    if not all(run.guesses for run in runs):
        return ScoreEstimate(nan, UNKNOWN, n, by)
    each = [
        Guess(
            float(np.mean([guess.value for guess in same])),
            np.mean([guess.pulls for guess in same], axis=0),
            same[0].is_floor,
        )
        for same in zip(*(run.guesses for run in runs), strict=True)
    ]
    better = max(each, key=lambda guess: guess.value)
    worse = min((guess for guess in each if guess.is_floor), key=lambda guess: guess.value)
    lower, upper = (_above(runs, value, interval, by, guess) for guess in (better, worse))
    beyond = max(value - better.value, 0.0) + min(value - worse.value, 0.0)
    return ScoreEstimate(beyond, Interval(lower.lower, upper.upper), n, by)


def _above(runs: Sequence[ScoredRun], value: float, interval: Interval, by: str, guess: Guess) -> Interval:
    if by == JACKKNIFE:
        ends, _ = difference_interval(value - guess.value, _error(runs, _pulls(runs) - guess.pulls))
        return ends
    of_guess, _ = difference_interval(guess.value, _error(runs, guess.pulls))
    return within(apart(value, interval, guess.value, of_guess), -1.0, 1.0)


def difference_of(runs: Sequence[ScoredRun], others: Sequence[ScoredRun]) -> SchemeDifference:
    """The scheme of `runs` less that of `others`; the p-value is not corrected yet."""
    own, other = scheme_of(runs), scheme_of(others)
    value = own.mean.value - other.mean.value
    if own.mean.by == other.mean.by == JACKKNIFE:
        error = _error([*runs, *others], _pulls(runs) - _pulls(others))
        (interval, p), by = difference_interval(value, error), JACKKNIFE
    else:
        interval, by = apart(own.mean.value, own.mean.interval, other.mean.value, other.mean.interval), WILSON
        p, interval = p_of_interval(value, interval), within(interval, -1.0, 1.0)
    seeds = {run.score.seed: run.score.mean.value for run in runs}
    per_seed = tuple(
        (run.score.seed, seeds[run.score.seed] - run.score.mean.value) for run in others if run.score.seed in seeds
    )
    gaps = np.array([difference for _, difference in per_seed])
    if len(per_seed) >= FEWEST_SEEDS:
        interval, p = over_both(value, interval, gaps)
        interval = within(interval, -1.0, 1.0)
    both = np.all([runs[0].tested.fold >= 0, others[0].tested.fold >= 0], axis=0)
    return SchemeDifference(
        model=own.model,
        scheme=own.scheme,
        other=other.scheme,
        score=own.mean.value,
        other_score=other.mean.value,
        difference=ScoreEstimate(value, interval, int(both.sum()), by),
        p=p,
        p_holm=nan,
        per_seed=per_seed,
        over_seeds=_over_seeds(gaps),
    )


def seed_error(values: Sequence[float] | Float[np.ndarray, " n_seeds"]) -> float:
    """The standard error that a mean over seeds owes to which they are; NaN of fewer than two."""
    return float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else nan


def over_both(value: float, over_samples: Interval, seeds: Float[np.ndarray, " n_seeds"]) -> tuple[Interval, float]:
    """The interval over samples made longer by the error of a mean over seeds, and the p-value that goes with it.

    Samples are many and seeds few: an end lies as far off as the root of the summed squares of a normal quantile of the
    one and a t quantile of the other. The p-value is where such an end would come to lie at 0.

    Examples
    --------
    >>> interval, p = over_both(0.05, Interval(0.04, 0.06), np.array([0.02, 0.05, 0.08]))
    >>> interval, round(p, 3)
    (Interval(lower=-0.02..., upper=0.12...), 0.10...)
    """
    of_seeds, df = seed_error(seeds), len(seeds) - 1.0
    if not over_samples.known or isnan(of_seeds):
        return UNKNOWN, nan
    normal = half_width(1.0, np.inf)

    def reach(way: float, p: float) -> float:
        return hypot(half_width(way / normal, np.inf, level=1 - p), half_width(of_seeds, df, level=1 - p))

    down, up = value - over_samples.lower, over_samples.upper - value
    towards = down if value > 0 else up
    interval = Interval(value - reach(down, 0.05), value + reach(up, 0.05))
    if value == 0:
        return interval, 1.0
    if reach(towards, LEAST_P) <= abs(value):
        return interval, 0.0
    return interval, exp(brentq(lambda log_p: reach(towards, exp(log_p)) - abs(value), log(LEAST_P), 0.0))


def _pulls(runs: Sequence[ScoredRun]) -> Float[np.ndarray, " n_samples"]:
    """How far every sample pulls the mean over runs: one that is wrong in all of them pulls them all."""
    return np.mean([run.pulls for run in runs], axis=0)


def _error(runs: Sequence[ScoredRun], pulls: Float[np.ndarray, " n_samples"]) -> Error:
    tested = np.any([run.tested.fold >= 0 for run in runs], axis=0)
    return error_of(pulls, tested, runs[0].design, np.mean([run.weights for run in runs], axis=0))


def _over_seeds(values: Float[np.ndarray, " n_seeds"]) -> Interval:
    if len(values) < 2:
        return UNKNOWN
    return t_interval(float(values.mean()), seed_error(values), float(len(values) - 1))


def _mean_ends(estimates: Sequence[ScoreEstimate]) -> Interval:
    """The interval of a mean of estimates of the same samples, which may all be wrong in the same way."""
    lower, upper = (np.mean([getattr(each.interval, end) for each in estimates]) for end in ("lower", "upper"))
    return Interval(float(lower), float(upper))


# By how much is one recipe right more often than another, tried on the same folds?


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
