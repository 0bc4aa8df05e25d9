"""Trials: fit once, test once. Plans say which; the workspace stores what came out."""

from touchstone.core.trials.fold_plan import FoldPlan
from touchstone.core.trials.from_predictions import (
    rows_to_predict,
    sample_predictions,
    splits_table,
    trials_given,
    trials_of_predictions,
    with_labels,
)
from touchstone.core.trials.map_plan import MapPlan
from touchstone.core.trials.plan import Context, Plan, from_json, needed_by, to_json, version_of
from touchstone.core.trials.run import COLUMNS
from touchstone.core.trials.sources_plan import KNOWN_SOURCES, SourcesPlan, found_in, notes_in, sources_at_hand
from touchstone.core.trials.training_plan import TrainingPlan
from touchstone.core.trials.trial_plan import Draw, TrialPlan
