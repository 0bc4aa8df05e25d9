"""How is a network run that another program wrote? ONNX through onnxruntime, archives of torch.export by torch."""

import io
from typing import TYPE_CHECKING

from core.models.errors import ModelError
from core.models.foreign import Run

if TYPE_CHECKING:
    import torch


def read_onnx(content: bytes) -> Run:
    """Give what runs an ONNX model, on the processor and without gradients.

    Raises ModelError where onnxruntime is not installed or cannot read it, or it is no classifier of single arrays.

    Examples
    --------
    >>> read_onnx(b"no network")
    Traceback (most recent call last):
    core.models.errors.ModelError: ...
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
    if len(session.get_inputs()) != 1 or not given or not gives:
        raise ModelError("The ONNX model must take one array of numbers and give a table of logits.")
    dtype, batch_size = types[given[0].type], given[0].shape[0] if given[0].shape else None

    def run(x: "torch.Tensor") -> "torch.Tensor":
        batches = x.detach().to(dtype).split(batch_size if isinstance(batch_size, int) else max(len(x), 1))
        return torch.cat([ask(batch) for batch in batches])

    def ask(x: "torch.Tensor") -> "torch.Tensor":
        n_short = batch_size - len(x) if isinstance(batch_size, int) else 0  # a fixed batch must be full
        full = torch.cat([x, x[-1:].expand(n_short, *x.shape[1:])]) if n_short else x
        return torch.from_numpy(session.run([gives[0]], {given[0].name: full.numpy()})[0])[: len(x)]

    return run


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
        module = torch.export.load(io.BytesIO(content)).module()
    except Exception as error:  # whatever is wrong with the archive
        raise ModelError(f"torch.export cannot read the archive ({error}).") from error
    dtype = next((parameter.dtype for parameter in module.parameters()), torch.float32)
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return lambda x: module(x.to(dtype))
