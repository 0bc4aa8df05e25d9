"""Start here: `streamlit run app.py`. The launcher of the app; the pages themselves are run by ui/shell/router.py."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from ui.shell.access import PrintedAddress
from ui.shell.addresses import Addresses
from ui.shell.health import route
from ui.shell.serving import Index, SecurityHeaders, ThisMachineOnly, check_start

ROOT = Path(__file__).resolve().parent
RUNNER = "core.workspace.engine.runner"


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """When the server stops, so does all work that it started; what is finished is stored and can be resumed."""
    noted = asyncio.get_running_loop().run_in_executor(None, _begin)  # beside the start, which is light
    yield
    (await noted)()
    for name, close in (("ui.shell.jobs", "close"), (RUNNER, "close_engine")):
        if name in sys.modules:  # which it is not where nobody has opened a page, or asked for the health
            getattr(sys.modules[name], close)()


def _begin() -> Callable[[], None]:
    """Say where another Touchstone is open on this home, compile what is not compiled yet; returns what ends both."""
    from core.data.home import home
    from ui.shell import access, already_open, compiling

    address = already_open.here()
    access.say(address)
    folder = home()
    already_open.say(folder, address)
    compiling.begin()

    def end() -> None:
        already_open.leave(folder, address)
        compiling.close()

    return end


check_start()
app = st.App(
    ROOT / "ui" / "shell" / "router.py",
    lifespan=lifespan,
    routes=[route()],
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(ThisMachineOnly),
        Middleware(PrintedAddress),
        Middleware(Addresses),
        Middleware(Index),
    ],
)
