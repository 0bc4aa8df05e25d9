"""Who else in the network gets an answer, where nobody signs in? Whoever has a link, in a process of its own.

With one setting the app starts itself a second time, at an address that others reach. That process has no owner: its
sessions see what a link shows or nothing, and before it stands `ui.shell.only_links`. What visitors ask of it takes
nothing from the process of the owner.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st

from touchstone.ui import ROOT
from touchstone.ui.shell import sign_in
from touchstone.ui.shell.addresses import first_page

SETTING = "TOUCHSTONE_LINKS"
"""The setting that opens links to others: 1, or the address at which they reach this machine."""
ONLY = "TOUCHSTONE_ONLY_LINKS"
"""In the environment of the process that answers nothing else."""
PORT = 8502
SECONDS_TO_END = 5
NO_ADDRESS = (
    f"Touchstone does not start: {SETTING} is {{value}}, which is no address. Set it to 1, or to the address at which "
    f"others in the network reach this machine, such as 192.168.1.20:{PORT}."
)
NO_NETWORK = (
    f"Touchstone does not start: {SETTING}=1, and this machine has no address in a network. Connect it, name an "
    f"address ({SETTING}=192.168.1.20:{PORT}), or take the setting away."
)
SIGN_IN = (
    f"Touchstone does not start: {SETTING} is for a Touchstone without sign-in. With it links work for everybody "
    "at its own address. Take the setting away."
)
OPEN_AT = "Links that you share open at {url} for whoever can reach it. Nothing else is answered there."
_process: "subprocess.Popen[bytes] | None" = None
_place = ("", 0)


def only() -> bool:
    """Whether this process answers links alone, and has no owner."""
    return os.environ.get(ONLY) == "1"


def place() -> tuple[str, int] | None:
    """The address at which links are answered to others, and its port; None where that is off.

    Raises SystemExit with a sentence where the setting cannot be meant so.
    """
    value = os.environ.get(SETTING, "").strip()
    if value in ("", "0"):
        return None
    if sign_in.is_set_up():
        raise SystemExit(SIGN_IN)
    if value == "1":
        return _own_address(), PORT
    try:
        there = urlsplit(f"//{value}")
        host, port = ip_address(there.hostname or ""), there.port or PORT
    except ValueError:
        raise SystemExit(NO_ADDRESS.format(value=value)) from None
    if host.is_unspecified or there.path or there.username is not None:
        raise SystemExit(NO_ADDRESS.format(value=value))
    return str(host), port


def _own_address() -> str:
    """The address by which this machine would speak to others: no packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of examples, which nobody has
            address = probe.getsockname()[0]
        except OSError:
            raise SystemExit(NO_NETWORK) from None
    if ip_address(address).is_loopback:
        raise SystemExit(NO_NETWORK)
    return address


def address() -> str | None:
    """Where links open to others now, without the page; None where they do not."""
    return None if _process is None or _process.poll() is not None else _written(*_place)


def is_wanted() -> bool:
    """Whether links should open to others; they do not where their process has ended, and printed why."""
    return _process is not None


def open_door() -> None:
    """Start the process that answers links to others, where the setting says so."""
    global _process, _place
    there = place()
    if there is None:
        return
    host, port = _place = there
    flags = ["--server.address", host, "--server.port", str(port), "--server.headless", "true"]
    for option in ("server.baseUrlPath", "server.sslCertFile", "server.sslKeyFile"):
        if value := st.get_option(option):
            flags += [f"--{option}", str(value)]
    _process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), *flags],
        cwd=ROOT,
        env={**os.environ, ONLY: "1"},
        stdin=subprocess.PIPE,  # which ends with this process, however that ends
    )


def close_door() -> None:
    """End that process."""
    global _process
    if _process is not None:
        _process.terminate()
        try:
            _process.wait(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            _process.kill()
        if _process.stdin is not None:
            _process.stdin.close()
    _process = None


def say() -> None:
    """Print where links open, and end this process when the one that started it has ended."""
    print(
        f"  {OPEN_AT.format(url=_written(st.get_option('server.address'), st.get_option('server.port')))}\n", flush=True
    )
    threading.Thread(target=_end_with_the_owners, daemon=True).start()


def _written(host: str, port: int) -> str:
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{first_page()}"


def _end_with_the_owners() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
