"""How do several workers share a few cores? Each fit keeps to one thread, and leaves the settings as they were."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_within: ContextVar[bool] = ContextVar("within_single_threaded", default=False)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep the linear algebra and OpenMP loops of this process to one thread, for as long as it lasts.

    The same numbers then come out whatever the number of cores, since sums are taken in the same order. To look for
    the libraries takes 10 ms: who fits hundreds of small models enters once around all of them, and within it is free.

    Examples
    --------
    >>> with single_threaded():
    ...     total = sum(range(4))
    >>> total
    6
    """
    if _within.get():
        yield
        return
    from threadpoolctl import threadpool_limits

    token = _within.set(True)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        _within.reset(token)
