"""What have workers been given, and what came of it? Answers come over in threads of their own, beside all else."""

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from touchstone.core.workspace.engine.trial_queue import Task
from touchstone.core.workspace.engine.worker import Done

if TYPE_CHECKING:
    from distributed import Future

Answer = Done | BaseException | None
"""What came of a task: rows and models of its trials, or what went wrong with it as a whole. None where the answer was
lost, with the last worker that had the data or on its way from the scheduler, which is no trial's fault."""


class InFlight:
    """The tasks that workers have, by the future of each answer."""

    def __init__(self) -> None:
        self._tasks: dict[Future, Task] = {}
        self._arrived: queue.SimpleQueue[tuple[Future, Answer]] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._tasks)

    def items(self) -> list[tuple["Future", Task]]:
        """Every future with its task."""
        return list(self._tasks.items())

    def add(self, future: "Future", task: Task) -> None:
        """Wait for what comes of a task."""
        self._tasks[future] = task
        future.add_done_callback(self._fetch)

    def forget(self, futures: Iterable["Future"]) -> None:
        """Wait for these no longer, whatever comes of them."""
        for future in futures:
            del self._tasks[future]

    def answers(self, *, timeout: float) -> Iterator[tuple[Task, Answer]]:
        """What has arrived; waits for the first of it at most `timeout` seconds."""
        try:
            yield from self._pop(*self._arrived.get(timeout=timeout))
            while True:
                yield from self._pop(*self._arrived.get_nowait())
        except queue.Empty:
            return

    def _pop(self, future: "Future", answer: Answer) -> Iterator[tuple[Task, Answer]]:
        task = self._tasks.pop(future, None)
        if task is not None:  # nobody waits any longer for what was forgotten
            yield task, answer

    def _fetch(self, future: "Future") -> None:
        """Have what came of a task come over, however long that takes.

        A VGG-19 is 80 MB; and where the worker died with what it had, dask computes it again.
        """

        def fetch() -> None:
            try:
                self._arrived.put((future, future.result()))
            except BaseException as problem:  # whatever it is, a cancelled future's answer included
                self._arrived.put((future, None if _is_lost(future, problem) else problem))

        threading.Thread(target=fetch, name=f"fetch {future.key}", daemon=True).start()


def _is_lost(future: "Future", problem: BaseException) -> bool:
    """Whether the task itself did not fail: its answer went with a worker, or with the connection it came over."""
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    closed = isinstance(problem, (CommClosedError, ConnectionError)) and future.status != "error"
    return closed or isinstance(problem, FutureCancelledError)
