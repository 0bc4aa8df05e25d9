"""Does accuracy really drop on the new test set? (Anzaku et al. 2022)

`match(reference, target, ...)` pairs samples that the model was equally sure of; `compare_sets(...)` repeats that and
says how far accuracy falls, on all samples and on matched ones, with intervals; `epsilon_curve(...)` and
`compare_models(...)` do so for many epsilons and models; `matched_verdict(...)` says it in sentences.
"""

from touchstone.core.evaluate.matched_subsets.compare import (
    compare_models,
    compare_pairs,
    compare_sets,
    epsilon_curve,
    n_steps,
)
from touchstone.core.evaluate.matched_subsets.estimates import worked_example
from touchstone.core.evaluate.matched_subsets.matching import MatchedSubsets, match
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes, outcomes_of
from touchstone.core.evaluate.matched_subsets.results import (
    ModelComparisons,
    SetComparison,
    SetEstimate,
    comparison_table,
)
from touchstone.core.evaluate.matched_subsets.verdict import matched_verdict, models_verdict, smaller_reference
