"""What a child may do: answer, and nothing else. That it ends within its limits is shown where files and models are."""

import os
import shutil
import socket
import subprocess

import pytest

from touchstone.core.data.sandbox import Answer, Child


def caller(port: str) -> Answer:
    """Says whether it reaches whoever listens at a port of this machine, and as whom it tried."""

    def answer(_: bytes) -> bytes:
        try:
            socket.create_connection(("127.0.0.1", int(port)), timeout=20).close()
        except OSError:
            return f"nobody, as {os.getuid()}".encode()
        return f"somebody, as {os.getuid()}".encode()

    return answer


def can_do_without() -> bool:
    """Whether the system lets a process leave the network."""
    unshare = shutil.which("unshare")
    ways = [] if unshare is None else [[unshare, "-n", "true"], [unshare, "-rn", "true"]]
    return any(subprocess.run(way, capture_output=True).returncode == 0 for way in ways)


def test_a_child_has_no_network():
    if not can_do_without():
        pytest.skip("this system lets no process leave its network")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        assert caller(port)(b"") == f"somebody, as {os.getuid()}".encode()
        child = Child("a model", caller, port, remedy="")
        assert child.ask(b"", seconds=60, doing="asking it") == f"nobody, as {os.getuid()}".encode()
        child.end()
