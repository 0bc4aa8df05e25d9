"""What do JSON lines and Parquet files say? Tables whose cells have types already."""

import io
import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError, Oddity, refusing
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.logs import Rows, are_objects, rows_of_log
from touchstone.core.data.tables.table import Table, make_table
from touchstone.core.data.values import listed, objects, quoted

_BATCH = 1024  # rows: few enough that one batch of long strings does not outgrow the limit before it is counted
_BYTES_PER_CELL = 8  # of an array of objects, the objects not counted
_MOST_KEYS = 10_000  # of all rows together, where no row has as many: beyond, cells would mostly be missing


def parse_jsonl(content: bytes, name: str, limits: Limits) -> Table:
    """Read JSON lines: one object per line. A key that a line lacks is a missing cell.

    >>> table = parse_jsonl(b'{"text": "Good", "label": "01"}\\n{"text": "Bad", "label": 1}\\n', "said.jsonl", Limits())
    >>> table.strings("label")
    ['01', '1']
    """
    lines, rows, keys = [], [], {}
    for line, encoded in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if encoded.strip():
            lines.append(line)
            rows.append(_row(encoded, f"{name}, line {line}"))
            limits.check_columns(name, len(rows[-1]))
            _note_keys(rows[-1], keys, f"{name}, line {line}")
            limits.check_rows(name, len(rows))
    if not rows:
        raise DataError(f"{name}: there is nothing but white space in the file.")
    if (log := rows_of_log(rows)) is not None:
        return _of_log(log, name, limits, lines)
    return make_table(name, list(keys), _cells(rows, keys, name, limits), lines=lines)


def parse_json(content: bytes, name: str, limits: Limits) -> Table:
    """Read a JSON list of objects, an object of lists, or what else holds a table (`in_order`); JSON lines too.

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
    samples = value.get("samples") if isinstance(value, dict) else value
    if (log := rows_of_log(samples)) is not None:
        return _of_log(log, name, limits)
    table, notes = in_order(value) or (value, ())
    if isinstance(table, dict):
        return _of_columns(table, name, limits, notes)
    if table == [value]:
        _check_samples(value, name)
    return _of_rows(table, name, limits, notes)


def _check_samples(value: Any, name: str) -> None:
    if isinstance(value, dict) and value and all(map(_is_single, value.values())):
        raise DataError(
            f"{name}: one object without any list, of {listed(value)}. These may be results; what is read are samples, "
            "an object for each of them in a list."
        )


def _of_rows(rows: Any, name: str, limits: Limits, notes: tuple[str, ...]) -> Table:
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{name}: {quoted(rows)} instead of rows. Write a list of objects, one per row.")
    limits.check_rows(name, len(rows))
    keys: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise DataError(f"{name}, row {number}: {quoted(row)} instead of an object. Write one object per row.")
        limits.check_columns(name, len(row))
        _note_keys(row, keys, f"{name}, row {number}")
    return make_table(
        name, list(keys), _cells(rows, keys, name, limits), lines=range(1, len(rows) + 1), unit="row", notes=notes
    )


def _of_log(
    log: tuple[Rows, tuple[str, ...], tuple[Oddity, ...]], name: str, limits: Limits, lines: Sequence[int] | None = None
) -> Table:
    """The table of a harness's log, whose rows stand in these lines."""
    rows, notes, warnings = log
    table = _of_rows(rows, name, limits, notes)
    where = table if lines is None else replace(table, lines=np.asarray(lines, dtype=np.int64), unit="line")
    return replace(where, warnings=warnings)


def _of_columns(columns: dict[str, list[Any]], name: str, limits: Limits, notes: tuple[str, ...]) -> Table:
    limits.check_columns(name, len(columns))
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) != 1:
        shown = listed(f"{key} {length}" for key, length in lengths.items())
        raise DataError(
            f"{name}: the lists differ in length ({shown or 'there is none'}). All must have as many values."
        )
    n_rows = next(iter(lengths.values()))
    limits.check_rows(name, n_rows)
    cells = map(objects, columns.values())
    return make_table(name, list(columns), cells, lines=range(1, n_rows + 1), unit="row", notes=notes)


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


