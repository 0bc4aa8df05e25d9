"""What happens on this server? For whoever looks after it one line of JSON for each event, where a setting asks for it.

A line holds what `EVENTS` lists and nothing else: no token, no name of a person, a file or a data set, no address of a
browser, and of a fault its type and its place but not its words, which may quote any of these.
"""

import json
import os
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

SETTING = "TOUCHSTONE_LOG"
"""The setting that names the file; - is standard error."""
EVENTS = {
    "link_asked": ("link", "works"),
    "too_many_requests": (),
    "signed_in": ("sign_in",),
    "signed_out": ("sign_in",),
    "run_started": ("run", "kind", "n_trials", "n_done"),
    "run_finished": ("run", "kind", "state", "seconds"),
    "run_failed": ("run", "kind", "type", "seconds"),
    "fault": ("type", "where"),
}
"""What is written down, and what of it, beside the time; docs/deployment.md repeats the list."""
_ROOT = Path(__file__).resolve().parents[2]


def note(event: str, **facts: str | int | float) -> None:
    """Write an event down, where a setting says so; where it cannot be written, work goes on without."""
    if set(facts) != set(EVENTS[event]):
        raise TypeError(f"of {event} {EVENTS[event]} is written down, not {tuple(facts)}")
    to = os.environ.get(SETTING, "")
    if not to:
        return
    when = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"time": when, "event": event, **{name: facts[name] for name in EVENTS[event]}}) + "\n"
    with suppress(OSError):
        if to == "-":
            print(line, end="", file=sys.stderr, flush=True)
        else:
            _append(to, line.encode())


def note_fault(problem: BaseException) -> None:
    """Write down that something happened that nobody foresaw."""
    note("fault", type=type(problem).__name__, where=_where(problem))


def short(name: str) -> str:
    """So much of a hash that tells one from another and is no key to anything.

    >>> short("e3316e2bd0b0")
    'e3316e2b'
    """
    return name[:8]


def _append(file: str, line: bytes) -> None:
    """Add a line at once, so that those of several processes stay whole, to a file that may be moved meanwhile."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _where(problem: BaseException) -> str:
    """The last place of ours on the way to a fault; "" where there is none."""
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        file = Path(frame.filename).resolve()  # past the links of a checkout
        if file.is_relative_to(_ROOT) and "site-packages" not in file.parts:
            return f"{file.relative_to(_ROOT).as_posix()}:{frame.lineno}"
    return ""
