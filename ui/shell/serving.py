"""Who may ask this server for anything? Whoever is at this machine; or, with sign-in, whoever can reach it.

Without sign-in everybody who gets an answer is the one local owner. So the server then starts on this machine's own
address only, and answers only what a browser on this machine asked for itself: a proxy in front of it would hand the
local owner's things to everybody.
"""

import base64
import hashlib
import json
import os
import re
from functools import cache
from html.parser import HTMLParser
from ipaddress import ip_address
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from touchstone.ui.shell import only_links, sign_in
from touchstone.ui.shell.addresses import first_page
from touchstone.ui.shell.health import is_about_health

INDEX = Path(st.__file__).parent / "static" / "index.html"
"""The one page that Streamlit serves; all else is drawn by the script in it."""
LOOK = Path(__file__).with_name("look.css")
CLOSED = (
    "Touchstone does not start on this address, {address}: without sign-in, anyone who can reach it could change "
    "everything in it. Set server.address to 127.0.0.1 for this machine alone, or set up sign-in, an [auth] section in "
    ".streamlit/secrets.toml: docs/deployment.md says how."
)
ELSEWHERE = (
    "Touchstone answers at {origin} alone, and what its own pages ask there. Open that address. If you came by it, the "
    "proxy before Touchstone has to pass on Host: docs/deployment.md says how."
)
REFUSED = (
    "Touchstone answers only the person at this machine, at http://localhost or http://127.0.0.1 and without a proxy "
    "in between. For others there is sign-in: docs/deployment.md says how to set it up."
)
NOT_LAUNCHED = "Touchstone is started by `streamlit run app.py`: what this server answers is guarded by nothing else."
LAUNCHED = "TOUCHSTONE_LAUNCHED"
"""In the environment, which outlives modules that are read anew when a file changes."""
FORWARDED = re.compile(
    r"forwarded|via|client-ip|x-real-ip|x-forward.*|x-proxy.*|proxy-.*|x-(client|cluster|original|remote|envoy|azure)-.*"
    r"|x-am[zn].*|x-arr-.*|(true-client|fastly|fly|cf|cdn|ngrok|tailscale)-.*"
)
"""The headers by which proxies, tunnels and content networks say for whom they ask."""
MOST_UPLOAD = "TOUCHSTONE_MOST_UPLOAD"
LOG = "TOUCHSTONE_LOG"
NO_LOG = "Touchstone does not start: {setting} is {file}, which cannot be written ({why})."
NEVER = ("_stcore/metrics", "_stcore/agent/", "_stcore/script-health-check")
"""What Streamlit tells programs of all pages and their memory, which is nobody's business, below the first page."""
NO_SUCH = "There is nothing here."
YEAR = 365 * 86_400
_HERE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


class _InlineScripts(HTMLParser):
    """The texts of the scripts that stand in a page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and "src" not in dict(attrs)
        if self._inside:
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data


def content_policy(page: str) -> str:
    """The Content-Security-Policy under which this page works: its own scripts by their hash, and no others inline.

    Maps of many points need 'unsafe-eval': plotly draws them by WebGL through regl, which writes its own functions.

    >>> content_policy("<script>go()</script><script src='x.js'></script>").split("; ")[1]
    "script-src 'self' 'unsafe-eval' 'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='"
    """
    scripts = _InlineScripts()
    scripts.feed(page)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts.texts]
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", "'unsafe-eval'", *(f"'sha256-{digest}'" for digest in hashes)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return "; ".join(f"{kind} {allowed}" for kind, allowed in rules.items())


@cache
def index() -> str:
    """Streamlit's page, and in it what else would come late.

    Where the server is: else each page asks below its own address first, in vain. And our style sheet, behind all of
    Streamlit's: drawn by the router, it came up to a second after what it is for.
    """
    where = f"window.__streamlit = {{BACKEND_BASE_URL: location.origin + {json.dumps(first_page())}}}"
    page = INDEX.read_text("utf-8").replace("<head>", f"<head><script>{where}</script>", 1)
    return page.replace("</body>", f"<style>{LOOK.read_text('utf-8')}</style></body>", 1)


def headers() -> dict[str, str]:
    """What every answer carries. The address of a page may hold a link's token, so no address is ever passed on."""
    return {
        "Content-Security-Policy": content_policy(index()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


class SecurityHeaders:
    """Adds `headers()` to every HTTP answer; where people come over TLS, browsers are told to come by nothing else."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.headers = app, headers()
        self.secure = sign_in.is_secure() or bool(st.get_option("server.sslCertFile"))
        if sign_in.is_secure():  # not of any certificate: it would hold for all servers at localhost
            self.headers["Strict-Transport-Security"] = f"max-age={YEAR}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to the start of its answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                sent.update(self.headers)
                if self.secure:
                    message["headers"] = [_over_tls(name, value) for name, value in message["headers"]]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _over_tls(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header; one of a cookie says that it is to be sent over TLS alone."""
    is_open = name.lower() == b"set-cookie" and b"; secure" not in value.lower()
    return name, value + b"; Secure" if is_open else value


class Index:
    """Gives `index()` in the place of Streamlit's own page, at whatever address it is the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.theirs = app, FileResponse(INDEX, stat_result=INDEX.stat()).headers["etag"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; where Streamlit's page is the answer, give ours."""
        ours, page = False, index().encode()

        async def send_ours(message: Message) -> None:
            nonlocal ours
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                ours = message["status"] == 200 and sent.get("etag") == self.theirs
                if ours:
                    sent["content-length"] = str(len(page))
                    for name in ("content-encoding", "etag", "last-modified", "accept-ranges"):
                        del sent[name]
            elif ours and message["type"] == "http.response.body":
                if message.get("more_body"):
                    return
                message = {**message, "body": b"" if scope["method"] == "HEAD" else page}
            await send(message)

        await self.app(scope, receive, send_ours if scope["type"] == "http" else send)


class OwnPagesOnly:
    """Refuses what others than its own pages ask: where nobody signs in, what does not come from this machine at all.

    It is decided here, by Host and Origin: Streamlit would ask others for this machine's address, and all would wait.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 403; a websocket is closed before it was accepted."""
        refusal = self._refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "only from its own pages"})

    @staticmethod
    def _refusal(scope: Scope) -> PlainTextResponse | None:
        if scope["path"].removeprefix(first_page()).startswith(NEVER):
            return PlainTextResponse(NO_SUCH, status_code=404)
        if not sign_in.is_set_up():
            return None if asked_here(scope) else PlainTextResponse(REFUSED, status_code=403)
        if is_about_health(scope["path"]) or asked_at_its_address(scope):
            return None
        return PlainTextResponse(ELSEWHERE.format(origin=sign_in.origin()), status_code=403)


