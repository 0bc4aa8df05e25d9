"""Trials: fit once, test once. Plans say which; the workspace stores what came out."""

from core.trials.blank_predictions import rows_to_predict, sample_predictions
from core.trials.fold_plan import FoldPlan
from core.trials.from_predictions import trials_given, trials_of_predictions
from core.trials.labels_for_predictions import with_labels
from core.trials.map_plan import MapPlan
from core.trials.plan import Context, Plan, from_json, needed_by, to_json, version_of
from core.trials.plan_sources import KNOWN_SOURCES
from core.trials.run import COLUMNS
from core.trials.sources_plan import SourcesPlan, found_in, notes_in, sources_at_hand
from core.trials.split_tables import splits_table
from core.trials.training_plan import TrainingPlan
from core.trials.trial_plan import Draw, TrialPlan

__all__ = [
    "COLUMNS",
    "KNOWN_SOURCES",
    "Context",
    "Draw",
    "FoldPlan",
    "MapPlan",
    "Plan",
    "SourcesPlan",
    "TrainingPlan",
    "TrialPlan",
    "found_in",
    "from_json",
    "needed_by",
    "notes_in",
    "rows_to_predict",
    "sample_predictions",
    "sources_at_hand",
    "splits_table",
    "to_json",
    "trials_given",
    "trials_of_predictions",
    "version_of",
    "with_labels",
]
