"""How does a model lie in the workspace? As the file it was, behind a line that says what reading it again takes.

The line is JSON and the rest is the file's own bytes: nothing is unpickled, here or later.
"""

import json
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from touchstone.core.data.dataset import hash_of
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange

RECORDED = "recorded"
"""The architecture of what is no model, but a record of what one said (`core.models.layer_files`)."""


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
        What black and white were when it was trained, for all channels or for each (`core.models.inputs`); None for
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
