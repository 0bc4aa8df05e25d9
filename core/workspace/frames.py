"""How is a trial's table kept? As one compressed Arrow stream, whose column types come back as they were."""

import hashlib
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa


def to_bytes(frame: pd.DataFrame) -> bytes:
    """A data frame as bytes; `from_bytes` returns an equal one.

    Examples
    --------
    >>> frame = pd.DataFrame({"label": pd.Series(["a", None], dtype="str"), "n": pd.Series([1, None], dtype="Int64")})
    >>> from_bytes([to_bytes(frame)]).equals(frame)
    True
    """
    table = pa.Table.from_pandas(frame, preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def from_bytes(contents: Sequence[bytes]) -> pd.DataFrame:
    """The frames of several trials as one; an empty frame where there are none."""
    tables = [pa.ipc.open_stream(content).read_all() for content in contents]
    return pa.concat_tables(tables).to_pandas() if tables else pd.DataFrame()


def sha256(content: bytes) -> str:
    """What is stored beside a trial's table, so that nothing else is ever read in its place.

    >>> sha256(b"a table")[:8]
    'ad875d4b'
    """
    return hashlib.sha256(content).hexdigest()
