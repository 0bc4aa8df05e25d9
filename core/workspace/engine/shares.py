"""Whose trials are next? Owners take turns, whoever came first and however many runs they have; so do an owner's runs.

Workers do what they are given in the order in which they are given it. So nobody may give them much at a time: what can
be with the workers at once is divided among the owners who want something, and each one's part among their runs.
"""

import threading
from dataclasses import dataclass, field
from itertools import count

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
