"""Which stored data set holds the samples that a file of predictions is about? It shows them, and describes them."""

from touchstone.core.data import Dataset, load_example
from touchstone.core.data.predictions.record import Predictions, models_in
from touchstone.core.data.predictions.same_samples import rows_in
from touchstone.core.evaluate.weak_slices import OneFile
from touchstone.ui import cache
from touchstone.ui.data import samples
from touchstone.ui.predictions.choice import table_of
from touchstone.ui.shell.session import owner, workspace

OF_EXAMPLES = "digits"
"""The built-in data set that the example files are of."""
_MOST_LOOKED_AT = 8


def predictions_of(chosen: OneFile) -> Predictions:
    """What the chosen model of a file says of the chosen part, of several models the first."""
    models = models_in(table_of(chosen.file), chosen.part, chosen.task)
    return models[chosen.model] if chosen.model in models else next(iter(models.values()))


def candidates(file: str, n: int) -> tuple[str, ...]:
    """What may hold so many samples: the newest data sets by fingerprint, and that of the examples by its name."""
    kept = [each.fingerprint for each in workspace().datasets(owner()) if each.n_samples >= n][:_MOST_LOOKED_AT]
    files = {each.fingerprint: each.example for each in workspace().prediction_files(owner())}
    return (*kept, *([OF_EXAMPLES] if files.get(file) else []))


def data_set_of(chosen: OneFile, n: int) -> Dataset | None:
    """The first data set that holds these samples, of which `n` are asked for; None where none does."""
    name = name_of(chosen, n)
    return None if name is None else _named(name)


def name_of(chosen: OneFile, n: int) -> str | None:
    """What the command line calls that data set: the name of an example, or a fingerprint."""
    return _holding(chosen, candidates(chosen.file, n))


@cache.result(max_entries=8)
def _holding(chosen: OneFile, among: tuple[str, ...]) -> str | None:
    """The first of these data sets that holds every sample."""
    predictions = predictions_of(chosen)
    return next((name for name in among if rows_in(_named(name), predictions) is not None), None)


def _named(name: str) -> Dataset:
    return load_example(name) if name == OF_EXAMPLES else samples.dataset_of(name)
