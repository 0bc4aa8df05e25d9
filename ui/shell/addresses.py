"""Where does an address lead? Signing in goes by way of "/": whoever asked for a page is taken to it afterwards.

The page that was asked for, with its query, waits in a cookie of the browser for a few minutes. Links to shared results
need no sign-in; their addresses, and whatever else may hold a token, are never kept.
"""

from http.cookies import SimpleCookie
from urllib.parse import parse_qs, quote, unquote

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.questions import FIRST, with_page
from touchstone.ui.shell import sign_in

CALLBACK = "oauth2callback"
SHARED = "shared_run"
"""The page of every link."""
TOKEN = "t"
"""The parameter of that address that holds the token; no control of any page is called so."""
COOKIE = "touchstone_page"
KEPT_FOR = 600
"""Seconds that are enough to sign in."""
LONGEST = 3000
"""Characters of an address that a cookie holds safely."""


class Addresses:
    """Leads from the first page's name to "/", and from sign-in to the page that was asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and keep the page that it asks for or lead to the one that was kept."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        name = scope["path"].rpartition("/")[2]
        query = scope.get("query_string", b"").decode("latin-1")
        if scope["path"] == (first := first_page()) + FIRST:
            await RedirectResponse(f"{first}{query and '?'}{query}", status_code=307)(scope, receive, send)
            return

        async def lead(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                if name == CALLBACK:
                    to = kept(Headers(scope=scope))
                    if to is not None and "location" in sent:
                        sent["location"] = f"{sent['location'].rstrip('/')}/{to}"
                        sent.append("set-cookie", cookie(None))
                elif name in with_page() and TOKEN not in parse_qs(query, keep_blank_values=True):
                    sent.append("set-cookie", cookie(f"{name}{query and '?'}{query}"))
                elif not name:
                    sent.append("set-cookie", cookie(None))
            await send(message)

        await self.app(scope, receive, lead if sign_in.is_set_up() else send)


def first_page() -> str:
    """The path of the first page, never taken from a request: a path can name another server."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}/" if base else "/"


def cookie(address: str | None) -> str:
    """The header that keeps an address of a page, or forgets it."""
    if address is None or len(quoted := quote(address, safe="")) > LONGEST:
        quoted, seconds = "", 0
    else:
        seconds = KEPT_FOR
    return f"{COOKIE}={quoted}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax"


def kept(sent: Headers) -> str | None:
    """The address that a browser kept; None where there is none, or none of a page of ours.

    >>> [kept(Headers({"cookie": f"{COOKIE}={one}"})) for one in ("runs%3Fstate%3Ddone", "%2F%2Fexample.org", "")]
    ['runs?state=done', None, None]
    """
    morsel = SimpleCookie(sent.get("cookie", "")).get(COOKIE)
    address = unquote(morsel.value) if morsel else ""
    return address if address.split("?")[0] in with_page() and address.isascii() and address.isprintable() else None
