"""What do JSON lines and Parquet files say? Tables whose cells have types already."""

import io
import json
from dataclasses import replace
from typing import Any

from core.data.errors import DataError
from core.data.limits import Limits
from core.data.tables.table import Table, make_table
from core.data.values import listed, objects, quoted

_BATCH = 1024  # rows: few enough that one batch of long strings does not outgrow the limit before it is counted


def parse_jsonl(content: bytes, name: str, limits: Limits) -> Table:
    """Read JSON lines: one object per line, all with the same keys.

    >>> table = parse_jsonl(b'{"text": "Good", "label": "01"}\\n{"text": "Bad", "label": 1}\\n', "said.jsonl", Limits())
    >>> table.strings("label")
    ['01', '1']
    """
    lines, rows = [], []
    for line, encoded in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if encoded.strip():
            lines.append(line)
            rows.append(_row(encoded, f"{name}, line {line}"))
            limits.check_columns(name, len(rows[-1]))
            _check_keys(rows[-1], rows[0], f"{name}, line {line}")
            if len(rows) > limits.samples:
                raise DataError(f"{name}: more than {limits.samples:,} rows. Give a smaller sample.")
    if not rows:
        raise DataError(f"{name}: there is nothing but white space in the file.")
    header = list(rows[0])
    return make_table(name, header, [objects([row[key] for row in rows]) for key in header], lines=lines)


def parse_json(content: bytes, name: str, limits: Limits) -> Table:
    """Read a JSON list of objects, or an object of lists of one length; JSON lines too, where they are called so.

    >>> parse_json(b'[{"id": 1, "label": "a"}, {"id": 2, "label": "b"}]', "said.json", Limits()).strings("label")
    ['a', 'b']
    >>> parse_json(b'{"id": [1, 2], "label": ["a", "b"]}', "said.json", Limits()).strings("label")
    ['a', 'b']
    """
    try:
        value = json.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        first = content.removeprefix(b"\xef\xbb\xbf").lstrip()
        if first.startswith(b"{"):
            return parse_jsonl(content, name, limits)
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"{name}{where}: this is no JSON. Write a list of objects, one per row.") from error
    if isinstance(value, dict) and all(isinstance(column, list) for column in value.values()):
        return _of_columns(value, name, limits)
    return _of_rows([value] if isinstance(value, dict) else value, name, limits)


def _of_rows(rows: Any, name: str, limits: Limits) -> Table:
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{name}: {quoted(rows)} instead of rows. Write a list of objects, one per row.")
    if len(rows) > limits.samples:
        raise DataError(f"{name}: more than {limits.samples:,} rows. Give a smaller sample.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise DataError(f"{name}, row {number}: {quoted(row)} instead of an object. Write one object per row.")
        limits.check_columns(name, len(row))
        _check_keys(row, rows[0], f"{name}, row {number}")
    columns = [objects([row[key] for row in rows]) for key in rows[0]]
    return make_table(name, list(rows[0]), columns, lines=range(1, len(rows) + 1), unit="row")


def _of_columns(columns: dict[str, list[Any]], name: str, limits: Limits) -> Table:
    limits.check_columns(name, len(columns))
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) != 1:
        told = listed(f"{key} {length}" for key, length in lengths.items())
        raise DataError(
            f"{name}: the lists differ in length ({told or 'there is none'}). All must have as many values."
        )
    n_rows = next(iter(lengths.values()))
    if n_rows > limits.samples:
        raise DataError(f"{name}: more than {limits.samples:,} rows. Give a smaller sample.")
    return make_table(name, list(columns), map(objects, columns.values()), lines=range(1, n_rows + 1), unit="row")


def _row(encoded: bytes, place: str) -> dict[str, Any]:
    try:
        row = json.loads(encoded)
    except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8, and numbers of thousands of digits
        reason = f" ({error.msg} at character {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(f"{place}: this is no JSON{reason}. Each line must hold one JSON object.") from error
    if not isinstance(row, dict):
        raise DataError(
            f"{place}: {quoted(row)} instead of an object. Each line must hold one JSON object, "
            'such as {"id": "7", "text": "Good.", "label": "positive"}.'
        )
    return row


def _check_keys(row: dict[str, Any], first: dict[str, Any], place: str) -> None:
    if row.keys() != first.keys():
        missing, added = first.keys() - row.keys(), row.keys() - first.keys()
        what = f"key {min(missing)!r} is missing" if missing else f"key {min(added)!r} is not in the first line"
        raise DataError(f"{place}: {what}. All lines must have the same keys: {listed(first)}.")


def parse_parquet(content: bytes, name: str, limits: Limits) -> Table:
    """Read Parquet; rows are counted from 1.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "label": ["NA", "01"]})
    >>> parse_parquet(frame.to_parquet(), "sizes.parquet", Limits()).strings("label")
    ['NA', '01']
    """
    import pyarrow
    import pyarrow.parquet

    batches, n_bytes, n_rows = [], 0, 0
    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(content))
        limits.check_columns(name, len(file.schema_arrow.names))
        for batch in file.iter_batches(batch_size=_BATCH):
            batches.append(batch)
            n_bytes += batch.nbytes
            n_rows += batch.num_rows
            if n_bytes > limits.unpacked_bytes or n_rows > limits.samples:
                raise DataError(
                    f"{name}: more than {limits.samples:,} rows or {limits.unpacked_bytes / 2**20:g} MiB unpacked. "
                    "Give a smaller sample."
                )
        table = pyarrow.Table.from_batches(batches, file.schema_arrow)
        columns = [_column(column) for column in table.columns]
    except DataError:
        raise
    except (pyarrow.ArrowException, ValueError, OverflowError, OSError) as error:
        raise DataError(f"{name}: this is no Parquet file, or a damaged one. Write it again.") from error
    read = make_table(name, table.column_names, columns, lines=range(1, n_rows + 1), unit="row")
    return replace(read, class_names=_class_names(table.schema.metadata or {}))


def _class_names(metadata: dict[bytes, bytes]) -> dict[str, tuple[str, ...]]:
    """What whole numbers in a column stand for, as Hugging Face's libraries write it beside the columns."""
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        named = {column: feature["names"] for column, feature in features.items() if "names" in feature}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {
        column: tuple(names)
        for column, names in named.items()
        if isinstance(names, list) and all(isinstance(name, str) and name.strip() for name in names)
    }


def _column(values: Any) -> Any:
    """Numbers as a numeric array; the rest, and numbers where some are missing, as Python objects."""
    import pyarrow

    is_number = pyarrow.types.is_integer(values.type) or pyarrow.types.is_floating(values.type)
    return values.to_numpy() if is_number and values.null_count == 0 else objects(values.to_pylist())
