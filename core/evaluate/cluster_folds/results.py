"""What comes out: scores by fold, run and scheme, what sets schemes apart, and how sure each number is.

A *run* is one model on the folds of one scheme and seed. Scores are numbers of at most 1, most of them shares.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan, sqrt

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    share_interval,
    t_interval,
    t_p_value,
    wilson,
    within,
)
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.metric_functions import Counts, guessed, of_either
from touchstone.core.evaluate.metrics import METRICS, Metric, metrics_of_counts
from touchstone.core.evaluate.units import EACH_SAMPLE, NO_EFFECT, Design, Effect, Error


@dataclass(frozen=True)
class ScoredBy:
    """What a fold is scored by: macro F1 (the mean over classes), or another metric that counts by class give.

    One of a class, such as its F1, needs the name of the `positive` one. The paper takes the F1 of two classes (Table
    1) and macro F1 of several (Table 3).

    Examples
    --------
    >>> ScoredBy().title, ScoredBy("f1", "spam").title
    ('macro F1', 'F1 of spam')
    >>> ScoredBy("f1")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The F1 of one class needs its name: say which class is the positive one.
    """

    name: str = "f1_macro"
    positive: str | None = None

    def __post_init__(self) -> None:
        if self.name not in METRICS or not self.metric.is_of_counts:
            raise DataError(f"There is no score {self.name!r}. Choose from {', '.join(metrics_of_counts())}.")
        if self.metric.of_class and self.positive is None:
            raise DataError(
                f"The {self.metric.title} of one class needs its name: say which class is the positive one."
            )

    @property
    def metric(self) -> Metric:
        """Its entry in the registry."""
        return METRICS[self.name]

    @property
    def words(self) -> InWords:
        """How numbers of it are written."""
        return InWords(self.metric, self.positive)

    @property
    def title(self) -> str:
        """What it is called within a sentence."""
        return self.words.name if self.positive is None else f"{self.metric.title} of {self.positive}"

    @property
    def lowest(self) -> float:
        """The least that it can be: 0 of a share, -1 of a correlation. The most is 1."""
        return self.metric.lowest

    def score(self, counts: Counts, class_names: tuple[str, ...]) -> Float[np.ndarray, "*folds"]:
        """What the metric says of each fold; NaN for a fold without samples.

        Macro F1 is the mean over the classes that are there or were predicted, as scikit-learn and notebooks have it.
        """
        assert self.metric.of_counts is not None
        positive = 0 if self.positive is None else class_names.index(self.positive)
        return np.asarray(self.metric.of_counts(counts, positive))


@dataclass(frozen=True)
class ScoreEstimate:
    """A number with its 95 % interval over samples, and how many samples it rests on.

    The interval says what another data set of as many samples from the same place would give, the models and the folds
    being as they are. Where classes have a handful of samples it is rather too wide than too narrow. `by` says how it
    was found: "jackknife", or "wilson" where fewer than ten samples are wrong (or right), too few to learn from.
    """

    value: float
    interval: Interval = UNKNOWN
    n: int = 0
    by: str = ""


@dataclass(frozen=True)
class FoldScore:
    """One fold of one run: the model was trained on all other folds and tested on this one."""

    scheme: str
    seed: int
    model: str
    fold: int
    """Counted from 0; files and figures count from 1."""
    n: int
    n_train: int | None
    score: ScoreEstimate
    accuracy: ScoreEstimate
    classes: tuple[ScoreEstimate, ...]
    """F1 of each class, in the order of `class_names`; NaN where a class is neither in the fold nor predicted there."""
    majority: float
    """The score of always saying the class that is most frequent in the other folds."""
    majority_accuracy: float
    """The accuracy of the same."""
    chance: float
    """The score, about, of guessing by the label shares of the other folds."""
    seconds: float


@dataclass(frozen=True)
class RunScore:
    """One model on the folds of one scheme and seed: what a row of the paper's tables says."""

    scheme: str
    seed: int
    model: str
    folds: tuple[FoldScore, ...]
    mean: ScoreEstimate
    """The mean over the folds whose score is defined, `folds_defined`."""
    std: float
    """The population standard deviation over folds (ddof = 0), which is the paper's."""
    accuracy: ScoreEstimate
    """The mean over folds of the accuracy."""
    majority: float
    chance: float
    classes: tuple[ScoreEstimate, ...]
    """F1 of each class, all folds together."""
    n_folds_wanted: int
    """How many folds there are; fewer are in `folds` while trials are missing or where they failed."""
    folds_known: bool = True
    """Whether that is known; it is not while the trial that makes a plan's folds is missing, or where it failed."""

    @property
    def whole(self) -> bool:
        """Whether every fold has been tested."""
        return self.folds_known and len(self.folds) == self.n_folds_wanted

    @property
    def majority_accuracy(self) -> float:
        """The mean over folds of the accuracy of always predicting the majority class."""
        return float(np.mean([fold.majority_accuracy for fold in self.folds])) if self.folds else float("nan")

    @property
    def n_below_majority(self) -> int:
        """The folds whose accuracy lies below that of always predicting the majority class."""
        return sum(fold.accuracy.value < fold.majority_accuracy for fold in self.folds)

    @property
    def folds_defined(self) -> tuple[FoldScore, ...]:
        """The folds whose score is defined: the F1 of a class is not where it neither is there nor was said."""
        return tuple(fold for fold in self.folds if not isnan(fold.score.value))


