"""How much may anybody take of this machine, and a file from somebody else? So much that real data fit.

The environment says it, or else what is usual. `SETTINGS` lists all of that; docs/deployment.md repeats the list, and a
test compares the two. Bytes are read up to the limit here, from a file, out of gzip, or out of a zip archive.
"""

import gzip
import io
import os
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol, runtime_checkable

from touchstone.core.data.errors import DataError, refusing

_CHUNK = 2**20
MIB = 2**20


@dataclass(frozen=True)
class Setting:
    """A limit: what it is usually, in which unit, and of what. None means that only the machine limits it."""

    usual: int | None
    unit: str
    what: str


SETTINGS = {
    "TOUCHSTONE_MOST_UPLOAD": Setting(200, "MiB", "an uploaded file"),
    "TOUCHSTONE_MOST_UNPACKED": Setting(1024, "MiB", "what such a file unpacks to"),
    "TOUCHSTONE_MOST_ROWS": Setting(1_000_000, "rows", "such a file (or images)"),
    "TOUCHSTONE_MOST_COLUMNS": Setting(120_000, "columns", "such a file"),
    "TOUCHSTONE_MOST_OPEN": Setting(1024, "MiB", "the uploads of an open page"),
    "TOUCHSTONE_MOST_OPEN_FILES": Setting(100, "files", "the uploads of an open page"),
    "TOUCHSTONE_MOST_OPEN_IN_ALL": Setting(8192, "MiB", "the uploads of all open pages"),
    "TOUCHSTONE_MOST_STORED": Setting(20_480, "MiB", "all that one owner keeps"),
    "TOUCHSTONE_MOST_TRIALS": Setting(None, "trials", "what one owner has with the workers at once"),
    "TOUCHSTONE_MOST_TRIAL_SECONDS": Setting(3600, "seconds", "a trial"),
    "TOUCHSTONE_MOST_TRIAL_MEMORY": Setting(None, "MiB", "each worker, which runs a trial at a time"),
}


def most(name: str) -> int | None:
    """What a limit is: as its setting says, or as is usual; None where there is no limit.

    Raises DataError where the setting is no number from 1.

    >>> from unittest.mock import patch
    >>> with patch.dict("os.environ", TOUCHSTONE_MOST_ROWS="5000"):
    ...     most("TOUCHSTONE_MOST_ROWS")
    5000
    >>> with patch.dict("os.environ", TOUCHSTONE_MOST_ROWS="many"):
    ...     most("TOUCHSTONE_MOST_ROWS")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: TOUCHSTONE_MOST_ROWS is 'many'. It has to be a number of rows from 1, or ...
    """
    setting, text = SETTINGS[name], os.environ.get(name, "").strip()
    if not text:
        return setting.usual
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise DataError(f"{name} is {text!r}. It has to be a number of {setting.unit} from 1, or to be left out.")
    return int(text)


@dataclass(frozen=True)
class Limits:
    """The most that is read: bytes of the file, bytes that it unpacks to, samples (rows or images), columns of a table.

    What is not said is what the settings say (`SETTINGS`).

    >>> Limits(samples=10).samples
    10
    """

    file_bytes: int = field(default_factory=lambda: MIB * _set("TOUCHSTONE_MOST_UPLOAD"))
    unpacked_bytes: int = field(default_factory=lambda: MIB * _set("TOUCHSTONE_MOST_UNPACKED"))
    samples: int = field(default_factory=lambda: _set("TOUCHSTONE_MOST_ROWS"))
    columns: int = field(default_factory=lambda: _set("TOUCHSTONE_MOST_COLUMNS"))

    def check_rows(self, name: str, n_rows: int) -> None:
        """DataError where a table has more rows than are read.

        >>> Limits(samples=2).check_rows("genes.csv", 3)
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: genes.csv: more than 2 rows. Give a smaller sample.
        """
        if n_rows > self.samples:
            raise DataError(f"{name}: more than {self.samples:,} rows. Give a smaller sample.")

    def check_columns(self, name: str, n_columns: int) -> None:
        """DataError where a table has more columns than are read.

        >>> Limits(columns=2).check_columns("genes.csv", 3)
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: genes.csv: 3 columns, and at most 2 are read. Leave out those that ...
        """
        if n_columns > self.columns:
            raise DataError(
                f"{name}: {n_columns:,} columns, and at most {self.columns:,} are read. Leave out those that matter "
                "least, such as features that hardly vary."
            )


