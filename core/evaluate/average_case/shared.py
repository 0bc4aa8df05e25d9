"""What do estimates of the same samples find but once, whatever their sigma? (ours)

Logits without noise, and the tangents at the samples: under twice the noise they have four times the covariance. What
rests on noisy copies is another input at every sigma and has to be found anew; but estimators that differ only in what
they make of a mean tangent share that one.
"""

import time
from collections.abc import Callable, Hashable
from typing import Any


class Shared:
    """What was found of some samples, for estimates at sigmas up to `widest`.

    Of each kind of thing the last one is kept. `clock` is in seconds and goes as if everything had been found anew, so
    that what an estimate takes by itself can be told.

    Examples
    --------
    >>> shared, made = Shared(widest=0.3), []
    >>> for key in (1, 1, 2):
    ...     _ = shared.once("thing", key, lambda: made.append(1))
    >>> len(made)
    2
    """

    def __init__(self, widest: float):
        self.widest = widest
        self._found: dict[Hashable, tuple[Hashable, Any, float]] = {}
        self._spared = 0.0

    def clock(self) -> float:
        """Seconds, those included that were spared."""
        return time.perf_counter() + self._spared

    def once(self, kind: Hashable, key: Hashable, find: Callable[[], Any]) -> Any:
        """What `find` gives, or gave when it was last asked for this kind with this key."""
        if kind in self._found and self._found[kind][0] == key:
            _, value, seconds = self._found[kind]
            self._spared += seconds
            return value
        start = self.clock()
        value = find()
        self._found[kind] = key, value, self.clock() - start
        return value
