"""What the lists of layouts share: one small test set of three classes, one of two, and what a file should come to.

The files of the lists are written as their tools write them, by hand: no tool is run. What each should come to was
written down first, from what somebody who has such a file would expect.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

N = 60
NAMES = ["setosa", "versicolor", "virginica"]


def _scores(seed: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes of the samples, and logits that are right in most of them."""
    rng = np.random.default_rng(seed)
    y_true = rng.permutation(np.arange(N) % n_classes)
    return y_true, np.round(2 * np.eye(n_classes)[y_true] + rng.normal(0, 1.2, (N, n_classes)), 4)


def _softmax(logits: np.ndarray) -> np.ndarray:
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    proba = np.round(proba, 6)
    proba[:, -1] = np.round(1 - proba[:, :-1].sum(axis=1), 6)
    return proba


CODES, LOGITS = _scores(7, 3)
PROBA = _softmax(LOGITS)
SAID = PROBA.argmax(axis=1)
TRUE_NAMES = [NAMES[code] for code in CODES]
SAID_NAMES = [NAMES[code] for code in SAID]
TOP = PROBA.max(axis=1)
CODES_2, LOGITS_2 = _scores(11, 2)
PROBA_2 = _softmax(LOGITS_2)
SAID_2 = PROBA_2.argmax(axis=1)
NO_YES = ["no", "yes"]
TRUE_2 = [NO_YES[code] for code in CODES_2]
SAID_2_NAMES = [NO_YES[code] for code in SAID_2]
FILES = [f"images/{name}_{row:03}.jpg" for row, name in enumerate("abc" * (N // 3))]
TEXTS = [f"a flower with {1 + row % 7} petals, number {row}" for row in range(N)]
LENGTHS = np.round(np.random.default_rng(3).uniform(4, 8, N), 1)
WIDTHS = np.round(np.random.default_rng(4).uniform(2, 4, N), 1)


@dataclass(frozen=True)
class Read:
    """A file that is read: the three classes or the two, and how sure the model was, if the file tells."""

    n_classes: int = 3
    confidence: bool = True
    n: int = N


@dataclass(frozen=True)
class Asked:
    """A file about which something has to be asked: the role that the question is about, and what may come before."""

    role: str
    before: str = ""


@dataclass(frozen=True)
class Refused:
    """A file that lacks what is needed: what the message has to say."""

    match: str


NO_TRUTH = Refused("no column holds the truth.*second file|Is it the truth, or is it the prediction|holds the truth")
NO_PREDICTION = Refused("no column holds what a model predicted")
Expected = Read | Asked | Refused


@dataclass(frozen=True)
class Layout:
    """A file as a tool writes it, perhaps with the truth in a second one."""

    tool: str
    what: str
    name: str
    content: bytes
    expected: Expected
    truth: tuple[str, bytes] | None = None

    @property
    def lacks(self) -> str:
        """What a file that is refused has not."""
        known = {
            NO_TRUTH: "no truth in it",
            NO_PREDICTION: "no prediction in it",
            Refused("this is no table"): "its ending is that of no table",
            Refused("Divide them by 100"): "percent",
        }
        return (
            known.get(self.expected, "truth or prediction is not in it") if isinstance(self.expected, Refused) else ""
        )

    @property
    def label(self) -> str:
        """What the test is called."""
        return f"{self.tool}: {self.what}"


def layout(tool, what, name, content, expected, *, truth=None) -> Layout:
    """A layout, its files as text or bytes."""
    return Layout(tool, what, name, _bytes(content), expected, truth and (truth[0], _bytes(truth[1])))


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def frame(**columns: Sequence) -> pd.DataFrame:
    """A table of the columns, in their order."""
    return pd.DataFrame(columns)


def scores(pattern: str, names: Iterable = NAMES, proba: np.ndarray = PROBA) -> dict[str, np.ndarray]:
    """A column of scores for each class, called by the pattern."""
    return {pattern.format(name): proba[:, code] for code, name in enumerate(names)}


def csv(index=False, sep=",", columns: pd.DataFrame | None = None, **named) -> str:
    """The columns as CSV, as pandas and R write it."""
    return (frame(**named) if columns is None else columns).to_csv(index=index, sep=sep)


def records(**columns: Sequence) -> list[dict]:
    """The columns as rows of plain values."""
    plain = {name: values.tolist() if isinstance(values, np.ndarray) else values for name, values in columns.items()}
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def jsonl(rows: Iterable[dict]) -> str:
    """A line per object."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def arrow(columns: dict[str, Sequence], names: Sequence[str]) -> bytes:
    """A stream as Hugging Face's datasets write it, whose labels are of classes with these names."""
    features = {"label": {"names": list(names), "_type": "ClassLabel"}}
    described = json.dumps({"info": {"features": features}})
    table = pa.table(columns).replace_schema_metadata({"huggingface": described})
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def npz(**arrays) -> bytes:
    """What np.savez writes."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    """What np.save writes."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def lines(values: Iterable) -> str:
    """A value per line."""
    return "".join(f"{value}\n" for value in values)


def zipped(**files: str) -> bytes:
    """Files in a zip archive; two underscores stand for a dot."""
    return packed({name.replace("__", "."): content for name, content in files.items()})


def packed(files: dict[str, str]) -> bytes:
    """Files in a zip archive, by name."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()
