"""What does a worker process do before its first trial? It leaves Ctrl-C to the app, which then stops it properly."""

import signal


def dask_setup(_worker: object) -> None:
    """Called by dask in each worker process, also in one that replaces a dead one.

    A Ctrl-C in the terminal reaches the app and all its workers; only the app is to answer it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
