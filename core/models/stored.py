"""How does a model lie in the workspace? As the file it was, behind a line that says what reading it again takes.

The line is JSON and the rest is the file's own bytes: nothing is unpickled, here or later.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.data.identity import hash_of
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange

RECORDED = "recorded"
"""The architecture of what is no model, but a record of what one said (`core.models.recorded`)."""


def _ends(span: Any) -> InputRange:
    """A pair of numbers, or one for each channel, as JSON has them."""
    if isinstance(span[0], list):
        return tuple((float(low), float(high)) for low, high in span)
    return float(span[0]), float(span[1])


_FIRST = b"touchstone model 1 "  # how such bytes begin


def model_fingerprint(stored: bytes) -> str:
    """Name a stored model: the SHA-256, in hex, of its bytes.

    Examples
    --------
    >>> model_fingerprint(b"one") == model_fingerprint(b"another")
    False
    """
    return hash_of("touchstone model", np.frombuffer(stored, dtype=np.uint8))


@dataclass(frozen=True)
class ModelFile:
    """A model as a file, with all that is needed to read it again.

    Parameters
    ----------
    content
        The file: safetensors, ONNX or an archive of torch.export.
    file_name
        Its name, whose ending helps to tell what it is.
    dataset
        The fingerprint of the data set that it is a model of.
    architecture
        Which of our networks the weights are of, where the file does not say so itself; or RECORDED.
    input_range
        What black and white were when it was trained, for all channels or for each (`core.models.pixels`); None for
        (0, 1), or where inputs are no images.

    Examples
    --------
    >>> file = ModelFile(b"weights", "mine.onnx", "f1", input_range=(0.0, 255.0))
    >>> ModelFile.from_bytes(file.to_bytes()) == file
    True
    """

    content: bytes = field(repr=False)
    file_name: str
    dataset: str
    architecture: str | None = None
    input_range: InputRange | None = None

    def to_bytes(self) -> bytes:
        """Give the bytes that are stored, and whose fingerprint names the model."""
        about = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "content"}
        return _FIRST + json.dumps(about, sort_keys=True).encode("ascii") + b"\n" + self.content

    @classmethod
    def from_bytes(cls, stored: bytes) -> "ModelFile":
        """Read what `to_bytes` wrote. Raises ModelError for anything else."""
        first, newline, content = stored.partition(b"\n")
        try:
            if not first.startswith(_FIRST) or not newline:
                raise ValueError("another beginning")
            about = json.loads(first.removeprefix(_FIRST))
            file_name, dataset = str(about["file_name"]), str(about["dataset"])
            architecture, span = about["architecture"], about["input_range"]
            input_range = None if span is None else _ends(span)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ModelError(f"These bytes are no stored model ({error}). Train or upload it again.") from error
        return cls(content, file_name, dataset, architecture, input_range)


# How is a model of this very process asked, such as one of scikit-learn's? As a stored one is, but without a file.


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
