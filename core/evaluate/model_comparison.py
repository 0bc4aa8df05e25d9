"""Is the new model better? Models on the same samples, paired, by unit, in any metric.

Two models that predict the same samples are mostly right and wrong together: only samples on which one is right and the
other wrong tell them apart. So a difference of accuracies is judged by McNemar's mid-p (Fagerland, Lydersen and Laake
2013) with Tango's score interval (1998), and any other metric, or any metric over units, by the jackknife of the
difference itself, in which what both share cancels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import hypot, isnan, nan, sqrt
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from scipy import special

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.predictions.same_samples import FEWEST, SameSamples, same_samples, trained_again
from touchstone.core.evaluate.claims import Claim, claim, corrected, why_undecided, withheld
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    half_width,
    joined,
    sum_of_errors,
    t_interval,
    t_p_value,
    within,
)
from touchstone.core.evaluate.metric_estimates import (
    ROUNDED,
    InWords,
    MetricEstimate,
    error_of,
    estimate,
    positive_class,
    scored_as,
)
from touchstone.core.evaluate.metric_functions import Scored
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, Metric
from touchstone.core.evaluate.sample_sizes import SizePlan, guesses_of
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, design_of_units
from touchstone.core.evaluate.wording import Verdict, count, listed, percent, plural, quoted, resting
from touchstone.core.parameters import asks, asks_positive_class

BETTER, CLASS_CHANGES = "model_comparison.better", "model_comparison.class_changes"


@dataclass(frozen=True, eq=False)
class ModelsOnSamples:
    """Models by name on the samples that all of them predict, in one order; the first is what others are held against.

    `positive` is the class that metrics of one class are about, None of several classes where none was named. Where
    recipes were trained several times, each sample stands once per training, and `trainings` says which that is.
    """

    predictions: Mapping[str, Predictions]
    common: SameSamples
    class_names: tuple[str, ...]
    scored: Mapping[str, Scored]
    positive: str | None
    design: Design
    trainings: Integer[np.ndarray, " n_samples"] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The models, the reference first."""
        return tuple(self.predictions)

    @property
    def ids(self) -> Shaped[np.ndarray, " n_samples"]:
        """The ids of the samples, as the first file has them."""
        return self.predictions[self.names[0]].ids

    @cached_property
    def n(self) -> int:
        """How many samples there are, each counted once."""
        return len(self.ids) if self.trainings is None else len(np.unique(self.ids))

    @property
    def in_words(self) -> str:
        """How many samples there are, of how many units; of recipes also how often each was trained."""
        if self.trainings is None:
            return self.design.samples(self.n)
        units = "" if self.design.word == EACH_SAMPLE.word else self.design.by
        return f"{plural(self.n, 'sample')}{units}, {plural(len(np.unique(self.trainings)), 'training')} of each"

    def in_order(self, names: Sequence[str]) -> "ModelsOnSamples":
        """The same models in another order."""
        in_order = ({name: each[name] for name in names} for each in (self.predictions, self.scored))
        return replace(self, **dict(zip(("predictions", "scored"), in_order, strict=True)))

    def of(self, rows: Bool[np.ndarray, " n_samples"]) -> "ModelsOnSamples":
        """The same models on some of the samples."""
        return replace(
            self,
            predictions={name: each.take(np.flatnonzero(rows)) for name, each in self.predictions.items()},
            scored={name: each.take(rows) for name, each in self.scored.items()},
            design=self.design.of(rows),
            trainings=None if self.trainings is None else self.trainings[rows],
        )

    @cached_property
    def correct(self) -> Mapping[str, Bool[np.ndarray, " n_samples"]]:
        """Where each model is right."""
        return {name: each.correct for name, each in self.predictions.items()}


