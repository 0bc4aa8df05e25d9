"""A plan whose trials sleep, fail, hang or kill their worker on demand; source finders that never end or always fail.

Workers learn of them by importing this file.
"""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from touchstone.core.cluster.finders import SOURCE_FINDERS, SourceFinder
from touchstone.core.cluster.sources import FoundSources
from touchstone.core.data import DataError, Dataset
from touchstone.core.models import Cancelled
from touchstone.core.models.model_file import ModelFile
from touchstone.core.questions import QUESTIONS, Question
from touchstone.core.trials.plan import Context, check_fields


@dataclass(frozen=True)
class SleepPlan:
    """`n` trials of `seconds` each; those named in the other fields misbehave. `log` records each finished one.

    Each reads the stored `model`, and makes one whose bytes are `keeping`.
    """

    n: int = 4
    seconds: float = 0.0
    log: str = ""
    raising: tuple[int, ...] = ()
    killing: tuple[int, ...] = ()
    killing_once: tuple[int, ...] = ()
    hanging: tuple[int, ...] = ()
    model: str = ""
    keeping: str = ""

    kind: ClassVar[str] = "sleep"
    METHOD_VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_fields(self)

    def n_trials(self, dataset: Dataset) -> int:
        return self.n

    def stored_models(self) -> tuple[str, ...]:
        return (self.model,) if self.model else ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        if index in self.raising:
            raise DataError(f"trial {index} cannot be done")
        if index in self.killing or (index in self.killing_once and self._first_time(index)):
            os.kill(os.getpid(), signal.SIGKILL)
        if index in self.hanging:
            time.sleep(3600)
        start = time.monotonic()
        while time.monotonic() < start + self.seconds:
            time.sleep(0.01)
            context.report(int(100 * (time.monotonic() - start)), int(100 * self.seconds), "blink")
            if context.should_stop():
                raise Cancelled
        if self.log:
            with open(self.log, "a") as log:
                log.write(f"{index}\n")
        model = context.model(self.model).decode(errors="replace") if self.model else ""
        if self.keeping:
            kept = ModelFile(self.keeping.encode(), "kept.onnx", dataset.fingerprint).to_bytes()
            model = context.keep_model(kept, name=self.keeping, n_test=4, n_correct=3)
        return pd.DataFrame({"trial": [index], "n": [dataset.n_samples], "model": [model], "status": ["ok"]})

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        return pd.DataFrame({"trial": [index], "n": [dataset.n_samples], "model": [""], "status": ["failed"]})

    def _first_time(self, index: int) -> bool:
        mark = Path(f"{self.log}.{index}")
        if mark.exists():
            return False
        mark.touch()
        return True


@dataclass(frozen=True)
class GroupedPlan(SleepPlan):
    """Trials that are done four at once where there is a GPU; the file of `log` and ".groups" records each group."""

    kind: ClassVar[str] = "grouped"

    def groups(self, dataset: Dataset, indices: Sequence[int]) -> list[tuple[int, ...]]:
        return [tuple(indices[first : first + 4]) for first in range(0, len(indices), 4)]

    def run_trials(self, dataset: Dataset, indices: Sequence[int], *, context: Context) -> list[pd.DataFrame]:
        with open(f"{self.log}.groups", "a") as log:
            log.write(f"{' '.join(map(str, indices))}\n")
        return [self.run_trial(dataset, index, context=context) for index in indices]


QUESTIONS |= {
    plan.kind: Question(plan.kind, "How well does it sleep?", kind=plan.kind, plan=f"{__name__}:{plan.__name__}")
    for plan in (SleepPlan, GroupedPlan)
}


def _endless(_dataset: Dataset, *, should_stop: object, on_step: object, **_options: object) -> FoundSources:
    for epoch in range(10**6):
        if should_stop():
            raise Cancelled
        on_step(epoch, 10**6)
        time.sleep(0.02)
    raise DataError("nobody stopped it")


def _hopeless(_dataset: Dataset, **_options: object) -> FoundSources:
    raise DataError("these samples are all alike.")


FINDERS = {"endless": SourceFinder("Endless", _endless), "hopeless": SourceFinder("Hopeless", _hopeless)}
"""Source finders that workers know; a test that needs them here registers them for as long as it lasts."""


def dask_setup(_worker: object) -> None:
    """Called by dask in each worker process."""
    SOURCE_FINDERS.update(FINDERS)
