"""How do several workers share a few cores? Each fit keeps to one thread, and leaves the settings as they were."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep the linear algebra and OpenMP loops of this process to one thread, for as long as it lasts.

    The same numbers then come out whatever the number of cores, since sums are taken in the same order.

    Examples
    --------
    >>> with single_threaded():
    ...     total = sum(range(4))
    >>> total
    6
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield
