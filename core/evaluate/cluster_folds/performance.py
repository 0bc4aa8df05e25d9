"""How does a model fare on folds, fold by fold and seed by seed, and how sure is each score?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, permutations
from math import exp, factorial, hypot, isnan, log, nan, sqrt

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from scipy.optimize import brentq

from touchstone.core.data import DataError, Predictions
from touchstone.core.evaluate.cluster_folds import results
from touchstone.core.evaluate.cluster_folds.tested import FoldedRun, FoldPredictions, TrainedFolds, predictions_on_folds
from touchstone.core.evaluate.intervals import (
    LEAST_P,
    UNKNOWN,
    Interval,
    apart,
    half_width,
    holm,
    joined,
    p_of_interval,
    smoothed_mean,
    t_interval,
    within,
)
from touchstone.core.evaluate.metric_functions import Counts, guessed
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, Effect, Error
from touchstone.core.split.describe_folds import describe_folds

# What does a model reach on a scheme, over its seeds, and how far apart are two schemes on the same samples?

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
    score: results.RunScore
    pulls: Float[np.ndarray, " n_samples"]
    guesses: tuple[Guess, ...]
    weights: Float[np.ndarray, " n_samples"]
    """The share of the mean over folds that each tested sample has; 0 of others."""
    design: Design
    metric: results.ScoredBy


def scheme_of(runs: Sequence[ScoredRun]) -> results.SchemeScore:
    """The runs of one model on one scheme, seed by seed, as one."""
    scores = [run.score for run in runs]
    means = np.array([score.mean.value for score in scores])
    value = float(means.mean())
    by = JACKKNIFE if all(score.mean.by == JACKKNIFE for score in scores) else WILSON
    error = results.trained_anew(_error(runs, _pulls(runs)), runs[0].design)
    by_jackknife = results.scaled_interval(value, error, runs[0].metric.lowest)
    interval = by_jackknife if by == JACKKNIFE else _mean_ends([score.mean for score in scores])
    return results.SchemeScore(
        scheme=scores[0].scheme,
        model=scores[0].model,
        seeds=tuple(score.seed for score in scores),
        mean=results.ScoreEstimate(value, interval, scores[0].mean.n, by),
        std=float(np.mean([score.std for score in scores])),
        sd_over_seeds=float(means.std(ddof=1)) if len(means) > 1 else nan,
        over_seeds=_over_seeds(means),
        accuracy=float(np.mean([score.accuracy.value for score in scores])),
        majority=float(np.mean([score.majority for score in scores])),
        chance=float(np.mean([score.chance for score in scores])),
        beyond_guesses=_beyond_guesses(runs, value, interval, by),
        n=scores[0].mean.n,
    )


def _beyond_guesses(runs: Sequence[ScoredRun], value: float, interval: Interval, by: str) -> results.ScoreEstimate:
    """The score less those of models that learn nothing, on the same samples: above the better, or below the worse.

    In between it is 0. The interval goes from its lower end above the better one to its upper end above the worse one.
    """
    n = runs[0].score.mean.n
    if not all(run.guesses for run in runs):
        return results.ScoreEstimate(nan, UNKNOWN, n, by)
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
    return results.ScoreEstimate(beyond, Interval(lower.lower, upper.upper), n, by)


def _above(runs: Sequence[ScoredRun], value: float, interval: Interval, by: str, guess: Guess) -> Interval:
    most = 1 - runs[0].metric.lowest
    if by == JACKKNIFE:
        ends, _ = results.difference_interval(value - guess.value, _error(runs, _pulls(runs) - guess.pulls), most)
        return ends
    of_guess, _ = results.difference_interval(guess.value, _error(runs, guess.pulls), most)
    return within(apart(value, interval, guess.value, of_guess), -most, most)


def difference_of(runs: Sequence[ScoredRun], others: Sequence[ScoredRun]) -> results.SchemeDifference:
    """The scheme of `runs` less that of `others`; the p-value is not corrected yet."""
    own, other = scheme_of(runs), scheme_of(others)
    value, most = own.mean.value - other.mean.value, 1 - runs[0].metric.lowest
    if own.mean.by == other.mean.by == JACKKNIFE:
        error = _error([*runs, *others], _pulls(runs) - _pulls(others))
        (interval, p), by = results.difference_interval(value, error, most), JACKKNIFE
    else:
        interval, by = apart(own.mean.value, own.mean.interval, other.mean.value, other.mean.interval), WILSON
        p, interval = p_of_interval(value, interval), within(interval, -most, most)
    seeds = {run.score.seed: run.score.mean.value for run in runs}
    per_seed = tuple(
        (run.score.seed, seeds[run.score.seed] - run.score.mean.value) for run in others if run.score.seed in seeds
    )
    gaps = np.array([difference for _, difference in per_seed])
    if len(per_seed) >= FEWEST_SEEDS:
        interval, p = over_both(value, interval, gaps)
        interval = within(interval, -most, most)
    both = np.all([runs[0].tested.fold >= 0, others[0].tested.fold >= 0], axis=0)
    return results.SchemeDifference(
        model=own.model,
        scheme=own.scheme,
        other=other.scheme,
        score=own.mean.value,
        other_score=other.mean.value,
        difference=results.ScoreEstimate(value, interval, int(both.sum()), by),
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
    return results.error_of(pulls, tested, runs[0].design, np.mean([run.weights for run in runs], axis=0))


def _over_seeds(values: Float[np.ndarray, " n_seeds"]) -> Interval:
    if len(values) < 2:
        return UNKNOWN
    return t_interval(float(values.mean()), seed_error(values), float(len(values) - 1))


def _mean_ends(estimates: Sequence[results.ScoreEstimate]) -> Interval:
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


# How does each model fare on folds, fold by fold and seed by seed?


FEWEST_WRONG = 10
"""With fewer wrong (or right) samples than so many the samples cannot tell how many there might have been."""

BASELINES = ("random_folds", "randomized", "stratified_folds")
"""What other schemes are held against where nobody says otherwise."""

_ACCURACY = results.ScoredBy(ACCURACY)


def fold_performance(
    folded: FoldPredictions, *, metric: results.ScoredBy | None = None, baseline: str | None = None
) -> results.FoldPerformance:
    """Everything that predictions on folds tell so far, of all schemes, seeds and models.

    `baseline` is the scheme that others are held against (by default a random one, else the first). Schemes are scored
    and compared over seeds of which every fold has been tested; unfinished runs stand in `runs` with what they have.
    DataError where the metric names a class that is not there.

    Examples
    --------
    >>> from touchstone.core.data import Predictions
    >>> from touchstone.core.evaluate.cluster_folds.tested import predictions_on_folds
    >>> said = Predictions("abcd", [0, 1, 0, 1], [0, 1, 0, 0], ["cat", "dog"], groups={"fold": list("1122")})
    >>> found = fold_performance(predictions_on_folds({"mine": said}))
    >>> [round(fold.score.value, 3) for fold in found.runs[0].folds], round(found.runs[0].std, 3)
    ([1.0, 0.333], 0.333)
    """
    metric = metric or results.ScoredBy()
    if metric.positive is not None and metric.positive not in folded.class_names:
        raise DataError(f"There is no class {metric.positive!r}. The classes are {', '.join(folded.class_names)}.")
    scored = [_Scorer(run, folded, metric).run() for run in folded.runs()]
    order = _ordered(list(dict.fromkeys(run.score.scheme for run in scored)), baseline)
    schemes, differences = [], []
    for model in dict.fromkeys(run.score.model for run in scored):
        whole = {
            scheme: [
                run for run in scored if (run.score.model, run.score.scheme) == (model, scheme) and run.score.whole
            ]
            for scheme in order
        }
        schemes += [scheme_of(of_scheme) for of_scheme in whole.values() if of_scheme]
        known = [scheme for scheme in order if whole[scheme]]
        differences += [difference_of(whole[scheme], whole[other]) for other, scheme in combinations(known, 2)]
    corrected = holm([each.p for each in differences])
    return results.FoldPerformance(
        metric=metric,
        class_names=folded.class_names,
        runs=tuple(run.score for run in scored),
        schemes=tuple(schemes),
        differences=tuple(replace(each, p_holm=p) for each, p in zip(differences, corrected, strict=True)),
        n_samples=len(folded.y),
        n_failed=folded.n_failed,
        notes=folded.notes,
        design=folded.design,
    )


def _ordered(schemes: list[str], baseline: str | None) -> list[str]:
    """The schemes with the one first that others are held against."""
    first = next((name for name in (baseline, *BASELINES) if name in schemes), None)
    return schemes if first is None else [first, *(name for name in schemes if name != first)]


class _Scorer:
    """Scores one run: what its folds, and all of them together, come to."""

    def __init__(self, run: FoldedRun, folded: FoldPredictions, metric: results.ScoredBy) -> None:
        self.of, self.metric, self.names = run, metric, folded.class_names
        self.tested = run.fold >= 0
        self.fold, self.y, y_pred = run.fold[self.tested], folded.y[self.tested], run.y_pred[self.tested]
        self.counts = results.counted(self.y, y_pred, self.fold, run.n_folds, len(self.names))
        self.without = results.scores_without(self.counts, self.score, fold=self.fold, y=self.y, y_pred=y_pred)
        self.n_label = np.bincount(folded.y[folded.y >= 0], minlength=len(self.names))
        n_of_fold = np.bincount(self.fold, minlength=run.n_folds)
        self.design, self.weights, self.pulls = folded.design, np.zeros(len(self.tested)), np.zeros(len(self.tested))
        self.weights[self.tested] = 1 / n_of_fold[self.fold]
        self.pulls[self.tested] = self.pulls_of(self.score(self.counts), self.without)
        mine, weights = folded.design.of(self.tested), self.weights[self.tested]
        self.effect = mine.effect(self.pulls[self.tested], weights)
        by_fold = _ACCURACY.score(self.counts, self.names)
        off = (self.y == y_pred) - (by_fold[self.fold] if self.design.by_sample else np.nanmean(by_fold))
        self.of_accuracy = mine.effect(off * weights, weights)

    def score(self, counts: Counts) -> Float[np.ndarray, "*folds"]:
        """What the metric says of each fold."""
        return self.metric.score(counts, self.names)

    def pulls_of(self, values: np.ndarray, without: np.ndarray) -> Float[np.ndarray, " n_tested"]:
        """The pull of each sample on the mean of its folds' values; of units, what folds differ by is theirs, too."""
        pulls = results.pulls_on_mean(values, without, self.fold)
        return pulls if self.design.by_sample else pulls + results.beside_folds(values, self.fold)

    def run(self) -> ScoredRun:
        """The run as a whole, with all folds that have been tested."""
        there = np.flatnonzero(self.counts.true.sum(axis=-1) > 0).tolist()
        folds = [self.one_fold(fold) for fold in there]
        error = results.trained_anew(results.error_of(self.pulls, self.tested, self.design, self.weights), self.design)
        mean = self.mean([fold.score for fold in folds], self.counts.together(), error)
        by_accuracy = [fold.accuracy for fold in folds]
        score = results.RunScore(
            scheme=self.of.scheme,
            seed=self.of.seed,
            model=self.of.model,
            folds=tuple(folds),
            mean=mean,
            std=results.population_std(_known([fold.score.value for fold in folds])),
            accuracy=results.ScoreEstimate(
                _mean([each.value for each in by_accuracy]), _joined(by_accuracy), mean.n, WILSON
            ),
            majority=_mean([fold.majority for fold in folds]),
            chance=_mean([fold.chance for fold in folds]),
            classes=_classes(self.counts.together(), self.of_accuracy),
            n_folds_wanted=self.of.n_folds,
            folds_known=self.of.folds_known,
        )
        return ScoredRun(self.of, score, self.pulls, self.guesses(score), self.weights, self.design, self.metric)

    def guesses(self, score: results.RunScore) -> tuple[Guess, ...]:
        """What the models that learn nothing but labels score here.

        The majority class has the highest accuracy of them in the long run. In folds dealt by lot it has not: what is
        more frequent in training is less so in the test part.
        """
        true, values = self.counts.true, (score.majority, score.chance)
        trained_on = self.n_label - true
        if np.isnan(values).any() or not trained_on.any(axis=-1).all():
            return ()
        made, is_accuracy = [], self.metric.name == ACCURACY
        for value, shares in zip(values, guesses(trained_on), strict=True):
            pulls = np.zeros(len(self.tested))
            without = results.guesses_without(true, shares, self.score, fold=self.fold, y=self.y)
            pulls[self.tested] = self.pulls_of(self.score(guessed(true, shares)), without)
            made.append(Guess(value, pulls, is_floor=not made or not is_accuracy))
        return tuple(made)

    def one_fold(self, fold: int) -> results.FoldScore:
        """One fold on its own."""
        counts, of_fold = self.counts.take(fold), self.fold == fold
        n, n_train = int(counts.true.sum()), int((self.n_label - counts.true).sum())
        value = self.score(counts)
        pulls = results.pulls_on_mean(np.array([value]), self.without[of_fold], np.zeros(n, dtype=np.int64))
        wilson = results.score_interval(counts, self.metric, self.names, self.effect)
        # Few units are in one fold: how much they count is known of all folds together.
        se = results.standard_error(pulls, np.ones(n, dtype=bool)) * sqrt(self.effect.times)
        accuracy = float(_ACCURACY.score(counts, self.names))
        majority, majority_accuracy, chance = self.nulls(counts)
        return results.FoldScore(
            scheme=self.of.scheme,
            seed=self.of.seed,
            model=self.of.model,
            fold=fold,
            n=n,
            n_train=n_train or None,
            score=self.estimate(counts, float(value), Error(se, self.effect.df), wilson),
            accuracy=results.ScoreEstimate(
                accuracy, results.score_interval(counts, _ACCURACY, self.names, self.of_accuracy), n, WILSON
            ),
            classes=_classes(counts, self.of_accuracy),
            majority=majority,
            majority_accuracy=majority_accuracy,
            chance=chance,
            seconds=self.of.seconds[fold] if self.of.seconds else nan,
        )

    def nulls(self, counts: Counts) -> tuple[float, float, float]:
        """Score and accuracy of always saying the label most frequent in training, and the score of guessing by shares.

        NaN where it is not known what was trained on.
        """
        trained_on = self.n_label - counts.true
        if not trained_on.any():
            return nan, nan, nan
        always, by_shares = (float(self.score(guessed(counts.true, shares))) for shares in guesses(trained_on))
        return always, float(counts.true[trained_on.argmax()] / counts.true.sum()), by_shares

    def mean(self, scores: Sequence[results.ScoreEstimate], together: Counts, error: Error) -> results.ScoreEstimate:
        """The mean over the folds of which the score is defined."""
        known = [score for score in scores if not np.isnan(score.value)]
        value, by_fold = _mean([score.value for score in known]), _joined(known, self.metric.lowest)
        return self.estimate(together, value, error, by_fold)

    def estimate(self, counts: Counts, value: float, error: Error, wilson: Interval) -> results.ScoreEstimate:
        """With the jackknife's interval, unless too few samples are wrong (or right) for it, or none would matter.

        Wilson's intervals of classes know nothing of classes that come and go, with which a macro F1 of few wrong
        samples may jump: there the interval holds both.
        """
        n, scaled = int(counts.true.sum()), results.scaled_interval(value, error, self.metric.lowest)
        if not error.df > 0:
            return results.ScoreEstimate(value, UNKNOWN, n, JACKKNIFE)
        if _n_decisive(counts, self.metric, self.names) / self.effect.times >= FEWEST_WRONG and error.se > 0:
            return results.ScoreEstimate(value, scaled, n, JACKKNIFE)
        return results.ScoreEstimate(
            value, wilson if self.metric.metric.share is not None else joined(wilson, scaled), n, WILSON
        )


