"""How far does accuracy fall, on all samples and on matched ones, and how sure is that? (Anzaku et al. 2022, 4)"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from core.data.predictions.record import Predictions
from core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    holm,
    logit_interval,
    share_difference,
    sign_flip_p,
    t_interval,
    wilson,
)
from core.evaluate.matched_subsets.matching import (
    EPSILON,
    By,
    Candidates,
    MatchedSubsets,
    Method,
    Order,
    candidates,
    match_candidates,
)
from core.evaluate.matched_subsets.outcomes import Outcomes, outcomes_of
from core.evaluate.matched_subsets.resample import resample
from core.evaluate.matched_subsets.results import (
    FEWEST_PAIRS,
    LabelGap,
    ModelComparisons,
    SetComparison,
    SetEstimate,
    Subset,
)

EPSILONS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
FEWEST_DISCORDANT = 10
"""Fewer pairs than so many of which just one is right: a resampling cannot know how many more there might be."""

AnySet = Predictions | Outcomes
OnStep = Callable[[], None]


def n_steps(*, method: Method = "random", n_repeats: int = 10, n_resamples: int = 200) -> int:
    """How often comparing two sets calls `on_step`: once a matching, and once a resample.

    >>> n_steps(), n_steps(method="maximum")
    (210, 1)
    """
    return n_repeats + n_resamples if method == "random" else 1


def compare_sets(
    reference: AnySet,
    target: AnySet,
    *,
    epsilon: float = EPSILON,
    by: By = "label",
    method: Method = "random",
    order: Order = "shuffled",
    n_repeats: int = 10,
    n_resamples: int = 200,
    model: str = "",
    rng: np.random.Generator,
    on_step: OnStep = lambda: None,
) -> SetComparison:
    """Match again and again, take means, and say how sure they are with other data (never: with other repeats).

    The interval of the gap is Newcombe's. Those of what rests on random matching come from a bootstrap that matches
    each of `n_resamples` resamples twice; where too few pairs differ, or of a maximum matching, from the pairs. A
    maximum matching is made once. Predictions without confidence are compared as wholes, and nothing else.
    `on_step` is called `n_steps` times, for whoever watches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def made(n, fall):
    ...     sure = rng.random(n)
    ...     return Outcomes(np.zeros(n, dtype=int), sure, rng.random(n) < sure - fall, ("any",))
    >>> found = compare_sets(made(4000, 0.0), made(1000, 0.1), n_resamples=50, rng=rng)
    >>> found.matched_gap.by, found.matched_gap.interval.holds(0.1)
    ('bootstrap', True)
    """
    reference, target = outcomes_of(reference, target)
    if not (reference.has_confidence and target.has_confidence):
        return _as_wholes(reference, target, epsilon=epsilon, by=by, method=method, model=model)
    pairable = candidates(reference, target, epsilon=epsilon, by=by)
    options = {"method": method, "order": order, "n_repeats": n_repeats, "n_resamples": n_resamples, "model": model}
    return _compare(pairable, **options, rng=rng, on_step=on_step)


def epsilon_curve(
    reference: AnySet,
    target: AnySet,
    *,
    epsilons: Sequence[float] = EPSILONS,
    by: By = "label",
    method: Method = "random",
    order: Order = "shuffled",
    n_repeats: int = 10,
    n_resamples: int = 100,
    rng: np.random.Generator,
    on_step: OnStep = lambda: None,
) -> tuple[SetComparison, ...]:
    """The same comparison at every epsilon, on the same resamples: what rests on how closely "matched" was meant?"""
    pairable, seed = candidates(reference, target, epsilon=epsilons[0], by=by), _seed(rng)
    options = {"method": method, "order": order, "n_repeats": n_repeats, "n_resamples": n_resamples, "model": ""}
    return tuple(
        _compare(pairable.within(epsilon), rng=np.random.default_rng(seed), on_step=on_step, **options)
        for epsilon in epsilons
    )


def compare_models(
    references: Mapping[str, AnySet], targets: Mapping[str, AnySet], *, rng: np.random.Generator, **options: Any
) -> ModelComparisons:
    """Every model that both sets have predictions of; `options` as in `compare_sets`.

    Sorted by accuracy on the reference; the p-values over pairs are corrected for the number of models. What is found
    of a model does not depend on which others there are.
    """
    both, seed = [name for name in references if name in targets], _seed(rng)
    rows = [
        compare_sets(references[name], targets[name], model=name, rng=np.random.default_rng(seed), **options)
        for name in both
    ]
    corrected = holm([row.p_value if row.enough else nan for row in rows])
    rows = [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)]
    alone = [name for name in dict.fromkeys([*references, *targets]) if name not in both]
    return ModelComparisons(tuple(sorted(rows, key=lambda row: row.subset("reference").accuracy.value)), tuple(alone))


def _compare(
    pairable: Candidates,
    *,
    method: Method,
    order: Order,
    n_repeats: int,
    n_resamples: int,
    model: str,
    rng: np.random.Generator,
    on_step: OnStep,
) -> SetComparison:
    from core.evaluate.matched_subsets.kernels import sweep

    n_repeats = n_repeats if method == "random" else 1
    repeats = []
    for _ in range(n_repeats):
        repeats.append(match_candidates(pairable, method=method, order=order, rng=rng))
        on_step()
    n_reference, n_target = len(pairable.reference), len(pairable.target)
    n_pairs = float(np.mean([matched.n_pairs for matched in repeats]))
    matched_gap = _mean([matched.matched_gap for matched in repeats])
    flips = [
        (float((matched.pair_differences > 0).sum()), float((matched.pair_differences < 0).sum()))
        for matched in repeats
    ]
    n_plus, n_minus = np.mean(flips, axis=0).tolist()
    gap = _gap(pairable.reference, pairable.target)
    unmatched, unmatched_reference = 1 - n_pairs / n_target, 1 - n_pairs / n_reference
    if method == "random" and n_resamples:
        spread = resample(pairable, n_resamples=n_resamples, n_repeats=n_repeats, rng=rng, on_step=on_step)
        se, df, by = spread.se, spread.df, "bootstrap"
        left = _share(unmatched, n_target, se["unmatched_target"], df)
        left_reference = _share(unmatched_reference, n_reference, se["unmatched_reference"], df)
        explained = SetEstimate(
            gap.value - matched_gap, t_interval(gap.value - matched_gap, se["explained"], df), "bootstrap"
        )
        interval = t_interval(matched_gap, se["matched_gap"], df)
    else:
        by, interval, explained = "pairs", UNKNOWN, SetEstimate(gap.value - matched_gap)
        left = SetEstimate(unmatched, wilson(unmatched * n_target, float(n_target)), "Wilson")
        left_reference = SetEstimate(
            unmatched_reference, wilson(unmatched_reference * n_reference, float(n_reference)), "Wilson"
        )
    if by == "pairs" or n_plus + n_minus < FEWEST_DISCORDANT:
        by, interval = "pairs", _pair_interval(matched_gap, repeats)
    return SetComparison(
        model=model,
        epsilon=pairable.epsilon,
        by=pairable.by,
        method=method,
        n_repeats=n_repeats,
        n_reference=n_reference,
        n_target=n_target,
        n_pairs=n_pairs,
        subsets=tuple(_subset(name, [matched.subsets[name] for matched in repeats]) for name in repeats[0].subsets),
        gap=gap,
        matched_gap=SetEstimate(matched_gap, interval, by),
        explained=explained,
        unmatched_target=left,
        unmatched_reference=left_reference,
        least_unmatched_target=float((sweep(pairable.first, pairable.last) < 0).mean()),
        confidence_difference=_mean([matched.confidence_difference for matched in repeats]),
        spread=float(np.std([matched.matched_gap for matched in repeats], ddof=1))
        if n_repeats > 1 and n_pairs
        else nan,
        p_value=sign_flip_p(n_plus, n_minus) if n_pairs else nan,
        labels=_labels(repeats),
        matched=repeats[0],
    )


def _as_wholes(
    reference: Outcomes, target: Outcomes, *, epsilon: float, by: By, method: Method, model: str
) -> SetComparison:
    """All that two sets of hard labels can tell."""
    unknown = SetEstimate(nan)
    return SetComparison(
        model=model,
        epsilon=epsilon,
        by=by,
        method=method,
        n_repeats=0,
        n_reference=len(reference),
        n_target=len(target),
        n_pairs=0.0,
        subsets=(_subset("reference", [reference]), _subset("target", [target])),
        gap=_gap(reference, target),
        matched_gap=unknown,
        explained=unknown,
        unmatched_target=unknown,
        unmatched_reference=unknown,
        least_unmatched_target=nan,
        confidence_difference=nan,
        spread=nan,
        p_value=nan,
        labels=(),
        matched=None,
    )


def _gap(reference: Outcomes, target: Outcomes) -> SetEstimate:
    counts = [float(n) for outcomes in (reference, target) for n in (outcomes.correct.sum(), len(outcomes))]
    return SetEstimate(reference.accuracy - target.accuracy, share_difference(*counts), "Newcombe")


def _pair_interval(value: float, repeats: Sequence[MatchedSubsets]) -> Interval:
    """From the pairs alone, as if matched sets were strangers: on the safe side, and never empty."""
    n = float(np.mean([matched.n_pairs for matched in repeats]))
    right, other = (
        float(np.mean([matched.subsets[name].correct.sum() for matched in repeats]))
        for name in ("matched reference", "matched target")
    )
    return share_difference(right, n, other, n) if not np.isnan(value) else UNKNOWN


def _share(share: float, n: int, se: float, df: float) -> SetEstimate:
    """Of a share on the logit scale; Wilson's where no resample could tell, because none or all are unmatched."""
    if min(share, 1 - share) * n < FEWEST_DISCORDANT:
        return SetEstimate(share, wilson(share * n, float(n)), "Wilson")
    return SetEstimate(share, logit_interval(share, se, df), "bootstrap")


