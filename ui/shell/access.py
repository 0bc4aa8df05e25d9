"""Who at this machine is the local owner? Whoever opens the printed address: it has a token, as notebooks have.

Other accounts of a machine reach the same port. So, where nobody signs in, every answer but those about health asks
for a cookie, which a browser gets in exchange for the token. Both follow from a secret that lies in the home and that
only its owner can read: whoever had access keeps it when the server starts anew, at another port, too.
"""

import hmac
import os
import secrets
import sys
import webbrowser
from functools import cache
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config

from touchstone.core import COMMAND
from touchstone.ui.shell import health, sign_in
from touchstone.ui.shell.only_links import SETTING, refused_page

OPEN = "TOUCHSTONE_OPEN_TO_THIS_MACHINE"
"""The setting that does without token and cookie."""
TOKEN = "token"
"""The parameter of the printed address, which no page has."""
DAYS = 400
"""So long a browser keeps the cookie: as long as browsers keep any."""
ADDRESS = "Touchstone is open at {url}"
EVERYBODY = (
    f"{OPEN}=1 is set: every account of this machine can open this address, and change and delete everything in it."
)


class PrintedAddress:
    """Answers, where nobody signs in, only browsers that have opened the printed address once."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, exchange its token for a cookie, or say what is missing; a websocket is closed."""
        free = scope["type"] not in ("http", "websocket") or sign_in.is_set_up() or is_open()
        if free or (scope["type"] == "http" and health.is_about_health(scope["path"])):
            await self.app(scope, receive, send)
            return
        given = given_token(scope)
        if scope["type"] == "http" and scope["method"] == "GET" and given is not None and is_token(given):
            await _exchange(scope)(scope, receive, send)
        elif has_cookie(Headers(scope=scope)):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await _closed(scope)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "open the printed address first"})


def is_open() -> bool:
    """Whether whoever started the server does without the token."""
    return os.environ.get(OPEN) == "1"


def given_token(scope: Scope) -> str | None:
    """The token of a request, or that of a whole printed address in its place; None where there is none."""
    if scope["type"] != "http":
        return None
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(TOKEN)
    if not asked:
        return None
    given = asked[-1].strip()
    return parse_qs(urlsplit(given).query).get(TOKEN, [given])[-1] if "://" in given else given


def is_token(given: str) -> bool:
    """Whether this is the token of the printed address."""
    return hmac.compare_digest(given.encode(), _derived(TOKEN).encode())


def has_cookie(sent: Headers) -> bool:
    """Whether a browser brings the cookie that was given for the token."""
    name, value = cookie()
    try:
        morsel = SimpleCookie("; ".join(sent.getlist("cookie"))).get(name)
    except CookieError:
        return False
    return morsel is not None and hmac.compare_digest(morsel.value.encode(), value.encode())


def cookie() -> tuple[str, str]:
    """Name and value of the cookie. The name is of the home: browsers tell no ports apart."""
    return f"touchstone_{_derived('name')[:8]}", _derived("cookie")


def with_token(url: str) -> str:
    """The address of a server of this home, which lets a browser in."""
    from touchstone.core.workspace.access import address

    return url if sign_in.is_set_up() or is_open() else address(url, _secret())


def say(url: str) -> None:
    """Print the address for whoever starts the server, and open it in the browser where somebody sits before it."""
    print(f"\n  {ADDRESS.format(url=with_token(url))}\n", flush=True)
    if _is_watched():
        webbrowser.open(with_token(url))
    if is_open() and not sign_in.is_set_up():
        print(f"  {EVERYBODY}\n", file=sys.stderr, flush=True)


def _is_watched() -> bool:
    """Whether the server was started from a terminal with a screen, by somebody who did not say `headless`.

    Streamlit itself opens an address without the token, and is told not to in .streamlit/config.toml.
    """
    has_screen = sys.platform in ("darwin", "win32") or any(
        name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    nobody_said = config.get_where_defined("server.headless").endswith("config.toml")
    return sys.stdout.isatty() and has_screen and nobody_said


def _derived(use: str) -> str:
    from touchstone.core.workspace.access import derived

    return derived(_secret(), use)


@cache
def _secret() -> bytes:
    """The secret of this home; where it cannot be kept there, one that ends with this process."""
    from touchstone.core.data.errors import DataError
    from touchstone.core.data.home import home  # not in the launcher, which is light
    from touchstone.core.workspace.access import secret

    try:
        return secret(home())
    except (OSError, DataError):  # a full disk, or no folder, of which the pages speak
        return secrets.token_bytes()


def _exchange(scope: Scope) -> RedirectResponse:
    """Lead to the same page without the token, with the cookie in its place."""
    query = scope.get("query_string", b"").decode("latin-1")
    rest = urlencode([pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != TOKEN])
    path = "/" + quote(scope["path"].lstrip("/"))  # one that begins with // would name another server
    answer = RedirectResponse(f"{path}{rest and '?'}{rest}", status_code=303)
    answer.set_cookie(*cookie(), max_age=DAYS * 86_400, httponly=True, samesite="lax")
    answer.headers["cache-control"] = "no-store"
    return answer


def _closed(scope: Scope) -> HTMLResponse:
    """The page for a browser that nobody has let in: it keeps what the address asked for."""
    query = scope.get("query_string", b"").decode("latin-1")
    asked = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != TOKEN]
    return refused_page(403, "access", kept=asked, command=COMMAND, setting=SETTING)
