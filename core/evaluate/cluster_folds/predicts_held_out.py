"""Does a scheme's score predict the score on a held-out set? (the question that section 6 of the paper leaves open)"""

from collections.abc import Mapping
from dataclasses import replace
from math import nan

from touchstone.core.data import Predictions
from touchstone.core.evaluate.cluster_folds.compare import FEWEST_SEEDS, seed_error
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    PredictedHeldOut,
    SchemeDifference,
    ScoreEstimate,
)
from touchstone.core.evaluate.cluster_folds.tested import predictions_on_folds
from touchstone.core.evaluate.intervals import Interval, apart, p_of_interval, within

SOURCE_SCHEMES = ("leave_one_group_out", "group_folds")
"""Schemes whose folds are the data set's own sources: each is held out as a new source would come."""


def predicted_on(
    performance: FoldPerformance, held_out: Mapping[str, Predictions], *, name: str
) -> tuple[PredictedHeldOut, ...]:
    """Every scheme's score less that on a held-out set; `held_out` has, by model, the predictions on it.

    Of one model in either, the names need not be the same. The two sets share no samples, so that the interval of the
    difference is that of independent estimates.

    Examples
    --------
    >>> folds = {"fold": list("1122")}
    >>> said = Predictions("abcd", [0, 1, 0, 1], [0, 1, 0, 0], ["cat", "dog"], groups=folds)
    >>> new = Predictions("xy", [0, 1], [0, 1], ["cat", "dog"])
    >>> performance = fold_performance(predictions_on_folds({"mine": said}))
    >>> told, = predicted_on(performance, {"": new}, name="new")
    >>> round(told.difference.value, 3), told.difference.interval.holds(0.0)
    (-0.333, True)
    """
    models = performance.models
    if len(models) == len(held_out) == 1:
        held_out = dict(zip(models, held_out.values(), strict=True))
    predicted_held_out = []
    for model in models:
        if model not in held_out:
            continue
        folded = predictions_on_folds({name: _one_fold(held_out[model])}, model=model)
        (score,) = fold_performance(folded, metric=performance.metric).schemes
        for row in performance.schemes:
            if row.model == model:
                value, interval = row.mean.value - score.mean.value, _apart(row.mean, score.mean)
                difference = ScoreEstimate(value, interval, score.n)
                p = p_of_interval(value, interval) if interval.known else nan
                predicted_held_out.append(
                    PredictedHeldOut(
                        row.scheme, model, name, row.mean.value, score.mean.value, difference, p, False, row.seed_error
                    )
                )
    return tuple(predicted_held_out)


def predicted_on_sources(performance: FoldPerformance) -> tuple[PredictedHeldOut, ...]:
    """Every scheme's score less that on the data set's own sources, each held out; empty where that was not tested.

    The same samples are tested either way, so that the difference is paired.
    """
    predicted_held_out = []
    for each in performance.differences:
        names = (each.scheme, each.other)
        sources = [name for name in names if name in SOURCE_SCHEMES]
        if len(sources) == 1:
            predicted_held_out.append(_predicted(each, sources[0]))
    return tuple(predicted_held_out)


def _predicted(each: SchemeDifference, sources: str) -> PredictedHeldOut:
    gaps = [gap for _, gap in each.per_seed]
    # From three seeds on the interval of the difference allows for them.
    of_seeds = seed_error(gaps) if 1 < len(gaps) < FEWEST_SEEDS else 0.0
    own, other = each.score, each.other_score
    if sources == each.other:
        return PredictedHeldOut(each.scheme, each.model, sources, own, other, each.difference, each.p, True, of_seeds)
    turned = Interval(-each.difference.interval.upper, -each.difference.interval.lower)
    difference = replace(each.difference, value=-each.difference.value, interval=turned)
    return PredictedHeldOut(each.other, each.model, sources, other, own, difference, each.p, True, of_seeds)


def _apart(own: ScoreEstimate, other: ScoreEstimate) -> Interval:
    return within(apart(own.value, own.interval, other.value, other.interval), -1.0, 1.0)


def _one_fold(predictions: Predictions) -> Predictions:
    """The predictions as those of one fold, whatever groups they came with."""
    return Predictions(
        predictions.ids,
        predictions.y_true,
        predictions.y_pred,
        predictions.class_names,
        groups={"fold": ["1"] * predictions.n_samples},
        name=predictions.name,
    )
