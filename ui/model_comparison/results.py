"""What came of comparing models on the same samples?"""

from collections.abc import Callable

from touchstone.core.data.predictions.record import Predictions, models_in
from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.model_comparison import (
    ComparisonPlan,
    ModelComparison,
    models_of,
    named_models,
)
from touchstone.ui import cache
from touchstone.ui.predictions.choice import table_of
from touchstone.ui.shell.background import Work


def models_of_sides(sets: TwoSets) -> tuple[dict[str, Predictions], dict[str, Predictions]]:
    """The models of both files on the chosen parts of them."""
    first = models_in(table_of(sets.reference), sets.reference_part, sets.task)
    return first, models_in(table_of(sets.target), sets.target_part, sets.task)


@cache.result(max_entries=8)
def models_on(sets: TwoSets, titles: tuple[str, str], positive: str | None):
    """The models of two files on their common samples, called by the files' titles; None of different samples."""
    return models_of(named_models(*models_of_sides(sets), titles), None, positive=positive)


@cache.task(max_entries=8)
def comparison(sets: TwoSets, titles: tuple[str, str], plan: ComparisonPlan) -> Work[ModelComparison]:
    """All of them compared; the files must be of the same samples."""
    models = models_on(sets, titles, plan.positive)
    assert models is not None

    def compare(step: Callable[[], None]) -> ModelComparison:
        return plan.compare(models)

    return Work(compare)
