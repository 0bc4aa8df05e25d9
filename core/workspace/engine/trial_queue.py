"""Which trials are next? Those that nobody has had, then those that may have killed a worker, each of these alone.

Tiny trials go many at a time: to give one to a worker and store its rows takes longer than to fit a small model.
"""

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

Trials = tuple[int, ...]
"""One trial, or several that are done at once. The first names them all."""

Task = tuple[Trials, ...]
"""What a worker is given at a time: trials, one after another. The first of the first names them all."""

SECONDS = 0.5
"""So much work is a task where trials are shorter, and so soon, at the least, are rows stored."""
MOST_AT_A_TIME = 200
"""So many trials are a task at the most, whose rows then travel together."""
_N_RECENT = 8
_SMALLEST = 10
"""Towards the end tasks get smaller, to this part of what fits: to hand out less takes longer than a worker waits."""


class Pace:
    """How many trials make a task? As many as take SECONDS, by what the last ones took; a long trial is one by itself.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.n_trials(1000, n_threads=2)  # nobody knows yet
    1
    >>> pace.took(1, 0.01)
    >>> pace.n_trials(1000, n_threads=2), pace.n_trials(20, n_threads=2)  # towards the end all workers are to have some
    (50, 5)
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[int, float]] = deque(maxlen=_N_RECENT)

    def took(self, n_trials: int, seconds: float) -> None:
        """Note how long some trials took on their worker."""
        self._recent.append((n_trials, seconds))

    def n_trials(self, n_waiting: int, *, n_threads: int) -> int:
        """The number for the next task, where so many trials wait for so many workers."""
        seconds = sum(seconds for _, seconds in self._recent)
        n_done = sum(n for n, _ in self._recent)
        fitting = int(SECONDS * n_done / max(seconds, 1e-9)) if n_done else 1
        share = n_waiting if n_threads == 1 else max(n_waiting // (2 * n_threads), fitting // _SMALLEST)
        return max(1, min(fitting, MOST_AT_A_TIME, share))


class TrialQueue:
    """The trials that are still to be given to a worker.

    Examples
    --------
    >>> queue = TrialQueue([0, 1, 2])
    >>> queue.take(2, alone=True)
    [((0,),), ((1,),)]
    >>> queue.suspect((0,))
    True
    >>> queue.take(2, alone=False), queue.take(2, alone=False), queue.take(2, alone=True)
    ([((2,),)], [], [((0,),)])
    >>> queue.suspect((0,)), len(queue)
    (False, 0)
    >>> TrialQueue(range(5)).take(2, alone=True, at_a_time=4)
    [((0,), (1,), (2,), (3,)), ((4,),)]
    """

    def __init__(self, trials: Iterable[int]):
        self._waiting: deque[Trials] = deque((trial,) for trial in trials)
        self._apart: set[Trials] = set()
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

    def take(self, room: int, *, alone: bool, at_a_time: int = 1) -> list[Task]:
        """The next tasks, at most `room`; a suspect only where nothing else waits and it would be `alone`."""
        taken: list[Task] = []
        while self._waiting and len(taken) < room:
            taken.append(self._next(at_a_time))
        if not taken and self._suspects and alone:
            taken = [(self._suspects.popleft(),)]
            self._tried_alone.add(taken[0][0])
        return taken

    def _next(self, at_a_time: int) -> Task:
        """So many trials, or what is one task whatever their number: trials done at once, and one to be apart."""
        task = [self._waiting.popleft()]
        while self._mixes(task[0]) and len(task) < at_a_time and self._waiting and self._mixes(self._waiting[0]):
            task.append(self._waiting.popleft())
        return tuple(task)

    def _mixes(self, trials: Trials) -> bool:
        return len(trials) == 1 and trials not in self._apart

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

    def one_by_one(self, trials: Iterable[int]) -> None:
        """Put back several that a worker had together, each to be a task by itself, before all others."""
        apart = [(trial,) for trial in trials]
        self._apart.update(apart)
        self._waiting.extendleft(reversed(apart))


# Whose trials are next? Owners take turns, whoever came first and however many runs they have; so do an owner's runs.


Name = tuple[str, str]
"""A run: its owner and its id."""


@dataclass
class _Asking:
    in_flight: int = 0
    turn: int = field(default=0)


class Shares:
    """How many trials each run may have with the workers; shared by the threads of all runs of a process.

    `most` is the highest number of trials that an owner may have there, None for no such limit.

    Examples
    --------
    >>> shares = Shares()
    >>> shares.room(("ada", "first"), in_flight=0, waiting=100, places=4)
    4
    >>> shares.room(("bob", "only"), in_flight=0, waiting=3, places=4)
    2
    >>> shares.room(("ada", "first"), in_flight=3, waiting=96, places=4)
    0
    >>> shares.leave(("bob", "only"))
    >>> shares.room(("ada", "first"), in_flight=3, waiting=96, places=4)
    1
    """

    def __init__(self, most: int | None = None):
        self._most = most
        self._lock = threading.Lock()
        self._runs: dict[Name, _Asking] = {}
        self._turns = count(1)

    def room(self, run: Name, *, in_flight: int, waiting: int, places: int) -> int:
        """How many more trials a run may give to the workers now; so many count as given from now on.

        It has `in_flight` there and `waiting` still to give; all runs together may have about `places` there.
        """
        with self._lock:
            asking = self._runs.setdefault(run, _Asking())
            asking.in_flight = in_flight
            if not waiting:
                return 0
            runs = {name: other for name, other in self._runs.items() if name[0] == run[0]}
            share = max(1, places // len({owner for owner, _ in self._runs}))
            if self._most is not None:
                share = min(share, self._most)
            free = share - sum(other.in_flight for other in runs.values())
            ahead = sum((other.in_flight, other.turn) < (in_flight, asking.turn) for other in runs.values())
            if free <= ahead:
                return 0
            granted = min(waiting, max(1, free // len(runs)))
            asking.in_flight += granted
            asking.turn = next(self._turns)
            return granted

    def leave(self, run: Name) -> None:
        """Forget a run that has nothing more to give."""
        with self._lock:
            self._runs.pop(run, None)
