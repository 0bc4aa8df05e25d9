"""Where does Touchstone keep what outlives a page? In TOUCHSTONE_HOME, or else in ~/.touchstone."""

import os
import tempfile
from pathlib import Path

from touchstone.core.data.errors import DataError


def home() -> Path:
    """Touchstone's own folder as an absolute path; made, readable by its owner only, where it is missing.

    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", TOUCHSTONE_HOME=f"{folder}/mine"):
    ...     home().name
    'mine'
    """
    folder = Path(os.environ.get("TOUCHSTONE_HOME") or "~/.touchstone").expanduser().absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder}: this folder cannot be made ({error.strerror}). "
            "Set TOUCHSTONE_HOME to a folder that Touchstone may write to."
        ) from error
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that other processes see either whole or not at all: under a temporary name first, then renamed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "note.txt", b"kept")
    ...     (Path(folder) / "note.txt").read_bytes()
    b'kept'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
