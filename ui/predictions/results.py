"""What is in files of predictions, uploaded or stored?"""

from touchstone.core.data import PredictionTable
from touchstone.core.data.predictions.record import choices_of
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.data.tables.table import Table
from touchstone.ui import cache
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=4)
def columns_of(file: PredictionUpload) -> Table:
    """The columns of a file of predictions, whatever they mean."""
    return read_prediction_table(file.predictions.open())


@cache.result(max_entries=8)
def uploaded(upload: PredictionUpload) -> PredictionTable:
    """What an upload says that is not stored yet; DataError or RolesNeeded as reading raises them."""
    return upload.read()


@cache.result(max_entries=8)
def table_of(fingerprint: str) -> PredictionTable:
    """Stored predictions; one object per process and fingerprint."""
    return workspace().predictions(owner(), fingerprint).read()


@cache.result(max_entries=16)
def choices(fingerprint: str) -> dict[str, tuple[str, ...]]:
    """The sets, folds, sources and trials of stored predictions, where there are several."""
    return choices_of(table_of(fingerprint))
