"""Does a model from elsewhere do what it should, and end? It is read and asked first in a child process.

A file of a few kilobytes can hold a loop without end or an array of gigabytes. The process that tries it has so much
time and memory and no more, and whatever comes of it there, whoever asked gets a sentence.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.sandbox import MOST_BYTES, SECONDS_TO_READ, Answer, Child
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange
from touchstone.core.models.judged import Judged, judge
from touchstone.core.models.load import read_stored
from touchstone.core.models.stored import ModelFile
from touchstone.core.models.training import TrainedNetwork
from touchstone.core.models.uploaded_model import REMEDY, ForeignModel

SECONDS_TO_JUDGE = 600
"""What asking a model about thousands of samples may take."""

_DATASET, _MODEL, _ROWS = "dataset", "model", "rows.json"
_READ, _JUDGE = b"read", b"judge"


@dataclass(frozen=True, eq=False)
class Tried:
    """What is known of a model that was read and asked: which network of ours it is, if any, and how it answers."""

    judged: Judged
    architecture: str | None
    has_gradients: bool


def try_model(
    name: str,
    content: bytes,
    dataset: Dataset,
    rows: Integer[np.ndarray, " n"],
    *,
    architecture: str | None = None,
    input_range: InputRange | None = None,
) -> Tried:
    """Read the file `name` as `load_model` does, and judge it on these rows: in a process of its own, within limits.

    Raises ModelError for what cannot be used, and for what takes too long or too much memory.
    """
    file = ModelFile(content, name, dataset.fingerprint, architecture, input_range)
    asked = {_DATASET: to_bytes(dataset), _MODEL: file.to_bytes(), _ROWS: json.dumps(rows.tolist()).encode()}
    with tempfile.TemporaryDirectory(prefix="touchstone-model-") as folder:
        for place, written in asked.items():
            (Path(folder) / place).write_bytes(written)
        child = Child(name, trying, folder, remedy=REMEDY, most_bytes=MOST_BYTES)
        try:
            child.ask(_READ, seconds=SECONDS_TO_READ, doing="reading it and asking it about a few samples")
            said = child.ask(_JUDGE, seconds=SECONDS_TO_JUDGE, doing="asking it about thousands of samples")
        except DataError as problem:
            raise ModelError(str(problem)) from None
        finally:
            child.end()
    told = json.loads(said)
    taken_for = np.array(told["taken_for"], dtype=np.int64).reshape(dataset.n_classes, dataset.n_classes)
    return Tried(Judged(dataset.class_names, taken_for), told["architecture"], bool(told["has_gradients"]))


def trying(folder: str) -> Answer:
    """What the child does: read the model that lies in a folder, and on the next message judge it."""
    import torch

    torch.set_num_threads(1)
    written = {place: (Path(folder) / place).read_bytes() for place in (_DATASET, _MODEL, _ROWS)}
    dataset, rows = from_bytes(written[_DATASET]), np.array(json.loads(written[_ROWS]), dtype=np.int64)
    models: list[TrainedNetwork | ForeignModel] = []

    def answer(message: bytes) -> bytes:
        try:
            if message == _READ:
                models.append(read_stored(written[_MODEL], dataset))
                return b""
            judged = judge(models[0], dataset, rows)
        except (ModelError, MemoryError):
            raise
        except Exception as problem:  # what runs a model may raise anything
            name, reason = ModelFile.from_bytes(written[_MODEL]).file_name, str(problem) or repr(problem)
            raise ModelError(f"{name}: it could not be asked ({reason.splitlines()[0]}).") from problem
        ours = models[0].architecture if isinstance(models[0], TrainedNetwork) else None
        told = {"taken_for": judged.taken_for.tolist(), "architecture": ours}
        return json.dumps(told | {"has_gradients": models[0].has_gradients}).encode()

    return answer
