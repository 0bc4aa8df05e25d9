"""How do several workers share a few cores? Each fit keeps to one thread, and leaves the settings as they were."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_within: ContextVar[int] = ContextVar("modules_within_single_threaded", default=0)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep the linear algebra and OpenMP loops of this process to one thread, for as long as it lasts.

    The same numbers then come out whatever the number of cores, since sums are taken in the same order. To look for
    the libraries takes as long as a small fit, so that it is done again only after something was imported; within
    another such block nothing is done, unless something was imported since it began.

    Examples
    --------
    >>> with single_threaded():
    ...     total = sum(range(4))
    >>> total
    6
    """
    n_modules = len(sys.modules)
    if _within.get() == n_modules:
        yield
        return
    token = _within.set(n_modules)
    try:
        with _libraries(n_modules).limit(limits=1):
            yield
    finally:
        _within.reset(token)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> "ThreadpoolController":
    """The libraries that have threads of their own: they come with modules, so that as many modules mean the same."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
