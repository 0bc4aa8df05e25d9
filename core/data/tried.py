"""Can a file from elsewhere be read here? One that may take much is read in a child process first, within limits.

Packed formats unpack to any size, whatever they say about it, and a hundred thousand columns take half a minute. A
text of a few megabytes with lines of ordinary length stays within the limits whatever stands in it, and needs no child.
"""

import importlib
import io
import json
from collections.abc import Callable
from contextlib import suppress

from touchstone.core.data.child import SECONDS_TO_READ, Answer, Child
from touchstone.core.data.errors import DataError, RolesNeeded, SizeNeeded
from touchstone.core.data.limits import MIB, Limits, opened

PACKED = (".gz", ".zip", ".npz", ".xlsx", ".parquet")
"""How files end that may hold more than their size."""
MOST_HERE = 8 * MIB
"""The size beyond which other files, too, are read in a child first."""
MOST_IN_LINE = 64 * 1024
"""The bytes of a line beyond which texts are: so long are those of some ten thousand columns."""

_TIMES = 4  # what reading takes of memory, in units of what a file may unpack to
_LONGEST_NAME = 255
_REMEDY = "Give a smaller sample, or save it as CSV."


def try_file(read: Callable[[io.BytesIO], object], name: str, content: bytes, *, limits: Limits | None = None) -> None:
    """Read the file `name` with `read`, a function of some module, in a child process, if it may take much.

    Afterwards it can be read here. Raises DataError with what was wrong with it, or that it took too long or too much
    memory; a file that only leaves something to be asked passes.

    Examples
    --------
    >>> import gzip
    >>> from touchstone.core.data.tables.datasets import read_dataset
    >>> try_file(read_dataset, "pets.csv.gz", gzip.compress(b"size,class\\n1,cat\\n2,dog\\n"))
    >>> try_file(read_dataset, "pets.csv.gz", b"no such file")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: pets.csv.gz: this is no gzip file, or a damaged one. Pack it again.
    """
    limits = limits or Limits()
    if len(content) > limits.file_bytes or not _may_take_much(name, content):  # the first is refused unread
        return
    function = f"{read.__module__}:{read.__qualname__}"
    called = json.dumps(name[-_LONGEST_NAME:])
    child = Child(name, reading, function, called, remedy=_REMEDY, most_bytes=_TIMES * limits.unpacked_bytes)
    try:
        child.ask(content, seconds=SECONDS_TO_READ, doing="reading it")
    except DataError as problem:
        raise DataError(str(problem)) from None
    finally:
        child.end()


def _may_take_much(name: str, content: bytes) -> bool:
    is_large = len(content) > MOST_HERE or name.lower().endswith(PACKED)
    return is_large or any(len(line) > MOST_IN_LINE for line in content.split(b"\n"))


def reading(function: str, called: str) -> Answer:
    """What the child does: answer a file's content by nothing, where the function can read it."""
    module, _, name = function.partition(":")
    read = getattr(importlib.import_module(module), name)

    def answer(content: bytes) -> bytes:
        with suppress(RolesNeeded, SizeNeeded):  # it can be read, and whoever gave it is asked
            read(opened(content, json.loads(called)))
        return b""

    return answer
