"""What have workers been given, and what came of it? Answers come over in threads of their own, beside all else."""

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from core.workspace.engine.trial_queue import Trials
from core.workspace.engine.worker import Done

if TYPE_CHECKING:
    from distributed import Future

Answer = Done | BaseException
"""What came of trials: their rows and models, or what went wrong."""


class InFlight:
    """The trials that workers have, by the future of each answer."""

    def __init__(self) -> None:
        self._trials: dict[Future, Trials] = {}
        self._arrived: queue.SimpleQueue[tuple[Future, Answer]] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._trials)

    def items(self) -> list[tuple["Future", Trials]]:
        """Every future with its trials."""
        return list(self._trials.items())

    def add(self, future: "Future", trials: Trials) -> None:
        """Wait for what comes of these trials."""
        self._trials[future] = trials
        future.add_done_callback(self._fetch)

    def forget(self, futures: Iterable["Future"]) -> None:
        """Wait for these no longer, whatever comes of them."""
        for future in futures:
            del self._trials[future]

    def answers(self, *, timeout: float) -> Iterator[tuple[Trials, Answer]]:
        """What has arrived; waits for the first of it at most `timeout` seconds."""
        try:
            yield from self._pop(*self._arrived.get(timeout=timeout))
            while True:
                yield from self._pop(*self._arrived.get_nowait())
        except queue.Empty:
            return

    def _pop(self, future: "Future", answer: Answer) -> Iterator[tuple[Trials, Answer]]:
        trials = self._trials.pop(future, None)
        if trials is not None:  # nobody waits any longer for what was forgotten
            yield trials, answer

    def _fetch(self, future: "Future") -> None:
        """Have what came of a trial come over, however long that takes.

        A VGG-19 is 80 MB; and where the worker died with what it had, dask computes it again.
        """

        def fetch() -> None:
            try:
                self._arrived.put((future, future.result()))
            except BaseException as problem:  # whatever it is, a cancelled future's answer included
                self._arrived.put((future, problem))

        threading.Thread(target=fetch, name=f"fetch {future.key}", daemon=True).start()
