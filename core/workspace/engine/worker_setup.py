"""What does a worker process do before its first trial? It leaves Ctrl-C to the app and steps back behind its pages."""

import os
import signal

from touchstone.core.workspace.engine.kernels import NICE


def dask_setup(_worker: object) -> None:
    """Called by dask in each worker process, also in one that replaces a dead one.

    A Ctrl-C in the terminal reaches the app and all its workers; only the app is to answer it. And whoever reads a
    page waits for its process, which takes little: it goes before trials, which take all that there is. torch, which
    is imported later, is to ask for its memory in large pages: gradients of 50 MB are new ones at every step.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
