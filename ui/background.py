"""How does work of seconds look that need not outlive the server? It runs beside the page, which says so and goes on.

What is done within a moment is shown at once; for the rest a fragment looks again and again, and draws the page anew.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import TypeVar

import streamlit as st

Answer = TypeVar("Answer")
MOMENT = 2.0
"""So many seconds a page waits for an answer before it draws what else there is."""
SECONDS_BETWEEN_LOOKS = 0.7
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="touchstone")


def submit(work: Callable[[], Answer]) -> "Future[Answer]":
    """Start some work; who holds the future can wait for it, from any page and session."""
    return _threads.submit(work)


def answer(future: "Future[Answer]", doing: str, *, key: str, wait: float = MOMENT) -> Answer | None:
    """What the work came to (or its error); None where that is not known within a moment, and a status stands there."""
    if not future.done() and wait:
        with st.spinner(doing):
            try:
                return future.result(timeout=wait)
            except NotYet:
                pass
    if future.done():
        return future.result()

    @st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
    def watch() -> None:
        if future.done():
            st.rerun()
        st.status(doing, state="running", type="compact").caption(
            "This runs beside the page, which goes on by itself as soon as it is there."
        )

    with st.container(key=f"working-{key}"):
        watch()
    return None