def _note_keys(row: dict[str, Any], keys: dict[str, None], place: str) -> None:
    """Add the keys of a row to those that are known; DataError where there are more than any table has."""
    if row.keys() != keys.keys():
        keys |= dict.fromkeys(row)
        if len(keys) > max(_MOST_KEYS, len(row)):
            raise DataError(
                f"{place}: {len(keys):,} different keys so far, so that rows have little in common. "
                f"All rows must have the same keys, such as {listed(keys)}."
            )


def _cells(rows: list[dict[str, Any]], keys: dict[str, None], name: str, limits: Limits) -> Iterator[np.ndarray]:
    """The columns, None where a row lacks a key; DataError where those that are lacking would take all memory."""
    n_bytes = len(rows) * len(keys) * _BYTES_PER_CELL
    if n_bytes > limits.unpacked_bytes:
        raise DataError(
            f"{name}: {len(rows):,} rows and {len(keys):,} different keys make a table beyond the limit of "
            f"{limits.unpacked_bytes / 2**20:g} MiB, a missing key being an empty cell. Give fewer rows, or fewer keys."
        )
    return (_without_lists([row.get(key) for row in rows]) for key in keys)


def _without_lists(cells: list[Any]) -> np.ndarray:
    """A column, its cells taken out of lists where every one holds a list of a single word, as of one label."""
    if all(isinstance(cell, list) and len(cell) == 1 and isinstance(cell[0], str) for cell in cells):
        cells = [cell[0] for cell in cells]
    return objects(cells)


def parse_parquet(content: bytes, name: str, limits: Limits) -> Table:
    """Read Parquet, or Arrow as Hugging Face's `save_to_disk` writes it; rows are counted from 1.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "label": ["NA", "01"]})
    >>> parse_parquet(frame.to_parquet(), "sizes.parquet", Limits()).strings("label")
    ['NA', '01']
    """
    import pyarrow

    batches, n_bytes, n_rows = [], 0, 0
    damaged = f"{name}: this is no Parquet or Arrow file, or a damaged one. Write it again."
    with refusing(damaged, pyarrow.ArrowException, ValueError, OverflowError, OSError, struct.error, IndexError):
        schema, given = _batches(content, name)
        limits.check_columns(name, len(schema.names))
        for batch in given:
            batch.validate(full=True)  # Arrow trusts the places that a file names, wherever in memory these are
            batches.append(batch)
            n_bytes += batch.nbytes
            n_rows += batch.num_rows
            if n_bytes > limits.unpacked_bytes or n_rows > limits.samples:
                raise DataError(
                    f"{name}: more than {limits.samples:,} rows or {limits.unpacked_bytes / 2**20:g} MiB unpacked. "
                    "Give a smaller sample."
                )
        table = pyarrow.Table.from_batches(batches, schema)
        columns = [_column(column) for column in table.columns]
    has_objects = any(pyarrow.types.is_struct(column.type) for column in table.columns)
    begins_so = has_objects and rows_of_log(table.slice(0, 1).to_pylist()) is not None  # whole pictures are not copied
    if begins_so and (log := rows_of_log(table.to_pylist())) is not None:
        return _of_log(log, name, limits)
    read = make_table(name, table.column_names, columns, lines=range(1, n_rows + 1), unit="row")
    return replace(read, class_names=_class_names(table.schema.metadata or {}))


