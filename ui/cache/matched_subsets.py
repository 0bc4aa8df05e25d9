"""What came of comparing two sets of predictions?"""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.data.identity import key
from core.data.predictions.pairs import PredictionPairs
from core.evaluate.calibration import ClassCalibration
from core.evaluate.matched_subsets import MatchedSubsets, ModelComparisons, SetComparison, worked_example
from core.evaluate.matched_subsets.samples import samples_table
from ui.cache.common import task
from ui.cache.predictions import prediction_pairs
from ui.matched_subsets import work as matched_subsets_work
from ui.matched_subsets.plan import MatchingPlan, TwoSets
from ui.matched_subsets.work import Compared, Reliability
from ui.shell.background import Task
from ui.shell.session import owner


def comparisons(sets: TwoSets, plan: MatchingPlan) -> Task[ModelComparisons]:
    """All models compared on the two sets, worked out beside the page."""
    pairs, name, known = prediction_pairs(sets), key("comparisons", sets, plan), _compared(owner())

    def work(step: Callable[[], None]) -> ModelComparisons:
        found = matched_subsets_work.comparisons(pairs, plan, step)
        known[name] = Compared(sets, plan, matched_subsets_work.headline(found))
        return found

    return task(owner(), name, work, matched_subsets_work.n_steps_of_comparisons(pairs, plan))


def compared() -> list[Compared]:
    """What this server has compared and still knows the verdict of, the newest first."""
    return list(reversed(_compared(owner()).values()))


@st.cache_resource(max_entries=16, show_spinner=False)
def _compared(owner_name: str) -> dict[str, Compared]:
    return {}


def curve(sets: TwoSets, plan: MatchingPlan, model: str) -> Task[tuple[SetComparison, ...]]:
    """One model compared at every epsilon."""
    pairs, n_steps = prediction_pairs(sets), matched_subsets_work.n_steps_of_curve(plan)
    name = key("curve", sets, plan.by, plan.method, plan.order, plan.seed, model)
    return task(owner(), name, lambda step: matched_subsets_work.curve(pairs, plan, model, step), n_steps)


def matched_samples(of: SetComparison, sets: TwoSets, plan: MatchingPlan) -> pd.DataFrame:
    """Every sample of both sets and the subset that it is in, as the first of the matchings made them."""
    return _matched_samples(owner(), key("samples", sets, plan, of.model), of.matched, prediction_pairs(sets), of.model)


@st.cache_resource(max_entries=4, show_spinner=False)
def _matched_samples(
    owner_name: str, name: str, _of: MatchedSubsets, _pairs: PredictionPairs, model: str
) -> pd.DataFrame:
    return samples_table(_of, _pairs.references[model], _pairs.targets[model])


def matching_example() -> Task[MatchedSubsets]:
    """A few samples, matched; what matching needs is compiled or loaded on the way, off the page's path."""
    return task("", "worked example", lambda step: worked_example())


def reliability(of: MatchedSubsets, sets: TwoSets, plan: MatchingPlan, model: str) -> Task[Reliability]:
    """The calibration of the subsets of one model, as the first of its matchings made them."""
    return task(owner(), key("reliability", sets, plan, model), lambda step: matched_subsets_work.reliability(of, plan))


def class_calibration(
    of: MatchedSubsets, sets: TwoSets, plan: MatchingPlan, model: str, subset: str
) -> Task[tuple[ClassCalibration, ...] | None]:
    """The calibration of every class in one of the subsets."""
    pairs = prediction_pairs(sets)
    name = key("class calibration", sets, plan, model, subset)
    n_steps = (pairs.targets if "target" in subset else pairs.references)[model].n_classes
    return task(
        owner(), name, lambda step: matched_subsets_work.by_class(of, pairs, plan, model, subset, step), n_steps
    )
