"""Which process works on a run, and does it still live? Told at once of those on this machine, else by its lease."""

import hashlib
import os
import socket
import uuid
from pathlib import Path


def new_holder() -> str:
    """A name under which this process works on a run: its place, its number and start there, and something unique.

    >>> is_dead(new_holder())
    False
    """
    return f"{_place()}:{os.getpid()}:{_started(os.getpid())}:{uuid.uuid4().hex[:8]}"


def is_dead(holder: str | None) -> bool:
    """Whether the process of this name is known to have ended; False where that cannot be told from here.

    >>> is_dead("another machine:1:2:3"), is_dead(None)
    (False, False)
    """
    place, _, process = (holder or "").rpartition(":")[0].partition(":")
    pid, _, started = process.partition(":")
    return place == _place() != "" and pid.isdigit() and _started(int(pid)) != started


def _place() -> str:
    """What tells this machine, since its last start, and this container from all others; empty where nothing does."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        numbers = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    return hashlib.sha256(f"{socket.gethostname()} {boot} {numbers}".encode()).hexdigest()[:16]


def _started(pid: int) -> str:
    """When a process of this machine started, in its own ticks; empty where none of this number runs."""
    try:
        state, *words = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else words[18]
