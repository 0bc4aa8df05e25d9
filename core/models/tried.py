"""Does a model from elsewhere do what it should, and end? It is read and asked first in a process of its own.

A file of a few kilobytes can hold a loop without end or an array of gigabytes. The process that tries it has so much
time and memory and no more, and whatever comes of it there, whoever asked gets a sentence.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Integer

import core
from core.data import Dataset
from core.data.store import from_bytes, to_bytes
from core.models.errors import ModelError
from core.models.judged import Judged, judge
from core.models.limits import MOST_BYTES, SECONDS_TO_READ, limit_memory, why_ended
from core.models.load import read_stored
from core.models.pixels import InputRange
from core.models.stored import ModelFile
from core.models.trained import TrainedNetwork

SECONDS_TO_JUDGE = 600
"""What asking a model about thousands of samples may take."""

_ROOT = Path(core.__file__).resolve().parents[1]
_DATASET, _MODEL, _ROWS = "dataset", "model", "rows.json"


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
        limits = [str(limit) for limit in (SECONDS_TO_READ, SECONDS_TO_JUDGE, MOST_BYTES)]
        command = [sys.executable, "-m", "core.models.tried", folder, *limits]
        try:
            # Seconds to start in, besides: a process that is busy elsewhere than in the model is not the model's fault.
            most = SECONDS_TO_READ + SECONDS_TO_JUDGE + 120
            ended = subprocess.run(command, cwd=_ROOT, capture_output=True, timeout=most, check=False)
        except subprocess.TimeoutExpired:
            raise ModelError(f"{name}: trying it took longer than {most} seconds, and was stopped.") from None
    return _told(name, ended.returncode, ended.stdout, dataset)


def _told(name: str, status: int, said: bytes, dataset: Dataset) -> Tried:
    """What a process said of a model, or how it ended."""
    try:
        told = json.loads(said)
        if status == 0 and "error" in told:
            raise ModelError(str(told["error"]))
        if status == 0:
            taken_for = np.array(told["taken_for"], dtype=np.int64).reshape(dataset.n_classes, dataset.n_classes)
            return Tried(Judged(dataset.class_names, taken_for), told["architecture"], bool(told["has_gradients"]))
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as problem:
        if status == 0:
            raise ModelError(f"{name}: the process that tried it said nothing that can be read.") from problem
    took = (
        f"reading it and asking it about a few samples took longer than {SECONDS_TO_READ} seconds, or about thousands "
        f"longer than {SECONDS_TO_JUDGE}"
    )
    raise ModelError(why_ended(name, status, took))


def _try_here(folder: Path, seconds_to_read: int, seconds_to_judge: int, most_bytes: int) -> dict:
    """What the process does; gives what it says."""
    import torch  # before the limits: neither its time nor its memory is the model's

    rows = np.array(json.loads((folder / _ROWS).read_text("utf-8")), dtype=np.int64)
    dataset, stored = from_bytes((folder / _DATASET).read_bytes()), (folder / _MODEL).read_bytes()
    torch.set_num_threads(1)
    limit_memory(most_bytes)
    signal.alarm(seconds_to_read)
    try:
        model = read_stored(stored, dataset)
        signal.alarm(seconds_to_judge)
        judged = judge(model, dataset, rows)
    except ModelError as problem:
        return {"error": str(problem)}
    except Exception as problem:  # what runs a model may raise anything; a lack of memory among it
        name = ModelFile.from_bytes(stored).file_name
        return {"error": f"{name}: it could not be asked ({(str(problem) or repr(problem)).splitlines()[0]})."}
    signal.alarm(0)
    ours = model.architecture if isinstance(model, TrainedNetwork) else None
    return {"taken_for": judged.taken_for.tolist(), "architecture": ours, "has_gradients": model.has_gradients}


if __name__ == "__main__":
    _answer = os.dup(1)
    os.dup2(2, 1)  # whatever a model's code prints is not the answer
    _said = _try_here(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    with os.fdopen(_answer, "w") as _out:
        json.dump(_said, _out)
    os._exit(0)  # what was to be said is said: libraries that are still starting threads may abort on the way out