def models_on_samples(
    files: Mapping[str, Predictions], *, positive: str | None = None, are_same: bool = False
) -> ModelsOnSamples | None:
    """The models on the samples that all files have; None where these are not the same samples (`same_samples`).

    Whoever knows that they `are_same` says so.

    Raises DataError for fewer than two models, for a class that there is not, and for common ids of other classes.

    Examples
    --------
    >>> y, ids = np.arange(20) % 2, [f"text {i}" for i in range(20)]
    >>> def file(y_pred):
    ...     return Predictions(ids, y, y_pred, ["ham", "spam"])
    >>> models = models_on_samples({"old": file(np.zeros(20, dtype=int)), "new": file(y)})
    >>> models.names, models.common.by, models.positive
    (('old', 'new'), 'ids', 'spam')
    """
    if len(files) < 2:
        raise DataError("A comparison needs two models or more.")
    common = same_samples([*files.values()], are_same=are_same)
    if common is None:
        return None
    taken = {name: file.take(rows) for (name, file), rows in zip(files.items(), common.rows, strict=True)}
    class_names = tuple(dict.fromkeys(label for file in taken.values() for label in file.class_names))
    if positive is not None and positive not in class_names:
        raise DataError(f"There is no class {positive!r}. Choose one of {listed(class_names)}.")
    scored = {name: scored_as(file, class_names) for name, file in taken.items()}
    label = 1 if positive is None else class_names.index(positive)
    if positive is None and len(class_names) == 2:
        label, _ = positive_class(class_names, next(iter(scored.values())).counts.true)
        positive = class_names[label]
    first = next(iter(taken.values()))
    named = next((file for file in taken.values() if file.units is not None), first)
    trainings = np.unique(first.groups["trial"], return_inverse=True)[1] if trained_again(first) else None
    design = design_of_units(named.units, named.unit_word)
    if trainings is not None and design.by_sample:
        design = design_of_units(first.ids, EACH_SAMPLE.word)
    return ModelsOnSamples(
        predictions=taken,
        common=common,
        class_names=class_names,
        scored={name: replace(each, positive=label) for name, each in scored.items()},
        positive=positive,
        design=design,
        trainings=trainings,
    )


PAIRED, INDEPENDENT, RECOGNISED = "paired", "independent", "recognised"
DESIGNS = (PAIRED, INDEPENDENT)
"""How two files may be compared: sample by sample, or as sets of different samples (matched subsets)."""


@dataclass(frozen=True)
class ComparisonPlan:
    """By which metric models are compared, and which loss would be put up with (0: none is named)."""

    metric: str = asks(
        ACCURACY,
        "Metric",
        "What models are compared by.",
        address="metric",
        place="row",
        choices=lambda about: {name: METRICS[name].title for name in about.metrics or METRICS},
    )
    positive: str | None = asks_positive_class()
    margin: float = asks(
        0.0,
        "Margin",
        "The loss that you would put up with, as a fraction: .01 is a point. The verdict says whether the new model is "
        "no worse by more. 0: no margin.",
        address="margin",
        place="row",
        within=(0.0, 0.5, 0.005),
        format="%.3f",
    )

    design: str = asks(
        RECOGNISED,
        "Samples",
        "Whether both files are of the same samples, where neither ids nor the order of true classes tell.",
        address="design",
        place="more",
        choices=lambda _: {RECOGNISED: "as ids and order tell", PAIRED: "the same, row by row"},
    )

    def compare(self, models: ModelsOnSamples) -> "ModelComparison":
        """Every pair of models."""
        return compare_paired(models, metric=self.metric, margin=self.margin or None)


def models_of(files: Mapping[str, Predictions], design: str | None, *, positive: str | None) -> ModelsOnSamples | None:
    """The models on their common samples; None where files are, or are said to be, of different samples.

    Raises DataError where they are said to be "paired" and have no samples in common that one can tell.
    """
    if design == INDEPENDENT:
        return None
    models = models_on_samples(files, positive=positive, are_same=design == PAIRED)
    if models is None and design == PAIRED:
        names = " and ".join({each.name: None for each in files.values()})
        raise DataError(
            f"{names} have no samples in common, as far as ids and true classes tell. Give both a column of ids, or "
            f"compare them as {INDEPENDENT}."
        )
    return models


