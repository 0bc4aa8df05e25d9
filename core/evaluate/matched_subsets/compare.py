"""How far does accuracy fall, on all samples and on matched ones, and how sure is that? (Anzaku et al. 2022, 4)"""

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.matched_subsets.decide import baselines_of, decided, labels_decided, settled
from touchstone.core.evaluate.matched_subsets.estimates import estimates, label_gaps, whole_gap
from touchstone.core.evaluate.matched_subsets.matching import (
    EPSILON,
    By,
    Candidates,
    Method,
    Order,
    candidates,
    match_candidates,
)
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes, outcomes_of
from touchstone.core.evaluate.matched_subsets.repeats import Repeats, Share, whole
from touchstone.core.evaluate.matched_subsets.resample import resample, spread_of
from touchstone.core.evaluate.matched_subsets.results import ModelComparisons, SetComparison, SetEstimate, Subset

EPSILONS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
ROUNDS = 2, 10
"""So often, at the least and at the most, matchings and resamples are added where a bound does not clear its
Monte-Carlo error. Two rounds cost as much again as the comparison itself."""
OF_SECONDS = 200_000
"""Samples, by their number of rounds, of which all rounds together take seconds; fewer samples get more rounds."""

AnySet = Predictions | Outcomes
OnStep = Callable[[], None]


