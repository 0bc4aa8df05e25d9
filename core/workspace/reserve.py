"""How is something deleted, or a reason noted, when the disk is full? Out of a little room that was kept for that."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from touchstone.core.workspace.errors import DiskFull

RESERVED_BYTES = 4 << 20
"""Enough for the pages of the database that a deletion touches."""

Result = TypeVar("Result")


class Reserve:
    """A file that only takes up room, and is given up when there is none left.

    Examples
    --------
    >>> import tempfile
    >>> reserve = Reserve(Path(tempfile.mkdtemp()) / "reserve")
    >>> reserve.hold()
    >>> reserve.with_room(lambda: "deleted")
    'deleted'
    """

    def __init__(self, file: Path):
        self.file = file

    def hold(self) -> None:
        """Keep the room, where it is not kept yet and there is any; nothing is said where there is not."""
        with suppress(OSError):
            if self.file.exists() and self.file.stat().st_size == RESERVED_BYTES:
                return
            try:
                with os.fdopen(os.open(self.file, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as stream:
                    stream.write(bytes(RESERVED_BYTES))
                    stream.flush()
                    os.fsync(stream.fileno())
            except OSError:
                self.file.unlink(missing_ok=True)
                raise

    def with_room(self, change: Callable[[], Result]) -> Result:
        """What a change gives; where the disk is full, it is made again with the room that was kept."""
        try:
            return change()
        except DiskFull:
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
            result = change()
        self.hold()
        return result
