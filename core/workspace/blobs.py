"""Where do large things live? In files named by their content, so that what is read back is what was written."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from touchstone.core.data.home import write_whole
from touchstone.core.workspace.errors import WorkspaceError, disk_error


class Blobs:
    """A folder of content-addressed files: the name of a blob is the SHA-256 of its bytes.

    Examples
    --------
    >>> import tempfile
    >>> blobs = Blobs(Path(tempfile.mkdtemp()))
    >>> name = blobs.put(b"five bytes")
    >>> blobs.get(name)
    b'five bytes'
    """

    def __init__(self, folder: Path):
        """Raises WorkspaceError where the folder is not there and cannot be made."""
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise disk_error(problem, "be opened") from problem

    def put(self, content: bytes) -> str:
        """Store bytes and return their name. A reader never sees half a blob: it is renamed into place when whole.

        Raises WorkspaceError where the disk is full or may not be written to; nothing is left behind then.
        """
        name = hashlib.sha256(content).hexdigest()
        path = self._path(name)
        try:
            if path.exists() and path.read_bytes() == content:
                return name  # what was cut short or damaged is written again
            write_whole(path, content)
        except OSError as problem:
            raise disk_error(problem, "be stored") from problem
        return name

    def get(self, name: str) -> bytes:
        """The bytes of a blob. Raises WorkspaceError when it is missing or its bytes are no longer those stored."""
        try:
            content = self._path(name).read_bytes()
        except FileNotFoundError:
            raise WorkspaceError(
                f"The stored file {name[:12]} is missing. Delete what it belongs to, and upload or train it again."
            ) from None
        except OSError as problem:
            raise disk_error(problem, "be read") from problem
        if hashlib.sha256(content).hexdigest() != name:
            raise WorkspaceError(
                f"The stored file {name[:12]} is damaged. Delete what it belongs to, and upload or train it again."
            )
        return content

    def n_bytes(self, name: str) -> int:
        """How large a blob is; 0 where it is missing."""
        try:
            return self._path(name).stat().st_size
        except OSError:
            return 0

    def stored(self) -> Iterator[tuple[str, float]]:
        """The name of every blob, and when it was written (seconds since 1970)."""
        for path in self._folder.glob("??/*"):
            if len(path.name) == 64 and path.is_file():
                yield path.name, path.stat().st_mtime

    def delete(self, name: str) -> None:
        """Remove a blob; nothing happens where there is none. Raises WorkspaceError where it cannot be removed."""
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as problem:
            raise disk_error(problem, "be deleted") from problem

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name