def guesses(trained_on: Integer[np.ndarray, "*folds n_classes"]) -> tuple[np.ndarray, np.ndarray]:
    """How two models guess that learn nothing but labels: always the most frequent one, and by their shares.

    Examples
    --------
    >>> [each.tolist() for each in guesses(np.array([3, 1]))]
    [[1.0, 0.0], [0.75, 0.25]]
    """
    most = trained_on.argmax(axis=-1)[..., None]
    majority = (np.arange(trained_on.shape[-1]) == most).astype(np.float64)
    return majority, trained_on / trained_on.sum(axis=-1, keepdims=True)


def _n_decisive(counts: Counts, metric: results.ScoredBy, class_names: tuple[str, ...]) -> int:
    """The rarer of right and wrong samples, of the class that counts or of all.

    Where every class counts alike, those of the class that has most of them tell nothing of the others: a model that
    learned nothing has most of its right ones there, and hardly any that its score hangs on.
    """
    of_classes, right = metric.metric.of_classes, counts.right.sum()
    if of_classes is not None:
        part, whole = of_classes(counts)
        wrong = whole - part
        if metric.positive is not None:
            label = class_names.index(metric.positive)
            return int(min(part[label], wrong[label]))
        return int(min(part.sum() - part.max(), wrong.sum() - wrong.max()))
    tell = right - counts.right.max() if metric.lowest < 0 else right
    return int(min(tell, counts.true.sum() - right))


