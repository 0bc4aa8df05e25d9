"""Frames of any library: as pandas has them, and as the file that the readers of tables take. And the type of texts.

Polars, PyArrow, modin and others come in through narwhals, which plotly brings.
"""

import io
from os import PathLike
from typing import Any, TypeGuard

import numpy as np
import pandas as pd

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import opened

Frame = Any
"""A frame of pandas, Polars, PyArrow, modin, or of another library that narwhals knows."""

try:
    TEXTS = pd.StringDtype(na_value=np.nan)
except TypeError:  # pandas 2.2
    TEXTS = pd.StringDtype("pyarrow_numpy")
"""The type of a frame's texts: one that knows of missing cells, as what pandas 3 calls "str" does and 2 does not."""


def is_path(given: Any) -> TypeGuard[str | PathLike[str]]:
    """Whether it names a file.

    >>> is_path("scores.csv"), is_path(pd.DataFrame())
    (True, False)
    """
    return isinstance(given, str | PathLike)


def frame_of(given: Any) -> pd.DataFrame | None:
    """A frame of any library as one of pandas; None for what is no frame.

    >>> import pyarrow
    >>> frame_of(pyarrow.table({"size": [1.0, 9.0]})).columns.tolist(), frame_of([[1.0], [9.0]])
    (['size'], None)
    """
    if isinstance(given, pd.DataFrame):
        return given
    if is_path(given) or isinstance(given, list | tuple | np.ndarray):
        return None
    import narwhals

    native = narwhals.from_native(given, pass_through=True)
    if isinstance(native, narwhals.LazyFrame):
        native = native.collect()
    return native.to_pandas() if isinstance(native, narwhals.DataFrame) else None


def file_of(given: Any, name: str) -> io.BytesIO:
    """A frame as a file for the readers of tables, so that it is read as its Parquet file is, by the same rules.

    An index with a name is a column of that name, and one of texts without a name is the id. Whole numbers without a
    name count rows, of which two frames may have the same: they are left out. Raises DataError for what is no frame,
    and for columns that hold values of several types.

    >>> file = file_of(pd.DataFrame({"truth": ["cat", "dog"]}, index=["a", "b"]), "the reference")
    >>> file.name, pd.read_parquet(file).columns.tolist()
    ('the reference.parquet', ['id', 'truth'])
    """
    frame = frame_of(given)
    if frame is None:
        raise DataError(f"{name}: {type(given).__name__} is neither a file nor a frame. Give one of these.")
    names = ["id"] if frame.index.inferred_type == "string" and frame.index.name is None else [*frame.index.names]
    if None not in names and not {*names} & {*frame.columns}:
        frame = frame.reset_index(names=names)
    file = opened(b"", f"{name}.parquet")
    try:
        frame.set_axis([str(column) for column in frame.columns], axis=1).to_parquet(file, index=False)
    except (ValueError, TypeError) as problem:  # of PyArrow, whose errors are ones of these
        raise DataError(f"{name}: the frame is no table: {problem}. Give each column values of one type.") from None
    file.seek(0)
    return file
