"""How does the app ask a model from elsewhere that may hang, or want gigabytes? In a child process, within limits.

Such a model was tried when it came, and may have waited for other samples. So each batch has so much time and memory;
whoever asked for more gets a sentence.
"""

import io
import threading
from typing import TYPE_CHECKING, Literal

import numpy as np

from touchstone.core.data.sandbox import (
    MOST_BYTES,
    SECONDS_AT_REST,
    SECONDS_TO_READ,
    Answer,
    AtRest,
    Child,
    Refused,
    Stopped,
)
from touchstone.core.models.errors import ModelError, ModelStopped
from touchstone.core.models.foreign import Run, read_exported, read_onnx

if TYPE_CHECKING:
    import torch

ForeignKind = Literal["onnx", "export"]
READERS = {"onnx": read_onnx, "export": read_exported}
REMEDY = "Does it hold a loop without end, or large arrays? Export a smaller model."

_DOING = "reading it or asking it about a few samples"


class Apart:
    """Runs a model from elsewhere as what `read_onnx` or `read_exported` gives does, in another process.

    No gradient comes back. Raises ModelError for what cannot be read or asked, and ModelStopped where that took too
    long or too much memory.

    Examples
    --------
    >>> import torch
    >>> archive = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(1, 3),)), archive)
    >>> Apart("mine.pt2", "export", archive.getvalue())(torch.zeros(4, 3)).shape
    torch.Size([4, 2])
    """

    def __init__(self, name: str, kind: ForeignKind, content: bytes):
        self.name, self.kind, self.content = name, kind, content
        self._asking = threading.Lock()
        with self._asking:
            self._child = self._started()

    def __call__(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give what the model gives for inputs."""
        import torch

        asked = _to_bytes(x.detach().cpu().numpy())
        with self._asking:
            try:
                answer = _ask(self._child, asked)
            except _AtRest:
                self._child = self._started()
                answer = _ask(self._child, asked)
        return torch.from_numpy(np.load(io.BytesIO(answer), allow_pickle=False))

    def _started(self) -> Child:
        """A process that has read the file."""
        limits = {"most_bytes": MOST_BYTES, "seconds_at_rest": SECONDS_AT_REST}
        child = Child(self.name, running, self.kind, remedy=REMEDY, **limits)
        _ask(child, self.content)
        return child


class _AtRest(ModelStopped):
    """The process had ended by itself, since nobody had asked it for a while."""


def _ask(child: Child, message: bytes) -> bytes:
    try:
        return child.ask(message, seconds=SECONDS_TO_READ, doing=_DOING)
    except AtRest as problem:
        raise _AtRest(str(problem)) from None
    except Stopped as problem:
        raise ModelStopped(str(problem)) from None
    except Refused as problem:
        raise ModelError(str(problem)) from None


def running(kind: ForeignKind) -> Answer:
    """What the child does: read the file, which is the first message, then run it on batch after batch."""
    import torch

    torch.set_num_threads(1)
    models: list[Run] = []

    def answer(message: bytes) -> bytes:
        if not models:
            models.append(READERS[kind](message))
            return b""
        x = torch.from_numpy(np.load(io.BytesIO(message), allow_pickle=False))
        with torch.inference_mode():
            values = models[0](x).cpu()
        return _to_bytes((values.float() if values.dtype == torch.bfloat16 else values).numpy())

    return answer


def _to_bytes(values: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.save(written, values, allow_pickle=False)
    return written.getvalue()
