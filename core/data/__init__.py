"""Data sets and predictions: built in or read from files, checked once, named by what is in them."""

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.examples import EXAMPLES, docstrings_ready, load_example
from touchstone.core.data.predictions.guess import guess_roles
from touchstone.core.data.predictions.record import Predictions, PredictionTable, pair_models
from touchstone.core.data.predictions.roles import Roles
from touchstone.core.data.predictions.upload import join_predictions, read_predictions, write_predictions
from touchstone.core.data.tables.datasets import read_dataset
