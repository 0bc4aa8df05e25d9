"""How is a data set kept without losing anything? As bytes: Parquet for texts and tables, NPZ around it for images."""

import io
import json
import zipfile
from typing import Any

import numpy as np

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import refusing

_HEADER = b"touchstone"
_ALWAYS = ("name", "kind", "class_names", "scale", "feature_names", "notes")
_SOMETIMES = ("read_as", "unit_name", "vectors_name", "number_names")  # what the header holds where a data set has it
_TEXTS = {"source": "sources", "part": "part", "unit": "units"}  # columns, by their names, and what they hold
_ZIP = b"PK"  # how NPZ begins; what a zip file ends with may stand in a text


def to_bytes(dataset: Dataset) -> bytes:
    """Write a data set down, name and notes included; `from_bytes` gives back one with the same fingerprint.

    >>> from touchstone.core.data import load_example
    >>> wine = load_example("wine")
    >>> from_bytes(to_bytes(wine)).fingerprint == wine.fingerprint
    True
    """
    if dataset.kind == "text":
        return _parquet(dataset, {"x": dataset.x})
    if dataset.kind == "tabular":
        return _parquet(dataset, {f"x{column}": values for column, values in enumerate(dataset.x.T)})
    stream = io.BytesIO()
    np.savez(stream, x=dataset.x, samples=np.frombuffer(_parquet(dataset, {}), dtype=np.uint8))
    return stream.getvalue()


def from_bytes(content: bytes) -> Dataset:
    """Read what `to_bytes` wrote; DataError where these bytes are damaged or something else.

    >>> from_bytes(b"something else")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The stored data set is damaged. Delete it and add it again.
    """
    import pyarrow

    errors = (pyarrow.ArrowException, zipfile.BadZipFile, ValueError, TypeError, KeyError, OSError, EOFError)
    with refusing("The stored data set is damaged. Delete it and add it again.", *errors):
        return _read(content)


def _parquet(dataset: Dataset, x: dict[str, np.ndarray]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    header: dict[str, Any] = {name: getattr(dataset, name) for name in _ALWAYS}
    header |= {name: value for name in _SOMETIMES if (value := getattr(dataset, name)) not in (None, ())}
    columns: dict[str, Any] = {"id": dataset.ids, "y": dataset.y}
    columns |= {column: values for column, name in _TEXTS.items() if (values := getattr(dataset, name)) is not None}
    if dataset.vectors is not None:
        columns["vectors"] = pyarrow.FixedSizeListArray.from_arrays(dataset.vectors.ravel(), dataset.vectors.shape[1])
    if dataset.numbers is not None:
        columns |= {f"number{column}": values for column, values in enumerate(dataset.numbers.T)}
    table = pyarrow.table({**columns, **x}).replace_schema_metadata({_HEADER: json.dumps(header)})
    stream = io.BytesIO()
    # A dictionary of floats could take -0.0 for 0.0.
    pyarrow.parquet.write_table(table, stream, compression="zstd", use_dictionary=[*_TEXTS])
    return stream.getvalue()


def _read(content: bytes) -> Dataset:
    import pyarrow.parquet

    x: Any = None
    if content.startswith(_ZIP):
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            x, content = arrays["x"], arrays["samples"].tobytes()
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    header = json.loads(table.schema.metadata[_HEADER])
    columns = {name: table[name].to_numpy() for name in table.column_names if name != "vectors"}
    if header["kind"] == "text":
        x = columns["x"]
    elif header["kind"] == "tabular":
        x = np.column_stack([columns[f"x{column}"] for column in range(len(header["feature_names"]))])
    numbers = [columns[f"number{column}"] for column in range(len(header.get("number_names", ())))]
    return Dataset(
        **{name: header[name] for name in _ALWAYS},
        **{name: header[name] for name in _SOMETIMES if name in header},
        **{name: columns.get(column) for column, name in _TEXTS.items()},
        x=x,
        y=columns["y"],
        ids=columns["id"],
        vectors=_vectors(table["vectors"]) if "vectors" in table.column_names else None,
        numbers=np.column_stack(numbers) if numbers else None,
    )


def _vectors(column: Any) -> np.ndarray:
    """The rows of a column of lists, all as long."""
    values = column.combine_chunks()
    return values.flatten().to_numpy().reshape(len(values), -1)
