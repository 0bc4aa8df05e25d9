"""Which models can learn a data set? Each says so itself: convolutions need images, deep ones images of some size."""

from collections.abc import Iterable

from touchstone.core.data import Dataset
from touchstone.core.models.errors import ModelError


def fits(model: type, dataset: Dataset) -> bool:
    """Whether a model can be trained on these inputs; one without `fits` of its own takes any (see ``Classifier``).

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> fits(MODELS["cnn_1"], load_example("digits")), fits(MODELS["cnn_1"], load_example("wine"))
    (True, False)
    """
    own = getattr(model, "fits", None)
    return own is None or own(dataset)


def check_fitting(models: Iterable[type], dataset: Dataset) -> None:
    """Raise ModelError, before anything is trained, where a model cannot learn this data set."""
    wrong = [model for model in models if not fits(model, dataset)]
    if wrong:
        size = f" of {dataset.x.shape[1]} x {dataset.x.shape[2]} pixels" if dataset.kind == "image" else ""
        needs = "; ".join(dict.fromkeys(model.needs for model in wrong))
        raise ModelError(
            f"{', '.join(model.label for model in wrong)} cannot be trained on {dataset.name}, which is {dataset.kind} "
            f"data{size}: {needs}. Choose other models."
        )
