"""How far does accuracy fall, on all samples and on matched ones, and how sure is that? (Anzaku et al. 2022, 4)"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil, inf, nan
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.intervals import UNKNOWN, p_of_interval, wilson
from touchstone.core.evaluate.matched_subsets import findings
from touchstone.core.evaluate.matched_subsets.estimates import (
    Repeats,
    Share,
    estimates,
    label_gaps,
    units_of_sets,
    whole,
    whole_gap,
)
from touchstone.core.evaluate.matched_subsets.matching import (
    EPSILON,
    By,
    Candidates,
    Method,
    Order,
    candidates,
    matchings,
)
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes, Scale, outcomes_of
from touchstone.core.evaluate.matched_subsets.results import (
    FEWEST_PAIRS,
    LabelGap,
    ModelComparisons,
    SetComparison,
    SetEstimate,
    Subset,
)
from touchstone.core.evaluate.metric_estimates import MetricsOnSets, metrics_on_sets, scored_sets
from touchstone.core.evaluate.metrics import ACCURACY, Metric, metric_named
from touchstone.core.evaluate.thresholds import decisions
from touchstone.core.evaluate.units import Units

EPSILONS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
OF_ERROR = 0.1
"""Matchings are added until their luck is no more than this part of the standard error of any number with a claim."""
OF_SAMPLES = 20_000_000
"""No more are added than so many samples, all of them together, come to: seconds."""

AnySet = Predictions | Outcomes
OnStep = Callable[[], None]


def most_repeats(n_samples: int, n_repeats: int) -> int:
    """How many matchings there may be at most of two sets of so many samples together.

    >>> most_repeats(2_500, 10), most_repeats(50_000, 10), most_repeats(1_100_000, 10)
    (1000, 400, 18)
    """
    return max(n_repeats, min(1000, OF_SAMPLES // max(n_samples, 1)))


def n_steps(n_samples: int, *, method: Method = "random", n_repeats: int = 10, more: bool = True) -> int:
    """How often comparing two sets of so many samples calls `on_step`: once a matching that may be needed.

    >>> n_steps(2_500), n_steps(2_500, more=False), n_steps(2_500, method="maximum")
    (1000, 10, 10)
    """
    if method == "maximum":
        return max(n_repeats, 2)
    return most_repeats(n_samples, n_repeats) if more else n_repeats


def compare_sets(
    reference: AnySet,
    target: AnySet,
    *,
    epsilon: float = EPSILON,
    by: By = "label",
    method: Method = "random",
    order: Order = "shuffled",
    scale: Scale = "accuracy",
    n_repeats: int = 10,
    more: bool = True,
    model: str = "",
    metric: str = ACCURACY,
    positive: str | None = None,
    rng: np.random.Generator,
    on_step: OnStep = lambda: None,
) -> SetComparison:
    """Match again and again, take means, and say how sure they are with other units (never: with other repeats).

    Pairs have about the same confidence by the map of `scale` (or the same "margin" or "entropy", which need the
    probabilities of all classes), or as published ("confidence"). The interval of the gap
    is Newcombe's where each sample is a unit; all others are of the jackknife over units (`core.evaluate.units`).
    `n_repeats` matchings are made, and with `more` as many as it takes to average their luck out: `n_repeats` of the
    result says how many its means are of. Of a maximum matching, ties alone are broken anew. Predictions without
    confidence are compared as wholes, and so is a `metric` that is no mean over samples. One that is of one class's
    samples matches these alone, by confidence only where their class says which label is right. Metrics of one class
    are of `positive`, by default (of two classes) the one that its name says, else the rarer one. Raises DataError for
    a metric that these sets do not give. `on_step` is called `n_steps` times, for whoever watches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def made(n, fall):
    ...     sure = rng.random(n)
    ...     return Outcomes(np.zeros(n, dtype=int), sure, rng.random(n) < sure - fall, ("any",))
    >>> comparison = compare_sets(made(4000, 0.0), made(1000, 0.1), rng=rng)
    >>> comparison.matched_gap.by, comparison.matched_gap.interval.holds(0.1), comparison.claim("residual").decision
    ('jackknife', True, 'above')
    """
    predicted, entry = (reference, target), metric_named(metric)
    metric = entry.name
    reference, target = outcomes_of(*predicted, scale=scale)
    metrics = _metrics(*predicted, units_of_sets(reference, target), positive)
    decided_at = decisions(*predicted, positive) if metrics is not None else None
    narrowed = (reference, target) if metric == ACCURACY else outcomes_of_metric(entry, *predicted, positive, scale)
    if narrowed is not None:
        reference, target = narrowed
    by = "probability" if entry.share_of == "truth" else by
    if narrowed is None or not (reference.has_confidence and target.has_confidence):
        asked = {"epsilon": epsilon, "by": by, "method": method, "model": model, "scale": scale}
        row = _as_wholes(reference, target, units_of_sets(reference, target), **asked)
        return replace(findings.decided([_of_metric(row, entry, metrics)])[0], decisions=decided_at)
    options = {"method": method, "order": order, "rng": rng}
    pairable = candidates(reference, target, epsilon=epsilon, by=by, scale=scale)
    repeat = {"n_repeats": n_repeats, "more": more, "on_step": on_step}
    row = _repeated(pairable, **options, **repeat, scale=scale, model=model)
    row = replace(findings.decided([_of_metric(row, entry, metrics)])[0], decisions=decided_at)
    if scale == "confidence" or metric != ACCURACY:
        return row
    published = Repeats(candidates(reference, target, epsilon=epsilon, by=by))
    for matched in matchings(published.pairable, row.n_repeats, **options):
        published.add(matched)
    return replace(row, as_published=estimates(published, units_of_sets(reference, target))["matched_gap"])


def _metrics(reference: AnySet, target: AnySet, units: Units, positive: str | None) -> MetricsOnSets | None:
    """Every metric on both sets; None where not predictions were given but what was right."""
    if not (isinstance(reference, Predictions) and isinstance(target, Predictions)):
        return None
    return findings.with_confusions(metrics_on_sets(reference, target, units, positive=positive))


def outcomes_of_metric(
    metric: Metric, reference: AnySet, target: AnySet, positive: str | None = None, scale: Scale = "accuracy"
) -> tuple[Outcomes, Outcomes] | None:
    """The samples of both sets that a metric is the mean of, with what they are worth; None where it is no mean.

    Raises DataError where the sets do not give the metric, or have no sample that it is of.

    Examples
    --------
    >>> one = Predictions(["a", "b", "c"], [0, 1, 1], [0, 1, 0], ["legit", "fraud"], confidence=[0.9, 0.8, 0.6])
    >>> [len(side) for side in outcomes_of_metric(metric_named("recall"), one, one)]
    [2, 2]
    """
    counted = counted_samples(metric, reference, target, positive)
    if counted is None:
        return None
    sides = []
    for side, (rows, worth) in zip(outcomes_of(reference, target, scale=scale), counted, strict=True):
        if worth.dtype == bool:
            sides.append(replace(side, correct=worth, truth=None).part(np.flatnonzero(rows)))
        else:
            span = metric.highest[len(side.class_names) > 2] - metric.lowest
            sides.append(replace(side, truth=None, worth=worth if metric.larger_is_better else -worth, span=span))
    return sides[0], sides[1]


def counted_samples(
    metric: Metric, reference: AnySet, target: AnySet, positive: str | None = None
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Of both sets which samples a metric is the mean of, and what each is worth; None where it is no mean.

    Raises DataError as `outcomes_of_metric`.
    """
    if not (isinstance(reference, Predictions) and isinstance(target, Predictions)):
        raise DataError(f"{metric.title} needs predictions of classes; only what was right is known here.")
    sets = scored_sets(reference, target, positive)
    if problem := sets.problem(metric):
        raise DataError(f"{problem[:1].upper()}{problem[1:]}. Choose another metric.")
    means = [metric.mean(side) for side in sets.sides]
    for name, mean in zip(("reference", "new"), means, strict=True):
        if mean is not None and not mean[0].any():
            raise DataError(f"The {name} set has no sample that {metric.title} is of. Choose another metric.")
    return [mean for mean in means if mean is not None] or None