def _classes(counts: Counts, effect: Effect) -> tuple[results.ScoreEstimate, ...]:
    """The F1 of each class."""
    ends = results.class_intervals(counts, METRICS["f1"], effect)
    cells = zip(counts.f1().tolist(), ends, counts.true.tolist(), strict=True)
    return tuple(results.ScoreEstimate(value, interval, int(n), WILSON) for value, interval, n in cells)


def _joined(scores: Sequence[results.ScoreEstimate], lowest: float = 0.0) -> Interval:
    values, intervals = np.array([score.value for score in scores]), [score.interval for score in scores]
    return results.mean_interval(values, intervals, lowest=lowest)


def _known(values: Sequence[float]) -> Float[np.ndarray, " n"]:
    numbers = np.array(values, dtype=np.float64)
    return numbers[~np.isnan(numbers)]


def _mean(values: Sequence[float]) -> float:
    """The mean of what is known, NaN of nothing."""
    known = _known(values)
    return float(known.mean()) if len(known) else nan


# Does a scheme's score predict the score on a held-out set? (the question that section 6 of the paper leaves open)

SOURCE_SCHEMES = ("leave_one_group_out", "group_folds")
"""Schemes whose folds are the data set's own sources: each is held out as a new source would come."""


def predicted_on(
    performance: results.FoldPerformance, held_out: Mapping[str, Predictions], *, name: str
) -> tuple[results.PredictedHeldOut, ...]:
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
                value = row.mean.value - score.mean.value
                interval = _apart(row.mean, score.mean, 1 - performance.metric.lowest)
                difference = results.ScoreEstimate(value, interval, score.n)
                p = p_of_interval(value, interval) if interval.known else nan
                predicted_held_out.append(
                    results.PredictedHeldOut(
                        row.scheme, model, name, row.mean.value, score.mean.value, difference, p, False, row.seed_error
                    )
                )
    return tuple(predicted_held_out)


