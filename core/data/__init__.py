"""Data sets and predictions: built in or read from files, checked once, named by what is in them."""

from core.data.dataset import Dataset
from core.data.docstrings import docstrings_ready
from core.data.errors import DataError, RolesNeeded
from core.data.examples import EXAMPLES, load_example
from core.data.files import read_dataset
from core.data.joins import join_predictions, pair_models
from core.data.prediction_files import read_predictions, write_predictions
from core.data.prediction_guess import guess_roles
from core.data.prediction_roles import Roles
from core.data.prediction_table import PredictionTable
from core.data.predictions import Predictions

__all__ = [
    "EXAMPLES",
    "DataError",
    "Dataset",
    "PredictionTable",
    "Predictions",
    "Roles",
    "RolesNeeded",
    "docstrings_ready",
    "guess_roles",
    "join_predictions",
    "load_example",
    "pair_models",
    "read_dataset",
    "read_predictions",
    "write_predictions",
]
