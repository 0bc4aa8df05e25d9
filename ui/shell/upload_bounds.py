"""How much may people upload before they keep it? So much in one open page, and so much in all of them together.

Streamlit holds uploaded files in memory, bounds a single one, and lets go of them minutes after their page was closed,
or never. Here a file is refused before it is read where it would not fit, and what a closed page held is given back.
"""

import asyncio
import time
from collections import defaultdict
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from touchstone.ui.shell.addresses import first_page

ADDRESS = "_stcore/upload_file/"
SECONDS_TO_RETURN = 110.0
"""So long a page that lost its connection finds its files again; Streamlit keeps the page itself for 120."""
NO_LENGTH = "Say how long the file is (Content-Length)."
PAGE_FULL = "This page holds {held} of {most} MiB of uploads: remove a file, or reload the page."
PAGE_FILES = "This page holds {most} uploaded files: remove one, or reload the page."
SERVER_FULL = "All open pages together hold {held} of {most} MiB of uploads. Try again in a few minutes."

_refused: dict[str, str] = {}
"""What is still to be said, by session."""


class UploadBounds:
    """Refuses an upload that would take an open page, or all of them, beyond what they may hold."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._coming: dict[str, list[int]] = defaultdict(list)
        """The sizes of the files that are being uploaded now, by session."""
        self._left: dict[str, float] = {}
        """When a session that holds files was first seen to have no page open."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse a file that does not fit with 413, and one of unknown length with 411."""
        if scope["type"] == "websocket":
            await self._page(scope, receive, send)
            return
        name = scope.get("path", "").removeprefix(first_page())
        if scope["type"] != "http" or scope["method"] != "PUT" or not name.startswith(ADDRESS):
            await self.app(scope, receive, send)
            return
        session, length = name.removeprefix(ADDRESS).partition("/")[0], Headers(scope=scope).get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            await PlainTextResponse(NO_LENGTH, 411)(scope, receive, send)
            return
        refusal = self._refusal(session, int(length))
        if refusal is not None:
            while (await receive()).get("more_body"):  # dropped: a browser reads no answer before all is sent
                pass
            await PlainTextResponse(refusal, 413)(scope, receive, send)
            _have_said(session, refusal)
            return
        self._coming[session].append(int(length))
        try:
            await self.app(scope, receive, send)
        finally:
            self._coming[session].remove(int(length))
            if not self._coming[session]:
                del self._coming[session]
            self._sweep()

    def _refusal(self, session: str, length: int) -> str | None:
        """Why a file of so many bytes cannot be taken now; None where it can."""
        from touchstone.core.data.errors import DataError  # not in the launcher, which is light
        from touchstone.core.data.limits import MIB, most

        self._sweep()
        try:
            most_files = most("TOUCHSTONE_MOST_OPEN_FILES") or 0
            most_here = MIB * max(most("TOUCHSTONE_MOST_OPEN") or 0, most("TOUCHSTONE_MOST_UPLOAD") or 0)
            most_in_all = max(MIB * (most("TOUCHSTONE_MOST_OPEN_IN_ALL") or 0), most_here)
        except DataError as problem:  # a setting that is no number
            return str(problem)
        held = held_files()
        ours = [*held.get(session, []), *self._coming.get(session, [])]
        everybody = sum(map(sum, [*held.values(), *self._coming.values()]))
        if len(ours) >= most_files:
            return PAGE_FILES.format(most=most_files)
        if sum(ours) + length > most_here:
            return PAGE_FULL.format(held=round(sum(ours) / MIB), most=most_here // MIB)
        if everybody + length > most_in_all:
            return SERVER_FULL.format(held=round(everybody / MIB), most=most_in_all // MIB)
        return None

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page that is open; once it is closed, and does not come back, its files go."""
        try:
            await self.app(scope, receive, send)
        finally:
            self._sweep()
            asyncio.get_running_loop().call_later(SECONDS_TO_RETURN + 1, self._sweep)

    def _sweep(self) -> None:
        """Let go of the files of pages that were closed and have not come back."""
        if not runtime.exists():
            return
        server, now = runtime.get_instance(), time.monotonic()
        gone = [session for session in held_files() if not server.is_active_session(session)]
        self._left = {session: self._left.get(session, now) for session in gone}
        for session, since in self._left.items():
            if now - since >= SECONDS_TO_RETURN:
                server.close_session(session)
                server.uploaded_file_mgr.remove_session_files(session)


def _have_said(session: str, sentence: str) -> None:
    """Draw a page anew with a sentence on it: the uploader itself shows no more than a number, and that on hovering."""
    if not runtime.exists():
        return
    page = runtime.get_instance()._session_mgr.get_active_session_info(session)  # what Streamlit asks for itself
    if page is not None:
        _refused[session] = sentence
        page.session.request_rerun(page.session._client_state)


def refused() -> str | None:
    """Why the page that is drawn now got no upload since it was drawn last; None where it got all."""
    context = get_script_run_ctx(suppress_warning=True)
    return _refused.pop(context.session_id, None) if context is not None else None


def held_files() -> dict[str, list[int]]:
    """The sizes of the uploaded files in memory, by the session whose page has them."""
    if not runtime.exists():
        return {}
    storage: dict[str, dict[str, Any]] = runtime.get_instance().uploaded_file_mgr.file_storage  # Streamlit's own
    return {session: [len(file.data) for file in list(files.values())] for session, files in list(storage.items())}
