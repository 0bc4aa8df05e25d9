"""Start here: `streamlit run app.py`. The launcher of the app; the pages themselves are run by ui/shell/router.py."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from touchstone.ui import ROUTER
from touchstone.ui.shell import only_links
from touchstone.ui.shell.access import PrintedAddress
from touchstone.ui.shell.addresses import Addresses
from touchstone.ui.shell.health import route
from touchstone.ui.shell.only_links import OnlyLinks
from touchstone.ui.shell.serving import Index, OwnPagesOnly, SecurityHeaders, check_start
from touchstone.ui.shell.signed_in import SignedIn
from touchstone.ui.shell.upload_bounds import UploadBounds

RUNNER = "touchstone.core.workspace.engine.runner"


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """When the server stops, so does all work that it started; what is finished is stored and can be resumed."""
    noted = asyncio.get_running_loop().run_in_executor(None, _begin)  # beside the start, which is light
    yield
    (await noted)()
    for name, close in (("touchstone.ui.shell.jobs", "close"), (RUNNER, "close_engine")):
        if name in sys.modules:  # which it is not where nobody has opened a page, or asked for the health
            getattr(sys.modules[name], close)()


def _begin() -> Callable[[], None]:
    """Say where this Touchstone is open and another one is, open links to others, compile; returns what ends all."""
    from touchstone.core.data.home import home
    from touchstone.ui.shell import access, background, instance_lock

    if only_links.only():
        only_links.say()
        return lambda: None
    address = instance_lock.here()
    access.say(address)
    folder = home()
    instance_lock.say(folder, address)
    only_links.open_door()
    background.begin()

    def end() -> None:
        only_links.close_door()
        instance_lock.leave(folder, address)
        background.close()

    return end


def note_fault(problem: Exception) -> None:
    """Write down that a page met something that nobody foresaw; Streamlit then says so on the page."""
    from touchstone.core.workspace import events

    events.note_fault(problem)


check_start()
guards = [OnlyLinks] if only_links.only() else [OwnPagesOnly, PrintedAddress]
app = st.App(
    ROUTER,
    lifespan=lifespan,
    routes=[route()],
    on_script_error=note_fault,
    middleware=[
        Middleware(SecurityHeaders),
        *map(Middleware, guards),
        Middleware(Addresses),
        Middleware(SignedIn),
        Middleware(UploadBounds),
        Middleware(Index),
    ],
)
