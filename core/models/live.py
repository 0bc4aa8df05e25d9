"""How is a model of this very process asked, such as one of scikit-learn's? As a stored one is, but without a file.

What is stored names such a model for as long as somebody lends it (`lent`). It is found in this process alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.models.errors import ModelError
from touchstone.core.models.stored import ModelFile

if TYPE_CHECKING:
    import torch

LIVE = "live"
"""The architecture of what is no file, but a model of this process."""
_lent: dict[bytes, Any] = {}


@contextmanager
def lent(model: Any, dataset: Dataset) -> Iterator[bytes]:
    """Lend a model of a data set; gives the bytes by which `core.models.load.read_stored` finds it meanwhile.

    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.load import read_stored
    >>> wine = load_example("wine")
    >>> with lent(lambda x: np.eye(3)[(x[:, 0] > 13).astype(int)], wine) as stored:
    ...     read_stored(stored, wine).has_gradients
    False
    """
    name = uuid4().hex.encode()  # its own each time: whatever is kept by a fingerprint must not stand for another one
    _lent[name] = model
    try:
        yield ModelFile(name, "model", dataset.fingerprint, LIVE).to_bytes()
    finally:
        del _lent[name]


def found(file: ModelFile, dataset: Dataset) -> tuple[Callable[["torch.Tensor"], "torch.Tensor"], bool]:
    """What runs a lent model on tensors, and whether gradients come back. Raises ModelError where it is not lent."""
    if file.content not in _lent:
        raise ModelError("This model was lent by another process, or is lent no more. Bring it again.")
    return runs(_lent[file.content], dataset)


def runs(model: Any, dataset: Dataset) -> tuple[Callable[["torch.Tensor"], "torch.Tensor"], bool]:
    """What runs a model on tensors, and whether gradients come back: of torch's modules alone.

    A classifier of scikit-learn's kind gives `predict_proba`, and its `classes_` say of which class a column is. Any
    other model is a function of arrays that gives a row of logits or probabilities for each sample.
    """
    import torch

    if isinstance(model, torch.nn.Module):
        module = model.eval()
        like = next(module.parameters(), torch.zeros(0))
        return lambda x: module(x.to(like)), True
    of_arrays, order = getattr(model, "predict_proba", model), _order(getattr(model, "classes_", None), dataset)
    if not callable(of_arrays):
        raise ModelError(
            f"{type(model).__name__} is no model: give a torch module, a classifier with predict_proba, or a function."
        )

    def run(x: "torch.Tensor") -> "torch.Tensor":
        given = np.asarray(of_arrays(x.detach().numpy()), dtype=np.float64)
        return torch.from_numpy(given if order is None or given.ndim != 2 else given[:, order])

    return run, False


def _order(classes: Any, dataset: Dataset) -> list[int] | None:
    """The column of each class of the data set. Raises ModelError where a classifier knows other classes."""
    if classes is None:
        return None
    theirs = [str(one) for one in classes]
    if sorted(theirs) == sorted(dataset.class_names):
        return [theirs.index(name) for name in dataset.class_names]
    if theirs == [str(code) for code in range(dataset.n_classes)]:
        return None  # it was trained on codes
    raise ModelError(
        f"The model knows the classes {', '.join(theirs)}; the data have {', '.join(dataset.class_names)}."
    )
