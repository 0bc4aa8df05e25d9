"""What came of comparing models on the same samples?"""

from collections.abc import Callable

from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.model_comparison import (
    ComparisonPlan,
    ModelComparison,
    models_of,
    named_models,
)
from touchstone.ui import cache
from touchstone.ui.matched_subsets.results import pairs_of
from touchstone.ui.shell.background import Work


@cache.result(max_entries=8)
def models_on(sets: TwoSets, titles: tuple[str, str], positive: str | None):
    """The models of two files on their common samples, called by the files' titles; None of different samples."""
    return models_of(named_models(pairs_of(sets), titles), None, positive=positive)


@cache.task(max_entries=8)
def comparison(sets: TwoSets, titles: tuple[str, str], plan: ComparisonPlan) -> Work[ModelComparison]:
    """All of them compared; the files must be of the same samples."""
    models = models_on(sets, titles, plan.positive)
    assert models is not None

    def compare(step: Callable[[], None]) -> ModelComparison:
        return plan.compare(models)

    return Work(compare)
