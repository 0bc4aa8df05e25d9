"""What does a trial find around it on a worker? Somebody to ask, to tell, and to hand a trained model to.

Nothing here reaches the database: a worker sends words to the process that runs the plan, which writes them down.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from core.models.stored import model_fingerprint
from core.trials import Context
from core.workspace.errors import WorkspaceError

KeptModel = tuple[bytes, dict[str, Any]]
"""A model that a trial made, and what is known of it (see `core.workspace.shelf.ModelShelf.keep_model`)."""

SECONDS_BETWEEN_QUESTIONS = 0.25
"""A trial's questions and reports go to the scheduler at most so often."""


def surroundings(topic: str, trial: int, models: Mapping[str, bytes]) -> tuple[Context, list[KeptModel]]:
    """Say that a trial has started here; gives its context, and the list in which the models it makes will stand.

    `topic` names the event that asks it to stop and the topic of its words.
    """
    from distributed import get_worker

    worker, kept = get_worker(), []
    worker.log_event(topic, {"trial": trial, "worker": worker.address})

    def model(fingerprint: str) -> bytes:
        if fingerprint not in models:
            raise WorkspaceError(f"The plan does not name the model {fingerprint[:12]} among those that it needs.")
        return models[fingerprint]

    def keep_model(stored: bytes, **about: Any) -> str:
        kept.append((stored, about))
        return model_fingerprint(stored)

    def tell(steps: tuple[int, int, str]) -> None:
        worker.log_event(topic, {"trial": trial, "steps": steps})

    return Context(_stop_asked(topic), _seldom(tell), model, keep_model), kept


def _stop_asked(stop: str) -> Callable[[], bool]:
    asked_at, answer = time.monotonic(), False

    def should_stop() -> bool:
        nonlocal asked_at, answer
        if not answer and time.monotonic() - asked_at > SECONDS_BETWEEN_QUESTIONS:
            from distributed import Event

            answer, asked_at = Event(stop).is_set(), time.monotonic()
        return answer

    return should_stop


def _seldom(tell: Callable[[tuple[int, int, str]], None]) -> Callable[[int, int, str], None]:
    """Reports that come too soon after one another are left out; the next one knows more."""
    told_at = 0.0

    def report(n_done: int, n_steps: int, what: str) -> None:
        nonlocal told_at
        if time.monotonic() - told_at > SECONDS_BETWEEN_QUESTIONS:
            tell((n_done, n_steps, what))
            told_at = time.monotonic()

    return report
