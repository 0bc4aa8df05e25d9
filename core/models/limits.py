"""What may a model from elsewhere take? So much time and memory, and no more: beyond that it ends in a sentence."""

import os
import signal
from pathlib import Path

SECONDS_TO_READ = 60
"""What reading a model may take, and asking it about one batch of samples."""
MOST_BYTES = 4 << 30
"""What it may take of memory."""


def limit_memory(most_bytes: int) -> None:
    """Let this process take so many bytes more than it has; nothing where the system knows of no limits."""
    try:
        import resource

        has = int(Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_DATA, (has + most_bytes, has + most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass


def why_ended(name: str, status: int, took: str, *, most_bytes: int = MOST_BYTES) -> str:
    """Say how a process ended that had a model to read or to ask; `took` says what would have taken too long.

    >>> why_ended("mine.onnx", -14, "reading it took longer than 60 seconds")[:68]
    'mine.onnx: it was stopped, since reading it took longer than 60 seco'
    """
    if status == -signal.SIGALRM:
        return f"{name}: it was stopped, since {took}. Does it hold a loop without end? Export a smaller model."
    return (
        f"{name}: the process that tried it was ended ({status}), most likely for lack of memory: it may take "
        f"{most_bytes >> 30} GB. Export a smaller model."
    )
