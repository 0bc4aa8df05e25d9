"""Which stored models can be asked for predictions, and what do they say? Of all data sets that are here."""

from collections.abc import Callable

from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.models.model_file import RECORDED
from touchstone.core.workspace import StoredModel
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.shell.background import Work
from touchstone.ui.shell.session import owner, workspace

ALL = ", all samples"
"""What the predictions of a model from elsewhere say of themselves: perhaps it was trained on some of the samples."""


def stored() -> dict[str, StoredModel]:
    """The models that can be asked, by fingerprint, the newest first."""
    there = {each.fingerprint for each in workspace().datasets(owner())}
    kept = [each for each in workspace().models(owner()) if each.architecture != RECORDED]
    return {each.fingerprint: each for each in kept if each.dataset_fingerprint in there}


def titles() -> dict[str, str]:
    """What they are called: the model, and the data set that it is one of."""
    named = {each.fingerprint: each.name for each in workspace().datasets(owner())}
    return {name: f"{each.name} on {named[each.dataset_fingerprint]}" for name, each in stored().items()}


@cache.task(max_entries=4)
def predictions(model: StoredModel) -> Work[PredictionUpload]:
    """What a model says of the samples that were held out of its training, as a file."""
    from touchstone.core.trials.predictions_of_model import BATCH, predictions_of_model, rows_held_out

    bytes_of, dataset = workspace().model_bytes(owner(), model.fingerprint), dataset_of(model.dataset_fingerprint)
    n_rows = len(rows_held_out(dataset, model.training_plan))
    title = f"{model.name} on {dataset.name}{ALL if n_rows == dataset.n_samples else ''}"

    def ask(step: Callable[[], None]) -> PredictionUpload:
        return predictions_of_model(bytes_of, dataset, name=title, training_plan=model.training_plan, step=step)

    return Work(ask, -(-n_rows // BATCH))
