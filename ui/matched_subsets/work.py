"""What does the page of matched subsets have worked out beside it? Each is a task that counts its steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from touchstone.core.data.predictions.pairs import PredictionPairs
from touchstone.core.evaluate.calibration import (
    Calibration,
    ClassCalibration,
    CoveragePoint,
    calibration_by_class,
    probabilities_of,
)
from touchstone.core.evaluate.matched_subsets import (
    EPSILONS,
    MatchedSubsets,
    ModelComparisons,
    SetComparison,
    calibrations,
    compare_pairs,
    coverages,
    densities,
    epsilon_curve,
    matched_verdict,
    models_verdict,
    n_steps,
)
from touchstone.core.evaluate.wording import Verdict, count, points
from touchstone.core.report.parts import Quantity
from touchstone.ui.matched_subsets.plan import MatchingPlan, TwoSets

Step = Callable[[], None]


class Reliability(NamedTuple):
    """How well confidence fits accuracy, by subset."""

    subsets: dict[str, Calibration]
    densities: dict[str, tuple[np.ndarray, np.ndarray]]
    coverage: dict[str, tuple[CoveragePoint, ...]]


@dataclass(frozen=True)
class Compared:
    """Two sets that were compared, how, what it came to, its numbers, and when (seconds since 1970)."""

    sets: TwoSets
    plan: MatchingPlan
    verdict: Verdict
    quantities: tuple[Quantity, ...]
    when: float


def verdict(comparisons: ModelComparisons) -> Verdict:
    """What the comparison of one model, or of many, comes to; of many with the largest fall and all claims."""
    rows = comparisons.rows
    if len(rows) == 1:
        return matched_verdict(rows[0])
    if not rows:
        return Verdict(models_verdict(comparisons), "", "", ())
    worst = max(rows, key=lambda row: row.gap.value)
    used = (
        f"Largest fall: {worst.model}, {points(worst.gap.value, worst.gap.interval)}, n = {count(worst.n_reference)} "
        f"reference and {count(worst.n_target)} new samples. It is the largest of {count(len(rows))} models, and its "
        "interval is not corrected for that choice."
    )
    claims = [row.claim("falls") for row in (worst, *(row for row in rows if row is not worst))]
    return Verdict(models_verdict(comparisons), used, "", (), tuple(claim for claim in claims if claim is not None))


def n_steps_of_comparisons(pairs: PredictionPairs, plan: MatchingPlan) -> int:
    """How many steps `comparisons` takes."""
    options = {"method": plan.method, "n_repeats": plan.n_repeats}
    sizes = [len(pairs.references[model].ids) + len(pairs.targets[model].ids) for model in pairs.models]
    return sum(n_steps(size, **options) for size in sizes)


def comparisons(pairs: PredictionPairs, plan: MatchingPlan, step: Step) -> ModelComparisons:
    """All models compared on the two sets."""
    options = {"n_repeats": plan.n_repeats, **plan.matching, "on_step": step}
    return compare_pairs(pairs.references, pairs.targets, rng=np.random.default_rng(plan.seed), **options)


def n_steps_of_curve(plan: MatchingPlan) -> int:
    """How many steps `curve` takes."""
    return len(EPSILONS) * n_steps(0, method=plan.method, more=False)


def curve(pairs: PredictionPairs, plan: MatchingPlan, model: str, step: Step) -> tuple[SetComparison, ...]:
    """One model compared at every epsilon."""
    options = {name: value for name, value in plan.matching.items() if name != "epsilon"}
    sets, rng = (pairs.references[model], pairs.targets[model]), np.random.default_rng(plan.seed)
    return epsilon_curve(*sets, rng=rng, on_step=step, **options)


def reliability(subsets: MatchedSubsets, plan: MatchingPlan) -> Reliability:
    """The calibration of the subsets of one model, as the first of its matchings made them."""
    rng = np.random.default_rng(plan.seed)
    by_subset = calibrations(subsets, binning=plan.binning, n_bins=plan.n_bins, rng=rng)
    return Reliability(by_subset, densities(subsets), coverages(subsets))


def by_class(
    subsets: MatchedSubsets, pairs: PredictionPairs, plan: MatchingPlan, model: str, subset: str, step: Step
) -> tuple[ClassCalibration, ...] | None:
    """The calibration of every class in one subset; None where the file says no probability of every class."""
    whole = (pairs.targets if "target" in subset else pairs.references)[model]
    proba, rows = probabilities_of(whole), subsets.rows[subset]
    if proba is None:
        return None
    binning = {"binning": plan.binning, "n_bins": plan.n_bins}
    asked = {"rng": np.random.default_rng(plan.seed), "on_class": step, "design": subsets.subsets[subset].design}
    return calibration_by_class(proba[rows], whole.y_true[rows], whole.class_names, **binning, **asked)
