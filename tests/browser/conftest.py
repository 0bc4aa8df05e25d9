"""A real server and a real browser, for what only they can show."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@dataclass(frozen=True)
class Server:
    """A running `streamlit run app.py` with a home folder of its own."""

    url: str
    home: Path
    process: subprocess.Popen


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    """A fresh server; when the tests of a module are done it is stopped, and must leave no process behind."""
    home = tmp_path_factory.mktemp("browser-home")
    with serve(home) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. Fails where there is none: a browser test that did not run has not passed."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no chromium found: install it (Debian/Ubuntu: apt install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab in a browser context of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()


class serve:
    """Context manager: start the app as `make run` does, wait until it answers, stop it, look for leftovers."""

    def __init__(self, home: Path):
        self.home = home

    def __enter__(self) -> Server:
        port = _free_port()
        self.log = open(self.home / "server.log", "w")
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "streamlit", "run", "app.py"),
                *("--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"),
            ],
            cwd=ROOT,
            env={**os.environ, "TOUCHSTONE_HOME": str(self.home)},
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a session of its own, so that what it leaves behind can be found
        )
        url = f"http://127.0.0.1:{port}"
        self._wait(url)
        return Server(url, self.home, self.process)

    def __exit__(self, *_problem: object) -> None:
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
            left = _alive_in_session(self.process.pid)
            assert not left, f"the server left processes behind: {left}"
        finally:
            self.log.close()
            for process in _alive_in_session(self.process.pid):
                os.kill(process, signal.SIGKILL)

    def _wait(self, url: str) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            assert self.process.poll() is None, (self.home / "server.log").read_text()
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=1)
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
            else:
                return
        raise AssertionError(f"no answer from {url}: {(self.home / 'server.log').read_text()}")


def _free_port() -> int:
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
