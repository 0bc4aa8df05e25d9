"""Data sets: built in or read from files, checked once, named by what is in them."""

from core.data.dataset import Dataset
from core.data.docstrings import docstrings_ready
from core.data.errors import DataError, RolesNeeded
from core.data.examples import EXAMPLES, load_example
from core.data.files import read_dataset
from core.data.predictions import Predictions

__all__ = [
    "EXAMPLES",
    "DataError",
    "Dataset",
    "Predictions",
    "RolesNeeded",
    "docstrings_ready",
    "load_example",
    "read_dataset",
]
