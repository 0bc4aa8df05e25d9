"""Data sets and predictions: built in or read from files, checked once, named by what is in them."""

from core.data.dataset import Dataset
from core.data.docstrings import docstrings_ready
from core.data.errors import DataError, RolesNeeded
from core.data.examples import EXAMPLES, load_example
from core.data.predictions.guess import guess_roles
from core.data.predictions.pairs import pair_models
from core.data.predictions.record import Predictions, PredictionTable
from core.data.predictions.roles import Roles
from core.data.predictions.upload import join_predictions, read_predictions
from core.data.predictions.writing import write_predictions
from core.data.tables.datasets import read_dataset

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
