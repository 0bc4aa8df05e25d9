"""Which trials are next? Those that nobody has had, then those that may have killed a worker, each of these alone."""

from collections import deque
from collections.abc import Iterable

Trials = tuple[int, ...]
"""What a worker is given at a time: one trial, or several that are done at once. The first names them all."""


class TrialQueue:
    """The trials that are still to be given to a worker.

    Examples
    --------
    >>> queue = TrialQueue([0, 1, 2])
    >>> queue.take(2, alone=True)
    [(0,), (1,)]
    >>> queue.suspect((0,))
    True
    >>> queue.take(2, alone=False), queue.take(2, alone=False), queue.take(2, alone=True)
    ([(2,)], [], [(0,)])
    >>> queue.suspect((0,)), len(queue)
    (False, 0)
    """

    def __init__(self, trials: Iterable[int]):
        self._waiting: deque[Trials] = deque((trial,) for trial in trials)
        self._suspects: deque[Trials] = deque()
        self._tried_alone: set[Trials] = set()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._suspects)

    def waiting(self) -> list[int]:
        """The trials that are no suspects."""
        return [trial for trials in self._waiting for trial in trials]

    def group(self, groups: Iterable[Trials]) -> None:
        """Have the trials that wait given out as these groups."""
        self._waiting = deque(groups)

    def take(self, room: int, *, alone: bool) -> list[Trials]:
        """The next ones, at most `room` of them; a suspect only where nothing else waits and it would be `alone`."""
        taken = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
        if not taken and self._suspects and alone:
            taken = [self._suspects.popleft()]
            self._tried_alone.add(taken[0])
        return taken

    def first(self, trials: Trials) -> None:
        """Put back what is to be tried again before all others."""
        self._waiting.appendleft(trials)

    def last(self, trials: Trials) -> None:
        """Put back what is to be tried again after all others."""
        self._waiting.append(trials)

    def suspect(self, trials: Trials) -> bool:
        """Put back a trial whose worker died, to be tried alone; False where it was, or where they are several."""
        if len(trials) > 1 or trials in self._tried_alone:
            return False
        self._suspects.append(trials)
        return True

    def one_by_one(self, trials: Trials) -> None:
        """Put back several that were tried at once, each by itself, before all others."""
        self._waiting.extendleft((trial,) for trial in reversed(trials))
