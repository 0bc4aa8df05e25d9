"""How does the app ask a model from elsewhere that may hang, or want gigabytes? In a process of its own, within limits.

Such a model was tried when it came, and may have waited for other samples. So each batch has so much time and memory;
whoever asked for more gets a sentence. Arrays go there and back, and nothing is unpickled on either side.
"""

import io
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

import core
from core.models.errors import ModelError, ModelStopped
from core.models.foreign import Run
from core.models.foreign_files import read_exported, read_onnx
from core.models.limits import MOST_BYTES, SECONDS_TO_READ, limit_memory, why_ended

if TYPE_CHECKING:
    import torch

ForeignKind = Literal["onnx", "export"]
READERS = {"onnx": read_onnx, "export": read_exported}
SECONDS_AT_REST = 60
"""A process that nobody asks for so long ends; who asks again starts another."""

_ROOT = Path(core.__file__).resolve().parents[1]
_VALUES, _ERROR = b"v", b"e"


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
        self._end: Callable[[], object] = lambda: None
        with self._asking:
            self._start()

    def __call__(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give what the model gives for inputs."""
        import torch

        asked = _to_bytes(x.detach().cpu().numpy())
        with self._asking:
            try:
                answer = self._ask(asked)
            except _AtRest:
                self._start()
                answer = self._ask(asked)
        return torch.from_numpy(np.load(io.BytesIO(answer), allow_pickle=False))

    def _start(self) -> None:
        """Start a process and have it read the file."""
        self._end()
        self._pipe, theirs = Pipe()
        limits = [str(limit) for limit in (SECONDS_TO_READ, MOST_BYTES, SECONDS_AT_REST)]
        command = [sys.executable, "-m", "core.models.apart", str(theirs.fileno()), self.kind, *limits]
        with theirs:
            self._process = subprocess.Popen(command, cwd=_ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._end = weakref.finalize(self, _end, self._pipe, self._process)
        self._ask(self.content)

    def _ask(self, message: bytes) -> bytes:
        try:
            self._pipe.send_bytes(message)
            answer = self._pipe.recv_bytes()
        except (EOFError, OSError):
            status = self._process.wait()
            if status == 0:
                raise _AtRest(f"{self.name}: the process that runs it ended.") from None
            took = f"reading it or asking it about a few samples took longer than {SECONDS_TO_READ} seconds"
            raise ModelStopped(why_ended(self.name, status, took)) from None
        if answer[:1] == _ERROR:
            raise ModelError(answer[1:].decode("utf-8", "replace"))
        return answer[1:]


class _AtRest(ModelStopped):
    """The process had ended by itself, since nobody had asked it for a while."""


def _end(pipe: Connection, process: subprocess.Popen[bytes]) -> None:
    pipe.close()
    process.kill()
    process.wait()


def _to_bytes(values: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.save(written, values, allow_pickle=False)
    return written.getvalue()


def _serve(pipe: Connection, kind: ForeignKind, seconds: int, most_bytes: int, seconds_at_rest: int) -> None:
    """What the process does: read the file, then answer batch after batch until nobody asks."""
    import torch  # before the limits: neither its time nor its memory is the model's

    torch.set_num_threads(1)
    content = pipe.recv_bytes()
    limit_memory(most_bytes)
    run: Run | None = None
    try:
        while True:
            signal.alarm(seconds)
            try:
                if run is None:
                    run, answer = READERS[kind](content), _VALUES
                else:
                    x = torch.from_numpy(np.load(io.BytesIO(pipe.recv_bytes()), allow_pickle=False))
                    with torch.inference_mode():
                        values = run(x).cpu()
                    answer = _VALUES + _to_bytes((values.float() if values.dtype == torch.bfloat16 else values).numpy())
            except EOFError:
                return
            except Exception as problem:  # what runs a model may raise anything; a lack of memory among it
                answer = _ERROR + (str(problem).strip() or repr(problem)).splitlines()[0].encode()
            signal.alarm(0)
            pipe.send_bytes(answer)
            if not pipe.poll(seconds_at_rest):
                return
    except OSError:  # nobody is there any more
        return


if __name__ == "__main__":
    _fd, _kind, *_limits = sys.argv[1:]
    _serve(Connection(int(_fd)), _kind, *map(int, _limits))  # pyright: ignore[reportArgumentType]
    os._exit(0)  # libraries that are still starting threads may abort on the way out