def _of_metric(row: SetComparison, metric: Metric, metrics: MetricsOnSets | None) -> SetComparison:
    """A comparison with every metric on both sets; where it is about another than accuracy, with that one's numbers."""
    row = replace(row, metrics=metrics, metric=metric.name)
    if metric.name == ACCURACY or metrics is None:
        return row
    if (own := metrics.of(metric.name)) is None:
        raise DataError(f"{metric.title} is not defined on these sets. Choose another metric.")
    sides = {"reference": own.reference, "target": own.target}
    row = replace(row, baselines=findings.baselines_of_metric(metric, sides), calibrations=())
    if metric.share_of == "truth":  # of samples of one class the predicted label says which are right
        row = replace(row, labels=())
    if metric.is_share:
        return row
    by, sign = "Wilson" if metric.share else "jackknife", 1 if metric.larger_is_better else -1
    reached = {name: SetEstimate(made.value, made.interval, by) for name, made in sides.items()}
    subsets = tuple(
        replace(each, reached=reached.get(each.name, SetEstimate(sign * each.reached.value))) for each in row.subsets
    )
    p = p_of_interval(own.worse, own.interval) if own.interval.known else nan
    return replace(row, subsets=subsets, gap=SetEstimate(own.worse, own.interval, by, p, 0.0))


