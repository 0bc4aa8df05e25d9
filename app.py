"""Start here: `streamlit run app.py`. The launcher of the app; the pages themselves are run by ui/shell/router.py."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from ui.shell.addresses import Addresses
from ui.shell.serving import Index, SecurityHeaders, ThisMachineOnly, check_start

ROOT = Path(__file__).resolve().parent


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """When the server stops, so does all work that it started; what is finished is stored and can be resumed."""
    yield
    jobs = sys.modules.get("ui.shell.jobs")  # not there where nobody has opened a page
    if jobs is not None:
        jobs.close()


check_start()
app = st.App(
    ROOT / "ui" / "shell" / "router.py",
    lifespan=lifespan,
    middleware=[Middleware(SecurityHeaders), Middleware(ThisMachineOnly), Middleware(Addresses), Middleware(Index)],
)
