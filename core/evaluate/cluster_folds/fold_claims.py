"""What may be said of folds? Every sentence of the page rests on one of these claims (`core.evaluate.claims`)."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan, sqrt

import numpy as np
from scipy import special

from touchstone.core.evaluate.claims import Claim, claim, claim_of_t, corrected
from touchstone.core.evaluate.cluster_folds.compare import FEWEST_SEEDS, JACKKNIFE, seed_error
from touchstone.core.evaluate.cluster_folds.results import (
    FoldScore,
    Foretold,
    Relation,
    RunScore,
    SchemeDifference,
    SchemeScore,
)
from touchstone.core.evaluate.cluster_folds.tested import LabelShift
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, half_width, p_of_interval


def harder(difference: SchemeDifference) -> Claim:
    """By how much a scheme scores lower than the other. Undecided with fewer than three seeds.

    The interval is over samples and seeds, so that a bound need not clear the error of the mean over seeds once more.
    """
    value, ends = -difference.difference.value, difference.difference.interval
    seeds = [gap for _, gap in difference.per_seed]
    enough = len(seeds) >= FEWEST_SEEDS
    made = claim(
        "cluster_folds.harder", value, Interval(-ends.upper, -ends.lower), difference.p_holm,
        mc_error=0.0 if enough else nan,
    )  # fmt: skip
    # Few seeds: what their mean is off by has Student's tails, and is kept as the normal error that reaches as far.
    of_seeds = half_width(seed_error(seeds), len(seeds) - 1.0) / half_width(1.0, np.inf)
    return replace(made, mc_error=of_seeds if enough else nan)


def shifts_labels(shift: LabelShift) -> Claim:
    """How much more often neighbours share their label within a fold than across folds."""
    return claim_of_t(
        "cluster_folds.labels_shift", shift.value, shift.se, shift.df,
        mc_error=shift.seed_error,
    )  # fmt: skip


def differs_between_folds(runs: Sequence[RunScore]) -> Claim:
    """The standard deviation of what the folds would score on endless samples, in which chance has no part.

    The weighted squares of fold scores around their mean are non-central chi-squared; over seeds, whose folds may be
    much the same, they are averaged and taken for those of one, which errs on the safe side. How much of them is
    chance is not known where a fold has too few wrong samples to learn it from: that folds differ by less than chance
    would then says nothing.
    """
    kind = "cluster_folds.differs_between_folds"
    usable = [[fold for fold in run.folds_defined if fold.score.interval.width > 0] for run in runs]
    if not usable or min(map(len, usable)) < 2:
        return claim(kind, nan, UNKNOWN, nan)
    squares, variances = zip(*map(_squares, usable), strict=True)
    n, q = min(map(len, usable)), float(np.mean(squares))
    scale = float(np.mean(variances)) / n
    lower, upper = _noncentrality(q, n - 1, 0.975), _noncentrality(q, n - 1, 0.025)
    below = float(special.chdtr(n - 1, q))
    spreads = [sqrt(max(square - (n - 1), 0.0) * scale) for square in squares]
    differs = claim(
        kind,
        sqrt(max(q - (n - 1), 0.0) * scale),
        Interval(sqrt(lower * scale), sqrt(upper * scale)),
        min(2 * min(below, 1 - below), 1.0),
        mc_error=seed_error(spreads) if len(spreads) > 1 else 0.0,
    )
    learned = all(fold.score.by == JACKKNIFE for folds in usable for fold in folds)
    if differs.decision == "small" and not learned:
        return replace(differs, decision="undecided")
    return differs


def beats_baselines(row: SchemeScore) -> Claim:
    """By how much the score lies above the better, or below the worse, of two models that learned nothing.

    These are the majority class and guessing by label shares, which has the higher macro F1. Between them nothing is
    said: folds of few samples, and folds with shares in proportion, hold one of them down or the other up.
    """
    value, interval = row.beyond_guesses.value, row.beyond_guesses.interval
    p = p_of_interval(value, interval) if interval.known else nan
    return claim("cluster_folds.beats_baselines", value, interval, p, mc_error=row.seed_error)


def predicts_held_out(each: Foretold) -> Claim:
    """By how much the score on folds lies above that on the held-out set."""
    value, interval = each.difference.value, each.difference.interval
    kind = "cluster_folds.predicts_held_out"
    return claim(kind, value, interval, each.p, mc_error=each.seed_error)


def all_held_out(foretold: Sequence[Foretold]) -> tuple[Claim, ...]:
    """The claims about all held-out sets, corrected together."""
    return corrected([predicts_held_out(each) for each in foretold])


def goes_with(relation: Relation) -> Claim:
    """The correlation of scores with a characteristic; its interval is the one that its exact p-value implies."""
    z = float(special.ndtri(1 - relation.p_holm / 2)) if 0 < relation.p_holm < 1 else 0.0
    half = 1.96 * abs(relation.r) / z if z > 0 else np.inf
    interval = Interval(max(relation.r - half, -1.0), min(relation.r + half, 1.0))
    return claim("cluster_folds.goes_with", relation.r, interval, relation.p_holm)


def _squares(folds: Sequence[FoldScore]) -> tuple[float, float]:
    """The sum of weighted squares around the weighted mean, and the variance of one score (harmonic mean).

    What one sample adds to a variance is pooled over folds: few samples tell it badly, and then with the score itself.
    """
    n = np.array([fold.n for fold in folds], dtype=np.float64)
    variances = np.array([fold.score.interval.width / (2 * 1.96) for fold in folds]) ** 2
    weights = n / float((n * variances).mean())
    values = np.array([fold.score.value for fold in folds])
    mean = float((weights * values).sum() / weights.sum())
    return float((weights * np.square(values - mean)).sum()), float(len(values) / weights.sum())


def _noncentrality(q: float, df: int, level: float) -> float:
    """The non-centrality at which `q` is the quantile of `level`; 0 where even that is too much."""
    if special.chdtr(df, q) <= level:
        return 0.0
    root = float(special.chndtrinc(q, df, level)) if q < 1000 else nan
    if np.isnan(root):  # the root of such a variable is all but normal, with variance 1
        return max((sqrt(q) - float(special.ndtri(level))) ** 2 - df, 0.0)
    return root