def epsilon_curve(
    reference: AnySet,
    target: AnySet,
    *,
    epsilons: Sequence[float] = EPSILONS,
    by: By = "label",
    method: Method = "random",
    order: Order = "shuffled",
    scale: Scale = "accuracy",
    n_repeats: int = 10,
    metric: str = ACCURACY,
    positive: str | None = None,
    rng: np.random.Generator,
    on_step: OnStep = lambda: None,
) -> tuple[SetComparison, ...]:
    """The same comparison at every epsilon: what rests on how closely "matched" was meant?

    A picture, from which nothing is claimed: no more is drawn than was asked for. Raises DataError for a metric that is
    no mean over samples, which has no parts.
    """
    entry = metric_named(metric)
    if entry.name == ACCURACY:
        sides = outcomes_of(reference, target, scale=scale)
    elif (sides := outcomes_of_metric(entry, reference, target, positive, scale)) is None:
        raise DataError(f"{entry.title} is no mean over samples, so matching says nothing of it.")
    reference, target = sides
    by = "probability" if entry.share_of == "truth" else by
    pairable, seed = candidates(reference, target, epsilon=epsilons[0], by=by, scale=scale), _seed(rng)
    options = {"method": method, "order": order, "n_repeats": n_repeats, "scale": scale, "more": False, "model": ""}
    rows = (
        _repeated(pairable.within(epsilon), rng=np.random.default_rng(seed), on_step=on_step, **options)
        for epsilon in epsilons
    )
    return tuple(findings.decided([row])[0] for row in rows)


def compare_models(
    references: Mapping[str, AnySet], targets: Mapping[str, AnySet], *, rng: np.random.Generator, **options: Any
) -> ModelComparisons:
    """Every model that both sets have predictions of; `options` as in `compare_sets`.

    Sorted by what they reach on the reference; claims of all models are one family. The numbers of a model do not
    depend on which others there are.
    """
    both, seed = [name for name in references if name in targets], _seed(rng)
    rows = findings.decided(
        [
            compare_sets(references[name], targets[name], model=name, rng=np.random.default_rng(seed), **options)
            for name in both
        ]
    )
    alone = [name for name in dict.fromkeys([*references, *targets]) if name not in both]
    return ModelComparisons(tuple(sorted(rows, key=lambda row: row.subset("reference").reached.value)), tuple(alone))


def compare_pairs(
    references: Mapping[str, AnySet], targets: Mapping[str, AnySet], *, rng: np.random.Generator, **options: Any
) -> ModelComparisons:
    """All models compared, or the only one, as a page and a command show it; `options` as in `compare_sets`.

    >>> import numpy as np
    >>> hard = Outcomes(np.zeros(4, dtype=int), np.full(4, np.nan), np.array([True, True, True, False]), ("any",))
    >>> compare_pairs({"m": hard}, {"m": hard}, rng=np.random.default_rng(0)).rows[0].model
    'm'
    """
    if len(references) == len(targets) == 1 and set(references) == set(targets):
        [model] = references
        only = compare_sets(references[model], targets[model], model=model, rng=rng, **options)
        return ModelComparisons((only,), ())
    return compare_models(references, targets, rng=rng, **options)


