"""How sure is the accuracy that a Lightning Trainer validates or tests? Its interval logged, and predictions kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from touchstone.core.data.errors import DataError
from touchstone.core.integrations.evaluated import evaluated, needed, numbers, save

NEEDS = ("scores", "y_true")
"""What a step has to give of each batch."""
MAY_GIVE = ("ids", "unit")


def lightning_callback(*, class_names: Sequence[str] | None = None, folder: str | PathLike[str] | None = None) -> Any:
    """Make a callback that gives validation and test of a Lightning Trainer their accuracy with its interval.

    `validation_step` and `test_step` return a dict: `scores` (logits or probabilities, a column per class, or codes
    that were predicted) and `y_true` (codes); if they are known, also `ids`, and `unit`, what was sampled
    independently. After the epoch `val_accuracy`, `val_accuracy_low` and `val_accuracy_high`, the ends of the 95 %
    interval, and `val_n` are logged, so that other callbacks can monitor them. predictions_val_<step>.tsv is written
    into `folder`, by default the Trainer's `log_dir`; `touchstone compare` reads it. A test has `test` in the place of
    `val`, and of several loaders the second one has `val_1`.

    In several processes all samples are brought together, and those that the sampler repeats are counted once. For
    that `ids` must be given: DataError says so. It needs lightning, or pytorch-lightning: ImportError says so.

    Examples
    --------
    >>> Trainer(callbacks=[lightning_callback(class_names=["cat", "dog"])])  # doctest: +SKIP
    """
    alone = find_spec("lightning") is None and find_spec("pytorch_lightning") is not None
    known = needed(*(("pytorch_lightning", "pytorch-lightning") if alone else ("lightning.pytorch", "lightning")))

    class TouchstoneCallback(_Judge, known.Callback):
        """What the Trainer calls."""

    return TouchstoneCallback(None if class_names is None else [*class_names], folder)


@dataclass
class _Samples:
    """What the steps gave of one set so far, batch by batch."""

    scores: list[np.ndarray] = field(default_factory=list)
    y_true: list[np.ndarray] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    unit: list[str] = field(default_factory=list)

    def add(self, step: str, outputs: Any) -> None:
        """The samples of one more batch. Raises DataError where the step did not give what is needed."""
        if not isinstance(outputs, Mapping) or not {*NEEDS} <= outputs.keys():
            given = ", ".join(map(repr, outputs)) if isinstance(outputs, Mapping) else f"a {type(outputs).__name__}"
            raise DataError(f"{step} gives {given}. Let it return a dict with {NEEDS[0]!r} and {NEEDS[1]!r}.")
        for name in NEEDS:
            getattr(self, name).append(_array(outputs[name]))
        for name in MAY_GIVE:
            getattr(self, name).extend(_words(outputs.get(name, ())))

    @classmethod
    def joined(cls, parts: Sequence["_Samples"]) -> "_Samples":
        """Those of several processes, each id once: samplers repeat a few, so that all processes have as many."""
        whole = cls()
        for part in parts:
            for each in fields(cls):
                getattr(whole, each.name).extend(getattr(part, each.name))
        n = sum(map(len, whole.y_true))
        if len(whole.ids) != n:
            raise DataError(
                "In several processes some samples are evaluated twice, and only ids tell which. Let the step return "
                "'ids', too, or evaluate in one process: Trainer(devices=1)."
            )
        rows = np.sort(np.unique(np.array(whole.ids), return_index=True)[1]).tolist()
        if n - len(rows) >= len(parts):
            raise DataError(f"{n} samples have {len(rows)} different ids. Give each sample an id of its own.")
        return cls(
            [np.concatenate(whole.scores)[rows]],
            [np.concatenate(whole.y_true)[rows]],
            [whole.ids[row] for row in rows],
            [whole.unit[row] for row in rows] if whole.unit else [],
        )


def _array(values: Any) -> np.ndarray:
    """An array of a tensor of whatever precision and device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
    return np.atleast_1d(np.asarray(values))


def _words(values: Any) -> list[str]:
    return [str(each.item() if hasattr(each, "item") else each) for each in values]


class _Judge:
    """What is done at each event; the base class has the events that are not listened to."""

    def __init__(self, class_names: list[str] | None, folder: str | PathLike[str] | None):
        super().__init__()
        self.class_names, self.folder = class_names, folder
        self._sets: dict[int, _Samples] = {}

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin anew."""
        self._sets = {}

    def on_test_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin anew."""
        self._sets = {}

    def on_validation_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Keep what a step gave; of the few batches that are tried before training, nothing."""
        if not trainer.sanity_checking:
            self._sets.setdefault(dataloader_idx, _Samples()).add("validation_step", outputs)

    def on_test_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Keep what a step gave."""
        self._sets.setdefault(dataloader_idx, _Samples()).add("test_step", outputs)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Log the numbers, and keep the predictions."""
        self._judge(trainer, pl_module, "val")

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Log the numbers, and keep the predictions."""
        self._judge(trainer, pl_module, "test")

    def _judge(self, trainer: Any, pl_module: Any, stage: str) -> None:
        sets, self._sets = self._sets, {}
        folder = Path(self.folder or trainer.log_dir or trainer.default_root_dir)  # asked of all processes alike
        for place, samples in sets.items():
            title = f"{stage}_{place}" if place else stage
            if trainer.world_size > 1:
                samples = _Samples.joined(_of_all_processes(samples, trainer.world_size))
            made = evaluated(
                np.concatenate(samples.scores),
                np.concatenate(samples.y_true),
                class_names=self.class_names,
                ids=samples.ids or None,
                unit=samples.unit or None,
                name=title,
            )
            named = {f"{title}_{name}": float(value) for name, value in numbers(made).items()}
            pl_module.log_dict(named, sync_dist=trainer.world_size > 1)
            if trainer.is_global_zero:
                save(made, folder, f"predictions_{title}_{trainer.global_step}")


def _of_all_processes(samples: _Samples, n: int) -> list[_Samples]:
    import torch.distributed

    gathered: list[Any] = [None] * n
    torch.distributed.all_gather_object(gathered, samples)
    return gathered
