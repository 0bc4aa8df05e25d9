"""What does a model reach on a scheme, over its seeds, and how far apart are two schemes on the same samples?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from jaxtyping import Float

from core.evaluate.cluster_folds.jackknife import normal_interval, scaled_interval, standard_error
from core.evaluate.cluster_folds.results import RunScore, SchemeDifference, SchemeScore, ScoreEstimate
from core.evaluate.cluster_folds.tested import FoldedRun
from core.evaluate.intervals import UNKNOWN, Interval, apart, p_of_interval, t_interval

JACKKNIFE, WILSON = "jackknife", "wilson"
"""How the interval of a `ScoreEstimate` was found."""


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A run with its score, and how far every sample pulls the mean over its folds (0 where it was not tested).

    `pulls_of_guesses` are the same of what always guessing the majority class, and guessing by shares, would score.
    """

    tested: FoldedRun
    score: RunScore
    pulls: Float[np.ndarray, " n_samples"]
    pulls_of_guesses: Float[np.ndarray, "2 n_samples"]


def scheme_of(runs: Sequence[ScoredRun]) -> SchemeScore:
    """The runs of one model on one scheme, seed by seed, as one."""
    scores = [run.score for run in runs]
    means = np.array([score.mean.value for score in scores])
    value = float(means.mean())
    by = JACKKNIFE if all(score.mean.by == JACKKNIFE for score in scores) else WILSON
    se = standard_error(_pulls(runs), _tested(runs))
    interval = scaled_interval(value, se) if by == JACKKNIFE else _mean_ends([score.mean for score in scores])
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
        above_guesses=_above_guesses(runs, value, interval, by),
        n=scores[0].mean.n,
    )


def _above_guesses(runs: Sequence[ScoredRun], value: float, interval: Interval, by: str) -> ScoreEstimate:
    """The score less that of the better of two models that learn nothing, on the same samples."""
    guesses = np.mean([[run.score.majority, run.score.chance] for run in runs], axis=0)
    n = runs[0].score.mean.n
    if np.isnan(guesses).any():
        return ScoreEstimate(nan, UNKNOWN, n, by)
    better = int(guesses.argmax())
    guess, pulls = float(guesses[better]), np.mean([run.pulls_of_guesses[better] for run in runs], axis=0)
    if by == JACKKNIFE:
        ends, _ = normal_interval(value - guess, standard_error(_pulls(runs) - pulls, _tested(runs)))
    else:
        of_guess, _ = normal_interval(guess, standard_error(pulls, _tested(runs)))
        ends = apart(value, interval, guess, of_guess)
    return ScoreEstimate(value - guess, ends, n, by)


def difference_of(runs: Sequence[ScoredRun], others: Sequence[ScoredRun]) -> SchemeDifference:
    """The scheme of `runs` less that of `others`; the p-value is not corrected yet."""
    own, other = scheme_of(runs), scheme_of(others)
    value = own.mean.value - other.mean.value
    if own.mean.by == other.mean.by == JACKKNIFE:
        se = standard_error(_pulls(runs) - _pulls(others), _tested([*runs, *others]))
        (interval, p), by = normal_interval(value, se), JACKKNIFE
    else:
        interval, by = apart(own.mean.value, own.mean.interval, other.mean.value, other.mean.interval), WILSON
        p = p_of_interval(value, interval)
    seeds = {run.score.seed: run.score.mean.value for run in runs}
    per_seed = tuple(
        (run.score.seed, seeds[run.score.seed] - run.score.mean.value) for run in others if run.score.seed in seeds
    )
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
        over_seeds=_over_seeds(np.array([difference for _, difference in per_seed])),
    )


def _pulls(runs: Sequence[ScoredRun]) -> Float[np.ndarray, " n_samples"]:
    """How far every sample pulls the mean over runs: one that is wrong in all of them pulls them all."""
    return np.mean([run.pulls for run in runs], axis=0)


def _tested(runs: Sequence[ScoredRun]) -> np.ndarray:
    return np.any([run.tested.fold >= 0 for run in runs], axis=0)


def _over_seeds(values: Float[np.ndarray, " n_seeds"]) -> Interval:
    if len(values) < 2:
        return UNKNOWN
    return t_interval(float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values)), float(len(values) - 1))


def _mean_ends(estimates: Sequence[ScoreEstimate]) -> Interval:
    """The interval of a mean of estimates of the same samples, which may all be wrong in the same way."""
    lower, upper = (np.mean([getattr(each.interval, end) for each in estimates]) for end in ("lower", "upper"))
    return Interval(float(lower), float(upper))
