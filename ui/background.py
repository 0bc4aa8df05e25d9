"""How does work of seconds look that need not outlive the server? It runs beside the page, which says how far it is.

What is done within a moment is shown at once; for the rest a fragment looks again and again, and draws the page anew.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st

from core.evaluate.wording import count

Answer = TypeVar("Answer")
MOMENT = 2.0
"""So many seconds a page waits for an answer before it draws what else there is."""
SECONDS_BETWEEN_LOOKS = 0.7
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="touchstone")


@dataclass(eq=False)
class Task(Generic[Answer]):
    """Some work under way: who holds it can wait for it, from any page and session, and see how far it is.

    `n_steps` is 0 where nobody counts.
    """

    n_steps: int
    n_done: int = 0
    future: "Future[Answer]" = field(default_factory=Future)

    def step(self) -> None:
        """Another step is done; the work itself says so."""
        self.n_done += 1

    @property
    def share(self) -> float:
        """How much of it is done."""
        return min(self.n_done / self.n_steps, 1.0)


def submit(work: Callable[[Callable[[], None]], Answer], *, n_steps: int = 0) -> Task[Answer]:
    """Start some work, which calls what it is given after each of its `n_steps` steps."""
    task: Task[Answer] = Task(n_steps)
    task.future = _threads.submit(work, task.step)
    return task


def answer(task: Task[Answer], doing: str, *, key: str, wait: float = MOMENT) -> Answer | None:
    """What the work came to (or its error); None where that is not known within a moment, and its progress is shown."""
    future = task.future
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
        status = st.status(doing, state="running", type="compact")
        status.caption("This runs beside the page, which goes on by itself as soon as it is there.")
        if task.n_steps:
            waiting = "" if future.running() else ", waiting for other work to end"
            st.progress(task.share, text=f"{doing}: {count(task.n_done)} of {count(task.n_steps)} steps{waiting}")

    with st.container(key=f"working-{key}"):
        watch()
    return None