def _batches(content: bytes, name: str) -> tuple[Any, Iterable[Any]]:
    """The schema and the batches of rows of Parquet, or of Arrow: a stream, which is what a file of it holds, too.

    Raises DataError for Arrow whose rows may be any number of times as long as the file: what is compressed, or stands
    once for many rows. Its batches are unpacked whole, those of Parquet a few rows at a time.
    """
    import pyarrow.ipc
    import pyarrow.parquet

    if content[:4] == b"PAR1":
        file = pyarrow.parquet.ParquetFile(io.BytesIO(content))
        return file.schema_arrow, file.iter_batches(batch_size=_BATCH)
    stream = pyarrow.py_buffer(content[8:] if content[:6] == b"ARROW1" else content)
    opened = pyarrow.ipc.open_stream(stream)
    messages = pyarrow.ipc.MessageReader.open_stream(stream)
    packed = any(_is_packed(message.metadata.to_pybytes()) for message in messages)
    if packed or any(map(_shares_values, (field.type for field in opened.schema))):
        raise DataError(f"{name}: Arrow with compression, categories or views is not read. Save the table as Parquet.")
    return opened.schema, opened


def _shares_values(kind: Any) -> bool:
    """Whether rows of a type of Arrow may share their values, in itself or in what it is made of."""
    from pyarrow import types

    views = (types.is_string_view, types.is_binary_view, types.is_list_view, types.is_large_list_view)
    if types.is_run_end_encoded(kind) or any(is_one(kind) for is_one in views):
        return True
    return any(_shares_values(kind.field(place).type) for place in range(kind.num_fields))


_OF_DICTIONARY, _OF_ROWS = 2, 3  # headers of Arrow's messages that hold values


def _is_packed(message: bytes) -> bool:
    """Whether the values behind a message of Arrow are a dictionary or compressed, by the fields of its Message.fbs."""

    def field(table: int, number: int) -> int | None:
        """Where a field of a table of a flatbuffer stands, None where it is left out."""
        directory = table - struct.unpack_from("<i", message, table)[0]
        place = 4 + 2 * number
        known = place < struct.unpack_from("<H", message, directory)[0]
        offset = struct.unpack_from("<H", message, directory + place)[0] if known else 0
        return table + offset if offset else None

    root = struct.unpack_from("<I", message)[0]
    kind, header = field(root, 1), field(root, 2)
    if kind is None or header is None or message[kind] != _OF_ROWS:
        return kind is not None and message[kind] == _OF_DICTIONARY
    return field(header + struct.unpack_from("<I", message, header)[0], 3) is not None


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


# How may a table stand in a JSON value? As rows, as columns, or as names and rows apart, as pandas writes them.


Columns = dict[str, list[Any]]
_NAMES = ("columns", "data")
WITHOUT_NAMES = "There are no names of columns."


def in_order(value: Any) -> tuple[Rows | Columns, tuple[str, ...]] | None:
    """The rows or columns that a JSON value holds, and notes on what was passed over; None where it holds no table.

    Rows are a list of objects, as they stand. Known are the orientations of pandas, "split" (also of tables that were
    logged for a run), "table", "index", "columns" and "values", one list of objects in an object, and lists of one
    length beside values that are no lists.

    >>> in_order({"columns": ["id", "gold"], "data": [[1, "a"], [2, "b"]]})
    ({'id': [1, 2], 'gold': ['a', 'b']}, ())
    >>> in_order({"predictions": [0, 1], "label_ids": [0, 0], "metrics": {"loss": 0.5}})
    ({'predictions': [0, 1], 'label_ids': [0, 0]}, ('Not used: metrics.',))
    """
    if isinstance(value, list):
        return _of_lists(value)
    if not isinstance(value, dict):
        return None
    for read in (_of_split, _of_table, _of_objects, _of_nested, _of_lone_lists):
        if (table := read(value)) is not None:
            return table
    return [value], ()


def _of_lists(rows: list[Any]) -> tuple[Rows | Columns, tuple[str, ...]] | None:
    """Rows without names: values in one order, or the classes and scores of a row each."""
    if are_objects(rows):
        return rows, ()
    if not _are_lists(rows):
        return None
    if all(map(are_objects, rows)):
        return {"output": rows}, (WITHOUT_NAMES,)
    if all(len(row) == len(rows[0]) and all(map(_is_scalar, row)) for row in rows):
        columns = {f"column {place}": list(cells) for place, cells in enumerate(zip(*rows, strict=True), start=1)}
        return columns, (WITHOUT_NAMES,)
    return None


