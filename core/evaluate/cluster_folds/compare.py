"""What does a model reach on a scheme, over its seeds, and how far apart are two schemes on the same samples?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from jaxtyping import Float
from scipy import special

from core.evaluate.cluster_folds.jackknife import normal_interval, scaled_interval, standard_error
from core.evaluate.cluster_folds.results import RunScore, SchemeDifference, SchemeScore, ScoreEstimate
from core.evaluate.cluster_folds.tested import FoldedRun
from core.evaluate.intervals import UNKNOWN, Interval, t_interval, t_p_value

JACKKNIFE, WILSON = "jackknife", "wilson"
"""How the interval of a `ScoreEstimate` was found."""


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A run with its score, and how far every sample pulls the mean over its folds (0 where it was not tested)."""

    tested: FoldedRun
    score: RunScore
    pulls: Float[np.ndarray, " n_samples"]


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
        n=scores[0].mean.n,
    )


def difference_of(runs: Sequence[ScoredRun], others: Sequence[ScoredRun]) -> SchemeDifference:
    """The scheme of `runs` less that of `others`; the p-value is not corrected yet."""
    own, other = scheme_of(runs), scheme_of(others)
    value = own.mean.value - other.mean.value
    if own.mean.by == other.mean.by == JACKKNIFE:
        se = standard_error(_pulls(runs) - _pulls(others), _tested([*runs, *others]))
        (interval, p), by = normal_interval(value, se), JACKKNIFE
    else:
        interval, by = apart(own.mean, other.mean), WILSON
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


def apart(own: ScoreEstimate, other: ScoreEstimate) -> Interval:
    """The interval of a difference from the interval of each; of pairs, which agree more, it errs on the safe side."""
    if not (own.interval.known and other.interval.known):
        return UNKNOWN
    value = own.value - other.value
    down = np.hypot(own.value - own.interval.lower, other.interval.upper - other.value)
    up = np.hypot(own.interval.upper - own.value, other.value - other.interval.lower)
    return Interval(float(value - down), float(value + up))


def p_of_interval(value: float, interval: Interval) -> float:
    """The two-sided p-value of "no difference" of which `interval` tells: below .05 just where the interval lacks 0.

    Its way from the value towards 0 is taken for 1.96 standard errors.

    Examples
    --------
    >>> round(p_of_interval(0.5, Interval(0.0, 0.7)), 3), p_of_interval(0.0, Interval(-0.2, 0.1))
    (0.05, 1.0)
    """
    towards = value - interval.lower if value > 0 else interval.upper - value
    return t_p_value(value, towards / float(special.ndtri(0.975)), np.inf)


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
