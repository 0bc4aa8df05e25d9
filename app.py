"""Start here: `streamlit run app.py`. The launcher of the app; the pages themselves are run by ui/router.py."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = Path(__file__).resolve().parent
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}

if str(ROOT) not in sys.path:  # the app may be started from any folder
    sys.path.insert(0, str(ROOT))


class SecurityHeaders:
    """Adds HEADERS to every HTTP answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to the start of its answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """When the server stops, so does all work that it started; what is finished is stored and can be resumed."""
    yield
    jobs = sys.modules.get("ui.jobs")  # not there where nobody has opened a page
    if jobs is not None:
        jobs.close()


app = st.App(ROOT / "ui" / "router.py", lifespan=lifespan, middleware=[Middleware(SecurityHeaders)])
