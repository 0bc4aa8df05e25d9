"""What came of comparing two sets of predictions?"""

from collections.abc import Callable

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.data.predictions.record import PredictionPairs, pair_predictions
from touchstone.core.evaluate.calibration import ClassCalibration
from touchstone.core.evaluate.matched_subsets import MatchedSubsets, ModelComparisons, SetComparison, worked_example
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, Reliability, TwoSets
from touchstone.core.evaluate.matched_subsets.results import samples_table
from touchstone.core.evaluate.overview import subset_of
from touchstone.core.report import matched_subsets as report
from touchstone.ui import cache
from touchstone.ui.predictions import compared
from touchstone.ui.predictions.choice import table_of
from touchstone.ui.shell.background import Task, Work


@cache.result(max_entries=8)
def pairs_of(sets: TwoSets) -> PredictionPairs:
    """The predictions of every model on the two sets."""
    parts = {"reference_part": sets.reference_part, "target_part": sets.target_part}
    return pair_predictions(table_of(sets.reference), table_of(sets.target), **parts, task=sets.task)


@cache.task(max_entries=8)
def comparisons(sets: TwoSets, plan: MatchingPlan) -> Work[ModelComparisons]:
    """All models compared on the two sets."""
    pairs, known = pairs_of(sets), compared.known("matched_subsets")

    def compare(step: Callable[[], None]) -> ModelComparisons:
        made = plan.compare(pairs, step)
        compared.keep(known, "matched_subsets", sets, plan, report.answer(made))
        return made

    return Work(compare, plan.n_steps(pairs))


@cache.task(max_entries=8)
def curve(sets: TwoSets, plan: MatchingPlan, model: str) -> Work[tuple[SetComparison, ...]]:
    """One model compared at every epsilon; see `MatchingPlan.at_every_epsilon` for what the plan should say."""
    pairs = pairs_of(sets)
    return Work(lambda step: plan.curve(pairs, model, step), plan.n_steps_of_curve)


@cache.result(max_entries=4)
def matched_samples(sets: TwoSets, plan: MatchingPlan, model: str) -> pd.DataFrame:
    """Every sample of both sets and the subset that it is in, as the first of the matchings made them."""
    return samples_table(_matched(comparisons(sets, plan), model), *plan.samples(pairs_of(sets), model))


@cache.task(max_entries=1)
def matching_example() -> Work[MatchedSubsets]:
    """A few samples, matched; what matching needs is compiled or loaded on the way, off the page's path."""
    return Work(lambda step: worked_example())


@cache.task(max_entries=8)
def reliability(sets: TwoSets, plan: MatchingPlan, model: str) -> Work[Reliability]:
    """The calibration of the subsets of one model, as the first of its matchings made them."""
    compared = comparisons(sets, plan)
    return Work(lambda step: plan.reliability(_matched(compared, model)))


@cache.task(max_entries=16)
def class_calibration(
    sets: TwoSets, plan: MatchingPlan, model: str, subset: str
) -> Work[tuple[ClassCalibration, ...] | None]:
    """The calibration of every class in one of the subsets."""
    compared, pairs = comparisons(sets, plan), pairs_of(sets)
    n_classes = pairs.references[model].n_classes
    return Work(lambda step: plan.by_class(pairs, _matched(compared, model), model, subset, step), n_classes)


def with_samples_of(dataset: Dataset) -> tuple[TwoSets, MatchingPlan, str] | None:
    """The newest comparison with matched samples of a data set, and its model; None where there is none.

    Files that were deleted since are passed over.
    """
    for each in compared.still_here("matched_subsets"):
        rows = comparisons(each.sets, each.plan).future.result().rows
        for model in (row.model for row in rows if row.matched is not None):
            if len(subset_of(dataset, matched_samples(each.sets, each.plan, model))):
                return each.sets, each.plan, model
    return None


def _matched(compared: Task[ModelComparisons], model: str) -> MatchedSubsets:
    """The matched subsets of one of the models that were compared, where there is confidence to match by."""
    matched = next(row.matched for row in compared.future.result().rows if row.model == model)
    if matched is None:
        raise TypeError(f"{model} has no confidences, which matching needs")
    return matched
