"""The app as people start it, in a process of its own with a home folder of its own; used by tests and benchmarks."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.core.data.home import write_whole
from touchstone.core.workspace import access
from touchstone.core.workspace.access import derived

LINKS = "TOUCHSTONE_LINKS"
"""The setting by which links open to others; its module draws pages, and workers of tests import this one."""
ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@dataclass(frozen=True)
class Server:
    """A running `streamlit run app.py`."""

    url: str
    home: Path
    process: int
    """Its number; its workers have numbers of their own."""


CERTIFICATE = "STREAMLIT_SERVER_SSL_CERT_FILE"
"""The setting of the environment with which a server speaks TLS."""
SECRET = b"of no home but those of tests, " * 2
"""What each home of `serve` is given: one cookie opens all of them."""


def cookies() -> list[Any]:
    """What a browser has that was let in by the printed address of any server of `serve`."""
    name, value = f"touchstone_{derived(SECRET, 'name')[:8]}", derived(SECRET, "cookie")
    return [{"name": name, "value": value, "domain": "127.0.0.1", "path": "/", "httpOnly": True, "sameSite": "Lax"}]


def chromium() -> str:
    """Where the browser is; fails where there is none, for what was not tried has not passed."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found, "no chromium found: install it (Debian/Ubuntu: apt install chromium)"
    return found


SECONDS_TO_START = SECONDS_TO_STOP = 180
"""After so long a server that does not answer, or does not end, is given up; usually it takes three."""
SECONDS_TO_FOLLOW = 60
"""The same for what it started itself, which ends after it (multiprocessing's own helper, for one)."""


class serve:
    """Context manager: start the app as `make run` does, wait until it answers, stop it, look for leftovers.

    `secrets` gives the text of secrets.toml for a server at this address; `settings` are of the environment.
    """

    def __init__(
        self, home: Path, *, secrets: Callable[[str], str] | None = None, settings: Mapping[str, str] | None = None
    ):
        self.home, self.secrets, self.settings = home, secrets, settings or {}

    def __enter__(self) -> Server:
        port = free_port()
        url = f"{'https' if CERTIFICATE in self.settings else 'http'}://127.0.0.1:{port}"
        flags = []
        if self.secrets is not None:
            (self.home / "secrets.toml").write_text(self.secrets(url))
            flags = ["--secrets.files", str(self.home / "secrets.toml")]
        write_whole(self.home / access.SECRET, SECRET)
        self.log = open(self.home / "server.log", "w")
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "streamlit", "run", "app.py"),
                *("--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"),
                *flags,
            ],
            cwd=ROOT,
            env={**os.environ, "TOUCHSTONE_HOME": str(self.home), **self.settings},
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a session of its own, so that what it leaves behind can be found
        )
        wait_for(f"{url}/_stcore/health", self.process, self.home / "server.log")
        if door := self.settings.get(LINKS):  # its process begins after the server's own
            wait_for_door(door)
        return Server(url, self.home, self.process.pid)

    def __exit__(self, *_problem: object) -> None:
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=SECONDS_TO_STOP)
            until = time.monotonic() + SECONDS_TO_FOLLOW
            while (left := _alive_in_session(self.process.pid)) and time.monotonic() < until:
                time.sleep(0.1)
            assert not left, f"the server left processes behind: {left}"
        finally:
            self.log.close()
            for process in _alive_in_session(self.process.pid):
                os.kill(process, signal.SIGKILL)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return once a process answers at this address; fails with its log where it has ended or never does."""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=10, context=ssl._create_unverified_context())
        except OSError:  # of which an answer with an error is one, too
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"no answer from {url}: {log.read_text()}")


def wait_for_door(door: str) -> None:
    """Return once somebody listens where links open for others."""
    host, port = door.split(":")
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("nobody listens where links open for others")


def printed_address(server: Server) -> str:
    """The address with its token. It is printed beside the start: a server may answer before, as people's do."""
    until = time.monotonic() + SECONDS_TO_START
    while not (printed := re.findall(r"open at (\S+token=\S+)\n", (server.home / "server.log").read_text())):
        assert time.monotonic() < until, (server.home / "server.log").read_text()
        time.sleep(0.1)
    [address] = printed
    return address


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _alive_in_session(session: int) -> list[int]:
    """Processes of a session (from /proc: no shell, no other package) that are not zombies."""
    alive = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            alive.append(int(folder.name))
    return alive