def _set(name: str) -> int:
    limit = most(name)
    assert limit is not None, f"{name} is always limited"
    return limit


@runtime_checkable
class BinaryFile(Protocol):
    """A file that is open for reading bytes, such as an upload; that it has a name is checked when it is read."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes."""

    def seek(self, offset: int, /) -> int:
        """Go to a position."""


File = str | Path | BinaryFile


def opened(content: bytes, name: str) -> io.BytesIO:
    """Bytes as a file that is open for reading, and has a name.

    >>> file_name(opened(b"id,label", "scores.csv"))
    'scores.csv'
    """
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
    touchstone.core.data.errors.DataError: The file has no name. Its ending says what is in it, such as scores.tsv.
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
        raise DataError(f"{name}: the file is empty. Write it again, or choose another.")
    return content


def unpack_gzip(content: bytes, name: str, limits: Limits) -> bytes:
    """What is in a gzip file; DataError where it is damaged, or beyond the limit.

    >>> unpack_gzip(gzip.compress(b"id,label"), "a.csv.gz", Limits())
    b'id,label'
    """
    with refusing(f"{name}: this is no gzip file, or a damaged one. Pack it again.", OSError, EOFError, zlib.error):
        unpacked = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limits.unpacked_bytes + 1)
    if len(unpacked) > limits.unpacked_bytes:
        raise DataError(
            f"{name}: unpacks beyond the limit of {limits.unpacked_bytes / MIB:g} MiB. Give a smaller sample."
        )
    if not unpacked:
        raise DataError(f"{name}: there is nothing in this gzip file. Pack it again, or choose another.")
    return unpacked


class Archive:
    """A zip file from somebody else: nothing is ever extracted to disk, and bytes are counted as they come out.

    What the entries say about their own size is not believed. An entry that climbs out of its folder is refused.

    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("cats/1.txt", "Minka")
    >>> Archive(stream.getvalue(), "pets.zip", Limits()).read("cats/1.txt")
    b'Minka'
    """

    def __init__(self, content: bytes, name: str, limits: Limits):
        self.name = name
        self._limit = limits.unpacked_bytes
        self._left = limits.unpacked_bytes
        damaged = f"{name}: this is no zip archive, or a damaged one. Make it again, or upload it again."
        with refusing(damaged, zipfile.BadZipFile, ValueError, NotImplementedError):
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        self._entries = {}
        for entry in self._zip.infolist():
            path = self._path(entry.filename)
            if entry.is_dir():
                continue
            if path in self._entries:
                raise DataError(f"{name}: {path} is in the archive twice. Leave one of them out.")
            self._entries[path] = entry

    def _path(self, entry_name: str) -> str:
        if not entry_name:
            raise DataError(f"{self.name}: an entry of the archive has no name. Make the archive again.")
        path = PurePosixPath(entry_name.replace("\\", "/"))
        has_drive = str(path)[1:2] == ":"
        if path.is_absolute() or ".." in path.parts or has_drive:
            raise DataError(
                f"{self.name}: entry {entry_name!r} leads out of the archive's folder. "
                "Pack the folder again, with paths that start inside it."
            )
        return str(path)

    @property
    def paths(self) -> list[str]:
        """The files in the archive, sorted, with / between folders."""
        return sorted(self._entries)

    def read(self, path: str) -> bytes:
        """Unpack one file; DataError where it is damaged or encrypted, or where all so far exceed the limit."""
        whole = io.BytesIO()  # which, unlike a list that is joined, never holds everything twice
        damaged = f"{self.name}: {path} cannot be unpacked; it is damaged or encrypted. Make the archive again."
        # By whatever error: zipfile lets through all that a decompressor raises.
        with refusing(damaged), self._zip.open(self._entries[path]) as stream:
            while chunk := stream.read(min(_CHUNK, self._left + 1)):
                self._left -= len(chunk)
                if self._left < 0:
                    raise DataError(
                        f"{self.name}: {path} unpacks beyond the limit of {self._limit / MIB:g} MiB in all. "
                        "Give a smaller sample of the data."
                    )
                whole.write(chunk)
        return whole.getvalue()
