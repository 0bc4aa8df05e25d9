"""What is answered where links open to others? Whoever brings the token of a link that works, and nobody else.

The address of a link holds it; its page then asks for files and for the connection by which it is drawn, for which a
cookie brings it. Nothing that owners may do is passed on at all: other pages, uploads, sign-in.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from ipaddress import IPv6Address, ip_address
from urllib.parse import parse_qs, urlsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.ui import ROOT
from touchstone.ui.shell import sign_in
from touchstone.ui.shell.addresses import SHARED, TOKEN, first_page

COOKIE = "touchstone_link"
"""What else a page of a link asks for brings the token of the link that was opened last in this browser."""
AT_ONCE, EACH_SECOND = 600, 10
"""How many requests an address may make: so many, and so many more each second. A page takes about a hundred."""
MOST_TABS, MOST_TABS_OF_ALL = 10, 60
"""How many pages may be open: of an address, and of all together."""
SECONDS_BELIEVED = 2.0
"""So long a link that was found to work is taken to, for what its page asks for."""
SECONDS_BETWEEN_NOTES = 60.0
NOTHING_ELSE = "Only links to shared results are answered here. Open the whole address that you were sent."
TOO_MANY = "Too many requests came from your address. Wait a minute, then open the link again."
TOO_MANY_TABS = "Too many pages are open here. Close some that you no longer need, or try again later."
_PARTS = ("static/", "media/")
_NAMES = ("_stcore/health", "_stcore/host-config", "favicon.png")
_STREAM = "_stcore/stream"


class Allowance:
    """How much each address may ask for: so much at once, and so much more each second.

    >>> allowance = Allowance(2, 1, clock=iter([0, 0, 0, 1]).__next__)
    >>> [allowance.spend("10.0.0.5") for _ in range(4)]
    [True, True, False, True]
    """

    MOST_ADDRESSES = 10_000

    def __init__(self, at_once: float, each_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.at_once, self.each_second, self.clock = at_once, each_second, clock
        self._left: dict[str, tuple[float, float]] = {}
        """What an address had left when it asked last, and when that was."""

    def spend(self, who: str) -> bool:
        """Whether an address may ask for one thing more, which then counts."""
        now = self.clock()
        left, since = self._left.pop(who, (self.at_once, now))
        left = min(self.at_once, left + (now - since) * self.each_second)
        if len(self._left) >= self.MOST_ADDRESSES:
            del self._left[next(iter(self._left))]  # the one that has not asked for longest
        self._left[who] = (left - 1 if left >= 1 else left, now)
        return left >= 1


class Links:
    """Which tokens work, as was asked a moment ago or is now."""

    def __init__(self) -> None:
        self._worked: dict[str, float] = {}
        """When a token was found to work."""

    async def trouble(self, token: str, *, anew: bool) -> HTMLResponse | None:
        """What is said of a token that does not work; `anew` asks whatever was found a moment ago, and notes it."""
        now = time.monotonic()
        self._worked = {known: at for known, at in self._worked.items() if now - at <= SECONDS_BELIEVED}
        if token in self._worked and not anew:
            return None
        trouble = await run_in_threadpool(_trouble, token, note=anew)
        if trouble is None:
            self._worked[token] = now
        return trouble


class OnlyLinks:
    """Answers whoever brings the token of a link that works, and lets them ask for no more than its page takes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.allowance, self.tabs = app, Allowance(AT_ONCE, EACH_SECOND), Counter[str]()
        self.links = Links()
        self._noted = float("-inf")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with a sentence; a websocket is closed before it was accepted."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refused = await self._refused(scope)
        if refused is not None and scope["type"] == "http":
            await refused(scope, receive, send)
        elif refused is not None:
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "websocket":
            await self._tab(scope, receive, send)
        else:
            await self.app(scope, receive, with_cookie(given, send) if (given := opened(scope)) else send)

    async def _refused(self, scope: Scope) -> HTMLResponse | None:
        """What a request is answered that is not passed on."""
        who = _who(scope)
        if not self.allowance.spend(who):
            self._note_too_many()
            return refused_page(429, title="Too many requests", sentence=TOO_MANY, headers={"retry-after": "60"})
        opening = opened(scope)
        token = opening or (brought(scope) if belongs_to_a_page(scope) else None)
        if token is None:
            return refused_page(403, title="Open the whole link", sentence=NOTHING_ELSE)
        trouble = await self.links.trouble(token, anew=opening is not None)
        if trouble is not None:
            return trouble
        if (opening or scope["type"] == "websocket") and (
            self.tabs[who] >= MOST_TABS or self.tabs.total() >= MOST_TABS_OF_ALL
        ):
            return refused_page(429, title="Too many pages", sentence=TOO_MANY_TABS, headers={"retry-after": "60"})
        return None

    def _note_too_many(self) -> None:
        """Have it written down that somebody asks too much, once a minute: the log must not fill the disk for it."""
        from touchstone.core.workspace import events

        now = time.monotonic()
        if now - self._noted >= SECONDS_BETWEEN_NOTES:
            self._noted = now
            events.note("too_many_requests")

    async def _tab(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page that is open: it counts as long as it is, and whoever asks too much of it waits."""
        who = _who(scope)

        async def slowly() -> Message:
            message = await receive()
            while message["type"] == "websocket.receive" and not self.allowance.spend(who):
                await asyncio.sleep(1 / EACH_SECOND)
            return message

        self.tabs[who] += 1
        try:
            await self.app(scope, slowly, send)
        finally:
            self.tabs -= Counter({who: 1})


def opened(scope: Scope) -> str | None:
    """The token in the address of a link that a browser opens; None where it asks for something else."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != first_page() + SHARED:
        return None
    given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(TOKEN)
    return given[-1] if given else None


def _trouble(token: str, *, note: bool) -> HTMLResponse | None:
    """What is said of a token that does not work, or of which nobody can say it now; None of one that works.

    Pages note that theirs works; that one does not is noted here, if asked for.
    """
    from touchstone.core.workspace import (
        WorkspaceError,
        events,  # not in the launcher, which is light
    )
    from touchstone.core.workspace.access import DeadLink, link_id
    from touchstone.ui.shell import session

    try:
        session.shared(token)
    except DeadLink as problem:
        if note:
            events.note("link_asked", link=events.short(link_id(token)), works=False)
        return refused_page(403, title="This link does not work", sentence=str(problem))
    except WorkspaceError as problem:
        return refused_page(503, title="Try again later", sentence=str(problem))
    return None


def belongs_to_a_page(scope: Scope) -> bool:
    """Whether the page of a link asks for this: files, or the connection by which it is drawn, opened by itself."""
    name = scope["path"].removeprefix(first_page())
    if scope["type"] == "http":
        return scope["method"] in ("GET", "HEAD") and (name in _NAMES or name.startswith(_PARTS))
    sent = Headers(scope=scope)
    secure = scope.get("scheme") in ("https", "wss")
    ours = [f"{'https' if secure else 'http'}://{host.lower()}" for host in sent.getlist("host")]
    return name == _STREAM and [origin.lower() for origin in sent.getlist("origin")] == ours


def brought(scope: Scope) -> str | None:
    """The token in the cookie of a browser that opened a link."""
    try:
        morsel = SimpleCookie("; ".join(Headers(scope=scope).getlist("cookie"))).get(COOKIE)
    except CookieError:
        return None
    return morsel.value if morsel is not None else None


def with_cookie(token: str, send: Send) -> Send:
    """The same answer, which gives a browser the token for all that the page of a link asks for."""

    async def and_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = SimpleCookie({COOKIE: token})
            given[COOKIE].update({"path": "/", "httponly": True, "samesite": "Lax"})
            MutableHeaders(scope=message).append("set-cookie", given[COOKIE].OutputString())
        await send(message)

    return and_cookie


def _who(scope: Scope) -> str:
    """Who asks: an address, of IPv6 the network of 64 bits to which it belongs, for one machine has all of them.

    >>> given = "192.168.1.7", "2001:db8::1:7", "::1", "::ffff:192.168.1.7"
    >>> [_who({"client": (address, 50_000)}) for address in given]
    ['192.168.1.7', '2001:db8::', '::', '192.168.1.7']
    """
    given = scope["client"][0] if scope.get("client") else ""
    try:
        address = ip_address(given.partition("%")[0])
    except ValueError:
        return given
    if address.version == 4:
        return given
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))


def refused_page(
    status: int, template: str = "refused", *, headers: dict[str, str] | None = None, **values: object
) -> HTMLResponse:
    """A page in the place of one that is not given, which says why; no browser keeps it."""
    from touchstone.core.report.markup import render  # not in the launcher, which is light

    page = render(f"ui/shell/{template}.html", **values)
    return HTMLResponse(page, status, {"cache-control": "no-store", **(headers or {})})


# Who else in the network gets an answer, where nobody signs in? Whoever has a link, in a process of its own.


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