def asked_here(scope: Scope) -> bool:
    """Whether a request comes from this machine, for this machine by name, and past no proxy.

    A websocket must be opened by a page of this server, which says so: other pages and programs of this machine would
    speak as the owner, too.
    """
    sent = Headers(scope=scope)
    hosts = sent.getlist("host")
    if len(hosts) != 1 or not _HERE.fullmatch(hosts[0]):
        return False
    if any(FORWARDED.fullmatch(name) for name in sent):
        return False
    if scope.get("client") and not is_loopback(scope["client"][0]):
        return False
    origins = sent.getlist("origin")
    if not origins:
        return scope["type"] == "http"
    secure = scope.get("scheme") in ("https", "wss")
    return [origin.lower() for origin in origins] == [f"{'https' if secure else 'http'}://{hosts[0].lower()}"]


def asked_at_its_address(scope: Scope) -> bool:
    """Whether a request is for the address at which people sign in, and from none but its pages.

    A websocket must say that one of them opened it.
    """
    sent, ours = Headers(scope=scope), sign_in.origin()
    if [host.lower() for host in sent.getlist("host")] != [ours.partition("://")[2]]:
        return False
    origins = [origin.lower() for origin in sent.getlist("origin")]
    return origins == [ours] or (not origins and scope["type"] == "http")


def is_loopback(address: str | None) -> bool:
    """Whether an address to listen at is this machine's own; none at all means every address that it has.

    >>> [is_loopback(one) for one in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.5", "", None)]
    [True, True, True, False, False, False, False]
    """
    if not address or address == "localhost":
        return bool(address)
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def check_start() -> None:
    """End the process with a sentence where starting would be unsafe; else note that the app was started by app.py."""
    problem = sign_in.problem()
    everybody = sign_in.is_set_up() or only_links.only()
    if problem is None and not everybody and not is_loopback(address := st.get_option("server.address")):
        problem = CLOSED.format(address=address or "every address of this machine")
    if problem is not None:
        raise SystemExit(problem)
    only_links.place()
    _check_log(os.environ.get(LOG, ""))
    most = os.environ.get(MOST_UPLOAD, "")
    if most.isascii() and most.isdigit():  # where it is something else, whoever reads a file says so
        config.set_option("server.maxUploadSize", int(most))
    os.environ[LAUNCHED] = "yes"


def _check_log(file: str) -> None:
    """End the process where what is written down would be lost from the first line on."""
    if file in ("", "-"):
        return
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
    except OSError as problem:
        raise SystemExit(NO_LOG.format(setting=LOG, file=file, why=problem.strerror)) from None


def is_launched() -> bool:
    """Whether app.py started this server, which puts the guards above before it; another start has none of them."""
    return os.environ.get(LAUNCHED) == "yes"