def named_models(sides: Sequence[Mapping[str, Predictions]], titles: Sequence[str]) -> dict[str, Predictions]:
    """The models of files by names of their own, the first file's first; of a file that stands twice once.

    A file of one model gives it its title.

    >>> y = np.arange(12) % 2
    >>> old, new = (Predictions([f"t{i}" for i in range(12)], y, p, ["a", "b"]) for p in (y, 1 - y))
    >>> [*named_models([{"m": old}, {"m": new}], ["old.csv", "new.csv"])]
    ['old.csv', 'new.csv']
    >>> [*named_models([{"m": old, "n": new}, {"m": old, "n": new}], ["old.csv", "old.csv"])]
    ['m', 'n']
    >>> [*named_models([{"m": old}, {"m": new}, {"m": old, "n": new}], ["old.csv", "old.csv", "both.csv"])]
    ['old.csv (reference)', 'old.csv (new)', 'm (both.csv)', 'n (both.csv)']
    """
    prints = [tuple(each.fingerprint for each in side.values()) for side in sides]
    kept = [place for place in range(len(sides)) if len(sides[place]) == 1 or prints[place] not in prints[:place]]
    if len(kept) == 1:
        return dict(sides[kept[0]])
    called = [titles[place] for place in kept]
    names: dict[str, Predictions] = {}
    for at, (place, title) in enumerate(zip(kept, called, strict=True)):
        if called.count(title) > 1:
            title = f"{title} ({'reference' if at == 0 else 'new' if len(kept) == 2 or at == 1 else at + 1})"
        for name, each in sides[place].items():
            names[title if len(sides[place]) == 1 else f"{name} ({title})"] = each
    return names


# How far apart are two models, and how sure is that?


@dataclass(frozen=True)
class Difference:
    """How much better `model` is than `other` by a metric (a loss that is lower is better), with its paired interval.

    `n_gained` samples were wrong with the other and are right now, `n_lost` the other way round. `claim` is corrected
    for all pairs that were looked at; where nothing can be told of others, `why_not` says why.
    """

    model: str
    other: str
    value: float
    interval: Interval
    claim: Claim
    n_gained: int
    n_lost: int
    n: int
    why_not: str = ""

    @property
    def better(self) -> str | None:
        """The better model, where one surely is."""
        return {"above": self.model, "below": self.other}.get(self.claim.decision)

    def against(self, margin: float) -> str:
        """What the interval says of a margin: "better", "no worse" (by so much), "worse", or "undecided".

        >>> made = claim(BETTER, 0.004, Interval(-0.006, 0.014), 0.4)
        >>> each = Difference("new", "old", 0.004, made.interval, made, 30, 26, 1000)
        >>> each.against(0.01), each.against(0.005)
        ('no worse', 'undecided')
        """
        if not self.interval.known:
            return "undecided"
        if self.interval.lower > 0:
            return "better"
        if self.interval.lower > -margin:
            return "no worse"
        return "worse" if self.interval.upper < -margin else "undecided"


def mcnemar_mid_p(n_gained: int, n_lost: int) -> float:
    """Two-sided mid-p of "both models are as often right", of the samples on which one of both is.

    >>> round(mcnemar_mid_p(30, 6), 6), mcnemar_mid_p(0, 0)
    (4.1e-05, 1.0)
    """
    n, few = n_gained + n_lost, min(n_gained, n_lost)
    if n_gained == n_lost:
        return 1.0
    fewer = float(special.bdtr(few - 1, n, 0.5)) if few else 0.0
    return min(float(special.bdtr(few, n, 0.5)) + fewer, 1.0)


