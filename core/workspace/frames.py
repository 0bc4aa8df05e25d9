"""How is a trial's table kept, and what stands for it? One compressed Arrow stream, and the hash that seals it."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from touchstone.core.data.dataset import key
from touchstone.core.data.frames import TEXTS

SMALL = 64 * 1024
"""Bytes below which a table is not compressed: that would save a twentieth, and take as long as to fit a tiny model."""

_AS_THEY_ARE = "iufb"  # numbers of numpy, whose Arrow type follows from theirs alone


def to_bytes(frame: pd.DataFrame) -> bytes:
    """A data frame as bytes; `from_bytes` returns an equal one.

    Examples
    --------
    >>> frame = pd.DataFrame({"label": pd.Series(["a", None], dtype="str"), "n": pd.Series([1, None], dtype="Int64")})
    >>> from_bytes([to_bytes(frame)]).equals(frame)
    True
    """
    return _stream(_table(frame))


def each_to_bytes(frames: Sequence[pd.DataFrame]) -> list[bytes]:
    """Each frame as bytes for `from_bytes`; where columns and types are the same, all are made in one go.

    Examples
    --------
    >>> contents = each_to_bytes([pd.DataFrame({"n": [1, 2]}), pd.DataFrame({"n": [3]})])
    >>> from_bytes(contents[1:])["n"].tolist(), from_bytes(contents)["n"].tolist()
    ([3], [1, 2, 3])
    """
    if len({(tuple(frame.columns), *frame.dtypes.to_numpy()) for frame in frames}) != 1 or not _typed(frames[0]):
        return [to_bytes(frame) for frame in frames]
    return cut_to_bytes(pd.concat(frames, ignore_index=True), [len(frame) for frame in frames])


def cut_to_bytes(frame: pd.DataFrame, lengths: Sequence[int]) -> list[bytes]:
    """The rows of a frame cut into parts of these lengths, each as the bytes that `to_bytes` makes of it.

    Examples
    --------
    >>> first, second = cut_to_bytes(pd.DataFrame({"n": [1, 2, 3]}), [2, 1])
    >>> second == to_bytes(pd.DataFrame({"n": [3]}))
    True
    """
    table, ends = _table(frame).combine_chunks(), np.cumsum([0, *lengths]).tolist()
    if not len(table):
        return [_stream(table) for _ in lengths]
    (whole,) = table.to_batches()
    # A slice is written with what its buffers hold beyond it, which is other trials': as a copy it is alone.
    parts = (pa.concat_batches([whole.slice(first, end - first)]) for first, end in pairwise(ends))
    return [_stream(pa.Table.from_batches([part])) for part in parts]


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd" if table.nbytes >= SMALL else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _table(frame: pd.DataFrame) -> pa.Table:
    """What `pa.Table.from_pandas` gives; where columns' types say all, the schema is made for the first frame alone."""
    if not _typed(frame):
        return pa.Table.from_pandas(frame, preserve_index=False)
    schema = _schema(tuple(frame.columns), tuple(frame.dtypes))
    arrays = [
        pa.array(column.array, field.type, from_pandas=True)
        for (_, column), field in zip(frame.items(), schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _typed(frame: pd.DataFrame) -> bool:
    """Whether nothing but its columns' types has to be known of a frame."""
    return not frame.attrs and all(isinstance(one, _TYPED) or one.kind in _AS_THEY_ARE for one in frame.dtypes)


_TYPED = (pd.Int64Dtype, pd.Float64Dtype, pd.BooleanDtype, pd.StringDtype)


@lru_cache(maxsize=64)
def _schema(names: tuple[str, ...], dtypes: tuple) -> pa.Schema:
    empty = pd.DataFrame({name: pd.array([], dtype=dtype) for name, dtype in zip(names, dtypes, strict=True)})
    return pa.Table.from_pandas(empty, preserve_index=False).schema


def from_bytes(contents: Sequence[bytes]) -> pd.DataFrame:
    """The frames of several trials as one; an empty frame where there are none."""
    tables = [pa.ipc.open_stream(stream).read_all() for stream in _joined(contents)]
    # In one piece: what picks from ten thousand pieces of a column, or compares them, takes many times as long.
    return pa.concat_tables(tables).combine_chunks().to_pandas(types_mapper=_TYPE_OF) if tables else pd.DataFrame()


_TYPE_OF = dict.fromkeys((pa.string(), pa.large_string()), TEXTS).get


def _joined(contents: Sequence[bytes]) -> Iterator[bytes]:
    """The streams with those that follow each other with the same schema made one, which is read in half the time.

    A stream is a message with the schema, one for each batch of rows, and an end; a message begins with four bytes of
    ones and the length of its head, and that of a schema has no body (Arrow's IPC streaming format).
    """
    for head, alike in groupby(contents, lambda content: content[: 8 + int.from_bytes(content[4:8], "little")]):
        yield b"".join([head, *(memoryview(content)[len(head) : -len(_END)] for content in alike), _END])


_END = b"\xff\xff\xff\xff\0\0\0\0"


def sha256(content: bytes) -> str:
    """What is stored beside a trial's table, so that nothing else is ever read in its place.

    >>> sha256(b"a table")[:8]
    'ad875d4b'
    """
    return hashlib.sha256(content).hexdigest()


# What stands for stored results, so that nothing else is ever read in their place? A hash of each trial and run.


N_VERSIONS = 100
"""No method has had so many versions; which of them a run is of is known by its key alone."""


def trial_seal(trial: int, status: str, error: str | None, content: bytes) -> str:
    """The hash of a stored trial: its number, whether it failed and why, and its rows.

    Examples
    --------
    >>> seal = trial_seal(3, "ok", None, b"rows")
    >>> seal == trial_seal(3, "ok", None, b"rows"), seal == trial_seal(4, "ok", None, b"rows")
    (True, False)
    """
    return key("trial", trial, status, error, sha256(content))


class StoredTrial(NamedTuple):
    """A trial as it is stored, with the seal that it got then."""

    trial: int
    status: str
    error: str | None
    content: bytes
    sha256: str

    @property
    def whole(self) -> bool:
        """Whether it still is what was stored.

        >>> StoredTrial(0, "ok", None, b"rows", "another hash").whole
        False
        """
        return self.sha256 == trial_seal(self.trial, self.status, self.error, self.content)


def run_seal(run_key: str, trials: Iterable[str]) -> str:
    """The hash of a run: its key, which stands for plan, data and method, and the seals of its trials in their order.

    Examples
    --------
    >>> run_seal("k", ["a", "b"]) == run_seal("k", ["b", "a"])
    False
    """
    return key("run", run_key, list(trials))


def is_named_by(run_key: str, *, kind: str, plan: str, fingerprint: str) -> bool:
    """Whether a run's key is that of its stored plan, as JSON, and its data, by some version of the plan's method.

    Examples
    --------
    >>> run_key = key('{"kind":"trials","seed":7}', "f1", 3)
    >>> is_named_by(run_key, kind="trials", plan='{"kind":"trials","seed":7}', fingerprint="f1")
    True
    >>> is_named_by(run_key, kind="trials", plan='{"kind":"trials","seed":5}', fingerprint="f1")
    False
    """
    named = any(key(plan, fingerprint, version) == run_key for version in range(1, N_VERSIONS))
    return named and json.loads(plan).get("kind") == kind