def _subset(name: str, repeats: Sequence[Outcomes]) -> Subset:
    n, n_correct = (
        float(np.mean(counts)) for counts in ([len(r) for r in repeats], [r.correct.sum() for r in repeats])
    )
    total = sum(float(outcomes.confidence.sum()) for outcomes in repeats) / len(repeats)
    accuracy = SetEstimate(n_correct / n, wilson(n_correct, n), "Wilson") if n else SetEstimate(nan)
    return Subset(name, n, accuracy, total / n if n else nan)


def _labels(repeats: Sequence[MatchedSubsets]) -> tuple[LabelGap, ...]:
    """By the target's predicted label; of labels that the model predicted at all."""
    reference, target = repeats[0].reference, repeats[0].target
    n_labels = len(reference.class_names)
    pairs = np.zeros((4, n_labels))
    for matched in repeats:
        label, right = target.label[matched.target_index], reference.correct[matched.reference_index]
        other = target.correct[matched.target_index]
        for row, weights in enumerate((np.ones(len(label)), right, other, right & other)):
            pairs[row] += np.bincount(label, weights=weights, minlength=n_labels) / len(repeats)
    whole = [
        (
            np.bincount(outcomes.label, minlength=n_labels),
            np.bincount(outcomes.label, weights=outcomes.correct, minlength=n_labels),
        )
        for outcomes in (reference, target)
    ]
    rows = []
    for i, name in enumerate(reference.class_names):
        n, right, other, both = pairs[:, i].tolist()
        (n_reference, right_reference), (n_target, right_target) = (
            (int(count[i]), float(correct[i])) for count, correct in whole
        )
        if not (n_reference or n_target):
            continue
        gap = SetEstimate((right - other) / n, share_difference(right, n, other, n), "pairs") if n else SetEstimate(nan)
        rows.append(
            LabelGap(
                label=name,
                n_reference=n_reference,
                n_target=n_target,
                n_pairs=n,
                reference_accuracy=right_reference / n_reference if n_reference else nan,
                target_accuracy=right_target / n_target if n_target else nan,
                matched_reference_accuracy=right / n if n else nan,
                matched_target_accuracy=other / n if n else nan,
                matched_gap=gap,
                p_value=sign_flip_p(right - both, other - both) if n else nan,
                p_holm=nan,
            )
        )
    corrected = holm([row.p_value if row.n_pairs >= FEWEST_PAIRS else nan for row in rows])
    return tuple(replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


def _mean(values: Sequence[float]) -> float:
    """Mean over the repeats that have a pair at all."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else nan
