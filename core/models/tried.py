"""Does a model from elsewhere know the classes, do what it should, and end? A child process asks it first.

A file of a few kilobytes can hold a loop without end or an array of gigabytes. The process that tries it has so much
time and memory and no more, and whatever comes of it there, whoever asked gets a sentence.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.sandbox import MOST_BYTES, SECONDS_TO_READ, Answer, Child
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange
from touchstone.core.models.load import Model, model_inputs, read_stored
from touchstone.core.models.stored import ModelFile
from touchstone.core.models.training import TrainedNetwork
from touchstone.core.models.uploaded_model import REMEDY, ForeignModel

# Does a model from elsewhere know the classes of this data set? Its accuracy, and whether its outputs change places.
#
# A model whose outputs stand in another order than the classes is accepted by every other check, and all that is said
# of it is then wrong. Which of the samples it was trained on nobody knows, so that its accuracy here may flatter it.


MOST_JUDGED, BATCH = 5000, 256
_MUCH_BETTER = 0.2
"""How much accuracy must rise with outputs in another order for that order to be told."""


@dataclass(frozen=True, eq=False)
class Judged:
    """How often each class (rows) was taken for each class (columns) among the samples that were looked at.

    Examples
    --------
    >>> swapped = Judged(("cat", "dog"), np.array([[1, 9], [8, 2]]))
    >>> swapped.accuracy, swapped.majority, swapped.order
    (0.15, 0.5, (1, 0))
    """

    class_names: tuple[str, ...]
    taken_for: Integer[np.ndarray, "c c"]

    @property
    def n(self) -> int:
        """How many samples were looked at."""
        return int(self.taken_for.sum())

    @property
    def n_correct(self) -> int:
        """How many of them were taken for their class."""
        return int(np.trace(self.taken_for))

    @property
    def accuracy(self) -> float:
        """The share of them."""
        return self.n_correct / self.n

    @property
    def majority(self) -> float:
        """What always answering the most frequent class comes to."""
        return float(self.taken_for.sum(axis=1).max() / self.n)

    @property
    def chance(self) -> float:
        """What answering at random comes to."""
        return 1.0 / len(self.class_names)

    @property
    def order(self) -> tuple[int, ...]:
        """For each output the class that it goes with best."""
        from scipy.optimize import linear_sum_assignment

        return tuple(linear_sum_assignment(self.taken_for.T, maximize=True)[1].tolist())

    @property
    def in_order(self) -> float:
        """The accuracy with the outputs in the order of the classes that they go with best."""
        return float(self.taken_for[list(self.order), range(len(self.class_names))].sum() / self.n)

    @property
    def hint(self) -> str:
        """Which output seems to stand for which class, where that would raise accuracy by 20 points; else nothing."""
        if self.in_order < self.accuracy + _MUCH_BETTER:
            return ""
        moved = [f"{place} for “{self.class_names[code]}”" for place, code in enumerate(self.order) if place != code]
        few = ", ".join(moved[:6]) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
        return (
            f"With outputs in another order it would be {100 * self.in_order:.1f} %: they seem to stand, counted "
            f"from 0, {few}. Export the model with its outputs in the order of the classes."
        )


def judge(model: Model, dataset: Dataset, rows: Integer[np.ndarray, " n"] | None = None) -> Judged:
    """Ask a model about samples of a data set, all or those in `rows`: at most 5,000, at random.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> wine = load_example("wine")
    >>> model = LinearNetwork(n_epochs=20).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> judge(model, wine).accuracy > 0.9
    True
    """
    import torch

    rows = np.arange(dataset.n_samples) if rows is None else rows
    if len(rows) > MOST_JUDGED:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_JUDGED, replace=False))
    taken_for = np.zeros((dataset.n_classes, dataset.n_classes), dtype=np.int64)
    with torch.inference_mode():
        for part in np.array_split(rows, max(1, len(rows) // BATCH)):
            said = model.logits(model_inputs(model, dataset, part)).argmax(dim=1).cpu().numpy()
            np.add.at(taken_for, (dataset.y[part], said), 1)
    return Judged(dataset.class_names, taken_for)


def check_above_chance(judged: Judged, name: str) -> None:
    """Raise ModelError where a model's accuracy is significantly below chance: nothing said of it would be worth it.

    Examples
    --------
    >>> check_above_chance(Judged(("cat", "dog"), np.array([[1, 49], [48, 2]])), "mine.onnx")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: mine.onnx: its accuracy on 100 samples is 3.0 %, below chance (50.0 %)...
    """
    from scipy.special import betaincinv

    most = 1.0 if judged.n_correct == judged.n else betaincinv(judged.n_correct + 1, judged.n - judged.n_correct, 0.975)
    if most >= judged.chance:
        return
    remedy = judged.hint or "Are the inputs scaled as in training, and the outputs in the order of the classes?"
    raise ModelError(
        f"{name}: its accuracy on {judged.n:,} samples is {100 * judged.accuracy:.1f} %, below chance "
        f"({100 * judged.chance:.1f} %). {remedy}"
    )


# Does it do what it should, and end? Read and asked in a child process.


SECONDS_TO_JUDGE = 600
"""What asking a model about thousands of samples may take."""

_DATASET, _MODEL, _ROWS = "dataset", "model", "rows.json"
_READ, _JUDGE = b"read", b"judge"


@dataclass(frozen=True, eq=False)
class Tried:
    """What is known of a model that was read and asked: which network of ours it is, if any, and how it answers."""

    judged: Judged
    architecture: str | None
    has_gradients: bool


def try_model(
    name: str,
    content: bytes,
    dataset: Dataset,
    rows: Integer[np.ndarray, " n"],
    *,
    architecture: str | None = None,
    input_range: InputRange | None = None,
) -> Tried:
    """Read the file `name` as `load_model` does, and judge it on these rows: in a process of its own, within limits.

    Raises ModelError for what cannot be used, and for what takes too long or too much memory.
    """
    file = ModelFile(content, name, dataset.fingerprint, architecture, input_range)
    asked = {_DATASET: to_bytes(dataset), _MODEL: file.to_bytes(), _ROWS: json.dumps(rows.tolist()).encode()}
    with tempfile.TemporaryDirectory(prefix="touchstone-model-") as folder:
        for place, written in asked.items():
            (Path(folder) / place).write_bytes(written)
        child = Child(name, trying, folder, remedy=REMEDY, most_bytes=MOST_BYTES)
        try:
            child.ask(_READ, seconds=SECONDS_TO_READ, doing="reading it and asking it about a few samples")
            said = child.ask(_JUDGE, seconds=SECONDS_TO_JUDGE, doing="asking it about thousands of samples")
        except DataError as problem:
            raise ModelError(str(problem)) from None
        finally:
            child.end()
    told = json.loads(said)
    taken_for = np.array(told["taken_for"], dtype=np.int64).reshape(dataset.n_classes, dataset.n_classes)
    return Tried(Judged(dataset.class_names, taken_for), told["architecture"], bool(told["has_gradients"]))


def trying(folder: str) -> Answer:
    """What the child does: read the model that lies in a folder, and on the next message judge it."""
    import torch

    torch.set_num_threads(1)
    written = {place: (Path(folder) / place).read_bytes() for place in (_DATASET, _MODEL, _ROWS)}
    dataset, rows = from_bytes(written[_DATASET]), np.array(json.loads(written[_ROWS]), dtype=np.int64)
    models: list[TrainedNetwork | ForeignModel] = []

    def answer(message: bytes) -> bytes:
        try:
            if message == _READ:
                models.append(read_stored(written[_MODEL], dataset))
                return b""
            judged = judge(models[0], dataset, rows)
        except (ModelError, MemoryError):
            raise
        except Exception as problem:  # what runs a model may raise anything
            name, reason = ModelFile.from_bytes(written[_MODEL]).file_name, str(problem) or repr(problem)
            raise ModelError(f"{name}: it could not be asked ({reason.splitlines()[0]}).") from problem
        ours = models[0].architecture if isinstance(models[0], TrainedNetwork) else None
        told = {"taken_for": judged.taken_for.tolist(), "architecture": ours}
        return json.dumps(told | {"has_gradients": models[0].has_gradients}).encode()

    return answer