@dataclass(frozen=True)
class SchemeScore:
    """One model on all seeds of a scheme. One seed is luck: `sd_over_seeds` says how much."""

    scheme: str
    model: str
    seeds: tuple[int, ...]
    mean: ScoreEstimate
    """Mean over seeds of the mean over folds; its interval is over samples."""
    std: float
    """Mean over seeds of the population standard deviation over folds."""
    sd_over_seeds: float
    """Sample standard deviation of the seeds' means; NaN for one seed."""
    over_seeds: Interval
    """Student's t interval of the mean over seeds: what other seeds would give on the same samples."""
    accuracy: float
    majority: float
    chance: float
    beyond_guesses: ScoreEstimate
    """By how much the score lies above the better, or below the worse, of `majority` and `chance`; 0 in between.

    An accuracy is below where it is below `majority`: guessing by shares gets no more, but for chance.
    """
    n: int
    """Rows that were tested."""

    @property
    def seed_error(self) -> float:
        """The standard error of the mean over seeds; 0 of one seed, whose folds are then all that is meant."""
        return self.sd_over_seeds / sqrt(len(self.seeds)) if len(self.seeds) > 1 else 0.0


@dataclass(frozen=True)
class SchemeDifference:
    """The score of `scheme` less that of `other`, of one model. Every row is tested once per scheme and seed: paired.

    The interval and `p` come from what the difference would be without each row, which then is missing from both
    schemes and all seeds; over several seeds scores are averaged first. From three seeds on they allow for other seeds,
    too: the variance over seeds is added (Satterthwaite). `p` is below .05 just where the interval lacks 0. `p_holm` is
    corrected for all differences.
    """

    model: str
    scheme: str
    other: str
    score: float
    other_score: float
    difference: ScoreEstimate
    p: float
    p_holm: float
    per_seed: tuple[tuple[int, float], ...]
    """The difference of every seed that both schemes have finished."""
    over_seeds: Interval
    """Student's t interval over seeds; unknown for one seed."""


@dataclass(frozen=True)
class Relation:
    """How scores go with a characteristic of the folds, such as their distance from training, in one scheme.

    `r` is Pearson's, within runs: scores and characteristic less their mean over the folds of a seed. `p` comes from
    exchanging the folds of a seed, exactly where there are few ways; of several seeds, which often find much the same
    folds, it is twice their mean. `p_least` is the least p that so few folds can give, `p_holm` is corrected for the
    characteristics of the same scheme and model.
    """

    scheme: str
    model: str
    characteristic: str
    r: float
    n: int
    """Folds, over all seeds."""
    p: float
    p_holm: float
    p_least: float
    exact: bool


@dataclass(frozen=True)
class PredictedHeldOut:
    """Does a scheme's score predict the score on a held-out set? `difference` is the scheme's less the held-out."""

    scheme: str
    model: str
    held_out: str
    """The name of the held-out set, or of the scheme whose folds are the data set's own sources."""
    score: float
    held_out_score: float
    difference: ScoreEstimate
    p: float
    """Of no difference, not corrected."""
    paired: bool
    """Whether both scores are of the same samples."""
    seed_error: float = 0.0
    """Standard error of the difference over seeds; 0 for one seed, whose folds are then all that is meant."""


