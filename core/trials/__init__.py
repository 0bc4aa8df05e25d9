"""Trials: fit once, test once. Plans say which; the workspace stores what came out."""

from core.trials.plan import Plan, from_json, to_json
from core.trials.run import COLUMNS
from core.trials.splits_table import splits_table
from core.trials.trial_plan import KNOWN_SOURCES, Draw, TrialPlan

__all__ = ["COLUMNS", "KNOWN_SOURCES", "Draw", "Plan", "TrialPlan", "from_json", "splits_table", "to_json"]
