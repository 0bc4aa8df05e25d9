"""How do models fare on folds that are made to differ? (Wecker, Friedrich & Adel 2020, sections 4.3 and 5)

`rows_of_run(rows, dataset)` (of a run) or `rows_of_tables(...)` (uploaded) say what was predicted on which fold;
`fold_performance(...)` scores it by fold, seed and scheme; `characteristics_of` and `relations` look for what goes with
the scores, `predicted_on` and `predicted_on_sources` for what they predict; `fold_verdict(...)` says it in sentences.
"""

from touchstone.core.evaluate.cluster_folds.characteristics import (
    characteristics_of,
    fold_characteristics,
    mean_by_fold,
    relations,
)
from touchstone.core.evaluate.cluster_folds.compare import RecipeDifference, recipe_difference
from touchstone.core.evaluate.cluster_folds.performance import BASELINES, fold_performance
from touchstone.core.evaluate.cluster_folds.predicts_held_out import predicted_on, predicted_on_sources
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    FoldScore,
    PredictedHeldOut,
    Relation,
    RunScore,
    SchemeDifference,
    SchemeScore,
    ScoredBy,
    ScoreEstimate,
)
from touchstone.core.evaluate.cluster_folds.tested import (
    UNTRIED,
    FoldPredictions,
    LabelShift,
    TrainedFolds,
    TrainingError,
    joined,
    labels_shift,
    moderated,
    predictions_on_folds,
    rows_of_run,
    rows_of_tables,
)
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict, scheme_title