def most_rounds(n_samples: int) -> int:
    """How often more may be drawn for two sets of so many samples together: small ones are not left to luck.

    >>> most_rounds(2_500), most_rounds(50_000), most_rounds(1_100_000)
    (10, 4, 2)
    """
    return int(np.clip(OF_SECONDS // max(n_samples, 1), *ROUNDS))


def n_steps(*, method: Method = "random", n_repeats: int = 10, n_resamples: int = 200, n_rounds: int) -> int:
    """How often comparing two sets calls `on_step`: once a matching, and once a resample, of those that may be needed.

    >>> n_steps(n_rounds=2), n_steps(n_rounds=0), n_steps(method="maximum", n_rounds=2)
    (510, 210, 10)
    """
    if method == "maximum":
        return max(n_repeats, 2)
    return n_repeats + n_resamples + n_rounds * sum(_a_round(n_resamples))


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
    n_rounds: int | None = None,
    model: str = "",
    rng: np.random.Generator,
    on_step: OnStep = lambda: None,
) -> SetComparison:
    """Match again and again, take means, and say how sure they are with other data (never: with other repeats).

    The interval of the gap is Newcombe's. Those of what rests on random matching come from a bootstrap that matches
    each of `n_resamples` resamples twice; where too few pairs differ, or of a maximum matching, from the pairs. While
    a claim hangs on the luck of these draws, up to `n_rounds` times more are drawn (by default `most_rounds`):
    `n_repeats` of the result says how many matchings its means are of. Of a maximum matching, ties alone are broken
    anew. Predictions without confidence are compared as wholes, and nothing else. `on_step` is called `n_steps` times,
    for whoever watches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def made(n, fall):
    ...     sure = rng.random(n)
    ...     return Outcomes(np.zeros(n, dtype=int), sure, rng.random(n) < sure - fall, ("any",))
    >>> comparison = compare_sets(made(4000, 0.0), made(1000, 0.1), n_resamples=50, rng=rng)
    >>> comparison.matched_gap.by, comparison.matched_gap.interval.holds(0.1), comparison.claim("residual").decision
    ('bootstrap', True, 'above')
    """
    reference, target = outcomes_of(reference, target)
    if not (reference.has_confidence and target.has_confidence):
        return _as_wholes(reference, target, epsilon=epsilon, by=by, method=method, model=model)
    pairable = candidates(reference, target, epsilon=epsilon, by=by)
    options = {"method": method, "order": order, "n_repeats": n_repeats, "n_resamples": n_resamples, "model": model}
    rounds = most_rounds(len(reference) + len(target)) if n_rounds is None else n_rounds
    return _compare(pairable, **options, n_rounds=rounds, rng=rng, on_step=on_step)


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
    """The same comparison at every epsilon, on the same resamples: what rests on how closely "matched" was meant?

    A picture, from which nothing is claimed: no more is drawn than was asked for.
    """
    pairable, seed = candidates(reference, target, epsilon=epsilons[0], by=by), _seed(rng)
    options = {"method": method, "order": order, "n_repeats": n_repeats, "n_resamples": n_resamples, "model": ""}
    return tuple(
        _compare(pairable.within(epsilon), rng=np.random.default_rng(seed), on_step=on_step, n_rounds=0, **options)
        for epsilon in epsilons
    )


def compare_models(
    references: Mapping[str, AnySet], targets: Mapping[str, AnySet], *, rng: np.random.Generator, **options: Any
) -> ModelComparisons:
    """Every model that both sets have predictions of; `options` as in `compare_sets`.

    Sorted by accuracy on the reference; claims are corrected for the number of models. The numbers of a model do not
    depend on which others there are.
    """
    both, seed = [name for name in references if name in targets], _seed(rng)
    rows = decided(
        [
            compare_sets(references[name], targets[name], model=name, rng=np.random.default_rng(seed), **options)
            for name in both
        ]
    )
    alone = [name for name in dict.fromkeys([*references, *targets]) if name not in both]
    return ModelComparisons(tuple(sorted(rows, key=lambda row: row.subset("reference").accuracy.value)), tuple(alone))


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


def _compare(
    pairable: Candidates,
    *,
    method: Method,
    order: Order,
    n_repeats: int,
    n_resamples: int,
    n_rounds: int,
    model: str,
    rng: np.random.Generator,
    on_step: OnStep,
) -> SetComparison:
    repeats, draws = Repeats(pairable), []
    random = method == "random"

    def draw(n_matchings: int, n_more: int) -> SetComparison:
        for _ in range(n_matchings):
            repeats.add(match_candidates(pairable, method=method, order=order, rng=rng))
            on_step()
        if n_more and random:
            draws.append(resample(pairable, n_resamples=n_more, rng=rng, on_step=on_step))
        return _comparison(pairable, repeats, np.concatenate(draws) if draws else None, method=method, model=model)

    comparison, rounds_left = draw(n_repeats if random else max(n_repeats, 2), n_resamples), n_rounds
    while random and rounds_left and not settled(comparison):
        comparison, rounds_left = draw(*_a_round(n_resamples)), rounds_left - 1
    for _ in range(rounds_left * sum(_a_round(n_resamples)) if random else 0):
        on_step()
    return comparison


def _a_round(n_resamples: int) -> tuple[int, int]:
    """Matchings and resamples to add: each share of the Monte-Carlo error becomes less for about the same work."""
    return n_resamples // 2, n_resamples // 4


def _comparison(
    pairable: Candidates, repeats: Repeats, draws: np.ndarray | None, *, method: Method, model: str
) -> SetComparison:
    from touchstone.core.evaluate.matched_subsets.kernels import sweep

    spread = None if draws is None else spread_of(draws)
    reference, target = pairable.reference, pairable.target
    row = SetComparison(
        model=model,
        epsilon=pairable.epsilon,
        by=pairable.by,
        method=method,
        n_repeats=len(repeats),
        n_reference=len(reference),
        n_target=len(target),
        n_pairs=repeats.n_pairs,
        subsets=tuple(_subset(name, share) for name, share in repeats.shares.items()),
        gap=whole_gap(reference, target),
        **estimates(repeats, spread),
        least_unmatched_target=float((sweep(pairable.first, pairable.last) < 0).mean()),
        confidence_difference=repeats.confidence_difference,
        spread=float(np.sqrt(repeats.luck[1])),
        labels=labels_decided(label_gaps(reference, target, repeats, spread)),
        matched=repeats.first,
        baselines=baselines_of(reference, target),
    )
    return decided([row])[0]


def _as_wholes(
    reference: Outcomes, target: Outcomes, *, epsilon: float, by: By, method: Method, model: str
) -> SetComparison:
    """All that two sets of hard labels can tell."""
    unknown = SetEstimate(nan)
    row = SetComparison(
        model=model,
        epsilon=epsilon,
        by=by,
        method=method,
        n_repeats=0,
        n_reference=len(reference),
        n_target=len(target),
        n_pairs=0.0,
        subsets=(_subset("reference", whole(reference)), _subset("target", whole(target))),
        gap=whole_gap(reference, target),
        matched_gap=unknown,
        mix=unknown,
        unmatched=unknown,
        unmatched_target=unknown,
        unmatched_reference=unknown,
        least_unmatched_target=nan,
        confidence_difference=nan,
        spread=nan,
        labels=(),
        matched=None,
        baselines=baselines_of(reference, target),
    )
    return decided([row])[0]


def _subset(name: str, share: Share) -> Subset:
    n = share.n
    accuracy = SetEstimate(share.n_correct / n, wilson(share.n_correct, n), "Wilson") if n else SetEstimate(nan)
    classes = None if share.truth is None or not n else share.truth / n
    return Subset(
        name,
        n,
        accuracy,
        share.confidence / n if n else nan,
        majority=nan if classes is None else float(classes.max()),
        chance=nan if classes is None else float((classes**2).sum()),
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))
