"""Which models can learn a data set? Convolutions need images, and deep ones images of some size."""

from collections.abc import Iterable

from core.data import Dataset
from core.models.architectures import ARCHITECTURES
from core.models.errors import ModelError
from core.models.inputs import input_shape


def fits(model: type, dataset: Dataset) -> bool:
    """Whether a model can be trained on these inputs; texts are vectors to a network.

    Examples
    --------
    >>> from core.data import load_example
    >>> from core.models import MODELS
    >>> fits(MODELS["cnn_1"], load_example("digits")), fits(MODELS["cnn_1"], load_example("wine"))
    (True, False)
    """
    name = getattr(model, "architecture", None)
    shape = (1,) if dataset.kind == "text" else input_shape(dataset.x)
    return name is None or ARCHITECTURES[name].fits(shape)


def check_fitting(models: Iterable[type], dataset: Dataset) -> None:
    """Raise ModelError, before anything is trained, where a model cannot learn this data set."""
    wrong = [model.label for model in models if not fits(model, dataset)]
    if wrong:
        size = f" of {dataset.x.shape[1]} x {dataset.x.shape[2]} pixels" if dataset.kind == "image" else ""
        raise ModelError(
            f"{', '.join(wrong)} cannot be trained on {dataset.name}, which is {dataset.kind} data{size}: convolutions "
            "need images that are large enough for their depth. Choose other models."
        )
