"""Is all well behind this server? One address says so in a few words, to machines that watch over it.

It names nobody and nothing, and asks again after a few seconds at the earliest, however many ask it.
"""

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from touchstone.ui.shell.addresses import first_page

NAME = "health"
SECONDS_BELIEVED = 5.0
"""So long an answer is given again."""
SECONDS_PATIENT = 10.0
"""What has said nothing for so long gives no answer."""
ALIVE = "/_stcore/health"
"""What Streamlit answers as soon as it runs."""


def address() -> str:
    """Its path on this server."""
    return f"{first_page()}{NAME}"


def is_about_health(path: str) -> bool:
    """Whether somebody asks here how the server is."""
    return path in (ALIVE, first_page().rstrip("/") + ALIVE, address())


def route() -> Route:
    """What answers at this address, for as long as the server lives."""
    parts = {part: _Part(part) for part in ("database", "workers")}

    async def answer(_request: Request) -> JSONResponse:
        from touchstone.core.workspace.engine.runner import WELL  # not in the launcher, which is light

        by_part = dict(zip(parts, await asyncio.gather(*(part.answer() for part in parts.values())), strict=True))
        well = all(word in WELL for word in by_part.values())
        return JSONResponse(by_part, status_code=200 if well else 503, headers={"cache-control": "no-store"})

    return Route(address(), answer)


class _Part:
    """A part that may take its time: whoever asks meanwhile waits for the same answer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._asked: asyncio.Task[str] | None = None
        self._at = 0.0

    async def answer(self) -> str:
        from touchstone.core.workspace.engine.runner import NO_ANSWER

        now = time.monotonic()
        if self._asked is None or (self._asked.done() and now - self._at > SECONDS_BELIEVED):
            self._asked, self._at = asyncio.create_task(asyncio.to_thread(_ask, self.name)), now
        await asyncio.wait({self._asked}, timeout=SECONDS_PATIENT)
        return self._asked.result() if self._asked.done() else NO_ANSWER


def _ask(part: str) -> str:
    from touchstone.core.workspace.engine.runner import PARTS, engine

    return PARTS[part](engine)
