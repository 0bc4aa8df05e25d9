"""How far does accuracy fall on sources the model has never seen? (Kilinc & Uysal 2017, sections 4-5.1)

`expected_accuracy_intervals(trials)` turns a trials frame into expected accuracy intervals and rho: overall, by class
and by held-out source; `compare_models(trials)` compares models; `source_verdict(...)` says it in sentences.
"""

from touchstone.core.evaluate.source_robustness.compare import (
    ModelComparison,
    compare_models,
    leading_row,
)
from touchstone.core.evaluate.source_robustness.expected import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.hardness import Hardness, hardest, same_clusters
from touchstone.core.evaluate.source_robustness.held_out import HeldOutSource
from touchstone.core.evaluate.source_robustness.results import (
    AccuracyInterval,
    AccuracyIntervals,
    Baseline,
    Difference,
    ExpectedInterval,
    ExpectedValue,
)
from touchstone.core.evaluate.source_robustness.verdict import source_verdict
