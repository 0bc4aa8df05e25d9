"""How does work of seconds look that need not outlive the server? It runs beside the page, which says how far it is.

What is done within a moment is shown at once; for the rest a fragment looks again and again, and draws the page anew.
"""

import concurrent.futures
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st

from touchstone.core.evaluate.wording import count
from touchstone.core.workspace.engine.worker import are_compiled
from touchstone.ui import ROOT
from touchstone.ui.shell.session import bound, read_only

Answer = TypeVar("Answer")
MOMENT = 2.0
"""So many seconds a page waits for an answer before it draws what else there is."""
SECONDS_BETWEEN_LOOKS = 0.7
PATIENCE = 90.0
"""So long work goes on though no page looks for it: one in a hidden tab looks once a minute."""
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="touchstone")
_threads_of_links = ThreadPoolExecutor(max_workers=1, thread_name_prefix="touchstone-links")
"""What is looked at through links is worked out here, one thing at a time, so that no owner waits for it."""


class Abandoned(Exception):
    """Nobody has looked for the work's answer for a while, so it was given up; who asks again starts it anew."""


@dataclass(frozen=True, eq=False)
class Work(Generic[Answer]):
    """Something to do beside the page.

    `do` calls what it is given after each of its `n_steps` steps; these are 0 where nobody counts.
    """

    do: Callable[[Callable[[], None]], Answer]
    n_steps: int = 0


@dataclass(eq=False)
class Task(Generic[Answer]):
    """Some work under way: who holds it can wait for it, from any page and session, and see how far it is."""

    work: Callable[[Callable[[], None]], Answer]
    n_steps: int = 0
    n_done: int = 0
    looked_at: float = field(default_factory=time.monotonic)
    future: "Future[Answer]" = field(default_factory=Future)
    threads: ThreadPoolExecutor = _threads

    def start(self) -> None:
        """Begin, or begin again."""
        self.n_done, self.looked_at = 0, time.monotonic()
        self.future = self.threads.submit(self.work, self.step)

    def look(self) -> None:
        """Somebody is waiting for the answer; what was given up begins again."""
        self.looked_at = time.monotonic()
        if self.future.done() and isinstance(self.future.exception(), Abandoned):
            self.start()

    def step(self) -> None:
        """Another step is done; the work itself says so, and hears here that nobody waits for it any more."""
        self.n_done += 1
        if time.monotonic() - self.looked_at > PATIENCE:
            raise Abandoned

    @property
    def share(self) -> float:
        """How much of it is done."""
        return min(self.n_done / self.n_steps, 1.0)


def submit(work: Work[Answer]) -> Task[Answer]:
    """Start some work, for whoever looks now."""
    task = Task(bound(work.do), work.n_steps, threads=_threads_of_links if read_only() else _threads)
    task.start()
    return task


def answer(task: Task[Answer], doing: str, *, key: str, wait: float | None = None) -> Answer | None:
    """What the work came to (or its error); None where that is not known within a moment, and its progress is shown."""
    task.look()
    patience = MOMENT if wait is None else wait
    if not task.future.done() and patience:
        with st.spinner(doing):
            try:
                return task.future.result(timeout=patience)
            except NotYet:
                pass
    if task.future.done():
        return task.future.result()

    @st.fragment(run_every=SECONDS_BETWEEN_LOOKS)
    def watch() -> None:
        task.look()
        if task.future.done():
            st.rerun()
        status = st.status(doing, state="running", type="compact")
        status.caption("Computed in the background. The page updates when it is done.")
        if task.n_steps:
            waiting = "" if task.future.running() else ", waiting for other work to end"
            st.progress(task.share, text=f"{doing}: {count(task.n_done)} of {count(task.n_steps)} steps{waiting}")

    with st.container(key=f"working-{key}"):
        watch()
    return None


def whole_answer(task: Task[Answer]) -> Answer:
    """What the work comes to (or its error), however long that takes: for a file that waits for it, not for a page."""
    task.look()
    while not task.future.done():
        concurrent.futures.wait([task.future], timeout=MOMENT)
        task.look()
    return task.future.result()


# Who waits for code that is compiled once? Nobody: it is compiled beside the server, from the server's start on.


ONCE = "Starting. This first run after an installation also compiles code, for about half a minute."
_compiler: subprocess.Popen[bytes] | None = None
_lock = threading.Lock()


def begin() -> None:
    """Compile what is not compiled yet, in a process of its own that steps back behind others."""
    global _compiler
    with _lock:
        if _compiler is None and not are_compiled():
            command = [sys.executable, "-m", "touchstone.core.workspace.engine.worker"]
            # In a session of its own: Ctrl-C is for the server, which ends it (`close`).
            _compiler = subprocess.Popen(command, cwd=ROOT, start_new_session=True)


def is_going_on() -> bool:
    """Whether code is being compiled now."""
    with _lock:
        return _compiler is not None and _compiler.poll() is None


def close() -> None:
    """Stop it, for when the server ends."""
    global _compiler
    with _lock:
        if _compiler is not None:
            _compiler.terminate()
            _compiler.wait(timeout=10)
        _compiler = None
