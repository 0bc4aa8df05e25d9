"""How does a model fare on folds, fold by fold and seed by seed, and how sure is each score?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import nan, sqrt

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data import DataError
from touchstone.core.evaluate.cluster_folds.compare import JACKKNIFE, WILSON, Guess, ScoredRun, difference_of, scheme_of
from touchstone.core.evaluate.cluster_folds.jackknife import (
    beside_folds,
    error_of,
    guesses_without,
    pulls_on_mean,
    scaled_interval,
    scores_without,
    standard_error,
    trained_anew,
)
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    FoldScore,
    RunScore,
    ScoredBy,
    ScoreEstimate,
    class_intervals,
    counted,
    mean_interval,
    population_std,
    score_interval,
)
from touchstone.core.evaluate.cluster_folds.tested import FoldedRun, FoldPredictions
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, holm, joined
from touchstone.core.evaluate.metrics import ACCURACY, Counts, guessed
from touchstone.core.evaluate.units import Effect, Error

FEWEST_WRONG = 10
"""With fewer wrong (or right) samples than so many the samples cannot tell how many there might have been."""

BASELINES = ("random_folds", "randomized", "stratified_folds")
"""What other schemes are held against where nobody says otherwise."""

_ACCURACY = ScoredBy(ACCURACY)


def fold_performance(
    folded: FoldPredictions, *, metric: ScoredBy | None = None, baseline: str | None = None
) -> FoldPerformance:
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
    metric = metric or ScoredBy()
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
    return FoldPerformance(
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

    def __init__(self, run: FoldedRun, folded: FoldPredictions, metric: ScoredBy) -> None:
        self.of, self.metric, self.names = run, metric, folded.class_names
        self.tested = run.fold >= 0
        self.fold, self.y, y_pred = run.fold[self.tested], folded.y[self.tested], run.y_pred[self.tested]
        self.counts = counted(self.y, y_pred, self.fold, run.n_folds, len(self.names))
        self.without = scores_without(self.counts, self.score, fold=self.fold, y=self.y, y_pred=y_pred)
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
        pulls = pulls_on_mean(values, without, self.fold)
        return pulls if self.design.by_sample else pulls + beside_folds(values, self.fold)

    def run(self) -> ScoredRun:
        """The run as a whole, with all folds that have been tested."""
        there = np.flatnonzero(self.counts.true.sum(axis=-1) > 0).tolist()
        folds = [self.one_fold(fold) for fold in there]
        error = trained_anew(error_of(self.pulls, self.tested, self.design, self.weights), self.design)
        mean = self.mean([fold.score for fold in folds], self.counts.together(), error)
        by_accuracy = [fold.accuracy for fold in folds]
        score = RunScore(
            scheme=self.of.scheme,
            seed=self.of.seed,
            model=self.of.model,
            folds=tuple(folds),
            mean=mean,
            std=population_std(_known([fold.score.value for fold in folds])),
            accuracy=ScoreEstimate(_mean([each.value for each in by_accuracy]), _joined(by_accuracy), mean.n, WILSON),
            majority=_mean([fold.majority for fold in folds]),
            chance=_mean([fold.chance for fold in folds]),
            classes=_classes(self.counts.together(), self.of_accuracy),
            n_folds_wanted=self.of.n_folds,
            folds_known=self.of.folds_known,
        )
        return ScoredRun(self.of, score, self.pulls, self.guesses(score), self.weights, self.design)

    def guesses(self, score: RunScore) -> tuple[Guess, ...]:
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
            without = guesses_without(true, shares, self.score, fold=self.fold, y=self.y)
            pulls[self.tested] = self.pulls_of(self.score(guessed(true, shares)), without)
            made.append(Guess(value, pulls, is_floor=not made or not is_accuracy))
        return tuple(made)

    def one_fold(self, fold: int) -> FoldScore:
        """One fold on its own."""
        counts, of_fold = self.counts.take(fold), self.fold == fold
        n, n_train = int(counts.true.sum()), int((self.n_label - counts.true).sum())
        value = self.score(counts)
        pulls = pulls_on_mean(np.array([value]), self.without[of_fold], np.zeros(n, dtype=np.int64))
        wilson = score_interval(counts, self.metric, self.names, self.effect)
        # Few units are in one fold: how much they count is known of all folds together.
        se = standard_error(pulls, np.ones(n, dtype=bool)) * sqrt(self.effect.times)
        accuracy = float(_ACCURACY.score(counts, self.names))
        majority, majority_accuracy, chance = self.nulls(counts)
        return FoldScore(
            scheme=self.of.scheme,
            seed=self.of.seed,
            model=self.of.model,
            fold=fold,
            n=n,
            n_train=n_train or None,
            score=self.estimate(counts, float(value), Error(se, self.effect.df), wilson),
            accuracy=ScoreEstimate(
                accuracy, score_interval(counts, _ACCURACY, self.names, self.of_accuracy), n, WILSON
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

    def mean(self, scores: Sequence[ScoreEstimate], together: Counts, error: Error) -> ScoreEstimate:
        """The mean over the folds of which the score is defined."""
        known = [score for score in scores if not np.isnan(score.value)]
        return self.estimate(together, _mean([score.value for score in known]), error, _joined(known))

    def estimate(self, counts: Counts, value: float, error: Error, wilson: Interval) -> ScoreEstimate:
        """With the jackknife's interval, unless too few samples are wrong (or right) for it, or none would matter.

        Wilson's intervals of classes know nothing of classes that come and go, with which a macro F1 of few wrong
        samples may jump: there the interval holds both.
        """
        n, scaled = int(counts.true.sum()), scaled_interval(value, error)
        if not error.df > 0:
            return ScoreEstimate(value, UNKNOWN, n, JACKKNIFE)
        if _n_decisive(counts, self.metric, self.names) / self.effect.times >= FEWEST_WRONG and error.se > 0:
            return ScoreEstimate(value, scaled, n, JACKKNIFE)
        return ScoreEstimate(
            value, wilson if self.metric.name in (ACCURACY, "f1") else joined(wilson, scaled), n, WILSON
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


def _n_decisive(counts: Counts, metric: ScoredBy, class_names: tuple[str, ...]) -> int:
    """The rarer of right and wrong samples, of the class that counts or of all."""
    if metric.positive is not None:
        label = class_names.index(metric.positive)
        right = int(counts.right[label])
        return min(right, int(counts.true[label] + counts.predicted[label]) - 2 * right)
    right = int(counts.right.sum())
    return min(right, int(counts.true.sum()) - right)


def _classes(counts: Counts, effect: Effect) -> tuple[ScoreEstimate, ...]:
    cells = zip(counts.f1().tolist(), class_intervals(counts, effect), counts.true.tolist(), strict=True)
    return tuple(ScoreEstimate(value, interval, int(n), WILSON) for value, interval, n in cells)


def _joined(scores: Sequence[ScoreEstimate]) -> Interval:
    return mean_interval(np.array([score.value for score in scores]), [score.interval for score in scores])


def _known(values: Sequence[float]) -> Float[np.ndarray, " n"]:
    numbers = np.array(values, dtype=np.float64)
    return numbers[~np.isnan(numbers)]


def _mean(values: Sequence[float]) -> float:
    """The mean of what is known, NaN of nothing."""
    known = _known(values)
    return float(known.mean()) if len(known) else nan
