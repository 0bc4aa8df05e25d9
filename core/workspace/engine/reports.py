"""How far are the trials that are running? As their workers tell: when each has started, where, and its steps."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from touchstone.core.workspace.engine.trial_queue import Trials
from touchstone.core.workspace.run import Steps

SECONDS_BETWEEN_STEPS = 1.0
"""How often it is written down how far the running trials are."""


class Reports:
    """What workers have told of the trials of one run; `record` writes down how far they are."""

    def __init__(self, record: Callable[[Mapping[int, Steps]], None]):
        self._record = record
        self._started: dict[int, tuple[float, str]] = {}
        self._steps: dict[int, Steps] = {}
        self._recorded: tuple[float, dict[int, Steps]] = (0.0, {})

    def hear(self, event: tuple[float, dict[str, Any]]) -> None:
        """Take what a worker tells: that a trial has started there, or how far it is."""
        _, message = event
        if "steps" in message:
            self._steps[message["trial"]] = Steps(*message["steps"])
        else:
            self._started[message["trial"]] = (time.monotonic(), message["worker"])
            self._steps.pop(message["trial"], None)

    def forget(self, trials: Trials) -> None:
        """Trials that are given to a worker anew have not started there yet."""
        self._started.pop(trials[0], None)

    def has_started(self, trials: Trials) -> bool:
        """Whether a worker has begun with these trials."""
        return trials[0] in self._started

    def running(self, trials: Trials) -> tuple[float, str]:
        """For how many seconds these trials have been running, and the address of their worker; 0 before they do."""
        since, worker = self._started.get(trials[0], (time.monotonic(), ""))
        return time.monotonic() - since, worker

    def write_down(self, running: set[int]) -> None:
        """Let pages know how far these trials are, where that has changed, at most once a second; forget all others."""
        for heard in (self._started, self._steps):
            for trial in heard.keys() - running:
                heard.pop(trial, None)
        steps = {trial: steps for trial, steps in self._steps.copy().items() if trial in running}
        when, before = self._recorded
        if steps != before and time.monotonic() - when > SECONDS_BETWEEN_STEPS:
            self._record(steps)
            self._recorded = (time.monotonic(), steps)