@dataclass(frozen=True, eq=False)
class FoldPerformance:
    """Everything that predictions on folds tell so far."""

    metric: ScoredBy
    class_names: tuple[str, ...]
    runs: tuple[RunScore, ...]
    schemes: tuple[SchemeScore, ...]
    differences: tuple[SchemeDifference, ...]
    n_samples: int
    n_failed: int
    """Trials that failed."""
    notes: tuple[str, ...] = ()
    design: Design = EACH_SAMPLE

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the rows."""
        return tuple(dict.fromkeys(run.model for run in self.runs))

    def runs_of(self, scheme: str, model: str) -> tuple[RunScore, ...]:
        """The runs of one model on one scheme, seed by seed."""
        return tuple(run for run in self.runs if (run.scheme, run.model) == (scheme, model))

    def of(self, scheme: str, model: str) -> SchemeScore | None:
        """What one model reaches on one scheme; None where no run of it is whole."""
        return next((row for row in self.schemes if (row.scheme, row.model) == (scheme, model)), None)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each fold: `scheme, seed, model, fold` (from 1), `n, n_train`, then the numbers.

        `score, score_lower, score_upper, accuracy, accuracy_lower, accuracy_upper, majority, majority_accuracy, chance,
        seconds`, and `f1_` with the class's name for every class.
        """
        return pd.DataFrame(
            [
                _who(run)
                | {"fold": fold.fold + 1, "n": fold.n, "n_train": fold.n_train}
                | _cells("score", fold.score)
                | _cells("accuracy", fold.accuracy)
                | {
                    "majority": fold.majority,
                    "majority_accuracy": fold.majority_accuracy,
                    "chance": fold.chance,
                    "seconds": fold.seconds,
                }
                | {f"f1_{name}": f1.value for name, f1 in zip(self.class_names, fold.classes, strict=True)}
                for run in self.runs
                for fold in run.folds
            ]
        )

    def class_table(self) -> pd.DataFrame:
        """Tidy rows, one for each class of each run: `scheme, seed, model, label, n, f1, f1_lower, f1_upper`."""
        return pd.DataFrame(
            [
                _who(run) | {"label": name, "n": f1.n} | _cells("f1", f1)
                for run in self.runs
                for name, f1 in zip(self.class_names, run.classes, strict=True)
            ]
        )

    def summary(self) -> pd.DataFrame:
        """Tidy rows, one for each run: `scheme, seed, model, n_folds, mean`, its interval, `std`, then the nulls."""
        return pd.DataFrame(
            [
                _who(run)
                | {"n_folds": len(run.folds)}
                | _cells("mean", run.mean)
                | {"std": run.std, "accuracy": run.accuracy.value, "majority": run.majority, "chance": run.chance}
                | {"majority_accuracy": run.majority_accuracy, "n_below_majority": run.n_below_majority}
                for run in self.runs
            ]
        )

    def difference_table(self) -> pd.DataFrame:
        """Tidy rows, one for each pair of schemes: both scores, the difference, intervals and p-values."""
        return pd.DataFrame(
            [
                {"model": each.model, "scheme": each.scheme, "other": each.other}
                | {"score": each.score, "other_score": each.other_score, "n": each.difference.n}
                | _cells("difference", each.difference)
                | {"p": each.p, "p_holm": each.p_holm, "n_seeds": len(each.per_seed)}
                | {"seeds_lower": each.over_seeds.lower, "seeds_upper": each.over_seeds.upper}
                for each in self.differences
            ]
        )


def _who(run: RunScore) -> dict[str, object]:
    return {"scheme": run.scheme, "seed": run.seed, "model": run.model}


