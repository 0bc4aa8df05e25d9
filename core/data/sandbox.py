"""How is something from elsewhere read or asked that may hang, or want gigabytes? In a child process, within limits.

A file of a few kilobytes can unpack to terabytes, hold a loop without end, or crash the library that reads it. The
child has so much time for each question and so much memory and no more, and no network where the system lets it do
without; whatever comes of it there, whoever asked gets a sentence. Bytes go there and back, and nothing is unpickled on
either side.
"""

import io
import json
import os
import pkgutil
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import touchstone
from touchstone.core.data.errors import DataError, RolesNeeded, SizeNeeded
from touchstone.core.data.limits import MIB, Limits, opened

SECONDS_TO_READ = 60
"""What reading a file or a model may take, and asking a model about one batch of samples."""
MOST_BYTES = 4 << 30
"""What a child may take of memory."""
SECONDS_AT_REST = 60
"""A child that nobody asks for so long ends."""

Answer = Callable[[bytes], bytes]

_MOST_ANSWERED = 1 << 29  # bytes: what comes back shall not fill the memory here
_SECONDS_TO_START = 120  # besides: a machine that is busy elsewhere is not the file's fault
_ROOT = Path(touchstone.__file__).resolve().parents[1]
_ANSWER, _REFUSAL, _NO_MEMORY = b"a", b"r", b"m"
_BEGINNING = Path(__file__).with_name("without_network.py")


class Refused(DataError):
    """What a child was asked raised an error; the message is its own."""


class Stopped(DataError):
    """A child took more time or memory than it may, or was ended."""


class AtRest(Stopped):
    """A child had ended by itself, since nobody had asked it for a while."""


class Child:
    """A process that calls `answering(*arguments)`, a function of some module, for what then answers messages.

    What that function imports and reads is outside of the limits. `name` is what is read or asked, and `remedy` what
    somebody may do where it takes too much: both stand in the sentences.

    Examples
    --------
    >>> from operator import methodcaller
    >>> Child("pets.csv", methodcaller, "upper", remedy="Give a smaller one.").ask(b"minka", seconds=9, doing="it")
    b'MINKA'
    """

    def __init__(
        self,
        name: str,
        answering: Callable[..., Answer],
        *arguments: str,
        remedy: str,
        most_bytes: int | None = None,
    ):
        self.name, self.remedy = name, remedy
        self.most_bytes = MOST_BYTES if most_bytes is None else most_bytes
        self._pipe, theirs = Pipe()
        function = f"{answering.__module__}:{answering.__qualname__}"
        facts = [str(theirs.fileno()), str(self.most_bytes), str(SECONDS_AT_REST), function, *arguments]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, str(_BEGINNING), *facts],
                cwd=_ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self.end: Callable[[], object] = weakref.finalize(self, _end, self._pipe, self.process)

    def ask(self, message: bytes, *, seconds: int, doing: str) -> bytes:
        """Give the answer to a message, which may take so many seconds; `doing` says what would have taken longer.

        Raises Refused with what was raised there, and Stopped (or AtRest) where the process ended.
        """
        try:
            self._pipe.send_bytes(str(seconds).encode())
            self._pipe.send_bytes(message)
            if not self._pipe.poll(seconds + _SECONDS_TO_START):
                raise TimeoutError
            answer = self._pipe.recv_bytes(_MOST_ANSWERED)
        except (EOFError, OSError) as problem:
            self.process.kill()
            status = self.process.wait()
            if status == 0:
                raise AtRest(f"{self.name}: the process that it was in had ended.") from None
            was_late = isinstance(problem, TimeoutError) or status == -signal.SIGALRM
            raise Stopped(self._late(seconds, doing) if was_late else self._ended(status)) from None
        if answer[:1] == _NO_MEMORY:
            raise Stopped(f"{self.name}: it takes more memory than the {self._memory} that it may take. {self.remedy}")
        if answer[:1] == _REFUSAL:
            raise Refused(answer[1:].decode("utf-8", "replace"))
        return answer[1:]

    def _late(self, seconds: int, doing: str) -> str:
        return f"{self.name}: it was stopped, since {doing} took longer than {seconds} seconds. {self.remedy}"

    def _ended(self, status: int) -> str:
        return (
            f"{self.name}: the process that tried it was ended ({status}), most likely for lack of memory: it may take "
            f"{self._memory}. {self.remedy}"
        )

    @property
    def _memory(self) -> str:
        return f"{self.most_bytes / 2**30:.3g} GB"


def limit_memory(most_bytes: int) -> None:
    """Let this process take so many bytes more than it has; nothing where the system knows of no limits."""
    try:
        import resource

        has = int(Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_DATA, (has + most_bytes, has + most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass


def _end(pipe: Connection, process: subprocess.Popen[bytes]) -> None:
    pipe.close()
    process.kill()
    process.wait()


def _serve(pipe: Connection, answer: Answer, most_bytes: int, seconds_at_rest: int) -> None:
    """What the process does: answer message after message until nobody asks."""
    limit_memory(most_bytes)
    try:
        while True:
            seconds, message = int(pipe.recv_bytes()), pipe.recv_bytes()
            signal.alarm(seconds)
            try:
                answered = _ANSWER + answer(message)
            except Exception as problem:  # libraries that meet a file from elsewhere may raise anything
                answered = _NO_MEMORY if _lacks_memory(problem) else _REFUSAL + _words(problem).encode()
            signal.alarm(0)
            pipe.send_bytes(answered)
            if not pipe.poll(seconds_at_rest):
                return
    except (EOFError, OSError):  # nobody is there any more
        return


def _lacks_memory(problem: BaseException | None) -> bool:
    """Whether an error comes from a lack of memory, whatever was made of it on its way."""
    while problem is not None and not isinstance(problem, MemoryError):
        problem = problem.__cause__ or problem.__context__
    return problem is not None


def _words(problem: Exception) -> str:
    text = str(problem).strip() or repr(problem)
    return text if isinstance(problem, DataError) else text.splitlines()[0]


if __name__ == "__main__":
    _fd, _most_bytes, _rest, _function, *_arguments = sys.argv[1:]
    _answer = pkgutil.resolve_name(_function)(*_arguments)
    _serve(Connection(int(_fd)), _answer, int(_most_bytes), int(_rest))
    os._exit(0)  # libraries that are still starting threads may abort on the way out


# Can a file from elsewhere be read here? One that may take much is read in a child process first, within limits.
#
# Packed formats unpack to any size, whatever they say about it, and a hundred thousand columns take half a minute. A
# text of a few megabytes with lines of ordinary length stays within the limits whatever stands in it, and needs no
# child.


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
    read = pkgutil.resolve_name(function)

    def answer(content: bytes) -> bytes:
        with suppress(RolesNeeded, SizeNeeded):  # it can be read, and whoever gave it is asked
            read(opened(content, json.loads(called)))
        return b""

    return answer
