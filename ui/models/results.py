"""How does a layer of a stored model see its data set? Read once, for all questions that rest on it."""

from collections.abc import Callable

from touchstone.core.data import Dataset
from touchstone.core.data.identity import key
from touchstone.core.trials.layer_parts import LayerParts, layer_parts, layers_offered, split_of
from touchstone.core.workspace.models import StoredModel
from touchstone.ui import cache
from touchstone.ui.shell.background import Work
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=32)
def layers(dataset: Dataset, model: StoredModel) -> tuple[str, ...]:
    """The layers that a model offers, the usual one first. Raises ModelError for a file that cannot be read."""
    return layers_offered(workspace().model_bytes(owner(), model.fingerprint), dataset)


def parts_name(dataset: Dataset, model: StoredModel, layer: str) -> str:
    """What both parts of a data set in a layer go by in keys."""
    split = split_of(model.training_plan, dataset)
    return key("layer parts", dataset.fingerprint, model.fingerprint, layer, *split.values())


@cache.task(max_entries=3)  # few: the features of a large data set take hundreds of megabytes
def layer_samples(dataset: Dataset, model: StoredModel, layer: str) -> Work[LayerParts]:
    """Training and test part of a data set in a layer of a model, split as when it was trained."""
    split, owner_name, shelf = split_of(model.training_plan, dataset), owner(), workspace()

    def read(step: Callable[[], None]) -> LayerParts:
        stored = shelf.model_bytes(owner_name, model.fingerprint)
        return layer_parts(stored, dataset, layer=layer, **split, is_known=model.training_plan is not None)

    return Work(read)
