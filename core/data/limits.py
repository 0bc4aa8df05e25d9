"""How much may a file from somebody else take? So much that real data fit, so little that the server survives."""

import io
import zipfile
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from core.data.errors import DataError
from core.data.settings import most

_CHUNK = 2**20
MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """The most that is read: bytes of the file, bytes that it unpacks to, samples (rows or images), columns of a table.

    What is not said is what the settings say (`core.data.settings`).

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
        core.data.errors.DataError: genes.csv: more than 2 rows. Give a smaller sample.
        """
        if n_rows > self.samples:
            raise DataError(f"{name}: more than {self.samples:,} rows. Give a smaller sample.")

    def check_columns(self, name: str, n_columns: int) -> None:
        """DataError where a table has more columns than are read.

        >>> Limits(columns=2).check_columns("genes.csv", 3)
        Traceback (most recent call last):
        core.data.errors.DataError: genes.csv: 3 columns, and at most 2 are read. Leave out those that matter least, ...
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
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise DataError(
                f"{name}: this is no zip archive, or a damaged one. Make it again, or upload it again."
            ) from error
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
        try:
            with self._zip.open(self._entries[path]) as stream:
                while chunk := stream.read(min(_CHUNK, self._left + 1)):
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise DataError(
                            f"{self.name}: {path} unpacks beyond the limit of {self._limit / MIB:g} MiB in all. "
                            "Give a smaller sample of the data."
                        )
                    whole.write(chunk)
        except DataError:
            raise
        except Exception as error:  # zipfile lets through whatever a decompressor raises
            raise DataError(
                f"{self.name}: {path} cannot be unpacked; it is damaged or encrypted. Make the archive again."
            ) from error
        return whole.getvalue()
