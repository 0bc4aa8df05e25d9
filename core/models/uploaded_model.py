"""How does a model that was made elsewhere become one that gives logits for the inputs of a data set?"""

import io
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Shaped

from touchstone.core.data import sandbox
from touchstone.core.data.categories import column_of
from touchstone.core.installed import command
from touchstone.core.models.errors import ModelError, ModelStopped
from touchstone.core.models.inputs import InputRange, black_and_white, network_inputs
from touchstone.core.models.late import torch

Run = Callable[["torch.Tensor"], "torch.Tensor"]  # inputs on the processor -> what the model gives for them
Reads = Callable[[Shaped[np.ndarray, " n"]], "torch.Tensor"]  # texts -> what the model gives for them
Layout = Literal["channels first", "channels last", "flat"]
ROUNDED = 1e-3
"""How far probabilities may miss [0, 1] and their sum 1: 32-bit numbers give 1.0000001, half precision is coarser."""


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A model from elsewhere behind what it needs: its layout of images, its range of inputs, logits of its output.

    `layout` says how it takes images, `input_range` what black and white are for it, or for each of its channels (our
    pixels lie in [0, 1]; None leaves inputs as they are). Where it gives probabilities, their logarithms are the
    logits. A single number z per input stands for the logits (0, z) of two classes. What a model `reads` is texts: its
    inputs are then the outputs that it has for them, since nothing before these is numbers.

    Examples
    --------
    >>> import torch
    >>> above = ForeignModel(lambda x: x.sum(dim=1, keepdim=True), ("dark", "light"), has_gradients=True)
    >>> above.logits(torch.tensor([[-1.0, 3.0]]))
    tensor([[0., 2.]])
    """

    run: Run = field(repr=False)
    class_names: tuple[str, ...]
    has_gradients: bool
    layout: Layout = "channels first"
    input_range: InputRange | None = None
    gives_probabilities: bool = False
    reads: Reads | None = field(default=None, repr=False)

    @property
    def takes_texts(self) -> bool:
        """Whether its inputs are texts, not numbers."""
        return self.reads is not None

    def logits(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give the logits (n, n_classes) of inputs (n, channels, height, width) or (n, d), on their device."""
        values = self.raw(x)
        if self.gives_probabilities:
            tiny = torch.finfo(values.dtype).tiny
            if values.shape[1] == 1:
                values = torch.cat([1 - values, values], dim=1)
            return values.clamp_min(tiny).log()
        return torch.cat([torch.zeros_like(values), values], dim=1) if values.shape[1] == 1 else values

    def raw(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give what the model itself gives."""
        given = x.cpu()
        if self.input_range is not None:
            low, high = (
                torch.from_numpy(ends).to(given.dtype)[:, None, None] for ends in black_and_white(self.input_range)
            )
            given = low + given * (high - low)
        if given.ndim == 4 and self.layout != "channels first":
            given = given.permute(0, 2, 3, 1)
            given = given if self.layout == "channels last" else given.flatten(1)
        return self.run(given.contiguous()).to(x.device)

    def inputs(self, x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
        """Give the inputs of a data set as tensors (`core.models.inputs.network_inputs`)."""
        return network_inputs(x) if self.reads is None else self.reads(x)


def adapt(
    run: Run,
    examples: "torch.Tensor",
    class_names: tuple[str, ...],
    *,
    has_gradients: bool,
    input_range: InputRange | None,
) -> ForeignModel:
    """Find out on examples of a data set how a model takes them and what it gives.

    It gives probabilities where all of its numbers for the examples are such, up to `ROUNDED`. Raises ModelError where
    it takes the examples in no layout, or gives something else than a probability or a logit for each class.

    Examples
    --------
    >>> import torch
    >>> images, classes = torch.rand(4, 3, 8, 8), ("a", "b", "c")
    >>> adapt(lambda x: x.sum(dim=(1, 2)), images, classes, has_gradients=True, input_range=None).layout
    'channels last'
    """
    layouts: tuple[Layout, ...] = ("channels first", "channels last", "flat") if examples.ndim == 4 else ("flat",)
    refusals, complaints = [], []
    for layout in layouts:
        model = ForeignModel(run, class_names, has_gradients, layout, input_range)
        try:
            with torch.no_grad():
                values = model.raw(examples)
        except ModelStopped:  # so it would be in every layout
            raise
        except Exception as error:  # a model from elsewhere may raise anything
            refusals.append(f"{layout}: {(str(error).strip() or repr(error)).splitlines()[0]}")
            continue
        complaint = _complaint(values, len(examples), len(class_names))
        if complaint is None:
            return replace(model, gives_probabilities=_are_probabilities(values))
        complaints.append(complaint)
    if complaints:
        raise ModelError(complaints[0])
    shape = tuple(examples.shape[1:])
    raise ModelError(f"The model takes no inputs of shape {shape}. It was tried with {'; with '.join(refusals)}.")


def _complaint(values: "torch.Tensor", n_samples: int, n_classes: int) -> str | None:
    """Say what is wrong with an output, if anything."""
    if values.ndim != 2 or len(values) != n_samples:
        return f"For {n_samples} inputs the model gives an array of shape {tuple(values.shape)}, not a row for each."
    if values.shape[1] != n_classes and (values.shape[1], n_classes) != (1, 2):
        return f"The model has {values.shape[1]} classes, the data set has {n_classes}."
    if not values.is_floating_point() or not values.isfinite().all():
        return "The model gives something that is no finite number."
    return None


def _are_probabilities(values: "torch.Tensor") -> bool:
    """Say whether a table of outputs holds probabilities, or else logits.

    Raises ModelError for what is neither, with what to export instead. Logits leave [0, 1] somewhere among the
    examples; a model whose every output stays in it ends in a sigmoid.
    """
    inside = ((values >= -ROUNDED) & (values <= 1 + ROUNDED)).all(dim=1)
    sums = values.sum(dim=1)
    good = inside if values.shape[1] == 1 else inside & ((sums - 1).abs() <= ROUNDED)
    if good.all():
        return True
    if (values >= 0).all() and ((sums - 100).abs() <= 100 * ROUNDED).all():
        raise ModelError("The model's outputs sum to 100, as percent do. Divide them by 100, or export logits.")
    if inside.all():
        total = sums[(sums - 1).abs().argmax()]
        raise ModelError(
            f"The model's outputs lie in [0, 1] and sum to {total:.3g} for a sample: they are neither probabilities of "
            "the classes, which sum to 1, nor logits. Export it with a softmax, or without its last sigmoid."
        )
    return False


# How is a network run that another program wrote? ONNX through onnxruntime, archives of torch.export by torch.


_ZIPMAP = (
    "The ONNX model gives a map for each sample, as skl2onnx does by default, not a table of probabilities. Export it "
    'with convert_sklearn(model, initial_types=..., options={id(model): {"zipmap": False}}).'
)


def read_onnx(content: bytes, columns: Sequence[str] = ()) -> Run:
    """Give what runs an ONNX model, on the processor and without gradients.

    It takes one array, or each of the `columns` of a table by its name, as a pipeline on frames is exported. Raises
    ModelError where onnxruntime is not installed or cannot read it, or it is no classifier of these.

    Examples
    --------
    >>> read_onnx(b"no network")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: ...
    """
    try:
        import onnxruntime  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ModelError(
            f"ONNX models need the package onnxruntime: {command('onnxruntime')}, and start again."
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what is wrong with a file is raised and told; the server's log is not for it
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no other base
        raise ModelError(f"onnxruntime cannot read the file ({str(error).strip().splitlines()[0]}).") from error
    given = session.get_inputs()
    gives = [tensor.name for tensor in session.get_outputs() if tensor.type in _NUMBERS and len(tensor.shape) in (0, 2)]
    if not gives and any(tensor.type.startswith("seq(map(") for tensor in session.get_outputs()):
        raise ModelError(_ZIPMAP)
    takes = _NUMBERS if len(given) == 1 else _CELLS
    if not gives or not all(tensor.type in takes for tensor in given):
        raise ModelError(
            "The ONNX model must take one array of numbers, or one for each column, and give a table of logits."
        )
    batch_size = given[0].shape[0] if given[0].shape else None

    def ask(x: "torch.Tensor") -> "torch.Tensor":
        values = x.detach().numpy()
        arrays = {given[0].name: values} if len(given) == 1 else _by_column(given, values, columns)
        fed = {tensor.name: _cells(arrays[tensor.name], tensor) for tensor in given}
        return torch.from_numpy(session.run([gives[0]], fed)[0])

    return in_batches(ask, batch_size) if isinstance(batch_size, int) else ask


_NUMBERS = {"tensor(float)": np.float32, "tensor(double)": np.float64}
_CELLS: dict[str, Any] = {**_NUMBERS, "tensor(int64)": np.int64, "tensor(bool)": np.bool_, "tensor(string)": np.object_}
"""What ONNX calls the numbers of an array, and the cells of a column."""


def _cells(values: np.ndarray, tensor: Any) -> np.ndarray:
    """Values as an input of a model takes them. Raises ModelError where that would cut numbers off, or names."""
    kind = _CELLS[tensor.type]
    cells = values.astype(kind)
    if kind not in _NUMBERS.values() and len(other := values[cells != values]):
        raise ModelError(
            f"The ONNX model takes {tensor.name!r} as {tensor.type[7:-1]}, and is asked about {other[0]}. Export it "
            "with that input as float."
        )
    return cells


def _by_column(given: Sequence[Any], x: np.ndarray, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """The column that each input of a model is called after, (n, 1). Raises ModelError where there is none."""
    found = {tensor.name: column_of(x, columns, tensor.name) if x.ndim == 2 else None for tensor in given}
    if absent := [name for name, values in found.items() if values is None]:
        raise ModelError(
            f"The ONNX model takes {len(given)} inputs, and no column is called {', '.join(map(repr, absent[:3]))}. "
            "Name its inputs as the columns of the data, or export it with one array as its input."
        )
    return {name: values[:, None] for name, values in found.items() if values is not None}


def in_batches(ask: Run, size: int) -> Run:
    """Give what asks a model that only takes `size` inputs at once about any number: the last ones stand there again.

    Examples
    --------
    >>> import torch
    >>> in_batches(lambda x: x.reshape(2, 1) + 1, 2)(torch.arange(3)).flatten()
    tensor([1, 2, 3])
    """

    def full(x: "torch.Tensor") -> "torch.Tensor":
        return torch.cat([x, x[-1:].expand(size - len(x), *x.shape[1:])]) if len(x) < size else x

    return lambda x: torch.cat([ask(full(batch))[: len(batch)] for batch in x.split(size)])


def read_exported(content: bytes, columns: Sequence[str] = ()) -> Run:
    """Give what runs an archive of torch.export; only for one that is trusted, since reading it can run code.

    Examples
    --------
    >>> import torch
    >>> archive = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(1, 3),)), archive)
    >>> read_exported(archive.getvalue())(torch.zeros(1, 3)).shape
    torch.Size([1, 2])
    """
    try:
        program = torch.export.load(io.BytesIO(content))
        module = program.module()
    except Exception as error:  # whatever is wrong with the archive
        raise ModelError(f"torch.export cannot read the archive ({error}).") from error
    dtype = next((parameter.dtype for parameter in module.parameters()), torch.float32)
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    size = _fixed_batch(program)
    return in_batches(lambda x: module(x.to(dtype)), size) if size else lambda x: module(x.to(dtype))


def _fixed_batch(program: "torch.export.ExportedProgram") -> int | None:
    """How many inputs an archive takes at once, where that was fixed when it was made (torch.export's default)."""
    given = set(program.graph_signature.user_inputs)
    shapes = [node.meta["val"].shape for node in program.graph.nodes if node.op == "placeholder" and node.name in given]
    return shapes[0][0] if len(shapes) == 1 and shapes[0] and isinstance(shapes[0][0], int) else None


# How does the app ask a model from elsewhere that may hang, or want gigabytes? In a child process, within limits.


ForeignKind = Literal["onnx", "export"]
READERS = {"onnx": read_onnx, "export": read_exported}
REMEDY = "Does it hold a loop without end, or large arrays? Export a smaller model."

_DOING = "reading it or asking it about a few samples"


class Apart:
    """Runs a model from elsewhere as what `read_onnx` or `read_exported` gives does, in another process.

    No gradient comes back. Raises ModelError for what cannot be read or asked, and ModelStopped where that took too
    long or too much memory.

    Examples
    --------
    >>> import torch
    >>> archive = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(1, 3),)), archive)
    >>> Apart("mine.pt2", "export", archive.getvalue())(torch.zeros(4, 3)).shape
    torch.Size([4, 2])
    """

    def __init__(self, name: str, kind: ForeignKind, content: bytes, columns: Sequence[str] = ()):
        self.name, self.kind, self.content, self.columns = name, kind, content, (*columns,)
        self._asking = threading.Lock()
        with self._asking:
            self._child = self._started()

    def __call__(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give what the model gives for inputs."""
        asked = _to_bytes(x.detach().cpu().numpy())
        with self._asking:
            try:
                answer = _ask(self._child, asked)
            except _AtRest:
                self._child = self._started()
                answer = _ask(self._child, asked)
        return torch.from_numpy(np.load(io.BytesIO(answer), allow_pickle=False))

    def _started(self) -> sandbox.Child:
        """A process that has read the file."""
        child = sandbox.Child(self.name, running, self.kind, remedy=REMEDY)
        _ask(child, json.dumps(self.columns).encode("ascii") + b"\n" + self.content)
        return child


class _AtRest(ModelStopped):
    """The process had ended by itself, since nobody had asked it for a while."""


def _ask(child: sandbox.Child, message: bytes) -> bytes:
    try:
        return child.ask(message, seconds=sandbox.SECONDS_TO_READ, doing=_DOING)
    except sandbox.AtRest as problem:
        raise _AtRest(str(problem)) from None
    except sandbox.Stopped as problem:
        raise ModelStopped(str(problem)) from None
    except sandbox.Refused as problem:
        raise ModelError(str(problem)) from None


def running(kind: ForeignKind) -> sandbox.Answer:
    """What the child does: read the file, the first message behind a line of columns, then run it batch after batch."""
    torch.set_num_threads(1)
    models: list[Run] = []

    def answer(message: bytes) -> bytes:
        if not models:
            columns, _, content = message.partition(b"\n")
            models.append(READERS[kind](content, json.loads(columns)))
            return b""
        x = torch.from_numpy(np.load(io.BytesIO(message), allow_pickle=False))
        with torch.inference_mode():
            values = models[0](x).cpu()
        return _to_bytes((values.float() if values.dtype == torch.bfloat16 else values).numpy())

    return answer


def _to_bytes(values: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.save(written, values, allow_pickle=False)
    return written.getvalue()
