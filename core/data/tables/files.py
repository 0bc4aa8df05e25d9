"""How do bytes that somebody else wrote become a table? Read up to a limit, unpacked, and parsed by their ending.

`delimited` reads lines of text with something between the cells, `npz` and `records` what is no such text.
"""

import gzip
import io
import zlib
from pathlib import Path, PurePath
from typing import Protocol, runtime_checkable

from core.data.errors import DataError
from core.data.limits import MIB, Archive, Limits
from core.data.tables.delimited import parse_delimited
from core.data.tables.npz import parse_arrays
from core.data.tables.packed import only_table, parse_workbook
from core.data.tables.records import parse_json, parse_jsonl, parse_parquet
from core.data.tables.table import Table

TABLES = {
    ".tsv": parse_delimited,
    ".tab": parse_delimited,
    ".csv": parse_delimited,
    ".txt": parse_delimited,
    ".json": parse_json,
    ".jsonl": parse_jsonl,
    ".ndjson": parse_jsonl,
    ".parquet": parse_parquet,
    ".xlsx": parse_workbook,
}
_DELIMITED = tuple(ending for ending, parse in TABLES.items() if parse is parse_delimited)
ARRAYS = (".npz", ".npy")


@runtime_checkable
class BinaryFile(Protocol):
    """A file that is open for reading bytes, such as an upload; that it has a name is checked when it is read."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes."""
        ...

    def seek(self, offset: int, /) -> int:
        """Go to a position."""
        ...


File = str | Path | BinaryFile


def read_table(file: File, *, limits: Limits | None = None, header_needed: bool = True) -> Table:
    """Read a TSV, CSV, JSON or Parquet file as columns, whatever they mean; these may be packed with gzip.

    Unless a header is needed, TSV and CSV may lack one, the arrays of NPZ and NPY are columns too, and a zip archive
    may hold one of all these.

    >>> import io
    >>> file = io.BytesIO(b"size;class\\n1;x\\n2;y\\n")
    >>> file.name = "sizes.csv"
    >>> read_table(file).strings("class")
    ['x', 'y']
    """
    limits = limits or Limits()
    name = file_name(file)
    packed = name.lower().endswith(".gz")
    ending = PurePath(name[:-3] if packed else name).suffix.lower()
    is_array = ending in ARRAYS and not header_needed
    is_zip = ending == ".zip" and not packed and not header_needed
    known = (*TABLES, *(() if header_needed else ARRAYS))
    if ending not in TABLES and not is_array and not is_zip:
        raise DataError(f"{name}: this is no table. Tables end in {', '.join(known)}, or in these and .gz.")
    content = read_bytes(file, limits)
    if is_zip:
        return read_table(
            _named(*only_table(Archive(content, name, limits), known)), limits=limits, header_needed=header_needed
        )
    if packed:
        content = unpack_gzip(content, name, limits)
    if is_array:
        return parse_arrays(content, name.removesuffix(".gz"), limits)
    if ending in _DELIMITED:
        return parse_delimited(content, name, limits, header_needed=header_needed)
    return TABLES[ending](content, name, limits)


def _named(name: str, content: bytes) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


def file_name(file: File) -> str:
    """The name of a file without its folder, whether it is given by its path or open.

    >>> file_name("folder/scores.tsv")
    'scores.tsv'
    """
    name = file if isinstance(file, (str, Path)) else getattr(file, "name", None)
    if not isinstance(name, (str, Path)):
        raise DataError("The file has no name. Its ending says what is in it, such as scores.tsv.")
    return Path(name).name


def read_bytes(file: File, limits: Limits) -> bytes:
    """The whole content of a file given by its path or open for reading bytes; DataError beyond the limit or if empty.

    >>> read_bytes(io.BytesIO(b"id,label"), Limits())
    Traceback (most recent call last):
    core.data.errors.DataError: The file has no name. Its ending says what is in it, such as scores.tsv.
    """
    name = file_name(file)
    if isinstance(file, (str, Path)):
        try:
            with open(file, "rb") as stream:
                content = stream.read(limits.file_bytes + 1)
        except OSError as error:
            raise DataError(f"{name}: the file cannot be read ({error.strerror}).") from error
    else:
        file.seek(0)  # an uploaded file may have been read before
        content = file.read(limits.file_bytes + 1)
    if len(content) > limits.file_bytes:
        raise DataError(
            f"{name}: the file is larger than {limits.file_bytes / MIB:g} MiB. Give a smaller one, such as a sample."
        )
    if not content:
        raise DataError(f"{name}: the file is empty.")
    return content


def unpack_gzip(content: bytes, name: str, limits: Limits) -> bytes:
    """What is in a gzip file; DataError where it is damaged, or beyond the limit.

    >>> unpack_gzip(gzip.compress(b"id,label"), "a.csv.gz", Limits())
    b'id,label'
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unpacked = stream.read(limits.unpacked_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name}: this is no gzip file, or a damaged one. Pack it again.") from error
    if len(unpacked) > limits.unpacked_bytes:
        raise DataError(
            f"{name}: unpacks beyond the limit of {limits.unpacked_bytes / MIB:g} MiB. Give a smaller sample."
        )
    if not unpacked:
        raise DataError(f"{name}: there is nothing in this gzip file.")
    return unpacked
