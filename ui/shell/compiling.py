"""Who waits for code that is compiled once? Nobody: it is compiled beside the server, from the server's start on."""

import subprocess
import sys
import threading

from touchstone.core.workspace.engine.kernels import are_compiled
from touchstone.ui import ROOT

ONCE = "Starting. This first run after an installation also compiles code, for about half a minute."
_compiler: subprocess.Popen[bytes] | None = None
_lock = threading.Lock()


def begin() -> None:
    """Compile what is not compiled yet, in a process of its own that steps back behind others."""
    global _compiler
    with _lock:
        if _compiler is None and not are_compiled():
            command = [sys.executable, "-m", "touchstone.core.workspace.engine.kernels"]
            # In a session of its own: Ctrl-C is for the server, which ends it (`close`).
            _compiler = subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def is_going_on() -> bool:
    """Whether code is being compiled now."""
    with _lock:
        return _compiler is not None and _compiler.poll() is None


def close() -> None:
    """Stop it, for when the server ends."""
    global _compiler
    with _lock:
        if _compiler is not None:
            _compiler.terminate()
            _compiler.wait(timeout=10)
        _compiler = None