def _are_lists(rows: Any, length: int | None = None) -> bool:
    """Whether a value is a list of lists that hold something, or so much."""
    lists = isinstance(rows, list) and bool(rows) and all(isinstance(row, list) and bool(row) for row in rows)
    return lists and (length is None or {*map(len, rows)} == {length})


def _of_split(value: dict[str, Any]) -> tuple[Columns, tuple[str, ...]] | None:
    """Names under "columns", rows under "data", perhaps an index; what else is there is about the table."""
    names, rows = (value.get(key, ()) for key in _NAMES)
    if not isinstance(names, list) or len({*map(str, names)}) < len(names) or not _are_lists(rows, len(names)):
        return None
    columns = {str(name): list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
    index = value.get("index")
    return ({"index": index, **columns} if _names_rows(index, rows, columns) else columns), ()


def _names_rows(index: Any, rows: Sequence[Any], columns: Columns) -> bool:
    """Whether an index says more than the rows' positions."""
    is_one = isinstance(index, list) and len(index) == len(rows) and "index" not in columns
    return is_one and index != list(range(len(rows))) and all(map(_is_scalar, index))


def _of_table(value: dict[str, Any]) -> tuple[Rows, tuple[str, ...]] | None:
    """Rows under "data", described by a "schema"."""
    rows = value.get("data")
    return (rows, ()) if isinstance(value.get("schema"), dict) and are_objects(rows) else None


def _of_objects(value: dict[str, Any]) -> tuple[Rows, tuple[str, ...]] | None:
    """The only list of objects in an object, whatever it is called; it holds no other list."""
    lists = [key for key, each in value.items() if isinstance(each, list) and each]
    if len(lists) != 1 or not are_objects(value[lists[0]]):
        return None
    return value[lists[0]], _passed_over(value, lists)


def _of_nested(value: dict[str, Any]) -> tuple[Rows | Columns, tuple[str, ...]] | None:
    """Objects with the same keys: of columns by row, or of rows by column, of which there are more than columns."""
    inner = list(value.values())
    if not _have_same_keys(inner):
        return None
    if len(inner) > len(inner[0]) or all(key.isdecimal() for key in value):
        rows, columns = value, {key: [each[key] for each in inner] for key in inner[0]}
    else:
        rows, columns = inner[0], {key: list(each.values()) for key, each in value.items()}
    index = {} if "index" in columns or _count(rows) else {"index": list(rows)}
    return {**index, **columns}, ()


def _have_same_keys(values: list[Any]) -> bool:
    """Whether these are objects, two or more, of cells under the same names, at least one."""
    if len(values) < 2 or not all(
        isinstance(each, dict) and each and each.keys() == values[0].keys() for each in values
    ):
        return False
    return all(_is_scalar(cell) or isinstance(cell, list) for each in values for cell in each.values())


def _count(names: dict[str, Any]) -> bool:
    """Whether names only count the rows."""
    return list(names) == [str(place) for place in range(len(names))]


def _of_lone_lists(value: dict[str, Any]) -> tuple[Columns, tuple[str, ...]] | None:
    """Lists, which should be of one length, beside values that are none."""
    lists = [key for key, each in value.items() if isinstance(each, list)]
    if value and (not lists or (len(lists) == 1 and len(value) > 1)):
        return None
    return {key: value[key] for key in lists}, _passed_over(value, lists)


def _passed_over(value: dict[str, Any], taken: list[str]) -> tuple[str, ...]:
    left = [key for key in value if key not in taken]
    return (f"Not used: {', '.join(left[:12])}.",) if left else ()


def _is_scalar(cell: Any) -> bool:
    return cell is None or isinstance(cell, (str, int, float))


def _is_single(cell: Any) -> bool:
    """Whether a value holds nothing that could be of several samples."""
    return _is_scalar(cell) or (isinstance(cell, dict) and all(map(_is_scalar, cell.values())))