def predicted_on_sources(performance: results.FoldPerformance) -> tuple[results.PredictedHeldOut, ...]:
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


def _predicted(each: results.SchemeDifference, sources: str) -> results.PredictedHeldOut:
    gaps = [gap for _, gap in each.per_seed]
    # From three seeds on the interval of the difference allows for them.
    of_seeds = seed_error(gaps) if 1 < len(gaps) < FEWEST_SEEDS else 0.0
    own, other = each.score, each.other_score
    if sources == each.other:
        return results.PredictedHeldOut(
            each.scheme, each.model, sources, own, other, each.difference, each.p, True, of_seeds
        )
    turned = Interval(-each.difference.interval.upper, -each.difference.interval.lower)
    difference = replace(each.difference, value=-each.difference.value, interval=turned)
    return results.PredictedHeldOut(each.other, each.model, sources, other, own, difference, each.p, True, of_seeds)


def _apart(own: results.ScoreEstimate, other: results.ScoreEstimate, most: float) -> Interval:
    return within(apart(own.value, own.interval, other.value, other.interval), -most, most)


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


# What sets folds apart, and do scores go with it? (Wecker et al. 2020, sections 4.3, 5.2 and 5.3)
#
# The paper finds its worst fold to have shorter sentences, and in another task finds no explanation at all. A handful
# of folds can hardly show a correlation: the p-values here are exact for so few, and say how low they could get.

