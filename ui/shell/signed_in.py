"""What is answered where people sign in? Whoever brings the cookie of a sign-in that goes on, or a link that works.

Pages ask who it is, too. But uploads, the files of pages and the connection by which they are drawn cost memory before
any page is asked: they are refused here, before Streamlit reads a byte. Whoever brings neither gets one page, which
Streamlit has no part in, with the way to the provider.
"""

import time
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.ui.shell import sign_in
from touchstone.ui.shell.addresses import CALLBACK, first_page
from touchstone.ui.shell.health import is_about_health
from touchstone.ui.shell.only_links import Links, belongs_to_a_page, brought, opened, refused_page, with_cookie

SIGN_IN = "sign_in"
"""The address that leads to a provider; `PROVIDER` says to which, where there are several."""
PROVIDER = "with"
SECONDS_BELIEVED = 2.0
"""So long a sign-in that was found to go on is taken to, but never where a page is opened.

A page that was let through and then drawn by a connection that is refused would stay empty.
"""
NOT_SIGNED_IN = "Sign in first: this is answered only to people who are signed in."
_FREE = ("_stcore/host-config", "favicon.png", "auth/login", "auth/logout", CALLBACK)
_FREE_FILES = "static/"
_NO_PAGES = ("_stcore/", "media/", "component/", "app/")


class SignedIn:
    """Passes on what people who are signed in ask for, and what the page of a link does."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.links = app, Links()
        self._went_on: dict[str, float] = {}
        """When a sign-in was found to go on."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with a sentence; a websocket is closed before it was accepted."""
        if scope["type"] not in ("http", "websocket") or not sign_in.is_set_up() or _is_free(scope):
            await self.app(scope, receive, send)
            return
        opening = opened(scope)
        refused = _to_provider(scope) or await self._refused(scope, opening)
        if refused is None:
            await self.app(scope, receive, with_cookie(opening, send) if opening else send)
        elif scope["type"] == "http":
            await refused(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "sign in first"})

    async def _refused(self, scope: Scope, opening: str | None) -> Response | None:
        """What a request is answered that is not passed on."""
        sent = Headers(scope=scope)
        claims = sign_in.claims_of(sent)
        trouble: Response | None = None
        if claims is not None:
            trouble = await self._ended(claims, sent.get("user-agent", ""), anew=_opens_a_page(scope))
            if trouble is None:
                return None
        token = opening or (brought(scope) if belongs_to_a_page(scope) else None)
        if token is not None:
            return await self.links.trouble(token, anew=opening is not None)
        return trouble if trouble is not None and trouble.status_code != 401 else _closed(scope)

    async def _ended(self, claims: dict[str, object], agent: str, *, anew: bool) -> Response | None:
        """What is said where a sign-in does not go on, or nobody can say it now; asked now, or a moment ago."""
        which, now = sign_in.sign_in_of(claims), time.monotonic()
        self._went_on = {known: at for known, at in self._went_on.items() if now - at <= SECONDS_BELIEVED}
        if not anew and which in self._went_on:
            return None
        trouble = await run_in_threadpool(_ended, claims, agent)
        if trouble is None:
            self._went_on[which] = now
        else:
            self._went_on.pop(which, None)
        return trouble


def _ended(claims: dict[str, object], agent: str) -> Response | None:
    from touchstone.core.workspace import WorkspaceError
    from touchstone.ui.shell import session

    owner = sign_in.owner_of(claims)
    if owner is None:
        return PlainTextResponse(NOT_SIGNED_IN, 401)
    try:
        goes_on = session.sign_in_goes_on(owner, sign_in.sign_in_of(claims), browser=sign_in.browser_of(agent))
    except WorkspaceError as problem:
        return refused_page(503, title="Try again later", sentence=str(problem))
    return None if goes_on else PlainTextResponse(NOT_SIGNED_IN, 401)


def _is_free(scope: Scope) -> bool:
    """Whether everybody may ask for this: whether the server is well, the files of Streamlit itself, the way in."""
    name = scope["path"].removeprefix(first_page())
    return scope["type"] == "http" and (is_about_health(scope["path"]) or name in _FREE or name.startswith(_FREE_FILES))


def _opens_a_page(scope: Scope) -> bool:
    """Whether a browser asks for a page itself, not for what a page asks for."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return not scope["path"].removeprefix(first_page()).startswith(_NO_PAGES)


def _to_provider(scope: Scope) -> Response | None:
    """The way to a provider, by a token of Streamlit that works for two minutes; None for another address."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != first_page() + SIGN_IN:
        return None
    from streamlit.auth_util import encode_provider_token

    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(PROVIDER, [None])[-1]
    if asked not in sign_in.providers():
        return _closed(scope)
    token = encode_provider_token(asked or "default")
    return RedirectResponse(f"{first_page()}auth/login?provider={quote(token)}", 303, {"cache-control": "no-store"})


def _closed(scope: Scope) -> Response:
    """The page for whoever is not signed in; to what is no page, a sentence."""
    if not _opens_a_page(scope):
        return PlainTextResponse(NOT_SIGNED_IN, 401)
    return refused_page(401, "signed_in", sign_in=sign_in, address=first_page() + SIGN_IN, parameter=PROVIDER)
