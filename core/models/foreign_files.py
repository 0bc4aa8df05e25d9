"""How is a network run that another program wrote? ONNX through onnxruntime, archives of torch.export by torch."""

import io
from typing import TYPE_CHECKING

from touchstone.core.models.errors import ModelError
from touchstone.core.models.foreign import Run

if TYPE_CHECKING:
    import torch

_ZIPMAP = (
    "The ONNX model gives a map for each sample, as skl2onnx does by default, not a table of probabilities. Export it "
    'with convert_sklearn(model, initial_types=..., options={id(model): {"zipmap": False}}).'
)


def read_onnx(content: bytes) -> Run:
    """Give what runs an ONNX model, on the processor and without gradients.

    Raises ModelError where onnxruntime is not installed or cannot read it, or it is no classifier of single arrays.

    Examples
    --------
    >>> read_onnx(b"no network")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: ...
    """
    import torch

    try:
        import onnxruntime  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ModelError(
            "ONNX models need the package onnxruntime: pip install onnxruntime, and start again."
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what is wrong with a file is raised and told; the server's log is not for it
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no other base
        raise ModelError(f"onnxruntime cannot read the file ({str(error).strip().splitlines()[0]}).") from error
    types = {"tensor(float)": torch.float32, "tensor(double)": torch.float64}
    given = [tensor for tensor in session.get_inputs() if tensor.type in types]
    gives = [tensor.name for tensor in session.get_outputs() if tensor.type in types and len(tensor.shape) in (0, 2)]
    if not gives and any(tensor.type.startswith("seq(map(") for tensor in session.get_outputs()):
        raise ModelError(_ZIPMAP)
    if len(session.get_inputs()) != 1 or not given or not gives:
        raise ModelError("The ONNX model must take one array of numbers and give a table of logits.")
    dtype, batch_size = types[given[0].type], given[0].shape[0] if given[0].shape else None

    def ask(x: "torch.Tensor") -> "torch.Tensor":
        return torch.from_numpy(session.run([gives[0]], {given[0].name: x.detach().to(dtype).numpy()})[0])

    return in_batches(ask, batch_size) if isinstance(batch_size, int) else ask


def in_batches(ask: Run, size: int) -> Run:
    """Give what asks a model that only takes `size` inputs at once about any number: the last ones stand there again.

    Examples
    --------
    >>> import torch
    >>> in_batches(lambda x: x.reshape(2, 1) + 1, 2)(torch.arange(3)).flatten()
    tensor([1, 2, 3])
    """
    import torch

    def full(x: "torch.Tensor") -> "torch.Tensor":
        return torch.cat([x, x[-1:].expand(size - len(x), *x.shape[1:])]) if len(x) < size else x

    return lambda x: torch.cat([ask(full(batch))[: len(batch)] for batch in x.split(size)])


def read_exported(content: bytes) -> Run:
    """Give what runs an archive of torch.export; only for one that is trusted, since reading it can run code.

    Examples
    --------
    >>> import torch
    >>> archive = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.Linear(3, 2), (torch.zeros(1, 3),)), archive)
    >>> read_exported(archive.getvalue())(torch.zeros(1, 3)).shape
    torch.Size([1, 2])
    """
    import torch

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
