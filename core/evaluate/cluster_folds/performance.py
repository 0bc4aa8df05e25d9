"""How does a model fare on folds, fold by fold, seed by seed, and in one scheme against another?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan, sqrt

import numpy as np
from jaxtyping import Float, Integer

from core.data import DataError
from core.evaluate.cluster_folds.counts import Counts, class_intervals, counted, mean_interval, score_interval
from core.evaluate.cluster_folds.resample import bias_corrected, difference_interval, resampled
from core.evaluate.cluster_folds.results import (
    Estimate,
    FoldPerformance,
    FoldScore,
    Metric,
    RunScore,
    SchemeDifference,
    SchemeScore,
    population_std,
)
from core.evaluate.cluster_folds.tested import FoldedRun, FoldPredictions
from core.evaluate.intervals import UNKNOWN, Interval, holm, sign_flip_p, t_interval

FEWEST_WRONG = 10
"""With fewer wrong (or right) samples than so many a resampling cannot know how many there might have been."""

BASELINES = ("random_folds", "randomized", "stratified_folds")
"""What other schemes are held against where nobody says otherwise."""

_Score = Callable[[Counts], Float[np.ndarray, "..."]]


@dataclass(frozen=True, eq=False)
class _Run:
    """A run with its score, and the mean over folds in every resample."""

    tested: FoldedRun
    score: RunScore
    drawn: Float[np.ndarray, " n_resamples"]


def fold_performance(
    folded: FoldPredictions,
    *,
    metric: Metric | None = None,
    baseline: str | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator,
) -> FoldPerformance:
    """Everything that predictions on folds tell so far, of all schemes, seeds and models.

    `baseline` is the scheme that others are held against (by default a random one, else the first). Schemes are scored
    and compared over seeds of which every fold has been tested; unfinished runs stand in `runs` with what they have.
    DataError where the metric names a class that is not there.

    Examples
    --------
    >>> from core.data import Predictions
    >>> from core.evaluate.cluster_folds.tested import predictions_on_folds
    >>> said = Predictions("abcd", [0, 1, 0, 1], [0, 1, 0, 0], ["cat", "dog"], groups={"fold": list("1122")})
    >>> found = fold_performance(predictions_on_folds({"mine": said}), rng=np.random.default_rng(0))
    >>> [round(fold.score.value, 3) for fold in found.runs[0].folds], round(found.runs[0].std, 3)
    ([1.0, 0.333], 0.333)
    """
    metric = metric or Metric()
    if metric.positive is not None and metric.positive not in folded.class_names:
        raise DataError(f"There is no class {metric.positive!r}. The classes are {', '.join(folded.class_names)}.")
    runs, seed = folded.runs(), int(rng.integers(2**32))
    found: list[_Run] = []
    for model in dict.fromkeys(run.model for run in runs):
        of_model = [run for run in runs if run.model == model]
        found += _scored(of_model, folded, metric, n_resamples, np.random.default_rng(seed))
    order = _ordered(list(dict.fromkeys(run.score.scheme for run in found)), baseline)
    schemes, differences = [], []
    for model in dict.fromkeys(run.score.model for run in found):
        whole = {
            scheme: [run for run in found if (run.score.model, run.score.scheme) == (model, scheme) and run.score.whole]
            for scheme in order
        }
        schemes += [_scheme(of_scheme) for of_scheme in whole.values() if of_scheme]
        known = [scheme for scheme in order if whole[scheme]]
        differences += [_difference(whole[one], whole[other]) for other, one in combinations(known, 2)]
    corrected = holm([each.p for each in differences])
    return FoldPerformance(
        metric=metric,
        class_names=folded.class_names,
        runs=tuple(run.score for run in found),
        schemes=tuple(schemes),
        differences=tuple(replace(each, p_holm=p) for each, p in zip(differences, corrected, strict=True)),
        n_samples=len(folded.y),
        n_failed=folded.n_failed,
        notes=folded.notes,
    )


def _ordered(schemes: list[str], baseline: str | None) -> list[str]:
    """The schemes with the one first that others are held against."""
    first = next((name for name in (baseline, *BASELINES) if name in schemes), None)
    return schemes if first is None else [first, *(name for name in schemes if name != first)]


def _scored(
    runs: Sequence[FoldedRun], folded: FoldPredictions, metric: Metric, n_resamples: int, rng: np.random.Generator
) -> list[_Run]:
    """All runs of one model, scored on the same resamples."""
    n_classes = len(folded.class_names)

    def score(counts: Counts) -> Float[np.ndarray, "..."]:
        return counts.score(metric, folded.class_names)

    draws = resampled(runs, folded.y, score, n_classes=n_classes, n_resamples=n_resamples, rng=rng)
    return [_run(run, drawn, folded, metric, score) for run, drawn in zip(runs, draws, strict=True)]


def _run(
    run: FoldedRun,
    drawn: Float[np.ndarray, "n_resamples n_folds"],
    folded: FoldPredictions,
    metric: Metric,
    score: _Score,
) -> _Run:
    tested, names = run.fold >= 0, folded.class_names
    counts = counted(folded.y[tested], run.y_pred[tested], run.fold[tested], run.n_folds, len(names))
    n_label = np.bincount(folded.y[folded.y >= 0], minlength=len(names))
    there = np.flatnonzero(counts.true.sum(axis=-1) > 0).tolist()
    folds = [_fold(run, fold, counts.take(fold), drawn[:, fold], n_label, metric, names, score) for fold in there]
    means = _mean_over_folds(drawn[:, there])
    values = np.array([fold.score.value for fold in folds])
    by_fold, together = [fold.score.interval for fold in folds], counts.together()
    accuracies = np.array([fold.accuracy.value for fold in folds])
    mean = _estimate(together, metric, names, float(values.mean()), means, mean_interval(values, by_fold))
    said = RunScore(
        scheme=run.scheme,
        seed=run.seed,
        model=run.model,
        folds=tuple(folds),
        mean=mean,
        std=population_std(values),
        accuracy=Estimate(
            float(accuracies.mean()),
            mean_interval(accuracies, [fold.accuracy.interval for fold in folds]),
            mean.n,
            "wilson",
        ),
        majority=float(np.mean([fold.majority for fold in folds])),
        chance=float(np.mean([fold.chance for fold in folds])),
        classes=_classes(together),
        n_folds_wanted=run.n_folds,
    )
    return _Run(run, said, means)


def _fold(
    run: FoldedRun,
    fold: int,
    counts: Counts,
    drawn: Float[np.ndarray, " n_resamples"],
    n_label: Integer[np.ndarray, " n_classes"],
    metric: Metric,
    class_names: tuple[str, ...],
    score: _Score,
) -> FoldScore:
    n, trained_on = int(counts.true.sum()), n_label - counts.true
    n_train = int(trained_on.sum())
    majority = np.arange(len(n_label)) == trained_on.argmax()
    shares = trained_on / max(n_train, 1)
    nulls = [Counts(counts.true * said, counts.true, n * said) for said in (majority.astype(float), shares)]
    wilson = score_interval(counts, metric, class_names)
    accuracy = Metric("accuracy")
    return FoldScore(
        scheme=run.scheme,
        seed=run.seed,
        model=run.model,
        fold=fold,
        n=n,
        n_train=n_train or None,
        score=_estimate(counts, metric, class_names, float(score(counts)), drawn, wilson),
        accuracy=Estimate(
            float(counts.score(accuracy, class_names)), score_interval(counts, accuracy, class_names), n, "wilson"
        ),
        classes=_classes(counts),
        majority=float(score(nulls[0])),
        chance=float(score(nulls[1])),
        seconds=run.seconds[fold] if run.seconds else nan,
    )


def _estimate(
    counts: Counts,
    metric: Metric,
    class_names: tuple[str, ...],
    value: float,
    drawn: Float[np.ndarray, " n_resamples"],
    wilson: Interval,
) -> Estimate:
    """With an interval from resampling, unless so few samples are wrong (or right) that it would know too little."""
    few = _n_decisive(counts, metric, class_names) < FEWEST_WRONG
    n = int(counts.true.sum())
    if few:
        return Estimate(value, wilson, n, "wilson")
    return Estimate(value, bias_corrected(drawn, value), n, "bootstrap")


def _n_decisive(counts: Counts, metric: Metric, class_names: tuple[str, ...]) -> int:
    """The rarer of right and wrong samples, of the class that counts or of all."""
    if metric.kind == "f1":
        label = class_names.index(metric.positive)
        right = int(counts.right[label])
        return min(right, int(counts.true[label] + counts.said[label]) - 2 * right)
    right = int(counts.right.sum())
    return min(right, int(counts.true.sum()) - right)


def _classes(counts: Counts) -> tuple[Estimate, ...]:
    cells = zip(counts.f1().tolist(), class_intervals(counts), counts.true.tolist(), strict=True)
    return tuple(Estimate(value, interval, int(n), "wilson") for value, interval, n in cells)


def _scheme(runs: Sequence[_Run]) -> SchemeScore:
    scores = [run.score for run in runs]
    means = np.array([score.mean.value for score in scores])
    drawn, value = np.mean([run.drawn for run in runs], axis=0), float(means.mean())
    by = "bootstrap" if all(score.mean.by == "bootstrap" for score in scores) else "wilson"
    interval = bias_corrected(drawn, value) if by == "bootstrap" else _mean_ends([score.mean for score in scores])
    return SchemeScore(
        scheme=scores[0].scheme,
        model=scores[0].model,
        seeds=tuple(score.seed for score in scores),
        mean=Estimate(value, interval, scores[0].mean.n, by),
        std=float(np.mean([score.std for score in scores])),
        sd_over_seeds=float(means.std(ddof=1)) if len(means) > 1 else nan,
        over_seeds=_over_seeds(means),
        accuracy=float(np.mean([score.accuracy.value for score in scores])),
        majority=float(np.mean([score.majority for score in scores])),
        chance=float(np.mean([score.chance for score in scores])),
        n=scores[0].mean.n,
    )


def _difference(runs: Sequence[_Run], others: Sequence[_Run]) -> SchemeDifference:
    """The scheme of `runs` less that of `others`; the p-value is not corrected yet."""
    one, other = _scheme(runs), _scheme(others)
    value = one.mean.value - other.mean.value
    drawn = np.mean([run.drawn for run in runs], axis=0) - np.mean([run.drawn for run in others], axis=0)
    if one.mean.by == other.mean.by == "bootstrap":
        (interval, p), by = difference_interval(drawn, value), "bootstrap"
    else:
        interval, p, by = apart(one.mean, other.mean), _p_by_rows(runs, others), "wilson"
    seeds = {run.score.seed: run.score.mean.value for run in runs}
    per_seed = tuple(
        (run.score.seed, seeds[run.score.seed] - run.score.mean.value) for run in others if run.score.seed in seeds
    )
    both = np.all([runs[0].tested.fold >= 0, others[0].tested.fold >= 0], axis=0)
    return SchemeDifference(
        model=one.model,
        scheme=one.scheme,
        other=other.scheme,
        score=one.mean.value,
        other_score=other.mean.value,
        difference=Estimate(value, interval, int(both.sum()), by),
        p=p,
        p_holm=nan,
        per_seed=per_seed,
        over_seeds=_over_seeds(np.array([difference for _, difference in per_seed])),
    )


def _mean_over_folds(drawn: Float[np.ndarray, "n_resamples n_folds"]) -> Float[np.ndarray, " n_resamples"]:
    """The mean over the folds that a resample left samples in."""
    known = ~np.isnan(drawn)
    return np.where(known, drawn, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)


def _over_seeds(values: Float[np.ndarray, " n_seeds"]) -> Interval:
    if len(values) < 2:
        return UNKNOWN
    return t_interval(float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values)), float(len(values) - 1))


def _mean_ends(estimates: Sequence[Estimate]) -> Interval:
    """The interval of a mean of estimates of the same samples, which may all be wrong in the same way."""
    lower, upper = (np.mean([getattr(each.interval, end) for each in estimates]) for end in ("lower", "upper"))
    return Interval(float(lower), float(upper))


def apart(one: Estimate, other: Estimate) -> Interval:
    """The interval of a difference from the interval of each; of pairs, which agree more, it errs on the safe side."""
    if not (one.interval.known and other.interval.known):
        return UNKNOWN
    value = one.value - other.value
    down = np.hypot(one.value - one.interval.lower, other.interval.upper - other.value)
    up = np.hypot(one.interval.upper - one.value, other.value - other.interval.lower)
    return Interval(float(value - down), float(value + up))


def _p_by_rows(runs: Sequence[_Run], others: Sequence[_Run]) -> float:
    """The sign-flip test over rows of being right more often in one scheme than in the other."""
    right = [_share_right([run.tested for run in of]) for of in (runs, others)]
    apart = right[0] - right[1]
    apart = apart[~np.isnan(apart)]
    return sign_flip_p(float(apart[apart > 0].sum()), float(-apart[apart < 0].sum()))


def _share_right(runs: Sequence[FoldedRun]) -> Float[np.ndarray, " n_samples"]:
    return np.mean([np.where(run.fold >= 0, run.right, np.nan) for run in runs], axis=0)