def _repeated(
    pairable: Candidates,
    *,
    method: Method,
    order: Order,
    scale: Scale,
    n_repeats: int,
    more: bool,
    model: str,
    rng: np.random.Generator,
    on_step: OnStep,
) -> SetComparison:
    reference, target = pairable.reference, pairable.target
    units, repeats, random = units_of_sets(reference, target), Repeats(pairable), method == "random"
    n_steps_of_all = n_steps(len(reference) + len(target), method=method, n_repeats=n_repeats, more=more)
    wanted = n_repeats if random else max(n_repeats, 2)
    while True:
        for matched in matchings(pairable, wanted - len(repeats), method=method, order=order, rng=rng):
            repeats.add(matched)
            on_step()
        numbers = estimates(repeats, units)
        labels = label_gaps(repeats, units, fewest=FEWEST_PAIRS)
        if not random or len(repeats) >= n_steps_of_all:
            break
        wanted = min(_enough(numbers, labels, len(repeats)), n_steps_of_all)
        if wanted <= len(repeats):
            break
    for _ in range(n_steps_of_all - len(repeats)):
        on_step()
    apart = pairable.levels.target_rounded[pairable.target_order]
    asked = {"epsilon": pairable.epsilon, "by": pairable.by, "method": method, "model": model, "scale": scale}
    return replace(
        _as_wholes(reference, target, units, **asked),
        n_repeats=len(repeats),
        n_pairs=repeats.n_pairs,
        subsets=_subsets(repeats.shares, reference, target, units),
        **numbers,
        least_unmatched_target=float((pairable.unmatched & ~apart).mean()),
        confidence_difference=repeats.confidence_difference,
        spread=float(np.sqrt(repeats.luck[1])),
        labels=labels,
        matched=repeats.first,
        calibrations=findings.calibrations_of(reference, target, units),
    )


def _enough(numbers: Mapping[str, SetEstimate], labels: Sequence[LabelGap], n: int) -> int:
    """How many matchings it takes until luck is `OF_ERROR` of each standard error; a few more than seem to do."""
    claimed = [numbers[name] for name in ("matched_gap", "mix", "unmatched")]
    claimed += [label.matched_gap for label in labels if label.enough]
    ratios = [each.mc_error / each.se for each in claimed if each.se > 0]
    worst = max((ratio for ratio in ratios if not np.isnan(ratio)), default=0.0)
    return n if worst <= OF_ERROR else ceil(1.1 * n * (worst / OF_ERROR) ** 2)


def _as_wholes(reference: Outcomes, target: Outcomes, units: Units, **asked: Any) -> SetComparison:
    """All that two sets of hard labels can tell; `asked` are further fields."""
    return SetComparison(
        n_reference=len(reference),
        n_target=len(target),
        subsets=_subsets({"reference": whole(reference), "target": whole(target)}, reference, target, units),
        gap=whole_gap(reference, target, units),
        baselines=findings.baselines_of(reference, target, units),
        units=units,
        unit_words=(reference.unit_word, target.unit_word),
        n_strata=(reference.n_strata, target.n_strata),
        **asked,
    )


def _subsets(shares: Mapping[str, Share], reference: Outcomes, target: Outcomes, units: Units) -> tuple[Subset, ...]:
    """Subsets with Wilson's interval of their accuracy, by as many samples as would tell as much as the units do."""
    telling, df = [1.0, 1.0], [inf if units.by_sample or units.enough else nan] * 2
    if reference.worth is not None:
        df = [nan, nan]
    for i, side in enumerate((reference, target)):
        if units.n[i] < len(side) and side.worth is None:
            n = units.effective(i, side.accuracy, (side.correct - side.accuracy) / len(side))
            telling[i], df[i] = n / len(side), units.n[i] - 1.0 if units.enough else nan
    subsets = (_subset(name, share, telling["target" in name], df["target" in name]) for name, share in shares.items())
    sides = {"reference": reference, "target": target}
    return tuple(_whole(subset, sides[subset.name]) if subset.name in sides else subset for subset in subsets)


def _whole(subset: Subset, side: Outcomes) -> Subset:
    """A whole set with the interval that its metric has wherever else it stands, where its samples are of units."""
    if not subset.reached.interval.known or side.worth is not None or side.design.by_sample:
        return subset
    return replace(subset, reached=replace(subset.reached, interval=side.design.wilson(side.correct)))


def _subset(name: str, share: Share, telling: float, df: float) -> Subset:
    n = share.n
    known = wilson(telling * share.n_correct, telling * n, df=df) if n and not np.isnan(df) else UNKNOWN
    reached = SetEstimate(share.n_correct / n, known, "Wilson") if n else SetEstimate(nan)
    classes = None if share.truth is None or not n else share.truth / n
    return Subset(
        name,
        n,
        reached,
        share.confidence / n if n else nan,
        majority=nan if classes is None else float(classes.max()),
        chance=nan if classes is None else float((classes**2).sum()),
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))