def tango_interval(n_gained: int, n_lost: int, n: int, *, level: float = 0.95) -> Interval:
    """The score interval of a paired difference of shares (Tango 1998).

    >>> tango_interval(30, 6, 1000)
    Interval(lower=0.01..., upper=0.03...)
    """
    from scipy.optimize import brentq

    value, z = (n_gained - n_lost) / n, float(special.ndtri((1 + level) / 2))

    def score(difference: float) -> float:
        a, c = 2 * n, -n_lost * difference * (1 - difference)
        b = -n_gained - n_lost + (2 * n - n_gained + n_lost) * difference
        lost = (sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
        variance = n * (2 * lost + difference * (1 - difference))
        return (n_gained - n_lost - n * difference) / sqrt(variance) if variance > 0 else 0.0

    def end(edge: float, sign: float) -> float:
        def beyond(difference: float) -> float:
            return score(difference) - sign * z

        return edge if beyond(edge) * beyond(value) > 0 else float(brentq(beyond, *sorted((edge, value)), xtol=1e-12))

    edge = 1 - 1e-12
    return Interval(end(-edge, 1.0), end(edge, -1.0))


def difference(
    models: ModelsOnSamples,
    metric: Metric,
    model: str,
    other: str,
    *,
    positive: str | None = None,
    known: Mapping[str, MetricEstimate] = MappingProxyType({}),
) -> Difference:
    """One model less another, as it stands, not corrected for other pairs.

    `positive` is another class to be about, and `known` what the metric is of either model, where that was made before.
    """
    own, its = (models.scored[name] for name in (model, other))
    if positive is not None:
        own, its = (replace(each, positive=models.class_names.index(positive)) for each in (own, its))
    rows, right, its_right = np.ones(own.n, dtype=bool), models.correct[model], models.correct[other]
    of_shares = metric.share is not None and metric.share_of in ("", "truth") and metric.from_share is None
    if of_shares and metric.share is not None:  # of the same samples whatever a model says
        (rows, right), (_, its_right) = (metric.share(each) for each in (own, its))
    n_gained, n_lost = int((rows & right & ~its_right).sum()), int((rows & ~right & its_right).sum())
    n, sign = int(rows.sum()), 1 if metric.larger_is_better else -1
    made_of = [known.get(name) or estimate(metric, each, models.design) for name, each in ((model, own), (other, its))]
    value, interval, p = sign * (made_of[0].value - made_of[1].value), UNKNOWN, nan
    without = [made for made in made_of if not made.interval.known]
    why_not = without[0].why_not if without else ""
    if not without:
        of_samples = (tango_interval(n_gained, n_lost, n), mcnemar_mid_p(n_gained, n_lost)) if of_shares else None
        interval, p = _paired(models, metric, (own, its), value, sign, of_samples)
        why_not = "" if interval.known else "no answer differs"
    made = claim(BETTER if positive is None else CLASS_CHANGES, value, interval, p)
    n_samples = n if models.trainings is None else len(np.unique(models.ids[rows]))
    return Difference(model, other, value, interval, made, n_gained, n_lost, n_samples, why_not)


def _paired(
    models: ModelsOnSamples,
    metric: Metric,
    sides: tuple[Scored, Scored],
    value: float,
    sign: int,
    of_samples: tuple[Interval, float] | None,
) -> tuple[Interval, float]:
    """The interval of a difference, and the p-value of none; over units no surer than `of_samples`."""
    if of_samples is not None and models.design.by_sample:
        return of_samples
    own, its = sides
    error = error_of(sign * (metric.influences(own) - metric.influences(its)), own.y_true, models.design)
    if not error.se > ROUNDED:
        return of_samples or (UNKNOWN, nan)
    df, span = min(error.df, max(error.n_moving, 2.0)), metric.highest[own.n_classes > 2] - metric.lowest
    se, df = sum_of_errors((error.se, df), _of_trainings(models, metric, sides))
    interval, p = within(t_interval(value, se, df), -span, span), t_p_value(value, se, df)
    return (interval, p) if of_samples is None else (joined(interval, of_samples[0]), max(p, of_samples[1]))


def _of_trainings(models: ModelsOnSamples, metric: Metric, sides: tuple[Scored, Scored]) -> tuple[float, float]:
    """The standard error that a difference owes to how often recipes were trained, and its degrees of freedom."""
    if models.trainings is None:
        return 0.0, 0.0
    return _over_trainings(np.subtract(*(_by_training(models, metric, side) for side in sides)))


def _by_training(models: ModelsOnSamples, metric: Metric, scored: Scored) -> Float[np.ndarray, " n_trainings"]:
    """The metric of each training by itself."""
    return np.array([metric.value(scored.take(models.trainings == each)) for each in np.unique(models.trainings)])


def _over_trainings(values: Float[np.ndarray, " n_trainings"]) -> tuple[float, float]:
    """The standard error of the mean of these, and its degrees of freedom; 0 where that cannot be told."""
    known = values[~np.isnan(values)]
    return (float(np.std(known, ddof=1)) / sqrt(len(known)), len(known) - 1.0) if len(known) > 1 else (0.0, 0.0)


def value_of(models: ModelsOnSamples, metric: Metric, name: str) -> MetricEstimate:
    """The metric of a model. Of a recipe, its interval also holds what another training would change.

    To each side it reaches as far as both errors do together, with as few degrees of freedom as there are trainings.
    """
    made = estimate(metric, models.scored[name], models.design)
    if models.trainings is None or not made.interval.known:
        return made
    se, df = _over_trainings(_by_training(models, metric, models.scored[name]))
    if se == 0:
        return made
    further, highest = half_width(se, df), metric.highest[models.scored[name].n_classes > 2]
    lower = made.value - hypot(made.value - made.interval.lower, further)
    upper = made.value + hypot(made.interval.upper - made.value, further)
    return replace(made, interval=within(Interval(lower, upper), metric.lowest, highest))


# Which of many models may be the best, and what changed between two of them?


@dataclass(frozen=True)
class Ranked:
    """A model with its metric, and the ranks that it may have: 1 is best."""

    model: str
    value: float
    interval: Interval
    best_rank: int
    worst_rank: int

    @property
    def ranks(self) -> str:
        """The ranks in words."""
        return str(self.best_rank) if self.best_rank == self.worst_rank else f"{self.best_rank} to {self.worst_rank}"


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """All models by one metric: values, differences that are corrected together, ranks, and what changed.

    What is told in detail is told of the reference and the best other model, which stands second among `models`:
    `changed` is the share of samples that both answer otherwise, whether right or wrong; `classes` has by how much more
    samples of each class the other one finds.
    """

    models: ModelsOnSamples
    metric: str
    ranked: tuple[Ranked, ...]
    differences: tuple[Difference, ...]
    classes: Mapping[str, Difference]
    changed: float
    of_changed: Interval
    margin: float | None = None

    @property
    def words(self) -> InWords:
        """How sentences speak of the metric."""
        return InWords(METRICS[self.metric], self.models.positive)

    @property
    def against_reference(self) -> tuple[Difference, ...]:
        """The differences of all other models from the reference."""
        return tuple(each for each in self.differences if each.other == self.models.names[0])

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The models that no other is surely better than."""
        return tuple(each.model for each in self.ranked if each.best_rank == 1)


def compare_paired(
    models: ModelsOnSamples, *, metric: str = ACCURACY, margin: float | None = None, every_pair: bool = True
) -> ModelComparison:
    """Hold all models against one another by a metric of the registry, or only against the first (`every_pair`).

    All these claims are one family (Holm); those of classes are another. With `margin`, the largest loss that would be
    put up with, differences are held against that, too.

    Raises DataError for a metric that these predictions do not give.

    Examples
    --------
    >>> rng, y = np.random.default_rng(0), np.arange(400) % 2
    >>> def file(share):
    ...     y_pred = np.where(rng.random(400) < share, y, 1 - y)
    ...     return Predictions([f"t{i}" for i in range(400)], y, y_pred, ["a", "b"])
    >>> comparison = compare_paired(models_on_samples({"old": file(0.7), "new": file(0.9), "newer": file(0.9)}))
    >>> comparison.may_be_best, [each.better for each in comparison.against_reference]
    (('newer', 'new'), ['new', 'newer'])
    """
    entry = METRICS[metric]
    _check(models, entry)
    reference, *others = models.names
    values = {name: value_of(models, entry, name) for name in models.names}
    pairs = combinations(models.names, 2) if every_pair else ((reference, name) for name in others)
    differences = _corrected([difference(models, entry, name, other, known=values) for other, name in pairs])
    ranked = tuple(_ranked(models.names, values, differences, larger_is_better=entry.larger_is_better))
    best = next(each.model for each in ranked if each.model != reference)
    models = models.in_order((reference, best, *(name for name in others if name != best)))
    first, own = models.predictions[reference], models.predictions[best]
    answers = [np.array(each.class_names, dtype=object)[each.y_pred] for each in (first, own)]
    changed = np.asarray(answers[0] != answers[1], dtype=bool)
    return ModelComparison(
        models=models,
        metric=metric,
        ranked=ranked,
        differences=differences,
        classes=_classes(models, best, reference),
        changed=float(changed.mean()),
        of_changed=models.design.wilson(changed) if models.design.enough else UNKNOWN,
        margin=margin,
    )


def _check(models: ModelsOnSamples, metric: Metric) -> None:
    if metric.of_class and models.positive is None:
        raise DataError(f"{metric.title} is about one class: name it as the positive one.")
    without = [name for name, scored in models.scored.items() if not metric.applies(scored)]
    if without:
        raise DataError(f"{metric.title} needs the probabilities of all classes, which {listed(without)} lack.")


def _corrected(differences: Sequence[Difference], *, chosen_from: int = 1) -> tuple[Difference, ...]:
    known = [each for each in differences if each.interval.known]
    claims = iter(corrected([each.claim for each in known], chosen_from=chosen_from))
    return tuple(replace(each, claim=next(claims)) if each.interval.known else each for each in differences)


def _ranked(
    names: Sequence[str],
    values: Mapping[str, MetricEstimate],
    differences: Sequence[Difference],
    *,
    larger_is_better: bool,
) -> Iterator[Ranked]:
    """Best first; a rank is as good as there are models that are surely better, and as bad as surely worse ones."""
    decided = [(each.better, each.other if each.better == each.model else each.model) for each in differences]
    for name in sorted(names, key=lambda each: (-1 if larger_is_better else 1) * values[each].value):
        won = sum(better == name for better, _ in decided)
        lost = sum(better is not None and worse == name for better, worse in decided)
        yield Ranked(name, values[name].value, values[name].interval, 1 + lost, len(names) - won)


def _classes(models: ModelsOnSamples, model: str, other: str) -> dict[str, Difference]:
    """Of every class that has a sample, its claims corrected for their number, and for the models chosen from."""
    there = [models.class_names[code] for code in np.flatnonzero(models.scored[other].counts.true)]
    changes = [difference(models, METRICS["recall"], model, other, positive=label) for label in there]
    return dict(zip(there, _corrected(changes, chosen_from=len(models.names) - 1), strict=True))


_UNTOLD = 0.1
"""A column that leaves less of an outcome open than this part of what is open without it was made from it."""
N_BANDS, MOST_GROUPS = 5, 20
"""Confidences are divided into so many bands of equally many samples; columns of more values are no groups."""


def by_group(comparison: ModelComparison) -> Mapping[tuple[str, str], Difference]:
    """Where accuracy changed between the first two models: by their confidence, and by columns of their files.

    By what it is and the value, as `groups` has them; claims are corrected for all of them together, and for the models
    that the second was chosen from.
    """
    models, (reference, model, *_) = comparison.models, comparison.models.names
    parts = groups(models)
    each = [difference(models.of(rows), METRICS[ACCURACY], model, reference) for rows in parts.values()]
    return dict(zip(parts, _corrected(each, chosen_from=len(models.names) - 1), strict=True))


def groups(models: ModelsOnSamples) -> dict[tuple[str, str], Bool[np.ndarray, " n_samples"]]:
    """The samples of each band of confidences of the first two models, and of each value of a column.

    Groups of fewer than ten samples are left out, and so are units, of which one alone tells nothing of others. Other
    columns count where both files say the same of each sample and they do not tell what a model made of it. Confidence
    is the mean of both: where only one of two equal models is unsure, the other one is right more often, and neither is
    better for that.
    """
    reference, model, *_ = models.names
    return {at: rows for at, rows in _groups(models, reference, model) if rows.sum() >= FEWEST}


def of_class(models: ModelsOnSamples, label: str) -> Bool[np.ndarray, " n_samples"]:
    """The samples whose true class this is."""
    return next(iter(models.scored.values())).y_true == models.class_names.index(label)


def _groups(
    models: ModelsOnSamples, reference: str, model: str
) -> Iterator[tuple[tuple[str, str], Bool[np.ndarray, " n_samples"]]]:
    file, other = models.predictions[reference], models.predictions[model]
    if file.confidence is not None and other.confidence is not None:
        confidence = (file.confidence + other.confidence) / 2
        if models.trainings is not None:  # a sample is in one band, by its mean over trainings
            at = np.unique(models.ids, return_inverse=True)[1]
            confidence = (np.bincount(at, weights=confidence) / np.bincount(at))[at]
        edges = np.unique(np.quantile(confidence, np.linspace(0, 1, N_BANDS + 1)))
        band = np.searchsorted(edges, confidence, "right").clip(1, max(len(edges) - 1, 1))
        for place in range(1, len(edges)) if len(edges) > 2 else ():
            yield ("confidence", f"{edges[place - 1]:.3f} to {edges[place]:.3f}"), band == place
    for name, values in file.groups.items():
        known = np.unique(values)
        is_unit = file.units is not None and np.array_equal(values, file.units)
        if name != "trial" and not is_unit and 1 < len(known) <= MOST_GROUPS:
            yield from (((name, str(value)), np.asarray(values) == value) for value in known)
    for name, values in file.inputs.items():
        theirs = other.inputs.get(name)
        if theirs is None or not np.array_equal(values, theirs, equal_nan=values.dtype != object):
            continue
        known, kinds = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
        outcomes = (file.y_true, file.y_pred, other.y_pred, file.correct, other.correct)
        if 1 < len(known) <= MOST_GROUPS and not any(_tells(kinds, np.asarray(made)) for made in outcomes):
            yield from (((name, _named(value)), kinds == kind) for kind, value in enumerate(known.tolist()))


def _named(value: float | str) -> str:
    """What a group of this value is called."""
    if isinstance(value, str):
        return value
    return "(not known)" if isnan(value) else f"{value:g}"


def _tells(kinds: Integer[np.ndarray, " n"], made: Shaped[np.ndarray, " n"]) -> bool:
    """Whether the kind of a sample tells nearly all that its most frequent outcome does not.

    >>> _tells(np.array([0, 0, 1, 1]), np.array([3, 3, 7, 7])), _tells(np.array([0, 0, 1, 1]), np.array([3, 7, 3, 7]))
    (True, False)
    """
    counts = np.zeros((kinds.max() + 1, len(outcomes := np.unique(made))))
    np.add.at(counts, (kinds, np.searchsorted(outcomes, made)), 1)
    untold, at_first = len(made) - counts.max(axis=1).sum(), len(made) - counts.sum(axis=0).max()
    return bool(at_first > 0 and untold <= _UNTOLD * at_first)


# What is said of it, in sentences?


def comparison_verdict(comparison: ModelComparison) -> Verdict:
    """Say which models are better than the reference, which may be the best, and what changed.

    Examples
    --------
    >>> y, ids = np.arange(60) % 2, [f"text {i}" for i in range(60)]
    >>> old = Predictions(ids, y, np.where(np.arange(60) < 20, 1 - y, y), ["ham", "spam"])
    >>> new = Predictions(ids, y, y, ["ham", "spam"])
    >>> verdict = comparison_verdict(compare_paired(models_on_samples({"old": old, "new": new})))
    >>> print(verdict.headline)
    new is better than old: accuracy 100.0 % against 66.7 %, a difference of 33.3 points [22.7, 45.9].
    """
    first, *more = sorted(comparison.against_reference, key=lambda each: -each.value)
    headline = resting(sentence(comparison, first), BETTER)
    ranks = resting(_ranks(comparison), BETTER) if more else ""
    findings = [
        _changed(comparison),
        _of_margin(comparison, first),
        *(resting(sentence(comparison, each), BETTER) for each in more),
    ]
    return Verdict(
        headline=ranks or headline,
        used=_used(comparison),
        advice=resting(_advice(comparison, first), BETTER),
        findings=tuple(each for each in ((headline, *findings) if ranks else findings) if each),
        claims=tuple(made for _, made in claims_of(comparison)),
    )


def claims_of(comparison: ModelComparison) -> Iterator[tuple[str, Claim]]:
    """What the verdict rests on, that of the headline first: a claim and the model that it is about."""
    for each in (*sorted(comparison.against_reference, key=lambda each: -each.value), *comparison.classes.values()):
        yield each.model, each.claim


def sentence(comparison: ModelComparison, each: Difference) -> str:
    """One model against another, in the words of its claim."""
    words, values = comparison.words, {ranked.model: ranked.value for ranked in comparison.ranked}
    if isnan(each.value) or each.why_not:
        return f"{each.model} against {each.other}: {words.name} tells nothing of other samples, for {each.why_not}."
    by = words.difference(each.value, each.interval)
    ends = f"{words.name} {words.value(values[each.model])} against {words.value(values[each.other])}"
    match each.claim.decision:
        case "above":
            return f"{each.model} is better than {each.other}: {ends}, a difference of {by}."
        case "below":
            return f"{each.model} is worse than {each.other}: {ends}, a difference of {by}."
        case "small":
            within_ = words.difference(each.claim.smallest)
            return f"{each.model} is as good as {each.other}, within {within_}: {ends}, a difference of {by}."
        case _:
            alone = len(comparison.differences) > 1 and withheld(each.claim)
            of_all = f" (not after correction for {plural(len(comparison.differences), 'pair')})" if alone else ""
            names = f"{each.model} and {each.other}{of_all}"
            why = "" if alone else why_undecided(each.claim)
            return f"No significant difference between {names}: {ends}, a difference of {by}{why}."


def _ranks(comparison: ModelComparison) -> str:
    best = comparison.may_be_best
    verb = "may be the best" if len(best) > 1 else "is the best"
    return f"By {comparison.words.name}, {listed(best, most=5)} {verb} of {count(len(comparison.ranked))} models."


def _used(comparison: ModelComparison) -> str:
    models = comparison.models
    by = {"ids": "id", "inputs": f"the inputs {quoted(models.common.column)}", "order": "the order of rows"}
    how = f"paired by {by[models.common.by]}"
    part = ""
    if not models.common.is_whole:
        part = f" (all that the files of {' and '.join(count(n) for n in models.common.n_given)} have in common)"
    return f"n = {models.in_words}{part}, the same for all models, {how}."


def _advice(comparison: ModelComparison, first: Difference) -> str:
    if first.claim.decision in ("above", "below"):
        before = f" before {first.other} is replaced" if first.claim.decision == "above" else ""
        return f"Next: look at the samples that were lost{before}." if first.n_lost else ""
    if first.claim.decision == "small" or comparison.metric != ACCURACY or not first.value:
        return ""
    known = pilot(comparison, first)
    needed = SizePlan(**known | {"difference": min(abs(first.value), known["discordant"])}).sizes()[0]
    if needed.n is None:
        return ""
    units = "" if needed.n_units is None else f" from {plural(needed.n_units, comparison.models.design.word)}"
    return (
        f"Next: to decide a difference of {comparison.words.difference(abs(first.value))}, label about "
        f"{plural(needed.n, 'sample')}{units} for both models."
    )


def pilot(comparison: ModelComparison, each: Difference, label: str | None = None) -> dict[str, float]:
    """What these samples tell of how many would show a difference: guesses of a `SizePlan`, by field.

    Of a class `label` what its own samples tell, and how frequent they are.
    """
    models, (own, its) = comparison.models, (comparison.models.correct[name] for name in (each.model, each.other))
    apart, design = own.astype(np.float64) - its, models.design
    true = next(iter(models.scored.values())).y_true
    if models.trainings is not None:  # each sample once, with its mean over trainings
        _, first, at = np.unique(models.ids, return_index=True, return_inverse=True)
        apart, own = (np.bincount(at, weights=values) / np.bincount(at) for values in (apart, own))
        design, true = EACH_SAMPLE if design.word == EACH_SAMPLE.word else design.of(first), true[first]
    if label is None:
        return guesses_of(apart, float(own.mean()), design)
    rows = true == models.class_names.index(label)
    its_own = guesses_of(apart[rows], float(own[rows].mean()), design.of(rows))
    return its_own | {"class_share": float(rows.mean())}


def _changed(comparison: ModelComparison) -> str:
    """How many samples one model gains and loses, and how many answers changed at all."""
    reference, model, *_ = comparison.models.names
    if comparison.changed == 0:
        return f"{model} answers every sample as {reference} does. Check that these are two models."
    right = [comparison.models.correct[name] for name in (model, reference)]
    n_gained, n_lost = int((right[0] & ~right[1]).sum()), int((~right[0] & right[1]).sum())
    gained = plural(n_gained, "sample" if comparison.models.trainings is None else "answer")
    return (
        f"Against {reference}, {model} gains {gained} and loses {count(n_lost)}; "
        f"{percent(comparison.changed, comparison.of_changed)} of answers changed."
    )


def _of_margin(comparison: ModelComparison, each: Difference) -> str:
    if comparison.margin is None:
        return ""
    within_, decided = comparison.words.difference(comparison.margin), each.against(comparison.margin)
    if decided in ("better", "no worse"):
        return f"{each.model} is no worse than {each.other} by a margin of {within_}."
    if decided == "worse":
        return f"{each.model} is worse than {each.other} by more than the margin of {within_}."
    return f"Whether {each.model} is no worse than {each.other} by a margin of {within_} is undecided."


def class_sentences(comparison: ModelComparison) -> Iterator[str]:
    """Which classes one model finds more or less often; they are a family of their own, beside the verdict."""
    reference, model, *_ = comparison.models.names
    for decision, finds in (("below", "fewer"), ("above", "more")):
        named = [label for label, each in comparison.classes.items() if each.claim.decision == decision]
        if named:
            which = listed([quoted(label) for label in named], most=5)
            yield resting(f"{model} finds {finds} samples of {which} than {reference}.", CLASS_CHANGES)