MOST_EXACT = 10_000
"""Up to so many ways to exchange folds all of them are gone through, else as many at random."""

SIZE, LABELS, SHARE = "samples", "label distance to training", "share of "
MEASURED = {
    "label_tv": LABELS,
    "variance": "variance within the fold",
    "energy": "energy distance to training",
    "nearest": "distance to the nearest training sample",
}
"""Measures of `describe_folds` that scores are held against, and what they are called here."""


def fold_characteristics(
    folds: Integer[np.ndarray, " n_samples"],
    y: Integer[np.ndarray, " n_samples"],
    *,
    class_names: Sequence[str],
    features: Float[np.ndarray, "n_samples n_features"] | None = None,
    numbers: Mapping[str, Float[np.ndarray, " n_samples"]] | None = None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """One row per fold: `fold` (from 0), then what is known of it, each column called as an axis would be.

    Samples; the label distance (total variation between the labels of the fold and of all others); of two classes the
    share of the second; the mean of each of `numbers`; with `features` also the mean squared distance of the fold's
    samples to their centre, and how far the fold lies from the rest. Samples with fold -1 count as training. DataError
    where a fold is empty or leaves nothing to train on.

    Examples
    --------
    >>> folds, y = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    >>> rng = np.random.default_rng(0)
    >>> fold_characteristics(folds, y, class_names=("no", "yes"), numbers={"mean length": np.array([1.0, 3, 4, 6])},
    ...                      rng=rng).values.tolist()
    [[0.0, 2.0, 0.5, 0.0, 2.0], [1.0, 2.0, 0.5, 0.5, 5.0]]
    """
    description = describe_folds(folds, y, features, class_names=class_names, n_random=0, rng=rng)
    rows = pd.DataFrame({"fold": np.arange(len(description.n_test)), SIZE: description.n_test})
    for measure, title in MEASURED.items():
        if measure in description.measures:
            rows[title] = description.values[:, description.measures.index(measure)]
    if len(class_names) == 2:
        rows[f"{SHARE}{class_names[1]}"] = description.n_label[:, 1] / description.n_test
    for name, values in (numbers or {}).items():
        rows[name] = [float(values[folds == fold].mean()) for fold in rows["fold"]]
    return rows


def mean_by_fold(folds: Integer[np.ndarray, " n_samples"], values: Float[np.ndarray, " n_samples"]) -> pd.DataFrame:
    """The mean of a number in every fold: `fold` (from 0), `n, mean, lower, upper` (Student's t, over samples).

    Examples
    --------
    >>> mean_by_fold(np.array([0, 0, 0, 1, -1]), np.array([1.0, 2, 3, 7, 9])).round(2).values.tolist()
    [[0.0, 3.0, 2.0, -0.48, 4.48], [1.0, 1.0, 7.0, nan, nan]]
    """
    rows = []
    for fold in range(int(folds.max(initial=-1)) + 1):
        of_fold = values[folds == fold]
        n, mean = len(of_fold), float(of_fold.mean()) if len(of_fold) else nan
        se = float(of_fold.std(ddof=1)) / sqrt(n) if n > 1 else nan
        interval = t_interval(mean, se, float(n - 1))
        rows.append({"fold": fold, "n": n, "mean": mean, "lower": interval.lower, "upper": interval.upper})
    return pd.DataFrame(rows, columns=["fold", "n", "mean", "lower", "upper"])


def characteristics_of(
    folded: FoldPredictions,
    *,
    features: Float[np.ndarray, "n_samples n_features"] | None = None,
    numbers: Mapping[str, Float[np.ndarray, " n_samples"]] | None = None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """The characteristics of all folds of all schemes and seeds: `scheme, seed`, then as `fold_characteristics`.

    Only samples whose truth is known count. Folds that leave nothing to train on are left out, and so are those of a
    seed of which a fold is empty so far.
    """
    known, parts = folded.y >= 0, []
    for scheme in folded.schemes:
        for seed in folded.seeds(scheme):
            folds = folded.folds(scheme, seed)[known]
            if len(np.unique(folds)) < 2 or 0 in np.bincount(folds[folds >= 0]):
                continue
            characteristics = fold_characteristics(
                folds,
                folded.y[known],
                class_names=folded.class_names,
                features=None if features is None else features[known],
                numbers={name: values[known] for name, values in (numbers or {}).items()},
                rng=rng,
            )
            characteristics.insert(0, "scheme", scheme)
            characteristics.insert(1, "seed", seed)
            parts.append(characteristics)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["scheme", "seed", "fold"])


def relations(
    performance: results.FoldPerformance, characteristics: pd.DataFrame, *, rng: np.random.Generator
) -> tuple[results.Relation, ...]:
    """How the scores of whole runs go with every characteristic, scheme by scheme and model by model.

    Characteristics that are the same in all folds but for rounding (sizes and labels, where folds are made equal) tell
    nothing and are left out, and so are folds without a score and schemes with fewer than three folds.

    Examples
    --------
    >>> from touchstone.core.evaluate.cluster_folds.results import ScoredBy
    >>> nothing = results.FoldPerformance(ScoredBy(), ("a", "b"), (), (), (), n_samples=0, n_failed=0)
    >>> relations(nothing, pd.DataFrame(), rng=np.random.default_rng(0))
    ()
    """
    whole = sorted((run for run in performance.runs if run.whole and len(run.folds_defined) > 2), key=_scheme_and_model)
    all_relations: list[results.Relation] = []
    for _, runs in groupby(whole, key=_scheme_and_model):
        all_relations += _of_scheme(list(runs), characteristics, rng)
    return tuple(all_relations)


def _scheme_and_model(run: results.RunScore) -> tuple[str, str]:
    return run.scheme, run.model


def _of_scheme(
    runs: Sequence[results.RunScore], characteristics: pd.DataFrame, rng: np.random.Generator
) -> list[results.Relation]:
    indexed = characteristics.set_index(["scheme", "seed", "fold"])
    scores = [np.array([fold.score.value for fold in run.folds_defined]) for run in runs]
    sizes = [np.array([fold.n for fold in run.folds_defined], dtype=np.float64) for run in runs]
    related = []
    for name in indexed.columns:
        values = [indexed[name].reindex(_places(run)).to_numpy(dtype=np.float64) for run in runs]
        if not _differs(str(name), np.concatenate(values)):
            continue
        r, p, p_least, exact = correlation(values, scores, sizes, rng=rng)
        if not np.isnan(r):
            n = sum(map(len, scores))
            related.append(results.Relation(runs[0].scheme, runs[0].model, str(name), r, n, p, nan, p_least, exact))
    corrected = holm([each.p for each in related])
    return [replace(each, p_holm=p) for each, p in zip(related, corrected, strict=True)]


def _places(run: results.RunScore) -> list[tuple[str, int, int]]:
    return [(run.scheme, run.seed, fold.fold) for fold in run.folds_defined]


def _differs(name: str, values: Float[np.ndarray, " n_folds"]) -> bool:
    """Whether folds differ at all; sizes within 2 % and label shares within 1 point are equal but for rounding."""
    spread = float(np.ptp(values))
    if name == SIZE:
        return spread > 0.02 * float(values.mean())
    return spread > 0.01 if name == LABELS or name.startswith(SHARE) else spread > 0


def correlation(
    values: Sequence[Float[np.ndarray, " n_folds"]],
    scores: Sequence[Float[np.ndarray, " n_folds"]],
    sizes: Sequence[Float[np.ndarray, " n_folds"]],
    *,
    rng: np.random.Generator,
) -> tuple[float, float, float, bool]:
    """Pearson's r within runs, its two-sided p-value, the least p there could be, and whether these are exact.

    `values`, `scores` and `sizes` (samples, the weights of folds) have an array for each seed. Each seed is tested by
    exchanging how far its folds lie off, times the root of their sizes, since small folds lie farther off by chance;
    and as they are, since folds that differ by more than chance do not. The larger p of the two counts. Seeds often
    find much the same folds, so that they are no independent witnesses: p is twice the mean of theirs, which holds
    however they depend on each other (Vovk & Wang 2020). NaN where nothing varies, or anything is unknown.

    Examples
    --------
    >>> line = np.arange(5.0)
    >>> r, p, least, exact = correlation([line], [line**2], [np.ones(5)], rng=np.random.default_rng(0))
    >>> round(r, 3), round(p, 4), round(least, 4), exact
    (0.959, 0.0167, 0.0083, True)
    """
    x, y = ([_off(*part) for part in zip(parts, sizes, strict=True)] for parts in (values, scores))
    norm = float(np.linalg.norm(np.concatenate(x)) * np.linalg.norm(np.concatenate(y)))
    scale = max(float(np.abs(np.concatenate(list(values))).max()), 1e-300)
    if np.isnan(norm) or norm == 0 or np.ptp(np.concatenate(x)) < 1e-9 * scale:
        return nan, nan, nan, False
    r = float(sum(a @ b for a, b in zip(x, y, strict=True))) / norm
    n_ways = [factorial(len(part)) for part in x]
    alike = [[_off(part, np.ones(len(part))) for part in parts] for parts in (values, scores)]
    p = [
        max(_exchanged(*weighted, n, rng), _exchanged(*plain, n, rng))
        for weighted, plain, n in zip(zip(x, y, strict=True), zip(*alike, strict=True), n_ways, strict=True)
    ]
    factor = 2.0 if len(p) > 1 else 1.0
    least = factor * float(np.mean([1 / min(n, MOST_EXACT + 1) for n in n_ways]))
    return r, min(factor * float(np.mean(p)), 1.0), least, max(n_ways) <= MOST_EXACT


def _off(part: Float[np.ndarray, " n_folds"], size: Float[np.ndarray, " n_folds"]) -> np.ndarray:
    """How far each lies off the weighted mean, times the root of its weight (of mean 1)."""
    return np.sqrt(size / size.mean()) * (part - float(size @ part) / size.sum())


def _exchanged(
    x: Float[np.ndarray, " n_folds"], y: Float[np.ndarray, " n_folds"], n_ways: int, rng: np.random.Generator
) -> float:
    """The share of ways to exchange folds that give as strong a correlation, of either sign."""
    exact = n_ways <= MOST_EXACT
    ways = np.array(list(permutations(y))) if exact else rng.permuted(np.tile(y, (MOST_EXACT, 1)), axis=1)
    as_far = int(np.sum(np.abs(ways @ x) >= abs(float(x @ y)) * (1 - 1e-9)))
    return as_far / n_ways if exact else (as_far + 1) / (MOST_EXACT + 1)
