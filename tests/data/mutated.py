"""Files that were good and have been damaged, of every format that is read; what comes of reading each.

`python -m tests.data.mutated 0 100` reads the files 0 to 99 and prints a line for each. It is a process of its own, so
that whoever asks outlives a file that never ends or takes all memory. File number n is always the same.
"""

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from PIL import Image

from touchstone.core.data import Dataset, load_example
from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.upload import read_predictions
from touchstone.core.data.sandbox import limit_memory
from touchstone.core.data.tables.datasets import read_dataset
from touchstone.core.data.tables.vectors import read_vectors
from touchstone.core.models.errors import ModelError

ROOT = Path(__file__).resolve().parents[2]
SECONDS, MOST_BYTES = 10, 1 << 30
"""What reading a file may take."""
GOOD = "read"
N_SAMPLES = 60
HARD = [
    *(b"\x00", b"\xff", b"\xff" * 4, b"\x80\x02", b"\r", b"\n\n", b'"', b"\t" * 40, b"{" * 200, b"[" * 2000, b"]"),
    *(b"NaN", b"1e999", b"-0", b"9" * 400, b"0x10", b"null", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"../../", b"=1+1"),
    *(b"__proto__", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00" * 8, "é\u202e".encode(), b"1,5", b"True"),
]
"""What readers are known to stumble over."""


@dataclass(frozen=True)
class Base:
    """A good file: its format, its name, what is in it, what reads it, and how damaged contents are packed again."""

    format: str
    name: str
    content: bytes
    read: Callable[[io.BytesIO], object]
    pack: Callable[[bytes], bytes] = bytes


@dataclass(frozen=True)
class Outcome:
    """What came of a damaged file: GOOD, "refused", or else what is a fault; with its seconds and MiB at most."""

    number: int
    format: str
    outcome: str
    seconds: float
    mebibytes: float


@cache
def bases() -> list[Base]:
    """A good file of each format."""
    rng = np.random.default_rng(3)
    label = np.array(["cat", "dog", "eel"])[rng.integers(0, 3, N_SAMPLES)]
    said = np.where(rng.random(N_SAMPLES) < 0.8, label, "cat")
    proba = rng.dirichlet(np.ones(3), N_SAMPLES).round(6)
    ids = [f"s{number:03d}" for number in range(N_SAMPLES)]
    data = pd.DataFrame({"id": ids, "label": label}).join(pd.DataFrame(rng.normal(size=(N_SAMPLES, 4)).round(4)))
    data.columns = ["id", "label", "length", "width", "height", "weight"]
    texts = pd.DataFrame(
        {"id": ids, "text": [f"a {one} of {n}, “quoted”" for n, one in enumerate(label)], "label": label}
    )
    out = pd.DataFrame({"id": ids, "label": label, "prediction": said})
    out[["prob_cat", "prob_dog", "prob_eel"]] = proba
    vectors = pd.DataFrame(rng.normal(size=(N_SAMPLES, 5)), columns=list("abcde")).assign(id=ids)
    found = []
    kinds = {"data": (data, read_dataset), "texts": (texts, read_dataset), "predictions": (out, read_predictions)}
    for kind, (frame, read) in kinds.items():
        for ending, content in _tables(frame).items():
            found.append(Base(f"{ending} of {kind}", f"{kind}.{ending}", content, read))
        packed = _tables(frame)["csv"]
        found.append(Base(f"csv.gz of {kind}", f"{kind}.csv.gz", packed, read, gzip.compress))
        found.append(Base(f"gzip of {kind}", f"{kind}.csv.gz", gzip.compress(packed), read))
    for ending in ("csv", "parquet"):
        found.append(Base(f"{ending} of vectors", f"vectors.{ending}", _tables(vectors)[ending], read_vectors))
    arrays = {"x": rng.random((N_SAMPLES, 4)), "y": rng.integers(0, 3, N_SAMPLES)}
    found.append(Base("npz of data", "data.npz", _npz(arrays, compressed=True), read_dataset))
    found.append(Base("plain npz of data", "data.npz", _npz(arrays, compressed=False), read_dataset))
    scores = {"y_true": arrays["y"], "probabilities": proba}
    found.append(Base("plain npz of predictions", "out.npz", _npz(scores, compressed=False), read_predictions))
    found.append(Base("npy of vectors", "vectors.npy", _npy(arrays["x"]), read_vectors))
    images = {f"{'ab'[n % 2]}/{n}.png": _png(rng) for n in range(12)}
    found.append(Base("zip of images", "pets.zip", _zip(images), read_dataset))
    found.append(
        Base("png in a zip", "pets.zip", images["a/0.png"], read_dataset, lambda png: _zip(images | {"a/0.png": png}))
    )
    found += [
        Base(f"part of a workbook of {kind}", f"{kind}.xlsx", *_workbook(*kinds[kind]))
        for kind in ("data", "predictions")
    ]
    found += [Base("workbook of data", "data.xlsx", _excel(data), read_dataset), *_models()]
    return found


def _tables(frame: pd.DataFrame) -> dict[str, bytes]:
    rows = frame.to_dict("records")
    return {
        "csv": frame.to_csv(index=False).encode(),
        "tsv": frame.to_csv(index=False, sep="\t").encode(),
        "json": json.dumps(rows).encode(),
        "jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "parquet": frame.to_parquet(index=False),
        "arrow": _arrow(frame),
    }


def _arrow(frame: pd.DataFrame) -> bytes:
    written, table = io.BytesIO(), pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(written, table.schema) as writer:
        writer.write_table(table, max_chunksize=N_SAMPLES // 2)
    return written.getvalue()


def _npz(arrays: dict[str, np.ndarray], *, compressed: bool) -> bytes:
    written = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(written, **arrays)
    return written.getvalue()


def _npy(array: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def _png(rng: np.random.Generator) -> bytes:
    written = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (8, 8), dtype=np.uint8)).save(written, "png")
    return written.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def _excel(frame: pd.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.to_excel(written, index=False)
    return written.getvalue()


def _workbook(frame: pd.DataFrame, read: Callable) -> tuple[bytes, Callable, Callable[[bytes], bytes]]:
    """The sheet within a workbook, and how the workbook is made around it again."""
    with zipfile.ZipFile(io.BytesIO(_excel(frame))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = next(name for name in parts if name.startswith("xl/worksheets/"))
    return parts[sheet], read, lambda changed: _zip(parts | {sheet: changed})


def _models() -> list[Base]:
    """A network of ours, its weights alone, and a network in ONNX, as the process reads it that tries models."""
    from safetensors.torch import save

    from tests.models.test_onnx import onnx_file
    from touchstone.core.models.load import load_model
    from touchstone.core.models.networks import LinearNetwork, read_safetensors

    digits = load_example("digits")
    trained = LinearNetwork(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits).to_bytes()
    weights = np.random.default_rng(4).normal(size=(64, 10)).astype(np.float32)

    def read(name: str, data: Dataset, **options: str) -> Callable[[io.BytesIO], object]:
        return lambda file: load_model(name, file.getvalue(), data, **options)

    alone = save(read_safetensors(trained)[0])
    return [
        Base("safetensors", "linear.safetensors", trained, read("linear.safetensors", digits)),
        Base("weights alone", "w.safetensors", alone, read("w.safetensors", digits, architecture="linear")),
        Base("onnx", "linear.onnx", onnx_file(weights), read("linear.onnx", digits)),
    ]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content with one to three changes: most of them small, so that many files can still be read."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, n = rng.randrange(len(changed)), rng.choice([1, 1, 2, 8, 64, 512])
        change = rng.choices(
            ("letter", "bit", "noise", "hard", "gone", "twice", "swap", "cut"), (6, 4, 1, 2, 2, 2, 2, 1)
        )
        match change[0]:
            case "letter":
                changed[at : at + 1] = rng.choice(b'0123456789.-eaZ_ ,;\t"').to_bytes()
            case "bit":
                changed[at] ^= 1 << rng.randrange(8)
            case "noise":
                changed[at : at + n] = rng.randbytes(n)
            case "hard":
                changed[at : at + rng.choice([0, 1, n])] = rng.choice(HARD)
            case "gone":
                del changed[at : at + n]
            case "twice":
                changed[at:at] = changed[at : at + n]
            case "swap":
                other = rng.randrange(len(changed))
                changed[at : at + n], changed[other : other + n] = changed[other : other + n], changed[at : at + n]
            case "cut":
                del changed[max(1, at) :]
        if not changed:
            break
    return bytes(changed)


def file_number(number: int) -> tuple[Base, bytes]:
    """A damaged file, as whoever uploads it has it."""
    base = bases()[number % len(bases())]
    return base, base.pack(damaged(base.content, random.Random(number)))


def outcomes(first: int, last: int) -> list[Outcome]:
    """What comes of these files; the process that reads them is started again where one has ended it."""
    found: list[Outcome] = []
    while first < last:
        command = [sys.executable, "-m", "tests.data.mutated", str(first), str(last)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found += [Outcome(**line) for line in lines]
        first += len(lines)
        if first < last:
            assert done.returncode < 0, done.stderr[-3000:]
            ended = "took too long" if done.returncode == -signal.SIGALRM else f"ended the process ({done.returncode})"
            found.append(Outcome(first, bases()[first % len(bases())].format, ended, float(SECONDS), 0.0))
            first += 1
    return found


def faults(found: list[Outcome]) -> list[Outcome]:
    """Those that are neither read nor refused in a sentence of ours, or took too much."""
    return [
        one
        for one in found
        if one.outcome not in (GOOD, "refused") or one.seconds > SECONDS or one.mebibytes > MOST_BYTES / 2**20
    ]


def main(first: int, last: int) -> None:
    """Read files, and print a line for each."""
    for base in bases():
        base.read(_file(base.name, base.pack(base.content)))  # good, and everything that reading imports is there
    limit_memory(4 * MOST_BYTES)
    for number in range(first, last):
        base, content = file_number(number)
        before = memory("VmRSS", reset=True)
        began = time.process_time()
        signal.alarm(4 * SECONDS)  # the machine may be busy; what counts is the processor's time
        try:
            base.read(_file(base.name, content))
            outcome = GOOD
        except (DataError, ModelError):
            outcome = "refused"
        except Exception as problem:  # of any kind: what is looked for are those that are not ours
            outcome = f"{type(problem).__name__}: {problem}"[:200]
        signal.alarm(0)
        took = time.process_time() - began
        grew = (memory("VmHWM") - before) / 1024
        print(json.dumps(vars(Outcome(number, base.format, outcome, round(took, 4), round(grew, 1)))), flush=True)


def _file(name: str, content: bytes) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


def memory(field: str, *, reset: bool = False) -> int:
    """KiB that this process holds, or held at most since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(field)))


if __name__ == "__main__":
    os.environ["JAXTYPING_DISABLE"] = "1"
    main(*map(int, sys.argv[1:]))