def _cells(name: str, estimate: ScoreEstimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_lower": estimate.interval.lower, f"{name}_upper": estimate.interval.upper}


def population_std(values: np.ndarray) -> float:
    """The standard deviation over folds as the paper prints it (ddof = 0); NaN of nothing.

    Examples
    --------
    The first row of Table 1:

    >>> round(population_std(np.array([94.5, 89.8, 95.2, 93.9, 92.8])), 1)
    1.9
    """
    return float(np.std(values)) if len(values) else float("nan")


# How good are predictions on a fold? Counts of right, true and predicted samples by class, and their intervals.


def counted(
    y: Integer[np.ndarray, " n_samples"],
    predicted: Integer[np.ndarray, " n_samples"],
    fold: Integer[np.ndarray, " n_samples"],
    n_folds: int,
    n_classes: int,
) -> Counts:
    """Count every fold of tested samples.

    Examples
    --------
    >>> counts = counted(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 0, 1]), 2, 2)
    >>> counts.right.tolist(), counts.predicted.tolist()
    ([[1, 1], [0, 0]], [[1, 1], [1, 0]])
    """

    def per_cell(codes: np.ndarray, which: np.ndarray | slice) -> np.ndarray:
        cells = fold[which] * n_classes + codes[which]
        return np.bincount(cells, minlength=n_folds * n_classes).reshape(n_folds, n_classes)

    return Counts(per_cell(y, y == predicted), per_cell(y, slice(None)), per_cell(predicted, slice(None)))


def class_intervals(counts: Counts, metric: Metric, effect: Effect = NO_EFFECT) -> list[Interval]:
    """Wilson's interval of what a metric of classes is of each class of one fold; unknown of a class without samples.

    Every such metric grows with a share of samples, of which Wilson's interval is honest also where it is 0 or 1: F1
    with right / (right + wrong of either kind).

    Examples
    --------
    >>> class_intervals(Counts(*np.array([[8, 0], [8, 0], [8, 0]])), METRICS["f1"])
    [Interval(lower=0.806..., upper=1.0), Interval(lower=nan, upper=nan)]
    """
    assert metric.of_classes is not None
    cells = np.stack(metric.of_classes(counts), axis=-1).astype(np.float64) / effect.times
    return [_turned(metric, wilson(part, whole, df=effect.df)) for part, whole in cells.tolist()]


def _turned(metric: Metric, share: Interval) -> Interval:
    if metric.from_share is None or not share.known:
        return share
    return Interval(metric.from_share(share.lower), metric.from_share(share.upper))


def score_interval(
    counts: Counts, metric: ScoredBy, class_names: tuple[str, ...], effect: Effect = NO_EFFECT
) -> Interval:
    """Of one fold, from Wilson's intervals: of accuracy, of one class, or of classes joined for their mean.

    Any other score has that of a share of as many samples as the smallest class has. A correlation has that of so many
    that one of them, were it wrong, would take off as much as a wrong sample does; where all are of one class, any.

    For the mean the distances to the ends are joined as those of independent estimates (Zou & Donner's MOVER); times
    the root of 2 where every wrong sample counts against two classes: the one it is of and the one it was taken for.
    """
    entry, n_right, n = metric.metric, float(counts.right.sum()), float(counts.true.sum())
    if not entry.reads_classes:
        return _turned(entry, wilson(n_right / effect.times, n / effect.times, df=effect.df))
    value = float(metric.score(counts, class_names))
    if entry.of_classes is None:
        true, lowest = counts.true[counts.true > 0], metric.lowest
        n = float(true.min() if lowest == 0 else 2 * (true.sum() - (true**2).sum() / true.sum())) / effect.times
        if isnan(value) or n == 0:
            return UNKNOWN if isnan(value) else Interval(lowest, 1.0)
        return wilson((value - lowest) / (1 - lowest) * n, n, df=effect.df).scaled(1 - lowest, lowest)
    ends = class_intervals(counts, entry, effect)
    if metric.positive is not None:
        return ends[class_names.index(metric.positive)]
    there = counts.true > 0
    if entry.name != "balanced_accuracy":  # which is of the classes that are there, others also of those predicted
        there |= counts.predicted > 0
    part, whole = (cells[there] for cells in entry.of_classes(counts))
    shares = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    values = shares if entry.from_share is None else entry.from_share(shares)
    known = [ends[label] if ends[label].known else Interval(0.0, 1.0) for label in np.flatnonzero(there).tolist()]
    return mean_interval(values, known, inflation=sqrt(2) if entry.of_classes is of_either else 1.0)


def mean_interval(
    values: Float[np.ndarray, " n"], intervals: list[Interval], *, inflation: float = 1.0, lowest: float = 0.0
) -> Interval:
    """The interval of a mean of independent estimates, each with its own (MOVER); unknown where any of them is.

    `inflation` widens it for estimates that are not independent; they lie between `lowest` and 1.

    Examples
    --------
    >>> mean_interval(np.array([0.5, 0.7]), [Interval(0.4, 0.6), Interval(0.6, 0.8)])
    Interval(lower=0.529..., upper=0.670...)
    """
    if len(values) == 0 or not all(interval.known for interval in intervals):
        return UNKNOWN
    mean = float(values.mean())
    scale = inflation / len(values)
    down = scale * np.hypot.reduce(values - [interval.lower for interval in intervals])
    up = scale * np.hypot.reduce([interval.upper for interval in intervals] - values)
    return Interval(max(mean - float(down), lowest), min(mean + float(up), 1.0))


# How far would scores be off with other samples? The jackknife: what would each be without each sample in turn?
#
# Which classes a macro F1 is a mean over depends on the samples: a class counts in a fold once it is there or was said
# there. Where classes have a sample or two in a fold, that is much of what other samples would change, and a bootstrap
# gets it wrong: resamples lose classes and never find new ones, so that their scores lie to one side of the score. The
# jackknife counts classes as the score itself does, and its variance is on average never too small (Efron & Stein
# 1981).

_AT_ONCE = 500_000
"""Numbers held at once, whatever the number of folds and classes."""


def scores_without(
    counts: Counts,
    score: Callable[[Counts], Float[np.ndarray, "*folds"]],
    *,
    fold: Integer[np.ndarray, " n_tested"],
    y: Integer[np.ndarray, " n_tested"],
    y_pred: Integer[np.ndarray, " n_tested"],
) -> Float[np.ndarray, " n_tested"]:
    """What each sample's fold would score without it; NaN where nothing could be said of the fold then.

    `counts` are those of the folds, and `score` says what counts come to.

    Examples
    --------
    >>> from touchstone.core.evaluate.cluster_folds.results import counted
    >>> fold, y, said = np.zeros(3, dtype=int), np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> def accuracy(counts: Counts) -> np.ndarray:
    ...     return counts.right.sum(axis=-1) / counts.true.sum(axis=-1)
    >>> scores_without(counted(y, said, fold, 1, 2), accuracy, fold=fold, y=y, y_pred=said)
    array([0.5, 1. , 0.5])
    """
    n_classes = counts.true.shape[-1]

    def left(cell: np.ndarray) -> Counts:
        at, predicted = np.arange(len(cell)), cell % n_classes
        fold_of_cell, true = np.divmod(cell // n_classes, n_classes)
        rest = Counts(counts.right[fold_of_cell], counts.true[fold_of_cell], counts.predicted[fold_of_cell])
        hit = true == predicted
        rest.right[at[hit], true[hit]] -= 1
        rest.true[at, true] -= 1
        rest.predicted[at, predicted] -= 1
        return rest

    return _scored((fold * n_classes + y) * n_classes + y_pred, left, score, n_classes)


def guesses_without(
    true: Integer[np.ndarray, "n_folds n_classes"],
    shares: Float[np.ndarray, "n_folds n_classes"],
    score: Callable[[Counts], Float[np.ndarray, "*folds"]],
    *,
    fold: Integer[np.ndarray, " n_tested"],
    y: Integer[np.ndarray, " n_tested"],
) -> Float[np.ndarray, " n_tested"]:
    """What guessing by `shares` would score in each sample's fold without it (`true` are the folds' labels)."""
    n_classes = true.shape[-1]

    def left(cell: np.ndarray) -> Counts:
        fold_of_cell, label = np.divmod(cell, n_classes)
        rest = true[fold_of_cell]
        rest[np.arange(len(cell)), label] -= 1
        return guessed(rest, shares[fold_of_cell])

    return _scored(fold * n_classes + y, left, score, n_classes)


def _scored(
    cell_of_row: Integer[np.ndarray, " n_tested"],
    left: Callable[[np.ndarray], Counts],
    score: Callable[[Counts], Float[np.ndarray, "*folds"]],
    n_classes: int,
) -> Float[np.ndarray, " n_tested"]:
    """The score of what is left without a sample, once for all samples that leave the same."""
    cells, which = np.unique(cell_of_row, return_inverse=True)
    step = max(_AT_ONCE // n_classes, 1)
    scores = [score(left(cells[start : start + step])) for start in range(0, len(cells), step)]
    return np.concatenate([*scores, np.empty(0)])[which]


def pulls_on_mean(
    values: Float[np.ndarray, " n_folds"],
    without: Float[np.ndarray, " n_tested"],
    fold: Integer[np.ndarray, " n_tested"],
) -> Float[np.ndarray, " n_tested"]:
    """How far each sample pulls the mean over folds: the mean less what it would be without the sample.

    `values` are the folds' scores (NaN: not defined, and no part of the mean), `without` those without each sample.

    Examples
    --------
    >>> pulls_on_mean(np.array([0.5, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]))
    array([-0.25,  0.25,  0.  ])
    """
    known = ~np.isnan(values)
    n, total, own = int(known.sum()), float(values[known].sum()), values[fold]
    if n == 0:
        return np.zeros(len(fold))
    lost = np.isnan(without) & ~np.isnan(own)  # the fold would be no part of the mean any more
    rest = total - np.where(np.isnan(own), 0.0, own)
    mean = (rest + np.where(np.isnan(without), 0.0, without)) / np.where(lost, max(n - 1, 1), n)
    return total / n - (mean if n > 1 else np.where(lost, total, mean))


def beside_folds(values: Float[np.ndarray, " n_folds"], fold: Integer[np.ndarray, " n_tested"]) -> np.ndarray:
    """What a sample's fold adds to its pull on the mean of folds: its share of how far the fold lies from the others.

    Few units are in a fold, and one alone may be all of it: what units differ by is then between folds, not in them.

    Examples
    --------
    >>> beside_folds(np.array([0.5, 1.0]), np.array([0, 0, 1]))
    array([-0.0625, -0.0625,  0.125 ])
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(len(fold))
    off = np.where(known, values - values[known].mean(), 0.0) / known.sum()
    return (off / np.maximum(np.bincount(fold, minlength=len(values)), 1))[fold]


def standard_error(pulls: Float[np.ndarray, " n_samples"], tested: Bool[np.ndarray, " n_samples"]) -> float:
    """The jackknife's standard error of a number on which every tested sample has such a pull.

    Of the mean it is the usual one, the standard deviation over the root of n:

    >>> values = np.array([1.0, 2.0, 6.0])
    >>> round(standard_error((values - 3.0) / 2, np.ones(3, dtype=bool)), 4), round(float(values.std(ddof=1)), 4)
    (1.5275, 2.6458)
    """
    n = int(tested.sum())
    return float(np.sqrt(n - 1) * pulls[tested].std()) if n > 1 else 0.0


def error_of(
    pulls: Float[np.ndarray, " n_samples"],
    tested: Bool[np.ndarray, " n_samples"],
    design: Design,
    weights: Float[np.ndarray, " n_samples"],
) -> Error:
    """The same over the units of the samples, with its degrees of freedom; normal where each sample is one.

    `weights` are the samples' shares of what the number is a mean of.
    """
    n = int(tested.sum())
    if design.by_sample or n < 2:
        return Error(standard_error(pulls, tested), np.inf)
    return design.of(tested).error(pulls[tested] * (n - 1) / n, weights[tested])


def trained_anew(error: Error, design: Design) -> Error:
    """The error of a score of models that other units would train: a unit counts twice, as a source does.

    It is tested, which its pull shows, and it trains the models that are tested on the others, which it does not. A
    single sample hardly changes a model, so that where each is a unit the error is as it was.

    Examples
    --------
    >>> designs = (Design(np.arange(30) // 2, "author"), Design())
    >>> [round(trained_anew(Error(0.1, 14.0), design).se, 3) for design in designs]
    [0.141, 0.1]
    """
    return error if design.by_sample else replace(error, se=sqrt(2) * error.se)


def difference_interval(value: float, error: Error, most: float = 1.0) -> tuple[Interval, float]:
    """The interval of a difference and its two-sided p-value, which is below .05 just where the interval lacks 0.

    No difference is larger than `most`.

    Examples
    --------
    >>> interval, p = difference_interval(1.0, Error(0.5, np.inf))
    >>> round(interval.lower, 2), round(p, 3)
    (0.02, 0.046)
    """
    return within(t_interval(value, error.se, error.df), -most, most), t_p_value(value, error.se, error.df)


def scaled_interval(value: float, error: Error, lowest: float = 0.0) -> Interval:
    """The interval of a score, Wilson's by Student's t, so that it holds the score and stays within `lowest` and 1.

    Examples
    --------
    >>> scaled_interval(0.97, Error(0.01, np.inf))
    Interval(lower=0.943..., upper=0.984...)
    """
    if np.isnan(value):
        return UNKNOWN
    span = 1 - lowest
    return share_interval((value - lowest) / span, error.se / span, error.df).scaled(span, lowest)
